//! `plugin grants`: shows and changes what added plugins are granted.

use clap::Args;
use serde_json::{Value, json};

use super::locked::{self, GrantArgs};
use super::{Context, Run};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::sink::Grid;

#[derive(Args)]
pub(crate) struct GrantsArgs {
    /// The name of an added plugin; all are listed without one
    name: Option<String>,
    #[command(flatten)]
    grants: GrantArgs,
}

impl Run for GrantsArgs {
    async fn run(self, context: Context) -> Outcome {
        let mut lock = locked::lock(&context)?;
        let is_change = !self.grants.allow.is_empty() || !self.grants.deny.is_empty();
        let Some(name) = self.name else {
            if is_change {
                return Err(Failure::usage("no plugin").hint("name the one whose grants change"));
            }
            let mut grid = Grid::new(["name", "roles", "digest", "wanted", "granted"]);
            for (name, one) in lock.plugins() {
                grid.rows.push(vec![
                    json!(name),
                    json!(one.roles.iter().map(|role| role.name()).collect::<Vec<_>>()),
                    json!(one.digest.get(..12)),
                    json!(one.wanted),
                    json!(one.granted),
                ]);
            }
            context.rows(grid, || {
                let plugins = lock.plugins().iter().map(|(name, one)| locked::sheet(name, one));
                let lock = lock.path().display().to_string();
                json!({
                    "schema": "syrch.grants/1", "lock": lock, "plugins": plugins.collect::<Value>()
                })
            })?;
            return Ok(Exit::Answered);
        };
        let mut new = locked::find(&lock, &name)?.clone();
        if is_change {
            self.grants.change(&new.wanted, &mut new.granted, false)?;
            let lines = locked::describe(&name, Some(lock.find(&name)?), &new);
            lines.iter().for_each(|line| context.console.note(line));
            let old = lock.find(&name)?.clone();
            lock.insert(&name, Some(&old), new.clone(), None)?;
        }
        locked::show(&context, &name, &new)?;
        Ok(Exit::Answered)
    }
}
