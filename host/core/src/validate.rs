//! Checks of the values that guests return, before anything uses them: numbers finite and in range,
//! ids well formed and unique, texts and lists bounded, JSON shallow. Whether a graph is acyclic
//! and its names are known is checked by the scheduler.

mod retrieval;

use std::collections::BTreeSet;

pub use retrieval::{linking, retrieval_query};

use crate::roles::{Answer, Outcome, Proposal};
use crate::{
    Candidate, Edit, Failure, Graph, Limits, Operation, Opinion, Question, Signals, Step, Task,
    Verdict, text,
};

/// A value that the contract forbids: which field, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(pub String);

type Checked = Result<(), Invalid>;

fn refuse(field: &str, what: impl std::fmt::Display) -> Checked {
    Err(Invalid(format!("`{field}` {what}")))
}

fn share(field: &str, value: f64) -> Checked {
    if value.is_finite() && (0.0..=1.0).contains(&value) {
        Ok(())
    } else {
        refuse(field, format!("is {value}, not 0 to 1"))
    }
}

fn finite(field: &str, value: f64) -> Checked {
    if value.is_finite() { Ok(()) } else { refuse(field, format!("is {value}")) }
}

/// Checks each of several; an error says which it is.
fn each<T>(what: &str, all: &[T], check: impl Fn(&T) -> Checked) -> Checked {
    let named = |at: usize, Invalid(why): Invalid| match all.len() {
        1 => Invalid(why),
        count => Invalid(format!("{why} ({what} {} of {count})", at + 1)),
    };
    all.iter().enumerate().try_for_each(|(at, one)| check(one).map_err(|error| named(at, error)))
}

fn optional<T: Copy>(value: Option<T>, check: impl Fn(T) -> Checked) -> Checked {
    value.map_or(Ok(()), check)
}

fn id(field: &str, value: &str, limits: &Limits) -> Checked {
    if value.is_empty()
        || value.len() > limits.id_bytes
        || !value.chars().all(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'))
    {
        let shown = text::clip(value, 32).escape_default();
        return refuse(
            field,
            format!("is `{shown}`, not 1 to {} of A-Z a-z 0-9 _ . -", limits.id_bytes),
        );
    }
    Ok(())
}

fn words(field: &str, value: &str, limits: &Limits) -> Checked {
    size(field, value.len(), limits.text_bytes, "bytes")
}

fn size(field: &str, size: usize, limit: usize, unit: &str) -> Checked {
    if size > limit {
        refuse(field, format!("has {size} {unit}, over the limit of {limit}"))
    } else {
        Ok(())
    }
}

/// Checks size, nesting and syntax of a JSON document.
///
/// # Errors
/// When it is not JSON, or too large or too deep.
pub fn json(field: &str, document: &str, limits: &Limits) -> Checked {
    size(field, document.len(), limits.json_bytes, "bytes")?;
    size(field, extent(document.as_bytes()).depth, limits.json_depth, "levels")?;
    match serde_json::from_str::<serde::de::IgnoredAny>(document) {
        Ok(_) => Ok(()),
        Err(error) => refuse(field, format!("is not JSON: {error}")),
    }
}

/// Returns whether a document that claims to be JSON has at most that many values. Each value takes
/// some hundred bytes when it is parsed, however short it is.
#[must_use]
pub fn has_few_values(document: &[u8], most: usize) -> bool {
    extent(document).values <= most
}

/// The nesting and the size of a document.
struct Extent {
    depth: usize,
    /// The most values that it can hold.
    values: usize,
}

fn extent(document: &[u8]) -> Extent {
    let mut extent = Extent { depth: 0, values: 1 };
    let mut depth = 0_usize;
    let mut quoted = false;
    let mut escaped = false;
    for byte in document {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => {
                depth += 1;
                extent.values += 1;
            }
            b'}' | b']' if !quoted => depth = depth.saturating_sub(1),
            b',' if !quoted => extent.values += 1,
            _ => {}
        }
        extent.depth = extent.depth.max(depth);
    }
    extent
}

fn extras(field: &str, pairs: &[(String, String)], limits: &Limits) -> Checked {
    size(field, pairs.len(), limits.candidates, "entries")?;
    pairs.iter().try_for_each(|(key, value)| {
        words(field, key, limits).and_then(|()| json(field, value, limits))
    })
}

