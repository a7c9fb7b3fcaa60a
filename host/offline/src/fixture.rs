//! Two databases for tests: a library, where members borrow books that have authors, and a shop,
//! where customers review products and employees have managers.

use std::sync::Arc;

use async_trait::async_trait;
use syrch_core::ports::{CellIndex, Match, PortError, Sample};
use syrch_core::{Catalog, Column, Corpus, Dialect, ForeignKey, Hit, Table, Value};

use super::interpret::interpret;

pub(crate) fn table(
    name: &str,
    columns: &[(&str, &str)],
    key: &str,
    references: &[(&str, &str, &str)],
) -> Table {
    let column = |(name, sql_type): &(&str, &str)| Column {
        name: (*name).to_owned(),
        sql_type: (*sql_type).to_owned(),
        nullable: true,
        ..Column::default()
    };
    Table {
        name: name.to_owned(),
        columns: columns.iter().map(column).collect(),
        primary_key: vec![key.to_owned()],
        foreign_keys: references
            .iter()
            .map(|(column, table, target)| ForeignKey {
                columns: vec![(*column).to_owned()],
                ref_table: (*table).to_owned(),
                ref_columns: vec![(*target).to_owned()],
            })
            .collect(),
        ..Table::default()
    }
}

/// The catalog of the library.
pub(crate) fn library() -> Catalog {
    Catalog {
        database: "library".to_owned(),
        dialect: Dialect::Sqlite,
        tables: vec![
            table(
                "author",
                &[
                    ("author_id", "INTEGER"),
                    ("name", "TEXT"),
                    ("country", "TEXT"),
                    ("birth_year", "INTEGER"),
                ],
                "author_id",
                &[],
            ),
            table(
                "book",
                &[
                    ("book_id", "INTEGER"),
                    ("title", "TEXT"),
                    ("genre", "TEXT"),
                    ("pages", "INTEGER"),
                    ("published", "DATE"),
                    ("author_id", "INTEGER"),
                ],
                "book_id",
                &[("author_id", "author", "author_id")],
            ),
            table(
                "member",
                &[
                    ("member_id", "INTEGER"),
                    ("name", "TEXT"),
                    ("age", "INTEGER"),
                    ("city", "TEXT"),
                    ("group", "INTEGER"),
                ],
                "member_id",
                &[],
            ),
            table(
                "loan",
                &[
                    ("loan_id", "INTEGER"),
                    ("member_id", "INTEGER"),
                    ("book_id", "INTEGER"),
                    ("days", "INTEGER"),
                ],
                "loan_id",
                &[("member_id", "member", "member_id"), ("book_id", "book", "book_id")],
            ),
        ],
    }
}

/// The catalog of the shop.
pub(crate) fn shop() -> Catalog {
    let mut shop = Catalog {
        database: "shop".to_owned(),
        dialect: Dialect::Sqlite,
        tables: vec![
            table(
                "product",
                &[("id", "INTEGER"), ("name", "TEXT"), ("price", "REAL"), ("stock", "INTEGER")],
                "id",
                &[],
            ),
            table(
                "review",
                &[
                    ("id", "INTEGER"),
                    ("product_id", "INTEGER"),
                    ("rating", "INTEGER"),
                    ("comment", "TEXT"),
                ],
                "id",
                &[("product_id", "product", "id")],
            ),
            table(
                "employee",
                &[
                    ("id", "INTEGER"),
                    ("name", "TEXT"),
                    ("title", "TEXT"),
                    ("manager_id", "INTEGER"),
                    ("hire_date", "DATE"),
                    ("salary", "INTEGER"),
                ],
                "id",
                &[("manager_id", "employee", "id")],
            ),
        ],
    };
    shop.tables[0].columns[3].nullable = false;
    shop
}

/// The statement of the best reading of a question and its confidence; nothing at 0 when there is
/// none or the user is asked.
pub(crate) fn best(question: &str, catalog: &Catalog) -> (String, f64) {
    let found = block_on(interpret(question, catalog, Some(cells().as_ref())));
    let best = found.list.into_iter().next().filter(|_| found.objection.is_none());
    best.map_or_else(Default::default, |one| (one.sql, one.confidence))
}

/// An index of some of their cells.
pub(crate) fn cells() -> Arc<dyn CellIndex> {
    Arc::new(Cells)
}

struct Cells;

