//! `plugin add`: puts a third-party plugin into the lock, with what it is granted.

use std::path::PathBuf;

use clap::Args;
use syrch::lock::Signer;
use syrch::syrch_core::Grants;
use syrch_projects::PublicKey;

use super::locked::{self, GrantArgs, RegistryArgs};
use super::signed::BundleArgs;
use super::{Context, Run};
use crate::console::prompt::confirm;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

#[derive(Args)]
pub(crate) struct AddArgs {
    /// A component, the folder of a project that is built, a .tar or .tar.gz of either, or an
    /// address in a registry: oci://HOST/NAME:TAG, oci://HOST/NAME@sha256:…, or both
    #[arg(value_name = "FILE|DIR|TARBALL|oci://…")]
    source: PathBuf,
    /// The name by which it is used [default: that of its plugin.yml or of its file]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The key of its author, as `ed25519:…`: the component has to be signed by it, and so has
    /// whatever takes its place
    #[arg(long, value_name = "KEY", value_parser = |text: &str| text.parse::<PublicKey>())]
    key: Option<PublicKey>,
    #[command(flatten)]
    bundle: BundleArgs,
    #[command(flatten)]
    grants: GrantArgs,
    #[command(flatten)]
    registry: RegistryArgs,
    /// Add it without asking. Together with --name it replaces the added plugin of that name
    #[arg(long)]
    yes: bool,
}

impl Run for AddArgs {
    fn inputs(&self) -> Vec<(&'static str, PathBuf)> {
        vec![("the plugin to be added", self.source.clone())]
    }

    async fn run(self, context: Context) -> Outcome {
        let name = self.name.as_deref();
        let (name, mut new, staged) =
            locked::examine(&context, &self.source, name, self.key, &self.bundle, &self.registry)
                .await?;
        let mut lock = locked::lock(&context)?;
        let old = lock.plugins().get(&name).cloned();
        let pinned = old.as_ref().and_then(|old| old.key.as_ref());
        let signer = old.as_ref().and_then(|old| old.signer.as_ref());
        let is_other =
            |signer| !new.signer.as_ref().is_some_and(|new: &Signer| new.is_same(signer));
        if pinned.is_some() && pinned != new.key.as_ref() || signer.is_some_and(is_other) {
            let message = format!("another key was pinned for `{name}` meanwhile");
            return Err(Failure::new(Exit::Denied, message).hint("run the command again"));
        }
        // A new plugin is granted its ports, and an update what the plugin had: what it asks for
        // beyond has to be named.
        new.granted = match &old {
            Some(old) => old.granted.clone(),
            None => Grants::for_ports(new.wanted.ports.iter().map(String::as_str)),
        };
        self.grants.change(&new.wanted, &mut new.granted, old.is_none())?;
        let lines = locked::describe(&name, old.as_ref(), &new);
        context.console.clear();
        // The name is its author's, and would take the grants of the plugin that has it.
        let is_same =
            old.as_ref().is_none_or(|old| (&old.digest, &old.source) == (&new.digest, &new.source));
        if self.yes && self.name.is_none() && !is_same {
            lines.iter().for_each(|line| context.console.ask(line));
            let message = format!("`{name}` was not replaced: an added plugin has this name");
            return Err(Failure::new(Exit::Denied, message).hint(format!(
                "--name {name} together with --yes replaces it, which keeps its grants; --name \
                 with another name adds this one beside it"
            )));
        }
        if self.yes {
            lines.iter().for_each(|line| context.console.note(line));
        } else if !lines.is_empty() {
            lines.iter().for_each(|line| context.console.ask(line));
            if !confirm(&context.console, &context.interrupt, "Add it?").await {
                let message = format!("`{name}` was not added: it needs your consent");
                return Err(Failure::new(Exit::Denied, message).hint(
                    "--yes agrees to what stands above; --allow and --deny change what \
                     it is granted",
                ));
            }
        }
        lock.insert(&name, old.as_ref(), new.clone(), Some(staged.path()))?;
        locked::show(&context, &name, &new)?;
        Ok(Exit::Answered)
    }
}
