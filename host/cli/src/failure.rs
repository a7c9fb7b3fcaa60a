//! An error as the user meets it: what happened, the exit code, and what to do next.

use syrch::grade::run::RunError;
use syrch::grade::suite::SuiteError;
use syrch::journal::JournalError;
use syrch::strategies::StrategyError;
use syrch::syrch_core::ledger::Exhausted;
use syrch::syrch_core::ports::DatabaseError;
use syrch::syrch_core::{RoleError, SqlError, SqlErrorKind};
use syrch::{Error, LoadError, Toolchain};

use crate::exit::Exit;

/// Why the program ends without doing what it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// Its class and exit code.
    pub(crate) exit: Exit,
    /// What happened, where and why.
    pub(crate) message: String,
    /// What to do next.
    pub(crate) hint: Option<String>,
}

/// What to do about a key that would go over plain HTTP to another machine.
pub(crate) const EXPOSED: &str =
    "use an https:// address, or a tunnel to this machine; --insecure-endpoint lets keys go there unprotected";

/// What a command comes to.
pub(crate) type Outcome<T = Exit> = Result<T, Failure>;

impl Failure {
    /// A failure of that class.
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), hint: None }
    }

    /// Says what to do next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Wrong usage.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// Wrong configuration.
    pub(crate) fn config(message: impl Into<String>) -> Self {
        Self::new(Exit::Config, message)
    }

    /// The document `syrch.error/1`.
    pub(crate) fn document(&self) -> serde_json::Value {
        serde_json::json!({
            "schema": "syrch.error/1",
            "error": {"class": self.exit.class(), "message": self.message, "hint": self.hint},
            "exit_code": self.exit.code(),
        })
    }
}

/// `a`, `a or b`, `a, b or c`, each in backticks.
pub(crate) fn alternatives(names: &[String]) -> Option<String> {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let (last, rest) = quoted.split_last()?;
    Some(if rest.is_empty() { last.clone() } else { format!("{} or {last}", rest.join(", ")) })
}

fn did_you_mean(names: &[String]) -> Option<String> {
    alternatives(names).map(|names| format!("did you mean {names}?"))
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        let of = |exit: Exit| Self::new(exit, message.clone());
        match error {
            Error::Config(_) => {
                of(Exit::Config).hint("correct the flag, variable or key; `syrch-host config --origin` shows where each setting comes from")
            }
            Error::Exposed(_) => of(Exit::Config).hint(EXPOSED),
            Error::Database(error) => error.into(),
            Error::Model { .. } => of(Exit::Model)
                .hint("check --base-url, --model and the key, or answer without a model by --llm offline"),
            Error::UnknownPlugin { similar, .. } => of(Exit::PluginRejected)
                .hint(did_you_mean(&similar).unwrap_or_else(|| {
                    "`syrch-host plugin list` shows the built-in ones; a path ends in .wasm".into()
                })),
            Error::PluginRejected { plugin, toolchain, source } => rejection(message, &plugin, toolchain, &source),
            Error::PluginFailed(error) => role_failure(&error),
            Error::Untrusted { plugin, .. } => of(Exit::Denied).hint(format!(
                "with `--trust {plugin}` it may, and so may put what it knows into prompts; --rows sample:N shows cells to all plugins"
            )),
            Error::Strategy { .. } => of(Exit::NoAnswer).hint("-v shows what the search did"),
            Error::Sql(error) => error.into(),
            Error::Budget(Exhausted::Overrun) => of(Exit::Budget)
                .hint("a statement of the search works on very long values, or the file system hangs; its thread may still run"),
            Error::Budget(_) => of(Exit::Budget).hint("--budget, --max-calls, --max-sql-runs and --max-usd raise the budgets"),
            Error::Deadline(_) => of(Exit::Budget).hint("--deadline SECONDS gives a search more time, and --deadline none takes the limit away"),
            Error::Interrupted => of(Exit::Interrupted),
            Error::Journal(error) => journal(message, &error),
            Error::Suite(error) => suite(message, &error),
            Error::Databases(_) => {
                of(Exit::Database).hint("--db names the folder in which the databases are, or the one database of all questions")
            }
            Error::Run(error) => run(message, &error),
            Error::Unfit(_) => of(Exit::Config),
            Error::Replay(_) => of(Exit::ReplayMiss).hint(
                "`syrch-host trace show RUN` shows what a run asked; --llm record:FILE records other answers, and without --strict a run \
                 is made again",
            ),
            Error::Internal(_) => of(Exit::Unexpected),
        }
    }
}

impl From<StrategyError> for Failure {
    fn from(error: StrategyError) -> Self {
        let failure = Self::config(error.to_string());
        match error {
            StrategyError::Unknown { similar, .. } => failure.hint(did_you_mean(&similar).unwrap_or_else(|| {
                "`syrch-host strategy list` shows the built-in ones; a path has a separator, or ends in .yml".into()
            })),
            StrategyError::Unreadable { .. } => failure.hint("check the path of the strategy file"),
            StrategyError::Invalid { .. } => failure.hint(
                "correct the file at that place; `syrch-host strategy show FILE` checks all of it, and `syrch-host strategy schema` \
                 prints a schema for editors",
            ),
            StrategyError::Host(_) => Self { exit: Exit::Unexpected, ..failure },
        }
    }
}

