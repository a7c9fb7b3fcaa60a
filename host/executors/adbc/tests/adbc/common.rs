//! Engines without the guard before them.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use syrch_adbc::{AdbcConfig, AdbcEngine};
use syrch_arrow_engine::{ArrowEngine, BatchSink};
use syrch_core::{Limits, ResultSet, SqlError, SqlErrorKind, Value};

/// A driver that `tests/databases/install.sh` has installed.
pub(crate) fn driver(name: &str) -> Option<PathBuf> {
    syrch_kit::find_installed(&format!("adbc/{name}")).map(|path| path.canonicalize().unwrap())
}

/// An engine and the limits of its statements.
pub(crate) struct Direct {
    pub(crate) engine: AdbcEngine,
    limits: Limits,
}

impl Direct {
    pub(crate) async fn open(config: AdbcConfig) -> Self {
        let limits = config.limits.clone();
        Self { engine: AdbcEngine::open(config).await.unwrap(), limits }
    }

    /// Runs a statement that no guard has seen.
    pub(crate) async fn run(&self, sql: &str) -> Result<ResultSet, SqlError> {
        let mut sink = BatchSink::new(self.limits.clone());
        let deadline = tokio::time::Instant::now() + self.limits.sql_deadline;
        self.engine.execute(sql, deadline, &mut sink).await?;
        sink.finish(sql.to_owned())
    }

    pub(crate) async fn rows(&self, sql: &str) -> Vec<Vec<Value>> {
        self.run(sql).await.unwrap_or_else(|error| panic!("`{sql}`: {error}")).rows(0, u64::MAX)
    }

    pub(crate) async fn error(&self, sql: &str) -> SqlError {
        match self.run(sql).await {
            Ok(result) => panic!("`{sql}` has {} rows", result.row_count()),
            Err(error) => error,
        }
    }

    pub(crate) async fn prepare(&self, sql: &str) -> Result<(), SqlError> {
        self.engine.prepare(sql, tokio::time::Instant::now() + self.limits.sql_deadline).await
    }

    /// A statement that runs for hours ends at its deadline, and the only place is free again.
    pub(crate) async fn ends_at_its_deadline(&self, endless: &str) {
        let started = Instant::now();
        let error = self.error(endless).await;
        let elapsed = started.elapsed();
        assert_eq!(
            (error.kind, error.rule.as_deref()),
            (SqlErrorKind::Timeout, Some("deadline")),
            "{error}"
        );
        assert!(
            elapsed >= self.limits.sql_deadline
                && elapsed < self.limits.sql_deadline + Duration::from_secs(1)
        );
        assert_eq!(self.rows("SELECT 1").await, [[Value::Integer(1)]]);
    }

    /// A statement whose future is dropped ends, long before its deadline.
    pub(crate) async fn ends_when_dropped(&self, endless: &str) {
        for _ in 0..3 {
            let dropped = tokio::time::timeout(Duration::from_millis(150), self.run(endless)).await;
            assert!(
                dropped.is_err(),
                "the statement ended by itself: {:?}",
                dropped.map(|result| result.map(drop))
            );
        }
        let started = Instant::now();
        assert_eq!(self.rows("SELECT 1").await, [[Value::Integer(1)]]);
        assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    }
}

/// Returns limits of one statement at a time, with this deadline.
pub(crate) fn single(milliseconds: u64) -> Limits {
    Limits {
        sql_in_flight: 1,
        sql_deadline: Duration::from_millis(milliseconds),
        ..Limits::default()
    }
}

/// Rows, bytes and cells are capped, and a result that would have many rows is cut soon.
pub(crate) async fn is_capped(config: AdbcConfig, many: &str, cell: &str) {
    let limits = Limits { rows: 7, ..Limits::default() };
    let direct = Direct::open(AdbcConfig { limits, ..config.clone() }).await;
    let started = Instant::now();
    let result = direct.run(many).await.unwrap();
    assert_eq!((result.row_count(), result.is_truncated()), (7, true));
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert_eq!(direct.rows("SELECT 1").await, [[Value::Integer(1)]]);
    let limits = Limits { result_bytes: 10_000, cell_bytes: 1_000, ..Limits::default() };
    let direct = Direct::open(AdbcConfig { limits, ..config }).await;
    let result = direct.run(many).await.unwrap();
    assert!(
        result.is_truncated() && (10..1_000).contains(&result.row_count()),
        "{}",
        result.row_count()
    );
    let error = direct.error(cell).await;
    assert_eq!(
        (error.kind, error.rule.as_deref()),
        (SqlErrorKind::TooLarge, Some("cell-bytes")),
        "{error}"
    );
}

pub(crate) fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}
