//! The aggregator against finished tasks that tests made.

use syrch_plugin::fakes::{FakeHost, FakeRows, reply, sql_error};
use syrch_plugin::prelude::*;
use syrch_plugin::replies::{JoinHow, JoinKey, join_context};

use crate::{Evidence, Settings};

fn text(word: &str) -> Value {
    Value::Text(word.into())
}

fn single(value: i64) -> FakeRows {
    FakeRows::new(&["n"], vec![vec![Value::Integer(value)]])
}

fn finish(id: &str, confidence: f64, tokens: f64, rows: &FakeRows) -> Finished {
    let signals = Signals { extra: vec![("tokens".into(), tokens)], ..Signals::default() };
    Finished {
        name: format!("task_{}", id.to_lowercase()),
        task: Task::new(id, format!("find {id}")),
        candidate: Candidate {
            id: format!("{id}.1"),
            confidence: Some(confidence),
            signals,
            ..Candidate::default()
        },
        others: Vec::new(),
        results: rows.handle(),
    }
}

fn observe(id: &str, ending: Ending, confidence: Option<f64>, rows: u64) -> Observation {
    let is_success = matches!(ending, Ending::Solved | Ending::Empty);
    Observation {
        candidates: confidence
            .map(|confidence| Candidate { confidence: Some(confidence), ..Candidate::default() })
            .into_iter()
            .collect(),
        profile: is_success.then(|| Profile { rows, ..Profile::default() }),
        ..Observation::ended(id, ending)
    }
}

fn observe_success(id: &str, confidence: f64, rows: u64) -> Observation {
    observe(id, if rows == 0 { Ending::Empty } else { Ending::Solved }, Some(confidence), rows)
}

fn observe_failure(id: &str) -> Observation {
    observe(id, Ending::Failed(failure(FailureKind::Model, "no idea")), None, 0)
}

fn choice(leaves: &[&str], keys: &[JoinKey]) -> Graph {
    let mut tasks: Vec<Task> =
        leaves.iter().map(|id| Task::new(*id, format!("find {id}"))).collect();
    tasks.push(Task {
        operation: Operation::Choose,
        depends_on: leaves.iter().map(|id| (*id).to_owned()).collect(),
        tolerant: true,
        context: join_context(keys),
        ..Task::new("answer", "everything")
    });
    Graph { tasks, answer: "answer".into(), memo: None }
}

fn key(left: &str, left_col: &str, right: &str, right_col: &str, how: JoinHow) -> JoinKey {
    let text = str::to_owned;
    JoinKey {
        left: text(left),
        left_col: text(left_col),
        right: text(right),
        right_col: text(right_col),
        how,
    }
}

fn answer_of(
    host: &FakeHost,
    question: &str,
    graph: &Graph,
    done: &[Finished],
    seen: &[Observation],
) -> Option<Answer> {
    Evidence::new(Settings::default())
        .aggregate(host, &Problem::new(question), graph, done, seen)
        .unwrap()
}

fn alone(question: &str, rows: &FakeRows, confidence: f64) -> Answer {
    let graph = Graph::single(Task::new("A", question));
    let count = rows.handle().profile().rows;
    let done = [finish("A", confidence, 0.0, rows)];
    answer_of(
        &FakeHost::default(),
        question,
        &graph,
        &done,
        &[observe_success("A", confidence, count)],
    )
    .unwrap()
}

// 0.9 × (1 − 0.5 × 0.035), as syrch 0.1.2 computed it.
#[test]
fn a_single_result_has_the_confidence_of_syrch_0_1_2() {
    let answer = alone("How many?", &single(7), 0.9);
    assert_eq!(answer.confidence, 0.884);
    assert_eq!(answer.text, "The answer is 7.");
    assert_eq!(
        (answer.task.as_str(), answer.candidate.as_deref(), answer.sql),
        ("A", Some("A.1"), None)
    );
    assert_eq!(answer.caveats, Vec::<String>::new());
    assert_eq!(answer.basis[0], "A: How many? — 1 row, confidence 0.90 (A.1)");
    assert!(answer.basis[1].starts_with("confidence 0.884 = 0.900 × (1 − 0.0175 for ambiguity)"));
}

