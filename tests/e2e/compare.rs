//! `compare` through the binary: arms over small suites against an endpoint of our own, over
//! recorded answers, and by rules alone.

mod arms;
mod failures;
mod figures;
mod goes_on;
mod shown;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use syrch_grade::report::CompareReport;
use syrch_kit::{MockEndpoint, Reply, Script};

use crate::bad_input::{Place, assert_refused};
use crate::endpoint::Said;
pub(crate) use shown::{assert_help, assert_snapshot, without_times};

/// Questions of the suite; of four of them, the fourth is easy.
const QUESTIONS: usize = 24;
/// `retry3` without a second try. Its first prompt is that of `retry3`.
const ONCE: &str = "retry3:policy.max_attempts=1";

/// A suite of questions that differ by a number.
fn suite(place: &Place) {
    place.file("suite.jsonl", (0..QUESTIONS).map(suite_line).collect::<String>());
}

fn suite_line(n: usize) -> String {
    let line = json!({
        "id": format!("q{n}"),
        "db": "shop",
        "question": format!("How many customers are there, plus {n}?"),
        "gold_sql": format!("SELECT count(*) + {n} FROM customers"),
        "level": if n % 4 == 3 { "easy" } else { "hard" },
    });
    format!("{line}\n")
}

/// Writes what does not run first, but for easy questions, and repairs it when it is shown.
fn endpoint(delay_ms: u64) -> MockEndpoint {
    fn number(prompt: &str) -> Option<usize> {
        let (_, rest) = prompt.split_once("are there, plus ")?;
        rest.split_once('?')?.0.parse().ok()
    }
    MockEndpoint::start(Script::new().with(move |request, _| {
        let prompt = request.prompt();
        let n = number(&prompt)?;
        let is_right = n % 4 == 3 || prompt.contains("nothing_of_the_kind");
        let sql = match is_right {
            true => format!("SELECT count(*) + {n} FROM customers"),
            false => format!("SELECT nothing_of_the_kind_{n} FROM customers"),
        };
        Some(Reply::sql(&sql, 0.9).delay_ms(delay_ms))
    }))
}

fn compare(place: &Place, endpoint: &MockEndpoint, words: &str) -> Command {
    let mut command = place.words("compare");
    command.env("SYRCH_STATE_DIR", state(place));
    command.args(words.split_whitespace()).args([
        "--llm",
        "openai",
        "--model",
        "mock",
        "--base-url",
        &endpoint.url(),
    ]);
    command
}

fn offline(place: &Place, words: &str) -> Command {
    let mut command = place.words("compare");
    command
        .env("SYRCH_STATE_DIR", state(place))
        .args(words.split_whitespace())
        .args(["--llm", "offline"]);
    command
}

fn run_command(command: &mut Command) -> Said {
    Said::from_output(command.output().unwrap())
}

fn state(place: &Place) -> PathBuf {
    place.path().join("state")
}

/// The document without what differs between equal runs, one of which was killed: its calls under
/// way were made again.
fn timeless(document: Value) -> Value {
    let mut report: CompareReport = serde_json::from_value(document).unwrap();
    report.without_times();
    serde_json::to_value(report).unwrap()
}

/// Returns the paths at which two documents differ.
fn differing(one: &Value, other: &Value, at: &str) -> Vec<String> {
    match (one, other) {
        (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => a
            .iter()
            .flat_map(|(key, value)| differing(value, &b[key], &format!("{at}/{key}")))
            .collect(),
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => a
            .iter()
            .zip(b)
            .enumerate()
            .flat_map(|(n, (a, b))| differing(a, b, &format!("{at}/{n}")))
            .collect(),
        _ if one == other => Vec::new(),
        _ => vec![format!("{at}: {one} | {other}")],
    }
}

fn arm<'a>(document: &'a Value, name: &str) -> &'a Value {
    document["arms"].as_array().unwrap().iter().find(|arm| arm["name"] == name).unwrap()
}

