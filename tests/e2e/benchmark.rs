//! Graded runs through the binary: `benchmark` over suites, `report` on what is stored of them.

mod answers;
mod changes;
mod ci;
mod columns;
mod ends;
mod failures;
mod faults;
mod judges;
#[cfg(unix)]
mod kills;
#[cfg(unix)]
mod middle;
mod overwritten;
mod recorded;
mod reports;

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Recorded, Reply, Script};

use crate::bad_input::Place;
use crate::endpoint::{KEY, PLAN, Said, whole};

/// A folder with a shop and a suite over it, and a state of its own.
pub(crate) struct Bench {
    pub(crate) place: Place,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self { place: Place::new() }
    }

    /// With a suite of so many questions.
    pub(crate) fn with_questions(questions: usize) -> Self {
        let bench = Self::new();
        bench.place.file("suite.jsonl", suite(questions));
        bench
    }

    /// The program with these words, split at spaces.
    pub(crate) fn command(&self, words: &str) -> Command {
        let mut command = self.place.words(words);
        command.env("SYRCH_STATE_DIR", self.state());
        command
    }

    pub(crate) fn say(&self, words: &str) -> Said {
        Said::from_output(self.command(words).output().unwrap())
    }

    /// A benchmark without a model.
    pub(crate) fn offline(&self, words: &str) -> Said {
        self.say(&format!("benchmark suite.jsonl --llm offline {words}"))
    }

    /// A benchmark that asks this endpoint.
    pub(crate) fn asks(&self, endpoint: &MockEndpoint, words: &str) -> Command {
        let model = if words.contains("--model ") { "" } else { "--model mock" };
        let mut command =
            self.command(&format!("benchmark suite.jsonl --llm openai {model} --base-url"));
        command.arg(endpoint.url()).env("SYRCH_API_KEY", KEY).args(words.split_whitespace());
        command
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.place.path().join("state")
    }

    /// The report on a run (or several), of which equal runs have equal ones.
    pub(crate) fn report(&self, runs: &str) -> String {
        let said = self.say(&format!("report {runs} --without-times --format json"));
        assert_eq!(said.code, 0, "{}", said.all());
        said.stdout
    }

    /// The ids of the runs, the latest first.
    pub(crate) fn runs(&self) -> Vec<String> {
        let list = self.say("report --list --format json").document(0);
        list["runs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|run| run["run"].as_str().unwrap().to_owned())
            .collect()
    }
}

/// The questions of a suite, a line each: every fifth is answered wrongly by [`script`].
pub(crate) fn suite(questions: usize) -> String {
    let line = |at: usize| {
        let id = format!("q{at:04}");
        let least = at % 5;
        let question = format!("How many orders ({id}) have a quantity of at least {least}?");
        let gold = format!("SELECT COUNT(*) FROM orders WHERE quantity >= {least}");
        let difficulty = if at.is_multiple_of(3) { "hard" } else { "easy" };
        json!({
            "id": id, "db": "shop", "question": question, "gold_sql": gold, "difficulty": difficulty
        })
    };
    (0..questions).map(|at| format!("{}\n", line(at))).collect()
}

/// The question that a request is about.
pub(crate) fn question_number(request: &Recorded) -> Option<usize> {
    let prompt = request.prompt();
    let (_, rest) = prompt.split_once("(q")?;
    rest.get(..4)?.parse().ok()
}

/// Returns the reply of a model to the questions of [`suite`].
pub(crate) fn answer(request: &Recorded) -> Option<Reply> {
    let at = question_number(request)?;
    if request.prompt().contains(PLAN) {
        return Some(whole());
    }
    let least = if at % 5 == 4 { 0 } else { at % 5 };
    Some(Reply::sql(&format!("SELECT COUNT(*) AS n FROM orders WHERE quantity >= {least}"), 0.95))
}

pub(crate) fn script() -> Script {
    Script::new().with(|request, _| answer(request))
}

/// Equal, byte for byte; else the first lines that differ are named.
pub(crate) fn assert_same(report: &str, expected: &str) {
    let lines: Vec<_> = report
        .lines()
        .zip(expected.lines())
        .filter(|(one, other): &(&str, &str)| one != other)
        .take(10)
        .collect();
    assert!(report == expected, "the report is another: {lines:#?}");
}

/// Right answers, and those that count, of the report that a benchmark printed as JSON.
pub(crate) fn figures(document: &Value) -> (u64, u64) {
    (document["right"].as_u64().unwrap(), document["of"].as_u64().unwrap())
}

