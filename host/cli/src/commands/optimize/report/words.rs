//! The sentences and figures that all formats share.

use super::document::{Document, Measured};

/// A number with commas between its thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count with its noun.
pub(crate) fn counted(number: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// A time such as `0.42 ms`, `12.3 ms`, `412 ms`.
pub(crate) fn milliseconds(time: f64) -> String {
    format!("{} ms", three(time))
}

/// A number to three digits that mean something; whole from 100 on.
pub(crate) fn three(number: f64) -> String {
    match number.abs() {
        size if !size.is_finite() => "–".to_owned(),
        size if size >= 99.95 => format!("{number:.0}"),
        size if size >= 9.995 => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    }
}

/// A ratio such as `3.4`, with two digits from 1 on.
pub(crate) fn ratio(number: f64) -> String {
    match number.abs() {
        size if !size.is_finite() => "–".to_owned(),
        size if size >= 9.95 => format!("{number:.0}"),
        size if size >= 0.995 => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    }
}

/// `3.4 × faster (412 → 121 ms, interval 3.1–3.8, 9 of 9 pairs)`.
pub(crate) fn speed(measured: &Measured) -> String {
    let Measured { before_ms, after_ms, interval, pairs, .. } = measured;
    let mut inside = vec![format!("{} → {}", three(*before_ms), milliseconds(*after_ms))];
    inside.extend(interval.map(|[low, high]| format!("interval {}–{}", ratio(low), ratio(high))));
    if !pairs.is_empty() {
        inside.push(format!("{} of {}", measured.wins(), counted(pairs.len() as u64, "pair")));
    }
    format!("{} × faster ({})", ratio(measured.ratio), inside.join(", "))
}

/// The noise of the clock, as a sentence.
pub(crate) fn noise(share: f64) -> String {
    format!("Two runs of the original differed by {:.0} %.", share * 100.0)
}

/// What was found, as one sentence.
pub(crate) fn verdict(document: &Document) -> String {
    let why = document.reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    match &document.last {
        Some(measured) if document.is_optimized() => {
            let unsure = if measured.confirmed == Some(false) { ", not confirmed" } else { "" };
            format!("{}{unsure}, {}", speed(measured), equal(document))
        }
        _ if document.is_optimized() => format!("faster, {}", equal(document)),
        _ => format!("{}{why}", meaning(&document.outcome)),
    }
}

/// `equal on 1,204 rows and on 6 changed copies`.
fn equal(document: &Document) -> String {
    let rows = document.rows.map(|rows| format!("equal on {}", counted(rows, "row")));
    let rows = rows.unwrap_or_else(|| "equal".to_owned());
    match document.copies {
        0 => rows,
        1 => format!("{rows} and on 1 changed copy"),
        copies => format!("{rows} and on {copies} changed copies"),
    }
}

/// What an outcome means, for people. An unknown name is returned as it is.
pub(crate) fn meaning(outcome: &str) -> String {
    let known = match outcome {
        "OPTIMIZED" => "optimized",
        "UNCHANGED" => "unchanged: no proposal was equal and gained as much as --min-gain and --min-gain-ms ask for",
        "UNSUPPORTED_SAFETY" => "not supported: the statement is refused",
        "UNSUPPORTED_TYPES" => "not supported: a column has a type whose values cannot be compared exactly",
        "UNSUPPORTED_TOO_LARGE" => "not supported: the result is larger than what is compared",
        "UNSUPPORTED_PROMPT" => "not supported: the prompt would be longer than the model allows",
        "NO_VALID_CANDIDATE" => "no proposal was a statement that could be run",
        "NO_VERIFIED_CANDIDATE" => "no proposal passed the checks",
        "VERIFICATION_FAILED" => "proposals had other rows than the statement",
        "VERIFICATION_TIE" => "proposals had the rows in another order, which ties in ORDER BY leave to chance",
        "ERROR" => "ended with an error",
        other => other,
    };
    known.to_owned()
}

/// What the state of a proposal means, for people.
pub(crate) fn state(state: &str) -> &str {
    match state {
        "KEPT" => "accepted",
        "DISCARDED_SLOWER" => "gains too little",
        "FAILED_MISMATCH" => "other rows",
        "FAILED_TIE_REORDER" => "another order",
        "FAILED_SAFETY" => "refused",
        "FAILED_SCHEMA" => "other columns",
        "CANDIDATE_ERROR" => "failed",
        "CANDIDATE_TOO_LARGE" => "too large",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::super::made;
    use super::*;

    #[test]
    fn the_sentence_has_ratio_times_interval_pairs_rows_and_copies() {
        let mut document = made::optimized();
        assert_eq!(
            verdict(&document),
            "3.4 × faster (412 → 121 ms, interval 3.1–3.8, 3 of 3 pairs), equal on 1,204 rows and on 6 changed copies"
        );
        document.last.as_mut().unwrap().confirmed = Some(false);
        (document.copies, document.rows) = (1, Some(1));
        assert!(verdict(&document).ends_with(" pairs), not confirmed, equal on 1 row and on 1 changed copy"));
        let refused = made::refused();
        assert_eq!(verdict(&refused), "not supported: the statement is refused: rule `limit`, at LIMIT");
    }

    #[test]
    fn numbers_have_three_digits() {
        let all = [(0.4234, "0.42"), (9.996, "10.0"), (12.34, "12.3"), (99.96, "100"), (412.4, "412"), (f64::NAN, "–")];
        all.iter().for_each(|(number, text)| assert_eq!(three(*number), *text));
        assert_eq!(
            (ratio(0.5), ratio(1.0), ratio(3.44), ratio(12.3)),
            ("0.50".into(), "1.0".into(), "3.4".into(), "12".into())
        );
        assert_eq!(
            (grouped(0), grouped(999), grouped(1_204), grouped(1_000_000)),
            ("0".into(), "999".into(), "1,204".into(), "1,000,000".into())
        );
    }
}
