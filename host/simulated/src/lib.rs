//! Providers without an endpoint that answer from what is known beforehand: `recorded` from the
//! answers of real systems to the questions of a suite, `replay` from a recorded run, and
//! `simulation` from the expected statements of a suite.

mod known;
pub mod recorded;
pub mod replay;
pub mod simulation;

pub use recorded::{RecordedAnswers, RecordedConfig, RecordedError, RecordedProvider};
pub use replay::{Exchange, ReplayConfig, ReplayProvider};
pub use simulation::{
    SimulatedConfig, SimulatedKnobs, SimulatedProvider, SimulatedQuestion, SimulatedSuite,
};
