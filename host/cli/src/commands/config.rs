//! `config`: shows the configuration in force, and where each value came from.

use clap::Args;
use serde_json::{Map, Value};

use super::Context;
use super::Run;
use super::asking::SearchArgs;
use crate::config::Given;
use crate::exit::Exit;
use crate::failure::Outcome;
use crate::sink::{Format, Grid, terminal};

#[derive(Args)]
pub(crate) struct ConfigArgs {
    /// Show where each value came from
    #[arg(long)]
    pub(crate) origin: bool,
    /// Flags of a search, to see what they would do.
    #[command(flatten)]
    pub(crate) search: SearchArgs,
}

impl Run for ConfigArgs {
    fn config_flags(&self) -> Option<Given<'_>> {
        self.search.config_flags()
    }

    async fn run(self, context: Context) -> Outcome {
        run(&context, self.origin)
    }
}

/// Prints it: YAML for people, which is a config file again, else the chosen format.
fn run(context: &Context, origin: bool) -> Outcome {
    let mut document = context.config.document(origin);
    context.scrubber.value(&mut document);
    match context.format {
        Format::Auto | Format::Table => context.output.write(&yaml(&document, origin))?,
        Format::Json => context.document(document)?,
        _ => context.rows(grid(&document, origin), || Value::Null)?,
    }
    Ok(Exit::Answered)
}

/// A value with its origin, where the document has origins. `None` if it is a section.
fn leaf(value: &Value, origin: bool) -> Option<(&Value, Option<&str>)> {
    match value.as_object() {
        None => Some((value, None)),
        Some(map) if origin => Some((map.get("value")?, map.get("origin").and_then(Value::as_str))),
        Some(_) => None,
    }
}

fn yaml(document: &Value, origin: bool) -> String {
    let mut out = String::new();
    if let Value::Object(map) = document {
        level(&mut out, map, &mut Vec::new(), origin);
    }
    out
}

fn level<'a>(out: &mut String, map: &'a Map<String, Value>, path: &mut Vec<&'a str>, origin: bool) {
    let indent = "  ".repeat(path.len());
    for (key, value) in map {
        match leaf(value, origin) {
            Some((value, from)) => {
                // The key's value is not shown, and what is not set has none: both would be read as
                // something else.
                let hidden = key == "api_key" && path.first() == Some(&"llm");
                let comment = if hidden || value.is_null() { "# " } else { "" };
                let text = match value {
                    Value::String(text) if is_bare(text) => text.clone(),
                    Value::Null => "not set".to_owned(),
                    value => value.to_string(),
                };
                let from = from.map(|from| format!("  # {from}")).unwrap_or_default();
                out.push_str(&format!(
                    "{indent}{comment}{}: {}{}\n",
                    name(key),
                    terminal::line(&text),
                    terminal::line(&from)
                ));
            }
            None => {
                out.push_str(&format!("{indent}{}:\n", name(key)));
                if let Some(map) = value.as_object() {
                    path.push(key);
                    level(out, map, path, origin);
                    path.pop();
                }
            }
        }
    }
}

fn name(key: &str) -> String {
    if is_bare(key) {
        key.to_owned()
    } else {
        terminal::line(&Value::from(key).to_string()).into_owned()
    }
}

/// Returns true if YAML reads a word as that very text without quotes.
pub(super) fn is_bare(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'))
        && !matches!(
            text.to_ascii_lowercase().as_str(),
            "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n" | "inf" | "nan"
        )
}

fn grid(document: &Value, origin: bool) -> Grid {
    let mut grid =
        if origin { Grid::new(["key", "value", "origin"]) } else { Grid::new(["key", "value"]) };
    collect(&mut grid, "", document, origin);
    grid
}

fn collect(grid: &mut Grid, path: &str, value: &Value, origin: bool) {
    // In a document with origins, an object with these two keys is a value and any other a section.
    let section = value
        .as_object()
        .filter(|map| !(origin && map.contains_key("origin") && map.contains_key("value")));
    match section {
        Some(map) => {
            for (key, value) in map {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                collect(grid, &path, value, origin);
            }
        }
        None => {
            let (value, from) = leaf(value, origin).unwrap_or((value, None));
            let mut row = vec![Value::from(path), value.clone()];
            row.extend(from.map(Value::from));
            grid.rows.push(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn yaml_is_a_config_file_again() {
        let document = json!({"llm": {"model": "gpt 4", "api_key": "set",
            "endpoints": {"gpu": {"api_key": "set", "in_flight": 4}}}, "execution": {
                "tables": ["a*"], "seed": 0, "deadline_seconds": null
            },
            "plugins": {"planner": {"plugin": "decompose", "config": {"a": 1}}}});
        let text = yaml(&document, false);
        assert_eq!(
            text,
            "llm:\n  model: \"gpt 4\"\n  # api_key: set\n  endpoints:\n    gpu:\n      # api_key: \
             set\n      in_flight: 4\nexecution:\n  tables: [\"a*\"]\n  seed: 0\n  \
             # deadline_seconds: not set\nplugins:\n  planner:\n    plugin: decompose\n    \
             config:\n      a: 1\n"
        );
        let read: Value = serde_saphyr::from_str(&text).unwrap();
        assert_eq!(read["plugins"], document["plugins"]);
    }

    #[test]
    fn origins_stand_beside_values() {
        let document = json!({"llm": {"model": {"value": "m", "origin": "default"}}});
        assert_eq!(yaml(&document, true), "llm:\n  model: m  # default\n");
        assert_eq!(
            grid(&document, true).rows,
            [[json!("llm.model"), json!("m"), json!("default")]]
        );
        assert_eq!(grid(&json!({"a": {"b": 1}}), false).rows, [[json!("a.b"), json!(1)]]);
    }
}
