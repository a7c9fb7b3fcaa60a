//! What is expected of an answer: the rows of the suite's own statements, run under the guard as any other.

use std::sync::Arc;

use syrch_core::ports::{Database, Query};
use syrch_core::{ResultSet, SqlError, SqlErrorKind};
use syrch_grade::rules::Facts;
use syrch_grade::suite::{self, Gold, Question};

/// The expected results of a question.
#[derive(Debug, Default)]
pub(crate) struct Expected {
    /// Those that could be had, the suite's own first, with what the rules must know of each.
    pub(crate) golds: Vec<(ResultSet, Facts)>,
    /// Why none could be had.
    pub(crate) fault: Option<String>,
}

impl Expected {
    /// Runs and reads what a question expects. One that can be had suffices.
    ///
    /// # Errors
    /// What passes: a statement that another time might be run.
    pub(crate) async fn of(question: &Question, database: &Arc<dyn Database>) -> Result<Self, SqlError> {
        let mut expected = Self::default();
        for gold in &question.golds {
            let (results, sql) = match gold {
                Gold::Sql(sql) => (told(database.run(&Query::new(sql)).await)?.map(Some), Some(sql.as_str())),
                other => (suite::expected(other).map_err(|error| error.to_string()), None),
            };
            match results {
                Ok(Some(results)) if results.truncated() => drop(expected.fault.get_or_insert_with(|| {
                    format!("the expected rows were cut at a limit, after {} rows", results.row_count())
                })),
                Ok(Some(results)) => {
                    let unnamed = matches!(gold, Gold::Text(_));
                    expected.golds.push((results, Facts { unnamed, ..Facts::new(question.ordered, sql) }));
                }
                Ok(None) => {}
                Err(error) => drop(expected.fault.get_or_insert(error)),
            }
        }
        if !expected.golds.is_empty() {
            expected.fault = None;
        }
        Ok(expected)
    }

    /// How many bytes of memory its rows take.
    pub(crate) fn bytes(&self) -> usize {
        self.golds.iter().map(|(rows, _)| bytes(rows)).sum()
    }
}

/// Whether a statement fails for a reason that passes, so that nothing is known of the statement.
pub(crate) fn passes(error: &SqlError) -> bool {
    matches!(error.kind, SqlErrorKind::Unavailable | SqlErrorKind::Cancelled)
}

/// A result, or what is told of a statement that can never be run; a failure that passes is an error.
pub(crate) fn told<T>(result: Result<T, SqlError>) -> Result<Result<T, String>, SqlError> {
    match result {
        Err(error) if passes(&error) => Err(error),
        result => Ok(result.map_err(|error| error.to_string())),
    }
}

/// How many bytes of memory rows take.
pub(crate) fn bytes(rows: &ResultSet) -> usize {
    rows.batches().iter().map(|batch| batch.get_array_memory_size()).sum()
}
