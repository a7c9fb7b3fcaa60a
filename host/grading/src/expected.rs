//! The expected rows of a question. The suite's own statements run under the guard, as all others.

use std::sync::Arc;

use syrch::databases::with_single_quotes;
use syrch_core::ports::{Database, SqlQuery};
use syrch_core::{ResultSet, SqlError, SqlErrorKind};
use syrch_grade::rules::Facts;
use syrch_grade::suite::{self, Gold, Question};

/// The expected results of a question.
#[derive(Debug, Default)]
pub(crate) struct Expected {
    /// The results, in the order of the suite, each with what the rules must know of it.
    pub(crate) golds: Vec<(ResultSet, Facts)>,
    /// The reason why there is no result; `None` if there is one.
    pub(crate) fault: Option<String>,
}

impl Expected {
    /// Runs the expected statements of a question and reads its expected rows. One result suffices.
    ///
    /// # Errors
    /// When a statement fails for a transient reason.
    pub(crate) async fn for_question(
        question: &Question,
        database: &Arc<dyn Database>,
    ) -> Result<Self, SqlError> {
        let mut expected = Self::default();
        for gold in &question.golds {
            let (results, sql) = match gold {
                Gold::Sql(sql) => {
                    let query = SqlQuery::new(with_single_quotes(sql, database.as_ref()).await);
                    (separate_lasting(database.run(&query).await)?.map(Some), Some(sql.as_str()))
                }
                other => {
                    (suite::read_expected_rows(other).map_err(|error| error.to_string()), None)
                }
            };
            match results {
                Ok(Some(results)) if results.is_truncated() => {
                    expected.fault.get_or_insert_with(|| {
                        format!(
                            "the expected rows were cut at a limit, after {} rows",
                            results.row_count()
                        )
                    });
                }
                Ok(Some(results)) => {
                    let unnamed = matches!(gold, Gold::Text(_));
                    expected
                        .golds
                        .push((results, Facts { unnamed, ..Facts::new(question.ordered, sql) }));
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

    /// The size of all rows in memory, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.golds.iter().map(|(rows, _)| rows.size()).sum()
    }
}

/// Returns true if a statement failed for a transient reason, so that the failure says nothing
/// about the statement.
fn is_transient(error: &SqlError) -> bool {
    matches!(error.kind, SqlErrorKind::Unavailable | SqlErrorKind::Cancelled)
}

/// The result of a statement, or the message of a failure that would happen again.
///
/// # Errors
/// When the statement failed for a transient reason.
pub(crate) fn separate_lasting<T>(
    result: Result<T, SqlError>,
) -> Result<Result<T, String>, SqlError> {
    match result {
        Err(error) if is_transient(&error) => Err(error),
        result => Ok(result.map_err(|error| error.to_string())),
    }
}
