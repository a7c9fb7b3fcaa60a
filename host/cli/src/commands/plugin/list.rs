//! `plugin list`: the built-in and the added plugins with their roles.

use clap::Args;
use serde_json::{Value, json};
use syrch::plugins::{self, Inspection};
use syrch::settings::PluginSource;

use super::sheet::{inspect_plugin, roles, sheet};
use super::{Context, Run};
use crate::exit::Exit;
use crate::failure::Outcome;
use crate::sink::Grid;

#[derive(Args)]
pub(crate) struct ListArgs {}

impl Run for ListArgs {
    async fn run(self, context: Context) -> Outcome {
        let mut found = Vec::new();
        for builtin in plugins::builtins() {
            found.push(
                inspect_plugin(&context, &PluginSource::Builtin(builtin.name.to_string())).await?,
            );
        }
        for name in context.config.effective.settings.lock.plugins().keys() {
            match inspect_plugin(&context, &PluginSource::Builtin(name.clone())).await {
                Ok(one) => found.push(Inspection { name: name.clone(), ..one }),
                Err(failure) => context.console.warn(&failure.message),
            }
        }
        let mut grid = Grid::new(["name", "version", "roles", "digest", "summary"]);
        for one in &found {
            grid.rows.push(vec![
                json!(one.name),
                json!(one.version),
                json!(roles(one)),
                json!(one.digest.get(..12).unwrap_or(&one.digest)),
                json!(one.summary),
            ]);
        }
        context.rows(grid, || {
            let sheets: Vec<Value> = found.iter().map(sheet).collect();
            json!({"schema": "syrch.plugins/1", "plugins": sheets})
        })?;
        Ok(Exit::Answered)
    }
}
