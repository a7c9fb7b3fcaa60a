//! `sql`: one statement, or many from standard input, under the same guard and limits as those of a
//! search.

use std::io::Read;
use std::sync::Arc;

use clap::Args;
use serde_json::{Value, json};
use syrch::databases::with_doubts;
use syrch::syrch_core::ports::{Database, Facts, SqlQuery};
use syrch::syrch_core::{ResultSet, SqlError, SqlErrorKind};

use super::{Context, Run, statements};
use crate::config::Given;
use crate::config::flags::Flags;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::sink::{self, Grid};

/// Bytes that are read of a statement from standard input; the guard refuses it long before.
const LONGEST: u64 = 1 << 20;

#[derive(Args)]
pub(crate) struct SqlArgs {
    /// The statement; - reads it from standard input
    #[arg(value_name = "STATEMENT", conflicts_with = "stdin_jsonl")]
    pub(crate) statement: Option<String>,
    /// Check the statement without running it
    #[arg(long)]
    pub(crate) check: bool,
    /// Read lines {"id", "sql"} from standard input; each gives one line {"id", "ok", "rows"} or
    /// {"id", "ok", "error"}; with --check without "rows"
    #[arg(long)]
    pub(crate) stdin_jsonl: bool,
    /// The options of a database.
    #[command(flatten)]
    pub(crate) flags: Flags<false>,
}

impl Run for SqlArgs {
    fn config_flags(&self) -> Option<Given<'_>> {
        Some(Given::new(&self.flags, &[]))
    }

    async fn run(self, context: Context) -> Outcome {
        context.needs_database()?;
        if self.statement.is_none() && !self.stdin_jsonl {
            return Err(Failure::usage("no statement").hint(
                "give one by `syrch-host sql --db FILE \"SELECT …\"`, `-` to read it from standard \
                 input, or --stdin-jsonl for many",
            ));
        }
        let database = context.open_database().await?;
        let Some(statement) = self.statement else {
            statements::run(
                with_doubts(&database).as_ref(),
                self.check,
                &context.output,
                &context.scrubber,
            )
            .await?;
            return Ok(Exit::Answered);
        };
        let statement = if statement == "-" { read()? } else { statement };
        if self.check {
            let facts = database.check(&SqlQuery::new(statement)).await?;
            context.rows(facts_grid(&facts), || facts_document(&facts))?;
        } else {
            print(&context, &database, statement).await?;
        }
        Ok(Exit::Answered)
    }
}

/// Runs one statement and prints its rows, and warns of the doubts about them.
pub(super) async fn print(
    context: &Context,
    database: &Arc<dyn Database>,
    statement: String,
) -> Outcome<()> {
    let result = with_doubts(database).run(&SqlQuery::new(statement)).await?;
    for warning in result.profile().warnings {
        context.console.warn(&warning);
    }
    context.rows(sink::grid(&result), || document(&result))
}

fn read() -> Outcome<String> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(LONGEST).read_to_end(&mut bytes);
    read.map_err(|error| Failure::new(Exit::Unexpected, format!("standard input: {error}")))?;
    String::from_utf8(bytes).map_err(|_| {
        SqlError::new(SqlErrorKind::Denied, "the statement is not UTF-8").rule("utf-8").into()
    })
}

/// The result as the document `syrch.rows/1`.
pub(super) fn document(result: &ResultSet) -> Value {
    let columns: Vec<Value> = result
        .columns()
        .iter()
        .map(|column| json!({"name": column.name, "type": column.sql_type}))
        .collect();
    json!({
        "schema": "syrch.rows/1",
        "sql": result.sql,
        "columns": columns,
        "rows": sink::grid(result).rows,
        "row_count": result.row_count(),
        "truncated": result.is_truncated(),
        "warnings": result.profile().warnings,
    })
}

fn facts_grid(facts: &Facts) -> Grid {
    let mut grid = Grid::new(["fact", "value"]);
    let lists =
        [("table", &facts.tables), ("column", &facts.columns), ("function", &facts.functions)];
    for (fact, values) in lists {
        grid.rows.extend(values.iter().map(|value| vec![json!(fact), json!(value)]));
    }
    grid.rows.push(vec![json!("statement"), json!(facts.normalized)]);
    grid
}

/// The facts of a statement as the document `syrch.check/1`.
fn facts_document(facts: &Facts) -> Value {
    json!({"schema": "syrch.check/1", "ok": true, "facts": facts})
}
