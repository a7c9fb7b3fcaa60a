//! The strategy that is made from a run. The end-to-end tests search with one.

use std::time::Duration;

use syrch::Settings;
use syrch::internal::{departure, rests_on};
use syrch_grade::run::{Cost, Header, Judged, PluginOfArm, RUN_FORMAT, SuiteOfRun};

use super::*;

fn arm(change: impl FnOnce(&mut Settings)) -> Arm {
    let mut settings = Settings::default();
    change(&mut settings);
    Arm {
        name: "decompose".to_owned(),
        strategy: settings.strategy.name.clone(),
        plugins: settings
            .strategy
            .roles
            .iter()
            .map(|(role, source): (&Role, &PluginSource)| PluginOfArm {
                role: role.name().to_owned(),
                source: source.to_string(),
                digest: String::new(),
            })
            .collect(),
        settings: syrch::internal::journal_settings(&settings),
        again: None,
    }
}

fn answer(place: u64) -> Graded {
    // Claims are too high: 0.9 is right six times of ten, 0.7 three times.
    let sure = place.is_multiple_of(2);
    let right = place / 2 % 10 < if sure { 6 } else { 3 };
    let confidence = if sure { 0.9 } else { 0.7 };
    let verdict = if right { Verdict::Right } else { Verdict::Wrong };
    Graded {
        arm: "decompose".to_owned(),
        id: format!("q{place}"),
        place,
        db: ["shop", "data/flights.sqlite"][usize::from(place >= 100)].to_owned(),
        question: String::new(),
        fields: BTreeMap::new(),
        turn: None,
        end: End::Answered,
        origin: None,
        fault: None,
        sql: None,
        gold_sql: None,
        verdicts: [("bag-v1".to_owned(), Judged { verdict, fingerprint: None })].into(),
        gold_fault: None,
        soft_f1: None,
        rows: None,
        gold_rows: None,
        judgements: Vec::new(),
        access: Vec::new(),
        confidence: Some(confidence * 0.9),
        candidate_confidence: Some(confidence),
        cost: Cost::default(),
        time_ms: 0.0,
        retried: false,
        run: None,
    }
}

fn record(arms: Vec<Arm>) -> RunRecord {
    let header = Header {
        format: RUN_FORMAT.to_owned(),
        id: "1a2b".to_owned(),
        host: String::new(),
        suite: SuiteOfRun { path: "suite.jsonl".to_owned(), digest: String::new(), questions: 200 },
        arms,
        databases: BTreeMap::new(),
        rule: "bag-v1".to_owned(),
        shard: None,
        seed: 0,
        fuzz: None,
        simulated: None,
        stop_early: false,
    };
    let graded = (0..200).map(answer).collect();
    RunRecord {
        header,
        graded,
        stopped: None,
        ahead: 0,
        elapsed: Duration::ZERO,
        earlier: BTreeMap::new(),
    }
}

fn plain() -> RunRecord {
    record(vec![arm(|_| ())])
}

#[test]
fn a_curve_is_fitted_where_it_will_be_applied() {
    let fitted = calibrate(&plain(), None, Some(Method::Isotonic)).unwrap();
    assert_ne!(fitted.report.chosen, Method::None);
    assert!((fitted.curve.apply(0.9) - 0.6).abs() < 0.03, "{}", fitted.curve.apply(0.9));
    let brier = |at: usize| fitted.report.measured[at].brier;
    assert!(brier(1) < brier(0) && brier(2) < brier(0));
    assert_eq!(
        (fitted.run.as_str(), fitted.model.as_str(), fitted.left_out),
        ("1a2b", "the offline rules", 0)
    );
    // 0.9 became 0.6, and 0.7 became 0.3.
    let reported: Vec<(f64, u64, u64)> =
        fitted.bands.all.iter().map(|band| (band.low, band.right, band.answers)).collect();
    assert_eq!((reported, fitted.bands.databases), (vec![(0.3, 30, 100), (0.6, 60, 100)], 2));
    assert_eq!(fitted.bands.by_database.keys().collect::<Vec<_>>(), ["flights", "shop"]);
}

#[test]
fn footers_count_what_the_curve_was_not_fitted_on() {
    // What is claimed with 0.9 is always right over one database, and never over the other: on all
    // of it a curve is at 0.5.
    let mut record = plain();
    for graded in &mut record.graded {
        let verdict = if graded.db == "shop" { Verdict::Right } else { Verdict::Wrong };
        graded.verdicts.values_mut().for_each(|judged| judged.verdict = verdict);
    }
    let fitted = calibrate(&record, None, Some(Method::Isotonic)).unwrap();
    assert!((fitted.curve.apply(0.9) - 0.5).abs() < 1e-3);
    // Held out, each database is judged by the other's.
    let reported: Vec<(f64, u64, u64)> =
        fitted.bands.all.iter().map(|band| (band.low, band.right, band.answers)).collect();
    assert_eq!(reported, [(0.0, 100, 100), (0.9, 0, 100)]);
    let calibrator = &fitted.definition.roles[&Role::Calibrator];
    assert_eq!(calibrator.config["basis"]["over"], json!(["flights", "shop"]));
    assert_eq!(calibrator.config["basis"]["suite"], "suite");
}

