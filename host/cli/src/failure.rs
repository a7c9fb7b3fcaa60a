//! Errors as the command line shows them: what happened, the exit code, and what to do next.

use std::path::Path;

use syrch::Error;
use syrch::databases::{Executor, ServerEntry};
use syrch::journal::JournalError;
use syrch::plugins::{LoadError, Toolchain};
use syrch::strategies::StrategyError;
use syrch::syrch_core::ledger::Exhausted;
use syrch::syrch_core::ports::{DatabaseError, Obstacle, STARTING};
use syrch::syrch_core::text::either;
use syrch::syrch_core::{SqlError, SqlErrorKind};
use syrch_grading::grade::run::RunError;
use syrch_grading::grade::suite::SuiteError;

use crate::exit::Exit;
use crate::shell;

/// The reason why a command could not do its work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The class, which has a name and an exit code.
    pub(crate) exit: Exit,
    /// The message: what happened, where and why.
    pub(crate) message: String,
    /// The advice on what to do next.
    pub(crate) hint: Option<String>,
}

/// The advice on a key that would go over plain HTTP to another machine.
pub(crate) const EXPOSED: &str = "use an https:// address, or a tunnel to this machine; \
                                  --insecure-endpoint lets keys go there unprotected";

/// The advice on a server that is starting.
const STARTS: &str = "ask again in a few minutes, or wait for it by --sql-timeout 600";

/// The result of a command, or of a part of one.
pub(crate) type Outcome<T = Exit> = Result<T, Failure>;

impl Failure {
    /// A failure of that class, without a hint.
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), hint: None }
    }

    /// Sets what to do next, in place of an earlier hint.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// A failure by wrong usage of the command line.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// A failure by wrong configuration.
    pub(crate) fn config(message: impl Into<String>) -> Self {
        Self::new(Exit::Config, message)
    }

    /// The failure of a document that has no form in JSON.
    pub(crate) fn unwritable_document(error: serde_json::Error) -> Self {
        Self::new(Exit::Unexpected, format!("the document cannot be written: {error}"))
    }

    /// The failure as the JSON document `syrch.error/1`.
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
    /// The exit code is that of the class of the error, for every error of the library; only the
    /// hint depends on more.
    fn from(error: Error) -> Self {
        let message = match &error {
            Error::Sql(error) => statement_message(error),
            error => error.to_string(),
        };
        if let Error::Definition(error) = error {
            return error.into();
        }
        Self { exit: Exit::from_error(&error), message, hint: hint(&error) }
    }
}

impl From<DatabaseError> for Failure {
    fn from(error: DatabaseError) -> Self {
        Error::from(error).into()
    }
}

impl From<SqlError> for Failure {
    fn from(error: SqlError) -> Self {
        Error::from(error).into()
    }
}

