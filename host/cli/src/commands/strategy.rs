//! `strategy list`, `strategy show` and `strategy schema`: the built-in strategies, the parts of a
//! strategy, and the schema of their files.

mod file;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::path::absolute;
use std::sync::Arc;

use clap::Subcommand;
use serde_json::{Map, Value, json};
use syrch::plugins::Inspection;
use syrch::settings::PluginSource;
use syrch::strategies::{self, Definition, NOBODY, Part};
use syrch::syrch_core::roles::Role;

use super::Context;
use super::Run;
use crate::config::Given;
use crate::config::flags::NameOrFile;
use crate::console::progress::Watch;
use crate::exit::Exit;
use crate::failure::Outcome;
use crate::sink::{Format, Grid};

/// The commands of `strategy`.
#[derive(Subcommand)]
pub(crate) enum StrategyCommand {
    /// List the built-in strategies
    #[command(after_help = Exit::help())]
    List,
    /// Show a strategy whole, as a file that --strategy takes; its plugins and their settings are
    /// checked
    #[command(after_help = Exit::help())]
    Show {
        /// A built-in's name, or the path of a strategy file
        #[arg(value_name = "NAME|FILE", value_parser = NameOrFile, hide_possible_values = true)]
        strategy: String,
    },
    /// Print the JSON Schema of strategy files, for editors
    #[command(after_help = Exit::help())]
    Schema,
}

impl Run for StrategyCommand {
    fn config_flags(&self) -> Option<Given<'_>> {
        Some(Given { any_strategy: true, ..Given::default() })
    }

    fn inputs(&self) -> Vec<(&'static str, PathBuf)> {
        match self {
            Self::Show { strategy } if strategies::is_file(strategy) => {
                vec![("a strategy file in use", PathBuf::from(strategy))]
            }
            _ => Vec::new(),
        }
    }

    async fn run(self, context: Context) -> Outcome {
        match self {
            StrategyCommand::List => list(&context),
            StrategyCommand::Show { strategy } => show(&context, &strategy).await,
            StrategyCommand::Schema => {
                context.output.write(strategies::SCHEMA)?;
                Ok(Exit::Answered)
            }
        }
    }
}

/// Lists the built-in strategies without loading a plugin.
fn list(context: &Context) -> Outcome {
    let found =
        strategies::names().map(strategies::find).collect::<Result<Vec<Definition>, _>>()?;
    let mut grid = Grid::new(["name", "summary", "roles"]);
    for one in &found {
        grid.rows.push(vec![json!(one.name), json!(one.summary), json!(own_roles(one))]);
    }
    context.rows(grid, || {
        let sheets: Vec<Value> =
            found.iter().map(|one| sheet(one, |_| Map::new(), &one.policy)).collect();
        json!({"schema": "syrch.strategies/1", "strategies": sheets})
    })?;
    Ok(Exit::Answered)
}

/// The plugins of the roles that a strategy file names.
fn own_roles(one: &Definition) -> String {
    let own = one.roles.iter().filter(|(_, part)| !part.is_inherited);
    own.map(|(role, part)| format!("{role} {}", part.plugin)).collect::<Vec<_>>().join(", ")
}

async fn show(context: &Context, word: &str) -> Outcome {
    let mut one = strategies::find(word)?;
    let (text, plugins) = file_of(context, &mut one).await?;
    match context.format {
        Format::Auto | Format::Table => context.output.write(&context.scrubber.text(&text))?,
        _ => context.rows(grid(&one), || document(&one, &plugins))?,
    }
    Ok(Exit::Answered)
}

/// A strategy as a file that `--strategy` takes, with its plugins. Checks the plugins and their
/// settings, and makes paths absolute, so that the file may be saved anywhere.
pub(super) async fn file_of(
    context: &Context,
    one: &mut Definition,
) -> Outcome<(String, BTreeMap<Role, Inspection>)> {
    let watch = Watch::new(Arc::clone(&context.console));
    let plugins = strategies::check(one, &context.config.effective.settings, &watch).await?;
    context.console.clear();
    one.roles.values_mut().for_each(from_anywhere);
    one.set_paths(|path| absolute(path).unwrap_or_else(|_| path.to_owned()));
    let text = file::text(one, |role| plugins.get(role).map(note).unwrap_or_default());
    Ok((text, plugins))
}

/// Makes the path of a plugin absolute.
fn from_anywhere(part: &mut Part) {
    if let PluginSource::File(path) = &part.plugin {
        part.plugin = PluginSource::File(absolute(path).unwrap_or_else(|_| path.clone()));
    }
}

/// A plugin's version and digest, as `plugin list` shows them.
fn note(plugin: &Inspection) -> String {
    format!("{} {}", plugin.version, plugin.digest.get(..12).unwrap_or(&plugin.digest))
}

/// The strategy with its plugins as the document `syrch.strategy/1`.
fn document(one: &Definition, plugins: &BTreeMap<Role, Inspection>) -> Value {
    let mut document = json!({"schema": "syrch.strategy/1"});
    if let (Value::Object(document), Value::Object(sheet)) = (
        &mut document,
        sheet(
            one,
            |role: &Role| match plugins.get(role) {
                Some(plugin) => [("version", &plugin.version), ("digest", &plugin.digest)]
                    .map(|(key, text)| (key.to_owned(), json!(text)))
                    .into_iter()
                    .collect(),
                None => Map::new(),
            },
            &one.whole_policy(),
        ),
    ) {
        document.extend(sheet);
    }
    document
}

/// The properties of a strategy as a JSON object, with what `about` adds to each role.
fn sheet(
    one: &Definition,
    about: impl Fn(&Role) -> Map<String, Value>,
    policy: &Map<String, Value>,
) -> Value {
    let mut roles = Map::new();
    for role in Role::ALL {
        let Some(part) = one.roles.get(&role) else { continue };
        let mut sheet = Map::from_iter([("plugin".to_owned(), json!(part.plugin.to_string()))]);
        sheet.extend(about(&role));
        sheet.insert("config".to_owned(), json!(part.config));
        sheet.insert("inherited".to_owned(), json!(part.is_inherited));
        roles.insert(role.to_string(), Value::Object(sheet));
    }
    let Definition { name, summary, idea, when, .. } = one;
    json!({
        "name": name, "summary": summary, "idea": idea, "when": when, "roles": roles,
        "policy": policy
    })
}

fn grid(one: &Definition) -> Grid {
    let mut grid = Grid::new(["key", "value"]);
    let mut put = |key: String, value: Value| grid.rows.push(vec![json!(key), value]);
    for (key, text) in
        [("name", &one.name), ("summary", &one.summary), ("idea", &one.idea), ("when", &one.when)]
    {
        put(key.to_owned(), json!(text));
    }
    for role in Role::ALL {
        let part = one.roles.get(&role);
        if part.is_none() && !Role::SEARCH.contains(&role) {
            continue;
        }
        put(
            format!("roles.{role}.plugin"),
            json!(part.map_or(NOBODY.to_owned(), |part| part.plugin.to_string())),
        );
        for (key, value) in part.iter().flat_map(|part| &part.config) {
            put(format!("roles.{role}.config.{key}"), value.clone());
        }
    }
    one.whole_policy().into_iter().for_each(|(key, value)| put(format!("policy.{key}"), value));
    grid
}
