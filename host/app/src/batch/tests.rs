//! Tests of the reading of lines and of the continuation of a batch, over a small database and
//! without a model.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, stream};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::Silent;
use crate::report::AnswerDocument;

fn read(line: &str) -> Line {
    Line::read(7, line.as_bytes()).unwrap()
}

fn question(line: &str) -> Question {
    read(line).question.unwrap()
}

fn fault(line: &str) -> (Value, String) {
    let line = read(line);
    let fault = line.question.unwrap_err();
    assert_eq!(fault.class, "usage");
    (line.id, fault.message)
}

#[test]
fn a_line_is_a_question_with_what_belongs_to_it() {
    let whole = Question {
        id: Some(json!("a")),
        question: "How many?".to_owned(),
        db: Some("shop".to_owned()),
        evidence: Some("count".to_owned()),
        as_of: Some("2024-02-29".to_owned()),
        conversation: Some("7".to_owned()),
    };
    let line = r#"{"id": "a", "question": "How many?", "db": " shop ", "evidence": "count",
        "as_of": "2024-02-29", "conversation": 7}"#;
    assert_eq!(question(line), whole);
    assert_eq!(question(&format!("\u{feff}{line} \r")), whole);
    // A number means the text of its value.
    for (written, id) in [
        ("1", "1"),
        ("1.0", "1"),
        ("1e0", "1"),
        ("\"1\"", "1"),
        ("-0.0", "0"),
        ("1.5", "1.5"),
        ("\"1.0\"", "1.0"),
        ("9007199254740993", "9007199254740993"),
    ] {
        let asked = question(&format!(r#"{{"question": "?", "conversation": {written}}}"#));
        assert_eq!(asked.conversation.as_deref(), Some(id), "{written}");
    }
    let problem = whole.problem();
    assert_eq!(problem.evidence.as_deref(), Some("count\nToday is 2024-02-29."));
    assert_eq!(question(r#""How \"many\"?""#), Question::new("How \"many\"?"));
    assert_eq!(question(r#"{"question": "?", "db": null, "evidence": " "}"#), Question::new("?"));
    // As suites call them.
    let bird = question(r#"{"question_id": 4, "db_id": "shop", "question": "?"}"#);
    assert_eq!((bird.id, bird.db.as_deref()), (Some(json!(4)), Some("shop")));
    for (line, id) in
        [(r#"{"id": 1.5, "question": "?"}"#, json!(1.5)), (r#"{"question": "?"}"#, json!(7))]
    {
        assert_eq!(read(line).id, id);
    }
    assert_eq!(read(r#"{"id": "", "question": "?"}"#).id, json!(""));
    for blank in ["", " \t\r", "\u{feff}"] {
        assert_eq!(Line::read(1, blank.as_bytes()), None, "{blank:?}");
    }
}

#[test]
fn what_a_suite_expects_is_not_read() {
    let line = r#"{"id": 1, "question": "?", "gold_sql": "SELECT 'gold'", "gold_alternatives": ["SELECT 'gold'"], "SQL": "gold",
                   "query": "gold", "sql": {}, "expected_sql": "gold", "expected_data": "gold.csv", "expected_answer": "gold"}"#;
    let line = read(&line.replace('\n', ""));
    assert!(!format!("{line:?}").contains("gold"), "{line:?}");
}

#[test]
fn wrong_lines_say_why_and_keep_their_id() {
    for (line, id, why) in [
        ("{oops", json!(7), "the line is not read as JSON: key must be a string at column 2"),
        (
            "nonsense",
            json!(7),
            "the line is neither an object with `question` nor a question in double quotes",
        ),
        (
            "[1, 2]",
            json!(7),
            "the line is neither an object with `question` nor a question in double quotes",
        ),
        (
            "\"open",
            json!(7),
            "the line is not read as JSON: EOF while parsing a string at column 5",
        ),
        (r#"{"id": "a"}"#, json!("a"), "the line has no `question`"),
        (r#"{"id": "a", "question": " "}"#, json!("a"), "the line has no `question`"),
        (r#"{"id": 2, "question": 5}"#, json!(2), "`question` is not a text"),
        (r#"{"id": 2, "question": "?", "evidence": []}"#, json!(2), "`evidence` is not a text"),
        (r#"{"id": 2, "question": "?", "db": {}}"#, json!(2), "`db` is not a text"),
        (
            r#"{"id": 2, "question": "?", "as_of": "2023-02-29"}"#,
            json!(2),
            "`as_of` is no date of the form 2024-12-31",
        ),
        (r#"{"id": [2], "question": "?"}"#, json!(7), "`id` is neither a text nor a number"),
    ] {
        assert_eq!(fault(line), (id, why.to_owned()), "{line}");
    }
    let long = fault(&json!({"id": 2, "question": "?", "db": "x".repeat(257)}).to_string());
    assert_eq!(long, (json!(2), "`db` is longer than 256 bytes".to_owned()));
    assert!(
        fault(&format!("\"{}\"", "x".repeat(LONGEST)))
            .1
            .starts_with("the line is longer than 1048576 bytes")
    );
    assert_eq!(
        Line::read(7, b"\"\xff\"").unwrap().question.unwrap_err().message,
        "the line is not UTF-8 text"
    );
    assert_eq!(
        (Line::too_long(7, json!("a")).id, Line::too_long(7, json!({})).id),
        (json!("a"), json!(7))
    );
    assert!(fault(&"[".repeat(100_000)).1.starts_with("the line is neither"));
    assert!(
        fault(&format!("{{\"x\": {}", "[".repeat(100_000)))
            .1
            .starts_with("the line is not read as JSON")
    );
}

#[test]
fn a_programs_question_is_checked_as_a_line_is() {
    let checked = |question: Question| {
        let program = Line::new(7, question.clone());
        let line = serde_json::to_string(&json!({
            "id": question.id, "question": question.question, "db": question.db,
            "evidence": question.evidence,
            "as_of": question.as_of, "conversation": question.conversation,
        }));
        assert_eq!(program, read(&line.unwrap()));
        program
    };
    let whole = Question {
        id: Some(json!("a")),
        db: Some(" shop".to_owned()),
        evidence: Some(" ".to_owned()),
        as_of: Some("2024-02-29 ".to_owned()),
        ..Question::new("How many?")
    };
    let known = checked(whole.clone()).question.unwrap();
    assert_eq!(
        (known.db.as_deref(), known.evidence, known.as_of.as_deref()),
        (Some("shop"), None, Some("2024-02-29"))
    );
    for (wrong, id, why) in [
        (
            Question { question: " \n".to_owned(), ..whole.clone() },
            json!("a"),
            "the line has no `question`",
        ),
        (
            Question { id: Some(json!({"a": 1})), ..whole.clone() },
            json!(7),
            "`id` is neither a text nor a number",
        ),
        (
            Question { as_of: Some("today".to_owned()), ..whole.clone() },
            json!("a"),
            "`as_of` is no date",
        ),
        (
            Question { db: Some("x".repeat(257)), ..whole },
            json!("a"),
            "`db` is longer than 256 bytes",
        ),
    ] {
        let line = checked(wrong);
        assert_eq!(line.id, id);
        assert!(line.question.unwrap_err().message.starts_with(why), "{why}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_blank_question_is_not_searched_for() {
    let folder = syrch_kit::scratch();
    let settings = Settings { database: shop(folder.path()), ..Settings::default() };
    let host = crate::Host::open(settings, &Silent).await.unwrap();
    let observer = Arc::new(Silent);
    let journal = folder.path().join("journal.jsonl");
    let problem = Question::new(" \t").problem();
    let searched = host
        .search_as("run", problem, Some(Ok(journal.clone())), observer, None, &Stop::new())
        .await;
    let error = searched.report.unwrap_err();
    assert_eq!(
        (error.class(), error.to_string().as_str()),
        ("configuration", "the question is empty")
    );
    assert!(!journal.exists());
}

proptest! {
    #[test]
    fn any_line_is_read_or_refused(
        bytes in prop::collection::vec(any::<u8>(), 0..300), number in 1_u64..
    ) {
        let is_blank =
            bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes).trim_ascii().is_empty();
        let line = Line::read(number, &bytes);
        prop_assert_eq!(line.is_none(), is_blank);
        prop_assert!(
            line.is_none_or(
                |line| line.number == number && (line.id.is_string() || line.id.is_number())
            )
        );
    }

    #[test]
    fn any_question_comes_through(
        id in any::<i64>(), text in "\\PC*[a-z]\\PC*", name in "[a-z]{1,9}"
    ) {
        let line =
            json!({"question": text, "x": {"question": 1}, "id": id, "db": name}).to_string();
        let question = question(&line);
        prop_assert_eq!(
            (question.id, question.question, question.db), (Some(json!(id)), text, Some(name))
        );
    }
}

fn shop(folder: &Path) -> String {
    let sql = "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT); \
               INSERT INTO customers(name) VALUES ('Ada'), ('Ben');";
    syrch_kit::sqlite(folder.join("shop.sqlite"), sql).display().to_string()
}

async fn open(database: &str, options: Options) -> Batch {
    let observer: Arc<dyn Observer> = Arc::new(Silent);
    let settings = Settings { database: database.to_owned(), ..Settings::default() };
    Batch::open(settings, options, &observer).await.unwrap()
}

/// Lines of which every third one is wrong.
fn lines(count: u64) -> impl futures::Stream<Item = Line> + Send {
    stream::iter(1..=count).map(|number| match number % 3 {
        0 => Line::read(number, b"{oops").unwrap(),
        _ => Line::new(number, Question::new("How many customers are there?")),
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn each_line_has_its_reply_in_the_order_that_is_wanted() {
    let folder = syrch_kit::scratch();
    for (order, workers) in [(Order::Given, 1), (Order::Given, 4), (Order::Ended, 4)] {
        let batch =
            open(&shop(folder.path()), Options { order, workers, ..Options::default() }).await;
        let mut answers = batch.answers(lines(60), &Stop::new());
        let mut numbers = Vec::new();
        while let Some(reply) = answers.next().await {
            assert_eq!(
                reply.outcome,
                if reply.line % 3 == 0 { Ending::Failed } else { Ending::Answered }
            );
            assert_eq!(
                (&reply.id, reply.answer.is_some()),
                (&json!(reply.line), reply.error.is_none())
            );
            let text = serde_json::to_string(&reply).unwrap();
            assert_eq!(serde_json::from_str::<Reply>(&text).unwrap(), reply);
            numbers.push(reply.line);
        }
        let Ended { totals, stopped } = answers.finish();
        assert!(stopped.is_none());
        assert_eq!((totals.lines, totals.answered, totals.failed), (60, 40, 20));
        if order == Order::Ended {
            numbers.sort_unstable();
        }
        assert_eq!(numbers, (1..=60).collect::<Vec<_>>());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn equal_ids_and_lines_that_are_too_long_disturb_nobody() {
    let folder = syrch_kit::scratch();
    let batch = open(&shop(folder.path()), Options::default()).await;
    let asks = |number: u64, id: &str| {
        let line = json!({"id": id, "question": "How many customers are there?"}).to_string();
        Line::read(number, line.as_bytes()).unwrap()
    };
    let long =
        Line::read(2, format!("{{\"id\": \"a\", \"x\": \"{}\"}}", "x".repeat(LONGEST)).as_bytes())
            .unwrap();
    // Nothing of it is stored.
    assert!(format!("{long:?}").len() < 300);
    let lines = [asks(1, "a"), long, Line::too_long(3, json!("a")), asks(4, "a"), asks(5, "b")];
    let replies: Vec<Reply> = batch.answers(stream::iter(lines), &Stop::new()).collect().await;
    let reported: Vec<(u64, &Value, Ending)> =
        replies.iter().map(|reply| (reply.line, &reply.id, reply.outcome)).collect();
    let a = json!("a");
    let b = json!("b");
    let two = json!(2);
    let good = Ending::Answered;
    let bad = Ending::Failed;
    assert_eq!(
        reported,
        [(1, &a, good), (2, &two, bad), (3, &a, bad), (4, &a, good), (5, &b, good)]
    );
    let faults: Vec<&str> =
        replies.iter().filter_map(|reply| Some(reply.error.as_ref()?.message.as_str())).collect();
    assert_eq!(faults, ["the line is longer than 1048576 bytes"; 2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_folder_a_line_names_a_database_of_it() {
    let folder = syrch_kit::scratch();
    std::fs::create_dir(folder.path().join("in")).unwrap();
    shop(folder.path());
    shop(&folder.path().join("in"));
    std::fs::write(folder.path().join("in/text.sqlite"), "no database").unwrap();
    let batch = open(&folder.path().join("in").display().to_string(), Options::default()).await;
    let cases = [
        (json!("shop"), None),
        (json!("shop.sqlite"), None),
        (json!(null), Some("the line has no `db`")),
        (json!(" "), Some("the line has no `db`")),
        (json!("../shop"), Some("`../shop` leads out of")),
        (json!("bank"), Some("bank")),
        (json!("text"), Some("text.sqlite")),
    ];
    let lines: Vec<Line> = (1..)
        .zip(&cases)
        .map(|(number, (db, _)): (u64, &(Value, Option<&str>))| {
            let line = json!({"question": "How many customers are there?", "db": db}).to_string();
            Line::read(number, line.as_bytes()).unwrap()
        })
        .collect();
    let replies: Vec<Reply> = batch.answers(stream::iter(lines), &Stop::new()).collect().await;
    assert_eq!(replies.len(), cases.len());
    for (reply, (db, why)) in replies.iter().zip(&cases) {
        match (&reply.error, why) {
            (None, None) => assert_eq!(reply.outcome, Ending::Answered),
            (Some(error), Some(why)) => {
                assert!(
                    error.class == "database" && error.message.contains(why),
                    "{db}: {error:?}"
                );
            }
            (error, _) => panic!("{db}: {error:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_line_is_answered_from_another_database_than_it_names() {
    let folder = syrch_kit::scratch();
    let file = shop(folder.path());
    let batch = open(&file, Options::default()).await;
    let names = ["shop", "shop.sqlite", "bank", "../shop", &file];
    let lines = stream::iter((1..).zip(names.map(|db: &str| Question {
        db: Some(db.to_owned()),
        ..Question::new("How many customers are there?")
    })))
    .map(|(number, question)| Line::new(number, question));
    let mut answers = batch.answers(lines, &Stop::new());
    for name in names {
        let reply = answers.next().await.unwrap();
        let fault = reply.error.map(|error| (error.class, error.message));
        let why =
            format!("the line is about the database `{name}`, and the only one here is `{file}`");
        let is_own = name.starts_with("shop");
        assert_eq!(fault, (!is_own).then_some(("database".to_owned(), why)), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_are_taken_as_replies_are_read_and_not_before() {
    let folder = syrch_kit::scratch();
    let taken = Arc::new(std::sync::atomic::AtomicU64::new(0));
    let counted = Arc::clone(&taken);
    let endless = stream::iter(1..).map(move |number| {
        counted.store(number, std::sync::atomic::Ordering::Relaxed);
        Line::read(number, b"{oops").unwrap()
    });
    let batch = open(&shop(folder.path()), Options { workers: 2, ..Options::default() }).await;
    let mut answers = batch.answers(endless, &Stop::new());
    for number in 1..=1_000 {
        assert_eq!(answers.next().await.unwrap().line, number);
        assert!(taken.load(std::sync::atomic::Ordering::Relaxed) <= number + 128);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_gives_what_is_done_and_nothing_else() {
    let folder = syrch_kit::scratch();
    let batch = open(&shop(folder.path()), Options::default()).await;
    let stop = Stop::new();
    // The last line never comes.
    let mut answers = batch.answers(lines(6).chain(stream::pending()), &stop);
    let mut seen = Vec::new();
    for _ in 0..6 {
        seen.push(answers.next().await.unwrap().line);
    }
    assert!(tokio::time::timeout(Duration::from_millis(20), answers.next()).await.is_err());
    stop.trigger();
    assert_eq!((answers.next().await, seen), (None, vec![1, 2, 3, 4, 5, 6]));
    let Ended { totals, stopped } = answers.finish();
    assert!(matches!(stopped, Some(Stopped::Interrupted)));
    assert_eq!(totals.lines, 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_used_up_budget_leaves_lines_unasked() {
    let folder = syrch_kit::scratch();
    let budgets = RunBudgets { time: Some(Duration::ZERO), ..RunBudgets::default() };
    let batch = open(&shop(folder.path()), Options { budgets, ..Options::default() }).await;
    let mut answers = batch.answers(lines(3), &Stop::new());
    let mut said = Vec::new();
    while let Some(reply) = answers.next().await {
        let error = reply.error.unwrap();
        said.push((error.class, error.message));
    }
    let budget =
        ("budget".to_owned(), "not asked: the seconds of the whole batch are used up".to_owned());
    assert_eq!((&said[0], &said[1]), (&budget, &budget));
    assert_eq!(said[2].0, "usage");
    assert_eq!(answers.finish().totals.used_up, Some(UsedUp::Time));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_line_would_survive_stops_it() {
    let folder = syrch_kit::scratch();
    shop(folder.path());
    let observer: Arc<dyn Observer> = Arc::new(Silent);
    let mut settings =
        Settings { database: folder.path().display().to_string(), ..Settings::default() };
    settings.retrieval.notes = Some(folder.path().join("missing"));
    // One after the other, so that the line before has its answer.
    let options = Options { workers: 1, ..Options::default() };
    let batch = Batch::open(settings.clone(), options, &observer).await.unwrap();
    let named = |db: &str| Question {
        db: Some(db.to_owned()),
        ..Question::new("How many customers are there?")
    };
    let lines = stream::iter([Line::new(1, named("none")), Line::new(2, named("shop"))]);
    let mut answers = batch.answers(lines, &Stop::new());
    assert_eq!(answers.next().await.unwrap().error.unwrap().class, "database");
    assert_eq!(answers.next().await, None);
    assert!(matches!(
        answers.finish().stopped, Some(Stopped::Fatal(error)) if error.class() == "configuration"
    ));
    // A plugin is looked for before any line.
    let broken = crate::settings::PluginSource::Builtin("nobody".to_owned());
    settings.strategy.roles.insert(syrch_core::roles::Role::Planner, broken);
    let refused = Batch::open(settings, Options::default(), &observer).await;
    assert_eq!(refused.err().unwrap().class(), "plugin-rejected");
}

#[test]
fn large_replies_weigh_what_they_hold() {
    let reply = |cell: &str| {
        let document: AnswerDocument = serde_json::from_value(json!({
            "schema": "syrch.answer/1", "run": "r", "question": "?", "sql": null,
            "dialect": "sqlite", "confidence": null,
            "answer": {
                "text": "", "columns": ["a"], "rows": [[cell]], "row_count": 1, "truncated": false,
                "basis": []
            },
            "candidates": [], "clarify": null,
            "cost": {
                "calls": 0, "input_tokens": 0, "output_tokens": 0, "usd": null, "sql_runs": 0,
                "by_purpose": {}
            },
            "time_ms": {"total": 0.0, "plan": 0.0, "solve": 0.0, "aggregate": 0.0}, "plugins": [],
            "warnings": []
        }))
        .unwrap();
        Reply {
            id: json!("a"),
            outcome: Ending::Answered,
            answer: Some(document),
            error: None,
            line: 1,
            conversation: None,
            has_evidence: false,
            simulated: None,
            cost: None,
            is_open: false,
        }
    };
    assert_eq!(reply(&"x".repeat(1_000)).bytes() - reply("").bytes(), 1_000);
}