/// Claims of confidence with their signals.
///
/// # Errors
/// The first field that is not a number in its range.
pub fn claims(claims: &[(f64, Signals)], limits: &Limits) -> Checked {
    size("claims", claims.len(), limits.candidates, "entries")?;
    each("claim", claims, |(raw, signals)| {
        share("raw confidence", *raw)?;
        check_signals(signals, limits)
    })
}

fn check_signals(signals: &Signals, limits: &Limits) -> Checked {
    optional(signals.logprob, |value| finite("signals.logprob", value))?;
    optional(signals.reward, |value| share("signals.reward", value))?;
    size("signals.extra", signals.extra.len(), limits.candidates, "entries")?;
    signals.extra.iter().try_for_each(|(key, value)| {
        words("signals.extra", key, limits).and_then(|()| finite("signals.extra", *value))
    })
}

/// Candidates of one call: bounded, ids unique, numbers in range.
///
/// # Errors
/// The first field that is wrong.
pub fn candidates(candidates: &[Candidate], limits: &Limits) -> Checked {
    size("candidates", candidates.len(), limits.candidates, "entries")?;
    each("candidate", candidates, |candidate| {
        id("candidate.id", &candidate.id, limits)?;
        size("candidate.parents", candidate.parents.len(), limits.candidates, "entries")?;
        candidate.parents.iter().try_for_each(|parent| id("candidate.parents", parent, limits))?;
        words("candidate.origin", &candidate.origin, limits)?;
        size("candidate.sql", candidate.sql.len(), limits.sql_bytes, "bytes")?;
        optional(candidate.raw_confidence, |value| share("candidate.raw-confidence", value))?;
        optional(candidate.confidence, |value| share("candidate.confidence", value))?;
        optional(candidate.score, |value| finite("candidate.score", value))?;
        optional(candidate.rationale.as_deref(), |value| {
            words("candidate.rationale", value, limits)
        })?;
        check_signals(&candidate.signals, limits)?;
        extras("candidate.extra", &candidate.extra, limits)
    })?;
    let mut seen = BTreeSet::new();
    match candidates.iter().find(|candidate| !seen.insert(candidate.id.as_str())) {
        Some(twice) => refuse("candidate.id", format!("`{}` occurs twice", twice.id)),
        None => Ok(()),
    }
}

/// Checks one task's own fields.
///
/// # Errors
/// The first field that is wrong.
pub fn task(task: &Task, limits: &Limits) -> Checked {
    id("task.id", &task.id, limits)?;
    optional(task.parent.as_deref(), |parent| id("task.parent", parent, limits))?;
    words("task.text", &task.text, limits)?;
    size("task.depends-on", task.depends_on.len(), limits.edges, "entries")?;
    task.depends_on.iter().try_for_each(|dependency| id("task.depends-on", dependency, limits))?;
    match &task.operation {
        Operation::Solve | Operation::Choose => {}
        Operation::Retrieve(query) => retrieval_query(query, limits)?,
        Operation::Other(name) => match task.operation.solver() {
            Some(_) => words("task.operation", name, limits)?,
            None => return unknown("task.operation", name),
        },
    }
    finite("task.priority", task.priority)?;
    optional(task.confidence, |value| share("task.confidence", value))?;
    optional(task.expected.as_deref(), |value| words("task.expected", value, limits))?;
    optional(task.database.as_deref(), |value| words("task.database", value, limits))?;
    optional(task.context.as_deref(), |value| json("task.context", value, limits))
}

fn unknown(field: &str, name: &str) -> Checked {
    refuse(field, format!("`{}` is unknown", text::clip(name, 32).escape_default()))
}

fn tasks(tasks: &[Task], limits: &Limits) -> Checked {
    size("tasks", tasks.len(), limits.tasks, "entries")?;
    each("task", tasks, |one| task(one, limits))
}

fn memo(document: Option<&String>, limits: &Limits) -> Checked {
    document.map_or(Ok(()), |document| json("memo", document, limits))
}

/// A graph's fields; its shape is checked by the scheduler.
///
/// # Errors
/// The first field that is wrong.
pub fn graph(graph: &Graph, limits: &Limits) -> Checked {
    tasks(&graph.tasks, limits)?;
    id("graph.answer", &graph.answer, limits)?;
    memo(graph.memo.as_ref(), limits)
}