#[test]
fn a_difference_is_found_shown_and_gated() {
    let place = Place::new();
    suite(&place);
    let endpoint = endpoint(0);
    let words = format!("{ONCE} retry3 suite.jsonl --cache");
    let flags = "--report r.json --report r.md --report r.csv --report r.html --report r.parquet \
                 --slice level";
    let mut first = compare(&place, &endpoint, &format!("{words} {flags} --format json"));
    first.env("SYRCH_CACHE_DIR", place.path().join("cache"));
    let first = run_command(&mut first);
    let document = first.document(0);
    assert!(
        first.stderr.contains(
            "with 24 questions, of which perhaps 12 % will differ, a difference would probably be \
             missed"
        ),
        "{}",
        first.all()
    );
    // Of 24 questions 6 are easy. The first call of both arms is the same, and is made once; where
    // it fails, one arm repairs. No model words a question that nobody can answer.
    assert_eq!(
        (&arm(&document, ONCE)["right"], &arm(&document, "retry3")["right"]),
        (&json!(6), &json!(24))
    );
    assert_eq!((endpoint.count(), endpoint.repeats()[0]), (24 + 18, 1));
    let pair = &document["pairs"][0];
    assert_eq!(
        (&pair["b"], &pair["c"], &pair["decision"]),
        (&json!(0), &json!(18), &json!("better"))
    );
    assert_eq!(
        (&pair["difference"], pair["flipped"].as_array().unwrap().len()),
        (&json!(0.75), 18)
    );
    // 2 × 0.5^18.
    assert!((pair["mcnemar"].as_f64().unwrap() - 7.629_394_531_25e-6).abs() < 1e-15, "{pair}");
    for key in [
        "difference",
        "interval",
        "mcnemar",
        "minimum_detectable",
        "e_process",
        "flipped",
        "verdict",
    ] {
        assert!(pair.get(key).is_some(), "{key}");
    }
    let read = |name: &str| fs::read(place.path().join(name)).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&read("r.json")).unwrap(), document);
    assert_eq!(String::from_utf8(read("r.csv")).unwrap().lines().count(), 1 + 2 * QUESTIONS);
    assert!(
        String::from_utf8(read("r.md")).unwrap().contains("retry3")
            && read("r.parquet").starts_with(b"PAR1")
    );
    assert!(
        String::from_utf8(read("r.html")).unwrap().to_lowercase().starts_with("<!doctype html>")
    );
    // What is done is not asked again: the same run is printed for people, and held against gates.
    let again = |flags: &str| {
        run_command(&mut compare(&place, &endpoint, &format!("{words} --resume last {flags}")))
    };
    let shown = again("--slice level");
    assert_eq!((shown.code, endpoint.count()), (0, 42), "{}", shown.all());
    check_text(&shown.stdout, &document);
    assert!(
        shown.stdout.contains("│ level ┆ easy  ┆") && !shown.stdout.contains("│ db "),
        "{}",
        shown.stdout
    );
    // `report` shows the same of the same run.
    let report = |words: &str| {
        let mut command = place.words(&format!("report last {words}"));
        run_command(command.env("SYRCH_STATE_DIR", state(&place)))
    };
    assert_eq!(report("--slice level").stdout, shown.stdout);
    assert_eq!(report("").stdout, shown.stdout.replace(&slices(&shown.stdout), ""));
    assert_eq!(report("--format json").document(0), document);
    let unknown = report("--slice leevl");
    assert!(
        unknown.code == 2 && unknown.stderr.contains("the fields are db, level"),
        "{}",
        unknown.all()
    );
    for (gates, code, reported) in [
        ("--fail-on regression --fail-on not-better --fail-on below:70", 0, ""),
        ("--fail-on difference", 5, "the gate failed: --fail-on difference"),
        ("--fail-on below:76 --fail-on regression", 5, "the gate failed: --fail-on below:76\n"),
    ] {
        let gated = again(gates);
        assert_eq!(gated.code, code, "{gates}: {}", gated.all());
        assert!(
            gated.stderr.contains(reported)
                && gated.stdout == shown.stdout.replace(&slices(&shown.stdout), ""),
            "{}",
            gated.all()
        );
    }
    let turned = run_command(&mut compare(
        &place,
        &endpoint,
        &format!("retry3 {ONCE} suite.jsonl --fail-on regression --quiet"),
    ));
    assert_eq!(turned.code, 5, "{}", turned.all());
    assert!(
        turned
            .stderr
            .contains(&format!("`{ONCE}` answers 75.0 points fewer questions right than `retry3`")),
        "{}",
        turned.all()
    );
}

/// The table of slices with the line before it.
fn slices(text: &str) -> String {
    let (_, rest) = text.split_once("\nSlices: ").unwrap();
    let (table, _) = rest.split_once("\n\n").unwrap();
    format!("\nSlices: {table}\n")
}