#[test]
fn the_most_trusted_leaf_wins_and_fewer_tokens_break_a_tie() {
    let host = FakeHost::default();
    let done = [
        finish("A", 0.8, 9.0, &single(1)),
        finish("B", 0.9, 9.0, &single(2)),
        finish("C", 0.9, 5.0, &single(3)),
    ];
    let seen =
        [observe_success("A", 0.8, 1), observe_success("B", 0.9, 1), observe_success("C", 0.9, 1)];
    let answer = answer_of(&host, "q", &choice(&["A", "B", "C"], &[]), &done, &seen).unwrap();
    assert_eq!(answer.task, "C");
    assert!(answer.basis.contains(&"took C, the most trusted of A, B, C".to_owned()));
}

#[test]
fn nothing_finished_is_no_answer() {
    let host = FakeHost::default();
    assert_eq!(
        answer_of(&host, "q", &Graph::single(Task::new("A", "q")), &[], &[observe_failure("A")])
            .map(|a| a.text),
        None
    );
    // The result of a step on the way does not answer the question.
    let mut graph = Graph::single(Task { depends_on: vec!["A".into()], ..Task::new("B", "q") });
    graph.tasks.push(Task::new("A", "step"));
    let done = [finish("A", 1.0, 0.0, &single(1))];
    assert!(
        answer_of(&host, "q", &graph, &done, &[observe_success("A", 1.0, 1), observe_failure("B")])
            .is_none()
    );
}

#[test]
fn failed_and_empty_tasks_take_their_share_up_to_the_cap() {
    let host = FakeHost::default();
    let done = [finish("A", 1.0, 0.0, &single(1))];
    let graph = choice(&["A", "B"], &[]);
    let answer =
        answer_of(&host, "q", &graph, &done, &[observe_success("A", 1.0, 1), observe_failure("B")])
            .unwrap();
    // Nothing found for B: ambiguity 1, and 0.15 off for the failure.
    assert_eq!(answer.confidence, 0.425);
    assert_eq!(answer.caveats, ["B failed: no idea"]);

    let graph = choice(&["A", "B", "C", "D"], &[]);
    let skipped = |id: &str| observe(id, Ending::Skipped("X".into()), None, 0);
    let all = [observe_success("A", 1.0, 1), skipped("B"), skipped("C"), skipped("D")];
    assert_eq!(answer_of(&host, "q", &graph, &done, &all).unwrap().confidence, 0.6);
}

#[test]
fn tasks_beside_the_answer_do_not_count() {
    let mut graph = choice(&["A", "B"], &[]);
    graph.tasks.push(Task::new("direct", "q"));
    graph.answer = "direct".into();
    let done = [finish("direct", 1.0, 0.0, &single(1))];
    let all = [observe_failure("A"), observe_failure("B"), observe_success("direct", 1.0, 1)];
    assert_eq!(answer_of(&FakeHost::default(), "q", &graph, &done, &all).unwrap().confidence, 1.0);
}

#[test]
fn counts_and_years_that_were_asked_for_are_looked_for() {
    let three = FakeRows::new(&["name"], vec![vec![text("a")], vec![text("b")], vec![text("c")]]);
    assert_eq!(alone("top 3 customers", &three, 1.0).confidence, 1.0);
    let answer = alone("top 5 customers", &three, 1.0);
    assert_eq!(
        (answer.confidence, answer.caveats[0].as_str()),
        (0.95, "A asks for 5, and the result has 3 rows")
    );
    assert_eq!(alone("top 5% of customers", &three, 1.0).confidence, 1.0);
    assert_eq!(alone("customers by year", &three, 1.0).confidence, 0.9);
    let dated = FakeRows::new(&["Order_Year"], vec![vec![Value::Integer(2024)]]);
    assert_eq!(alone("customers by year", &dated, 1.0).confidence, 1.0);
}

#[test]
fn an_empty_result_is_said_to_be_empty() {
    let answer = alone("q", &FakeRows::new(&["n"], vec![]), 0.8);
    assert_eq!(answer.text, "The result has no rows: nothing fits the question.");
    assert_eq!(answer.caveats, ["A has no rows"]);
    // 0.8 × (1 − 0.5 × (0.35 × 0.2 + 0.2 × 0.3)) × 0.85
    assert_eq!(answer.confidence, 0.636);
}

// syrch 0.1.2, bug 5: the text of a count was searched for "0 rows".
#[test]
fn a_thousand_and_ten_rows_are_not_empty() {
    let graph = Graph::single(Task::new("A", "q"));
    let done = [finish("A", 1.0, 0.0, &single(1).counted(1010))];
    let answer =
        answer_of(&FakeHost::default(), "q", &graph, &done, &[observe_success("A", 1.0, 1010)])
            .unwrap();
    assert_eq!((answer.confidence, answer.caveats.len()), (1.0, 0));
}

