//! A database with a script, for the tests of this module.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use arrow_array::{Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use async_trait::async_trait;
use syrch_core::ports::{
    CellIndex, ColumnStats, Database, DatabaseError, Facts, Match, Plan, PortError, Sample,
    SqlQuery,
};
use syrch_core::{
    Catalog, Column, Dialect, ForeignKey, Hit, ResultSet, SqlError, SqlErrorKind, Table,
};

/// The catalog of a library, where members borrow books that have authors. The first column of each
/// table is its key, and a column with the name of another table's key refers to it.
pub(super) fn library() -> Catalog {
    let tables: [(&str, &[(&str, &str)]); 4] = [
        (
            "author",
            &[
                ("author_id", "INTEGER"),
                ("name", "TEXT"),
                ("country", "TEXT"),
                ("birth_year", "INTEGER"),
            ],
        ),
        (
            "book",
            &[
                ("book_id", "INTEGER"),
                ("title", "TEXT"),
                ("genre", "TEXT"),
                ("pages", "INTEGER"),
                ("published", "DATE"),
                ("author_id", "INTEGER"),
            ],
        ),
        (
            "member",
            &[
                ("member_id", "INTEGER"),
                ("name", "TEXT"),
                ("age", "INTEGER"),
                ("city", "TEXT"),
                ("group", "INTEGER"),
            ],
        ),
        (
            "loan",
            &[
                ("loan_id", "INTEGER"),
                ("member_id", "INTEGER"),
                ("book_id", "INTEGER"),
                ("days", "INTEGER"),
            ],
        ),
    ];
    fn reference(column: &str) -> ForeignKey {
        ForeignKey {
            columns: vec![column.to_owned()],
            ref_table: column.trim_end_matches("_id").to_owned(),
            ref_columns: vec![column.to_owned()],
        }
    }
    Catalog {
        database: "library".to_owned(),
        dialect: Dialect::Sqlite,
        tables: tables
            .into_iter()
            .map(|(name, columns): (&str, &[(&str, &str)])| Table {
                name: name.to_owned(),
                columns: columns
                    .iter()
                    .map(|(name, sql_type)| Column {
                        name: (*name).to_owned(),
                        sql_type: (*sql_type).to_owned(),
                        nullable: true,
                        ..Column::default()
                    })
                    .collect(),
                primary_key: vec![columns[0].0.to_owned()],
                foreign_keys: columns[1..]
                    .iter()
                    .filter(|(name, _)| name.ends_with("_id"))
                    .map(|(name, _)| reference(name))
                    .collect(),
                ..Table::default()
            })
            .collect(),
    }
}

/// The time that a statement takes, or the error that it fails with, by its number among those that
/// were run.
type Script = Box<dyn Fn(usize) -> Result<Duration, SqlErrorKind> + Send + Sync>;

/// A library in which no two statements have the same result.
pub(super) struct Scripted {
    pub(super) runs: AtomicUsize,
    pub(super) identity: Option<String>,
    script: Script,
}

impl Scripted {
    pub(super) fn new(
        script: impl Fn(usize) -> Result<Duration, SqlErrorKind> + Send + Sync + 'static,
    ) -> Self {
        Self {
            runs: AtomicUsize::new(0),
            identity: Some("as it was".to_owned()),
            script: Box::new(script),
        }
    }

    pub(super) fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl CellIndex for Scripted {
    async fn samples(&self, _: &str, _: &[String], _: u32) -> Result<Vec<Sample>, PortError> {
        Err(PortError::Unsupported)
    }

    async fn find(&self, _: &[String], _: Match, _: u32) -> Result<Vec<Vec<Hit>>, PortError> {
        Err(PortError::Unsupported)
    }
}

#[async_trait]
impl Database for Scripted {
    fn name(&self) -> &str {
        "library"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    async fn identity(&self) -> Option<String> {
        self.identity.clone()
    }

    async fn catalog(&self) -> Result<Arc<Catalog>, DatabaseError> {
        Ok(Arc::new(library()))
    }

    fn compose(&self, query: &SqlQuery) -> Result<String, SqlError> {
        Ok(query.text.clone())
    }

    async fn check(&self, _: &SqlQuery) -> Result<Facts, SqlError> {
        Ok(Facts::default())
    }

    async fn explain(&self, _: &SqlQuery) -> Result<Plan, SqlError> {
        Err(SqlError::new(SqlErrorKind::Other, "no plan"))
    }

    async fn run(&self, query: &SqlQuery) -> Result<ResultSet, SqlError> {
        let run = self.runs.fetch_add(1, Ordering::SeqCst);
        match (self.script)(run) {
            Ok(time) => tokio::time::sleep(time).await,
            Err(kind) => return Err(SqlError::new(kind, "fails")),
        }
        let cells: Vec<i64> = query.text.bytes().map(i64::from).collect();
        let schema = Arc::new(Schema::new(vec![Field::new("c", DataType::Int64, false)]));
        let batch =
            RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(Int64Array::from(cells))])
                .unwrap();
        Ok(ResultSet::new(schema, vec![batch], false, Vec::new(), query.text.clone()))
    }

    async fn column_stats(&self, table: &str, _: &[String]) -> Result<Vec<ColumnStats>, PortError> {
        Err(PortError::UnknownName(table.to_owned()))
    }
}
