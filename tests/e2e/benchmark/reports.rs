//! The report in all its ways: of shards, under other rules, as files, and with hostile texts in
//! it.

use serde_json::{Value, json};
use syrch_grade::report::BenchmarkReport;
use syrch_kit::MockEndpoint;

use super::{Bench, assert_same, figures, script};
use crate::endpoint::Said;

#[test]
fn shards_from_anywhere_make_the_report_of_one_process() {
    let bench = Bench::with_questions(25);
    let endpoint = MockEndpoint::start(script());
    assert_eq!(Said::from_output(bench.asks(&endpoint, "").output().unwrap()).code, 0);
    let whole = bench.report("last");
    let mut folders = Vec::new();
    for index in [3, 1, 2] {
        let state = bench.place.path().join(format!("machine-{index}"));
        let mut command = bench.asks(&endpoint, &format!("--shard {index}/3 --format json"));
        let said = Said::from_output(command.env("SYRCH_STATE_DIR", &state).output().unwrap());
        let document = said.document(0);
        assert_eq!(
            (document["suite"]["questions"].clone(), &document["partial"]),
            (json!(25), &Value::Null)
        );
        let run = std::fs::read_dir(state.join("suites")).unwrap().next().unwrap().unwrap().path();
        folders.push(run.display().to_string());
    }
    assert_same(&bench.report(&folders.join(" ")), &whole);
    // Two of three are reported on if that is wanted, and what is missing is named.
    let said = bench.say(&format!("report {} {} --partial --format json", folders[0], folders[1]));
    let document = said.document(5);
    assert_eq!(document["partial"]["of"], 25);
    assert!(said.stderr.contains("shard 2/3 is missing"), "{}", said.all());
    // What belongs not together is refused.
    let twice = bench.say(&format!("report {} {}", folders[0], folders[0]));
    assert!(twice.code == 2 && twice.stderr.contains("are both shard 3/3"), "{}", twice.all());
    let mixed = bench.say(&format!("report last {}", folders[0]));
    assert!(mixed.code == 2 && mixed.stderr.contains("is no shard"), "{}", mixed.all());
}

#[test]
fn another_rule_needs_no_second_run() {
    let bench = Bench::new();
    let of = |id: &str, question: &str, gold: &str| {
        json!({"id": id, "db": "shop", "question": question, "gold_sql": gold}).to_string() + "\n"
    };
    // Another name of a column: only `strict` minds.
    bench.place.file(
        "suite.jsonl",
        of("a", "How many customers are there?", "SELECT COUNT(*) AS something FROM customers"),
    );
    let first = bench.offline("--format json").document(0);
    assert_eq!((figures(&first), first["rule"].as_str()), ((1, 1), Some("bag-v1")));
    let again = bench.say("report --rule strict --format json").document(0);
    assert_eq!((figures(&again), again["rule"].as_str()), ((0, 1), Some("strict")));
    assert_eq!(first["rules"], again["rules"]);
    let strict = bench.offline("--rule strict --format json").document(0);
    assert_eq!(figures(&strict), (0, 1));
    let unknown = bench.say("report --rule strikt");
    assert!(unknown.code == 2 && unknown.stderr.contains("`strict`"), "{}", unknown.all());
}

#[test]
fn a_terminal_is_reported_what_is_not_graded_and_shown_the_slices_that_it_asks_for() {
    let bench = Bench::new();
    let of = |id: &str, topic: &str, gold: &str| {
        let question = "How many customers are there?";
        json!({"id": id, "db": "shop", "question": question, "gold_sql": gold, "topic": topic})
            .to_string()
            + "\n"
    };
    let good = of("good", "people", "SELECT COUNT(*) FROM customers");
    bench.place.file("suite.jsonl", good + &of("fails", "others", "SELECT missing FROM elsewhere"));
    let said = bench.offline("");
    let headline = said.stdout.lines().next().unwrap();
    assert!(
        headline.contains(": 1 of 1 right under bag-v1, 1 not graded: 100.0 %, "),
        "{}",
        said.all()
    );
    assert_eq!(bench.say("report").stdout, said.stdout);
    let sliced = bench.say("report --slice topic").stdout;
    assert!(sliced.contains("\nSlices\n") && sliced.contains("│ topic ┆ people ┆"), "{sliced}");
    assert!(!said.stdout.contains("people") && !sliced.contains("│ db "), "{sliced}");
    let unknown = bench.say("report --slice nothing");
    assert!(
        unknown.code == 2 && unknown.stderr.contains("the fields are db, topic"),
        "{}",
        unknown.all()
    );
    let written = bench.say("report --format markdown").stdout;
    assert!(written.contains("**100.0 % right** of 1 question, 1 not graded under "), "{written}");
    assert!(written.contains("\nRule: bag-v1\\: rows as a multiset, "), "{written}");
}

