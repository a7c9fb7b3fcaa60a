//! Trees of a search with everything in it: a clarification, a diamond, repairs, a cache, a failed
//! task, edits.

mod fixture;

use syrch_core::Ending;
use syrch_core::roles::Role;

use super::*;
use crate::record::{Ask, Event, Fact, Got, Record};
pub(crate) use fixture::{journal, lines};

const ALL: Shown = Shown { rows: Some(usize::MAX), prompts: true };

fn tree() -> SearchTree {
    SearchTree::from_journal(&journal(), ALL)
}

fn task(tree: &SearchTree, id: &str) -> TaskNode {
    tree.rounds[1].task(id).unwrap().clone()
}

#[test]
fn rounds_hold_their_own_tasks_and_questions() {
    let tree = tree();
    assert_eq!(tree.rounds.iter().map(|round| round.number).collect::<Vec<_>>(), [0, 1]);
    let first = &tree.rounds[0];
    assert_eq!((first.tasks.len(), first.questions[0].answer.as_deref()), (1, Some("last year")));
    // The first round has the properties that the document has of its candidate.
    let early = &first.tasks[0].candidates[0];
    assert_eq!(
        (early.id.as_str(), early.status, early.reason.as_deref()),
        ("s1", Status::Kept, Some("it ran"))
    );
    assert_eq!(tree.rounds[1].answer.as_deref(), Some("E"));
}

#[test]
fn edges_are_those_of_the_journal() {
    fn edges(id: &str) -> Vec<String> {
        task(&tree(), id).depends_on
    }
    assert_eq!(
        [edges("A"), edges("B"), edges("C"), edges("D")],
        [vec![], vec!["A"], vec!["A"], vec!["B", "C"]]
    );
    let expanded = task(&tree(), "D");
    assert_eq!(expanded.subtasks, ["D.x"]);
    assert_eq!(
        (task(&tree(), "D.x").from, task(&tree(), "E").from),
        (TaskOrigin::Subtask, TaskOrigin::Edit)
    );
    let changes = &tree().rounds[1].changes;
    assert_eq!(changes[0].edits.len(), 2);
    assert_eq!(changes[1].refused.as_deref(), Some("task `E` exists already"));
}

#[test]
fn candidates_have_status_cluster_confidence_and_reason() {
    let node = task(&tree(), "A");
    let seen: Vec<_> = node
        .candidates
        .iter()
        .map(|c| (c.id.as_str(), c.status, c.cluster, c.confidence))
        .collect();
    assert_eq!(
        seen,
        [
            ("s1", Status::Dropped, None, None),
            ("s2", Status::Kept, Some(1), Some(0.8)),
            ("s3", Status::Dropped, Some(1), Some(0.7)),
            ("s4", Status::Dropped, Some(2), None),
        ]
    );
    let reasons: Vec<_> = node.candidates.iter().map(|c| c.reason.as_deref().unwrap()).collect();
    assert_eq!(reasons[0], "its SQL does not run: no column `nmae`");
    assert_eq!(reasons[3], "rejected: it counts orders, not customers");
    assert_eq!(node.candidates[1].claimed, Some(0.9));
    assert_eq!((node.statements, node.errors["unknown-column"]), (4, 1));
    assert!(matches!(node.ending, Some(Ending::Solved)));
    assert!(matches!(task(&tree(), "B").ending, Some(Ending::Failed(_))));
}

