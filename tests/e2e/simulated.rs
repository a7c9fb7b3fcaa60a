//! The simulated model in a model's place, through the binary: `--llm simulated:SUITE`, and what
//! sets its knobs.

use serde_json::json;

use crate::bad_input::Place;
use crate::endpoint::Said;

const QUESTION: &str = "How many customers are there?";
const GOLD: &str = "SELECT COUNT(*) AS many FROM customers";

fn place() -> Place {
    let place = Place::new();
    let question = json!({"id": "q1", "db": "shop", "question": QUESTION, "gold_sql": GOLD});
    place.file("suite.jsonl", format!("{question}\n"));
    place
}

fn run_words(place: &Place, words: &str, more: &[&str], environment: &[(&str, &str)]) -> Said {
    let mut command = place.words(words);
    command
        .env("SYRCH_STATE_DIR", place.path().join("state"))
        .envs(environment.iter().copied())
        .args(more);
    Said::from_output(command.output().unwrap())
}

fn search(place: &Place, words: &str, environment: &[(&str, &str)]) -> Said {
    run_words(
        place,
        &format!("--db shop.sqlite --llm simulated:suite.jsonl {words}"),
        &["-q", QUESTION],
        environment,
    )
}

#[test]
fn skill_decides_whether_the_answer_is_right_and_the_file_may_say_it() {
    let place = place();
    let skilled = search(&place, "--format csv", &[("SYRCH_SIMULATED_SKILL", "20")]);
    assert_eq!((skilled.code, skilled.stdout.as_str()), (0, "many\n4\n"), "{}", skilled.all());
    place.file(
        "own.yml",
        "llm:\n  provider: simulated:suite.jsonl\n  simulated:\n    skill: -20\n    \
         output_tokens: 0\n",
    );
    let wrong =
        run_words(&place, "--db shop.sqlite --config own.yml --format csv", &["-q", QUESTION], &[]);
    assert!(wrong.stdout != skilled.stdout, "{}", wrong.all());
    let again =
        run_words(&place, "--db shop.sqlite --config own.yml --format csv", &["-q", QUESTION], &[]);
    assert_eq!(again.stdout, wrong.stdout);
    let document = search(&place, "--format json", &[("SYRCH_SIMULATED_SKILL", "20")]).document(0);
    assert!(
        document["cost"]["input_tokens"].as_u64().unwrap() > 0
            && document["cost"]["usd"] == json!(0.0)
    );
    let dry = search(&place, "--dry-run", &[]);
    assert_eq!((dry.code, dry.stdout.as_str()), (0, "nothing would be sent\n"), "{}", dry.all());
}

#[test]
fn config_and_doctor_tell_of_it_and_wrong_values_are_refused() {
    let place = place();
    let config = run_words(
        &place,
        "config --llm simulated:suite.jsonl",
        &[],
        &[("SYRCH_SIMULATED_LATENCY", "0.5")],
    );
    assert!(
        config.code == 0 && config.stdout.contains("simulated:suite.jsonl"),
        "{}",
        config.all()
    );
    assert!(
        config.stdout.contains("latency: 0.5") && config.stdout.contains("naive: false"),
        "{}",
        config.all()
    );
    let doctor = run_words(&place, "doctor --db shop.sqlite --llm simulated:suite.jsonl", &[], &[]);
    let expected =
        "no endpoint is needed: a simulated model answers the 1 question of `suite.jsonl`";
    assert!(doctor.code == 0 && doctor.stdout.contains(expected), "{}", doctor.all());
    let wrong = search(&place, "", &[("SYRCH_SIMULATED_FALSE_ACCEPT", "2")]);
    assert!(
        wrong.code != 0 && wrong.stderr.contains("`2` is not a number from 0 to 1"),
        "{}",
        wrong.all()
    );
    place.file("typo.yml", "llm:\n  simulated:\n    skil: 1\n");
    let typo = run_words(&place, "config --config typo.yml", &[], &[]);
    assert!(
        typo.code != 0
            && typo.stderr.contains("unknown key in `llm.simulated` `skil`; did you mean `skill`?"),
        "{}",
        typo.all()
    );
    let nameless = run_words(&place, "--db shop.sqlite --llm simulated", &["-q", QUESTION], &[]);
    assert!(
        nameless.code != 0 && nameless.stderr.contains("names no file: write simulated:FILE"),
        "{}",
        nameless.all()
    );
}

#[test]
fn what_the_suite_lacks_is_a_miss_and_nothing_says_what_is_expected() {
    let place = place();
    let said = run_words(
        &place,
        "--db shop.sqlite --llm simulated:suite.jsonl",
        &["-q", "How many customers are here?"],
        &[],
    );
    assert_eq!(said.code, 17, "{}", said.all());
    let expected =
        "the simulated answers have none to this question over `shop`; the nearest is `q1`";
    assert!(said.stderr.contains(expected) && !said.all().contains("COUNT"), "{}", said.all());
}

#[test]
fn a_suite_that_is_missing_is_named() {
    let place = place();
    let said =
        run_words(&place, "--db shop.sqlite --llm simulated:missing.jsonl", &["-q", QUESTION], &[]);
    assert!(said.code != 0 && said.stderr.contains("missing.jsonl"), "{}", said.all());
}

/// The real questions: a model that errs as real ones do is believed, one whose mistakes are
/// independent is not.
#[test]
#[ignore = "a measurement: `make figures` makes it"]
fn figures_come_with_a_band_and_the_naive_model_is_flagged() {
    let Some(data) = syrch_kit::data_root() else {
        println!("skipped: the real questions are absent");
        return;
    };
    let suite = data.join("spider").join("questions.jsonl").display().to_string();
    let place = Place::new();
    let benchmark = |more: &str, naive: &str| {
        let words = format!("benchmark --workers 4 --traces none --format json --quiet {more}");
        let model = format!("simulated:{suite}");
        run_words(&place, &words, &[&suite, "--llm", &model], &[("SYRCH_SIMULATED_NAIVE", naive)])
            .document(0)
    };
    fn too_good(report: &serde_json::Value) -> bool {
        report["warnings"].to_string().contains("too good for a real model")
    }
    let calibrated = benchmark("--strategy single --seeds 2", "false");
    assert_eq!(calibrated["simulated"], json!("simulated, skill 0, seed 0"));
    let low = calibrated["band"]["low"].as_f64().unwrap();
    let high = calibrated["band"]["high"].as_f64().unwrap();
    assert!(0.79 < low && low < high && high < 0.86, "{low} to {high}");
    assert!(!too_good(&calibrated), "{}", calibrated["warnings"]);
    // Its votes are right where those of no real systems are.
    let naive = benchmark("--strategy gate3of9 --seeds 1", "true");
    assert!(
        naive["simulated"] == json!("simulated, naive") && too_good(&naive),
        "{}",
        naive["warnings"]
    );
}