fn people() -> FakeRows {
    FakeRows::new(&["id", "name"], vec![vec![Value::Integer(1), text("Ann")]])
}

fn orders() -> FakeRows {
    FakeRows::new(&["Customer Id", "name"], vec![vec![Value::Integer(1), text("book")]])
}

const JOIN: &str = "SELECT j1.id, j1.name, j2.\"Customer Id\", j2.name AS name_2 FROM task_a AS j1 \
                    LEFT JOIN task_b AS j2 ON j1.id = j2.\"Customer Id\"";

fn two(host: &FakeHost, keys: &[JoinKey]) -> Answer {
    let done = [finish("A", 0.9, 0.0, &people()), finish("B", 0.8, 0.0, &orders())];
    answer_of(
        host,
        "q",
        &choice(&["A", "B"], keys),
        &done,
        &[observe_success("A", 0.9, 1), observe_success("B", 0.8, 1)],
    )
    .unwrap()
}

#[test]
fn join_keys_become_one_statement_over_relation_names() {
    let mut host = FakeHost::default();
    let joined = FakeRows::new(
        &["id", "name", "Customer Id", "name_2"],
        vec![vec![Value::Integer(1), text("Ann"), Value::Integer(1), text("book")]],
    );
    host.database.answer(JOIN, joined);
    // The key names B first: the join is turned around with it.
    let answer = two(&host, &[key("B", "customer id", "A", "ID", JoinHow::Right)]);
    assert_eq!(answer.sql.as_deref(), Some(JOIN));
    assert_eq!((answer.task.as_str(), answer.candidate), ("answer", None));
    assert_eq!(answer.text, "Id: 1, name: Ann, Customer Id: 1, name 2: book.");
    assert!(
        answer.basis.iter().any(|step| step == "joined A, B (left by ID = customer id)"),
        "{:?}",
        answer.basis
    );
    assert!(answer.caveats.is_empty());
}

#[test]
fn a_join_that_fails_or_finds_nothing_leaves_the_most_trusted_leaf() {
    let keys = [key("A", "id", "B", "Customer Id", JoinHow::Left)];
    let mut host = FakeHost::default();
    host.database.fail_run(JOIN, sql_error(SqlErrorKind::Timeout, "the deadline ended it"));
    let answer = two(&host, &keys);
    assert_eq!((answer.task.as_str(), answer.sql.as_deref()), ("A", None));
    assert!(answer.caveats[0].contains("the deadline ended it"));

    host.database.answer(JOIN, FakeRows::new(&["id"], vec![]));
    assert!(two(&host, &keys).caveats[0].contains("no row in common"));

    let answer = two(&host, &[key("A", "nothing", "B", "name", JoinHow::Inner)]);
    assert!(answer.caveats[0].contains("no join key fits"));
}

#[test]
fn keys_of_one_name_merge_and_chains_are_followed() {
    fn pair(a: &str, b: &str) -> FakeRows {
        FakeRows::new(&[a, b], vec![vec![text("x"), text("y")]])
    }
    let done = [
        finish("A", 0.9, 0.0, &pair("k", "a")),
        finish("B", 0.9, 0.0, &pair("m", "b")),
        finish("C", 0.9, 0.0, &pair("K", "m")),
        finish("D", 0.9, 0.0, &pair("z", "d")),
    ];
    let keys = [key("B", "m", "C", "m", JoinHow::Inner), key("A", "k", "C", "k", JoinHow::Outer)];
    let sql = "SELECT COALESCE(j1.k, j2.\"K\") AS k, j1.a, j2.m, j3.b FROM task_a AS j1 \
               FULL JOIN task_c AS j2 ON j1.k = j2.\"K\" JOIN task_b AS j3 ON j2.m = j3.m";
    let mut host = FakeHost::default();
    host.database.answer(sql, pair("k", "a"));
    let answer = answer_of(&host, "q", &choice(&["A", "B", "C", "D"], &keys), &done, &[]).unwrap();
    assert_eq!(host.database.log(), [sql]);
    assert_eq!(answer.sql.as_deref(), Some(sql));
    assert_eq!(answer.caveats, ["the result of D could not be joined and is left out"]);
}

#[test]
fn without_the_grant_the_text_tells_the_shape_alone() {
    let mut host = FakeHost::default();
    host.database.granted_rows = None;
    let done = [finish("A", 0.9, 0.0, &people())];
    let graph = Graph::single(Task::new("A", "q"));
    let answer = answer_of(&host, "q", &graph, &done, &[observe_success("A", 0.9, 1)]).unwrap();
    assert_eq!(answer.text, "The result has 1 row of id, name.");
}

