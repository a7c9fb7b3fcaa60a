//! The clarifier against scripted observations.

use syrch_plugin::fakes::FakeHost;
use syrch_plugin::prelude::*;

use crate::{AmbiguityClarifier, Settings};

fn catalog() -> Catalog {
    let column = |name: &str| Column { name: name.into(), ..Column::default() };
    let table = Table {
        name: "customers".into(),
        columns: vec![column("id"), column("customer_region"), column("total")],
        ..Table::default()
    };
    Catalog {
        database: "shop".into(),
        dialect: Dialect::Sqlite,
        tables: vec![table],
        ..Catalog::default()
    }
}

fn graph() -> Graph {
    let choice = Task { operation: Operation::Choose, ..Task::new("answer", "the question") };
    Graph {
        tasks: vec![Task::new("A", "regions of buyers"), Task::new("B", "their totals"), choice],
        answer: "answer".into(),
        memo: None,
    }
}

fn observe(task: &str, ending: Ending, confidences: &[f64]) -> Observation {
    Observation {
        candidates: confidences
            .iter()
            .map(|confidence: &f64| Candidate {
                confidence: Some(*confidence),
                ..Candidate::default()
            })
            .collect(),
        ..Observation::ended(task, ending)
    }
}

fn failure_ending(kind: FailureKind, message: &str) -> Ending {
    Ending::Failed(failure(kind, message))
}

fn assess(host: &FakeHost, seen: &[Observation]) -> Vec<Question> {
    let plugin = AmbiguityClarifier::new(Settings::default());
    plugin.assess(host, &Problem::new("Where do buyers live?"), &catalog(), &graph(), seen).unwrap()
}

#[test]
fn a_clear_search_asks_nothing() {
    let host = FakeHost::default();
    assert!(assess(&host, &[observe("A", Ending::Solved, &[0.9])]).is_empty());
    assert!(assess(&host, &[observe("A", Ending::Empty, &[0.5])]).is_empty());
    assert!(assess(&host, &[]).is_empty());
    assert!(host.model.requests().is_empty());
}

#[test]
fn the_worst_task_is_asked_about() {
    let host = FakeHost::default();
    let questions = assess(
        &host,
        &[
            observe("A", failure_ending(FailureKind::Input, "weak"), &[0.3]),
            observe("B", failure_ending(FailureKind::Input, "no statement did"), &[]),
            observe("answer", failure_ending(FailureKind::Input, "nothing to choose from"), &[]),
        ],
    );
    assert_eq!(questions.len(), 1);
    assert_eq!(questions[0].ambiguity, 1.0);
    assert!(
        questions[0].text.contains("\"their totals\" (no statement did)"),
        "{}",
        questions[0].text
    );
}

#[test]
fn a_task_that_the_answer_was_found_without_is_not_asked_about() {
    let lost = observe("A", failure_ending(FailureKind::Input, "it lacks the metric `x`"), &[]);
    let direct = Task::new("direct", "the question");
    let mut graph = graph();
    graph.tasks.push(direct);
    graph.answer = "direct".into();
    let plugin = AmbiguityClarifier::new(Settings::default());
    let host = FakeHost::default();
    let problem = Problem::new("Where do buyers live?");
    let found = [lost.clone(), observe("direct", Ending::Solved, &[0.5])];
    assert!(plugin.assess(&host, &problem, &catalog(), &graph, &found).unwrap().is_empty());
    let failed = observe("direct", failure_ending(FailureKind::Input, "no statement did"), &[]);
    let questions = plugin.assess(&host, &problem, &catalog(), &graph, &[lost, failed]).unwrap();
    // What the plan requires is none of the user's words.
    assert!(!questions[0].text.contains("What do you mean by"), "{}", questions[0].text);
}