#[test]
fn calls_have_both_orders_and_what_they_used() {
    let tree = tree();
    let models: Vec<_> = tree
        .calls
        .iter()
        .filter_map(|call| match &call.what {
            What::Model(model) => {
                Some((model.purpose.as_str(), call.end, model.cached, call.completed))
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        models,
        [
            ("plan", CallEnd::Done, false, Some(1)),
            ("generate", CallEnd::Done, false, Some(3)),
            ("generate", CallEnd::Done, true, Some(2)),
            ("repair", CallEnd::Failed, false, Some(10)),
            ("repair", CallEnd::GivenUp, false, Some(11)),
        ]
    );
    let nested = tree.role_calls.iter().find(|call| call.role == Role::Reward).unwrap();
    assert_eq!(nested.within, Some(2));
    assert_eq!((tree.cost.calls, tree.cost.cached, tree.cost.in_flight), (4, 1, 0));
    assert_eq!(tree.cost.by_purpose["generate"].cached, 1);
    assert_eq!(tree.cost.usd, None);
}

#[test]
fn what_a_cache_answered_is_reported_beside_what_was_sent() {
    fn hit(cost_micros: Option<u64>) -> Record {
        let purpose = "generate".to_owned();
        Record::Ledger {
            entry: syrch_core::ledger::Entry::Hit {
                purpose,
                tokens: 30,
                output_tokens: 5,
                cost_micros,
            },
        }
    }
    let of = |records: Vec<Record>| {
        SearchTree::from_journal(&Journal { records, ..journal() }, ALL).cost
    };
    let cost = of(vec![hit(Some(500_000)), hit(Some(250_000))]);
    assert_eq!((cost.calls, cost.cached, cost.input_tokens, cost.usd), (0, 2, 0, None));
    assert_eq!(cost.saved, Saved { input_tokens: 50, output_tokens: 10, usd: Some(0.75) });
    assert_eq!(of(vec![hit(Some(1)), hit(None)]).saved.usd, None);
    fn text(cost: &Cost) -> serde_json::Value {
        serde_json::to_value(cost).unwrap()
    }
    assert_eq!(serde_json::from_value::<Cost>(text(&cost)).unwrap(), cost);
    assert_eq!(text(&of(Vec::new())).get("saved"), None);
}

#[test]
fn the_answer_comes_only_as_far_as_it_may() {
    let answer = tree().answer.unwrap();
    assert_eq!(
        (answer.text.as_deref(), answer.rows.len(), answer.row_count),
        (Some("Ada and Ben spent 42."), 2, 2)
    );
    let one = SearchTree::from_journal(&journal(), Shown { rows: Some(1), prompts: false });
    assert_eq!(one.answer.as_ref().unwrap().rows.len(), 1);
    let none = SearchTree::from_journal(&journal(), Shown::default());
    let answer = none.answer.clone().unwrap();
    assert_eq!((answer.text, answer.rows.len(), answer.row_count), (None, 0, 2));
    assert_eq!(answer.digest, one.answer.unwrap().digest);
    let text = serde_json::to_string(&none).unwrap();
    for hidden in ["Ada", "the prompt of", "the reply of", "digest\":\"sha256"] {
        assert!(!text.contains(hidden), "{hidden}");
    }
    assert!(serde_json::to_string(&tree()).unwrap().contains("the prompt of"));
}

#[test]
fn a_killed_run_shows_what_it_had() {
    let whole = journal();
    for end in 0..whole.records.len() {
        let cut = Journal { records: whole.records[..end].to_vec(), ..whole.clone() };
        let tree = SearchTree::from_journal(&cut, ALL);
        let open = tree.calls.iter().filter(|call| call.end == CallEnd::Open).count();
        let completed = tree.calls.iter().filter_map(|call| call.completed).count();
        assert_eq!(open + completed, tree.calls.len());
        if !cut.is_finished() {
            assert_eq!((tree.outcome.kind.as_str(), &tree.answer), ("unfinished", &None));
        }
    }
    // Before the document, the clusters and reasons come from the statements themselves.
    let end = whole.records.len() - 1;
    let tree =
        SearchTree::from_journal(&Journal { records: whole.records[..end].to_vec(), ..whole }, ALL);
    let node = task(&tree, "A");
    let seen: Vec<_> =
        node.candidates.iter().map(|candidate| (candidate.status, candidate.cluster)).collect();
    assert_eq!(
        seen,
        [
            (Status::Dropped, None),
            (Status::Kept, Some(1)),
            (Status::Dropped, Some(1)),
            (Status::Dropped, Some(2))
        ]
    );
    assert_eq!(
        node.candidates[0].reason.as_deref(),
        Some("its SQL does not run: no column `nmae`")
    );
    assert_eq!(
        node.candidates[3].reason.as_deref(),
        Some("rejected: it counts orders, not customers")
    );
}

#[test]
fn a_call_in_flight_at_a_kill_stays_charged() {
    let whole = journal();
    let end = whole
        .records
        .iter()
        .position(|record: &Record| matches!(record, Record::Ledger { .. }))
        .unwrap()
        + 1;
    let tree =
        SearchTree::from_journal(&Journal { records: whole.records[..end].to_vec(), ..whole }, ALL);
    assert_eq!((tree.cost.calls, tree.cost.in_flight, tree.cost.tokens_charged), (1, 1, 500));
}

#[test]
fn the_summary_says_the_same() {
    let tree = tree();
    let summary = Summary::from_journal(&journal());
    assert_eq!(summary.outcome, tree.outcome.kind);
    assert_eq!((summary.calls, summary.took_us), (tree.cost.calls, tree.took_us));
    assert_eq!(summary.confidence, tree.answer.unwrap().confidence);
}

#[test]
fn records_of_no_call_and_no_task_do_no_harm() {
    let whole = journal();
    let odd = [
        Record::Fact {
            at_us: 1,
            fact: Fact::Ended(syrch_core::Observation::from_ending("Z", Ending::Solved)),
        },
        Record::Event { at_us: 2, event: Event::Left { call: 99 } },
        Record::Event { at_us: 3, event: fixture::propose(99, "z") },
    ];
    let tree = SearchTree::from_journal(&Journal { records: odd.to_vec(), ..whole }, ALL);
    assert_eq!((tree.rounds[0].tasks.len(), tree.rounds[0].candidates[0].id.as_str()), (0, "z"));
}

#[test]
fn the_visits_of_a_flow_are_those_of_its_task() {
    let mut whole = journal();
    let call = tree().role_calls.iter().find(|call| call.task == "A").unwrap().call;
    let step = |name: &str, data: &str| Record::Event {
        at_us: 1,
        event: Event::Port {
            call,
            ask: Ask::Step(Some("A.1".to_owned()), name.to_owned(), data.to_owned()),
            got: Got::Nothing,
        },
    };
    let long = format!(r#"{{"node": "{}", "action": "error", "branch": 2}}"#, "x".repeat(500));
    for (name, data) in [
        ("visit", r#"{"node": "run", "action": "default"}"#),
        ("visit", "no document"),
        ("visit", r#"{"node": 3, "action": "default"}"#),
        ("other", r#"{"node": "run", "action": "default"}"#),
        ("visit", long.as_str()),
    ] {
        whole.records.push(step(name, data));
    }
    (0..300)
        .for_each(|_| whole.records.push(step("visit", r#"{"node": "run", "action": "default"}"#)));
    let tree = SearchTree::from_journal(&whole, ALL);
    let tasks = tree.rounds.iter().flat_map(|round| &round.tasks);
    let visits = &tasks.clone().find(|task| !task.visits.is_empty()).unwrap().visits;
    assert_eq!(
        (visits[0].node.as_str(), visits[0].branch, visits[0].candidate.as_deref()),
        ("run", 0, Some("A.1"))
    );
    assert_eq!(
        (visits[1].node.len(), visits[1].action.as_str(), visits[1].branch),
        (200, "error", 2)
    );
    assert_eq!((visits.len(), tasks.filter(|task| !task.visits.is_empty()).count()), (256, 1));
}

/// Journals of the first version count in milliseconds.
#[test]
fn a_journal_of_the_first_version_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.jsonl");
    let old: Vec<String> = lines().lines().map(in_milliseconds).collect();
    std::fs::write(&path, old.join("\n") + "\n").unwrap();
    let read = Journal::read(&path).unwrap();
    assert_eq!(read.header.version, 1);
    assert_eq!(SearchTree::from_journal(&read, ALL), tree());
}

/// Earlier builds of this version named ledger entries `books`, the retention of rows `kept`, and
/// retrieval first `look-up`, then `search`.
#[test]
fn a_journal_of_an_earlier_build_is_read() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/earlier.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(
        [r#""record":"books""#, r#""kept":"full""#, r#""port":"look-up""#]
            .iter()
            .all(|old| text.contains(old))
    );
    let folder = tempfile::tempdir().unwrap();
    for name in ["look-up", "search"] {
        let copy = folder.path().join(format!("{name}.jsonl"));
        let port = format!(r#""port":"{name}""#);
        std::fs::write(&copy, text.replace(r#""port":"look-up""#, &port)).unwrap();
        let read = Journal::read(&copy).unwrap();
        let tree = SearchTree::from_journal(&read, ALL);
        assert_eq!((tree.outcome.kind.as_str(), tree.answer.unwrap().rows.len()), ("answered", 9));
        assert_eq!((tree.cost.calls, tree.cost.sql_runs), (2, 1));
        assert_eq!(tree.calls.iter().filter(|call| call.port == "retrieval.find").count(), 6);
    }
}

fn in_milliseconds(line: &str) -> String {
    let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
    let fields = line.as_object_mut().unwrap();
    if let Some(at) = fields.shift_remove("at_us") {
        fields.insert("at_ms".to_owned(), (at.as_u64().unwrap() / 1_000).into());
    }
    if fields.contains_key("version") {
        fields.insert("version".to_owned(), 1.into());
    }
    line.to_string()
}

/// The tests of the command line read this journal too: the format of a version never changes.
#[test]
fn the_fixture_on_disk_is_this_one() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clarified.jsonl");
    let stored = std::fs::read_to_string(&path).unwrap();
    fn without_rows(text: &str) -> Vec<serde_json::Value> {
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        // How a result is encoded is the Arrow library's own affair.
        lines.map(|value| fixture::without_digests(&value)).collect()
    }
    assert_eq!(without_rows(&lines()), without_rows(&stored));
    let read = Journal::read(&path).unwrap();
    assert_eq!(SearchTree::from_journal(&read, ALL), tree());
}
