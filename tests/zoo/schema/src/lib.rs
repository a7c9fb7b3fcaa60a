//! A hostile plugin: the schema of its settings has 2,000 regular expressions of a few bytes, each
//! of which compiles to a megabyte.

use syrch_plugin::prelude::*;
use syrch_plugin::serde_json::{Value, json};

/// Settings whose schema is expensive to compile.
#[derive(Default)]
pub struct Expensive;

impl Settings for Expensive {
    fn schema() -> Value {
        let choices: Vec<Value> = (0..2_000)
            .map(|number| json!({"pattern": format!(r"\p{{L}}{{16}}{number}")}))
            .collect();
        json!({"type": "object", "properties": {"name": {"anyOf": choices}}})
    }

    fn read(_: &str) -> Result<Self, String> {
        Ok(Self)
    }
}

/// A plugin whose settings have the expensive schema.
pub struct Schema;

impl Plugin for Schema {
    const NAME: &'static str = "schema";
    const SUMMARY: &'static str = "has an expensive schema";
    type Settings = Expensive;

    fn new(_: Expensive) -> Self {
        Self
    }
}

impl CalibratorRole for Schema {
    fn calibrate(&self, claims: &[(f64, Signals)]) -> Vec<f64> {
        claims.iter().map(|(claimed, _)| *claimed).collect()
    }
}

syrch_plugin::export!(Schema: calibrator);
