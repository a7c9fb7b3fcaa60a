//! Runs of which nothing comes: every search failed, none was started, or money cannot be counted.

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Reply, Script};

use super::{Bench, figures, script};
use crate::bad_input::assert_refused;
use crate::batch::batch;
use crate::endpoint::{KEY, Said};

#[test]
fn a_run_of_failures_says_so_and_ends_like_them() {
    let reported = "6 of 6 searches of `decompose` failed (model): the figures mean nothing";
    for (is_dead, why) in [(false, "no such key"), (true, "127.0.0.1")] {
        let bench = Bench::with_questions(6);
        let endpoint = MockEndpoint::start(Script::always(Reply::status(401, "no such key")));
        let words = "--max-outages 0 --report r.md --report r.html --format json";
        let mut command = bench.asks(&endpoint, words);
        // Dropped, nobody listens at its address.
        let endpoint = (!is_dead).then_some(endpoint);
        let said = Said::from_output(command.output().unwrap());
        let document = said.document(12);
        drop(endpoint);
        assert_eq!((figures(&document), &document["errors"]), ((0, 6), &json!({"model": 6})));
        assert_eq!(document["partial"], Value::Null);
        let warnings = document["warnings"].as_array().unwrap();
        assert!(warnings.iter().any(|warning| warning == reported), "{warnings:?}");
        assert!(
            said.stderr.contains("all 6 searches failed") && said.stderr.contains(why),
            "{}",
            said.all()
        );
        assert!(said.stderr.contains("--retry-failed` asks again"), "{}", said.all());
        let text = |file: &str| std::fs::read_to_string(bench.place.path().join(file)).unwrap();
        for (file, said) in [
            ("r.md", "failed (model)\\: the figures mean nothing"),
            ("r.html", "failed (model): the figures mean nothing"),
        ] {
            assert!(text(file).contains(said), "{file}: {}", text(file));
        }
        // Its report can be had, and ends like it.
        let again = bench.say("report last --format json");
        assert_eq!(again.document(12), document);
        let shown = bench.say("report");
        assert!(
            shown.stdout.contains("0 of 6 right") && shown.stderr.contains(reported),
            "{}",
            shown.all()
        );
    }
}

#[test]
fn a_run_without_any_answer_has_a_report_in_every_format() {
    let bench = Bench::with_questions(6);
    let endpoint = MockEndpoint::start(script());
    let files = ["r.json", "r.md", "r.csv", "r.parquet", "r.html"];
    let words = files.map(|file| format!("--report {file}")).join(" ");
    let said = Said::from_output(
        bench
            .asks(&endpoint, &format!("--total-time 0.000001 {words} --format json"))
            .output()
            .unwrap(),
    );
    let document = said.document(16);
    assert_eq!(
        (figures(&document), &document["share"], endpoint.count()),
        ((0, 0), &Value::Null, 0)
    );
    let partial =
        |document: &Value| [document["partial"]["done"].clone(), document["partial"]["of"].clone()];
    assert_eq!(partial(&document), [json!(0), json!(6)]);
    let read = |file: &str| std::fs::read(bench.place.path().join(file)).unwrap();
    let text = |file: &str| String::from_utf8(read(file)).unwrap();
    assert_eq!(
        (text("r.csv").lines().count(), read("r.parquet").get(..4)),
        (1, Some(&b"PAR1"[..]))
    );
    for file in ["r.md", "r.html"] {
        assert!(
            text(file).contains("seconds of the whole run were used up"),
            "{file}: {}",
            text(file)
        );
        let text = text(file);
        let figures = text.split("<script type=\"module\">").next().unwrap();
        assert!(!figures.contains("NaN"), "{file}: {figures}");
    }
    let again = bench.say("report last");
    assert_eq!(again.code, 0, "{}", again.all());
    for words in ["0 of 0 right under bag-v1\n", "0 of 6 answers: the run is not finished"] {
        assert!(again.stdout.contains(words), "no `{words}`: {}", again.all());
    }
    assert_eq!(partial(&bench.say("report last --format json").document(0)), partial(&document));
}

#[test]
fn without_a_price_the_money_of_a_run_cannot_be_limited() {
    let bench = Bench::with_questions(3);
    let endpoint = MockEndpoint::start(script());
    let reported = [
        "the model `mock` has no price, so money cannot be limited",
        "prices: {\"mock\"",
        "leave out --total-usd",
    ];
    let model = format!("--llm openai --model mock --base-url {} --total-usd 1", endpoint.url());
    for words in
        ["benchmark suite.jsonl", "compare single retry3 suite.jsonl", "grid suite.jsonl --out out"]
    {
        assert_refused(
            bench.command(&format!("{words} {model}")).env("SYRCH_API_KEY", KEY),
            10,
            &reported,
        );
    }
    let mut lines = bench.command(&format!("batch --db shop.sqlite {model}"));
    let (answers, stderr) = batch(&mut lines, "\"How many orders are there?\"\n", 10);
    assert!(
        answers.is_empty() && reported.iter().all(|reported| stderr.contains(reported)),
        "{stderr}"
    );
    assert_eq!(endpoint.count(), 0);
    assert!(!bench.state().join("suites").exists() && !bench.place.path().join("out").exists());
    // Where nothing is paid, nothing has a price.
    let free = bench.offline("--total-usd 0.01 --format json");
    assert_eq!(figures(&free.document(0)).1, 3);
}
