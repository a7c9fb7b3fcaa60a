//! The questions with their databases and calls of the provider, which these tests share.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use syrch::Settings;
use syrch::databases::open_database;
use syrch::syrch_core::ports::{
    Database, LlmError, Message, ModelCall, ModelProvider, Purpose, Request, Shape, Speaker,
};
use syrch::syrch_core::{Catalog, Problem};
use syrch_simulated::{
    SimulatedConfig, SimulatedKnobs, SimulatedProvider, SimulatedQuestion, SimulatedSuite,
};

/// The questions of a folder's `questions.jsonl`.
pub(crate) fn questions(folder: &Path) -> Vec<SimulatedQuestion> {
    let text = std::fs::read_to_string(folder.join("questions.jsonl")).unwrap();
    text.lines()
        .map(|line: &str| {
            let value: Value = serde_json::from_str(line).unwrap();
            let field = |name: &str| value[name].as_str().unwrap().to_owned();
            let others = value["gold_alternatives"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|sql| sql.as_str().unwrap().to_owned());
            SimulatedQuestion {
                id: field("id"),
                db: field("db"),
                question: field("question"),
                golds: std::iter::once(field("gold_sql")).chain(others).collect(),
                ordered: value["ordered"] == true,
            }
        })
        .collect()
}

pub(crate) async fn open(path: &Path) -> Arc<dyn Database> {
    open_database(&Settings { database: path.display().to_string(), ..Settings::default() })
        .await
        .unwrap()
}

/// The databases of a folder's `db` by name.
pub(crate) async fn databases(folder: &Path) -> BTreeMap<String, Arc<dyn Database>> {
    let mut databases = BTreeMap::new();
    for entry in std::fs::read_dir(folder.join("db")).unwrap() {
        let path = entry.unwrap().path();
        databases.insert(path.file_stem().unwrap().to_str().unwrap().to_owned(), open(&path).await);
    }
    databases
}

pub(crate) fn provider(
    suite: &Arc<SimulatedSuite>,
    database: &Arc<dyn Database>,
    seed: u64,
    knobs: SimulatedKnobs,
) -> SimulatedProvider {
    let config = SimulatedConfig { seed, knobs, ..SimulatedConfig::default() };
    SimulatedProvider::new(Arc::clone(suite), Arc::clone(database), config)
}

/// A call for a statement.
pub(crate) fn call(
    question: &str,
    catalog: &Arc<Catalog>,
    purpose: Purpose,
    sample: u32,
    subjects: Vec<String>,
) -> ModelCall {
    let request = Request {
        subjects,
        sample,
        ..Request::new(
            purpose,
            vec![Message { speaker: Speaker::User, text: format!("Write SQL: {question}") }],
            Shape::Sql,
        )
    };
    ModelCall {
        request,
        problem: Arc::new(Problem::new(question)),
        task: None,
        catalog: Arc::clone(catalog),
    }
}

/// The result of a call: the statement and the claimed confidence.
pub(crate) async fn answer(
    provider: &dyn ModelProvider,
    call: &ModelCall,
) -> Result<(String, f64), LlmError> {
    let reply = provider.complete(call).await.result?;
    let parsed: Value = serde_json::from_str(&reply.parsed.unwrap()).unwrap();
    Ok((parsed["sql"].as_str().unwrap().to_owned(), parsed["confidence"].as_f64().unwrap()))
}

/// The question over the shop.
pub(crate) const QUESTION: &str = "Which customers are older than 30?";
/// The expected statement of [`QUESTION`].
pub(crate) const GOLD: &str = "select   name from customers where age > 30";

/// A shop with two tables.
pub(crate) async fn shop(folder: &Path) -> Arc<dyn Database> {
    let script = "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, age INTEGER);
                  CREATE TABLE orders(id INTEGER PRIMARY KEY, customer INTEGER REFERENCES \
                    customers(id), total REAL);
                  INSERT INTO customers VALUES (1, 'Ada', 36), (2, 'Ben', 28), (3, 'Cleo', 51), \
                    (4, 'Dan', 30);
                  INSERT INTO orders VALUES (1, 1, 9.5), (2, 1, 20.0), (3, 3, 7.25);";
    let path = folder.join("shop.sqlite");
    syrch_kit::sqlite(&path, script);
    open(&path).await
}

/// A suite of one question with these expected statements.
pub(crate) fn suite(golds: &[&str]) -> Arc<SimulatedSuite> {
    let golds = golds.iter().map(|sql| (*sql).to_owned()).collect();
    let question = QUESTION.to_owned();
    let question = SimulatedQuestion {
        id: "q1".to_owned(),
        db: "shop".to_owned(),
        question,
        golds,
        ordered: false,
    };
    Arc::new(SimulatedSuite::new(vec![question]))
}

/// That many samples of the one question.
pub(crate) async fn samples(
    provider: &SimulatedProvider,
    catalog: &Arc<Catalog>,
    count: u32,
) -> Vec<(String, f64)> {
    let mut all = Vec::new();
    for sample in 0..count {
        all.push(
            answer(provider, &call(QUESTION, catalog, Purpose::Generate, sample, Vec::new()))
                .await
                .unwrap(),
        );
    }
    all
}
