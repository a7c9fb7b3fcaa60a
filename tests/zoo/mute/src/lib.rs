//! A hostile plugin: it never says who it is. Asked to describe itself, it spins.

use syrch_plugin::prelude::*;
use syrch_plugin::serde_json::Value;

/// Settings whose schema takes for ever.
#[derive(Default)]
pub struct Endless;

impl Settings for Endless {
    fn schema() -> Value {
        let mut number = 0_u64;
        loop {
            number = std::hint::black_box(number.wrapping_add(1));
        }
    }

    fn read(_: &str) -> Result<Self, String> {
        Ok(Self)
    }
}

/// A calibrator that never describes itself.
pub struct Mute;

impl Plugin for Mute {
    const NAME: &'static str = "mute";
    const SUMMARY: &'static str = "never says who it is";
    type Settings = Endless;

    fn new(_: Endless) -> Self {
        Self
    }
}

impl CalibratorRole for Mute {
    fn calibrate(&self, _: &[(f64, Signals)]) -> Vec<f64> {
        Vec::new()
    }
}

syrch_plugin::export!(Mute: calibrator);
