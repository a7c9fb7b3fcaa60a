//! Graded runs: the questions of a suite are asked under one or several strategies, and the answers
//! are compared with the expected rows.
//!
//! The crate [`syrch_grade`] has what a graded run needs and no database: suites, comparison rules,
//! the engine of runs, statistics and reports. The crate [`syrch`] has databases, models and
//! strategies. This one drives the second with the first.
//!
//! | what | item |
//! |---|---|
//! | a run over a suite, with one or several arms | [`SuiteRun`] |
//! | the arms of a grid | [`cells`] |
//! | one question with its expected answer | [`Eval`] |
//! | the expected answers of a suite, checked before a run is graded by them | [`lint`](lint()) |
//! | what linking shows of what the expected answers need | [`linking`](linking()) |
//! | changed copies of databases, for answers that are right by luck | [`fuzz`](fuzz()), [`Fuzzed`] |
//! | confidences fitted on a graded run | [`calibrate`](calibrate()) |
//! | how fast right statements are | [`Timings`] |

mod arena;
mod arms;
mod ask;
mod calibrate;
mod eval;
mod expected;
mod fuzz;
mod given;
mod gradable;
mod grader;
mod grid;
mod linking;
mod lint;
mod manifest;
mod suite_run;
mod talks;
mod timing;

pub use arms::{Knob, distinct, twins};
pub use calibrate::{Calibration, calibrate};
pub use eval::{EVAL_SCHEMA, Eval, EvalReport, Expectation};
pub use fuzz::{
    FUZZ_FILE, FUZZ_FORMAT, FuzzManifest, FuzzObserver, FuzzOptions, Fuzzed, FuzzedDatabase,
    FuzzedVariant, FuzzedVerdict, fuzz,
};
pub use grader::Traces;
pub use grid::{Axis, GridCell, GridError, MOST_CELLS, cells, default_axes};
pub use linking::{
    LINKING_SCHEMA, LinkingObserver, LinkingReport, MissedInLinking, PromptLength, ShownShare,
    linking,
};
pub use lint::{
    Finding, FindingKind, LINT_SCHEMA, LintObserver, LintReport, Severity, SuiteOfLint, lint,
    read_suite,
};
pub use suite_run::{Beginning, SuiteOptions, SuiteOutcome, SuiteRun};
pub use syrch_grade as grade;
pub use timing::Timings;
