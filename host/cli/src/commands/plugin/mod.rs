//! The commands of `plugin`: one file for each, and one entry in the list below.

mod add;
mod agreed;
mod build;
mod call;
mod check;
mod grants;
mod inspect;
mod list;
mod locked;
mod new;
mod project;
mod push;
mod remove;
mod review;
mod sheet;
mod sign;
mod signed;
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
    /// List the built-in plugins and those that you have added
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
    /// Add a plugin that somebody else wrote: it is copied, pinned by its digest, granted what you
    /// allow, and used by its name from then on
    ///
    /// What it asks for and what it is granted is shown, and nothing is added unless you agree. The
    /// ports that it imports are granted, within the `wants` of its plugin.yml; --allow with ports
    /// grants these alone. A plugin of the same name is replaced and keeps its grants: what the new
    /// one asks for beyond them is granted only by --allow.
    Add(add::AddArgs),
    /// Compare an added plugin with what it was added from; exit 5 when something differs
    Review(review::ReviewArgs),
    /// Show what added plugins ask for and are granted, and change it
    Grants(grants::GrantsArgs),
    /// Remove an added plugin
    Remove(remove::RemoveArgs),
    /// Sign a component by a key of yours, so that others can pin the key by `plugin add --key`
    Sign(sign::SignArgs),
    /// Push a plugin to a registry, from where others add it by its address
    ///
    /// The registry gets its component, with its signature and the `wants` of its plugin.yml where
    /// there are such.
    Push(push::PushArgs),
    /// Write a project for a plugin: sources, tests, the SDK and the contract
    New(new::NewArgs),
    /// Build the component of a project with the tools of its language, and check it
    ///
    /// The result is DIR/build/NAME.wasm. Tools that are missing and come from PyPI or npm are
    /// installed into the project by the first build; later builds need no network. A build runs
    /// the project's own code by the language's own tools, and is not sandboxed; the component that
    /// it makes is. A project that `plugin new` did not write on this machine is built only after
    /// you have agreed to what it runs. -v shows all that the tools print.
    Build(build::BuildArgs),
    /// Build a project whenever its sources change, ask a question with the new plugin, and show
    /// what changed
    ///
    /// It takes the flags of a search. The plugin has its roles in that search; the other roles are
    /// those of the strategy. The answer is compared with that of the build before, as `trace diff`
    /// does. Builds are not sandboxed: see `plugin build --help`.
    Watch(watch::WatchArgs),
}
