//! Grading: suites of questions with expected answers, the rules that compare a result with the
//! expected one, runs over a suite that survive being killed, the statistics of their comparison,
//! and the reports on them.
//!
//! Nothing here opens a database or asks a model: results come in as [`syrch_core::ResultSet`], and
//! whoever answers questions is a [`run::SystemUnderTest`].

pub mod calibrate;
pub mod picture;
pub mod report;
pub mod rules;
pub mod run;
pub mod stats;

pub use rules::{Verdict, bag_v1};
pub use syrch_suites as suite;
pub use syrch_suites::{Gold, Question, SuiteError};
