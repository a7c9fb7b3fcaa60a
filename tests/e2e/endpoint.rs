//! Searches with a model: the binary against an endpoint of our own on loopback. What every module
//! here shares.

mod budgets;
mod faults;
mod forms;
#[cfg(unix)]
mod interrupt;
mod metrics;
mod privacy;
mod replies;
mod searches;
mod shapes;
mod slow;

use std::path::Path;
use std::process::{Command, Output};
use std::sync::LazyLock;

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Recorded, Reply};

use crate::host;

/// The key of every search here. No output may hold it.
pub(crate) const KEY: &str = "sesame-open-4711";
/// A text that is only in a prompt for a plan.
pub(crate) const PLAN: &str = "You plan how to answer";
/// A text that is only in a prompt for a statement.
pub(crate) const WRITE: &str = "You answer questions with one";
/// A text that is only in a prompt after a failed attempt.
pub(crate) const REPAIR: &str = "Earlier attempts";

/// A search over the database with that endpoint, to be asked `-q` and more.
pub(crate) fn search(url: &str, database: &Path) -> Command {
    let mut command = host();
    command.env("SYRCH_API_KEY", KEY).args([
        "--llm",
        "openai",
        "--model",
        "mock",
        "--base-url",
        url,
        "--db",
    ]);
    command.arg(database);
    command
}

/// The output of a search.
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Said {
    /// Reads what came out, and looks for the key in it.
    pub(crate) fn from_output(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let code = output.status.code().expect("no signal ended it");
        let said = Self { code, stdout: text(output.stdout), stderr: text(output.stderr) };
        assert!(
            !said.stdout.contains(KEY) && !said.stderr.contains(KEY),
            "the key is shown:\n{}",
            said.all()
        );
        said
    }

    /// Both streams, for messages of assertions.
    pub(crate) fn all(&self) -> String {
        format!("exit {}\nstdout: {}\nstderr: {}", self.code, self.stdout, self.stderr)
    }

    /// The document on standard output, after an end with that code.
    pub(crate) fn document(&self, code: i32) -> Value {
        assert_eq!(self.code, code, "{}", self.all());
        let document: Value = serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}\n{}", self.all()));
        if document["schema"] == "syrch.answer/1" {
            assert_fits(&document);
        }
        document
    }
}

/// Every answer that a test reads fits the schema in the documents.
pub(crate) fn assert_fits(document: &Value) {
    static SCHEMA: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
        let text = std::fs::read_to_string(syrch_kit::repository().join("docs/answer.schema.json"))
            .unwrap();
        jsonschema::draft202012::new(&serde_json::from_str(&text).unwrap()).unwrap()
    });
    let wrong: Vec<String> = SCHEMA
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}\n{document:#}");
}

/// Asks one question, for JSON.
pub(crate) fn ask(
    endpoint: &MockEndpoint,
    database: &Path,
    question: &str,
    flags: &[&str],
) -> Said {
    let mut command = search(&endpoint.url(), database);
    Said::from_output(
        command.args(["--format", "json", "-q", question]).args(flags).output().unwrap(),
    )
}

/// One subtask of a plan.
pub(crate) fn subtask(id: &str, description: &str, depends_on: &[&str]) -> Value {
    json!({"id": id, "description": description, "depends_on": depends_on, "is_atomic": true})
}

/// A plan of those subtasks.
pub(crate) fn plan(subtasks: &[Value]) -> Reply {
    Reply::json(&json!({ "subtasks": subtasks }))
}

/// The plan that leaves the question whole.
pub(crate) fn whole() -> Reply {
    plan(&[subtask("A", "the whole question", &[])])
}

/// Returns a text that is only in prompts for that subtask.
pub(crate) fn for_task(description: &str) -> String {
    format!("Your task is this part of it: {description}\n")
}

/// The requests for statements, without those for plans.
pub(crate) fn statements(endpoint: &MockEndpoint) -> Vec<Recorded> {
    endpoint.requests().into_iter().filter(|request| request.prompt().contains(WRITE)).collect()
}

/// The candidates as `(id, status, reason)`.
pub(crate) fn candidates(document: &Value) -> Vec<(String, String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let candidates = document["candidates"].as_array().unwrap();
    candidates
        .iter()
        .map(|known| (text(&known["id"]), text(&known["status"]), text(&known["reason"])))
        .collect()
}

/// The rows that a statement gives when the command `sql` runs it alone.
pub(crate) fn rows_alone(database: &Path, sql: &Value) -> Value {
    let mut command = host();
    let output = command
        .args(["--format", "json", "sql", "--db"])
        .arg(database)
        .arg(sql.as_str().unwrap())
        .output();
    let document = Said::from_output(output.unwrap()).document(0);
    document["rows"].clone()
}
