//! The parts that the commands on projects share: roles and languages as flags, and building on a
//! thread of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use syrch::plugins::Inspection;
use syrch::settings::PluginSource;
use syrch::syrch_core::roles::Role;
use syrch_projects::{BuildOptions, Error, Language, Project};

use super::Context;
use super::agreed;
use super::sheet::{inspect_plugin, roles};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

/// Reads the name of a role.
pub(super) fn role_parser() -> impl TypedValueParser<Value = Role> {
    let parser = PossibleValuesParser::new(Role::ALL.map(Role::name));
    parser.try_map(|name| {
        Role::ALL.into_iter().find(|role| role.name() == name).ok_or("no such role")
    })
}

/// Reads the name of a language.
pub(super) fn language_parser() -> impl TypedValueParser<Value = Language> {
    let parser = PossibleValuesParser::new(Language::ALL.map(Language::name));
    parser.try_map(|name| Language::from_name(&name).ok_or("no such language"))
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let exit = match &error {
            Error::Name { .. }
            | Error::Occupied(_)
            | Error::NoRole
            | Error::NoTemplate { .. }
            | Error::Address { .. }
            | Error::Scripts(_) => Exit::Usage,
            Error::RegistryDenied { .. } => Exit::Denied,
            Error::File { .. }
            | Error::Registry { .. }
            | Error::Definition(_)
            | Error::Missing { .. }
            | Error::NotInstalled { .. }
            | Error::NoWheel { .. } => Exit::Config,
            Error::Signature { .. } => Exit::Denied,
            Error::Stopped => Exit::Interrupted,
            Error::Failed { .. } | Error::NothingMade { .. } | Error::Component(_) => {
                Exit::PluginRejected
            }
        };
        let failure = Self::new(exit, error.to_string());
        match error.hint() {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

// How a project is built.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ProjectArgs {
    /// The folder of the project
    #[arg(value_name = "DIR", default_value = ".", hide_default_value = true)]
    pub(super) folder: PathBuf,
    /// Install the language's tools in this folder, new or made so before, which several projects
    /// may share, instead of `.tools` of the project
    #[arg(long, value_name = "DIR")]
    pub(super) tools: Option<PathBuf>,
    /// Agree to all programs that the build runs; otherwise they are listed, and a project that
    /// `plugin new` has not written on this machine is built only if you agree
    #[arg(long)]
    pub(super) yes: bool,
    /// Run no script of the project or of its packages: packages of Python are installed from
    /// wheels alone, and Rust, whose tool always runs build scripts, is refused
    #[arg(long)]
    pub(super) no_scripts: bool,
}

/// A plugin that was built, checked and put in its place.
pub(super) struct Finished {
    /// `build/NAME.wasm` of the project.
    pub(super) path: PathBuf,
    /// The inspection of the component by the runtime.
    pub(super) plugin: Inspection,
    /// The duration of the build, in seconds.
    pub(super) seconds: f64,
}

/// Builds a project, and checks that the runtime takes the component in the roles of its
/// `plugin.yml`. An interrupt ends the tools that run.
pub(super) async fn build(
    context: &Context,
    arguments: &ProjectArgs,
    project: &Project,
) -> Outcome<Finished> {
    let plan = agreed::ask(context, arguments, project).await?;
    let is_own = plan.is_none();
    let start = Instant::now();
    let tools = arguments.tools.as_deref().map(std::path::absolute).transpose();
    let tools = tools.map_err(|error| Failure::config(format!("--tools: {error}")))?;
    let console = Arc::clone(&context.console);
    let verbose = context.verbose;
    let no_scripts = arguments.no_scripts;
    let owned = project.clone();
    let environment = Environment::all();
    let state = context.environment.state_dir();
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    // Tools are waited for without an end, which an async thread must not be.
    let mut building = tokio::task::spawn_blocking(move || {
        let report = |step: &str| console.note(step);
        syrch_projects::build(
            &owned,
            &BuildOptions {
                tools,
                state,
                environment: &environment,
                is_own,
                no_scripts,
                verbose,
                report: &report,
                stop: &stopped,
            },
        )
    });
    let built = tokio::select! {
        built = &mut building => built.map_err(
            |error| Failure::new(Exit::Unexpected, error.to_string())
        )??,
        () = context.interrupt.wait() => {
            stop.store(true, Ordering::Relaxed);
            // The tool that runs ends first, with all that it has started.
            drop(building.await);
            return Err(interrupt_failure());
        }
    };
    let checked = tokio::select! {
        checked = check(context, project, &built.made) => checked,
        () = context.interrupt.wait() => Err(interrupt_failure()),
    };
    context.console.clear();
    match checked {
        Ok(plugin) => {
            built.accept()?;
            if let Some(plan) = plan {
                agreed::remember(context, arguments, project, plan);
            }
            // The path as the user named the folder.
            Ok(Finished {
                path: project.component_in(&arguments.folder),
                plugin,
                seconds: start.elapsed().as_secs_f64(),
            })
        }
        Err(failure) => {
            built.discard();
            Err(failure)
        }
    }
}

fn interrupt_failure() -> Failure {
    Failure::new(Exit::Interrupted, "interrupted")
}

async fn check(context: &Context, project: &Project, made: &Path) -> Outcome<Inspection> {
    let plugin = inspect_plugin(context, &PluginSource::File(made.to_owned())).await?;
    if plugin.roles != project.roles {
        let wanted = project.roles.iter().map(|role| role.name()).collect::<Vec<_>>().join(", ");
        let message = format!(
            "the plugin implements {}, and plugin.yml says {wanted}",
            roles(&plugin).join(", ")
        );
        return Err(Failure::new(Exit::PluginRejected, message)
            .hint("correct `roles` in plugin.yml, or the code"));
    }
    Ok(plugin)
}
