//! Grading: who answers the questions of a suite, with which databases and strategies, and what comes of it.

mod arena;
mod arms;
pub(crate) mod ask;
mod begun;
mod calibrate;
mod content;
mod eval;
mod expected;
mod fuzz;
mod given;
mod gradable;
mod grader;
mod grid;
mod lint;
mod suite_run;
mod timing;

pub use arms::{Knob, distinct, twins};
pub use calibrate::{Calibration, calibrate};
pub use eval::{EVAL_SCHEMA, Eval, EvalReport, Expectation};
pub use fuzz::{
    FUZZ_FILE, FUZZ_FORMAT, FuzzManifest, FuzzObserver, FuzzOptions, Fuzzed, FuzzedDatabase, FuzzedVariant,
    FuzzedVerdict, fuzz,
};
pub use grader::Traces;
pub use grid::{Axis, GridCell, GridError, MOST_CELLS, cells, default_axes};
pub use lint::{Finding, FindingKind, LINT_SCHEMA, LintObserver, LintReport, Severity, SuiteOfLint, lint, read_suite};
pub use suite_run::{Beginning, SuiteOptions, SuiteOutcome, SuiteRun};
pub use timing::Timings;
