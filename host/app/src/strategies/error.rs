//! Errors in a strategy.

/// The reason why there is no strategy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StrategyError {
    /// No built-in strategy has this name.
    #[error("there is no built-in strategy `{name}`")]
    Unknown {
        /// The name asked for.
        name: String,
        /// The names of built-in strategies that resemble it, best first.
        similar: Vec<String>,
    },
    /// The file cannot be read.
    #[error("strategy file `{file}`: {why}")]
    Unreadable {
        /// The file, as it was named.
        file: String,
        /// The reason, as the system gives it.
        why: String,
    },
    /// The file's content is wrong.
    #[error("{}", .problems.join("\n"))]
    Invalid {
        /// Each of them, with its place in the file, its key, and what nearly matches.
        problems: Vec<String>,
    },
    /// The host cannot inspect plugins.
    #[error("the plugins cannot be looked at: {0}")]
    Host(String),
}
