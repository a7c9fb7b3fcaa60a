//! How close the built-in ways to sample come to what is computed of them from recorded answers, the files alone.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use syrch::plugins::CompileSettings;
use syrch::report::{AnswerDocument, CandidateStatus};
use syrch::{Host, Settings, Silent, Stop, strategies};
use syrch_core::Problem;
use syrch_core::roles::Role;
use syrch_kit::recorded::{Question, SAMPLERS, Sampler, questions, shares_fitted_elsewhere};
use tokio::task::JoinSet;

use crate::Outcome;
use crate::figure::Figure;
use crate::world::World;

/// The strategy whose votes are weighed.
const WEIGHED: &str = "discern";
/// How far a share of right answers may be off, in points of a hundred, and a mean number of calls.
const OFF: (f64, f64) = (2.0, 0.1);

/// Right answers and calls, added up.
#[derive(Default, Clone, Copy)]
struct Sum {
    right: u32,
    calls: u32,
    questions: u32,
}

impl Sum {
    fn add(&mut self, is_right: bool, calls: u32) {
        self.right += u32::from(is_right);
        self.calls += calls;
        self.questions += 1;
    }

    /// Right answers in a hundred, and calls per question.
    fn means(self) -> (f64, f64) {
        let count = f64::from(self.questions.max(1));
        (100.0 * f64::from(self.right) / count, f64::from(self.calls) / count)
    }
}

/// Each strategy on all questions, in as many orders of the answers as the options say.
pub(crate) fn measure(world: &World) -> Outcome<Vec<Figure>> {
    let data = syrch_kit::data_root().ok_or("there are no test data")?.join("spider");
    let all = questions(&data);
    let mut figures = Vec::new();
    for gate in &SAMPLERS {
        let (mut found, mut expected) = (Sum::default(), Sum::default());
        for seed in 0..u64::from(world.orders) {
            world.runtime.block_on(searched(world, &data, gate.name, seed, &all, &mut found))?;
            for question in &all {
                let taken = gate.take(&question.order(seed));
                expected.add(taken.answer.is_some_and(|answer| answer.is_right), taken.calls);
            }
        }
        figures.extend(compared(gate, world.orders, found.means(), expected.means()));
    }
    figures.extend(weighed(world, &data, &all)?);
    Ok(figures)
}

/// The strategy of ours, its shares fitted on the half of the databases on which it is not measured.
fn weighed(world: &World, data: &Path, all: &[Question]) -> Outcome<[Figure; 2]> {
    let mut found = Sum::default();
    for seed in 0..u64::from(world.orders) {
        world.runtime.block_on(searched(world, data, WEIGHED, seed, all, &mut found))?;
    }
    let (right, calls) = found.means();
    let note = format!("in-sample: its signs were chosen on these databases; orders: {}", world.orders);
    Ok([
        Figure::new(format!("`{WEIGHED}` on recorded answers: right"), right, "%").at_least(91.5).note(note),
        Figure::new(format!("`{WEIGHED}` on recorded answers: calls a question"), calls, "").at_most(5.0),
    ])
}

/// Searches for the answers to all questions in one order.
async fn searched(
    world: &World,
    data: &Path,
    strategy: &str,
    seed: u64,
    all: &[Question],
    found: &mut Sum,
) -> Outcome<()> {
    let mut by_database: BTreeMap<&str, Vec<&Question>> = BTreeMap::new();
    for question in all {
        by_database.entry(&question.database).or_default().push(question);
    }
    for (database, questions) in by_database {
        let database = data.join("db").join(format!("{database}.sqlite"));
        let host = Arc::new(Host::open(settings(world, strategy, seed, &database, data)?, &Silent).await?);
        let mut searches = JoinSet::new();
        for question in questions {
            let (host, question) = (Arc::clone(&host), question.clone());
            searches.spawn(async move {
                let problem = Problem::new(&question.question);
                let report = host.search(problem, Arc::new(Silent), None, &Stop::new()).await?;
                Ok::<_, syrch::Error>((is_right(&question, &report.document), report.document.cost.calls))
            });
        }
        for report in searches.join_all().await {
            let (is_right, calls) = report?;
            found.add(is_right, calls);
        }
    }
    Ok(())
}

fn settings(world: &World, strategy: &str, seed: u64, database: &Path, data: &Path) -> Outcome<Settings> {
    let compile = CompileSettings::in_folder(&world.place("cache")?);
    let mut settings = Settings { database: database.display().to_string(), seed, compile, ..Settings::default() };
    settings.model.replay = Some(data.join("recorded.jsonl"));
    strategies::find(strategy)?.apply(&mut settings);
    if strategy == WEIGHED {
        let name = database.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let config = settings.strategy.config.entry(Role::Solver).or_default();
        config.extend(shares_fitted_elsewhere(name).map(|(share, value)| (share.to_owned(), json!(value))));
    }
    Ok(settings)
}

/// Whether the answer is a recorded statement that was graded right.
fn is_right(question: &Question, document: &AnswerDocument) -> bool {
    let answer = document.candidates.iter().find(|candidate| candidate.status == CandidateStatus::Answer);
    answer.and_then(|answer| question.is_right(&answer.sql)).unwrap_or(false)
}

fn compared(gate: &Sampler, orders: u32, found: (f64, f64), expected: (f64, f64)) -> [Figure; 2] {
    let name = gate.name;
    let right = format!("{:.1} % where the files give {:.1} %; orders: {orders}", found.0, expected.0);
    let calls = format!("{:.2} where the files give {:.2}", found.1, expected.1);
    [
        Figure::new(format!("`{name}` on recorded answers: right, off by"), (found.0 - expected.0).abs(), "points")
            .at_most(OFF.0)
            .note(right),
        Figure::new(
            format!("`{name}` on recorded answers: calls a question, off by"),
            (found.1 - expected.1).abs(),
            "",
        )
        .at_most(OFF.1)
        .note(calls),
    ]
}
