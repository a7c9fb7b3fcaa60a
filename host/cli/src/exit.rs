//! The classes of errors with their exit codes: the one table that the program, its help,
//! `syrch.error/1` and the documents go by.

/// The end of the program; the number is the exit code of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    Answered = 0,
    Unexpected = 1,
    Usage = 2,
    NoAnswer = 3,
    Clarify = 4,
    Gate = 5,
    Config = 10,
    Database = 11,
    Model = 12,
    PluginRejected = 13,
    PluginFailed = 14,
    Denied = 15,
    Budget = 16,
    ReplayMiss = 17,
    Interrupted = 130,
}

impl Exit {
    /// All classes in the order of the help.
    pub(crate) const ALL: [Self; 15] = [
        Self::Answered,
        Self::Unexpected,
        Self::Usage,
        Self::NoAnswer,
        Self::Clarify,
        Self::Gate,
        Self::Config,
        Self::Database,
        Self::Model,
        Self::PluginRejected,
        Self::PluginFailed,
        Self::Denied,
        Self::Budget,
        Self::ReplayMiss,
        Self::Interrupted,
    ];

    /// The exit code of the process.
    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    /// The name of the class: in `syrch.error/1`, in reports of graded runs and in journals.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Unexpected => "unexpected",
            Self::Usage => "usage",
            Self::NoAnswer => "no-answer",
            Self::Clarify => "clarification-needed",
            Self::Gate => "gate-failed",
            Self::Config => "configuration",
            Self::Database => "database",
            Self::Model => "model",
            Self::PluginRejected => "plugin-rejected",
            Self::PluginFailed => "plugin-failed",
            Self::Denied => "denied",
            Self::Budget => "budget",
            Self::ReplayMiss => "replay-miss",
            Self::Interrupted => "interrupted",
        }
    }

    /// The class of an error of the library, which names it by [`syrch::Error::class`].
    pub(crate) fn from_error(error: &syrch::Error) -> Self {
        Self::from_class(error.class()).unwrap_or(Self::Unexpected)
    }

    /// The class with that name. `None` if this host does not know the name, as a newer one may
    /// have written it.
    pub(crate) fn from_class(class: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|exit| exit.class() == class)
    }

    /// The meaning of the exit code, as the help prints it.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::Answered => "answered, or done",
            Self::Unexpected => "an unexpected error",
            Self::Usage => "wrong usage of the command line",
            Self::NoAnswer => "no acceptable answer was found",
            Self::Clarify => "the question needs a clarification",
            Self::Gate => "a gate failed, such as --fail-on, or a case of `plugin test` differs",
            Self::Config => "a wrong configuration, or a tool that `plugin build` needs is missing",
            Self::Database => "the database, or a statement on it, failed",
            Self::Model => "the model endpoint failed",
            Self::PluginRejected => {
                "a plugin was rejected when it was loaded, or could not be built"
            }
            Self::PluginFailed => {
                "a plugin trapped, hit a limit, returned nonsense or failed by an error of its own"
            }
            Self::Denied => "denied by the guard, by a grant, or for want of your consent",
            Self::Budget => "a budget, or the deadline, was used up",
            Self::ReplayMiss => "a replay lacks a recording, or departs from its journal",
            Self::Interrupted => "interrupted",
        }
    }

    /// The table of exit codes at the end of the help.
    pub(crate) fn help() -> String {
        let lines = Self::ALL.map(|exit| format!("  {:>3}  {}", exit.code(), exit.meaning()));
        format!("Exit codes:\n{}", lines.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_and_all_in_the_help() {
        let mut codes = Exit::ALL.map(Exit::code).to_vec();
        codes.dedup();
        assert_eq!(codes, [0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15, 16, 17, 130]);
        let help = Exit::help();
        assert!(Exit::ALL.iter().all(|exit| help.contains(exit.meaning())));
    }

    #[test]
    fn classes_are_found_by_their_names() {
        assert!(Exit::ALL.iter().all(|exit| Exit::from_class(exit.class()) == Some(*exit)));
        assert_eq!(Exit::from_class("none of them"), None);
        let errors = [
            (syrch::Error::Config(String::new()), Exit::Config),
            (
                syrch::Error::Model {
                    model: String::new(),
                    message: String::new(),
                    obstacle: None,
                },
                Exit::Model,
            ),
            (
                syrch::Error::Strategy { role: String::new(), message: String::new() },
                Exit::NoAnswer,
            ),
            (syrch::Error::Deadline(1.0), Exit::Budget),
            (syrch::Error::Interrupted, Exit::Interrupted),
            (syrch::Error::Replay(String::new()), Exit::ReplayMiss),
            (syrch::Error::Internal(String::new()), Exit::Unexpected),
        ];
        errors
            .iter()
            .for_each(|(error, exit)| assert_eq!(Exit::from_error(error), *exit, "{error:?}"));
    }
}