const CELLS: &[(&str, &str, &str)] = &[
    ("author", "country", "France"),
    ("author", "country", "Japan"),
    ("author", "name", "Ana Vidal"),
    ("book", "genre", "Poetry"),
    ("book", "genre", "Crime"),
    ("book", "title", "The Long Shore"),
    ("member", "city", "Bergen"),
    ("member", "city", "Oslo"),
    ("employee", "name", "Ada Kern"),
    ("employee", "name", "Ben Roth"),
    ("employee", "title", "Sales Manager"),
    ("product", "name", "Kettle"),
    ("sales", "region", "North"),
    ("sales", "region", "South"),
    ("penguins", "sex", "female"),
    ("penguins", "island", "Biscoe"),
    ("samples", "origin", "GERMLINE"),
    ("samples", "origin", "Germline"),
    ("samples", "origin", "germline"),
    ("samples", "origin", "Somatic"),
    ("states", "state", "Texas"),
    ("states", "region", "Midwest"),
    ("tickets", "status", "cancelled"),
    ("tickets", "town", "Ulm"),
    ("orders", "category", "Furniture"),
    ("planes", "manufacturer", "AIRBUS"),
    ("planes", "model", "A320-232"),
    ("firms", "country", "Japan"),
    ("cars93", "origin", "Germany"),
    ("nations", "continent", "Oceania"),
    ("trips", "origin", "EWR"),
    ("trips", "origin", "LGA"),
    ("birds", "species", "Gentoo"),
    ("cars", "kind", "Van"),
    ("weather", "sky", "sun"),
    ("salaries", "rank", "Prof"),
    ("salaries", "discipline", "A"),
    ("jobs", "status", "done"),
    ("jobs", "owner", "Will"),
    ("jobs", "grade", "A"),
    ("orders", "status", "shipped"),
    ("orders", "status", "delivered"),
    ("artists", "name", "Queen"),
    ("tracks", "composer", "Queen"),
    ("tracks", "composer", "Mercury"),
];

#[async_trait]
impl CellIndex for Cells {
    async fn samples(
        &self,
        table: &str,
        columns: &[String],
        _: u32,
    ) -> Result<Vec<Sample>, PortError> {
        fn text(value: &str) -> Value {
            Value::Text(value.to_owned())
        }
        let values = match (table, columns) {
            ("tips", [column]) if column == "smoker" => vec![text("No"), text("Yes")],
            ("tips", [column]) if column == "day" => vec![text("Fri"), text("Sat")],
            ("salaries", [column]) if column == "rank" => vec![text("AsstProf"), text("Prof")],
            ("birds", [column]) if column == "island" => {
                vec![text("Dream"), text("NA"), text("Torgersen")]
            }
            ("calls", [column]) if column == "client" => vec![Value::Integer(7), Value::Integer(9)],
            ("homes", [column]) if column == "garages" => {
                vec![Value::Integer(0), Value::Integer(3)]
            }
            ("midwest", [column]) if column == "county" => {
                (0..20).map(|number| Value::Text(format!("County {number}"))).collect()
            }
            ("cars", [column]) if column == "year" => {
                vec![Value::Integer(1999), Value::Integer(2008)]
            }
            ("weather", [column]) if column == "date" => {
                vec![text("2012-01-01"), text("2015-12-31")]
            }
            _ => return Err(PortError::Unsupported),
        };
        let ends = [values.first(), values.last()].map(|end| end.cloned().unwrap_or(Value::Null));
        let [least, greatest] = ends;
        // Each value occurs twice, so that none names a row.
        let frequent = values.into_iter().map(|value| (value, 2)).collect();
        Ok(vec![Sample { column: columns[0].clone(), least, greatest, frequent }])
    }

    async fn find(
        &self,
        phrases: &[String],
        how: Match,
        limit: u32,
    ) -> Result<Vec<Vec<Hit>>, PortError> {
        if how != Match::Exact {
            return Err(PortError::Unsupported);
        }
        Ok(phrases
            .iter()
            .map(|phrase: &String| {
                let equal = CELLS.iter().filter(|(_, _, text)| text.eq_ignore_ascii_case(phrase));
                equal
                    .take(limit as usize)
                    .map(|(table, column, text)| hit(table, column, text))
                    .collect()
            })
            .collect())
    }
}

/// A cell that was found.
pub(crate) fn hit(table: &str, column: &str, text: &str) -> Hit {
    Hit {
        corpus: Corpus::Cells,
        id: format!("{table}.{column}.{text}"),
        path: format!("{table}.{column}"),
        table: Some(table.to_owned()),
        column: Some(column.to_owned()),
        snippet: Some(text.to_owned()),
        payload: None,
        score: 1.0,
    }
}

/// The result of a future, on a runtime of its own: a schema is compiled on one of its threads.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}
