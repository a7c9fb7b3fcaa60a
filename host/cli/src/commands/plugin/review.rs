//! `plugin review`: compares an added plugin with what it was added from.

use clap::Args;
use serde_json::json;
use syrch::settings::PluginSource;

use super::locked::{self, RegistryArgs};
use super::sheet::inspect_plugin;
use super::signed::BundleArgs;
use super::{Context, Run};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::shell;
use crate::sink::{Format, Grid};

#[derive(Args)]
pub(crate) struct ReviewArgs {
    /// The name of an added plugin
    name: String,
    #[command(flatten)]
    bundle: BundleArgs,
    #[command(flatten)]
    registry: RegistryArgs,
}

impl Run for ReviewArgs {
    async fn run(self, context: Context) -> Outcome {
        let lock = locked::lock(&context)?;
        let old = locked::find(&lock, &self.name)?;
        // The component in the store has to be the one that was added.
        inspect_plugin(&context, &PluginSource::Builtin(self.name.clone())).await?;
        let name = Some(self.name.as_str());
        let (_, mut new, _staged) =
            locked::examine(&context, &old.source, name, None, &self.bundle, &self.registry)
                .await?;
        new.granted = old.granted.narrow(&new.wanted).map_err(Failure::config)?;
        context.console.clear();
        let lines = locked::describe(&self.name, Some(old), &new);
        if lines.is_empty() && matches!(context.format, Format::Auto | Format::Table) {
            let name = &self.name;
            let text = format!("{name} is as it was added: nothing has changed\n");
            context.output.write(&context.scrubber.text(&text))?;
            return Ok(Exit::Answered);
        }
        let mut grid = Grid::new(["change"]);
        grid.rows = lines.iter().map(|line| vec![json!(line)]).collect();
        context.rows(grid, || {
            json!({
                "schema": "syrch.review/1",
                "changes": lines,
                "old": locked::sheet(&self.name, old),
                "new": locked::sheet(&self.name, &new),
            })
        })?;
        if lines.is_empty() {
            return Ok(Exit::Answered);
        }
        let source = shell::quote(&old.source.display());
        let name = shell::quote(&self.name);
        context.console.note(&format!(
            "the plugin is used as it was added; `syrch-host plugin add {source} --name {name}` \
             accepts the new one"
        ));
        Ok(Exit::Gate)
    }
}
