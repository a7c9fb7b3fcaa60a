//! `plugin list`: the built-in and the added plugins with their roles.

use clap::Args;
use serde_json::{Value, json};
use syrch::plugins::{self, Inspection};
use syrch::settings::PluginSource;

use super::sheet::{inspect_plugin, roles, sheet};
use super::signed::list_signers;
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
        let added = context.config.effective.settings.lock.plugins();
        let signed: Vec<Vec<String>> = found
            .iter()
            .map(|one| added.get(&one.name).map(list_signers).unwrap_or_default())
            .collect();
        let is_signed = signed.iter().any(|signers| !signers.is_empty());
        let mut grid = Grid::new(["name", "version", "roles", "digest", "summary"]);
        grid.columns.extend(is_signed.then(|| "signed by".to_owned()));
        for (one, signers) in found.iter().zip(&signed) {
            let mut row = vec![
                json!(one.name),
                json!(one.version),
                json!(roles(one)),
                json!(one.digest.get(..12).unwrap_or(&one.digest)),
                json!(one.summary),
            ];
            row.extend(is_signed.then(|| json!(signers)));
            grid.rows.push(row);
        }
        context.rows(grid, || {
            let mut sheets: Vec<Value> = found.iter().map(sheet).collect();
            for (sheet, signers) in sheets.iter_mut().zip(&signed) {
                if let Some(sheet) = sheet.as_object_mut().filter(|_| !signers.is_empty()) {
                    sheet.insert("signed_by".to_owned(), json!(signers));
                }
            }
            json!({"schema": "syrch.plugins/1", "plugins": sheets})
        })?;
        Ok(Exit::Answered)
    }
}
