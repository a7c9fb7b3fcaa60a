//! The generators: three ways to write the same statement, each a prompt of its own around the same
//! tables and task.

use serde_json::Value as JsonValue;
use syrch_plugin::brief::{Brief, Tried};
use syrch_plugin::prelude::*;
use syrch_plugin::prompt::Example;
use syrch_plugin::replies::plan_of;
use syrch_plugin::serde_json;
use syrch_plugin::text::clip;

use crate::Settings;

const AT_ONCE: &str = "Write the statement at once.";

/// A way to write a statement, after CHASE-SQL's three.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Generator {
    /// Along the three steps of a query plan.
    QueryPlan,
    /// By sub-questions whose answers are put together.
    DivideAndConquer,
    /// Directly, with the solved examples before the question.
    Direct,
}

impl Generator {
    /// The name in the trace.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::QueryPlan => "query-plan",
            Self::DivideAndConquer => "divide-and-conquer",
            Self::Direct => "direct",
        }
    }
}

/// The generator of each draw that the settings ask for, in the order of their samples.
pub(crate) fn generators(settings: &Settings) -> Vec<Generator> {
    let of = |generator, draws: u32| std::iter::repeat_n(generator, draws as usize);
    of(Generator::QueryPlan, settings.query_plan)
        .chain(of(Generator::DivideAndConquer, settings.divide_and_conquer))
        .chain(of(Generator::Direct, settings.direct))
        .collect()
}

/// The prompts of one task.
pub(crate) struct Prompts<'a> {
    /// The prompt with the task's plan, for the generator that follows it.
    planned: Brief<'a>,
    /// The prompt without the plan, so that the other generators do not depend on it.
    plain: Brief<'a>,
    has_plan: bool,
    examples: String,
    temperature: f64,
}

impl<'a> Prompts<'a> {
    pub(crate) fn new(
        host: &impl SolverHost,
        settings: &Settings,
        problem: &Problem,
        catalog: &'a Catalog,
        task: &Task,
        parents: &[Parent],
    ) -> Self {
        let bare = Task { context: without_plan(task), ..task.clone() };
        Self {
            planned: Brief::new(host, settings, problem, catalog, task, parents),
            plain: Brief::new(host, settings, problem, catalog, &bare, parents),
            has_plan: !plan_of(task).is_empty(),
            examples: match settings.direct {
                0 => String::new(),
                _ if problem.hints.iter().any(|hit| Example::from_hit(hit).is_some()) => {
                    AT_ONCE.to_owned()
                }
                _ => examples(host, settings.examples, task),
            },
            temperature: settings.temperature,
        }
    }

    /// The request of a draw, or of its repair once something was tried.
    pub(crate) fn request(&self, generator: Generator, tried: &[Tried], sample: u32) -> Request {
        let brief = if generator == Generator::QueryPlan { &self.planned } else { &self.plain };
        if !tried.is_empty() {
            return brief.request(tried, sample);
        }
        let system = format!("{}\n{}", brief.instructions(), self.method(generator));
        // Replies with nothing but a statement are no examples of the other two.
        let ask = match generator {
            Generator::Direct => brief.ask(Purpose::Generate, system, ""),
            Generator::QueryPlan | Generator::DivideAndConquer => {
                Ask::new(Purpose::Generate).system(system).user(brief.setting())
            }
        };
        ask.temperature(self.temperature).sample(sample).sql()
    }

    /// Makes all prompts shorter; false when that is no more use.
    pub(crate) fn shorten(&mut self) -> bool {
        let plain = self.plain.shorten();
        self.planned.shorten() && plain
    }

    fn method(&self, generator: Generator) -> &str {
        match generator {
            Generator::QueryPlan if self.has_plan => {
                "Work along the plan of the statement that is given: carry out its steps one after \
                 the other, in words, then write the statement that does them. Depart from the \
                 plan where the tables do not bear it out."
            }
            Generator::QueryPlan => {
                "Before the statement, write its plan in three steps, in words and without a \
                 fence: 1. find the relevant tables and how they join; 2. perform the operations: \
                 filters, groups, set operations, orders and limits; 3. select the columns \
                 that the question asks for. Then write the statement that the plan leads to."
            }
            Generator::DivideAndConquer => {
                "Divide and conquer, in words and plain lines without a fence. Divide: take the \
                 question apart into sub-questions, and write for each a line of pseudo-SQL; take \
                 a sub-question that is not yet simple apart again. Conquer: turn each \
                 into SQL, from the innermost to the outermost, and put them together. Simplify: \
                 remove what the whole does not need. Then write the one statement that is left; \
                 only that stands in a fence."
            }
            Generator::Direct => &self.examples,
        }
    }
}

/// The task's context without its plan.
fn without_plan(task: &Task) -> Option<String> {
    let mut context: JsonValue = serde_json::from_str(task.context.as_deref()?).ok()?;
    let map = context.as_object_mut()?;
    map.remove("plan");
    (!map.is_empty()).then(|| context.to_string())
}

/// Stored examples that are like the task, as instructions; where there are none, the model makes
/// some up (CHASE-SQL's online synthetic examples, here in the same call).
fn examples(host: &impl Retrieval, most: u32, task: &Task) -> String {
    if most == 0 {
        return AT_ONCE.to_owned();
    }
    let query = RetrievalQuery {
        corpus: Corpus::Examples,
        retriever: Retriever::Lexical,
        text: clip(&task.text, 4000).to_owned(),
        limit: most,
    };
    // Without the port or the corpus there are no examples, which is no reason to stop.
    let hits = host.retrieve(&query).unwrap_or_default();
    let solved: String = hits.iter().filter_map(example).collect();
    if solved.is_empty() {
        return format!(
            "Before the statement, make up {most} questions that these tables can answer, \
             of different kinds (a filter, a join, an aggregate, an order with a limit), and write \
             the SELECT of each beside it, in plain lines without a fence. Then write the \
             statement for the question that was asked; only that stands in a fence."
        );
    }
    format!("Questions like this one, and the statements that answer them:\n{solved}{AT_ONCE}")
}

fn example(hit: &Hit) -> Option<String> {
    let Example { question, sql } = Example::from_hit(hit)?;
    Some(format!("Question: {question}\nSQL: {sql}\n"))
}