/// A planner's step.
///
/// # Errors
/// The first field that is wrong.
pub fn step(step: &Step, limits: &Limits) -> Checked {
    size("edits", step.edits.len(), limits.tasks, "entries")?;
    for edit in &step.edits {
        match edit {
            Edit::Add(each) | Edit::Update(each) => task(each, limits)?,
            Edit::Cancel(each) | Edit::Answer(each) => id("edit", each, limits)?,
            Edit::Finish => {}
            Edit::Other(name) => return unknown("edit", name),
        }
    }
    memo(step.memo.as_ref(), limits)
}

fn question(question: &Question, limits: &Limits) -> Checked {
    words("question.text", &question.text, limits)?;
    size("question.choices", question.choices.len(), limits.questions, "entries")?;
    question.choices.iter().try_for_each(|choice| words("question.choices", choice, limits))?;
    share("question.ambiguity", question.ambiguity)
}

/// A solver's outcome.
///
/// # Errors
/// The first field that is wrong.
pub fn outcome(outcome: &Outcome, limits: &Limits) -> Checked {
    candidates(&outcome.candidates, limits)?;
    tasks(&outcome.subtasks, limits)?;
    outcome.ask.as_ref().map_or(Ok(()), |ask| question(ask, limits))?;
    memo(outcome.memo.as_ref(), limits)
}

/// Calibrated confidences: one for each claim.
///
/// # Errors
/// A wrong count, or a number out of range.
pub fn calibration(values: &[f64], claims: usize) -> Checked {
    if values.len() != claims {
        return refuse(
            "calibrate",
            format!("returned {} numbers for {claims} claims", values.len()),
        );
    }
    each("number", values, |value| share("calibrate", *value))
}

fn opinion(opinion: &Opinion, limits: &Limits) -> Checked {
    share("opinion.score", opinion.score)?;
    words("opinion.reason", &opinion.reason, limits)?;
    size("opinion.checks", opinion.checks.len(), limits.candidates, "entries")?;
    opinion.checks.iter().try_for_each(|(name, _)| words("opinion.checks", name, limits))
}

/// Verdicts: one for each rival.
///
/// # Errors
/// A wrong count, or a field that is wrong.
pub fn verdicts(verdicts: &[Verdict], rivals: usize, limits: &Limits) -> Checked {
    if verdicts.len() != rivals {
        return refuse(
            "judge",
            format!("returned {} verdicts for {rivals} rivals", verdicts.len()),
        );
    }
    each("verdict", verdicts, |verdict| match verdict {
        Verdict::Accepted(one) | Verdict::Rejected(one) => opinion(one, limits),
        Verdict::Unavailable(reason) => words("verdict.unavailable", reason, limits),
    })
}

/// A clarifier's questions.
///
/// # Errors
/// The first field that is wrong.
pub fn questions(questions: &[Question], limits: &Limits) -> Checked {
    size("questions", questions.len(), limits.questions, "entries")?;
    questions.iter().try_for_each(|each| question(each, limits))
}

/// An aggregator's answer; `known` are the tasks that it may name.
///
/// # Errors
/// The first field that is wrong.
pub fn answer(answer: &Answer, known: &[&str], limits: &Limits) -> Checked {
    words("answer.text", &answer.text, limits)?;
    if !known.contains(&answer.task.as_str()) {
        let shown = text::clip(&answer.task, 32).escape_default();
        return refuse("answer.task", format!("`{shown}` is not a finished task"));
    }
    optional(answer.candidate.as_deref(), |candidate| id("answer.candidate", candidate, limits))?;
    optional(answer.sql.as_deref(), |sql| {
        size("answer.sql", sql.len(), limits.sql_bytes, "bytes")
    })?;
    share("answer.confidence", answer.confidence)?;
    size("answer.basis", answer.basis.len(), limits.candidates, "entries")?;
    answer.basis.iter().try_for_each(|line| words("answer.basis", line, limits))?;
    size("answer.caveats", answer.caveats.len(), limits.candidates, "entries")?;
    answer.caveats.iter().try_for_each(|line| words("answer.caveats", line, limits))
}

