//! A model that is a set of recorded answers: what real systems once answered to the questions of a suite. No endpoint is asked, and
//! nothing is paid, so that a strategy's draws, repairs and votes can be measured on candidates as they really come.
//!
//! Two files lie side by side, both one JSON object a line: `questions.jsonl` with `id`, `db` and `question`, and the answers with `id`
//! and `candidates`, `{SYSTEM: {"sql": …}, …}`. Whatever else a line holds (gold statements, verdicts on the candidates) is skipped
//! and never kept: nothing here could tell a strategy which answer is right.
//!
//! `read` opens the files, `order` says which answer is whose turn.

mod order;
mod provider;
mod read;

pub use provider::{RecordedConfig, RecordedProvider};
pub use read::{RecordedAnswers, RecordedError, is_recorded};
