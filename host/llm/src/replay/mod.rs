//! A model that is a recording: each call gets the answer that an equal one got then. No endpoint is asked, and nothing is paid.
//!
//! Whoever opens it reads the recording (a run's journal, or what was noted of a live model); here are the rules by which calls find
//! their answers, and the words for those that find none.

mod nearest;
mod provider;
mod request;

pub use provider::{Exchange, ReplayConfig, ReplayProvider};