/// Returns the advice on an error.
fn hint(error: &Error) -> Option<String> {
    let fixed = match error {
        Error::Unpriced { model } => return Some(advise_price(model, "--max-usd")),
        Error::Config(_) => {
            "correct the flag, variable or key; `syrch-host config --origin` shows where each \
             setting comes from"
        }
        Error::Exposed(_) => EXPOSED,
        Error::Database(error) => return database_hint(error),
        Error::Model { obstacle, .. } => model_hint(*obstacle),
        Error::UnknownPlugin { name, .. } if Path::new(name).is_dir() => {
            return Some(format!(
                "`{name}` is a folder: name the component in it, such as {name}/build/NAME.wasm"
            ));
        }
        Error::UnknownPlugin { similar, .. } => {
            return similar_or(
                similar,
                "`syrch-host plugin list` shows the built-in ones; a path ends in .wasm",
            );
        }
        Error::PluginRejected { plugin, toolchain, source } => {
            return rejection_hint(plugin, *toolchain, source);
        }
        Error::ChangedPlugin { .. } => {
            "somebody changed the file: `syrch-host plugin add` puts a component in its place that \
             you have reviewed"
        }
        Error::NotReviewed { name, path } => {
            let name = shell::quote(name);
            let path = shell::quote(path);
            return Some(format!(
                "`syrch-host plugin review {name}` shows what has changed, and the name `{name}` \
                 runs the one that was added; --trust {path} runs this one as one of yours"
            ));
        }
        Error::NotAdded { path, .. } => {
            let path = shell::quote(path);
            return Some(format!(
                "`syrch-host plugin add {path}` shows what it asks for and adds it under grants; \
                 --trust {path} runs it as one of yours"
            ));
        }
        Error::PluginFailed(error) if error.is_fault() => {
            "the plugin is at fault, not your data; try the search without it. Its author sees its \
             calls by `syrch-host trace show last`, and more by -vv"
        }
        Error::Untrusted { grant: Some(_), name: Some(name), .. } => {
            return Some(format!(
                "`syrch-host plugin grants {name} --allow sends=sample:1`, or more up to \
                 sends=full, lets it put what it knows into prompts; else search without it"
            ));
        }
        Error::NotGranted { plugin, port } => {
            return Some(format!("`syrch-host plugin grants {plugin} --allow {port}` grants it"));
        }
        Error::GrantUsedUp { plugin, grant } => {
            let limit = grant.split('=').next().unwrap_or_default();
            return Some(format!(
                "`syrch-host plugin grants {plugin} --allow {limit}=…` grants more"
            ));
        }
        Error::LockRace { .. } => "nothing was changed: run the command again",
        Error::Untrusted { plugin, .. } => {
            let plugin = shell::quote(plugin);
            return Some(format!(
                "with `--trust {plugin}` it may, and so may put what it knows into prompts; --rows \
                 sample:N shows cells to all plugins"
            ));
        }
        Error::Consent(_) => {
            "--accept-data-sent agrees that such requests are sent, and --dry-run shows them"
        }
        Error::Strategy { .. } => "-v shows what the search did",
        Error::FollowUp(_) => "change the request otherwise, or ask the question in full",
        Error::Sql(error) => return statement_hint(error),
        Error::Budget(which) => budget_hint(*which),
        Error::Deadline(_) => {
            "--deadline SECONDS gives a search more time, and --deadline none takes the limit away"
        }
        Error::Journal(JournalError::Unknown { similar, .. }) => {
            return similar_or(
                similar,
                "`syrch-host trace list` shows all searches; of a run over a suite, which \
                 `syrch-host report --list` shows, name a journal in its folder",
            );
        }
        Error::Run(RunError::Unknown { similar, .. }) => {
            return similar_or(similar, "`syrch-host report --list` shows all runs over suites");
        }
        Error::Journal(JournalError::Several { .. }) | Error::Run(RunError::Several { .. }) => {
            "give more of its id"
        }
        Error::Journal(JournalError::Busy { .. }) | Error::Run(RunError::Busy { .. }) => {
            "wait until it ends"
        }
        Error::Suite(SuiteError::Unreadable { .. }) => "check the path of the suite",
        Error::Suite(_) => {
            "nothing was asked; correct the suite, and check it by `syrch-host suite lint FILE`"
        }
        Error::Databases(_) => {
            "--db names the folder in which the databases are, or the one database of all questions"
        }
        Error::Replay(_) => {
            "`syrch-host trace show RUN` shows what a run asked; --llm record:FILE records other \
             answers, and without --strict a run is made again"
        }
        Error::PluginFailed(_)
        | Error::Definition(_)
        | Error::Interrupted
        | Error::Journal(_)
        | Error::NotBuilt { .. }
        | Error::Run(_)
        | Error::Unfit(_)
        | Error::Internal(_) => return None,
    };
    Some(fixed.to_owned())
}

/// Returns the advice on a model that cannot be used. An endpoint that works need not be probed.
fn model_hint(obstacle: Option<Obstacle>) -> &'static str {
    match obstacle {
        Some(Obstacle::Credits) => {
            "pay for more credits where the endpoint is billed, or name another one by --base-url \
             and --model; --llm offline answers without a model"
        }
        Some(Obstacle::Key) => {
            "SYRCH_API_KEY holds the key, and `syrch-host config --origin` shows where the present \
             one comes from; --llm offline answers without a model"
        }
        Some(Obstacle::Rate | Obstacle::Load) => {
            "ask again later, or name another endpoint by --base-url and --model; --llm offline \
             answers without a model"
        }
        Some(Obstacle::Size) => {
            "name a model with higher limits by --model, or another endpoint by --base-url; --llm \
             offline answers without a model"
        }
        None => {
            "`syrch-host doctor --probe` with the same flags checks the endpoint, and --llm \
             offline answers without a model"
        }
    }
}

