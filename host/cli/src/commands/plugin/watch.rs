//! `plugin watch`: builds a project whenever its sources change, asks a question with the new
//! plugin, and shows what changed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use serde_json::json;
use syrch::settings::PluginSource;
use syrch::syrch_core::Problem;
use syrch::syrch_core::roles::Role;
use syrch::yaml;
use syrch_projects::{Project, times};

use super::project::{self, ProjectArgs};
use super::{Context, Run, build};
use crate::commands::asking::{self, Start};
use crate::commands::{answer, trace};
use crate::config::flags::Flags;
use crate::config::options::SPECS;
use crate::config::parameter::Parameter;
use crate::config::{Given, Origin};
use crate::console::progress::Watch;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::sink::Format;

/// The time between two looks at the sources.
const PAUSE: Duration = Duration::from_millis(300);
/// The file in `build/` with the run of the last answer.
const LAST: &str = "last-run";

#[derive(Args)]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    project: ProjectArgs,
    /// Build and ask once, and end
    #[arg(long)]
    once: bool,
    /// The question that is asked after each build
    #[arg(short, long, value_name = "TEXT")]
    question: Option<String>,
    /// An explanation of terms of the question
    #[arg(long, value_name = "TEXT")]
    evidence: Option<String>,
    /// A plugin's own setting; VALUE is JSON or text. KEY alone will do when one plugin knows it;
    /// settings.NAME is for all plugins
    #[arg(short = 'P', long = "param", value_name = "ROLE.KEY=VALUE")]
    parameters: Vec<Parameter>,
    /// The options of a search.
    #[command(flatten)]
    flags: Flags<true>,
}

impl Run for WatchArgs {
    fn config_flags(&self) -> Option<Given<'_>> {
        let mut given = Given::new(&self.flags, &self.parameters);
        // A project that cannot be read is reported when the command runs.
        let Ok(project) = Project::read(&self.project.folder) else { return Some(given) };
        let component = component(&self.project.folder, &project);
        let of_role = |role: &&Role| {
            SPECS.iter().find(|spec| spec.flag.is_some_and(|(flag, _)| flag == role.name()))
        };
        let specs = project
            .roles
            .iter()
            .filter(|role| Role::SEARCH.contains(role))
            .filter_map(|role| of_role(&role));
        let origin = || Origin::Derived("the project");
        given
            .flags
            .extend(specs.map(|spec| (spec, json!(component.display().to_string()), origin())));
        Some(given)
    }

    fn ends_interrupts(&self) -> bool {
        true
    }

    async fn run(self, mut context: Context) -> Outcome {
        context.interrupt.listen_to_ends();
        let problem = self.problem()?;
        Project::read(&self.project.folder)?;
        context.needs_database()?;
        asking::accept(&mut context);
        let mut seen = None;
        loop {
            let found = times(&self.project.folder)?;
            if seen.as_ref() != Some(&found) {
                let turn = turn(&mut context, &self.project, &problem).await;
                context.console.clear();
                match turn {
                    _ if context.interrupt.is_pressed() => {
                        return Err(Failure::new(Exit::Interrupted, "interrupted"));
                    }
                    Ok(exit) if self.once => return Ok(exit),
                    Err(failure) if self.once => return Err(failure),
                    Err(failure) => context.console.error(&failure),
                    Ok(_) => {}
                }
                context.console.note("waiting for a change of the sources; Ctrl-C ends");
                context.console.forget_warnings();
                seen = Some(found);
            }
            tokio::select! {
                () = tokio::time::sleep(PAUSE) => {}
                () = context.interrupt.wait() => return Ok(Exit::Answered),
            }
        }
    }
}

impl WatchArgs {
    fn problem(&self) -> Outcome<Problem> {
        let question =
            self.question.clone().filter(|question| !question.trim().is_empty()).ok_or_else(
                || {
                    Failure::usage("no question")
                        .hint("give the one to be asked after each build by -q \"…\"")
                },
            )?;
        Ok(Problem { question, evidence: self.evidence.clone(), ..Problem::default() })
    }
}

/// The component as the flags of a search name it.
fn component(folder: &Path, project: &Project) -> PathBuf {
    let path = project.component_in(folder);
    std::path::absolute(&path).unwrap_or(path)
}

/// Builds, asks, and compares with the last answer.
async fn turn(context: &mut Context, arguments: &ProjectArgs, problem: &Problem) -> Outcome {
    let project = Project::read(&arguments.folder)?;
    if !project.roles.iter().any(|role| Role::SEARCH.contains(role)) {
        return Err(Failure::usage("no search calls a rewriter").hint(
            "build it by `syrch-host plugin build`, and call it by `syrch-host optimize --rewriter \
             build/NAME.wasm`",
        ));
    }
    let finished = project::build(context, arguments, &project).await?;
    context.console.note(&build::line(&finished));
    // The roles may have been changed since the start.
    let component = component(&arguments.folder, &project);
    let roles = project.roles.iter().filter(|role| Role::SEARCH.contains(role));
    let plugins = &mut context.config.effective.settings.strategy.roles;
    plugins.extend(roles.map(|role| (*role, PluginSource::File(component.clone()))));

    let watch = Arc::new(Watch::new(Arc::clone(&context.console)));
    let host = asking::open(context, &watch).await?;
    let report =
        asking::search(context, &host, Start::Problem(problem.clone()), watch, None).await?;
    context.console.clear();
    let exit = answer::finish(context, &report)?;
    let last = arguments.folder.join("build").join(LAST);
    let before = yaml::text_of(&last, true).unwrap_or_default();
    let run = &report.document.run;
    if !before.is_empty() && before != *run {
        differences(context, &before, run);
    }
    // Without it the next answer is compared with nothing.
    drop(std::fs::write(&last, run));
    Ok(exit)
}

/// Shows what changed between two runs: below the answer for people, otherwise in a line beside it.
fn differences(context: &Context, before: &str, now: &str) {
    let is_shown = matches!(context.format, Format::Auto | Format::Table)
        && matches!(context.output, Output::Stdout);
    let compared = match is_shown {
        true => trace::diff::run(context, [before, now], false).map(drop),
        false => trace::diff::is_equal(context, [before, now]).map(|is_equal| {
            let words = if is_equal { "is equal to" } else { "differs from" };
            context.console.note(&format!(
                "the search {words} the last one: `syrch-host trace diff {before} {now}`"
            ));
        }),
    };
    // The journal of the last run may have been removed, and a run need not have one.
    if compared.is_err() {
        context.console.note("there is no journal of the last run to compare with");
    }
}
