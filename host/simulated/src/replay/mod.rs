//! The provider `replay`: each call gets the outcome that an equal call had when it was recorded.
//! No endpoint is called and nothing is paid.
//!
//! The caller reads the recording, which is the journal of a run or a recording of a model. This
//! module defines which requests are equal, and describes the nearest one if there is none.

mod nearest;
mod provider;
mod request;

pub use provider::{Exchange, ReplayConfig, ReplayProvider};
