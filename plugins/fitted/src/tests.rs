//! The calibrator with fitted weights.

use syrch_plugin::discount::Weights;
use syrch_plugin::prelude::*;

use crate::{FittedCalibrator, Settings};

fn calibrate_one(config: &str, raw: f64, signals: Signals) -> f64 {
    FittedCalibrator::new(Settings::read(config).unwrap()).calibrate(&[(raw, signals)])[0]
}

fn first() -> Signals {
    Signals { attempts: 1, max_attempts: 3, ..Signals::default() }
}

const ISOTONIC: &str =
    r#"{"method": "isotonic", "thresholds": [0.5, 0.7, 0.9], "values": [0.2, 0.4, 0.4]}"#;
const LOGISTIC: &str = r#"{"method": "logistic", "slope": 0.5, "intercept": -1.0}"#;

#[track_caller]
fn assert_near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 2e-6, "{value} for {expected}");
}

#[test]
fn without_a_curve_it_is_signals() {
    let troubled = Signals { attempts: 2, schema_errors: 1, overflow: true, ..first() };
    for raw in [0.0, 0.3, 0.9, 1.0] {
        assert_eq!(
            calibrate_one("", raw, troubled.clone()),
            Weights::default().discount(raw, &troubled)
        );
    }
}

#[test]
fn an_isotonic_curve_is_straight_between_its_corners() {
    for (raw, expected) in [(0.1, 0.2), (0.5, 0.2), (0.6, 0.3), (0.7, 0.4), (0.8, 0.4), (1.0, 0.4)]
    {
        assert_near(calibrate_one(ISOTONIC, raw, first()), expected);
    }
}

#[test]
fn a_logistic_curve_moves_the_logit() {
    for raw in [0.2_f64, 0.5, 0.9] {
        let logit = (raw / (1.0 - raw)).ln();
        assert_near(calibrate_one(LOGISTIC, raw, first()), 1.0 / (1.0 + (1.0 - 0.5 * logit).exp()));
    }
    assert!(calibrate_one(LOGISTIC, 1.0, first()) < 0.95);
}

#[test]
fn the_discounts_come_before_the_curve_and_have_their_weights() {
    let empty = || Signals { empty_result: true, ..first() };
    assert_near(calibrate_one(ISOTONIC, 0.7 / 0.85, empty()), 0.4);
    let config = ISOTONIC.replace('{', "{\"empty\": 0.5, ");
    assert_near(calibrate_one(&config, 1.0, empty()), 0.2);
}

#[test]
fn what_it_rests_on_changes_no_confidence() {
    let config =
        ISOTONIC.replace('{', "{\"basis\": {\"run\": \"r\", \"all\": [[0.8, 0.9, 47, 41]]}, ");
    assert_eq!(calibrate_one(&config, 0.6, first()), calibrate_one(ISOTONIC, 0.6, first()));
}

#[test]
fn a_curve_that_is_none_is_refused() {
    fn say(config: &str) -> String {
        Settings::read(config).unwrap_err()
    }
    assert!(say(r#"{"method": "isotonic"}"#).starts_with("`thresholds` is missing"));
    assert_eq!(
        say(r#"{"method": "isotonic", "thresholds": [0.5], "values": []}"#),
        "`values` must be as many as `thresholds`: there are 0 and 1"
    );
    assert_eq!(
        say(r#"{"thresholds": [0.5, 0.5], "values": [0, 1]}"#),
        "`thresholds` must ascend from 0 to 1"
    );
    assert_eq!(
        say(r#"{"thresholds": [0.5, 0.6], "values": [0.4, 0.3]}"#),
        "`values` must be from 0 to 1 and never fall"
    );
    assert_eq!(
        say(r#"{"thresholds": ["x"], "values": [1]}"#),
        "`thresholds` must be of type array, not [\"x\"]"
    );
    assert_eq!(
        say(r#"{"method": "platt"}"#),
        "`method` must be one of none, isotonic, logistic, not \"platt\""
    );
    assert_eq!(say(r#"{"slope": -1}"#), "`slope` must be from 0.0 to 1000.0, not -1");
    assert!(say(r#"{"slopes": 1}"#).starts_with("unknown setting `slopes`; known are syntax, "));
    assert!(say(r#"{"basis": 3}"#).starts_with("`basis` must be of type object"));
}

#[test]
fn the_schema_has_the_weights_and_the_curve() {
    let schema = Settings::schema();
    for name in ["syntax", "retry", "method", "thresholds", "values", "slope", "intercept", "basis"]
    {
        assert!(schema["properties"][name]["description"].is_string(), "{name}");
    }
    assert_eq!(schema["properties"]["method"]["enum"][1], "isotonic");
}

proptest::proptest! {
    #[test]
    fn every_curve_keeps_the_order_and_the_range(
        one in 0.0_f64..=1.0, other in 0.0_f64..=1.0, attempts in 1_u32..4
    ) {
        for config in ["", ISOTONIC, LOGISTIC] {
            let value = |raw| calibrate_one(config, raw, Signals { attempts, ..first() });
            proptest::prop_assert!((0.0..=1.0).contains(&value(one)));
            proptest::prop_assert!(one + 1e-6 >= other || value(one) < value(other), "{config}");
        }
        for nonsense in [f64::NAN, f64::INFINITY, -1.0] {
            proptest::prop_assert!(
                (0.0..=1.0).contains(&calibrate_one(LOGISTIC, nonsense, first()))
            );
        }
    }
}
