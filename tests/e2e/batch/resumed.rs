//! A batch that is ended, at any moment, continues where it was.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::cluster::{example, one};
use super::{Talk, answers, batch, steady};
use crate::bad_input::{Place, finish, read_streams};

fn resume(place: &Place) -> Command {
    place.words("batch --llm offline --db shop.sqlite --quiet --resume all.jsonl")
}

fn assert_error(command: &mut Command, input: &str, words: &str) {
    let output = finish(command, input);
    let (stdout, stderr) = read_streams(&output);
    assert_eq!((output.status.code(), stdout.as_str()), (Some(2), ""), "{stderr}");
    assert!(stderr.contains(words), "{stderr}");
}

#[test]
fn a_killed_batch_continues_and_asks_nothing_twice() {
    let place = example();
    let whole = one(&place);
    let questions = fs::read_to_string(place.path().join("questions.jsonl")).unwrap();
    let path = place.path().join("all.jsonl");
    let mut written = String::new();
    for kill in 1..=3 {
        let mut talk = Talk::begin(&mut resume(&place));
        questions.lines().take(12 * kill).for_each(|line| talk.ask(line));
        let begun = Instant::now();
        while fs::read_to_string(&path).unwrap_or_default().lines().count() < 12 * kill - 4 {
            assert!(begun.elapsed() < Duration::from_secs(60), "it writes no answers");
            std::thread::sleep(Duration::from_millis(10));
        }
        talk.child.kill().unwrap();
        talk.child.wait().unwrap();
        let now = fs::read_to_string(&path).unwrap();
        assert!(now.starts_with(&written), "an answer was made anew");
        // As if it had been killed while it wrote the last one.
        let cut = now.trim_end().len() - 7;
        File::options().write(true).open(&path).unwrap().set_len(cut as u64).unwrap();
        written = now[..=now[..cut].rfind('\n').unwrap()].to_owned();
    }
    let (shown, _) = batch(&mut resume(&place), questions.clone(), 0);
    assert!(shown.is_empty(), "the answers are in the file alone");
    let all = fs::read_to_string(&path).unwrap();
    assert!(all.starts_with(&written));
    let all = answers(&all);
    assert_eq!(all.len(), 48);
    for (resumed, straight) in all.iter().zip(&whole) {
        assert_eq!(steady(resumed), steady(straight));
    }
    // Nothing is left to do, and nothing is done.
    let before = fs::read(&path).unwrap();
    batch(&mut resume(&place), questions, 0);
    assert!(fs::read(&path).unwrap() == before);
}

#[test]
fn a_file_of_something_else_is_left_alone() {
    let place = Place::new();
    let line = "{\"id\": 1, \"question\": \"How many customers are there?\"}\n";
    let path = place.path().join("all.jsonl");
    for content in ["notes", "notes\n", "{\"a\": 1}", "{\"a\": 1}\n", "[1,\n2]", "{\"id\": 1"] {
        fs::write(&path, content).unwrap();
        if content == "{\"id\": 1" {
            // The beginning of an answer.
            batch(&mut resume(&place), line, 0);
            assert!(fs::read_to_string(&path).unwrap().starts_with("{\"id\":1,"), "{content}");
            continue;
        }
        assert_error(&mut resume(&place), line, "is no answer");
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
    }
    let answered = fs::read(&path).unwrap();
    let other = line.replace("\"id\": 1", "\"id\": 2");
    for input in [other.as_str(), ""] {
        assert_error(&mut resume(&place), input, "of another question");
        assert!(fs::read(&path).unwrap() == answered);
    }
    let mut twice = OpenOptions::new().append(true).open(&path).unwrap();
    twice.write_all(&answered).unwrap();
    assert_error(&mut resume(&place), line, "two answers to line 1");
    let mut command = resume(&place);
    assert_error(command.args(["-o", "other.jsonl"]), line, "-o does not go with --resume");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_error(&mut resume(&place), line, "all.jsonl");
}

