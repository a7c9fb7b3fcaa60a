//! Pairs the tasks and the candidates of two searches that correspond.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use syrch_core::{Ending, Join};

use super::{CandidatePair, CandidateSide, Difference, MatchedBy, TaskPair, TaskSide};
use crate::tree::{CandidateNode, Round, TaskNode};

/// The least similarity of the texts of two tasks that correspond, 0 to 1. The same id with another
/// text is another task.
const ALIKE: f64 = 0.5;

/// The number of words of a text that are compared.
const WORDS: usize = 500;

type Pairs<'a, T> = Vec<(Option<&'a T>, Option<&'a T>, Option<MatchedBy>)>;

/// Pairs the tasks of one round.
pub(super) fn tasks(round: u32, left: Option<&Round>, right: Option<&Round>) -> Vec<TaskPair> {
    let lefts = list_items(left.map(|round| &round.tasks));
    let rights = list_items(right.map(|round| &round.tasks));
    let pairs = pairs(
        &lefts,
        &rights,
        &[
            (MatchedBy::Id, ALIKE, &|a: &TaskNode, b: &TaskNode| {
                f64::from(u8::from(a.id == b.id)) * word_similarity(&a.text, &b.text)
            }),
            (MatchedBy::Text, ALIKE, &|a: &TaskNode, b: &TaskNode| {
                word_similarity(&a.text, &b.text)
            }),
        ],
    );
    let names: BTreeMap<String, String> = pairs
        .iter()
        .filter_map(|(a, b, _)| Some((b.as_ref()?.id.clone(), a.as_ref()?.id.clone())))
        .collect();
    fn is_answer(round: Option<&Round>, task: &TaskNode) -> bool {
        round.and_then(|r| r.answer.as_ref()) == Some(&task.id)
    }
    pairs
        .into_iter()
        .map(|(a, b, matched_by): (Option<&TaskNode>, Option<&TaskNode>, Option<MatchedBy>)| {
            let differences = match (a, b) {
                (Some(a), Some(b)) => {
                    let roles = (is_answer(left, a), is_answer(right, b));
                    differences(a, b, &names, roles)
                }
                _ => Vec::new(),
            };
            TaskPair {
                round,
                matched_by,
                left: a.map(TaskSide::from_node),
                right: b.map(TaskSide::from_node),
                differences,
                candidates: candidates(a, b),
            }
        })
        .collect()
}

fn differences(
    left: &TaskNode,
    right: &TaskNode,
    names: &BTreeMap<String, String>,
    answers: (bool, bool),
) -> Vec<Difference> {
    fn list_ids(ids: BTreeSet<String>) -> Value {
        json!(ids.into_iter().collect::<Vec<_>>().join(", "))
    }
    fn list_right_ids(names: &BTreeMap<String, String>, ids: &[String]) -> Value {
        list_ids(
            ids.iter()
                .map(|id: &String| {
                    names.get(id).cloned().unwrap_or_else(|| format!("{id} (right)"))
                })
                .collect(),
        )
    }
    fn list_left_ids(ids: &[String]) -> Value {
        list_ids(ids.iter().cloned().collect())
    }
    let compared = [
        ("text", json!(left.text), json!(right.text)),
        ("after", list_left_ids(&left.depends_on), list_right_ids(names, &right.depends_on)),
        ("subtasks", list_left_ids(&left.subtasks), list_right_ids(names, &right.subtasks)),
        ("join", join(left.join), join(right.join)),
        ("operation", json!(left.operation), json!(right.operation)),
        ("ending", ending(left), ending(right)),
        ("answers the question", json!(answers.0), json!(answers.1)),
    ];
    compared
        .into_iter()
        .filter(|(_, left, right)| left != right)
        .map(|(what, left, right)| Difference { what: what.to_owned(), left, right })
        .collect()
}

fn join(join: Join) -> Value {
    match join {
        Join::AllOf => json!("all"),
        Join::AnyOf => json!("any"),
        Join::AtLeast(count) => json!(count),
    }
}

fn ending(task: &TaskNode) -> Value {
    match &task.ending {
        None => Value::Null,
        Some(Ending::Solved) => json!("solved"),
        Some(Ending::Empty) => json!("empty"),
        Some(Ending::Failed(failure)) => json!(format!("failed: {failure}")),
        Some(Ending::Skipped(reason)) => json!(format!("skipped: {reason}")),
        Some(Ending::Cancelled) => json!("cancelled"),
        Some(Ending::Other(name)) => json!(name),
    }
}

