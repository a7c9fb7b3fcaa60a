//! `search_schema`, and the tables of the catalog as resources.

use std::collections::BTreeMap;

use rmcp::model::{ErrorData, ListResourcesResult, ReadResourceResult, Resource, ResourceContents};
use serde::Deserialize;
use serde_json::{Value, json};
use syrch::schema::{describe_tables, kind, references};
use syrch::syrch_core::text::escape::{clip_with_remark, escape_dangerous};
use syrch::syrch_core::{Catalog, Column, Corpus, Hit, Table};

use crate::numbers::read_whole;
use crate::quote;
use crate::server::{CACHED, Reply, Server};

/// The limit on the length of the search words, in characters.
const LONGEST: usize = 1_000;
/// The number of tables that are returned unless the call names one, and the limit on it.
const TABLES: usize = 8;
const MOST_TABLES: usize = 30;
/// The limits on the columns of a table and on the notes that are returned.
const COLUMNS: usize = 40;
const NOTES: usize = 10;
/// The limit on the length of a comment or a note, in characters.
const COMMENT: usize = 400;
/// The number of hits of each kind that are ranked.
const HITS: u32 = 40;
/// The number of tables that are named where nothing matches.
const NAMES: usize = 100;
/// The number of resources on one page.
const PAGE: usize = 100;
/// The beginning of the address of a table.
const SCHEME: &str = "syrch://table/";

/// The arguments of the tool.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    words: String,
    #[serde(default, deserialize_with = "read_whole")]
    max_tables: Option<usize>,
}

/// Finds tables, columns and notes by words.
pub(crate) async fn call(server: &Server, arguments: Arguments) -> Reply {
    let words = arguments.words.trim();
    if words.is_empty() || words.chars().count() > LONGEST {
        return Reply::failure(format!("words are a text of 1 to {LONGEST} characters"));
    }
    let hits = match server.host().find_in_schema(words, HITS).await {
        Ok(hits) => hits,
        Err(error) => return Reply::error(&error),
    };
    let catalog = match server.host().database().catalog().await {
        Ok(catalog) => catalog,
        Err(error) => return Reply::error(&error.into()),
    };
    let most = arguments.max_tables.unwrap_or(TABLES).clamp(1, MOST_TABLES);
    let (document, count) = find(&catalog, &hits, most);
    let text = match count {
        0 => format!("Nothing matches; the database has {} tables.", catalog.tables.len()),
        1 => "1 table matches.".to_owned(),
        count => format!("{count} tables match, the best first."),
    };
    Reply::document(quote::with_data(&text, &document), document)
}

