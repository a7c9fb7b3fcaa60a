//! Checks of retrieval queries, and of what a linker returns.

use std::collections::BTreeSet;

use super::{Checked, json, optional, refuse, share, size, unknown, words};
use crate::roles::Linked;
use crate::{Catalog, Corpus, Hit, Limits, RetrievalQuery, Retriever, text};

/// Checks a retrieval query: its corpus and its retriever exist, and its text is bounded.
///
/// # Errors
/// The first field that is wrong.
pub fn retrieval_query(query: &RetrievalQuery, limits: &Limits) -> Checked {
    if let Corpus::Other(name) = &query.corpus {
        return unknown("query.corpus", name);
    }
    if let Retriever::Other(name) = &query.retriever {
        return unknown("query.retriever", name);
    }
    words("query.text", &query.text, limits)
}

fn hit(hit: &Hit, limits: &Limits) -> Checked {
    if let Corpus::Other(name) = &hit.corpus {
        return unknown("hit.corpus", name);
    }
    let texts = [
        ("hit.id", Some(&hit.id)),
        ("hit.path", Some(&hit.path)),
        ("hit.table", hit.table.as_ref()),
    ];
    let more = [("hit.column", hit.column.as_ref()), ("hit.snippet", hit.snippet.as_ref())];
    for (field, text) in texts.into_iter().chain(more) {
        optional(text.map(String::as_str), |text| words(field, text, limits))?;
    }
    optional(hit.payload.as_deref(), |payload| json("hit.payload", payload, limits))?;
    share("hit.score", hit.score)
}

/// Checks the result of a linker: it names tables and columns of the catalog, each table once, and
/// its hints are bounded.
///
/// # Errors
/// The first field that is wrong.
pub fn linking(linked: &Linked, catalog: &Catalog, limits: &Limits) -> Checked {
    size("tables", linked.tables.len(), catalog.tables.len(), "entries")?;
    let mut seen = BTreeSet::new();
    for relevant in &linked.tables {
        fn show_name(name: &str) -> String {
            text::clip(name, 64).escape_default().to_string()
        }
        let Some(table) = catalog.table(&relevant.table) else {
            return refuse(
                "relevant.table",
                format!("`{}` is not in the catalog", show_name(&relevant.table)),
            );
        };
        if !seen.insert((&table.schema_name, &table.name)) {
            return refuse(
                "relevant.table",
                format!("`{}` occurs twice", show_name(&relevant.table)),
            );
        }
        size("relevant.columns", relevant.columns.len(), table.columns.len(), "entries")?;
        let mut left: BTreeSet<String> =
            table.columns.iter().map(|column| column.name.to_lowercase()).collect();
        if let Some(column) =
            relevant.columns.iter().find(|column| !left.remove(&column.to_lowercase()))
        {
            return refuse(
                "relevant.columns",
                format!("`{}` has no further `{}`", show_name(&table.name), show_name(column)),
            );
        }
        share("relevant.score", relevant.score)?;
        words("relevant.reason", &relevant.reason, limits)?;
    }
    size("hints", linked.hints.len(), limits.candidates, "entries")?;
    linked.hints.iter().try_for_each(|each| hit(each, limits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roles::Relevant;
    use crate::{Column, Dialect, Table};

    #[test]
    fn a_linker_names_what_the_catalog_has() {
        let table = Table {
            name: "orders".into(),
            columns: vec![Column { name: "id".into(), ..Column::default() }],
            ..Table::default()
        };
        let catalog =
            Catalog { database: "shop".into(), dialect: Dialect::Sqlite, tables: vec![table] };
        fn relevant(table: &str, columns: &[&str], score: f64) -> Relevant {
            Relevant {
                table: table.into(),
                columns: columns.iter().map(|&column| column.into()).collect(),
                score,
                reason: String::new(),
            }
        }
        let of = |tables: &[Relevant]| {
            linking(
                &Linked { tables: tables.to_vec(), hints: Vec::new() },
                &catalog,
                &Limits::default(),
            )
        };
        assert_eq!(of(&[relevant("Orders", &["ID"], 1.0)]), Ok(()));
        let wrong = [
            relevant("people", &[], 1.0),
            relevant("orders", &["name"], 1.0),
            relevant("orders", &[], 2.0),
        ];
        assert!(wrong.into_iter().all(|wrong| of(&[wrong]).is_err()));
        assert!(of(&[relevant("orders", &[], 1.0), relevant("ORDERS", &[], 1.0)]).is_err());
        let hint = Hit {
            corpus: Corpus::Notes,
            id: "n".into(),
            path: "n".into(),
            table: None,
            column: None,
            snippet: None,
            payload: None,
            score: f64::NAN,
        };
        assert!(
            linking(
                &Linked { tables: Vec::new(), hints: vec![hint] },
                &catalog,
                &Limits::default()
            )
            .is_err()
        );
    }
}