#[test]
fn answers_of_a_file_are_nobodys_strategy() {
    let mut record = plain();
    record.header.arms[0].settings = json!({"answers": ["0a1b"]});
    let error = calibrate(&record, None, None).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "its answers come from a file (--answers), so no strategy can be made of it"
        ),
        "{error}"
    );
}

#[test]
fn few_answers_get_no_corners() {
    let mut record = plain();
    record.graded.retain(|graded| graded.place < 30 || (100..130).contains(&graded.place));
    let error = calibrate(&record, None, Some(Method::Isotonic)).unwrap_err().to_string();
    assert!(
        error.contains("60 graded answers with a confidence are too few for an isotonic curve"),
        "{error}"
    );
    assert!(error.ends_with("it takes at least 100, a logistic one 20"), "{error}");
    assert_ne!(calibrate(&record, None, None).unwrap().method, Method::Isotonic);
}

#[test]
fn the_strategy_searches_as_in_the_run() {
    let fitted = calibrate(
        &record(vec![arm(|settings: &mut Settings| {
            settings.policy.high_confidence = 0.9;
            settings.policy.max_attempts = 7;
            let weights = settings.strategy.config.entry(Role::Calibrator).or_default();
            weights.insert("empty".to_owned(), json!(0.4));
        })]),
        None,
        Some(Method::Isotonic),
    )
    .unwrap();
    let definition = &fitted.definition;
    assert_eq!(definition.name, "decompose-fitted");
    assert_eq!(definition.policy["max_attempts"], 7);
    let threshold = definition.policy["high_confidence"].as_f64().unwrap();
    assert!(
        threshold <= fitted.curve.apply(0.9) && threshold > fitted.curve.apply(0.899),
        "{threshold}"
    );
    let calibrator = &definition.roles[&Role::Calibrator];
    assert_eq!(calibrator.plugin, PluginSource::Builtin("fitted".to_owned()));
    assert_eq!(
        (&calibrator.config["empty"], &calibrator.config["method"]),
        (&json!(0.4), &json!("isotonic"))
    );
    assert_eq!(
        definition.roles[&Role::Aggregator].config,
        *json!({"ambiguity": 0.0, "cap": 0.0}).as_object().unwrap()
    );
    assert_eq!(definition.roles[&Role::Solver].plugin, PluginSource::Builtin("refine".to_owned()));
    let basis: Basis = serde_json::from_value(calibrator.config["basis"].clone()).unwrap();
    assert_eq!((basis.run.as_str(), basis.rule.as_str(), basis.databases), ("1a2b", "bag-v1", 2));
}

#[test]
fn each_answer_is_counted_once_in_the_band_that_it_was_held_out_with() {
    // Over one database, whose answers are held out by tenths, and over two.
    let mut one = plain();
    one.graded.iter_mut().for_each(|graded| graded.db = "shop".to_owned());
    for (record, databases) in [(one, 1), (plain(), 2)] {
        for method in Method::ALL {
            let fitted = calibrate(&record, None, Some(method)).unwrap();
            let bands = &fitted.bands.all;
            let counted = bands
                .iter()
                .map(|band| (band.answers, band.right))
                .fold((0, 0), |all, of| (all.0 + of.0, all.1 + of.1));
            assert_eq!(
                (counted, fitted.bands.databases, fitted.report.by_database),
                ((200, 90), databases, databases > 1)
            );
            let measured =
                fitted.report.measured.iter().find(|measured| measured.method == method).unwrap();
            for band in bands {
                let held_out = measured
                    .held_out
                    .iter()
                    .filter(|sure| (band.low..band.high).contains(&round_confidence(**sure)));
                assert_eq!(held_out.count() as u64, band.answers, "{method:?} {band:?}");
            }
        }
    }
}