/// Returns the advice on a budget that is used up: the flag that raises it.
fn budget_hint(which: Exhausted) -> &'static str {
    match which {
        Exhausted::Tokens => "--budget allows a search more tokens",
        Exhausted::LlmCalls => "--max-calls allows a search more model calls",
        Exhausted::SqlRuns => "--max-sql-runs allows a search more statements",
        Exhausted::Cost => "--max-usd allows a search to cost more",
        Exhausted::HostCalls | Exhausted::Cpu => {
            "no flag raises this limit: another strategy may do with less work in its plugins"
        }
        Exhausted::Overrun => {
            "a statement of the search works on very long values, or the file system hangs; \
             its thread may still run"
        }
        Exhausted::TotalTokens => "--total-tokens allows all searches together more tokens",
        Exhausted::TotalCalls => "--total-calls allows all searches together more model calls",
        Exhausted::TotalCost => "--total-usd allows all searches together to cost more",
    }
}

/// Returns the advice on a model without a price, when a flag limits money.
pub(crate) fn advise_price(model: &str, flag: &str) -> String {
    format!(
        "set its price, in dollars for a million tokens, by llm.prices in ~/.syrch/config.yml: \
         `llm: {{prices: {{\"{model}\": {{input: 2.5, output: 10}}}}}}`, or leave out {flag}"
    )
}

/// The names that the user may have meant, or else another hint.
fn similar_or(similar: &[String], other: &str) -> Option<String> {
    Some(did_you_mean(similar).unwrap_or_else(|| other.to_owned()))
}

impl From<StrategyError> for Failure {
    fn from(error: StrategyError) -> Self {
        let failure = Self::config(error.to_string());
        match error {
            StrategyError::Unknown { similar, .. } => Self {
                hint: similar_or(
                    &similar,
                    "`syrch-host strategy list` shows the built-in ones; a path has a separator, \
                     or ends in .yml",
                ),
                ..failure
            },
            StrategyError::Unreadable { .. } => failure.hint("check the path of the strategy file"),
            StrategyError::Invalid { .. } => failure.hint(
                "correct the file at that place; `syrch-host strategy show FILE` checks all of it, \
                 and `syrch-host strategy schema` prints a schema for editors",
            ),
            StrategyError::Host(_) => Self { exit: Exit::Unexpected, ..failure },
        }
    }
}

fn rejection_hint(plugin: &str, toolchain: Toolchain, why: &LoadError) -> Option<String> {
    let fixed = match why {
        LoadError::Config(_) => {
            let plugin = shell::quote(plugin);
            return Some(format!(
                "`syrch-host plugin inspect {plugin}` shows the settings that -P and the config \
                 file may give it"
            ));
        }
        LoadError::WrongRole { .. } => {
            let plugin = shell::quote(plugin);
            return Some(format!(
                "`syrch-host plugin inspect {plugin}` shows the roles that it implements"
            ));
        }
        LoadError::Missing { path, similar } => {
            let build = |folder: &Path| {
                format!(
                    "`syrch-host plugin build {}` makes the component",
                    shell::quote(&folder.display())
                )
            };
            let build = syrch_projects::project_of_component(path.as_ref()).map(build);
            let list = "`syrch-host plugin list` shows the built-in ones, which need no path";
            return similar_or(similar, build.as_deref().unwrap_or(list));
        }
        LoadError::NotAComponent { .. } | LoadError::Broken(_) => {
            return Some(format!(
                "make a component of it: by `syrch-host plugin build` in its project, or {}; copy \
                 the whole file",
                build_command(toolchain)
            ));
        }
        LoadError::Version { .. }
        | LoadError::Import { .. }
        | LoadError::Export { .. }
        | LoadError::NoRole { .. } => {
            return Some(format!(
                "build it against the contract of this host: by `syrch-host plugin build` in its \
                 project, or the files in `wit/` {}",
                build_command(toolchain)
            ));
        }
        LoadError::TooLarge { .. } => match toolchain {
            Toolchain::Go => {
                "build it without debug information: `go build -ldflags='-s -w'`, \
                 or `wasm-tools strip`"
            }
            Toolchain::JavaScript => {
                "build it smaller: `componentize-qjs --opt-size --minify`, componentize-qjs \
                 instead of componentize-js, or `wasm-tools strip`"
            }
            Toolchain::Python => {
                "leave out packages that it does not import, or run `wasm-tools strip`"
            }
            Toolchain::C => "build it with -Os -s, or run `wasm-tools strip`",
            Toolchain::Rust | Toolchain::Unknown => {
                "build it with --release and without debug information: `strip = true` in the \
                 profile, or `wasm-tools strip`"
            }
        },
        LoadError::Unreadable(_) => "check that the path is a file that you may read",
        _ => return None,
    };
    Some(fixed.to_owned())
}

