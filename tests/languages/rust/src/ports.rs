//! The habit `ports`: one call of each port, and what came of it.

use syrch_plugin::prelude::*;
use syrch_plugin::serde_json::{Value as Json, json};

use crate::Settings;
use crate::concurrent::asked;
use crate::echo::only;

type Found = Vec<(&'static str, String)>;

pub fn outcome(
    host: &impl SolverHost,
    settings: &Settings,
    problem: &Problem,
    catalog: &Catalog,
    task: &Task,
) -> Outcome {
    let candidate = only(&task.text);
    let (table, columns) = first_table(catalog);
    let found: Found = [
        of_the_run(host, settings, problem),
        of_statements(host, settings, &task.text, (&table, &columns)),
        of_retrieval(host, problem, (&table, &columns)),
        of_judges(host, settings, &candidate),
    ]
    .concat();
    host.note(Level::Info, &settings.text);
    host.event(None, "ports", &json!({ "n": settings.size }));
    Outcome {
        candidates: vec![candidate],
        memo: Some(json!(found).to_string()),
        ..Outcome::default()
    }
}

/// The name of the first table and those of its columns.
fn first_table(catalog: &Catalog) -> (String, Vec<String>) {
    catalog.tables.first().map_or_else(Default::default, |table| {
        (table.name.clone(), table.columns.iter().map(|column| column.name.clone()).collect())
    })
}

fn of_the_run(host: &impl SolverHost, settings: &Settings, problem: &Problem) -> Found {
    let request = Request { temperature: Some(0.5), sample: 7, ..asked(problem).sql() };
    vec![
        ("run.current-policy", host.policy().max_attempts.to_string()),
        (
            "run.setting",
            host.setting(&settings.text)
                .map_or_else(|| "none".to_owned(), |value: Json| value.to_string()),
        ),
        ("run.remaining", host.remaining().llm_calls.to_string()),
        ("llm.models", host.models().join(",")),
        ("llm.complete", text(host.complete(&request), llm_case, |reply| reply.text)),
    ]
}

fn of_statements(
    host: &impl SolverHost,
    settings: &Settings,
    sql: &str,
    of: (&str, &[String]),
) -> Found {
    let check = text(host.check(sql), sql_case, |facts| facts.normalized);
    let explain = text(host.explain(sql), sql_case, |plan| plan.format);
    let stats = text(host.column_stats(of.0, of.1), port_case, |stats| stats.len().to_string());
    let compiled = text(host.compile_metric("{}"), port_case, |compiled| compiled.sql);
    let results = host.run(sql);
    let read = match &results {
        Ok(results) => text(rows(host, results, settings.size), port_case, |rows| rows.to_string()),
        Err(_) => "skipped".to_owned(),
    };
    let run = text(results, sql_case, |results| twice(host, &results, sql));
    vec![
        ("inspect.check", check),
        ("inspect.explain", explain),
        ("inspect.column-stats-of", stats),
        ("inspect.compile-metric", compiled),
        ("sql.run", run),
        ("rows.read", read),
    ]
}

fn of_retrieval(host: &impl SolverHost, problem: &Problem, of: (&str, &[String])) -> Found {
    let query = RetrievalQuery {
        corpus: Corpus::Tables,
        retriever: Retriever::Lexical,
        text: problem.question.clone(),
        limit: 5,
    };
    let phrases = std::slice::from_ref(&problem.question);
    vec![
        (
            "cells.samples",
            text(host.samples(of.0, of.1, 2), port_case, |samples| samples.len().to_string()),
        ),
        (
            "cells.find",
            text(host.find(phrases, &Match::Ngram, 3), port_case, |hits: Vec<Vec<Hit>>| {
                hits.concat().len().to_string()
            }),
        ),
        (
            "retrieval.find",
            text(host.retrieve(&query), port_case, |hits: Vec<Hit>| {
                hits.iter().map(|hit| hit.id.as_str()).collect::<Vec<_>>().join(",")
            }),
        ),
    ]
}

fn of_judges(host: &impl SolverHost, settings: &Settings, candidate: &Candidate) -> Found {
    let calibrated = host.calibrate(&[(settings.share, Signals::default())]);
    let verdicts = host.reward(std::slice::from_ref(candidate));
    vec![
        (
            "evaluate.calibrate",
            text(calibrated, port_case, |numbers: Vec<f64>| {
                numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(",")
            }),
        ),
        ("evaluate.reward", text(verdicts, port_case, |verdicts| verdict_cases(&verdicts))),
    ]
}

fn text<T, E>(
    result: Result<T, E>,
    case: impl Fn(&E) -> &'static str,
    value: impl FnOnce(T) -> String,
) -> String {
    match result {
        Ok(found) => value(found),
        Err(error) => case(&error).to_owned(),
    }
}

/// The number of rows, and whether the same statement gives the same fingerprint again.
fn twice(host: &impl Sql, results: &ResultSet, sql: &str) -> String {
    let again = host.run(sql).ok().and_then(|again| again.fingerprint(&Equality::Bag));
    format!("{} {}", results.profile().rows, again == results.fingerprint(&Equality::Bag))
}

fn rows(host: &impl Rows, results: &ResultSet, limit: u32) -> Result<Json, PortError> {
    let page = host.read(results, 0, limit)?;
    Ok(page.rows.iter().map(|row| row.iter().map(cell).collect::<Json>()).collect())
}

fn cell(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Boolean(value) => json!(value),
        Value::Integer(value) => json!(value),
        Value::Real(value) => json!(value),
        Value::Decimal(text) | Value::Text(text) | Value::Temporal(text) | Value::Other(text) => {
            json!(text)
        }
        Value::Bytes(bytes) => {
            bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into()
        }
    }
}

