//! The provider `recorded`: answers that real systems gave to the questions of a suite. No endpoint
//! is called and nothing is paid, so that a strategy's draws, repairs and votes can be measured on
//! real candidates.
//!
//! There are two files in a folder, both with a JSON object on each line: `questions.jsonl` with
//! `id`, `db` and `question`, and the answers with `id` and `candidates`, `{SYSTEM: {"sql": …},
//! …}`. Other fields (gold statements, verdicts on the candidates) are skipped and not stored, so
//! that nothing here can reveal to a strategy which answer is right.
//!
//! `read` opens the files, and `order` defines the order of the answers.

mod order;
mod provider;
mod read;

pub use provider::{RecordedConfig, RecordedProvider};
pub use read::{RecordedAnswers, RecordedError, is_recorded};