fn journal(message: String, error: &JournalError) -> Failure {
    match error {
        JournalError::Unknown { similar, .. } => {
            let failure = Failure::usage(message);
            match alternatives(similar) {
                Some(names) => failure.hint(format!("did you mean {names}?")),
                None => failure.hint("`syrch-host trace list` shows all runs"),
            }
        }
        JournalError::Several { .. } => Failure::usage(message).hint("give more of its id"),
        JournalError::Busy { .. } => Failure::config(message).hint("wait until it ends"),
        JournalError::Io { .. } | JournalError::Malformed { .. } | JournalError::Version { .. } => {
            Failure::config(message)
        }
    }
}

fn suite(message: String, error: &SuiteError) -> Failure {
    let failure = Failure::config(message);
    match error {
        SuiteError::Unreadable { .. } => failure.hint("check the path of the suite"),
        _ => failure.hint("nothing was asked; correct the suite, and check it by `syrch-host suite lint FILE`"),
    }
}

fn run(message: String, error: &RunError) -> Failure {
    match error {
        RunError::Unknown { similar, .. } => {
            let failure = Failure::usage(message);
            match alternatives(similar) {
                Some(names) => failure.hint(format!("did you mean {names}?")),
                None => failure.hint("`syrch-host report --list` shows all runs over suites"),
            }
        }
        RunError::Several { .. } => Failure::usage(message).hint("give more of its id"),
        RunError::Busy { .. } => Failure::config(message).hint("wait until it ends"),
        _ => Failure::config(message),
    }
}

fn rejection(message: String, plugin: &str, toolchain: Toolchain, why: &LoadError) -> Failure {
    let of = |exit: Exit, hint: String| Failure::new(exit, message.clone()).hint(hint);
    let rejected = |hint: &str| of(Exit::PluginRejected, hint.to_owned());
    match why {
        LoadError::Config(_) => of(
            Exit::Config,
            format!("`syrch-host plugin inspect {plugin}` shows the settings that -P and the config file may give it"),
        ),
        LoadError::WrongRole { .. } => {
            of(Exit::PluginRejected, format!("`syrch-host plugin inspect {plugin}` shows the roles that it plays"))
        }
        LoadError::Missing { similar, .. } => rejected(
            &did_you_mean(similar)
                .unwrap_or_else(|| "`syrch-host plugin list` shows the built-in ones, which need no path".into()),
        ),
        LoadError::NotAComponent { .. } | LoadError::Broken(_) => {
            rejected(&format!("make a component of it, {}, and copy the whole file", build_command(toolchain)))
        }
        LoadError::Version { .. } | LoadError::Import { .. } | LoadError::Export { .. } | LoadError::NoRole { .. } => {
            rejected(&format!(
                "build it against the contract of this host, the files in `wit/`, {}",
                build_command(toolchain)
            ))
        }
        LoadError::TooLarge { .. } => rejected(match toolchain {
            Toolchain::Go => "build it without debug information: `go build -ldflags='-s -w'`, or `wasm-tools strip`",
            Toolchain::JavaScript => "build it smaller: `componentize-qjs --opt-size --minify`, or `wasm-tools strip`",
            Toolchain::Python => "leave out packages that it does not import, or run `wasm-tools strip`",
            Toolchain::C => "build it with -Os -s, or run `wasm-tools strip`",
            Toolchain::Rust | Toolchain::Unknown => {
                "build it with --release and without debug information: `strip = true` in the profile, or `wasm-tools strip`"
            }
        }),
        LoadError::Unreadable(_) => rejected("check that the path is a file that you may read"),
        _ => Failure::new(Exit::PluginRejected, message),
    }
}

/// How the tool of a language makes a component.
fn build_command(toolchain: Toolchain) -> &'static str {
    match toolchain {
        Toolchain::Rust => "with `cargo build --release --target wasm32-wasip2`",
        Toolchain::C => "with `clang --target=wasm32-wasip1 -mexec-model=reactor` and `wasm-tools component new`",
        Toolchain::Go => "with `GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared` and `wasm-tools component new`",
        Toolchain::Python => "with `componentize-py -d wit -w WORLD componentize MODULE -o FILE.wasm`",
        Toolchain::JavaScript => "with `componentize-qjs --wit wit --world WORLD --js FILE.js -o FILE.wasm`",
        Toolchain::Unknown => {
            "such as with `cargo build --release --target wasm32-wasip2`, componentize-py, componentize-qjs or `wasm-tools component new`"
        }
    }
}

