//! The database: its schema, and statements under the guard.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use syrch::databases::with_doubts;
use syrch::syrch_core::ports::SqlQuery;
use syrch::syrch_core::{Catalog, Table};

use super::export::{self, Export};
use super::{Served, accepts, read_json, send};
use crate::problem::Problem;

/// The tables that may be seen.
pub(super) async fn schema(State(served): State<Arc<Served>>) -> Result<Json<Value>, Problem> {
    let catalog = served.host.database().catalog().await.map_err(syrch::Error::from)?;
    let mut document = served.program.schema(&catalog);
    let shown = document["tables"].as_array_mut().into_iter().flatten();
    for (shown, table) in shown.zip(&catalog.tables) {
        shown["sql_name"] = json!(quote_name(&catalog, table));
    }
    Ok(send(&served, document))
}

/// The name of a table as it stands in a statement, with its schema where another table has the
/// same one.
fn quote_name(catalog: &Catalog, table: &Table) -> String {
    let name = catalog.dialect.quote(&table.name);
    let same = catalog.tables.iter().filter(|other| other.name == table.name).count();
    match &table.schema_name {
        Some(schema) if same > 1 => format!("{}.{name}", catalog.dialect.quote(schema)),
        _ => name,
    }
}

/// A statement of a client.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Statement {
    sql: String,
    /// True if it is not to be run.
    #[serde(default)]
    check: bool,
}

/// Runs or checks a statement under the guard and the limits of a search. By `Accept` the rows are
/// JSON, `text/csv` or Parquet. A client that goes away ends it.
pub(super) async fn sql(
    State(served): State<Arc<Served>>,
    request: Request,
) -> Result<Response, Problem> {
    let export = [Export::Csv, Export::Parquet]
        .into_iter()
        .find(|export| accepts(&request, export.media_type()));
    let Statement { sql, check } = read_json(&served, request).await?;
    let query = SqlQuery::new(sql);
    if check {
        let facts = served.host.database().check(&query).await?;
        let document = json!({"schema": "syrch.check/1", "ok": true, "facts": facts});
        return Ok(send(&served, document).into_response());
    }
    let result = with_doubts(served.host.database()).run(&query).await?;
    match export {
        Some(export) => export::file(&served, result, export).await,
        None => Ok(send(&served, served.program.rows(&result)).into_response()),
    }
}
