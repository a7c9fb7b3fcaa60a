//! Recorded answers in a model's place, through the binary: `--llm replay:FILE` with the questions
//! beside the file.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::bad_input::Place;
use crate::endpoint::Said;

const QUESTION: &str = "How many customers are there?";

/// Two systems' answers to one question over the shop, and another question that nobody answered.
fn suite(place: &Place) {
    let question = |id: &str, words: &str| {
        json!({
            "id": id, "db": "shop", "question": words, "gold_sql": "SELECT 'gold'"
        })
    };
    place.file(
        "questions.jsonl",
        format!("{}\n{}\n", question("q1", QUESTION), question("q2", "Who is missing?")),
    );
    let one = "SELECT COUNT(*) AS one FROM customers";
    let two = "SELECT COUNT(*) AS two FROM customers";
    let answers =
        json!({"id": "q1", "candidates": {"a": {"sql": one, "ex": 0}, "b": {"sql": two, "ex": 1}}});
    place.file("recorded.jsonl", format!("{answers}\n"));
}

fn search(place: &Place, words: &str, question: &str) -> Said {
    let mut command = place.words("--db shop.sqlite --llm replay:recorded.jsonl");
    command
        .env("SYRCH_STATE_DIR", state(place))
        .args(words.split_whitespace())
        .args(["-q", question]);
    run_command(&mut command)
}

fn run_command(command: &mut Command) -> Said {
    Said::from_output(command.output().unwrap())
}

fn state(place: &Place) -> std::path::PathBuf {
    place.path().join("state")
}

#[test]
fn an_answer_is_a_systems_and_the_seed_says_whose() {
    let place = Place::new();
    suite(&place);
    let mut found = Vec::new();
    for seed in 0..8 {
        let said = search(&place, &format!("--seed {seed} --format csv"), QUESTION);
        assert_eq!(said.code, 0, "{}", said.all());
        assert_eq!(
            said.stdout,
            search(&place, &format!("--seed {seed} --format csv"), QUESTION).stdout
        );
        found.push(said.stdout);
    }
    found.sort();
    found.dedup();
    assert_eq!(found, ["one\n4\n", "two\n4\n"]);
    let document = search(&place, "--format json", QUESTION).document(0);
    assert_eq!(
        (&document["cost"]["usd"], &document["cost"]["input_tokens"]),
        (&json!(0.0), &json!(0))
    );
    let dry = search(&place, "--dry-run", QUESTION);
    assert_eq!((dry.code, dry.stdout.as_str()), (0, "nothing would be sent\n"), "{}", dry.all());
}

#[test]
fn a_run_is_shown_and_repeated_without_the_files() {
    let place = Place::new();
    suite(&place);
    let live = search(&place, "--format json --seed 3", QUESTION);
    assert_eq!(live.code, 0, "{}", live.all());
    for gone in ["recorded.jsonl", "questions.jsonl", "shop.sqlite"] {
        std::fs::remove_file(place.path().join(gone)).unwrap();
    }
    let trace = |words: &str| run_command(place.words(words).env("SYRCH_STATE_DIR", state(&place)));
    let again = trace("trace replay last --strict --format json");
    assert_eq!((again.code, &again.stdout), (0, &live.stdout), "{}", again.all());
    let shown = trace("trace show last");
    assert!(shown.code == 0 && shown.stdout.contains("recorded"), "{}", shown.all());
}

#[test]
fn what_nobody_answered_is_a_miss_with_a_hint() {
    let place = Place::new();
    suite(&place);
    for question in ["Who is missing?", "How many customers are here?"] {
        let said = search(&place, "", question);
        assert_eq!(said.code, 17, "{}", said.all());
        assert!(
            said.stderr.contains("the recorded answers have none to this question over `shop`"),
            "{}",
            said.all()
        );
        assert!(said.stderr.contains("hint: "), "{}", said.all());
    }
    let said = search(&place, "", "How many customers are here?");
    assert!(
        said.stderr.contains("the nearest is `q1` over `shop`: How many customers are there?"),
        "{}",
        said.all()
    );
}

#[test]
fn doctor_and_config_tell_of_it_and_what_is_wrong_with_it() {
    let place = Place::new();
    suite(&place);
    let well = run_command(&mut place.words("doctor --db shop.sqlite --llm replay:recorded.jsonl"));
    let expected =
        "ok    endpoint     no endpoint is needed: `recorded.jsonl` answers for `recorded`";
    assert!(well.code == 0 && well.stdout.contains(expected), "{}", well.all());
    let config = run_command(&mut place.words("config --llm replay:recorded.jsonl"));
    assert!(
        config.code == 0 && config.stdout.contains("replay:recorded.jsonl"),
        "{}",
        config.all()
    );
    fn break_it(path: &Path) {
        let text = std::fs::read_to_string(path).unwrap();
        std::fs::write(path, format!("{text}{{\"id\": \"q2\"}}\n")).unwrap();
    }
    break_it(&place.path().join("recorded.jsonl"));
    let broken =
        run_command(&mut place.words("doctor --db shop.sqlite --llm replay:recorded.jsonl"));
    assert!(broken.code == 10 && broken.stdout.contains("fail  endpoint"), "{}", broken.all());
    assert!(broken.stdout.contains("line 2: missing field `candidates`"), "{}", broken.all());
    let refused = search(&place, "", QUESTION);
    assert!(
        refused.code == 10 && refused.stderr.contains("line 2: missing field"),
        "{}",
        refused.all()
    );
    std::fs::remove_file(place.path().join("questions.jsonl")).unwrap();
    let alone = search(&place, "", QUESTION);
    assert!(
        alone.code == 10 && alone.stderr.contains("no file `questions.jsonl` beside them"),
        "{}",
        alone.all()
    );
}
