//! A database whose statements have scripted rows and times, and rewriters in plain Rust.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use syrch::{Host, HostBuilder};
use syrch_core::ports::{
    Admitted, Bench, BenchLimits, CANDIDATE, CellIndex, ColumnStats, Compared, Database,
    DatabaseError, Facts, Match, Plan, PortError, ResultSize, Sample, SqlQuery, Timing,
};
use syrch_core::roles::{Attempt, Call, Proposal, Rewriter};
use syrch_core::{
    Catalog, Column, Dialect, Hit, ResultSet, RoleError, SqlError, SqlErrorKind, Table,
};
use syrch_optimizing::{Optimize, Optimizes};

/// The results of the statements. A statement that is not named has the rows 1, 2 and 3 and takes
/// 1,000 ms.
#[derive(Debug, Clone, Default)]
pub(crate) struct Script {
    pub(crate) rows: BTreeMap<String, Vec<i64>>,
    pub(crate) ms: BTreeMap<String, u64>,
    /// The number of the bench call from which on somebody has written to the database.
    pub(crate) written_at: Option<usize>,
    /// The number of the bench call that never ends.
    pub(crate) hangs_at: Option<usize>,
    /// The number of the bench call that fails, as do all that follow.
    pub(crate) gone_at: Option<usize>,
}

pub(crate) struct FakeDatabase {
    script: Script,
    calls: Arc<AtomicUsize>,
    /// The statements that were timed.
    timed: Arc<Mutex<Vec<String>>>,
    catalog: Arc<Catalog>,
}

impl FakeDatabase {
    pub(crate) fn new(script: Script) -> Arc<Self> {
        let column =
            Column { name: "a".to_owned(), sql_type: "INTEGER".to_owned(), ..Column::default() };
        let table = |name: &str| Table {
            name: name.to_owned(),
            columns: vec![column.clone()],
            ..Table::default()
        };
        let tables = vec![table("t"), table("secret")];
        let catalog =
            Arc::new(Catalog { database: "fake".to_owned(), dialect: Dialect::Sqlite, tables });
        Arc::new(Self { script, calls: Arc::default(), timed: Arc::default(), catalog })
    }

    pub(crate) fn list_timed(&self) -> Vec<String> {
        self.timed.lock().unwrap().clone()
    }

    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

fn tables(sql: &str) -> Vec<String> {
    ["secret", "t"]
        .into_iter()
        .filter(|table| sql.split(' ').any(|word| word == *table))
        .map(str::to_owned)
        .collect()
}

#[async_trait]
impl CellIndex for FakeDatabase {
    async fn samples(&self, _: &str, _: &[String], _: u32) -> Result<Vec<Sample>, PortError> {
        panic!("a rewriter reads no cells")
    }

    async fn find(&self, _: &[String], _: Match, _: u32) -> Result<Vec<Vec<Hit>>, PortError> {
        panic!("a rewriter finds no cells")
    }
}

#[async_trait]
impl Database for FakeDatabase {
    fn name(&self) -> &str {
        "fake"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    async fn identity(&self) -> Option<String> {
        Some("as it was".to_owned())
    }

    async fn catalog(&self) -> Result<Arc<Catalog>, DatabaseError> {
        Ok(Arc::clone(&self.catalog))
    }

    fn compose(&self, query: &SqlQuery) -> Result<String, SqlError> {
        Ok(query.text.clone())
    }

    async fn check(&self, query: &SqlQuery) -> Result<Facts, SqlError> {
        Ok(Facts { tables: tables(&query.text), ..Facts::default() })
    }

    async fn explain(&self, query: &SqlQuery) -> Result<Plan, SqlError> {
        Ok(Plan {
            format: "fake".to_owned(),
            text: format!("plan of {}", query.text),
            cost: None,
            rows: None,
        })
    }

    async fn run(&self, _: &SqlQuery) -> Result<ResultSet, SqlError> {
        panic!("a rewriter runs nothing")
    }

    async fn column_stats(&self, _: &str, _: &[String]) -> Result<Vec<ColumnStats>, PortError> {
        Ok(Vec::new())
    }

    async fn bench(&self, _: BenchLimits) -> Result<Box<dyn Bench>, PortError> {
        let script = self.script.clone();
        let calls = Arc::clone(&self.calls);
        let timed = Arc::clone(&self.timed);
        Ok(Box::new(FakeBench { script, calls, timed }))
    }
}

struct FakeBench {
    script: Script,
    calls: Arc<AtomicUsize>,
    timed: Arc<Mutex<Vec<String>>>,
}

impl FakeBench {
    async fn call(&self) -> Result<usize, SqlError> {
        let number = self.calls.fetch_add(1, Ordering::SeqCst);
        if self.script.hangs_at == Some(number) {
            std::future::pending::<()>().await;
        }
        match self.script.gone_at.is_some_and(|gone| number >= gone) {
            true => Err(SqlError::new(SqlErrorKind::Unavailable, "the server is gone")),
            false => Ok(number),
        }
    }

