//! The prompts: one user message each, after PocketFlow's generating and debugging nodes.

use syrch_plugin::brief::{Brief, PromptSize, Tried, feedback};
use syrch_plugin::prelude::*;
use syrch_plugin::prompt;
use syrch_plugin::text::{clip, count, line};

use crate::Settings;
use crate::solver::schema;

// Enough to repair by, and a bound on what a hostile reply can put into the next prompt.
const STATEMENT: usize = 4000;
/// The keys of a judgement.
pub(crate) const JUDGEMENT: [&str; 4] = ["score", "reasoning", "verdict", "feedback"];

/// The prompts of one task.
pub(crate) struct Prompts<'a> {
    catalog: &'a Catalog,
    /// The question and its task, with the solved examples that stand before it as turns.
    brief: Brief<'a>,
    schema_bytes: usize,
    self_healing: bool,
    /// Whether statements are asked for in a YAML block, or, where a provider has no YAML, alone.
    is_yaml: bool,
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
        // The tables stand in the workflow's own form.
        let size = PromptSize { catalog_bytes: settings.schema_bytes, parent_rows: settings.shown_rows };
        Self {
            catalog,
            brief: Brief::new(host, size, problem, catalog, task, parents),
            schema_bytes: settings.schema_bytes as usize,
            self_healing: settings.self_healing,
            is_yaml: true,
        }
    }

    /// The request for the statement, or for its repair once something was tried.
    pub(crate) fn statement(&self, tried: &[Tried], sample: u32) -> Request {
        let (dialect, rules) = (self.catalog.dialect.name(), self.catalog.dialect.rules());
        let schema = self.schema();
        let (purpose, user, subjects) = match tried.split_last() {
            None => (
                Purpose::Generate,
                format!(
                    "The schema of a {dialect} database:\n{schema}\n{}\nWrite one {dialect} SELECT statement that answers the \
                     question (WITH is fine). Nothing may be changed.\nRules of {dialect}:\n{rules}",
                    self.brief.task()
                ),
                Vec::new(),
            ),
            Some((last, earlier)) => {
                let shown = if self.self_healing { earlier } else { &[] };
                let subjects = shown.iter().chain([last]).map(|tried| tried.sql.clone()).collect();
                let user = format!(
                    "This {dialect} statement did not do:\n```sql\n{}\n```\nIt was written for this:\n{}\nThe schema:\n{schema}\n\
                     What was wrong: {}\n{}\nWrite the corrected {dialect} SELECT statement. Nothing may be changed.\nRules of {dialect}:\n{rules}",
                    clip(&last.sql, STATEMENT),
                    self.brief.task(),
                    last.wrong,
                    feedback(shown)
                );
                (Purpose::Repair, user, subjects)
            }
        };
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
            "Reply with a YAML block alone, that has the statement under the key `sql`:\n```yaml\nsql: |\n  SELECT …\n```\n"
        } else {
            "Reply with the statement alone, in a ```sql fence.\n"
        }
    }

    /// The request that asks whether a statement answers the question.
    pub(crate) fn judgement(&self, host: &impl Rows, shown_rows: u32, sql: &str, results: &ResultSet) -> Request {
        let profile = results.profile();
        let columns: Vec<String> =
            profile.columns.iter().take(50).map(|column| line(&column.column.name, 60)).collect();
        let mut user = format!(
            "Does this {} statement answer the question?\nThe schema:\n{}\n{}\nThe statement:\n```sql\n{}\n```\n\
             Its result: {}, with the columns {}.\n",
            self.catalog.dialect.name(),
            self.schema(),
            self.brief.task(),
            clip(sql, STATEMENT),
            count(profile.rows, "row"),
            columns.join(", ")
        );
        if shown_rows > 0 && profile.rows > 0 {
            // Without the grant the shape has to do.
            if let Ok(page) = host.read(results, 0, shown_rows) {
                user += &format!("Its first rows:\n{}", prompt::rows(&page));
            }
        }
        user += "Judge the meaning: the tables, the joins, the filters, the aggregates, and the columns that were asked for.\n\
                 Reply with a YAML block alone: a score from 1 to 10, your reasoning, the verdict PASS or FAIL, and feedback that helps \
                 to write a better one:\n```yaml\nscore: 5\nreasoning: |\n  …\nverdict: FAIL\nfeedback: |\n  …\n```\n";
        yaml(Ask::new(Purpose::Judge).user(user).subjects(vec![sql.to_owned()]), &JUDGEMENT)
    }

    /// Makes the prompts half as long where they can be; false when that is no more use.
    pub(crate) fn shorten(&mut self) -> bool {
        self.brief.shorten();
        self.schema_bytes /= 2;
        self.schema_bytes >= 250
    }

    /// Asks for statements without YAML from now on; false when it does already.
    pub(crate) fn leave_yaml(&mut self) -> bool {
        std::mem::replace(&mut self.is_yaml, false)
    }

    fn schema(&self) -> String {
        schema::text(self.catalog, self.schema_bytes)
    }
}

fn yaml(ask: Ask, keys: &[&str]) -> Request {
    Request { expect: Shape::Yaml(keys.iter().map(|key| (*key).to_owned()).collect()), ..ask.text() }
}
