//! The calibrator with fake ports.

use syrch_plugin::prelude::*;

use syrch_plugin::discount::Weights;

use crate::SignalsCalibrator;

fn calibrate_one(raw: f64, signals: Signals) -> f64 {
    let plugin = SignalsCalibrator::new(Weights::default());
    (plugin.calibrate(&[(raw, signals)])[0] * 1e9).round() / 1e9
}

fn first() -> Signals {
    Signals { attempts: 1, max_attempts: 3, ..Signals::default() }
}

#[test]
fn a_first_attempt_without_trouble_keeps_its_claim() {
    assert_eq!(calibrate_one(0.85, first()), 0.85);
}

#[test]
fn each_signal_has_the_factor_of_syrch_0_1_2() {
    assert_eq!(calibrate_one(1.0, Signals { syntax_errors: 1, ..first() }), 0.90);
    assert_eq!(calibrate_one(1.0, Signals { schema_errors: 1, ..first() }), 0.95);
    assert_eq!(calibrate_one(1.0, Signals { execution_errors: 1, ..first() }), 0.90);
    assert_eq!(calibrate_one(1.0, Signals { empty_result: true, ..first() }), 0.85);
    assert_eq!(calibrate_one(1.0, Signals { null_columns: 2, ..first() }), 0.95);
    assert_eq!(calibrate_one(1.0, Signals { overflow: true, ..first() }), 0.95);
    assert_eq!(calibrate_one(1.0, Signals { attempts: 3, ..first() }), 0.966_666_667);
}

#[test]
fn a_factor_applies_once_and_factors_multiply() {
    assert_eq!(calibrate_one(1.0, Signals { syntax_errors: 3, ..first() }), 0.90);
    // The readme's walk: a second of three attempts after an overflow.
    let second = Signals { attempts: 2, schema_errors: 1, overflow: true, ..first() };
    assert_eq!(
        calibrate_one(0.9, second),
        (0.9_f64 * 0.95 * 0.95 * (1.0 - 0.05 / 3.0) * 1e9).round() / 1e9
    );
}

#[test]
fn nonsense_never_leaves_the_unit_interval() {
    assert_eq!(calibrate_one(f64::NAN, first()), 0.0);
    assert_eq!(calibrate_one(f64::INFINITY, first()), 1.0);
    assert_eq!(calibrate_one(-1.0, first()), 0.0);
    let odd = Signals {
        attempts: u32::MAX,
        max_attempts: 2,
        syntax_errors: u32::MAX,
        ..Signals::default()
    };
    assert!((0.0..=1.0).contains(&calibrate_one(1.0, odd)));
    assert_eq!(
        calibrate_one(1.0, Signals { attempts: 0, max_attempts: 0, ..Signals::default() }),
        1.0
    );
}

#[test]
fn weights_come_from_the_settings() {
    let weights = Weights::read(r#"{"empty": 1.0}"#).unwrap();
    let plugin = SignalsCalibrator::new(weights);
    assert_eq!(plugin.calibrate(&[(0.9, Signals { empty_result: true, ..first() })]), [0.0]);
}

#[test]
fn there_is_one_number_for_each_claim() {
    let plugin = SignalsCalibrator::new(Weights::default());
    assert_eq!(plugin.calibrate(&[]), Vec::<f64>::new());
    assert_eq!(plugin.calibrate(&[(0.1, first()), (0.2, first())]), [0.1, 0.2]);
}

proptest::proptest! {
    #[test]
    fn no_signal_ever_raises_a_confidence(
        raw in 0.0_f64..=1.0, errors in proptest::array::uniform4(0_u32..5), attempts in 0_u32..9
    ) {
        let plain = calibrate_one(raw, first());
        let troubled = Signals {
            attempts,
            max_attempts: 5,
            syntax_errors: errors[0],
            schema_errors: errors[1],
            execution_errors: errors[2],
            null_columns: errors[3],
            ..Signals::default()
        };
        let lowered = calibrate_one(raw, troubled);
        proptest::prop_assert!((0.0..=plain).contains(&lowered));
    }
}