fn verdict_cases(verdicts: &[Verdict]) -> String {
    verdicts
        .iter()
        .map(|verdict: &Verdict| match verdict {
            Verdict::Accepted(_) => "accepted",
            Verdict::Rejected(_) => "rejected",
            Verdict::Unavailable(_) => "unavailable",
        })
        .collect::<Vec<_>>()
        .join(",")
}

fn llm_case(error: &LlmError) -> &'static str {
    match error {
        LlmError::Budget => "budget",
        LlmError::Denied(_) => "denied",
        LlmError::Refused(_) => "refused",
        LlmError::TooLarge => "too-large",
        LlmError::Malformed(_) => "malformed",
        LlmError::Unsupported(_) => "unsupported",
        LlmError::Cancelled => "cancelled",
        LlmError::Unavailable(_) => "unavailable",
        LlmError::Other(_) => "other",
    }
}

fn sql_case(error: &SqlError) -> &'static str {
    match error.kind {
        SqlErrorKind::Syntax => "syntax",
        SqlErrorKind::UnknownTable => "unknown-table",
        SqlErrorKind::UnknownColumn => "unknown-column",
        SqlErrorKind::AmbiguousName => "ambiguous-name",
        SqlErrorKind::TypeMismatch => "type-mismatch",
        SqlErrorKind::WriteRefused => "write-refused",
        SqlErrorKind::FunctionRefused => "function-refused",
        SqlErrorKind::Denied => "denied",
        SqlErrorKind::Timeout => "timeout",
        SqlErrorKind::TooLarge => "too-large",
        SqlErrorKind::Cancelled => "cancelled",
        SqlErrorKind::Budget => "budget",
        SqlErrorKind::Unavailable => "unavailable",
        SqlErrorKind::Other => "other",
    }
}

fn port_case(error: &PortError) -> &'static str {
    match error {
        PortError::Denied(_) => "denied",
        PortError::Unsupported => "unsupported",
        PortError::UnknownName(_) => "unknown-name",
        PortError::Budget => "budget",
        PortError::Unavailable(_) => "unavailable",
        PortError::Other(_) => "other",
    }
}