#[test]
fn a_curve_used_elsewhere_warns() {
    let fitted = calibrate(&plain(), None, Some(Method::Logistic)).unwrap();
    let band = fitted.bands.all.last().unwrap();
    let sure = f64::midpoint(band.low, band.high);
    let over = |database: &str, change: fn(&mut Settings)| {
        let mut settings = Settings { database: database.to_owned(), ..Settings::default() };
        fitted.definition.apply(&mut settings);
        change(&mut settings);
        let known =
            rests_on(&settings, sure).map(|known| (known.elsewhere, known.database.is_some()));
        (departure(&settings), known)
    };
    assert_eq!(over("data/shop.sqlite", |_| ()), (None, Some((false, true))));
    assert_eq!(over("flights.db", |_| ()).0, None);
    let (warning, known) = over("bank.sqlite", |_| ());
    assert!(
        warning
            .unwrap()
            .ends_with("of the suite `suite`; this search uses another database, `bank`")
    );
    assert_eq!(known, Some((true, false)));
    let warning = over("shop.sqlite", |settings: &mut Settings| {
        (settings.model.provider, settings.model.model) = (syrch::Provider::OPENAI, "m".to_owned());
    })
    .0
    .unwrap();
    assert!(
        warning.starts_with(
            "the confidence was fitted on answers of `the offline rules` over 2 databases"
        ),
        "{warning}"
    );
    assert!(warning.ends_with("this search uses another model, `m`"), "{warning}");
}

#[test]
fn without_a_curve_nothing_but_the_basis_is_new() {
    let none = calibrate(&plain(), None, Some(Method::None)).unwrap();
    assert_eq!(none.definition.policy["high_confidence"], 0.85);
    assert!(none.definition.roles[&Role::Aggregator].config.is_empty());
    // What is printed then is what was printed in the run: 0.81 and 0.63.
    let bands: Vec<f64> = none.bands.all.iter().map(|band| band.low).collect();
    assert_eq!(bands, [0.6, 0.8]);
    // And a curve can still be fitted on a run with it.
    let definition = none.definition;
    let again = record(vec![arm(|settings| definition.apply(settings))]);
    let fitted = calibrate(&again, None, None).unwrap();
    assert_ne!(fitted.method, Method::None);
    assert_eq!(fitted.definition.name, "decompose-fitted");
}

#[test]
fn another_aggregators_doubts_stay() {
    let fitted = calibrate(
        &record(vec![arm(|settings: &mut Settings| {
            settings.strategy.roles.insert(Role::Aggregator, PluginSource::parse("./own.wasm"));
        })]),
        None,
        Some(Method::Logistic),
    )
    .unwrap();
    assert!(fitted.definition.roles[&Role::Aggregator].config.is_empty());
    let highest = fitted.report.measured[2].held_out.iter().copied().fold(0.0, f64::max);
    assert!((highest - fitted.curve.apply(0.9) * 0.9).abs() < 0.02, "{highest}");
}

#[test]
fn a_simulated_model_is_named() {
    let mut record = plain();
    record.header.simulated = Some("simulated (seed 1)".to_owned());
    let fitted = calibrate(&record, None, None).unwrap();
    assert_eq!(fitted.model, "simulated (seed 1)");
    assert!(
        fitted.definition.idea.contains("with simulated (seed 1)."),
        "{}",
        fitted.definition.idea
    );
}

#[test]
fn what_tells_nothing_is_left_out() {
    let mut record = plain();
    record.graded[0].candidate_confidence = None;
    record.graded[1].end = End::Failed;
    if let Some(judged) = record.graded[2].verdicts.get_mut("bag-v1") {
        judged.verdict = Verdict::Excluded;
    }
    record.graded[3].verdicts.clear();
    let fitted = calibrate(&record, None, None).unwrap();
    let answers: u64 = fitted.report.databases.values().map(|shares| shares.answers).sum();
    assert_eq!((answers, fitted.left_out), (196, 1));
}

#[test]
fn what_cannot_be_fitted_is_said_so() {
    fn say(record: &RunRecord, arm: Option<&str>) -> String {
        calibrate(record, arm, None).unwrap_err().to_string()
    }
    let other = Arm { name: "other".to_owned(), ..arm(|_| ()) };
    let two = record(vec![arm(|_| ()), other]);
    assert_eq!(
        say(&two, None),
        "the run `1a2b` cannot be calibrated on: it has several arms; choose one with --arm: \
         `decompose`, `other`"
    );
    assert!(say(&two, Some("third")).ends_with("it has no arm `third`, but `decompose`, `other`"));
    assert!(say(&two, Some("other")).contains("0 graded answers with a confidence are too few"));
    assert!(
        say(
            &record(vec![arm(|settings: &mut Settings| {
                settings.strategy.roles.insert(Role::Calibrator, PluginSource::parse("./own.wasm"));
            })]),
            None
        )
        .contains("its calibrator is `./own.wasm`; only what `signals` gives")
    );
    let fitted = calibrate(&plain(), None, None).unwrap().definition;
    let twice = record(vec![arm(|settings| fitted.apply(settings))]);
    assert!(say(&twice, None).contains("`fitted` has a curve already"), "{}", say(&twice, None));
    let mut given = plain();
    given.graded.iter_mut().for_each(|graded| graded.candidate_confidence = None);
    assert!(
        say(&given, None).contains("none of its 200 answers has a confidence from a calibrator")
    );
}
