//! Tests of the ends of batches: by a dead endpoint, a used-up budget, Ctrl-C, a kill, a reader
//! that goes away; and of the memory that they take.

use std::io::{Read, Write};
use std::process::Command;

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Reply, Script};

use super::{QUESTION, Talk, batch};
use crate::bad_input::Place;

fn batch_command(place: &Place, endpoint: &MockEndpoint, words: &str) -> Command {
    let mut command = place.words(&format!(
        "batch --db shop.sqlite --strategy single --llm openai --model mock {words}"
    ));
    command.args(["--base-url", &endpoint.url()]);
    command
}

/// A question that others do not ask, so that nothing of it is cached. Only a model answers it: the
/// rules drop no number.
fn line(id: usize) -> String {
    json!({"id": id, "question": format!("How many customers are there? ({id})")}).to_string()
        + "\n"
}

/// Such a question that the rules answer.
fn line_for_rules(id: usize) -> String {
    json!({"id": id, "question": format!("How many customers have an id above {id}?")}).to_string()
        + "\n"
}

fn count() -> Reply {
    Reply::sql("SELECT count(*) FROM customers", 0.95)
}

fn outcomes(answers: &[Value]) -> Vec<(u64, &str, &str)> {
    answers
        .iter()
        .map(|answer| -> (u64, &str, &str) {
            let answer: &Value = answer;
            let class = answer["error"]["class"].as_str().unwrap_or_default();
            (answer["id"].as_u64().unwrap(), answer["outcome"].as_str().unwrap(), class)
        })
        .collect()
}

#[test]
fn a_dead_endpoint_fails_each_line_or_stops_the_batch() {
    let place = Place::new();
    let endpoint = MockEndpoint::start(
        Script::new().on(["(3)"], count()).on([""], Reply::status(401, "no such key")),
    );
    let input: String = (1..=8).map(line).collect();
    let (answers, stderr) =
        batch(&mut batch_command(&place, &endpoint, "--workers 1"), input.as_str(), 0);
    let mut expected: Vec<_> = (1..=8).map(|id| (id, "failed", "model")).collect();
    expected[2] = (3, "answered", "");
    assert_eq!(outcomes(&answers), expected);
    assert!(stderr.contains("8 lines: 1 answered, 7 failed"), "{stderr}");
    // The answer in between ends the row of failures.
    let (answers, stderr) =
        batch(&mut batch_command(&place, &endpoint, "--workers 1 --max-outages 3"), input, 12);
    assert_eq!(outcomes(&answers), expected[..6]);
    assert!(
        stderr.contains("the model's endpoint failed 3 times, one after the other"),
        "{stderr}"
    );
}

#[test]
fn nobody_listens_and_each_line_says_so() {
    let place = Place::new();
    let endpoint = MockEndpoint::start(Script::always(count()));
    let mut command = batch_command(&place, &endpoint, "");
    drop(endpoint);
    let (answers, _) = batch(&mut command, line(1) + &line(2), 0);
    assert_eq!(outcomes(&answers), [(1, "failed", "model"), (2, "failed", "model")]);
}

#[test]
fn lines_beyond_the_budget_are_not_asked() {
    let place = Place::new();
    let endpoint = MockEndpoint::start(Script::always(count()));
    let input: String = (1..=6).map(line).collect::<String>() + "{oops\n";
    let (answers, stderr) = batch(
        &mut batch_command(&place, &endpoint, "--workers 1 --total-calls 2"),
        input.as_str(),
        16,
    );
    let ends: Vec<&Value> = answers.iter().map(|answer| &answer["error"]["class"]).collect();
    assert_eq!(json!(ends), json!([null, null, "budget", "budget", "budget", "budget", "usage"]));
    assert_eq!(endpoint.count(), 2);
    assert!(
        stderr.contains("the model calls of the whole batch were used up (--total-calls)"),
        "{stderr}"
    );
    for budget in ["--total-tokens 1", "--total-time 0.000001"] {
        let (answers, _) = batch(
            &mut batch_command(&place, &endpoint, &format!("--workers 1 {budget}")),
            input.as_str(),
            16,
        );
        assert_eq!(answers.iter().rev().nth(1).unwrap()["error"]["class"], "budget", "{budget}");
    }
    let asked = endpoint.count();
    let prices = "llm: {prices: {mock: {input: 1000, output: 1000}}}";
    place.file("priced.yml", prices);
    let mut command =
        batch_command(&place, &endpoint, "--workers 1 --total-usd 0.000001 --config priced.yml");
    assert_eq!(
        outcomes(&batch(&mut command, line(1) + &line(2), 16).0),
        [(1, "failed", "budget"), (2, "failed", "budget")]
    );
    assert_eq!(endpoint.count(), asked, "a call that the money does not hold is not sent");
}

