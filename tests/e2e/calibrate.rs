//! `calibrate fit` through the binary: a graded run, the curve that is fitted on it, and searches
//! that say on what their confidence rests.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use syrch_grade::calibrate::{Curve, Isotonic, Logistic, Method};
use syrch_grade::run::{Graded, RunRecord, Runs};
use syrch_grade::stats::{brier, expected_calibration_error, reliability};
use syrch_kit::{MockEndpoint, Reply, Script};

use crate::bad_input::{Place, assert_refused};
use crate::endpoint::{KEY, Said};

/// Questions of the suite, over two databases.
const QUESTIONS: u32 = 120;

/// A model that is too sure of itself: what it claims with 0.97 is right six times of ten, and with
/// 0.6 twice.
fn model() -> MockEndpoint {
    MockEndpoint::start(Script::new().requires_key(KEY).with(|request, _| {
        let prompt = request.prompt();
        let (_, rest) = prompt.rsplit_once("What is number ")?;
        let number: u32 = rest.split('?').next()?.parse().ok()?;
        let (claim, right) = if number.is_multiple_of(2) {
            (0.97, number / 2 % 10 < 6)
        } else {
            (0.6, number / 2 % 10 < 2)
        };
        let value = if right { i64::from(number) } else { -1 };
        Some(Reply::sql(&format!("SELECT {value} AS value FROM customers WHERE id = 1"), claim))
    }))
}

fn question(number: u32) -> String {
    format!("What is number {number}?")
}

/// A folder with the suite, its two databases, and a strategy that asks once for each attempt.
fn place() -> Place {
    let place = Place::new();
    std::fs::copy(place.path().join("shop.sqlite"), place.path().join("stock.sqlite")).unwrap();
    place.file(
        "suite.jsonl",
        (0..QUESTIONS)
            .map(|number: u32| {
                let db = if number < QUESTIONS / 2 { "shop" } else { "stock" };
                let gold = format!("SELECT {number}");
                json!({
            "id": format!("q{number}"), "db": db, "question": question(number), "gold_sql": gold
        }).to_string() + "\n"
            })
            .collect::<String>(),
    );
    place.file("own.yml", "name: own\nroles: {planner: direct, solver: refine, linker: none}\n");
    place
}

fn state(place: &Place) -> PathBuf {
    place.path().join("state")
}

/// The program with a model, in that folder.
fn with(place: &Place, model: &MockEndpoint, words: &str) -> Command {
    let mut command = place.words(words);
    command.env("SYRCH_STATE_DIR", state(place)).env("SYRCH_API_KEY", KEY);
    command.args(["--llm", "openai", "--model", "mock", "--base-url", &model.url()]);
    command
}

fn calibrate(place: &Place, words: &str) -> Command {
    let mut command = place.words(&format!("calibrate fit {words}"));
    command.env("SYRCH_STATE_DIR", state(place));
    command
}

/// Runs the suite, and reads what came of it.
fn benchmark(place: &Place, model: &MockEndpoint, strategy: &str) -> RunRecord {
    let said = Said::from_output(
        with(place, model, &format!("benchmark suite.jsonl --strategy {strategy}"))
            .output()
            .unwrap(),
    );
    assert_eq!(said.code, 0, "{}", said.all());
    let runs = Runs::new(state(place).join("suites"));
    let record = syrch_grade::run::read(&runs.find("last").unwrap().path).unwrap();
    assert_eq!(record.graded.len(), QUESTIONS as usize);
    record
}

fn scores(record: &RunRecord) -> Vec<(f64, bool)> {
    let right = |graded: &Graded| graded.verdict("bag-v1").unwrap().is_right();
    record.graded.iter().map(|graded| (graded.confidence.unwrap(), right(graded))).collect()
}

/// The curve of a calibrator's settings, as the library applies it.
fn curve(calibrator: &Value) -> Curve {
    match calibrator["method"].as_str().unwrap() {
        "isotonic" => {
            Curve::Isotonic(serde_json::from_value::<Isotonic>(calibrator.clone()).unwrap())
        }
        "logistic" => {
            Curve::Logistic(serde_json::from_value::<Logistic>(calibrator.clone()).unwrap())
        }
        method => panic!("no curve: {method}"),
    }
}