fn role_failure(error: &RoleError) -> Failure {
    let exit = match error {
        RoleError::Failure { .. } => Exit::NoAnswer,
        RoleError::Trap { .. } | RoleError::Limit { .. } | RoleError::Invalid { .. } => Exit::PluginFailed,
        RoleError::Unavailable { .. } => Exit::Unexpected,
        RoleError::Deadline => Exit::Budget,
        RoleError::Cancelled => Exit::Interrupted,
    };
    let failure = Failure::new(exit, error.to_string());
    if error.is_fault() {
        failure.hint("the plugin is at fault, not your data; try the search without it")
    } else {
        failure
    }
}

impl From<DatabaseError> for Failure {
    fn from(error: DatabaseError) -> Self {
        let failure = Self::new(Exit::Database, error.to_string());
        match error {
            DatabaseError::Missing { similar, .. } => failure
                .hint(did_you_mean(&similar).unwrap_or_else(|| "nothing was created; check the path of --db".into())),
            DatabaseError::NotADatabase { .. } => failure.hint("--db takes the path of a SQLite file"),
            DatabaseError::Corrupt { .. } => failure.hint("restore it from a copy, or try `sqlite3 FILE .recover`"),
            DatabaseError::Locked { .. } => failure.hint("close the program that writes to it, and try again"),
            DatabaseError::Unavailable { .. } => failure.hint("check the path and that you may read it"),
            DatabaseError::NothingGranted { tables, .. } => match alternatives(&tables) {
                Some(names) => failure.hint(format!("the database has {names}")),
                None => failure.hint("the database has no tables"),
            },
        }
    }
}

impl From<SqlError> for Failure {
    fn from(error: SqlError) -> Self {
        let exit = if error.kind.is_refusal() { Exit::Denied } else { Exit::Database };
        let rule = error.rule.as_ref().map(|rule| format!(" (rule `{rule}`)")).unwrap_or_default();
        let place = error.position.map(|at| format!(" at byte {at}")).unwrap_or_default();
        let failure = Self::new(exit, format!("{}: {}{place}{rule}", error.kind.name(), error.message));
        match (did_you_mean(&error.suggestions), exit) {
            (Some(hint), _) => failure.hint(hint),
            (None, Exit::Denied) => failure.hint("only statements that read granted tables are run"),
            (None, _) => match next_step(error.kind) {
                Some(hint) => failure.hint(hint),
                None => failure,
            },
        }
    }
}

/// What to do about a statement that failed by its own fault.
fn next_step(kind: SqlErrorKind) -> Option<&'static str> {
    match kind {
        SqlErrorKind::Syntax => {
            Some("check the words and the parentheses there; one whole query is run, of SELECT, VALUES or WITH")
        }
        SqlErrorKind::UnknownTable | SqlErrorKind::UnknownColumn => {
            Some("`syrch-host schema DB` shows all tables and columns")
        }
        SqlErrorKind::AmbiguousName => Some("write the table before the column, as in `orders.id`"),
        SqlErrorKind::TooLarge => Some("ask for less: fewer rows, columns or steps, or a shorter statement"),
        SqlErrorKind::Timeout => Some("ask for less: narrow the rows by WHERE, or check how the tables are joined"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_and_other_statement_errors_differ() {
        let refused = Failure::from(SqlError::new(SqlErrorKind::WriteRefused, "no").rule("select-only"));
        assert_eq!((refused.exit, refused.message.as_str()), (Exit::Denied, "write-refused: no (rule `select-only`)"));
        let unknown =
            SqlError::new(SqlErrorKind::UnknownTable, "no table `custmers`").suggest(vec!["customers".into()]);
        let unknown = Failure::from(unknown);
        assert_eq!((unknown.exit, unknown.hint.as_deref()), (Exit::Database, Some("did you mean `customers`?")));
    }

    #[test]
    fn the_document_names_class_and_code() {
        let document = Failure::config("bad").hint("good").document();
        assert_eq!(document["schema"], "syrch.error/1");
        assert_eq!(document["error"]["class"], "configuration");
        assert_eq!((&document["error"]["hint"], &document["exit_code"]), (&"good".into(), &10.into()));
    }

    #[test]
    fn a_wrong_setting_is_configuration_and_a_wrong_file_is_not() {
        let rejected = |source| {
            let toolchain = Toolchain::Python;
            Failure::from(Error::PluginRejected { plugin: "p.wasm".into(), toolchain, source })
        };
        assert_eq!(rejected(LoadError::Config("bad".into())).exit, Exit::Config);
        let missing = rejected(LoadError::Missing { path: "p.wasm".into(), similar: vec!["pp.wasm".into()] });
        assert_eq!((missing.exit, missing.hint.as_deref()), (Exit::PluginRejected, Some("did you mean `pp.wasm`?")));
        let other = rejected(LoadError::Version { found: "1".into(), offered: "2".into() });
        assert!(other.hint.is_some_and(|hint| hint.contains("componentize-py")));
    }

    #[test]
    fn faults_of_plugins_end_in_14() {
        let trap = RoleError::Trap { plugin: "x".into(), export: "plan".into(), reason: "unreachable".into() };
        assert_eq!(Failure::from(Error::PluginFailed(trap)).exit, Exit::PluginFailed);
        assert_eq!(Failure::from(Error::Interrupted).exit, Exit::Interrupted);
    }
}