#[test]
fn a_suite_is_asked_and_graded() {
    let bench = Bench::with_questions(10);
    let endpoint = MockEndpoint::start(script());
    let said = Said::from_output(bench.asks(&endpoint, "--format json").output().unwrap());
    let document = said.document(0);
    assert_eq!((&document["schema"], figures(&document)), (&json!("syrch.benchmark/1"), (8, 10)));
    assert_eq!(document["partial"], Value::Null);
    assert!(
        said.stderr.contains("if it is cut short, the same command with `--resume "),
        "{}",
        said.all()
    );
    assert!(
        said.stderr.contains("journals are retained; `syrch-host trace show "),
        "{}",
        said.all()
    );
    // The journal of a wrong answer can be looked at.
    let row = document["results"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["verdict"] == "wrong")
        .unwrap();
    let run = bench.state().join("suites").join(&bench.runs()[0]);
    let journal = run.join(row["run"].as_str().unwrap());
    let shown = bench.say(&format!("trace show {}", journal.display()));
    assert!(shown.code == 0 && shown.stdout.contains("quantity"), "{}", shown.all());
    let files = |folder: &str| std::fs::read_dir(run.join(folder)).unwrap().count();
    assert_eq!((files("items"), files("traces")), (0, 2));
    // For people: what is right under more than one rule, what it cost, and where it is hard.
    let said = Said::from_output(bench.asks(&endpoint, "").output().unwrap());
    assert_eq!(said.code, 0, "{}", said.all());
    for words in [
        "on suite.jsonl: 8 of 10 right under bag-v1: 80.0 %, 95 % interval",
        "spider-ex",
        "model calls",
        "By difficulty",
    ] {
        assert!(said.stdout.contains(words), "no `{words}`: {}", said.all());
    }
}

#[test]
fn the_suite_is_given_as_in_syrch_0_1_2_too() {
    let bench = Bench::with_questions(2);
    let said = bench.say("benchmark --file suite.jsonl --llm offline --format json");
    assert_eq!(said.document(0)["suite"]["path"], "suite.jsonl");
    let both = bench.say("benchmark suite.jsonl --file suite.jsonl --llm offline");
    assert_eq!(both.code, 2, "{}", both.all());
}

#[test]
fn a_database_that_is_configured_for_searches_is_not_that_of_a_suite() {
    let bench = Bench::new();
    let question = json!({
        "id": "q", "db": "shop", "question": "Which orders are there?",
        "gold_sql": "SELECT id FROM orders"
    });
    bench.place.file("suite.jsonl", question.to_string());
    let other =
        "CREATE TABLE orders(id INTEGER, quantity INTEGER); INSERT INTO orders VALUES (7, 1)";
    syrch_kit::sqlite(bench.place.path().join("other.sqlite"), other);
    let rows = |said: Said| said.document(0)["results"][0]["gold_rows"].as_u64();
    let mut command = bench.command("benchmark suite.jsonl --llm offline --format json");
    assert_eq!(
        rows(Said::from_output(command.env("SYRCH_DB", "other.sqlite").output().unwrap())),
        Some(4)
    );
    // A flag says it for this suite: a database, or a folder that is searched first.
    let folder = bench.place.path().join("elsewhere");
    std::fs::create_dir(&folder).unwrap();
    std::fs::copy(bench.place.path().join("other.sqlite"), folder.join("shop.sqlite")).unwrap();
    for given in ["other.sqlite", "sqlite:other.sqlite", "elsewhere"] {
        assert_eq!(rows(bench.offline(&format!("--db {given} --format json"))), Some(1), "{given}");
    }
}

#[test]
fn help_tells_the_flags_of_a_run() {
    let bench = Bench::new();
    for (command, file) in [
        ("benchmark", "help-benchmark.txt"),
        ("eval", "help-eval.txt"),
        ("report", "help-report.txt"),
    ] {
        let said = bench.say(&format!("{command} --help"));
        assert_eq!(said.code, 0, "{}", said.all());
        // The flags of a search are the same everywhere.
        let own =
            said.stdout.split("\nSearch:\n").next().unwrap().split("\nModel:\n").next().unwrap();
        snapshot(file, own);
    }
}

/// Compares with a file of `tests/e2e/snapshots`. Accept a change by writing it into the file.
pub(crate) fn snapshot(file: &str, now: &str) {
    let path = syrch_kit::repository().join("tests/e2e/snapshots").join(file);
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(now, before, "{} differs; what is said now:\n{now}", path.display());
}
