//! The commands of `plugin`: one file for each, and one entry in the list below.

mod build;
mod call;
mod check;
mod inspect;
mod list;
mod new;
mod project;
mod sheet;
mod test;
mod watch;

use std::path::PathBuf;

use clap::Subcommand;

use super::{Context, PLUGIN, Run, commands};
pub(super) use sheet::sheet as describe;

use crate::config::Given;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

commands! {
    /// The commands of `plugin`.
    PluginCommand:
    /// List the built-in plugins
    List(list::ListArgs),
    /// Show the roles, imports and settings of a plugin
    Inspect(inspect::InspectArgs),
    /// Compare a component with the contract of this host: its roles, its imports and the types of
    /// its functions; exit 13 when it does not fit
    Check(check::CheckArgs),
    /// Call one role of a plugin once, with the JSON of its arguments from standard input; what it
    /// gave, with every port call, is printed
    Call(call::CallArgs),
    /// Run the cases of a plugin's project and compare what they give with their golden files; exit
    /// 5 when one differs
    Test(test::TestArgs),
    /// Write a project for a plugin: sources, tests, the SDK and the contract
    New(new::NewArgs),
    /// Build the component of a project with the tools of its language, and check it
    ///
    /// The result is DIR/build/NAME.wasm. Tools that are missing and come from PyPI or npm are
    /// installed into the project by the first build; later builds need no network. A build runs
    /// the project's own code by the language's own tools, and is not sandboxed; the component that
    /// it makes is. -v shows all that the tools print.
    Build(build::BuildArgs),
    /// Build a project whenever its sources change, ask a question with the new plugin, and show
    /// what changed
    ///
    /// It takes the flags of a search. The plugin has its roles in that search; the other roles are
    /// those of the strategy. The answer is compared with that of the build before, as `trace diff`
    /// does. Builds are not sandboxed: see `plugin build --help`.
    Watch(watch::WatchArgs),
}
