//! Metrics that are defined once: semantics files, and requests that are compiled to a statement
//! and run as any other, under the guard and the limits.

use std::path::Path;
use std::sync::Arc;

use chrono::NaiveDate;
use syrch_core::ports::{Database, SqlQuery};
use syrch_core::{ResultSet, SqlError};
use syrch_semantics::{
    BOUNDS, CompileError, Compiled, Problem, Request, Semantics, Source, compile,
};

use crate::Host;
use crate::databases::doubting_within;

/// The rows of a request for metrics, and the statement that gave them.
#[derive(Debug)]
pub struct MetricAnswer {
    /// The statement, its columns and what it applies.
    pub compiled: Compiled,
    /// Its rows.
    pub rows: ResultSet,
}

/// The reason why a request for metrics has no answer.
#[derive(Debug, thiserror::Error)]
pub enum MetricError {
    /// The request has no statement.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The guard or the database refused the statement.
    #[error(transparent)]
    Sql(#[from] SqlError),
}

/// The reason why semantics files were not read.
#[derive(Debug, thiserror::Error)]
pub enum SemanticsError {
    /// A file cannot be read.
    #[error("{0}")]
    File(String),
    /// The content is wrong: everything that was found, each with its place.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Wrong(Vec<Problem>),
}

/// Reads semantics files, which may refer to each other's tables and metrics.
///
/// # Errors
/// When a file cannot be read or is too large, and when something in one is wrong.
pub fn read_semantics<P: AsRef<Path>>(
    files: impl IntoIterator<Item = P>,
) -> Result<Semantics, SemanticsError> {
    let mut sources = Vec::new();
    for path in files {
        let path = path.as_ref();
        let text = syrch_yaml::text_within(path, false, &BOUNDS);
        let file = path.display().to_string();
        sources.push(Source {
            text: text.map_err(|why| SemanticsError::File(format!("{file}: {why}")))?,
            file,
        });
    }
    Semantics::read(&sources).map_err(SemanticsError::Wrong)
}

/// Compiles a request in the dialect of a database and runs the statement. `today` is the day by
/// the clock.
///
/// # Errors
/// When the request has no statement, and as [`Database::run`].
pub async fn run_metric(
    database: &Arc<dyn Database>,
    semantics: &Semantics,
    request: &Request,
    today: NaiveDate,
) -> Result<MetricAnswer, MetricError> {
    let today = semantics.today.unwrap_or(today);
    let compiled = compile(semantics, request, &database.dialect(), today)?;
    let rows = database.run(&SqlQuery::new(compiled.sql.clone())).await?;
    Ok(MetricAnswer { compiled, rows })
}

impl Host {
    /// Answers a request for metrics from the host's database, without a model: see [`run_metric`].
    ///
    /// # Errors
    /// When the request has no statement, and as [`Database::run`].
    pub async fn metric(
        &self,
        semantics: &Semantics,
        request: &Request,
        today: NaiveDate,
    ) -> Result<MetricAnswer, MetricError> {
        let database = doubting_within(&self.database, self.settings.rows);
        run_metric(&database, semantics, request, today).await
    }
}
