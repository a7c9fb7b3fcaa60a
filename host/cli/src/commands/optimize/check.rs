//! `optimize check`: shows which statements the optimizer supports, and which rule refuses each of
//! the others. Nothing is run.

use clap::Args;
use serde_json::{Value, json};
use syrch::syrch_core::ports::{Bench, BenchLimits, PortError};
use syrch::syrch_core::{SqlError, SqlErrorKind};
use syrch_optimizing::SUPPORT;

use super::statement::{Named, read_all};
use crate::commands::Context;
use crate::config::flags::Flags;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::sink::Grid;

#[derive(Args)]
pub(crate) struct CheckArgs {
    /// Statements, files with one each, `-` for one from standard input, or manifests of corpora
    #[arg(value_name = "SQL|FILE|-|MANIFEST", required = true)]
    pub(crate) statements: Vec<String>,
    /// Admit sums and means of real numbers too, as `optimize --real-sums` does
    #[arg(long)]
    pub(crate) real_sums: bool,
    /// The options of a database.
    #[command(flatten)]
    pub(crate) flags: Flags<false>,
}

/// A statement with its verdict: the text that would be run with its tables, or the refusal.
struct Checked {
    statement: Named,
    verdict: Result<(String, Vec<String>), SqlError>,
}

pub(super) async fn run(context: &Context, arguments: CheckArgs) -> Outcome {
    context.needs_database()?;
    let statements = read_all(&arguments.statements)?;
    if statements.is_empty() {
        return Err(Failure::usage("there is no statement")
            .hint("`syrch-host optimize corpus add` adds some"));
    }
    let database = context.open_database().await?;
    let limits = BenchLimits { real_sums: arguments.real_sums, ..BenchLimits::default() };
    let mut bench = database.bench(limits).await.map_err(|error| engine_failure(&error))?;
    let mut all = Vec::new();
    for statement in statements {
        context.console.progress(&format!("{} · {}", all.len(), statement.name));
        let verdict = check(bench.as_mut(), &statement.sql).await?;
        all.push(Checked { statement, verdict });
    }
    context.console.clear();
    show(context, &all)?;
    let admitted = all.iter().filter(|one| one.verdict.is_ok()).count();
    let of = all.len();
    let share = admitted as f64 / of as f64;
    context
        .console
        .note(&format!("{admitted} of {of} statements are supported ({:.0} %)", share * 100.0));
    if share < SUPPORT {
        context.console.warn(&format!(
            "fewer than {:.0} % are supported: the optimizer can do little for these statements",
            SUPPORT * 100.0
        ));
    }
    Ok(Exit::Answered)
}

/// A failure for databases whose engine compares no statements.
pub(super) fn engine_failure(error: &PortError) -> Failure {
    let why = match error {
        PortError::Unsupported => "its engine cannot compare statements exactly".to_owned(),
        error => error.to_string(),
    };
    Failure::new(Exit::Database, format!("the optimizer cannot work on this database: {why}"))
        .hint("docs/optimize.md lists the engines on which statements can be compared exactly")
}

/// Both checks of a statement, and its output types. The outer error ends the command.
async fn check(
    bench: &mut dyn Bench,
    sql: &str,
) -> Outcome<Result<(String, Vec<String>), SqlError>> {
    let admitted = match bench.admit(sql, None).await {
        Ok(admitted) => admitted,
        Err(error) => return refusal(error),
    };
    bench.snapshot().await?;
    match bench.columns(&admitted).await {
        Ok(_) => Ok(Ok((admitted.sql, admitted.tables))),
        Err(error) => refusal(error),
    }
}

/// Separates failures by their cause: what a statement is at fault for is its verdict, in the inner
/// result; what the database is at fault for is a failure.
fn refusal<T>(error: SqlError) -> Outcome<Result<T, SqlError>> {
    let is_of_database = matches!(error.kind, SqlErrorKind::Unavailable);
    if is_of_database { Err(error.into()) } else { Ok(Err(error)) }
}

fn show(context: &Context, all: &[Checked]) -> Outcome<()> {
    let mut grid = Grid::new(["statement", "supported", "rule", "reason"]);
    grid.rows = all
        .iter()
        .map(|one| match &one.verdict {
            Ok(_) => vec![json!(one.statement.name), json!("yes"), Value::Null, Value::Null],
            Err(error) => vec![
                json!(one.statement.name),
                json!("no"),
                json!(rule(error)),
                json!(error.message),
            ],
        })
        .collect();
    context.rows(grid, || document(all))
}

/// The rule that refused a statement; the kind of the error where no rule did, such as for a
/// statement that does not parse.
fn rule(error: &SqlError) -> &str {
    error.rule.as_deref().unwrap_or_else(|| error.kind.name())
}

fn document(all: &[Checked]) -> Value {
    let one = |one: &Checked| {
        let Named { name, description, sql } = &one.statement;
        match &one.verdict {
            Ok((admitted, tables)) => json!({
                "statement": name, "description": description, "sql": sql, "supported": true,
                "runs_as": admitted, "tables": tables,
                "rule": null, "reason": null,
            }),
            Err(error) => json!({
                "statement": name, "description": description, "sql": sql, "supported": false,
                "runs_as": null, "tables": null,
                "rule": rule(error), "reason": error.message,
            }),
        }
    };
    let supported = all.iter().filter(|one| one.verdict.is_ok()).count();
    json!({
        "schema": "syrch.optimize-check/1",
        "statements": all.iter().map(one).collect::<Vec<_>>(),
        "supported": supported,
        "of": all.len(),
        "share": supported as f64 / all.len().max(1) as f64,
    })
}