/// The document of the hits, and the number of tables in it.
fn find(catalog: &Catalog, hits: &[Hit], most: usize) -> (Value, usize) {
    let mut scores: BTreeMap<usize, f64> = BTreeMap::new();
    let mut columns: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    let mut notes: Vec<String> = Vec::new();
    for hit in hits {
        if hit.corpus == Corpus::Notes
            && let Some(text) = &hit.snippet
            && notes.len() < NOTES
        {
            let note = clip_with_remark(text, COMMENT).into_owned();
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        let Some(table) = hit.table.as_deref().and_then(|name| catalog.table(name)) else {
            continue;
        };
        let Some(at) = catalog.tables.iter().position(|other| other.is_same(table)) else {
            continue;
        };
        *scores.entry(at).or_default() += hit.score;
        columns.entry(at).or_default().extend(hit.column.as_deref());
    }
    let mut best: Vec<(usize, f64)> = scores.into_iter().collect();
    best.sort_by(|one, other| other.1.total_cmp(&one.1));
    best.truncate(most);
    let tables: Vec<Value> = best
        .iter()
        .map(|(at, _)| {
            let wanted = columns.get(at).map(Vec::as_slice).unwrap_or_default();
            describe(catalog, &catalog.tables[*at], wanted)
        })
        .collect();
    let mut document = json!({"dialect": catalog.dialect.name(), "tables": tables, "notes": notes});
    if best.is_empty() {
        let names = catalog.tables.iter().take(NAMES).map(|table| catalog.table_name(table));
        document["all_tables"] = json!(names.collect::<Vec<_>>());
    }
    (document, best.len())
}

/// A table with the columns that were found first, then its keys, then the others.
fn describe(catalog: &Catalog, table: &Table, wanted: &[&str]) -> Value {
    let mut columns: Vec<&Column> = table.columns.iter().collect();
    columns.sort_by_key(|column| rank(table, column, wanted));
    let more = columns.len().saturating_sub(COLUMNS);
    columns.truncate(COLUMNS);
    let columns: Vec<Value> =
        columns.into_iter().map(|column| describe_column(table, column)).collect();
    let mut document = json!({
        "name": catalog.table_name(table),
        "kind": kind(table),
        "columns": columns,
        "uri": uri(catalog, table),
    });
    let parts = [
        ("comment", table.comment.as_deref().map(|text| json!(clip_with_remark(text, COMMENT)))),
        ("about_rows", table.row_estimate.map(Value::from)),
        ("more_columns", (more > 0).then(|| json!(more))),
    ];
    for (key, value) in parts {
        if let Some(value) = value {
            document[key] = value;
        }
    }
    document
}

/// The sort key of a column; the least is shown first.
fn rank(table: &Table, column: &Column, wanted: &[&str]) -> (usize, bool) {
    let at = wanted.iter().position(|name| column.name.eq_ignore_ascii_case(name));
    let is_key = is_primary(table, column) || !references(table, column).is_empty();
    (at.unwrap_or(usize::MAX), !is_key)
}

fn is_primary(table: &Table, column: &Column) -> bool {
    table.primary_key.iter().any(|key| key.eq_ignore_ascii_case(&column.name))
}

fn describe_column(table: &Table, column: &Column) -> Value {
    let mut document = json!({"name": column.name, "type": column.sql_type});
    if is_primary(table, column) {
        document["primary_key"] = json!(true);
    }
    let references = references(table, column);
    if !references.is_empty() {
        document["references"] = json!(references);
    }
    let about: Vec<String> =
        column.values_in_words().into_iter().chain(column.comment.clone()).collect();
    if !about.is_empty() {
        document["comment"] = json!(clip_with_remark(&about.join("; "), COMMENT));
    }
    document
}

/// The address of a table, in which every character that is no letter or digit is escaped.
fn uri(catalog: &Catalog, table: &Table) -> String {
    let mut uri = SCHEME.to_owned();
    for byte in catalog.table_name(table).bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

async fn read_catalog(server: &Server) -> Result<std::sync::Arc<Catalog>, ErrorData> {
    let catalog = server.host().database().catalog().await;
    catalog.map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// One page of the tables. A cursor is the number of tables before the page.
pub(crate) async fn list(
    server: &Server,
    cursor: Option<&str>,
) -> Result<ListResourcesResult, ErrorData> {
    let catalog = read_catalog(server).await?;
    let from = match cursor.map(str::parse::<usize>) {
        None => 0,
        Some(Ok(from)) if from < catalog.tables.len() => from,
        Some(_) => return Err(ErrorData::invalid_params("the cursor is unknown", None)),
    };
    let resources: Vec<Resource> = catalog
        .tables
        .iter()
        .skip(from)
        .take(PAGE)
        .map(|table| {
            let name = catalog.table_name(table);
            let resource = Resource::new(uri(&catalog, table), escape_dangerous(&name, &[]))
                .with_mime_type("application/json");
            match &table.comment {
                Some(text) => resource
                    .with_description(escape_dangerous(&clip_with_remark(text, COMMENT), &['\n'])),
                None => resource,
            }
        })
        .collect();
    let end = from + resources.len();
    let mut page = ListResourcesResult::with_all_items(resources).with_ttl_ms(CACHED);
    page.next_cursor = (end < catalog.tables.len()).then(|| end.to_string());
    Ok(page)
}

/// The table at an address, as the document `syrch.schema/1`.
pub(crate) async fn read(server: &Server, address: &str) -> Result<ReadResourceResult, ErrorData> {
    let catalog = read_catalog(server).await?;
    let table = catalog.tables.iter().find(|table| uri(&catalog, table) == address);
    let Some(table) = table else {
        return Err(ErrorData::resource_not_found(
            "there is no such table; resources/list names those that there are",
            Some(json!({"uri": address})),
        ));
    };
    let document = server.scrub(describe_tables(&catalog, &[table]));
    let contents = ResourceContents::text(quote::escape_json(&document.to_string()), address)
        .with_mime_type("application/json");
    Ok(ReadResourceResult::new(vec![contents]).with_ttl_ms(CACHED))
}

#[cfg(test)]
mod tests {
    use syrch::syrch_core::Dialect;

    use super::*;

    fn table(name: &str, columns: usize) -> Table {
        let columns =
            (0..columns).map(|at| Column { name: format!("c{at}"), ..Column::default() }).collect();
        Table { name: name.into(), columns, ..Table::default() }
    }

    fn catalog() -> Catalog {
        let tables = vec![table("orders", 60), table("odd/ \u{1b}name", 1)];
        Catalog { database: "shop".into(), dialect: Dialect::Sqlite, tables }
    }

    fn hit(table: &str, column: Option<&str>, score: f64) -> Hit {
        Hit {
            corpus: Corpus::Columns,
            id: String::new(),
            path: String::new(),
            table: Some(table.into()),
            column: column.map(str::to_owned),
            snippet: None,
            payload: None,
            score,
        }
    }

    #[test]
    fn columns_that_match_come_first_and_others_are_counted() {
        let hits = [hit("odd/ \u{1b}name", None, 0.4), hit("orders", Some("c50"), 0.9)];
        let (document, count) = find(&catalog(), &hits, 8);
        assert_eq!((count, &document["tables"][0]["name"]), (2, &json!("orders")));
        assert_eq!(document["tables"][0]["columns"][0]["name"], "c50");
        assert_eq!(document["tables"][0]["more_columns"], 20);
        let (nothing, _) = find(&catalog(), &[], 8);
        assert_eq!(nothing["all_tables"][0], "orders");
    }

    #[test]
    fn addresses_are_escaped() {
        let catalog = catalog();
        assert_eq!(uri(&catalog, &catalog.tables[1]), "syrch://table/odd%2F%20%1Bname");
    }
}
