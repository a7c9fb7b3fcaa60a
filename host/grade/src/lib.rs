//! Grading: suites of questions with expected answers, and the rules that compare a result with the expected one.
//!
//! Nothing here runs a statement or asks a model: results come in as [`syrch_core::ResultSet`].

pub mod rules;
pub mod suite;

pub use rules::{Verdict, bag_v1};
pub use suite::{Question, SuiteError};