#[test]
fn a_search_that_the_time_cuts_off_says_what_it_cost() {
    let place = Place::new();
    let endpoint = MockEndpoint::start(Script::always(Reply::hang()));
    let mut command = batch_command(&place, &endpoint, "--workers 1 --total-time 3");
    let (answers, stderr) = batch(&mut command, line(1) + &line(2), 16);
    assert_eq!(outcomes(&answers), [(1, "failed", "budget"), (2, "failed", "budget")]);
    let message = answers[0]["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("cut off: "), "{message}");
    assert_eq!(answers[0]["cost"]["calls"], 1, "{answers:#?}");
    assert_eq!(answers[1]["cost"], Value::Null, "it was not asked");
    assert!(stderr.contains("2 failed · 1 call"), "{stderr}");
}

#[test]
fn searches_under_way_keep_to_the_budget_of_all() {
    let place = Place::new();
    let endpoint = MockEndpoint::start(Script::always(count()));
    let input: String = (1..=6).map(line).collect();
    for calls in [2, 7] {
        let before = endpoint.count();
        let mut command = place.words(&format!(
            "batch --db shop.sqlite --strategy vote5 --llm openai --model mock --no-cache \
             --workers 5 --total-calls {calls}"
        ));
        command.args(["--base-url", &endpoint.url()]);
        let (answers, stderr) = batch(&mut command, input.as_str(), 16);
        assert!(answers.iter().all(|answer| {
            answer["outcome"] == "answered" || answer["error"]["class"] == "budget"
        }));
        assert_eq!((answers.len(), endpoint.count() - before), (6, calls), "{stderr}");
    }
}

#[test]
fn what_is_expected_of_an_answer_reaches_no_prompt() {
    let place = Place::new();
    let endpoint = MockEndpoint::start(Script::always(count()));
    let gold = "SELECT 'canary' FROM customers";
    let suite = json!({
        "id": "a", "db": "shop", "question": QUESTION, "evidence": "Customers are people.",
        "as_of": "2024-12-31", "gold_sql": gold,
        "gold_alternatives": [gold], "expected_sql": gold, "expected_answer": "canary",
        "expected_data": "canary.csv", "SQL": gold,
        "query": gold, "difficulty": "canary"
    });
    let (answers, _) = batch(&mut batch_command(&place, &endpoint, ""), suite.to_string(), 0);
    assert!(!answers[0].to_string().contains("canary") && endpoint.count() > 0);
    for request in endpoint.requests() {
        let prompt = request.prompt();
        assert!(!request.body.to_string().contains("canary"), "{prompt}");
        assert!(
            prompt.contains("Customers are people.") && prompt.contains("Today is 2024-12-31."),
            "{prompt}"
        );
    }
}

/// Workers work side by side, and a slow question holds back what comes after it only where the
/// order is that of the questions.
#[test]
fn a_slow_question_holds_back_no_work() {
    let place = Place::new();
    let endpoint =
        MockEndpoint::start(Script::new().on(["(1)"], count().delay_ms(300)).on([""], count()));
    let input: String = (1..=3).map(line).collect();
    let (answers, _) =
        batch(&mut batch_command(&place, &endpoint, "--workers 2"), input.as_str(), 0);
    assert_eq!(outcomes(&answers), [(1, "answered", ""), (2, "answered", ""), (3, "answered", "")]);

    let endpoint = MockEndpoint::start(Script::new().on(["(1)"], Reply::hang()).on([""], count()));
    let mut talk = Talk::begin(&mut batch_command(&place, &endpoint, "--workers 2 --as-they-come"));
    input.lines().for_each(|line| talk.ask(line));
    assert_eq!((&talk.read_reply()["id"], &talk.read_reply()["id"]), (&json!(2), &json!(3)));
    talk.child.kill().unwrap();
    talk.child.wait().unwrap();
}

#[cfg(unix)]
#[test]
fn ctrl_c_writes_what_is_done_and_nothing_of_what_is_under_way() {
    let place = Place::new();
    let endpoint = MockEndpoint::start(
        Script::new().on(["(2)"], Reply::hang()).on(["(4)"], Reply::hang()).on([""], count()),
    );
    let mut talk = Talk::begin(&mut batch_command(&place, &endpoint, ""));
    talk.ask(line(1).trim());
    assert_eq!(talk.read_reply()["id"], 1);
    // The wrong line's answer waits for that to the second one, which never comes. The fourth tells
    // that it was read.
    for line in [line(2).as_str(), r#"{"id": 3}"#, &line(4)] {
        talk.ask(line.trim());
    }
    while endpoint.count() < 3 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    talk.signal("-INT");
    let rest = talk.read_reply();
    assert_eq!((&rest["id"], &rest["error"]["class"]), (&json!(3), &json!("usage")));
    let mut nothing = String::new();
    let mut said = String::new();
    talk.answers.read_to_string(&mut nothing).unwrap();
    talk.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((nothing.as_str(), talk.child.wait().unwrap().code()), ("", Some(130)));
    assert!(
        said.contains("interrupted: what was done is written") && !said.contains("panicked"),
        "{said}"
    );
}

#[cfg(unix)]
#[test]
fn a_kill_leaves_whole_lines() {
    let place = Place::new();
    let mut talk =
        Talk::begin(&mut place.words("batch --llm offline --min-confidence 0 --db shop.sqlite"));
    let mut stdin = talk.child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        // It is killed meanwhile.
        (1..=2_000).take_while(|id| stdin.write_all(line_for_rules(*id).as_bytes()).is_ok()).count()
    });
    for id in 1..=20 {
        assert_eq!(talk.read_reply()["id"], id);
    }
    talk.signal("-KILL");
    let mut rest = String::new();
    talk.answers.read_to_string(&mut rest).unwrap();
    let whole = rest.rsplit_once('\n').map_or("", |(whole, _)| whole);
    for (at, answer) in super::answers(whole).iter().enumerate() {
        assert_eq!(
            (answer["id"].as_u64(), &answer["outcome"]),
            (Some(at as u64 + 21), &json!("answered"))
        );
    }
    assert!(!talk.child.wait().unwrap().success());
    writer.join().unwrap();
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let place = Place::new();
    let mut talk =
        Talk::begin(&mut place.words("batch --llm offline --min-confidence 0 --db shop.sqlite"));
    let mut stdin = talk.child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        (1..).find(|id| stdin.write_all(line_for_rules(*id).as_bytes()).is_err())
    });
    assert_eq!(talk.read_reply()["id"], 1);
    let Talk { mut child, answers } = talk;
    drop(answers);
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""));
    // Nobody read all that it had to say.
    assert!(writer.join().unwrap().is_some());
}

