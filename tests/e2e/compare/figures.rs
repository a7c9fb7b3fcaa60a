//! Figures over recorded answers of real systems, computed a second time without the host's code.

use std::time::Instant;

use serde_json::json;
use syrch_kit::recorded::{SAMPLERS, questions};

use super::{arm, run_command, state};
use crate::bad_input::Place;

/// The figures of recorded answers are those that are computed from the files alone.
#[test]
#[ignore = "a measurement: `make figures` makes it"]
fn recorded_answers_have_the_figures_of_an_independent_computation() {
    let Some(root) = syrch_kit::data_root().map(|root| root.join("spider")) else {
        println!("skipped: the test data are absent");
        return;
    };
    let place = Place::new();
    let started = Instant::now();
    let mut command =
        place.words("compare single vote5 --rule spider-ex --resamples 2000 --format json");
    command.env("SYRCH_STATE_DIR", state(&place)).arg(root.join("questions.jsonl"));
    let document = run_command(
        command.args(["--llm", &format!("replay:{}", root.join("recorded.jsonl").display())]),
    )
    .document(0);
    println!("522 questions by two arms took {:.1} s", started.elapsed().as_secs_f64());
    let mut right = [0_u64; 2];
    let mut calls = [0_u64; 2];
    let mut b = 0_u64;
    let mut c = 0_u64;
    let mut flipped = Vec::new();
    for question in &questions(&root) {
        let order = question.order(0);
        let takes = ["single", "vote5"]
            .map(|name| SAMPLERS.iter().find(|gate| gate.name == name).unwrap().take(&order));
        let is_right = takes.map(|taken| taken.answer.is_some_and(|answer| answer.is_right));
        for arm in 0..2 {
            right[arm] += u64::from(is_right[arm]);
            calls[arm] += u64::from(takes[arm].calls);
        }
        (b, c) =
            (b + u64::from(is_right == [true, false]), c + u64::from(is_right == [false, true]));
        flipped.extend((is_right[0] != is_right[1]).then(|| question.id.clone()));
    }
    for (at, name) in ["single", "vote5"].into_iter().enumerate() {
        let arm = arm(&document, name);
        assert_eq!(
            (&arm["right"], &arm["of"], &arm["costs"]["calls"]),
            (&json!(right[at]), &json!(522), &json!(calls[at])),
            "{name}"
        );
        let (low, high) = wilson(right[at] as f64, 522.0);
        let interval = |end: &str| arm["interval"][end].as_f64().unwrap();
        assert!(
            (interval("low") - low).abs() < 1e-9 && (interval("high") - high).abs() < 1e-9,
            "{arm}"
        );
    }
    let pair = &document["pairs"][0];
    assert_eq!(
        (&pair["b"], &pair["c"], &pair["clusters"]),
        (&json!(b), &json!(c), &json!({"of": "databases", "count": 12}))
    );
    let near = |key: &str, value: f64| {
        assert!(
            (pair[key].as_f64().unwrap() / value - 1.0).abs() < 1e-9,
            "{key} {value}: {}",
            pair[key]
        )
    };
    near("difference", (c as f64 - b as f64) / 522.0);
    near("mcnemar", mcnemar(b, c));
    let ids: Vec<&str> =
        pair["flipped"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(ids, flipped);
    println!(
        "single {} and vote5 {} of 522 right, {b} to {c}, calls {calls:?}",
        right[0], right[1]
    );
}

/// E. B. Wilson's interval, 95 %.
fn wilson(right: f64, of: f64) -> (f64, f64) {
    let z = 1.959_963_984_540_054;
    let middle = (right + z * z / 2.0) / (of + z * z);
    let half = z / (of + z * z) * (right * (of - right) / of + z * z / 4.0).sqrt();
    (middle - half, middle + half)
}

/// Twice the lower tail of a fair coin.
fn mcnemar(b: u64, c: u64) -> f64 {
    let all = b + c;
    let few = b.min(c);
    let mut term = 0.5_f64.powi(i32::try_from(all).unwrap());
    let mut tail = 0.0;
    for k in 0..=few {
        tail += term;
        term *= (all - k) as f64 / (k + 1) as f64;
    }
    (2.0 * tail).min(1.0)
}
