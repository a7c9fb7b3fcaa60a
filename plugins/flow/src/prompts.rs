//! The prompts. Those of the form `sql` are the SDK's; those of the form `yaml` are one user
//! message each, after PocketFlow's generating and debugging nodes, with names and types alone for
//! the schema.

use syrch_flows::Node;
use syrch_plugin::brief::{Brief, PromptSize, Tried, feedback};
use syrch_plugin::prelude::*;
use syrch_plugin::prompt;
use syrch_plugin::text::{clip, count, line};

use crate::branch::Passed;
use crate::schema;
use crate::settings::Common;

// Enough to repair by, and a bound on what a hostile reply can put into the next prompt.
const STATEMENT: usize = 4000;
// The fewest bytes to which the schema is shortened.
const LEAST: usize = 250;
/// The keys of a judgement.
pub(crate) const JUDGEMENT: [&str; 4] = ["score", "reasoning", "verdict", "feedback"];

/// The prompts of one task.
pub(crate) struct Prompts<'a> {
    catalog: &'a Catalog,
    /// The question and its task, with the solved examples that stand before it as turns.
    brief: Brief<'a>,
    schema_bytes: usize,
    /// True if statements are requested in a YAML block, or, where a provider has no YAML, alone.
    is_yaml: bool,
}

impl<'a> Prompts<'a> {
    pub(crate) fn new(
        host: &impl SolverHost,
        common: &Common,
        problem: &Problem,
        catalog: &'a Catalog,
        task: &Task,
        parents: &[Parent],
    ) -> Self {
        let size =
            PromptSize { catalog_bytes: common.schema_bytes, parent_rows: common.parent_rows };
        Self {
            catalog,
            brief: Brief::new(host, size, problem, catalog, task, parents),
            schema_bytes: common.schema_bytes as usize,
            is_yaml: true,
        }
    }

    /// The request for a statement, or for its repair once something was tried. `wrong`: what was
    /// wrong with the last reply to it.
    pub(crate) fn statement(
        &self,
        node: &Node,
        tried: &[Tried],
        sample: u32,
        wrong: &str,
    ) -> Request {
        let shown = if node.text("history") == "last" {
            &tried[tried.len().saturating_sub(1)..]
        } else {
            tried
        };
        let mut request = if node.text("form") == "yaml" {
            self.workflow(shown, sample)
        } else {
            Request { sample, ..self.brief.request(shown, sample) }
        };
        request.temperature = node.number("temperature").map(|temperature| temperature as f32);
        let mut more = String::new();
        if !node.text("instructions").is_empty() {
            more += &format!("\n{}\n", node.text("instructions"));
        }
        if !wrong.is_empty() {
            more += &format!(
                "\nYour last reply could not be used: {}. Reply in the form that is asked for.\n",
                line(wrong, 400)
            );
        }
        if let Some(last) = request.messages.last_mut() {
            last.text += &more;
        }
        request
    }

    /// The request of the workflow, which shows the last of the statements apart from the earlier
    /// ones.
    fn workflow(&self, tried: &[Tried], sample: u32) -> Request {
        let dialect = &self.catalog.syntax.title;
        let rules = &self.catalog.syntax.rules;
        let schema = self.schema();
        let (purpose, user) = match tried.split_last() {
            None => (
                Purpose::Generate,
                format!(
                    "The schema of a {dialect} database:\n{schema}\n{}\nWrite one {dialect} \
                     SELECT statement that answers the question (WITH is fine). Nothing may be \
                     changed.\nRules of {dialect}:\n{rules}",
                    self.brief.task()
                ),
            ),
            Some((last, earlier)) => (
                Purpose::Repair,
                format!(
                    "This {dialect} statement did not do:\n```sql\n{}\n```\n\
                     It was written for this:\n{}\nThe schema:\n{schema}\n\
                     What was wrong: {}\n{}\nWrite the corrected {dialect} \
                     SELECT statement. Nothing may be changed.\nRules of {dialect}:\n{rules}",
                    clip(&last.sql, STATEMENT),
                    self.brief.task(),
                    last.wrong,
                    feedback(earlier)
                ),
            ),
        };
        let subjects = tried.iter().map(|tried| tried.sql.clone()).collect();
        let ask = self.brief.add_turns(Ask::new(purpose), |sql| self.reply(sql));
        let ask = ask.user(user + self.form()).subjects(subjects).sample(sample);
        if self.is_yaml { yaml(ask, &["sql"]) } else { ask.sql() }
    }

