//! `run_sql`: runs one statement under the guard and the limits of a search.

use rmcp::RoleServer;
use rmcp::model::ErrorData;
use rmcp::service::RequestContext;
use serde::Deserialize;
use serde_json::{Value, json};
use syrch::Error;
use syrch::databases::doubting_within;
use syrch::report::json_value;
use syrch::syrch_core::ResultSet;
use syrch::syrch_core::ports::{RowsGrant, SqlQuery};

use crate::ask::cancellation;
use crate::numbers::read_whole;
use crate::server::{Reply, Server};
use crate::{client, quote, rows};

/// The number of rows that are returned unless the call names one, and of those in the text.
const DEFAULT: usize = 50;
const SHOWN: usize = 20;

/// The arguments of the tool.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    sql: String,
    #[serde(default, deserialize_with = "read_whole")]
    max_rows: Option<usize>,
}

/// Runs the statement in a slot.
pub(crate) async fn call(
    server: &Server,
    arguments: Arguments,
    context: &RequestContext<RoleServer>,
) -> Result<Reply, ErrorData> {
    let running = async {
        let _slot = match server.queue().acquire(&client::name(context)).await {
            Ok(slot) => slot,
            Err(refusal) => return Reply::failure(refusal.to_string()),
        };
        let grant = server.host().settings().rows;
        let database = doubting_within(server.host().database(), grant);
        match database.run(&SqlQuery::new(arguments.sql)).await {
            Ok(result) => reply(&result, arguments.max_rows.unwrap_or(DEFAULT), grant),
            Err(error) => Reply::error(&Error::Sql(error)),
        }
    };
    // Dropping a statement interrupts it.
    tokio::select! {
        biased;
        () = context.ct.cancelled() => Err(cancellation()),
        reply = running => Ok(reply),
    }
}

fn reply(result: &ResultSet, wanted: usize, grant: RowsGrant) -> Reply {
    let most = wanted.min(rows::row_limit(grant));
    let mut shown: Vec<Vec<Value>> = result
        .rows(0, most as u64)
        .into_iter()
        .map(|row| row.iter().map(json_value).collect())
        .collect();
    rows::cut(&mut shown, most);
    let all = result.row_count();
    let mut warnings = result.profile().warnings;
    if (shown.len() as u64) < all {
        warnings.push(format!(
            "{} of {all} rows are shown: max_rows, --rows {grant} of the server or the size of an \
             answer allows no more",
            shown.len()
        ));
    }
    let columns: Vec<Value> = result
        .columns()
        .iter()
        .map(|column| json!({"name": column.name, "type": column.sql_type}))
        .collect();
    let document = json!({
        "schema": "syrch.rows/1",
        "sql": result.sql,
        "columns": columns,
        "rows": shown,
        "row_count": all,
        "truncated": result.is_truncated() || (shown.len() as u64) < all,
        "warnings": warnings,
    });
    let count = if all == 1 { "1 row".to_owned() } else { format!("{all} rows") };
    let names: Vec<String> = result.columns().into_iter().map(|column| column.name).collect();
    shown.truncate(SHOWN);
    let data = json!({"columns": names, "rows": shown, "warnings": document["warnings"]});
    Reply::document(quote::with_data(&format!("The result has {count}."), &data), document)
}