/// Checks that the numbers that people read are those of the document.
fn check_text(text: &str, document: &Value) {
    let pair = &document["pairs"][0];
    assert_eq!(text.lines().next(), pair["verdict"].as_str(), "{text}");
    fn cells(line: &str) -> Vec<String> {
        line.trim_matches('│').split('┆').map(|cell| cell.trim().to_owned()).collect()
    }
    let row = |title: &str, name: &str| -> Vec<String> {
        let (_, table) = text.split_once(title).unwrap_or_else(|| panic!("no {title}: {text}"));
        cells(table.lines().find(|line| line.starts_with(&format!("│ {name} "))).unwrap())
    };
    for arm in document["arms"].as_array().unwrap() {
        let name = arm["name"].as_str().unwrap();
        let row = row("Arms ", name);
        assert_eq!(
            (row[2].as_str(), row[3].as_str()),
            (&*arm["right"].to_string(), &*arm["of"].to_string())
        );
        assert_eq!(row[4], format!("{:.1} %", arm["share"].as_f64().unwrap() * 100.0));
        assert_eq!(row[6], format!("{:.2}", arm["costs"]["calls_mean"].as_f64().unwrap()));
    }
    let shown = row("Pairs ", pair["first"].as_str().unwrap());
    let number = |key: &str| pair[key].to_string();
    assert_eq!(shown[2..5], [number("questions"), number("b"), number("c")]);
    assert_eq!(shown[5], format!("{:+.1}", pair["difference"].as_f64().unwrap() * 100.0));
    for one in pair["flipped"].as_array().unwrap().iter().take(10) {
        let id = one["id"].as_str().unwrap();
        let right = one["right"].as_str().unwrap();
        assert!(
            text.contains(&format!("  {id} ("))
                && text.contains(&format!("right: {}", pair[right].as_str().unwrap()))
        );
        let sql =
            one["second_sql"].as_str().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&sql), "{sql}: {text}");
    }
}

#[test]
fn a_run_that_stops_early_stops_at_the_same_question_when_it_was_killed() {
    let place = Place::new();
    suite(&place);
    let endpoint = endpoint(30);
    let words = format!("{ONCE} retry3 suite.jsonl --stop-early --format json --workers 3");
    let words = words.as_str();
    let whole = run_command(&mut compare(&place, &endpoint, words));
    let whole_document = whole.document(0);
    let e_process = &whole_document["pairs"][0]["e_process"];
    // E is 256 / 9 after eight questions that only one has right, and 128 / 8 after seven; the
    // fourth and the eighth are easy.
    assert_eq!((&e_process["stopped_at"], &e_process["decides"]), (&json!(10), &json!(true)));
    assert!((e_process["value"].as_f64().unwrap() - 256.0 / 9.0).abs() < 1e-9, "{e_process}");
    assert_eq!(whole_document["suite"]["asked"], json!(10));
    let why = whole_document["partial"]["why"].as_str().unwrap();
    assert!(why.contains("stopped early"), "{why}");
    let verdict = whole_document["pairs"][0]["verdict"].as_str().unwrap();
    assert!(
        verdict.contains(
            "(at least 20 after 10 questions); the interval is that of a fixed number of questions"
        ) && verdict.contains("without stopping early it would be p = 0.008"),
        "{verdict}"
    );
    let mut child = compare(&place, &endpoint, words)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    // Of the two runs the second is the one that grows.
    while lines(&place).iter().all(|lines| !(3..12).contains(lines)) {
        assert!(
            started.elapsed() < Duration::from_secs(60) && child.try_wait().unwrap().is_none(),
            "nothing to kill"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let resumed = run_command(&mut compare(&place, &endpoint, &format!("{words} --resume last")));
    let resumed_document = resumed.document(0);
    assert!(resumed.stderr.contains(" are done already"), "{}", resumed.all());
    assert_eq!(
        differing(&timeless(whole_document), &timeless(resumed_document), ""),
        Vec::<String>::new()
    );
    let three = "single retry3 vote5 suite.jsonl --stop-early";
    assert_refused(
        &mut compare(&place, &endpoint, three),
        2,
        &["--stop-early is for two arms, and 3 are named"],
    );
}

/// The lines of the results of all runs.
fn lines(place: &Place) -> Vec<usize> {
    let Ok(runs) = fs::read_dir(state(place).join("suites")) else { return Vec::new() };
    let results = runs.map(|run| {
        fs::read_to_string(run.unwrap().path().join("results.jsonl")).unwrap_or_default()
    });
    results.map(|text| text.lines().count()).collect()
}

#[test]
fn arms_that_do_not_share_samples_are_reported() {
    let place = Place::new();
    suite(&place);
    let endpoint = endpoint(0);
    let without = run_command(&mut compare(
        &place,
        &endpoint,
        &format!("{ONCE} retry3 suite.jsonl --format json"),
    ));
    let warnings = without.document(0)["warnings"].to_string();
    assert!(warnings.contains("the arms did not share samples: there is no cache"), "{warnings}");
    assert_eq!(endpoint.count(), 24 + 24 + 18);
}
