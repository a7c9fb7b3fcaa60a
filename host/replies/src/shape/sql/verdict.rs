//! The parts of a document that say what it thinks of its own statement: `valid`, `issues`,
//! `final_sql`.

use serde_json::{Map, Value};

use super::keys::{is_final, is_named, plain_key};
use crate::shape::refusal::says_no_answer;
use crate::shape::withdrawal::is_taken_back;

/// The opinion of a document about its own statement; a greater one is worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    /// It stands by the statement, as far as it says.
    Given,
    /// It names faults or open questions.
    Doubted,
    /// It says that the statement is wrong.
    Refused,
    /// It says that there is no answer, whatever statement it holds.
    Denied,
}

/// Keys under which a document says that it has no answer.
const DENIALS: [&str; 8] = [
    "error",
    "refusal",
    "cannotanswer",
    "cannotbeanswered",
    "notanswerable",
    "isunanswerable",
    "unanswerable",
    "noanswer",
];
/// Keys that are false where there is no answer.
const ANSWERABLE: [&str; 8] = [
    "answerable",
    "isanswerable",
    "cananswer",
    "canbeanswered",
    "canbeanswer",
    "answered",
    "success",
    "ok",
];
/// Keys that are false where the statement is wrong.
const RIGHT: [&str; 18] = [
    "valid",
    "isvalid",
    "correct",
    "iscorrect",
    "right",
    "isright",
    "accepted",
    "isaccepted",
    "acceptable",
    "approved",
    "isapproved",
    "passed",
    "passes",
    "verified",
    "isverified",
    "matchesquestion",
    "answersquestion",
    "answersthequestion",
];
/// Keys that are true where it is.
const WRONG: [&str; 10] = [
    "wrong",
    "iswrong",
    "incorrect",
    "isincorrect",
    "invalid",
    "isinvalid",
    "rejected",
    "isrejected",
    "haserror",
    "haserrors",
];
/// Keys that are true where the document is not sure.
const UNSURE: [&str; 16] = [
    "ambiguous",
    "isambiguous",
    "unsure",
    "uncertain",
    "isuncertain",
    "hasissues",
    "hasproblems",
    "hasmistakes",
    "needsclarification",
    "requiresclarification",
    "clarificationneeded",
    "clarificationrequired",
    "needsrevision",
    "needscorrection",
    "needsfix",
    "needsreview",
];
/// Keys under which the faults of the statement stand.
const FAULTS: [&str; 16] = [
    "issue",
    "issues",
    "problems",
    "errors",
    "mistake",
    "mistakes",
    "correction",
    "corrections",
    "defects",
    "flaws",
    "bugs",
    "concerns",
    "doubts",
    "clarification",
    "clarifyingquestion",
    "clarificationquestion",
];
/// Keys under which the document speaks of the statement in words.
const REVIEWS: [&str; 8] = [
    "critique",
    "review",
    "feedback",
    "reflection",
    "check",
    "selfcheck",
    "verification",
    "evaluation",
];
/// Keys under which a document explains itself, where it may say that there is no answer.
const NOTES: [&str; 16] = [
    "explanation",
    "reasoning",
    "reason",
    "rationale",
    "note",
    "notes",
    "comment",
    "comments",
    "message",
    "warning",
    "warnings",
    "caveat",
    "caveats",
    "assumption",
    "assumptions",
    "limitation",
];
/// Keys of a state in one word.
const STATES: [&str; 9] = [
    "status",
    "state",
    "verdict",
    "outcome",
    "assessment",
    "judgement",
    "judgment",
    "decision",
    "validity",
];
/// Words of a state without an answer.
const FAILED: [&str; 9] = [
    "error",
    "errored",
    "failed",
    "failure",
    "fail",
    "unanswerable",
    "cannot",
    "refused",
    "unsupported",
];
/// Words of a state in which the statement is wrong.
const BAD: [&str; 6] = ["wrong", "incorrect", "invalid", "rejected", "reject", "incomplete"];
/// Words that are such a state behind `not`.
const GOOD: [&str; 6] = ["right", "correct", "valid", "ok", "acceptable", "accepted"];
/// Keys of objects that speak of the statement.
const OPINIONS: [&str; 4] = ["validation", "selfreview", "quality", "selfevaluation"];
/// Words behind `no` that say that there are no faults.
const NONE: [&str; 17] = [
    "issue",
    "issues",
    "problem",
    "problems",
    "error",
    "errors",
    "mistake",
    "mistakes",
    "correction",
    "corrections",
    "changes",
    "concerns",
    "doubt",
    "doubts",
    "clarification",
    "ambiguity",
    "further",
];
/// Returns what an object says of the statement in it, itself or in objects below that hold no
/// statement of their own.
pub(super) fn verdict(object: &Map<String, Value>) -> Verdict {
    /// Objects within each other that are read.
    const DEPTH: usize = 3;
    verdict_within(object, DEPTH)
}

