//! The figures that stand in more than one format are the same in all of them: columns of the
//! tables, and R-VES.

use serde_json::{Value, json};
use syrch_grade::report::BenchmarkReport;
use syrch_grade::report::render::parquet::parquet;
use syrch_kit::MockEndpoint;

use super::{Bench, script};
use crate::endpoint::Said;

/// A table of comma-separated values by its columns' names.
struct Csv(Vec<Vec<String>>);

impl Csv {
    fn read(text: &str) -> Self {
        Self(text.lines().map(cells).collect())
    }

    fn column(&self, name: &str) -> Vec<&str> {
        let at = self.0[0]
            .iter()
            .position(|column| column == name)
            .unwrap_or_else(|| panic!("no {name}: {:?}", self.0[0]));
        self.0[1..].iter().map(|row| row[at].as_str()).collect()
    }
}

/// The cells of a line, of which none holds a line's end.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if is_quoted && chars.peek() == Some(&'"') => {
                cells.last_mut().unwrap().extend(chars.next())
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            c => cells.last_mut().unwrap().push(c),
        }
    }
    cells
}

#[test]
fn each_line_tells_its_run_its_rule_and_the_model_that_was_simulated() {
    let bench = Bench::with_questions(4);
    for (model, rule) in [("offline", "bag-v1"), ("simulated:suite.jsonl", "strict")] {
        let said = bench.say(&format!(
            "benchmark suite.jsonl --llm {model} --seeds 1 --rule {rule} --report r.csv --report \
             r.parquet --format json"
        ));
        let document = said.document(0);
        let run = bench.runs().remove(0);
        assert_eq!((&document["run"], &document["rule"]), (&json!(run), &json!(rule)));
        let simulated = document["simulated"].as_str().unwrap_or_default();
        assert_eq!(simulated.starts_with("simulated"), model != "offline", "{simulated}");
        let read = |file: &str| std::fs::read(bench.place.path().join(file)).unwrap();
        let csv = Csv::read(&String::from_utf8(read("r.csv")).unwrap());
        for (name, value) in [("run_id", run.as_str()), ("rule", rule), ("simulated", simulated)] {
            assert_eq!(csv.column(name), [value; 4], "{name}");
        }
        assert_eq!(csv.column("id"), ["q0000", "q0001", "q0002", "q0003"]);
        // The file's bytes are those of the document's answers, of which the texts stand there as
        // they are.
        let file = read("r.parquet");
        let report: BenchmarkReport = serde_json::from_value(document.clone()).unwrap();
        assert!(parquet(&report.results).unwrap() == file, "the Parquet file holds other answers");
        for text in ["run_id", "simulated", &run, rule, simulated] {
            assert!(
                file.windows(text.len().max(1))
                    .any(|part| text.is_empty() || part == text.as_bytes()),
                "no `{text}`"
            );
        }
        // Under another rule the lines say so, and are else of the same run.
        let again = bench.say("report last --rule bird-ex --format csv");
        let csv = Csv::read(&again.stdout);
        assert_eq!(
            (csv.column("rule"), csv.column("run_id")),
            (vec!["bird-ex"; 4], vec![run.as_str(); 4])
        );
        // Equal runs have equal tables.
        let timeless = bench.say("report last --without-times --format csv");
        assert_eq!(Csv::read(&timeless.stdout).column("run_id"), [""; 4]);
    }
}

#[test]
fn r_ves_is_one_number_in_every_format() {
    let bench = Bench::with_questions(5);
    let endpoint = MockEndpoint::start(script());
    let words = "--timed 2 --report r.md --report r.html --format json";
    let document = Said::from_output(bench.asks(&endpoint, words).output().unwrap()).document(0);
    let r_ves = document["r_ves"].as_f64().unwrap();
    // Four of five are right; of each the root of a reward from 0.25 to 1.25 counts.
    assert!((80.0 * 0.25_f64.sqrt()..=80.0 * 1.25_f64.sqrt()).contains(&r_ves), "{r_ves}");
    assert_eq!(document["timed_repeats"], 2);
    let name = "R-VES (each pair timed 2 times)";
    let shown = format!("{r_ves:.1} %");
    let read = |file: &str| std::fs::read_to_string(bench.place.path().join(file)).unwrap();
    let again = |format: &str| bench.say(&format!("report last --format {format}")).stdout;
    for (format, text, row) in [
        ("markdown", read("r.md"), format!("| {name} | {shown} |")),
        ("html", read("r.html"), format!("[\"{name}\",\"{shown}\"")),
        ("markdown", again("markdown"), format!("| {name} | {shown} |")),
        ("table", again("table"), format!("│ {name} ┆ {shown}")),
    ] {
        assert!(text.contains(&row), "no `{row}` in {format}: {text}");
    }
    let later: Value = serde_json::from_str(&again("json")).unwrap();
    assert_eq!(later["r_ves"], document["r_ves"]);
    let timeless = bench.say("report last --without-times --format json").document(0);
    assert_eq!((timeless.get("r_ves"), timeless.get("timed_repeats")), (None, None));
}