/// Returns the greatest amount of memory that the program has used so far, in MiB.
#[cfg(target_os = "linux")]
fn peak(talk: &Talk) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", talk.child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap() / 1024
}

#[cfg(target_os = "linux")]
#[test]
fn memory_is_flat_over_many_questions() {
    let many = syrch_kit::scale(400, 10_000);
    let place = Place::new();
    let mut talk =
        Talk::begin(&mut place.words("batch --llm offline --min-confidence 0 --db shop.sqlite"));
    let mut stdin = talk.child.stdin.take().unwrap();
    // Standard input stays open, so that the program is there to be looked at.
    let writer = std::thread::spawn(move || {
        (1..=many).for_each(|id| stdin.write_all(line_for_rules(id).as_bytes()).unwrap());
        stdin
    });
    let began = std::time::Instant::now();
    let mut early = 0;
    for id in 1..=many {
        let answer = talk.read_reply();
        assert_eq!((&answer["id"], &answer["outcome"]), (&json!(id), &json!("answered")));
        if id == many / 5 {
            early = peak(&talk);
        }
    }
    let late = peak(&talk);
    println!(
        "{many} questions in {:.1} s: {early} MiB after a fifth, {late} MiB at the end",
        began.elapsed().as_secs_f64()
    );
    assert!(
        late <= 300 && late <= early + early / 4,
        "{early} MiB after a fifth, {late} MiB at the end"
    );
    drop(writer.join().unwrap());
    assert_eq!(talk.child.wait().unwrap().code(), Some(0));
}