/// The command that makes a component with the tools of a language.
fn build_command(toolchain: Toolchain) -> &'static str {
    match toolchain {
        Toolchain::Rust => "with `cargo build --release --target wasm32-wasip2`",
        Toolchain::C => {
            "with `clang --target=wasm32-wasip1 -mexec-model=reactor` and `wasm-tools \
             component new`"
        }
        Toolchain::Go => {
            "with `GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared` and `wasm-tools \
             component new`"
        }
        Toolchain::Python => {
            "with `componentize-py -d wit -w WORLD componentize MODULE -o FILE.wasm`"
        }
        Toolchain::JavaScript => {
            "with `componentize-qjs --wit wit --world WORLD --js FILE.js -o FILE.wasm`"
        }
        Toolchain::Unknown => {
            "such as with `cargo build --release --target wasm32-wasip2`, componentize-py, \
             componentize-qjs or `wasm-tools component new`"
        }
    }
}

/// Joins what the engines whose databases are at a server say of something.
fn join_servers(what: fn(&ServerEntry) -> &'static str) -> String {
    let all: Vec<&str> = Executor::all().filter_map(Executor::server).map(what).collect();
    all.join(", or ")
}

fn database_hint(error: &DatabaseError) -> Option<String> {
    Some(match error {
        DatabaseError::Missing { similar, .. } => {
            return similar_or(similar, "nothing was created; check --db");
        }
        DatabaseError::NotADatabase { .. } => {
            let takes: Vec<&str> = Executor::all().map(Executor::describe_addresses).collect();
            format!("--db takes {}", either(&takes))
        }
        DatabaseError::Corrupt { .. } => {
            let rescues = Executor::all().filter_map(|executor| executor.files()?.rescue);
            let rescues: String = rescues.map(|command| format!(", or try `{command}`")).collect();
            format!("restore it from a copy{rescues}")
        }
        DatabaseError::Address { .. } => {
            let forms: Vec<String> = Executor::all()
                .filter(|each| each.server().is_some())
                .map(Executor::forms)
                .collect();
            format!("--db takes {}; docs/databases.md has what may follow", either(&forms))
        }
        DatabaseError::Unreachable { .. } => {
            "check the host and the port of the address, and that the server runs and has a \
             free connection"
                .to_owned()
        }
        DatabaseError::Starting { .. } => STARTS.to_owned(),
        DatabaseError::LoginRefused { .. } => {
            format!("check {}", join_servers(|server| server.login))
        }
        DatabaseError::Encryption { .. } => {
            format!("check {}", join_servers(|server| server.encryption))
        }
        DatabaseError::Malformed { .. } => "correct what the message names in that file".to_owned(),
        DatabaseError::Locked { .. } => {
            "close the program that writes to it, and try again".to_owned()
        }
        DatabaseError::Unavailable { .. } => {
            "check --db, that you may read what it names, and what the message says of its content"
                .to_owned()
        }
        DatabaseError::NothingGranted { tables, .. } => match alternatives(tables) {
            Some(names) => format!("the database has {names}"),
            None => "the database has no tables".to_owned(),
        },
    })
}

/// The error of a statement with its kind, the place in the text and the rule that refused it.
fn statement_message(error: &SqlError) -> String {
    let rule = error.rule.as_ref().map(|rule| format!(" (rule `{rule}`)")).unwrap_or_default();
    let place = error.position.map(|at| format!(" at byte {at}")).unwrap_or_default();
    format!("{}: {}{place}{rule}", error.kind.name(), error.message)
}

fn statement_hint(error: &SqlError) -> Option<String> {
    if error.rule.as_deref() == Some(STARTING) {
        return Some(STARTS.to_owned());
    }
    did_you_mean(&error.suggestions).or_else(|| match error.kind.is_refusal() {
        true => Some("only statements that read granted tables are run".to_owned()),
        false => next_step(error.kind).map(str::to_owned),
    })
}

