//! The provider `simulated`: it has the expected statements of a suite and answers with them or
//! with mistakes. The mistakes are as frequent and as similar to each other as those of real
//! systems. No endpoint is called and nothing is paid. Its figures describe no model: a report
//! marks them as simulated and shows a range over seeds.
//!
//! The simulation is based on measurements of 16 recorded systems on Spider's questions. A question
//! has a difficulty, which all samples share (`difficulty`). Wrong answers come from one menu of
//! mutants for each question (`mutants`, `menu`), so that two wrong answers are often equal: a
//! majority can be wrong, as with real models. The naive mode has neither and makes every search
//! seem perfect; it is the negative control.
//!
//! A reply is a function of the seed, the question, the purpose, the sample and the prompt
//! (`chance`). Expected statements leave this module only as the text of a right answer: no prompt,
//! no error and no other reply quotes them.

mod chance;
mod difficulty;
mod draw;
#[cfg(test)]
mod fixture;
mod judge;
mod knobs;
mod menu;
mod mutants;
mod provider;
mod same;
mod suite;
mod wire;

pub use knobs::SimulatedKnobs;
pub use provider::{SimulatedConfig, SimulatedProvider};
pub use suite::{SimulatedQuestion, SimulatedSuite};