    /// A statement as the reply that is asked for.
    fn reply(&self, sql: &str) -> String {
        if self.is_yaml {
            let lines: String = sql.lines().map(|line| format!("  {line}\n")).collect();
            format!("```yaml\nsql: |\n{lines}```")
        } else {
            format!("```sql\n{sql}\n```")
        }
    }

    fn form(&self) -> &'static str {
        if self.is_yaml {
            "Reply with a YAML block alone, that has the statement under the key `sql`:\n```yaml\n\
             sql: |\n  SELECT …\n```\n"
        } else {
            "Reply with the statement alone, in a ```sql fence.\n"
        }
    }

    /// The request that asks whether a statement answers the question.
    pub(crate) fn judgement(
        &self,
        host: &impl Rows,
        shown_rows: u32,
        sql: &str,
        results: &ResultSet,
    ) -> Request {
        let mut user = format!(
            "Does this {} statement answer the question?\nThe schema:\n{}\n{}\nThe statement:\n\
             ```sql\n{}\n```\n{}",
            self.catalog.syntax.title,
            self.schema(),
            self.brief.task(),
            clip(sql, STATEMENT),
            result(host, shown_rows, results)
        );
        user += "Judge the meaning: the tables, the joins, the filters, the aggregates, and the \
                 columns that were asked for.\n\
                 Reply with a YAML block alone: a score from 1 to 10, your reasoning, the verdict \
                 PASS or FAIL, and feedback that helps to write a better one:\n```yaml\nscore: 5\n\
                 reasoning: |\n  …\nverdict: FAIL\nfeedback: |\n  …\n```\n";
        yaml(Ask::new(Purpose::Judge).user(user).subjects(vec![sql.to_owned()]), &JUDGEMENT)
    }

    /// The request that asks which of several statements is right, each called by its word.
    pub(crate) fn choice(
        &self,
        host: &impl Rows,
        shown_rows: u32,
        statements: &[(&str, &Passed)],
    ) -> Request {
        let mut user = format!("The schema:\n{}\n{}\n", self.schema(), self.brief.task());
        for (word, passed) in statements {
            user += &format!(
                "Statement {word}:\n```sql\n{}\n```\n{}",
                clip(&passed.candidate.sql, STATEMENT),
                result(host, shown_rows, &passed.ran.results)
            );
        }
        let words: Vec<String> = statements.iter().map(|(word, _)| (*word).to_owned()).collect();
        user += &format!(
            "These {} statements run, and their results differ: at most one is right. Look at what \
             the question asks for, at tables and joins, filters, and columns too many or too few. \
             Answer with one of the letters {} and nothing else.\n",
            self.catalog.syntax.title,
            words.join(", ")
        );
        let subjects = statements.iter().map(|(_, passed)| passed.candidate.sql.clone()).collect();
        Ask::new(Purpose::Select).user(user).subjects(subjects).choice(words)
    }

    /// Makes the prompts half as long where they can be; false when that is no more use.
    pub(crate) fn shorten(&mut self) -> bool {
        self.brief.shorten();
        let is_long = self.schema_bytes >= 2 * LEAST;
        let before = self.schema().len();
        // A limit far above the schema can be halved several times without effect.
        while self.schema_bytes >= 2 * LEAST && self.schema().len() == before {
            self.schema_bytes /= 2;
        }
        is_long
    }

    /// Asks for statements without YAML from now on; false when it does already.
    pub(crate) fn leave_yaml(&mut self) -> bool {
        std::mem::replace(&mut self.is_yaml, false)
    }

    fn schema(&self) -> String {
        schema::text(self.catalog, self.schema_bytes)
    }
}

/// The shape of a result, and its first rows as far as they are granted.
fn result(host: &impl Rows, shown_rows: u32, results: &ResultSet) -> String {
    let profile = results.profile();
    let columns: Vec<String> =
        profile.columns.iter().take(50).map(|column| line(&column.column.name, 60)).collect();
    let shape = format!(
        "Its result: {}, with the columns {}.\n",
        count(profile.rows, "row"),
        columns.join(", ")
    );
    if shown_rows == 0 || profile.rows == 0 {
        return shape;
    }
    // Without the grant the shape has to do.
    let rows = host
        .read(results, 0, shown_rows)
        .map(|page| format!("Its first rows:\n{}", prompt::rows(&page)));
    shape + &rows.unwrap_or_default()
}

fn yaml(ask: Ask, keys: &[&str]) -> Request {
    Request {
        expect: Shape::Yaml(keys.iter().map(|key| (*key).to_owned()).collect()),
        ..ask.text()
    }
}