fn candidates(left: Option<&TaskNode>, right: Option<&TaskNode>) -> Vec<CandidatePair> {
    let lefts = list_items(left.map(|task| &task.candidates));
    let rights = list_items(right.map(|task| &task.candidates));
    let texts: BTreeMap<&str, String> = lefts
        .iter()
        .chain(&rights)
        .map(|candidate| (candidate.sql.as_str(), normal(&candidate.sql)))
        .collect();
    let text = |candidate: &CandidateNode| {
        texts.get(candidate.sql.as_str()).filter(|text| !text.is_empty())
    };
    fn score_same(same: bool) -> f64 {
        f64::from(u8::from(same))
    }
    let rules: [Rule<'_, CandidateNode>; 2] = [
        (MatchedBy::Statement, 1.0, &|a: &CandidateNode, b: &CandidateNode| {
            score_same(text(a).is_some() && text(a) == text(b))
        }),
        (MatchedBy::Result, 1.0, &|a: &CandidateNode, b: &CandidateNode| {
            score_same(equal_result(a, b) == Some(true))
        }),
    ];
    pairs(&lefts, &rights, &rules)
        .into_iter()
        .map(
            |(a, b, matched_by): (
                Option<&CandidateNode>,
                Option<&CandidateNode>,
                Option<MatchedBy>,
            )| CandidatePair {
                matched_by,
                equal_result: a.zip(b).and_then(|(a, b)| equal_result(a, b)),
                left: a.map(CandidateSide::from_node),
                right: b.map(CandidateSide::from_node),
            },
        )
        .collect()
}

fn equal_result(left: &CandidateNode, right: &CandidateNode) -> Option<bool> {
    Some(left.digest.as_ref()? == right.digest.as_ref()?)
}

fn list_items<T>(list: Option<&Vec<T>>) -> Vec<&T> {
    list.into_iter().flatten().collect()
}

/// A reason why two may correspond, the least similarity that it needs, and their similarity, 0 to
/// 1.
type Rule<'a, T> = (MatchedBy, f64, &'a dyn Fn(&T, &T) -> f64);

/// Pairs by the rules, one rule after another. Each item of the left takes the free item of the
/// right that is most similar. The order is that of the left, then that of the right.
fn pairs<'a, T>(lefts: &[&'a T], rights: &[&'a T], rules: &[Rule<'_, T>]) -> Pairs<'a, T> {
    let mut taken = vec![false; rights.len()];
    let mut found: Vec<Option<(usize, MatchedBy)>> = vec![None; lefts.len()];
    for (matched_by, least, alike) in rules {
        for (left, found) in lefts.iter().zip(&mut found).filter(|(_, found)| found.is_none()) {
            let free = rights.iter().enumerate().filter(|(place, _)| !taken[*place]);
            let scored = free
                .map(|(place, right)| (place, alike(left, right)))
                .filter(|(_, score)| score >= least);
            // The first of equals.
            let best = scored.reduce(|best, next| if next.1 > best.1 { next } else { best });
            if let Some((place, _)) = best {
                taken[place] = true;
                *found = Some((place, *matched_by));
            }
        }
    }
    let mut pairs: Pairs<'a, T> = lefts
        .iter()
        .zip(found)
        .map(|(left, found)| match found {
            Some((place, matched_by)) => {
                (Some(*left), rights.get(place).copied(), Some(matched_by))
            }
            None => (Some(*left), None, None),
        })
        .collect();
    let alone = rights.iter().zip(taken).filter(|(_, taken)| !taken);
    pairs.extend(alone.map(|(right, _)| (None, Some(*right), None)));
    pairs
}

/// The share of words that two texts have in common (Jaccard), 0 to 1; letter case and signs aside.
fn word_similarity(left: &str, right: &str) -> f64 {
    if left == right {
        return 1.0;
    }
    let words = |text: &str| -> BTreeSet<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.take(WORDS).map(str::to_lowercase).collect()
    };
    let left = words(left);
    let right = words(right);
    let all = left.union(&right).count();
    if all == 0 { 0.0 } else { left.intersection(&right).count() as f64 / all as f64 }
}

/// A statement in lower case and with one space for any white space, quoted parts excepted.
pub(super) fn normal(sql: &str) -> String {
    let mut out = String::with_capacity(sql.len());
    let mut quote: Option<char> = None;
    let mut is_gap = false;
    for c in sql.trim().trim_end_matches(';').chars() {
        match quote {
            Some(end) => {
                out.push(c);
                if c == end {
                    quote = None;
                }
            }
            None if c.is_whitespace() => is_gap = true,
            None => {
                if std::mem::take(&mut is_gap) && !out.is_empty() {
                    out.push(' ');
                }
                quote = match c {
                    '\'' | '"' | '`' => Some(c),
                    '[' => Some(']'),
                    _ => None,
                };
                out.extend(c.to_lowercase());
            }
        }
    }
    out
}