    fn rows(&self, sql: &str) -> Vec<i64> {
        self.script.rows.get(sql).cloned().unwrap_or_else(|| vec![1, 2, 3])
    }
}

#[async_trait]
impl Bench for FakeBench {
    async fn admit(&mut self, text: &str, within: Option<&[String]>) -> Result<Admitted, SqlError> {
        self.call().await?;
        if text.contains("LIMIT") {
            return Err(SqlError::new(SqlErrorKind::Denied, "LIMIT is refused").rule("limit"));
        }
        let tables = tables(text);
        if within.is_some_and(|within| tables.iter().any(|table| !within.contains(table))) {
            return Err(SqlError::new(SqlErrorKind::Denied, "another table").rule("tables"));
        }
        Ok(Admitted { sql: text.trim().to_owned(), tables, is_ordered: false, unnamed: Vec::new() })
    }

    async fn snapshot(&mut self) -> Result<(), SqlError> {
        self.call().await.map(drop)
    }

    async fn columns(&mut self, _: &Admitted) -> Result<Vec<Column>, SqlError> {
        self.call().await?;
        Ok(vec![Column {
            name: "a".to_owned(),
            sql_type: "INTEGER".to_owned(),
            ..Column::default()
        }])
    }

    async fn size(&mut self, admitted: &Admitted) -> Result<ResultSize, SqlError> {
        self.call().await?;
        let rows = self.rows(&admitted.sql).len() as u64;
        Ok(ResultSize { rows, bytes: rows * 8 })
    }

    async fn compare(
        &mut self,
        original: &Admitted,
        candidate: &Admitted,
    ) -> Result<Compared, SqlError> {
        self.call().await?;
        if candidate.sql.contains("overflow") {
            return Err(
                SqlError::new(SqlErrorKind::Other, "overflow").rule(format!("{CANDIDATE}: engine"))
            );
        }
        let original = self.rows(&original.sql);
        let candidate = self.rows(&candidate.sql);
        Ok(if original == candidate {
            Compared::Equal(original.len() as u64)
        } else {
            Compared::Different
        })
    }

    async fn time(&mut self, admitted: &Admitted) -> Result<Timing, SqlError> {
        self.call().await?;
        self.timed.lock().unwrap().push(admitted.sql.clone());
        let ms = self.script.ms.get(&admitted.sql).copied().unwrap_or(1_000);
        Ok(Timing { wall_ns: ms * 1_000_000, rows: 3, ..Timing::default() })
    }

    async fn explain(&mut self, admitted: &Admitted) -> Result<Plan, SqlError> {
        self.call().await?;
        let text = format!("plan of {}", admitted.sql);
        Ok(Plan { format: "fake".to_owned(), text, cost: None, rows: None })
    }

    async fn version(&mut self) -> Result<Option<String>, SqlError> {
        let number = self.call().await?;
        let is_written = self.script.written_at.is_some_and(|at| number >= at);
        Ok(Some(if is_written { "/secret/place 2" } else { "/secret/place 1" }.to_owned()))
    }
}

/// Proposes these statements, one after the other.
pub(crate) struct Scripted(pub(crate) Vec<&'static str>);

#[async_trait]
impl Rewriter for Scripted {
    async fn rewrite(
        &self,
        _: Call,
        _: &str,
        _: &str,
        _: &Plan,
        _: &Catalog,
        history: &[Attempt],
    ) -> Result<Option<Proposal>, RoleError> {
        Ok(self.0.get(history.len()).map(|sql| proposal(sql)))
    }
}

pub(crate) fn proposal(sql: &str) -> Proposal {
    Proposal { sql: sql.to_owned(), family: "scripted".to_owned(), reason: "a test".to_owned() }
}

pub(crate) const ORIGINAL: &str = "SELECT a FROM t";

pub(crate) fn builder(database: &Arc<FakeDatabase>) -> HostBuilder {
    Host::builder().database(Arc::clone(database))
}

pub(crate) async fn optimize(
    database: &Arc<FakeDatabase>,
    statements: &[&'static str],
) -> Optimize {
    let host = builder(database).open().await.unwrap();
    host.optimize(ORIGINAL).rewriter(Arc::new(Scripted(statements.to_vec())))
}