#[test]
fn a_fitted_calibrator_is_right_as_often_as_it_says_and_says_so() {
    let place = place();
    let model = model();
    let before = benchmark(&place, &model, "own.yml");
    let asked = model.count();

    // The fit: a table for people, a strategy for searches.
    let said = Said::from_output(calibrate(&place, "last -o fitted.yml").output().unwrap());
    assert_eq!((said.code, said.stdout.as_str()), (0, ""), "{}", said.all());
    for words in [
        "48 of 120 answers are right by bag-v1, over 2 databases, with mock",
        "as printed",
        "right by database: shop 24 of 60",
    ] {
        assert!(said.stderr.contains(words), "{words} in {}", said.all());
    }
    assert_eq!(model.count(), asked, "a fit asks nobody");
    let document =
        Said::from_output(calibrate(&place, "last --format json").output().unwrap()).document(0);
    assert_eq!(document["schema"], "syrch.calibration/1");
    assert_eq!(
        document["strategy"],
        std::fs::read_to_string(place.path().join("fitted.yml")).unwrap()
    );
    let brier_of = |at: usize| document["methods"][at]["brier"].as_f64().unwrap();
    assert!(
        brier_of(1) < brier_of(0) - 0.05 && brier_of(2) < brier_of(0) - 0.05,
        "{}",
        document["methods"]
    );
    assert_eq!(document["held_out"], json!({"parts": 2, "by_database": true}));

    // The same searches with it: the same statements and calls, and the confidences of the curve.
    let after = benchmark(&place, &model, "fitted.yml");
    let curve = curve(&document["calibrator"]);
    for (one, other) in before.graded.iter().zip(&after.graded) {
        assert_eq!((&one.id, &one.sql, one.calls()), (&other.id, &other.sql, other.calls()));
        let expected = curve.apply(one.candidate_confidence.unwrap());
        let calibrated = other.candidate_confidence.unwrap();
        assert!((calibrated - expected).abs() < 1e-9, "{}: {calibrated} for {expected}", one.id);
        assert!(
            (other.confidence.unwrap() - expected).abs() <= 0.000_5,
            "nothing is taken off any more"
        );
    }
    let error = |record: &RunRecord| expected_calibration_error(&reliability(&scores(record), 10));
    assert!(
        error(&before) > 0.3 && error(&after) < 0.02,
        "{} and {}",
        error(&before),
        error(&after)
    );
    assert!(brier(&scores(&after)).unwrap() < brier(&scores(&before)).unwrap() - 0.05);
    // A retry is made where the claim is under the threshold, before and after.
    assert!(
        before.graded.iter().any(|graded| graded.calls() > 1)
            && before.graded.iter().any(|graded| graded.calls() == 1)
    );

    // A search with it says on what it rests: on this database, or else on all.
    let search = |db: &str, number: u32, words: &str| {
        let mut command = with(&place, &model, &format!("--strategy fitted.yml --db {db} {words}"));
        Said::from_output(command.args(["-q", &question(number)]).output().unwrap())
    };
    let run = &before.header.id;
    let sure = search("shop.sqlite", 4, "");
    let line =
        format!("answers at 0.60–0.70 were right 18 of 30 times on shop (run {run}, bag-v1, mock)");
    assert!(
        sure.code == 0 && sure.stderr.contains("confidence 0.60") && sure.stderr.contains(&line),
        "{}",
        sure.all()
    );
    std::fs::copy(place.path().join("shop.sqlite"), place.path().join("other.sqlite")).unwrap();
    let elsewhere = search("other.sqlite", 5, "");
    let line = format!(
        "answers at 0.20–0.30 were right 12 of 60 times on 2 other databases (run {run}, \
         bag-v1, mock)"
    );
    assert!(elsewhere.code == 0 && elsewhere.stderr.contains(&line), "{}", elsewhere.all());
    let fitted = "the confidence was fitted on answers of `mock` over 2 databases of the suite \
                  `suite`; this search uses another";
    assert!(
        elsewhere.stderr.contains(&format!("{fitted} database, `other`")),
        "{}",
        elsewhere.all()
    );
    assert!(!sure.stderr.contains("the confidence was fitted"), "{}", sure.all());
    let mut larger =
        place.words("--strategy fitted.yml --db shop.sqlite --llm openai --model larger");
    larger.env("SYRCH_API_KEY", KEY).args(["--base-url", &model.url(), "-q", &question(4)]);
    let larger = Said::from_output(larger.output().unwrap());
    assert!(
        larger.code == 0 && larger.stderr.contains(&format!("{fitted} model, `larger`")),
        "{}",
        larger.all()
    );
    let known =
        search("shop.sqlite", 4, "--format json").document(0)["confidence"]["rests_on"].clone();
    assert_eq!(
        (&known["right"], &known["answers"], &known["database"]),
        (&json!(18), &json!(30), &json!("shop"))
    );

    // A curve on top of a curve is refused.
    let words = ["`fitted` has a curve already", "run the suite with that calibrator"];
    assert_refused(&mut calibrate(&place, "last"), 10, &words);
}