#[test]
fn runs_are_listed_and_found() {
    let bench = Bench::with_questions(3);
    let none = bench.say("report");
    assert!(none.code == 2 && none.stderr.contains("there is no run yet"), "{}", none.all());
    assert_eq!(
        bench.say("report --list --format json").document(0),
        json!({"schema": "syrch.runs/1", "runs": []})
    );
    assert_eq!(bench.offline("").code, 0);
    assert_eq!(bench.offline("--shard 1/2").code, 0);
    let list = bench.say("report --list --format json").document(0);
    let shown = |at: usize| {
        let run = &list["runs"][at];
        ["suite", "done", "of", "shard", "rule", "state"].map(|name| run[name].clone())
    };
    assert_eq!(
        shown(0),
        [json!("suite.jsonl"), json!(2), json!(2), json!("1/2"), json!("bag-v1"), json!("done")]
    );
    assert_eq!(
        shown(1),
        [json!("suite.jsonl"), json!(3), json!(3), json!(null), json!("bag-v1"), json!("done")]
    );
    let table = bench.say("report --list").stdout;
    assert!(table.contains("suite.jsonl") && table.contains(" UTC"), "{table}");
    let ids = bench.runs();
    assert_eq!(bench.say(&format!("report {} --format json", &ids[1][..8])).document(0)["of"], 3);
    let unknown = bench.say(&format!("report {}x", ids[1]));
    assert!(unknown.code == 2 && unknown.stderr.contains(&ids[1]), "{}", unknown.all());
    // A damaged one keeps nobody from the others.
    std::fs::write(bench.state().join("suites").join(&ids[0]).join("run.json"), "{").unwrap();
    let said = bench.say("report --list --format json");
    assert_eq!(said.document(0)["runs"][0]["state"], "unreadable");
    let broken = bench.say(&format!("report {}", ids[0]));
    assert!(broken.code == 10 && broken.stderr.contains("run.json"), "{}", broken.all());
}

/// A text that the author of a third-party suite may write into it.
const HOSTILE: &str = "How many </script><script>alert(1)</script> =cmd|'/c calc'!A1 | \
                       \u{1b}[2J\u{202e} [x](http://evil.example) \"q\"?";

#[test]
fn hostile_texts_are_escaped_in_every_format() {
    let bench = Bench::new();
    let question = json!({"id": "=1+1", "db": "shop", "question": HOSTILE,
        "gold_sql": "SELECT '</td><b>' -- \u{1b}]0;x\u{7}",
        "difficulty": "<i>hard</i>", "topic": "@SUM(1)"});
    bench.place.file("suite.jsonl", format!("{question}\n"));
    let files = ["r.json", "r.md", "r.csv", "r.parquet", "r.html"];
    let words = files.map(|file| format!("--report {file}")).join(" ");
    let said = bench.offline(&words);
    assert_eq!(said.code, 0, "{}", said.all());
    assert!(!said.stdout.contains(['\u{1b}', '\u{202e}']), "{}", said.all());
    let read = |file: &str| std::fs::read(bench.place.path().join(file)).unwrap();
    let text = |file: &str| String::from_utf8(read(file)).unwrap();
    let report: BenchmarkReport = serde_json::from_str(&text("r.json")).unwrap();
    assert_eq!(
        (report.results[0].question.as_str(), report.results[0].id.as_str()),
        (HOSTILE, "=1+1")
    );
    let markdown = text("r.md");
    assert!(
        !markdown.contains("<script")
            && !markdown.contains("](http")
            && !markdown.contains('\u{1b}'),
        "{markdown}"
    );
    let csv = text("r.csv");
    assert!(csv.lines().nth(1).unwrap().contains("'=1+1") && !csv.contains('\u{1b}'), "{csv}");
    assert!(read("r.parquet").starts_with(b"PAR1") && read("r.parquet").ends_with(b"PAR1"));
    let html = text("r.html");
    assert!(
        !html.contains("<script>alert")
            && !html.contains("</td><b>")
            && !html.contains(['\u{1b}', '\u{202e}']),
        "{html}"
    );
    // The other formats on standard output are those of the files.
    for (format, file) in [("json", "r.json"), ("markdown", "r.md"), ("csv", "r.csv")] {
        assert_eq!(bench.say(&format!("report --format {format}")).stdout, text(file), "{format}");
    }
    let lines = bench.say("report --format jsonl").stdout;
    let row: Value = serde_json::from_str(lines.trim_end()).unwrap();
    assert_eq!(row["question"], HOSTILE);
    assert!(bench.say("report --report again.html").code == 0 && text("again.html") == html);
}

#[test]
fn a_page_asks_nothing_of_anybody() {
    let bench = Bench::with_questions(10);
    let endpoint = MockEndpoint::start(script());
    let said =
        Said::from_output(bench.asks(&endpoint, "--report r.html --quiet").output().unwrap());
    assert!(said.code == 0 && said.stderr.is_empty(), "{}", said.all());
    let html = std::fs::read_to_string(bench.place.path().join("r.html")).unwrap().to_lowercase();
    // The policy forbids all requests; `tests/page` opens such a page in a browser.
    assert!(html.contains("content=\"default-src 'none'; script-src 'sha256-"), "{html}");
    for outside in
        ["<script src", "@import", "<link", "<iframe", "<object", "<base", "<img", "href=\""]
    {
        assert!(!html.contains(outside), "{outside}");
    }
    assert!(html.contains("\\u003csvg"), "no pictures");
}

#[test]
fn a_timed_pass_tells_how_quick_right_answers_are() {
    let bench = Bench::with_questions(4);
    let endpoint = MockEndpoint::start(script());
    let said = Said::from_output(bench.asks(&endpoint, "--timed 2").output().unwrap());
    assert!(said.code == 0 && said.stdout.contains("R-VES"), "{}", said.all());
}