fn verdict_within(object: &Map<String, Value>, depth: usize) -> Verdict {
    let entries = object.iter().map(|(key, value)| {
        let key = plain_key(key);
        let own = verdict_of(&key, value);
        let is_opinion =
            [&OPINIONS[..], &REVIEWS, &STATES].iter().any(|keys| keys.contains(&key.as_str()));
        let below = value.as_object().filter(|_| depth > 0 && is_opinion);
        let below = below.filter(|below| {
            !below
                .iter()
                .any(|(key, value)| (is_final(key) || is_named(key)) && !value.is_boolean())
        });
        below.map_or(own, |below| verdict_within(below, depth - 1).max(own))
    });
    entries.max().unwrap_or(Verdict::Given)
}

/// Returns what one entry of a document says. `key` is plain.
fn verdict_of(key: &str, value: &Value) -> Verdict {
    if DENIALS.contains(&key) && says_something(value)
        || ANSWERABLE.contains(&key) && is_no(value)
        || STATES.contains(&key) && begins_with(value, &FAILED)
    {
        return Verdict::Denied;
    }
    if RIGHT.contains(&key) && is_no(value)
        || WRONG.contains(&key) && is_yes(value)
        || STATES.contains(&key) && is_bad(value)
    {
        return Verdict::Refused;
    }
    let is_doubted = UNSURE.contains(&key) && is_yes(value)
        || FAULTS.contains(&key) && says_something(value)
        || REVIEWS.contains(&key) && value.as_str().is_some_and(is_taken_back)
        || NOTES.contains(&key) && value.as_str().is_some_and(says_no_answer);
    if is_doubted { Verdict::Doubted } else { Verdict::Given }
}

/// Returns true unless a value is empty, false, or a text for nothing such as `none`.
pub(super) fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is_set) => *is_set,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => {
            let text = text.to_lowercase();
            let mut words = words(&text);
            match words.next() {
                Some("no") => words.next().is_some_and(|next| !NONE.contains(&next)),
                first => !["", "none", "null", "nil", "na", "n", "nothing", "false", "ok"]
                    .contains(&first.unwrap_or_default()),
            }
        }
        Value::Array(list) => list.iter().any(says_something),
        Value::Object(object) => !object.is_empty(),
    }
}

fn is_no(value: &Value) -> bool {
    match value {
        Value::Bool(is_set) => !is_set,
        Value::String(text) => {
            ["no", "false", "n", "not"].contains(&words(&text.to_lowercase()).next().unwrap_or(""))
        }
        _ => false,
    }
}

fn is_yes(value: &Value) -> bool {
    match value {
        Value::Bool(is_set) => *is_set,
        Value::String(text) => {
            ["yes", "true", "y"].contains(&words(&text.to_lowercase()).next().unwrap_or(""))
        }
        _ => false,
    }
}

fn begins_with(value: &Value, list: &[&str]) -> bool {
    let text = value.as_str().unwrap_or_default().to_lowercase();
    words(&text).next().is_some_and(|word| list.contains(&word))
}

fn is_bad(value: &Value) -> bool {
    let text = value.as_str().unwrap_or_default().to_lowercase();
    let mut words = words(&text);
    match words.next() {
        Some("not") => words.next().is_some_and(|next| GOOD.contains(&next)),
        first => first.is_some_and(|word| BAD.contains(&word)),
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Returns true if a key is `final`, `selected` or the like, and says so of the object it is in.
pub(super) fn is_chosen(object: &Map<String, Value>) -> bool {
    object.iter().any(|(key, value)| {
        let key = plain_key(key);
        ["final", "isfinal", "chosen", "ischosen", "selected", "isselected", "best", "isbest"]
            .contains(&key.as_str())
            && is_yes(value)
    })
}