/// A rewriter's proposal. Whether its text is a statement is for the optimizer to find out.
///
/// # Errors
/// The first field that is wrong.
pub fn proposal(proposal: &Proposal, limits: &Limits) -> Checked {
    size("proposal.sql", proposal.sql.len(), limits.sql_bytes, "bytes")?;
    id("proposal.family", &proposal.family, limits)?;
    words("proposal.reason", &proposal.reason, limits)
}

/// A plugin's failure with its texts clipped.
#[must_use]
pub fn failure(failure: Failure, limits: &Limits) -> Failure {
    let message = text::clip(&failure.message, limits.log_line).to_owned();
    let kind = match failure.kind {
        crate::FailureKind::Other(name) => {
            crate::FailureKind::Other(text::clip(&name, limits.id_bytes).to_owned())
        }
        kind => kind,
    };
    Failure { kind, message, ..failure }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(confidence: f64) -> Candidate {
        Candidate { id: "A.1".into(), raw_confidence: Some(confidence), ..Candidate::default() }
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        let limits = Limits::default();
        for wrong in [f64::NAN, f64::INFINITY, -1.0, 1.000_000_1, 1e308] {
            assert!(candidates(&[candidate(wrong)], &limits).is_err(), "{wrong}");
            assert!(calibration(&[wrong], 1).is_err());
        }
        assert_eq!(candidates(&[candidate(-0.0)], &limits), Ok(()));
        assert!(calibration(&[0.5], 2).is_err());
    }

    #[test]
    fn ids_are_well_formed_and_unique() {
        let limits = Limits::default();
        assert!(candidates(&[candidate(0.1), candidate(0.2)], &limits).is_err());
        for wrong in ["", "a b", "\u{202e}x", "a\0", &"x".repeat(65)] {
            let named = Candidate { id: wrong.into(), ..candidate(0.1) };
            let error = candidates(&[named], &limits).unwrap_err();
            assert!(error.0.is_ascii(), "{error}");
        }
    }

    #[test]
    fn values_are_counted_outside_of_texts() {
        assert!(
            has_few_values(br#"{"a": "[,,,]", "b": 1}"#, 3)
                && !has_few_values(br#"{"a": "[,,,]", "b": 1}"#, 2)
        );
        assert!(!has_few_values("[[0],".repeat(50).as_bytes(), 100));
    }

    #[test]
    fn json_is_bounded() {
        let limits = Limits::default();
        assert_eq!(json("x", "{\"a\":[1,\"]]]\"]}", &limits), Ok(()));
        assert!(json("x", &("[".repeat(65) + &"]".repeat(65)), &limits).is_err());
        assert!(json("x", "{", &limits).is_err());
        assert!(json("x", &format!("\"{}\"", "x".repeat(limits.json_bytes)), &limits).is_err());
    }

    #[test]
    fn every_field_of_a_proposal_is_bounded() {
        let limits = Limits::default();
        fn give() -> Proposal {
            Proposal {
                sql: "SELECT 1".into(),
                family: "in-to-exists".into(),
                reason: String::new(),
            }
        }
        let sql = |bytes: usize| Proposal { sql: "x".repeat(bytes), ..give() };
        assert_eq!(proposal(&sql(limits.sql_bytes), &limits), Ok(()));
        assert!(
            proposal(&sql(limits.sql_bytes + 1), &limits).unwrap_err().0.contains("`proposal.sql`")
        );
        let reason = Proposal { reason: "x".repeat(limits.text_bytes + 1), ..give() };
        assert!(proposal(&reason, &limits).unwrap_err().0.contains("`proposal.reason`"));
        for family in ["", "a b", "\u{1b}[2J", &"x".repeat(65)] {
            let error =
                proposal(&Proposal { family: family.to_owned(), ..give() }, &limits).unwrap_err();
            assert!(error.0.starts_with("`proposal.family`") && error.0.is_ascii(), "{error}");
        }
    }

    #[test]
    fn an_answer_names_a_finished_task() {
        let given = Answer { task: "B".into(), confidence: 0.5, ..Answer::default() };
        assert!(answer(&given, &["A"], &Limits::default()).is_err());
        assert!(answer(&given, &["B"], &Limits::default()).is_ok());
    }
}
