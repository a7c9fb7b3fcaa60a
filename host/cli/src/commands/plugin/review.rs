//! `plugin review`: compares an added plugin with what it was added from.

use clap::Args;
use serde_json::json;
use syrch::settings::PluginSource;
use syrch::syrch_core::Grants;

use super::locked;
use super::sheet::inspect_plugin;
use super::{Context, Run};
use crate::exit::Exit;
use crate::failure::Outcome;
use crate::sink::Grid;

#[derive(Args)]
pub(crate) struct ReviewArgs {
    /// The name of an added plugin
    name: String,
}

impl Run for ReviewArgs {
    async fn run(self, context: Context) -> Outcome {
        let lock = locked::lock(&context)?;
        let old = lock.find(&self.name)?;
        // The component in the store has to be the one that was added.
        inspect_plugin(&context, &PluginSource::Builtin(self.name.clone())).await?;
        let (_, mut new, _staged) =
            locked::examine(&context, &old.source, Some(&self.name)).await?;
        let granted: Grants = old.granted.narrow(&new.wanted);
        new.granted = granted;
        context.console.clear();
        let lines = locked::describe(&self.name, Some(old), &new);
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
        let source = old.source.display();
        context.console.note(&format!(
            "the plugin is used as it was added; `syrch-host plugin add {source} --name {}` \
             accepts the new one",
            self.name
        ));
        Ok(Exit::Gate)
    }
}