/// The warnings of a report that are about R-VES.
fn about_times(document: &Value) -> Vec<String> {
    let warnings: Vec<String> = serde_json::from_value(document["warnings"].clone()).unwrap();
    warnings.into_iter().filter(|warning| warning.starts_with("R-VES: ")).collect()
}

#[test]
fn what_cannot_be_timed_is_no_slow_answer() {
    let bench = Bench::new();
    let question = "How many customers are there?";
    let gold = "SELECT COUNT(*) FROM customers";
    let lines = [
        json!({"id": "sql", "db": "shop", "question": question, "gold_sql": gold}),
        json!({"id": "text", "db": "shop", "question": question, "expected_answer": "4"}),
    ];
    bench.place.file("suite.jsonl", lines.map(|line| format!("{line}\n")).concat());
    let document = bench.offline("--timed 2 --format json").document(0);
    assert_eq!((&document["right"], &document["of"]), (&json!(2), &json!(2)));
    // The least reward for one right answer of one is a quarter, whose root counts.
    assert!(document["r_ves"].as_f64().unwrap() >= 50.0 - 1e-9, "{document}");
    let left_out = "R-VES: 1 right answer of `decompose` is left out, for it could not be timed";
    assert_eq!(about_times(&document), [left_out]);
    assert_eq!(about_times(&bench.say("report --format json").document(0)), [left_out]);
    assert_eq!(
        about_times(&bench.say("report --format json --without-times").document(0)),
        [""; 0]
    );
}

#[test]
fn r_ves_stands_only_beside_the_answers_that_were_timed() {
    let bench = Bench::with_questions(4);
    let r_ves = bench.offline("--timed 1 --format json").document(0)["r_ves"].clone();
    let reported = |words: &str| {
        let document = bench.say(&format!("report {words} --format json")).document(0);
        (document.get("r_ves").cloned(), about_times(&document))
    };
    assert_eq!(reported("last"), (Some(r_ves), Vec::new()));
    let other =
        "R-VES: left out, for the answers that were timed are those that are right under `bag-v1`";
    assert_eq!(reported("last --rule bird-ex"), (None, vec![other.to_owned()]));
    // As if an answer had been tried again since.
    let times = bench.state().join("suites").join(&bench.runs()[0]).join("times.json");
    let mut found: Value = serde_json::from_slice(&std::fs::read(&times).unwrap()).unwrap();
    found["ratios"]["decompose"].as_object_mut().unwrap().remove("q0001").unwrap();
    std::fs::write(&times, found.to_string()).unwrap();
    let (shown, why) = reported("last");
    assert!(
        shown.is_none()
            && why[0].starts_with("R-VES: left out, for not all of these answers were timed"),
        "{why:?}"
    );
}

#[test]
fn shards_have_one_r_ves() {
    let bench = Bench::with_questions(4);
    let report = || {
        let document =
            bench.say(&format!("report {} --format json", bench.runs()[..2].join(" "))).document(0);
        (
            document.get("r_ves").is_some(),
            document["timed_repeats"].clone(),
            about_times(&document).len(),
        )
    };
    for shard in ["--shard 1/2 --timed 1", "--shard 2/2"] {
        assert_eq!(bench.offline(shard).code, 0);
    }
    // What one of them timed is not the R-VES of both.
    assert_eq!(report(), (false, Value::Null, 1));
    assert_eq!(bench.offline("--shard 2/2 --timed 1 --resume last").code, 0);
    assert_eq!(report(), (true, json!(1), 0));
}
