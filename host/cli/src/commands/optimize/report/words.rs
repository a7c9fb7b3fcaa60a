//! The sentences and figures that all formats share.

use serde_json::{Value, json};
use syrch_optimizing::{IterationState, Optimized, Outcome, Report};
use syrch_report::words::{count_grouped, milliseconds, ratio, three};

use super::Measured;

/// `3.4 × faster (412 → 121 ms, interval 3.1–3.8, 9 of 9 pairs)`.
pub(crate) fn speed(measured: &Measured) -> String {
    let Measured { before_ms, after_ms, interval, pairs, .. } = measured;
    let mut inside = vec![format!("{} → {}", three(*before_ms), milliseconds(*after_ms))];
    inside.extend(interval.map(|(low, high)| format!("interval {}–{}", ratio(low), ratio(high))));
    if !pairs.is_empty() {
        inside.push(format!(
            "{} of {}",
            measured.wins(),
            count_grouped(pairs.len() as u64, "pair")
        ));
    }
    format!("{} × faster ({})", ratio(measured.ratio), inside.join(", "))
}

/// The noise of the clock, as a sentence.
pub(crate) fn noise(share: f64) -> String {
    format!("Two runs of the original differed by {:.0} %.", share * 100.0)
}

/// Writes the result as one sentence.
pub(crate) fn verdict(report: &Report) -> String {
    let why = report.reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    match &report.confirmation {
        _ if report.outcome == Outcome::Unchanged && report.reason.is_some() => {
            format!("unchanged{why}")
        }
        _ if !report.is_optimized() => format!("{}{why}", meaning(report.outcome)),
        None => format!("faster, not confirmed, {}", describe_equality(report)),
        Some(last) => {
            let unsure = if last.confirmed { "" } else { ", not confirmed" };
            format!(
                "{}{unsure}, {}",
                speed(&Measured::from_confirmation(last)),
                describe_equality(report)
            )
        }
    }
}

/// `equal on 1,204 rows and on 6 changed copies`.
fn describe_equality(report: &Report) -> String {
    let kept = report.best_iteration();
    let rows = kept
        .and_then(|kept| kept.rows)
        .map(|rows| format!("equal on {}", count_grouped(rows, "row")));
    let rows = rows.unwrap_or_else(|| "equal".to_owned());
    match kept.map_or(0, |kept| kept.copies) {
        0 => rows,
        1 => format!("{rows} and on 1 changed copy"),
        copies => format!("{rows} and on {copies} changed copies"),
    }
}

/// Explains an outcome, for people.
fn meaning(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Optimized => "optimized",
        Outcome::Unchanged => {
            "unchanged: no proposal was equal and gained as much as --min-gain and \
             --min-gain-ms ask for"
        }
        Outcome::UnsupportedSafety => "not supported: the statement is refused",
        Outcome::UnsupportedTypes => {
            "not supported: a column has a type whose values cannot be compared exactly"
        }
        Outcome::UnsupportedTooLarge => "not supported: the result is larger than what is compared",
        Outcome::UnsupportedPrompt => {
            "not supported: the prompt would be longer than the model allows"
        }
        Outcome::NoValidCandidate => "no proposal was a statement that could be run",
        Outcome::NoVerifiedCandidate => "no proposal passed the checks",
        Outcome::VerificationFailed => "proposals had other rows than the statement",
        Outcome::VerificationTie => {
            "proposals had the rows in another order, which ties in ORDER BY leave to chance"
        }
        Outcome::Error => "ended with an error",
    }
}

/// `2 columns of customers and orders; the order of rows counts`; `None` of a statement that was
/// refused.
pub(crate) fn describe_columns(report: &Report) -> Option<String> {
    if report.columns.is_empty() {
        return None;
    }
    let columns = count_grouped(report.columns.len() as u64, "column");
    let order = if report.is_ordered {
        "the order of rows counts"
    } else {
        "the order of rows does not count"
    };
    Some(format!("{columns} of {}; {order}", report.tables.join(", ")))
}

/// The database, the run, the host and the schema of a document.
pub(crate) fn describe_origin(document: &Optimized) -> String {
    let Optimized { schema, run, host, database, .. } = document;
    format!("{database}, run {run}, syrch-host {host}, {schema}")
}

/// Returns the rewriter, the settings and the cost as one document for people.
pub(crate) fn setup(document: &Optimized) -> Value {
    json!({
        "rewriter": document.rewriter, "settings": document.report.settings, "cost": document.cost
    })
}

/// Names the state of a proposal, for people.
pub(crate) fn state(state: IterationState) -> &'static str {
    match state {
        IterationState::Kept => "accepted",
        IterationState::DiscardedSlower => "gains too little",
        IterationState::FailedMismatch => "other rows",
        IterationState::FailedTieReorder => "another order",
        IterationState::FailedSafety => "refused",
        IterationState::FailedSchema => "other columns",
        IterationState::CandidateError => "failed",
        IterationState::CandidateTooLarge => "too large",
    }
}

#[cfg(test)]
mod tests {
    use super::super::made;
    use super::*;

    #[test]
    fn the_sentence_has_ratio_times_interval_pairs_rows_and_copies() {
        let mut report = made::make_optimized().report;
        assert_eq!(
            verdict(&report),
            "3.4 × faster (412 → 121 ms, interval 3.1–3.8, 3 of 3 pairs), equal on 1,204 rows and \
             on 6 changed copies"
        );
        report.confirmation.as_mut().unwrap().confirmed = false;
        (report.iterations[1].copies, report.iterations[1].rows) = (1, Some(1));
        assert!(
            verdict(&report)
                .ends_with(" pairs), not confirmed, equal on 1 row and on 1 changed copy")
        );
        report.confirmation = None;
        assert_eq!(verdict(&report), "faster, not confirmed, equal on 1 row and on 1 changed copy");
        // A writer during the last measurement: what was accepted before counts for nothing.
        (report.outcome, report.reason) = (Outcome::Error, Some("it was written to".to_owned()));
        assert_eq!(verdict(&report), "ended with an error: it was written to");
        let refused = made::make_refused().report;
        assert_eq!(
            verdict(&refused),
            "not supported: the statement is refused: rule `limit`, at LIMIT"
        );
    }
}