#[test]
fn one_process_writes_to_a_file_and_budgets_are_those_of_all() {
    let place = example();
    let questions = fs::read_to_string(place.path().join("questions.jsonl")).unwrap();
    let first: String = questions.lines().take(2).map(|line| format!("{line}\n")).collect();
    let mut talk = Talk::begin(&mut resume(&place));
    talk.ask(questions.lines().next().unwrap());
    let path = place.path().join("all.jsonl");
    let begun = Instant::now();
    while fs::read_to_string(&path).unwrap_or_default().is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it writes no answers");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_error(&mut resume(&place), &first, "another process writes to it");
    talk.child.kill().unwrap();
    talk.child.wait().unwrap();
    let spent = &answers(&fs::read_to_string(&path).unwrap())[0]["answer"]["cost"];
    let calls = spent["calls"].as_u64().unwrap();
    assert!(calls > 0, "{spent}");
    let mut command = resume(&place);
    batch(command.args(["--total-calls", &calls.to_string()]), first.clone(), 16);
    assert_eq!(answers(&fs::read_to_string(&path).unwrap()).len(), 1);
    // A budget that holds it lets it be asked.
    let mut command = resume(&place);
    batch(command.args(["--total-calls", "1000"]), first, 0);
    let all = answers(&fs::read_to_string(&path).unwrap());
    assert_eq!((all.len(), all[1]["line"].as_u64(), &all[1]["error"]), (2, Some(2), &Value::Null));
}

#[test]
fn a_search_that_a_budget_ended_is_paid_for_and_asked_again() {
    let place = example();
    let questions = fs::read_to_string(place.path().join("questions.jsonl")).unwrap();
    let path = place.path().join("all.jsonl");
    batch(&mut resume(&place), questions.lines().next().unwrap(), 0);
    let mut ended = answers(&fs::read_to_string(&path).unwrap()).remove(0);
    let cost = ended["answer"]["cost"].take();
    let calls = cost["calls"].as_u64().unwrap();
    assert!(calls > 0, "{cost}");
    ended["outcome"] = "failed".into();
    ended["answer"] = Value::Null;
    ended["error"] = json!({"class": "budget", "message": "model calls"});
    ended["cost"] = cost;
    ended["is_open"] = true.into();
    let ended = format!("{ended}\n");
    fs::write(&path, &ended).unwrap();
    let line = questions.lines().next().unwrap();
    let mut command = resume(&place);
    batch(command.args(["--total-calls", &calls.to_string()]), line, 16);
    assert_eq!(fs::read_to_string(&path).unwrap(), ended);
    batch(&mut resume(&place), line, 0);
    let all = fs::read_to_string(&path).unwrap();
    assert!(all.starts_with(&ended));
    let all = answers(&all);
    assert_eq!((all.len(), all[1]["outcome"].as_str()), (2, Some("answered")));
    // It is done.
    batch(&mut resume(&place), line, 0);
    assert_eq!(answers(&fs::read_to_string(&path).unwrap()).len(), 2);
    let mut merge = place.words("batch --merge all.jsonl");
    let (merged, _) = batch(&mut merge, line, 0);
    assert_eq!(merged, all[1..]);
}

#[test]
fn another_question_without_an_id_and_a_conversation_end_it() {
    let place = Place::new();
    let path = place.path().join("all.jsonl");
    batch(&mut resume(&place), "{\"question\": \"How many customers are there?\"}\n", 0);
    let answered = fs::read(&path).unwrap();
    let other = "{\"question\": \"How many orders are there?\"}\n";
    assert_error(&mut resume(&place), other, "than `How many orders are there?`");
    let talk = "{\"question\": \"How many customers are there?\"}\n\
        {\"question\": \"And orders?\", \"conversation\": \"a\"}\n";
    assert_error(&mut resume(&place), talk, "line 2 is of a conversation");
    assert!(fs::read(&path).unwrap() == answered);
}

#[test]
fn a_database_of_the_folder_is_not_continued() {
    let place = Place::new();
    let path = place.path().join("dbs/e.sqlite");
    fs::create_dir(place.path().join("dbs")).unwrap();
    fs::write(&path, "").unwrap();
    let mut command = place.words("batch --llm offline --db dbs --quiet --resume dbs/e.sqlite");
    let line = "{\"question\": \"How many customers are there?\", \"db\": \"e\"}\n";
    assert_error(&mut command, line, "is a database of the folder");
    assert!(fs::read(&path).unwrap().is_empty());
}
