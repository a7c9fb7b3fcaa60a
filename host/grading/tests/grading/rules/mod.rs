//! The comparison rules and the fuzzed suite over what 16 real systems answered to 522 questions.

mod fuzzed;
mod recorded;
mod verdicts;
