//! An arm of a comparison with its figures.

use serde::{Deserialize, Serialize};

use super::bands::Band;
use super::figures::Figures;
use super::reliability::AllRight;
use crate::run::Arm;

/// An arm and its figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArmReport {
    /// The strategy with its plugins and settings.
    #[serde(flatten)]
    pub arm: Arm,
    /// The share of right answers over several seeds. `None` if there is one seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub band: Option<Band>,
    /// The chances that each of several tries is right. Empty if there is one seed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub all_right: Vec<AllRight>,
    /// The speed of its right answers relative to the expected statements, in percent (R-VES,
    /// BIRD's mini-dev); `None` if they were not timed. Left out by `without_times`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r_ves: Option<f64>,
    /// The figures of the arm.
    #[serde(flatten)]
    pub figures: Figures,
}
