//! `batch`: lines of questions in, lines of answers out, whatever the lines hold and whatever
//! happens around them.

mod cluster;
mod databases;
mod endings;
mod mixed;
mod resumed;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use serde_json::{Value, json};

use crate::bad_input::{Place, assert_refused, finish, read_streams};

/// The question where the answer does not matter.
pub(crate) const QUESTION: &str = "How many customers are there?";

/// The answers of standard output, one from each line.
pub(crate) fn answers(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// The answers of a batch that ended with that code, and what was said on standard error.
pub(crate) fn batch(
    command: &mut Command,
    input: impl Into<Vec<u8>>,
    code: i32,
) -> (Vec<Value>, String) {
    let output: Output = finish(command, input);
    let (stdout, stderr) = read_streams(&output);
    assert_eq!(output.status.code(), Some(code), "{stdout}\n{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    (answers(&stdout), stderr)
}

/// Returns the parts of an answer that do not change from run to run.
pub(crate) fn steady(answer: &Value) -> Value {
    let mut answer = answer.clone();
    if let Some(reply) = answer.as_object_mut() {
        reply.shift_remove("cost");
    }
    if let Some(document) = answer["answer"].as_object_mut() {
        for key in ["run", "time_ms", "plugins", "cost"] {
            document.shift_remove(key);
        }
    }
    answer
}

/// A batch that runs while the test writes and reads.
pub(crate) struct Talk {
    pub(crate) child: Child,
    pub(crate) answers: BufReader<ChildStdout>,
}

impl Talk {
    pub(crate) fn begin(command: &mut Command) -> Self {
        let child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self { child, answers }
    }

    pub(crate) fn ask(&mut self, line: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        writeln!(stdin, "{line}").unwrap();
        stdin.flush().unwrap();
    }

    pub(crate) fn read_reply(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.answers.read_line(&mut line).unwrap() > 0, "there are no more answers");
        serde_json::from_str(&line).unwrap()
    }

    #[cfg(unix)]
    pub(crate) fn signal(&self, name: &str) {
        let killed =
            Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(killed.success());
    }
}

/// A line of every kind, by its number; what it comes to; whether it is blank.
fn line(number: usize) -> (Vec<u8>, Option<&'static str>) {
    let good = |more: Value| {
        let mut line =
            json!({"id": format!("q{number}"), "question": QUESTION, "gold_sql": "SELECT 'gold'"});
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line.to_string().into_bytes()
    };
    match number % 20 {
        1 => (good(json!({})), Some("answered")),
        2 => (br#""How many orders are there?""#.to_vec(), Some("answered")),
        3 => (
            [b"\xef\xbb\xbf".as_slice(), &good(json!({"id": number})), b"\r"].concat(),
            Some("answered"),
        ),
        4 => (good(json!({"db": "shop", "as_of": "2024-12-31"})), Some("answered")),
        5 => (good(json!({"question": "Flurgle the snorbs of every wug"})), None),
        6 => (Vec::new(), Some("blank")),
        7 => (b" \t\r".to_vec(), Some("blank")),
        8 => (b"{oops".to_vec(), Some("failed")),
        9 => (b"not json at all".to_vec(), Some("failed")),
        10 => (b"\xff\xfe{}".to_vec(), Some("failed")),
        11 => (b"[1, 2]".to_vec(), Some("failed")),
        12 => (br#"{"id": "without"}"#.to_vec(), Some("failed")),
        13 => (br#"{"id": {"a": 1}, "question": "?"}"#.to_vec(), Some("failed")),
        14 => (good(json!({"question": 5})), Some("failed")),
        15 => (good(json!({"question": "  "})), Some("failed")),
        16 => (good(json!({"as_of": "yesterday"})), Some("failed")),
        17 if number < 60 => (good(json!({"x": "y".repeat(1 << 20)})), Some("failed")),
        18 => ("[".repeat(20_000).into_bytes(), Some("failed")),
        19 => (br#"{"id": "torn", "question": "How ma"#.to_vec(), Some("failed")),
        _ => (br#"{"question": null}"#.to_vec(), Some("failed")),
    }
}

#[test]
fn every_line_has_one_answer_in_order_or_as_they_come() {
    let place = Place::new();
    let lines: Vec<_> = (1..=2_000).map(line).collect();
    let input = lines.iter().map(|(line, _)| line.as_slice()).collect::<Vec<_>>().join(&b'\n');
    let expected: Vec<(u64, Option<&str>)> =
        (1..).zip(&lines).map(|(number, (_, end))| (number, *end)).collect();
    let expected: Vec<_> = expected.into_iter().filter(|(_, end)| *end != Some("blank")).collect();
    let (ordered, stderr) =
        batch(&mut place.words("batch --llm offline --db shop.sqlite"), input.clone(), 0);
    assert_eq!(ordered.len(), expected.len());
    for (answer, (number, end)) in ordered.iter().zip(&expected) {
        assert_eq!(answer["line"], json!(number), "{answer}");
        let mut keys: Vec<&String> = answer.as_object().unwrap().keys().collect();
        keys.pop_if(|last| *last == "has_evidence");
        assert_eq!(keys, ["id", "outcome", "answer", "error", "line"]);
        let outcome = answer["outcome"].as_str().unwrap();
        assert!(end.is_none_or(|end| end == outcome), "{answer}");
        assert_eq!(answer["answer"].is_null(), outcome == "failed", "{answer}");
        assert_eq!(answer["error"].is_null(), outcome != "failed", "{answer}");
        if outcome == "failed" {
            assert_eq!(answer["error"]["class"], "usage");
        }
    }
    // An id is returned as it was, also where the question is wrong; without one the line's number
    // stands.
    let ids: Vec<&Value> = ordered.iter().take(9).map(|answer| &answer["id"]).collect();
    assert_eq!(json!(ids), json!(["q1", 2, 3, "q4", "q5", 8, 9, 10, 11]));
    let long = ordered.iter().find(|answer| answer["line"] == 17).unwrap();
    assert_eq!(
        (&long["id"], long["error"]["message"].as_str().unwrap().contains("1048576 bytes")),
        (&json!("q17"), true)
    );
    assert!(stderr.contains("the id \"without\" came before"), "{stderr}");
    assert!(stderr.lines().any(|line| line.starts_with("1800 lines: 4")), "{stderr}");

    let (free, _) = batch(
        &mut place.words("batch --llm offline --db shop.sqlite --as-they-come --quiet"),
        input,
        0,
    );
    let by_line = |answers: &[Value]| {
        let mut all: Vec<Value> = answers.iter().map(steady).collect();
        all.sort_by_key(|answer| answer["line"].as_u64());
        all
    };
    assert_eq!(by_line(&free), by_line(&ordered));
}

#[test]
fn each_answer_is_there_before_the_next_question() {
    let place = Place::new();
    let mut talk = Talk::begin(&mut place.words("batch --llm offline --db shop.sqlite"));
    for (at, question) in [QUESTION, "How many orders are there?"].iter().enumerate() {
        talk.ask(&json!({"id": at, "question": question}).to_string());
        let answer = talk.read_reply();
        assert_eq!((&answer["id"], &answer["outcome"]), (&json!(at), &json!("answered")));
        assert_eq!(answer["answer"]["answer"]["rows"], json!([[4]]));
    }
    drop(talk.child.stdin.take());
    assert_eq!(talk.child.wait().unwrap().code(), Some(0));
}

/// Flags that do not go with lines, and errors that no line would survive, are reported before any
/// line is read.
#[test]
fn what_is_wrong_with_the_batch_is_reported_at_once() {
    let place = Place::new();
    assert_refused(
        &mut place.words("batch --db shop.sqlite"),
        2,
        &["JSON lines and nothing else", "jsonl"],
    );
    assert_refused(
        &mut place.words("batch --db shop.sqlite --workers 0 --quiet"),
        2,
        &["--workers"],
    );
    let ended = |words: &str, code: i32, why: &str| {
        let input = json!({"question": QUESTION, "db": "shop"}).to_string();
        let (answers, stderr) =
            batch(&mut place.words(&format!("batch --llm offline {words}")), input, code);
        assert!(answers.is_empty() && stderr.contains(why), "{words}: {stderr}");
    };
    ended("", 2, "no database");
    ended("--db shpo.sqlite", 11, "shop.sqlite");
    ended("--db shop.sqlite --interactive", 2, "standard input holds the questions");
    for database in ["shop.sqlite", "."] {
        ended(
            &format!("--db {database} --planner nobody"),
            13,
            "there is no built-in plugin `nobody`",
        );
        ended(&format!("--db {database} -P planner.nonsense=1"), 10, "nonsense");
        ended(&format!("--db {database} -o shop.sqlite"), 2, "database");
    }
    ended("--db shop.sqlite --notes none.jsonl", 10, "none.jsonl");
    // It holds for no line, but is found with the first one that has a database.
    ended("--db . --notes none.jsonl", 10, "none.jsonl");
    for nothing in ["", "\n\n \r\n"] {
        let (answers, stderr) = batch(&mut place.words("batch --db shop.sqlite"), nothing, 0);
        assert_eq!((answers.len(), stderr.as_str()), (0, "0 lines · 0 calls\n"));
    }
}

#[test]
fn journals_are_kept_where_the_user_says_and_nowhere_else() {
    let place = Place::new();
    let state = place.path().join("state");
    let input = format!("\"{QUESTION}\"\n").repeat(3);
    let run = |words: &str| {
        let mut command =
            place.words(&format!("batch --llm offline --db shop.sqlite --quiet {words}"));
        batch(command.env("SYRCH_STATE_DIR", &state), input.as_str(), 0).0
    };
    run("");
    assert!(!state.join("runs").exists());
    let answers = run("--traces traces");
    assert!(!state.join("runs").exists());
    assert_eq!(fs::read_dir(place.path().join("traces")).unwrap().count(), 3);
    let run = answers[0]["answer"]["run"].as_str().unwrap();
    let output = finish(&mut place.words(&format!("trace show traces/{run}.jsonl")), "");
    assert!(read_streams(&output).0.contains(QUESTION), "{output:?}");
}

#[test]
fn the_answers_go_to_a_file_whole() {
    let place = Place::new();
    let input = format!("\"{QUESTION}\"\n{{oops\n");
    let (answers_there, _) =
        batch(&mut place.words("batch --llm offline --db shop.sqlite -o out.jsonl"), input, 0);
    assert!(answers_there.is_empty());
    let written = answers(&fs::read_to_string(place.path().join("out.jsonl")).unwrap());
    assert_eq!(
        (&written[0]["outcome"], &written[1]["outcome"]),
        (&json!("answered"), &json!("failed"))
    );
}