#[test]
fn an_unknown_name_is_named_with_near_ones_to_choose() {
    let mut lost = observe("A", failure_ending(FailureKind::Input, "no candidate"), &[]);
    lost.memo = Some(r#"{"reason":"no column `Regions`; `customers` has others"}"#.into());
    let questions = assess(&FakeHost::default(), &[lost]);
    assert_eq!(
        questions[0].text,
        "What do you mean by \"Regions\" in \"regions of buyers\"? The nearest names of the \
         database are these."
    );
    assert_eq!(questions[0].choices, ["customer_region"]);
}

#[test]
fn what_a_provider_did_not_understand_is_asked_about() {
    let why = "the model provider gave no answer: not understood: regional, moons";
    let questions =
        assess(&FakeHost::default(), &[observe("A", failure_ending(FailureKind::Model, why), &[])]);
    assert!(
        questions[0]
            .text
            .starts_with("What do you mean by \"regional, moons\" in \"regions of buyers\"?")
    );
}

#[test]
fn a_name_of_the_database_is_no_choice_of_itself() {
    let why = "the model provider gave no answer: not understood: Total";
    let questions =
        assess(&FakeHost::default(), &[observe("A", failure_ending(FailureKind::Model, why), &[])]);
    assert_eq!(
        questions[0].text,
        "I do not understand \"Total\" in \"regions of buyers\", which is a name of the database. \
         Can you say it in other words?"
    );
    assert!(questions[0].choices.is_empty());
}

#[test]
fn a_name_of_the_database_beside_others_is_none_of_the_choices() {
    let why = "the model provider gave no answer: not understood: Customers";
    let questions =
        assess(&FakeHost::default(), &[observe("A", failure_ending(FailureKind::Model, why), &[])]);
    assert_eq!(
        questions[0].text,
        "What do you mean by \"Customers\" in \"regions of buyers\"? The database has that name, \
         and these near it."
    );
    assert_eq!(questions[0].choices, ["customer_region"]);
}

#[test]
fn a_name_without_a_near_one_is_not_in_the_database() {
    let why = "the model provider gave no answer: not understood: moons";
    let questions =
        assess(&FakeHost::default(), &[observe("A", failure_ending(FailureKind::Model, why), &[])]);
    assert!(
        questions[0].text.ends_with("The database has nothing of that name."),
        "{}",
        questions[0].text
    );
    assert!(questions[0].choices.is_empty());
}

#[test]
fn a_name_in_two_schemas_is_asked_about_with_both_tables() {
    let why = "the model provider gave no answer: several tables have the name: invoices \
               (archive.invoices, billing.invoices)";
    let questions =
        assess(&FakeHost::default(), &[observe("A", failure_ending(FailureKind::Model, why), &[])]);
    assert_eq!(questions[0].text, "Which \"invoices\" do you mean? Several tables have that name.");
    assert_eq!(questions[0].choices, ["archive.invoices", "billing.invoices"]);
}

#[test]
fn a_model_may_word_the_question() {
    let mut host = FakeHost::default();
    host.model.reply_text(&Purpose::Clarify, "Home\nor billing address?");
    let questions =
        assess(&host, &[observe("A", failure_ending(FailureKind::Input, "unclear"), &[])]);
    assert_eq!(questions[0].text, "Home or billing address?");
    assert!(host.model.prompt(0).contains("What happened: unclear"));
}

#[test]
fn a_model_that_is_down_or_silent_leaves_the_rule() {
    for answer in [
        Err(LlmError::Unavailable("down".into())),
        Ok(syrch_plugin::fakes::reply("  ", None)),
        Ok(syrch_plugin::fakes::reply("```sql\nSELECT 1\n```", None)),
        Ok(syrch_plugin::fakes::reply("<think>Which?</think>", None)),
    ] {
        let mut host = FakeHost::default();
        host.model.script(&Purpose::Clarify, answer);
        assert!(
            assess(&host, &[observe("A", failure_ending(FailureKind::Input, "unclear"), &[])])[0]
                .text
                .contains("(unclear)")
        );
    }
}

#[test]
fn what_a_user_cannot_mend_is_not_asked() {
    let host = FakeHost::default();
    let down = Ending::Failed(Failure {
        kind: FailureKind::Model,
        message: "down".into(),
        retryable: true,
    });
    for ending in [
        failure_ending(FailureKind::Budget, "spent"),
        failure_ending(FailureKind::Database, "locked"),
        down,
        Ending::Cancelled,
    ] {
        assert!(assess(&host, &[observe("A", ending, &[])]).is_empty());
    }
    assert!(assess(&host, &[observe("B", Ending::Skipped("A".into()), &[])]).is_empty());
}

#[test]
fn the_same_question_is_not_asked_twice() {
    let host = FakeHost::default();
    let lost = [observe("A", failure_ending(FailureKind::Input, "unclear"), &[])];
    let asked = assess(&host, &lost).remove(0).text;
    let problem = Problem {
        answers: vec![(asked, "no idea".into())],
        ..Problem::new("Where do buyers live?")
    };
    let plugin = AmbiguityClarifier::new(Settings::default());
    assert!(plugin.assess(&host, &problem, &catalog(), &graph(), &lost).unwrap().is_empty());
}

#[test]
fn the_threshold_is_the_users() {
    let plugin = AmbiguityClarifier::new(
        Settings::read(r#"{"threshold": 0.01, "ask_model": false}"#).unwrap(),
    );
    let doubtful = [observe("A", Ending::Solved, &[0.9])];
    let questions = plugin
        .assess(&FakeHost::default(), &Problem::new("q"), &catalog(), &graph(), &doubtful)
        .unwrap();
    assert_eq!(
        questions[0].text,
        "I am not sure what \"regions of buyers\" asks for. Can you say it more exactly?"
    );
}
