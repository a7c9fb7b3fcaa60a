//! A model that is simulated: it knows the expected statements of a suite and answers with them or with mistakes, as often and as much
//! alike as the mistakes of real systems are. No endpoint is asked and nothing is paid. Its figures stand for no model: whoever shows one
//! says that it is simulated, and shows it as a band over seeds.
//!
//! What it rests on was measured on 16 recorded systems and Spider's questions. A question has a difficulty, which all samples share
//! (`difficulty`). Wrong answers come from one menu of mutants a question (`mutants`, `menu`), so that two wrong answers are often the
//! same wrong answer: a majority can be wrong, as it is with real models. The naive mode has neither, and makes every search look perfect:
//! it is there as the negative control.
//!
//! All of it is pure: a call's reply follows from the seed, the question, the purpose, the sample and the prompt (`chance`). The expected
//! statements reach nobody but as the text of a right answer: no prompt, no error and no other reply quotes them.

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
