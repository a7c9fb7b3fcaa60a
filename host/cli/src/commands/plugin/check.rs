//! `plugin check`: compares a component with the contract of this host, name by name and then
//! function by function.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use syrch::Error;
use syrch::plugins::{self, NameCheck, Origins};
use syrch::settings::PluginSource;
use syrch::syrch_core::CONTRACT_VERSION;

use super::sheet::inspect_plugin;
use super::{Context, Run};
use crate::config::Given;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::sink::Grid;

/// The word that stands beside a name that fits.
const FITS: &str = "fits";

#[derive(Args)]
pub(crate) struct CheckArgs {
    /// The path of a component, or a built-in's name
    #[arg(value_name = "FILE|NAME")]
    plugin: String,
}

impl Run for CheckArgs {
    const LOADS_PLUGINS: bool = true;

    fn config_flags(&self) -> Option<Given<'_>> {
        Some(Given { any_strategy: true, ..Given::default() })
    }

    fn inputs(&self) -> Vec<(&'static str, PathBuf)> {
        super::sheet::files(&self.plugin).into_iter().collect()
    }

    async fn run(self, context: Context) -> Outcome {
        let source = PluginSource::parse(&self.plugin);
        let settings = context.config.effective.settings.clone();
        // Reading a component takes long enough to keep others waiting.
        let read = tokio::task::spawn_blocking({
            let source = source.clone();
            move || plugins::origins(&source, &settings)
        });
        let origins = read.await.map_err(|error| Error::Internal(error.to_string()))??;
        // The names are enough to refuse it; only what fits by its names is compiled, and its
        // functions compared.
        let loaded = inspect_plugin(&context, &source).await;
        let refused = loaded.as_ref().err();
        show(&context, &self.plugin, &origins, refused)?;
        match loaded {
            Ok(_) => Ok(Exit::Answered),
            // The document has the error already.
            Err(failure) if context.format.is_json() => Ok(failure.exit),
            Err(failure) => Err(failure),
        }
    }
}

fn show(
    context: &Context,
    plugin: &str,
    origins: &Origins,
    refused: Option<&Failure>,
) -> Outcome<()> {
    let kind = |name: &NameCheck| if name.is_export { "export" } else { "import" };
    let mut grid = Grid::new(["what", "name", "result"]);
    grid.rows.push(vec![json!("contract"), json!(contract()), json!("offered by this host")]);
    for name in &origins.names {
        let result = name.wrong.as_deref().unwrap_or(FITS);
        grid.rows.push(vec![json!(kind(name)), json!(name.name), json!(result)]);
    }
    let functions = match refused {
        None => FITS,
        Some(_) if origins.names.iter().any(|name| name.wrong.is_some()) => {
            "not compared, since a name does not fit"
        }
        Some(_) => "refused",
    };
    grid.rows.push(vec![json!("functions"), json!(""), json!(functions)]);
    context.rows(grid, || {
        let names: Vec<Value> = origins
            .names
            .iter()
            .map(|name| json!({"kind": kind(name), "name": name.name, "wrong": name.wrong}))
            .collect();
        json!({
            "schema": "syrch.plugin-check/1",
            "plugin": plugin,
            "contract": contract(),
            "fits": refused.is_none(),
            "language": origins.toolchain.language(),
            "names": names,
            "error": refused.map(
                |failure| json!({"message": failure.message, "hint": failure.hint})
            ),
        })
    })
}

fn contract() -> String {
    format!("syrch:plugin@{CONTRACT_VERSION}")
}