#[test]
fn several_rows_are_reported_in_part() {
    let names = ["a", "b", "c", "d"].iter().map(|name| vec![text(name)]).collect();
    assert_eq!(alone("q", &FakeRows::new(&["name"], names), 1.0).text, "Name: a, b, c and 1 more.");
    let counts = [("France", 12), ("Spain", 7), ("Italy", 5), ("Peru", 1)];
    let counts =
        counts.map(|(country, number)| vec![text(country), Value::Integer(number)]).to_vec();
    assert_eq!(
        alone("q", &FakeRows::new(&["country", "COUNT(*)"], counts), 1.0).text,
        "Number by country: France 12, Spain 7, Italy 5 and 1 more."
    );
    let by_year = vec![
        vec![text("France"), Value::Integer(2024), Value::Real(0.5)],
        vec![text("Spain"), Value::Integer(2023), Value::Real(1.5)],
    ];
    assert_eq!(
        alone("q", &FakeRows::new(&["country", "year", "SUM(o.total_price)"], by_year), 1.0).text,
        "Sum of total price by country and year: (France, 2024) 0.5, (Spain, 2023) 1.5."
    );
    let shares = vec![
        vec![text("France"), Value::Real(1.5), Value::Real(0.25)],
        vec![text("Spain"), Value::Real(4.5), Value::Real(0.75)],
    ];
    assert_eq!(
        alone("q", &FakeRows::new(&["country", "revenue", "share_of_total"], shares), 1.0).text,
        "There are 2 rows of country, revenue, share of total; they are France, 1.5, 0.25; Spain, \
         4.5, 0.75."
    );
    let names = vec![vec![Value::Integer(1), text("Ann")], vec![Value::Integer(2), text("Bob")]];
    assert_eq!(
        alone("q", &FakeRows::new(&["id", "name"], names), 1.0).text,
        "There are 2 rows of id, name; they are 1, Ann; 2, Bob."
    );
    assert_eq!(
        alone("q", &FakeRows::new(&["n"], vec![vec![Value::Null]]), 1.0).text,
        "There is no value (NULL)."
    );
}

#[test]
fn a_sentence_that_swaps_rows_does_not_stand() {
    let plugin = Evidence::new(Settings { summarise: true, ..Settings::default() });
    let graph = Graph::single(Task::new("A", "q"));
    let rows =
        vec![vec![text("France"), Value::Integer(10)], vec![text("Germany"), Value::Integer(20)]];
    let done = [finish("A", 0.9, 0.0, &FakeRows::new(&["country", "n"], rows))];
    let problem = Problem::new("How many for each country?");
    for (sentence, expected) in [
        ("France has 10 and Germany 20.", "France has 10 and Germany 20."),
        ("France has 20 and Germany 10.", "N by country: France 10, Germany 20."),
    ] {
        let mut host = FakeHost::default();
        host.model.script(&Purpose::Summarise, Ok(reply(sentence, None)));
        let seen = [observe_success("A", 0.9, 2)];
        let answer = plugin.aggregate(&host, &problem, &graph, &done, &seen).unwrap().unwrap();
        assert_eq!(answer.text, expected);
    }
}

#[test]
fn a_model_may_write_the_text_and_need_not() {
    let plugin = Evidence::new(Settings { summarise: true, ..Settings::default() });
    let graph = Graph::single(Task::new("A", "q"));
    let ask = |host: &FakeHost| {
        let done = [finish("A", 0.9, 0.0, &single(7))];
        plugin
            .aggregate(
                host,
                &Problem::new("How many?"),
                &graph,
                &done,
                &[observe_success("A", 0.9, 1)],
            )
            .unwrap()
            .unwrap()
            .text
    };
    let mut host = FakeHost::default();
    host.model.script(&Purpose::Summarise, Ok(reply("Seven\nof them.", None)));
    assert_eq!(ask(&host), "Seven of them.");
    assert!(host.model.prompt(0).contains("How many?"));
    assert_eq!(ask(&host), "The answer is 7.");
    host.model.script(&Purpose::Summarise, Ok(reply("There are 8 of them.", None)));
    assert_eq!(ask(&host), "The answer is 7.");
    let notes = host.trace.notes();
    assert!(notes.iter().any(|note| note.contains("have `8`")), "{notes:?}");
}
