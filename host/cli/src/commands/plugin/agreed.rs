//! The projects whose builds the user has agreed to: those that `plugin new` wrote on this machine,
//! and those whose programs the user was shown.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use syrch::files;
use syrch_projects::{Plan, Project};

use super::Context;
use super::project::ProjectArgs;
use crate::console::prompt::confirm;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

/// The file in the folder of the host's state.
const FILE: &str = "projects.json";
/// Projects that are remembered at most, besides those that are still there.
const MOST: usize = 1_000;

/// Projects by their folders, each with what was agreed to.
type Projects = BTreeMap<String, String>;

/// Asks for consent to what the build of a project runs, unless the user has given it. Returns the
/// plan that was agreed to; `None` if the project is the user's own.
pub(super) async fn ask(
    context: &Context,
    arguments: &ProjectArgs,
    project: &Project,
) -> Outcome<Option<Plan>> {
    let agreed = read(context).remove(&project.folder.display().to_string());
    if agreed.is_some() && agreed == own(&project.folder) {
        return Ok(None);
    }
    let plan = Plan::read(project, arguments.no_scripts)?;
    if agreed.is_some_and(|agreed| agreed == plan.digest) {
        return Ok(Some(plan));
    }
    let folder = arguments.folder.display();
    let steps: String = plan.steps.iter().map(|step| format!("\n  - {step}")).collect();
    let list = format!(
        "building `{folder}` runs these, outside of the sandbox that plugins run in:{steps}"
    );
    context.console.clear();
    if arguments.yes {
        context.console.note(&list);
        return Ok(Some(plan));
    }
    context.console.ask(&list);
    let question = "Build it, and again until one of these changes?";
    if confirm(&context.console, &context.interrupt, question).await {
        // Somebody may have changed it while the user read.
        if Plan::read(project, arguments.no_scripts)? == plan {
            return Ok(Some(plan));
        }
        let message = format!("nothing was built: files of `{folder}` were changed meanwhile");
        return Err(Failure::new(Exit::Denied, message).hint("build it again to see what it runs"));
    }
    let message =
        format!("nothing was built: what the build of `{folder}` runs needs your consent");
    Err(Failure::new(Exit::Denied, message).hint(
        "--yes agrees to the programs above; --no-scripts leaves the scripts of packages out where \
         the language's tool can",
    ))
}

/// Remembers that the user has agreed to what the build of a project runs. Called after a build,
/// which writes the locks of packages: they belong to what was agreed to, and nothing else does
/// that is there now and was not before.
pub(super) fn remember(context: &Context, arguments: &ProjectArgs, project: &Project, plan: Plan) {
    let now = Plan::read(project, arguments.no_scripts).ok();
    let now = now.filter(|now| plan.is_same_but_for_locks(now));
    write(context, &project.folder, now.unwrap_or(plan).digest);
}

/// Remembers a project that `plugin new` has written.
pub(super) fn remember_own(context: &Context, folder: &Path) {
    if let Ok(folder) = folder.canonicalize()
        && let Some(own) = own(&folder)
    {
        write(context, &folder, own);
    }
}

/// The mark of a folder that was written here: another folder in its place has another.
fn own(folder: &Path) -> Option<String> {
    let data = fs::metadata(folder).ok()?;
    let made = data.created().ok().and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
    #[cfg(unix)]
    let number = std::os::unix::fs::MetadataExt::ino(&data);
    #[cfg(not(unix))]
    let number = 0;
    Some(format!("own {number} {}", made.unwrap_or_default().as_nanos()))
}

fn path(context: &Context) -> Option<PathBuf> {
    Some(context.environment.state_dir()?.join(FILE))
}

fn read(context: &Context) -> Projects {
    let text = path(context).and_then(|path| fs::read(path).ok()).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// Writes what was agreed to. Without it the next build asks again.
fn write(context: &Context, folder: &Path, agreed: String) {
    let Some(path) = path(context) else { return };
    let mut projects = read(context);
    if projects.len() >= MOST {
        projects.retain(|folder, _| Path::new(folder).is_dir());
    }
    projects.insert(folder.display().to_string(), agreed);
    let text = serde_json::to_vec_pretty(&projects).unwrap_or_default();
    let folder = path.parent().map_or(Ok(()), files::make_folder);
    drop(folder.and_then(|()| files::replace(&path, &text)));
}
