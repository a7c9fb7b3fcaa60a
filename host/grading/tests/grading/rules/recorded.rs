//! The recorded answers, run through the host's own executor. Each statement runs once per
//! database.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use syrch::Settings;
use syrch::databases::{open_database, with_single_quotes};
use syrch::syrch_core::ports::{Database, SqlQuery};
use syrch::syrch_core::{ResultSet, SqlError};

/// The answer of one system, with its recorded verdicts.
pub(crate) struct Answer {
    pub(crate) system: String,
    pub(crate) sql: String,
    /// True if it is right by Spider's rule.
    pub(crate) ex: bool,
    /// True if it is right by BIRD's rule.
    pub(crate) bird_ex: bool,
    /// True if its statement failed.
    pub(crate) failed: bool,
}

/// A question with its expected statement and all answers.
pub(crate) struct Recorded {
    pub(crate) id: String,
    pub(crate) db: String,
    pub(crate) gold: String,
    pub(crate) ordered: bool,
    pub(crate) answers: Vec<Answer>,
}

fn lines(path: &Path) -> Vec<Value> {
    std::fs::read_to_string(path)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// All questions of a folder that have recorded answers, in the order of the suite.
pub(crate) fn all(folder: &Path) -> Vec<Recorded> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut answers: BTreeMap<String, Vec<Answer>> = BTreeMap::new();
    for line in lines(&folder.join("recorded.jsonl")) {
        let of = line["candidates"].as_object().unwrap().iter().map(|(system, answer)| Answer {
            system: system.clone(),
            sql: text(&answer["sql"]),
            ex: answer["ex"] == 1,
            bird_ex: answer["bird_ex"] == 1,
            failed: answer["err"] == 1,
        });
        answers.insert(text(&line["id"]), of.collect());
    }
    lines(&folder.join("questions.jsonl"))
        .into_iter()
        .filter_map(|line: Value| {
            let id = text(&line["id"]);
            let answers = answers.remove(&id)?;
            let ordered = line["ordered"] == true;
            Some(Recorded {
                db: text(&line["db"]),
                gold: text(&line["gold_sql"]),
                id,
                ordered,
                answers,
            })
        })
        .collect()
}

/// The result of a statement, or why it has none.
pub(crate) type Outcome = Arc<Result<ResultSet, SqlError>>;

/// The databases of one folder, opened as the host opens them, with the results of all statements.
#[derive(Default)]
pub(crate) struct Statements {
    open: BTreeMap<String, Arc<dyn Database>>,
    outcomes: BTreeMap<(String, String), Outcome>,
}

impl Statements {
    pub(crate) async fn run(&mut self, path: &Path, sql: &str) -> Outcome {
        let name = path.display().to_string();
        let key = (name.clone(), sql.to_owned());
        if let Some(outcome) = self.outcomes.get(&key) {
            return Arc::clone(outcome);
        }
        if !self.open.contains_key(&name) {
            let settings = Settings { database: name.clone(), ..Settings::default() };
            self.open.insert(name.clone(), open_database(&settings).await.unwrap());
        }
        let database = &self.open[&name];
        let sql = with_single_quotes(sql, database.as_ref()).await;
        let outcome = Arc::new(database.run(&SqlQuery::new(sql)).await);
        self.outcomes.insert(key, Arc::clone(&outcome));
        outcome
    }

    /// Returns the number of different statements that ran.
    pub(crate) fn count(&self) -> usize {
        self.outcomes.len()
    }
}