/// Returns the advice on a statement that the engine did not accept.
fn next_step(kind: SqlErrorKind) -> Option<&'static str> {
    match kind {
        SqlErrorKind::Syntax => Some(
            "check the words and the parentheses there; one whole query is run, of SELECT, \
             VALUES or WITH",
        ),
        SqlErrorKind::UnknownTable | SqlErrorKind::UnknownColumn => {
            Some("`syrch-host schema DB` shows all tables and columns")
        }
        SqlErrorKind::AmbiguousName => Some("write the table before the column, as in `orders.id`"),
        SqlErrorKind::TooLarge => {
            Some("ask for less: fewer rows, columns or steps, or a shorter statement")
        }
        SqlErrorKind::Timeout => {
            Some("ask for less: narrow the rows by WHERE, or check how the tables are joined")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use syrch::syrch_core::RoleError;

    use super::*;

    #[test]
    fn refusals_and_other_statement_errors_differ() {
        let refused =
            Failure::from(SqlError::new(SqlErrorKind::WriteRefused, "no").rule("select-only"));
        assert_eq!(
            (refused.exit, refused.message.as_str()),
            (Exit::Denied, "write-refused: no (rule `select-only`)")
        );
        let unknown = SqlError::new(SqlErrorKind::UnknownTable, "no table `custmers`")
            .suggest(vec!["customers".into()]);
        let unknown = Failure::from(unknown);
        assert_eq!(
            (unknown.exit, unknown.hint.as_deref()),
            (Exit::Database, Some("did you mean `customers`?"))
        );
    }

    #[test]
    fn a_hint_on_a_budget_names_the_flag_that_raises_it_alone() {
        for (which, flag) in [
            (Exhausted::Tokens, "--budget"),
            (Exhausted::Cost, "--max-usd"),
            (Exhausted::TotalCalls, "--total-calls"),
        ] {
            let hint = Failure::from(Error::Budget(which)).hint.unwrap();
            assert!(hint.starts_with(flag) && hint.matches("--").count() == 1, "{hint}");
        }
        let unpriced = Failure::from(Error::Unpriced { model: "m".into() }).hint.unwrap();
        assert!(unpriced.contains("llm.prices"), "{unpriced}");
    }

    #[test]
    fn the_document_names_class_and_code() {
        let document = Failure::config("bad").hint("good").document();
        assert_eq!(document["schema"], "syrch.error/1");
        assert_eq!(document["error"]["class"], "configuration");
        assert_eq!(
            (&document["error"]["hint"], &document["exit_code"]),
            (&"good".into(), &10.into())
        );
    }

    #[test]
    fn a_wrong_setting_is_configuration_and_a_wrong_file_is_not() {
        let rejected = |source| {
            let toolchain = Toolchain::Python;
            Failure::from(Error::PluginRejected { plugin: "p.wasm".into(), toolchain, source })
        };
        assert_eq!(rejected(LoadError::Config("bad".into())).exit, Exit::Config);
        let missing =
            rejected(LoadError::Missing { path: "p.wasm".into(), similar: vec!["pp.wasm".into()] });
        assert_eq!(
            (missing.exit, missing.hint.as_deref()),
            (Exit::PluginRejected, Some("did you mean `pp.wasm`?"))
        );
        let project = tempfile::tempdir().unwrap();
        std::fs::write(project.path().join(syrch_projects::FILE), "").unwrap();
        let path = project.path().join("build/p.wasm").display().to_string();
        let unbuilt = rejected(LoadError::Missing { path, similar: Vec::new() });
        assert!(unbuilt.hint.is_some_and(|hint| hint.starts_with("`syrch-host plugin build ")));
        let other = rejected(LoadError::Version { found: "1".into(), offered: "2".into() });
        assert!(other.hint.is_some_and(|hint| hint.contains("componentize-py")));
    }

    #[test]
    fn faults_of_plugins_end_in_14() {
        let trap = RoleError::Trap {
            plugin: "x".into(),
            export: "plan".into(),
            reason: "unreachable".into(),
        };
        assert_eq!(Failure::from(Error::PluginFailed(trap)).exit, Exit::PluginFailed);
        assert_eq!(Failure::from(Error::Interrupted).exit, Exit::Interrupted);
    }
}
