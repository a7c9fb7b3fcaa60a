//! The answer to `EXPLAIN`: a plan, or the error of a statement that cannot be planned.

use syrch_core::SqlError;

use crate::error;

/// The beginning of an answer that is an error in place of a plan.
const ERROR: &str = "Error occurred during query planning";
/// The beginning of a plan.
const PHYSICAL: &str = "== Physical Plan ==";
/// The beginning of an exception's name, which may stand in the place of a plan.
const EXCEPTION: &str = "org.apache.spark.";

/// Returns the text, if it is a plan.
///
/// # Errors
/// The error of the statement: the engine answers some errors with a text where a plan would stand.
pub(crate) fn check_plan(text: String) -> Result<String, SqlError> {
    let begins = text.trim_start();
    let after = begins.strip_prefix(PHYSICAL).unwrap_or(begins).trim_start();
    let message = begins.strip_prefix(ERROR).or_else(|| after.strip_prefix(EXCEPTION));
    match message {
        Some(message) => {
            Err(error::message_error(message.trim_start_matches([':', ' ', '\n']), None, ""))
        }
        None => Ok(text),
    }
}

/// The estimate of rows of a plan with costs: that of its topmost operator,
/// `Statistics(sizeInBytes=1.2 KiB, rowCount=1.50E+3)`.
pub(crate) fn rows(text: &str) -> Option<f64> {
    let first = text.lines().find(|line| line.contains("Statistics("))?;
    let (_, count) = first.split_once("rowCount=")?;
    count.split([',', ')']).next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use syrch_core::SqlErrorKind;

    use super::*;

    #[test]
    fn errors_in_the_place_of_plans_are_errors() {
        let plan = "== Physical Plan ==\nPhotonScan parquet [org.apache.spark.x]\n";
        assert_eq!(check_plan(plan.to_owned()).unwrap(), plan);
        for text in [
            "== Physical Plan ==\norg.apache.spark.sql.AnalysisException: \
             [UNRESOLVED_COLUMN.WITHOUT_SUGGESTION] A column with name `x` cannot be resolved. \
             SQLSTATE: 42703; line 1 pos 7;\n'Project ['x]\n",
            "Error occurred during query planning: \n[UNRESOLVED_COLUMN.WITHOUT_SUGGESTION] A \
             column with name `x` cannot be resolved. SQLSTATE: 42703",
        ] {
            let error = check_plan(text.to_owned()).unwrap_err();
            assert_eq!(error.kind, SqlErrorKind::UnknownColumn, "{text}");
            assert_eq!(
                error.message,
                "[UNRESOLVED_COLUMN.WITHOUT_SUGGESTION] A column with name `x` cannot be resolved."
            );
        }
    }

    #[test]
    fn the_topmost_operator_has_the_estimate() {
        let text = "== Optimized Logical Plan ==\nProject [x], Statistics(sizeInBytes=1.2 KiB, \
                    rowCount=1.50E+3)\n+- Scan, Statistics(sizeInBytes=1, rowCount=9)\n";
        assert_eq!(rows(text), Some(1500.0));
        assert_eq!(rows("Project [x], Statistics(sizeInBytes=8.0 EiB)\n"), None);
    }
}
