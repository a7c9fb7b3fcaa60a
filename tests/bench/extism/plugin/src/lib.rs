//! The example `steps` of the SDK as a plugin for Extism: reads the probability of a claim from a
//! list of steps. Claims and probabilities are JSON, the steps a setting of the manifest.

use extism_pdk::{FnResult, Json, config, plugin_fn};
use serde::Deserialize;

/// The steps where the manifest gives none: pairs of a claim and the probability from there on,
/// ascending.
const STEPS: &[[f64; 2]] = &[[0.0, 0.2], [0.5, 0.5], [0.9, 0.8]];

/// The events before a candidate was found: all members of the contract's record, which our side
/// receives as well.
#[derive(Deserialize)]
#[allow(dead_code, reason = "as in the example, only the errors count")]
struct Signals {
    attempts: u32,
    max_attempts: u32,
    syntax_errors: u32,
    schema_errors: u32,
    execution_errors: u32,
    empty_result: bool,
    null_columns: u32,
    overflow: bool,
    samples: u32,
    agreeing: u32,
    logprob: Option<f64>,
    reward: Option<f64>,
    extra: Vec<(String, f64)>,
}

/// The probability of each claim.
#[plugin_fn]
pub fn calibrate(Json(claims): Json<Vec<(f64, Signals)>>) -> FnResult<Json<Vec<f64>>> {
    let steps = match config::get("steps")? {
        Some(given) => serde_json::from_str(&given)?,
        None => STEPS.to_vec(),
    };
    Ok(Json(
        claims.iter().map(|(claimed, signals)| probability(&steps, *claimed, signals)).collect(),
    ))
}

fn probability(steps: &[[f64; 2]], claimed: f64, signals: &Signals) -> f64 {
    let step = steps.iter().rfind(|[from, _]| *from <= claimed);
    let probability = step.map_or(0.0, |[_, probability]| *probability);
    let errors = signals.syntax_errors + signals.schema_errors + signals.execution_errors;
    (probability - 0.1 * f64::from(errors)).clamp(0.0, 1.0)
}