#[test]
fn the_method_can_be_chosen_and_raw_confidences_can_have_a_record() {
    let place = place();
    let model = model();
    let before = benchmark(&place, &model, "own.yml");
    for method in [Method::Isotonic, Method::Logistic] {
        let words = format!("last --format json --method {}", method.name());
        let document = Said::from_output(calibrate(&place, &words).output().unwrap()).document(0);
        assert_eq!(document["method"], method.name());
        assert!(matches!(
            (method, curve(&document["calibrator"])),
            (Method::Isotonic, Curve::Isotonic(_)) | (Method::Logistic, Curve::Logistic(_))
        ));
    }
    let said =
        Said::from_output(calibrate(&place, "last --method none -o record.yml").output().unwrap());
    assert!(
        said.code == 0
            && said
                .stderr
                .lines()
                .any(|line| line.starts_with("as printed") && line.ends_with("<- written")),
        "{}",
        said.all()
    );
    let search = with(&place, &model, "--strategy record.yml --db shop.sqlite")
        .args(["-q", &question(4)])
        .output();
    let search = Said::from_output(search.unwrap());
    let printed = before.graded[4].confidence.unwrap();
    assert!(search.stderr.contains(&format!("confidence {printed:.2}")), "{}", search.all());
    assert!(
        search.stderr.contains("answers at 0.90–1.00 were right 18 of 30 times on shop"),
        "{}",
        search.all()
    );
    let csv = Said::from_output(calibrate(&place, "last --format csv").output().unwrap());
    assert!(
        csv.stdout
            .starts_with("method,brier,log_loss,calibration_error,auroc,written,against\nnone,"),
        "{}",
        csv.all()
    );
}

#[test]
fn what_cannot_be_fitted_is_reported_with_what_to_do() {
    let place = place();
    let model = model();
    assert_refused(&mut calibrate(&place, "last"), 2, &["run"]);
    place.file(
        "suite.jsonl",
        json!({"id": "q4", "db": "shop", "question": question(4), "gold_sql": "SELECT 4"})
            .to_string(),
    );
    let said = Said::from_output(
        with(&place, &model, "benchmark suite.jsonl --strategy own.yml").output().unwrap(),
    );
    assert_eq!(said.code, 0, "{}", said.all());
    assert_refused(
        &mut calibrate(&place, "last"),
        10,
        &["1 graded answer with a confidence is too few", "at least 20"],
    );
    assert_refused(
        &mut calibrate(&place, "last --arm third"),
        10,
        &["has no arm `third`, but `own`"],
    );
    assert_refused(&mut calibrate(&place, "last --method best"), 2, &["invalid value 'best'"]);
    let run = Runs::new(state(&place).join("suites")).find("last").unwrap().path;
    let over = format!("last -o {}", run.join("results.jsonl").display());
    let said = Said::from_output(calibrate(&place, &over).output().unwrap());
    assert!(said.code == 2 && said.stderr.contains("is of the run"), "{}", said.all());
}
