//! Two searches side by side: what is matched, and what differs.

use std::sync::Arc;

use proptest::prelude::*;

use super::align::normal;
use super::*;
use crate::Journal;
use crate::record::{Fact, Record};
use crate::tree::tests::journal;
use crate::tree::{SearchTree, Shown};

fn tree(journal: &Journal) -> SearchTree {
    SearchTree::from_journal(journal, Shown::default())
}

/// The journal with one text replaced by another throughout.
fn with(journal: &Journal, old: &str, new: &str) -> Journal {
    Journal {
        records: journal
            .records
            .iter()
            .map(|record: &Record| {
                let text = serde_json::to_string(record).unwrap().replace(old, new);
                serde_json::from_str(&text).unwrap()
            })
            .collect(),
        ..journal.clone()
    }
}

#[test]
fn a_search_is_equal_to_itself() {
    let tree = tree(&journal());
    let diff = TreeDiff::compare(&tree, &tree);
    assert!(diff.equal && diff.same_question && diff.given.is_empty());
    assert!(
        diff.tasks
            .iter()
            .all(|pair| pair.matched_by == Some(MatchedBy::Id) && pair.differences.is_empty())
    );
    assert_eq!(diff.answer.equal_rows, Some(true));
}

#[test]
fn inputs_are_compared() {
    let left = journal();
    let mut right = journal();
    right.header.problem.question = "What did the Italians spend?".to_owned();
    right.header.plugins[0].digest = "f".repeat(64);
    right.header.settings =
        Arc::new(serde_json::json!({"seed": 8, "policy": {"max_parallel": 4}, "extra": true}));
    let diff = TreeDiff::compare(&tree(&left), &tree(&right));
    assert!(!diff.equal && !diff.same_question);
    let differing: Vec<_> = diff.given.iter().map(|difference| difference.what.as_str()).collect();
    assert_eq!(differing, ["plugin planner", "settings.seed", "settings.extra"]);
    assert_eq!((&diff.given[1].left, &diff.given[1].right), (&7.into(), &8.into()));
}

#[test]
fn answers_of_the_user_are_inputs() {
    let left = journal();
    let mut right = journal();
    let answer = ("By what is it measured?".to_owned(), "orders".to_owned());
    right.header.problem.answers.push(answer);
    let diff = TreeDiff::compare(&tree(&left), &tree(&right));
    assert!(!diff.equal && !diff.same_question);
    assert_eq!(diff.given[0].what, "answer to By what is it measured?");
    assert_eq!((&diff.given[0].left, &diff.given[0].right), (&Value::Null, &"orders".into()));
}

#[test]
fn tasks_correspond_by_id_and_then_by_words() {
    let left = journal();
    let right = journal();
    // C has another id on the right, and B is another task under the same id.
    let right = with(&right, "\"C\"", "\"prices\"");
    let right = with(&right, "orders of them last year", "weather in Rome");
    let diff = TreeDiff::compare(&tree(&left), &tree(&right));
    let seen: Vec<_> = diff
        .tasks
        .iter()
        .filter(|pair| pair.round == 1)
        .map(|pair| {
            (
                pair.left.as_ref().map(|t| t.id.as_str()),
                pair.right.as_ref().map(|t| t.id.as_str()),
                pair.matched_by,
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            (Some("A"), Some("A"), Some(MatchedBy::Id)),
            (Some("B"), None, None),
            (Some("C"), Some("prices"), Some(MatchedBy::Text)),
            (Some("D"), Some("D"), Some(MatchedBy::Id)),
            (Some("D.x"), Some("D.x"), Some(MatchedBy::Id)),
            (Some("E"), Some("E"), Some(MatchedBy::Id)),
            (None, Some("B"), None),
        ]
    );
    // The edge to `prices` is the edge to C; the one to B is another.
    let edges = diff
        .tasks
        .iter()
        .find(|pair| pair.left.as_ref().is_some_and(|task| task.id == "D"))
        .unwrap();
    assert_eq!(edges.differences[0].left, "B, C");
    assert_eq!(edges.differences[0].right, "B (right), C");
}

#[test]
fn candidates_correspond_by_statement_and_then_by_result() {
    let left = journal();
    let right = journal();
    let right = with(
        &right,
        "SELECT id FROM customers WHERE country = 'France'",
        "select ID\\n FROM customers where country = 'France';",
    );
    let right = with(&right, "SELECT count(*) FROM orders", "SELECT 4");
    let right = with(&right, "SELECT nmae FROM", "SELECT mane FROM");
    let diff = TreeDiff::compare(&tree(&left), &tree(&right));
    let pair = diff.tasks.iter().find(|pair| pair.round == 1).unwrap();
    let seen: Vec<_> =
        pair.candidates.iter().map(|pair| (pair.matched_by, pair.equal_result)).collect();
    assert_eq!(
        seen,
        [
            (None, None),
            (Some(MatchedBy::Statement), Some(true)),
            (Some(MatchedBy::Statement), Some(true)),
            (Some(MatchedBy::Result), Some(true)),
            (None, None),
        ]
    );
}

#[test]
fn answers_are_compared_by_their_rows_in_any_order() {
    let left = journal();
    let mut right = journal();
    fn diff(left: &Journal, right: &Journal) -> Option<bool> {
        TreeDiff::compare(&tree(left), &tree(right)).answer.equal_rows
    }
    let rows = |journal: &mut Journal, rows: Value| {
        let Some(Record::Fact { fact: Fact::Answer { document, .. }, .. }) =
            journal.records.last_mut()
        else {
            panic!("no answer")
        };
        document["answer"]["rows"] = rows;
    };
    rows(&mut right, serde_json::json!([["Ben", 2.0], ["Ada", 40.0]]));
    assert_eq!(diff(&left, &right), Some(true));
    rows(&mut right, serde_json::json!([["Ben", 2.0], ["Ada", 41.0]]));
    assert_eq!(diff(&left, &right), Some(false));
    // Rows that were left out can be compared with nothing.
    rows(&mut right, serde_json::json!([]));
    assert_eq!(diff(&left, &right), None);
}

#[test]
fn statements_are_normal_but_for_what_stands_in_quotes() {
    assert_eq!(normal(" SELECT  a,\n\tB FROM T ; "), "select a, b from t");
    assert_ne!(normal("SELECT 'A'"), normal("SELECT 'a'"));
    assert_ne!(normal("SELECT 'a  b'"), normal("SELECT 'a b'"));
    assert_eq!(normal("SELECT \"A b\", [C D]"), "select \"A b\", [C D]");
}

proptest! {
    #[test]
    fn normal_is_stable_and_blind_to_spaces(
        words in proptest::collection::vec("[a-zA-Z0-9_.,=()*]{1,6}", 1..12)
    ) {
        let one = normal(&words.join(" "));
        prop_assert_eq!(&normal(&one), &one);
        prop_assert_eq!(&normal(&words.join(" \n\t ").to_uppercase()), &one);
    }

    #[test]
    fn no_statement_breaks_it(sql in any::<String>()) {
        normal(&sql);
    }
}
