//! `plugin call`: calls one role of a plugin once, with an input from standard input or with a
//! whole case.

use std::io::{IsTerminal, Read};
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use serde_json::{Value, json};
use syrch::settings::PluginSource;
use syrch::syrch_core::ports::RowsGrant;
use syrch::syrch_core::roles::Role;
use syrch::{Error, Shared};
use syrch_cases::{Base, Case, Ran, RunError};

use super::{Context, Run};
use crate::config::Given;
use crate::config::flags::Flags;
use crate::console::progress::Watch;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

/// Bytes of an input at most.
const LONGEST: u64 = 4 << 20;

#[derive(Args)]
pub(crate) struct CallArgs {
    /// The path of a component, or a built-in's name
    #[arg(value_name = "FILE|NAME")]
    plugin: String,
    /// The role that is called
    #[arg(value_name = "ROLE", value_parser = role, required_unless_present = "case")]
    role: Option<Role>,
    /// Call with this case, and read nothing from standard input
    #[arg(long, value_name = "FILE")]
    case: Option<PathBuf>,
    /// Settings of the plugin, as a JSON object
    #[arg(long, value_name = "JSON", value_parser = settings)]
    settings: Option<Value>,
    /// The amount of cell text that the plugin may see: none, aggregates, sample:N, full [default:
    /// the case's, with --db that of your configuration, else sample:3]
    #[arg(
        long, alias = "rows", value_name = "GRANT",
        value_parser = |text: &str| text.parse::<RowsGrant>()
    )]
    cells: Option<RowsGrant>,
    /// The options of a database, which takes the place of the case's own.
    #[command(flatten)]
    flags: Flags<false>,
}

fn role(name: &str) -> Result<Role, String> {
    syrch_cases::role_of(name)
}

fn settings(text: &str) -> Result<Value, String> {
    let settings: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if settings.is_object() { Ok(settings) } else { Err("settings are a JSON object".to_owned()) }
}

impl Run for CallArgs {
    const LOADS_PLUGINS: bool = true;

    fn config_flags(&self) -> Option<Given<'_>> {
        Some(Given { any_strategy: true, ..Given::new(&self.flags, &[]) })
    }

    fn inputs(&self) -> Vec<(&'static str, PathBuf)> {
        let case = self.case.iter().map(|path| ("the case", path.clone()));
        case.chain(super::sheet::files(&self.plugin)).collect()
    }

    async fn run(self, context: Context) -> Outcome {
        // A database that the user's configuration names is not the case's: only the flag is.
        let with_database = self.flags.entries().any(|(spec, ..)| spec.key == "execution.db_path");
        let plugin = PluginSource::parse(&self.plugin);
        if self.case.is_none() && std::io::stdin().is_terminal() {
            context.console.note(
                "type the input, a JSON object, and end it by Ctrl-D; `{}` takes every default",
            );
        }
        let case = self.case()?;
        let role = case.role();
        let settings = context.config.effective.settings.clone();
        let base = Base { settings, with_database, rows: self.cells, shared: Shared::new() };
        let watch = Arc::new(Watch::new(Arc::clone(&context.console)));
        let ran = syrch_cases::run(&case, &plugin, &base, watch).await?;
        let exit = exit(&ran);
        context.document(document(&self.plugin, role, ran))?;
        Ok(exit)
    }
}

impl CallArgs {
    /// The case of the flags: one that is read, or one of the input alone.
    fn case(&self) -> Outcome<Case> {
        let mut case = match (&self.case, self.role) {
            (Some(path), _) if !path.exists() => {
                return Err(Failure::usage(format!("there is no case `{}`", path.display())).hint(
                    "a case is a file NAME.yml, such as those in `tests/` of a project; \
                     docs/plugins.md has an example",
                ));
            }
            (Some(path), role) => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                let folder = folder.unwrap_or(std::path::Path::new("."));
                let case = Case::read(path, &project_of(folder))?;
                if role.is_some_and(|role| role != case.role()) {
                    let message =
                        format!("the case `{}` is of the role {}", path.display(), case.role());
                    return Err(Failure::usage(message)
                        .hint("leave the role out, or name that of the case"));
                }
                case
            }
            (None, Some(role)) => Case::new(role, syrch_cases::input(&read()?, "standard input")?),
            (None, None) => {
                return Err(Failure::usage("no role").hint("name one, or a case by --case FILE"));
            }
        };
        if let Some(Value::Object(settings)) = self.settings.clone() {
            case = case.with_settings(settings);
        }
        Ok(case)
    }
}

/// The project that a folder of cases belongs to: the folder above it that has a manifest, or the
/// folder itself.
pub(super) fn project_of(folder: &std::path::Path) -> PathBuf {
    let above = folder.join("..");
    if above.join(syrch_projects::FILE).is_file() { above } else { folder.to_owned() }
}

fn read() -> Outcome<String> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(LONGEST + 1).read_to_string(&mut text);
    read.map_err(|error| {
        Failure::usage(format!("standard input: {error}"))
            .hint("give the arguments of the role as JSON")
    })?;
    Ok(text)
}

/// The exit code of a call: that of its error, or 0.
fn exit(ran: &Ran) -> Exit {
    ran.error.clone().map_or(Exit::Answered, |error| Exit::from_error(&Error::PluginFailed(error)))
}

/// The call as the document `syrch.call/1`.
fn document(plugin: &str, role: Role, ran: Ran) -> Value {
    let mut document =
        json!({"schema": "syrch.call/1", "plugin": plugin, "role": role.name(), "used": ran.used});
    if let (Value::Object(document), Value::Object(gave)) = (&mut document, ran.document) {
        document.extend(gave);
    }
    document
}

impl From<syrch_cases::CaseError> for Failure {
    fn from(error: syrch_cases::CaseError) -> Self {
        Self::config(error.to_string())
            .hint("correct the file at that place; docs/plugins.md has what a case may hold")
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Host(error) => error.into(),
            error @ RunError::Input { .. } => Self::config(error.to_string())
                .hint("the arguments have the names of wit/roles.wit, in snake_case"),
            error @ RunError::Database(_) => Self::config(error.to_string())
                .hint("correct the statements of the case's `database`"),
            error @ RunError::Statement { .. } => Self::config(error.to_string()).hint(
                "the host runs the statements of the input for their rows; correct them, or the \
                 case's `database`",
            ),
        }
    }
}
