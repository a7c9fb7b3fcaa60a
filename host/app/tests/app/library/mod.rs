//! One call, own databases and models, dry runs and recordings.

mod doubtful_answers;
mod doubts;
mod own;
mod preview;
mod query;
mod recordings;
mod rewriter;
mod shop;
mod wrong_statements;
