//! The registration of the server with a program: arguments and environment, without secrets and
//! with whole paths, since the program starts it in another folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;
use syrch::databases::{Executor, database_name};
use syrch::syrch_core::DatabaseUrl;

use super::{McpArgs, SEARCHES, WAITING};
use crate::absolute;
use crate::commands::Context;
use crate::config::Origin;
use crate::config::kind::Kind;
use crate::config::options::SPECS;
use crate::config::spec::{DATABASE, Spec};
use crate::environment::{KEY, is_secret_of_server};
use crate::shell;

/// Characters of a name at most, as assistants have it.
const LONGEST: usize = 64;
/// The sources of replies that are files.
const RECORDED: [&str; 3] = ["record", "replay", "simulated"];
/// The variables of folders.
const FOLDERS: [&str; 2] = ["SYRCH_CACHE_DIR", "SYRCH_STATE_DIR"];

/// The registration of a server with these flags.
pub(super) struct Registration {
    /// The name of the server.
    pub(super) name: String,
    /// The arguments of the program.
    pub(super) words: Vec<String>,
    /// The variables of its environment that set something.
    pub(super) variables: BTreeMap<String, String>,
}

impl Registration {
    /// Collects what this process was given. The user is warned of what is left out.
    pub(super) fn new(context: &Context, arguments: &McpArgs) -> Self {
        let url = DatabaseUrl::parse(&context.config.effective.settings.database);
        warn_of_project(context);
        Self {
            name: make_name(&database_name(&url)),
            words: list_words(context, arguments),
            variables: list_variables(context, arguments, &url),
        }
    }
}

/// A name of letters, digits, `_` and `-`, which is what assistants take.
fn make_name(database: &str) -> String {
    let letters = database.chars().map(|letter| match letter {
        letter if letter.is_ascii_alphanumeric() || letter == '_' => letter,
        _ => '-',
    });
    let name: String = "syrch-".chars().chain(letters).take(LONGEST).collect();
    name.trim_end_matches('-').to_owned()
}

/// Warns of a file in the current folder, which the server will not find.
fn warn_of_project(context: &Context) {
    let found = SPECS.iter().find_map(|spec| match context.config.origin(spec.key) {
        Origin::File { path, .. } if Path::new(&path).is_relative() => Some(path),
        _ => None,
    });
    if let Some(path) = found.filter(|_| context.file.is_none()) {
        context.console.warn(&format!(
            "the settings of `{path}` are left out, since the program starts the server in \
             another folder: --config {} takes them along",
            shell::quote(&path)
        ));
    }
}

fn list_words(context: &Context, arguments: &McpArgs) -> Vec<String> {
    let mut words = vec!["mcp".to_owned()];
    if let Some(file) = &context.file {
        words.extend(["--config".to_owned(), absolute::path(&file.display().to_string())]);
    }
    for (spec, value, _) in arguments.flags.entries() {
        let Some((flag, _)) = spec.flag else { continue };
        match value {
            Value::Bool(true) => words.push(format!("--{flag}")),
            Value::Bool(false) => words.push(format!("--no-{flag}")),
            value if holds_secret(spec, &text(value)) => {
                warn_of_secret(context, &format!("--{flag}"), spec.env.first().copied())
            }
            Value::Array(items) => {
                for item in items.iter().map(text) {
                    words.extend([format!("--{flag}"), with_whole_path(context, spec, &item)]);
                }
            }
            value => {
                let value = with_whole_path(context, spec, &text(value));
                words.extend([format!("--{flag}"), value]);
            }
        }
    }
    for parameter in &arguments.parameters {
        words.extend(["-P".to_owned(), parameter.to_string()]);
    }
    let numbers =
        [("--searches", arguments.searches, SEARCHES), ("--waiting", arguments.waiting, WAITING)];
    for (flag, value, default) in numbers {
        if value != default {
            words.extend([flag.to_owned(), value.to_string()]);
        }
    }
    if let Some(usd) = arguments.total.total_usd {
        words.extend(["--total-usd".to_owned(), usd.to_string()]);
    }
    words
}

/// The variables of this process that set something which no flag sets. A program starts a server
/// with an environment of its own.
fn list_variables(
    context: &Context,
    arguments: &McpArgs,
    url: &DatabaseUrl,
) -> BTreeMap<String, String> {
    let flags: BTreeSet<&str> = arguments.flags.entries().map(|(spec, ..)| spec.key).collect();
    let mut variables = BTreeMap::new();
    for (name, value) in &context.environment.syrch {
        let Some(value) = value else { continue };
        let spec = SPECS.iter().find(|spec| spec.env.contains(&name.as_str()));
        match spec {
            Some(spec) if flags.contains(spec.key) => {}
            Some(spec) if holds_secret(spec, value) => warn_of_secret(context, name, Some(name)),
            // The key of an endpoint by name.
            None if name.starts_with(KEY) => warn_of_secret(context, name, Some(name)),
            Some(spec) => {
                let value = match spec.kind {
                    Kind::Files => {
                        let paths = value.split(',').map(|path| absolute::path(path.trim()));
                        paths.collect::<Vec<_>>().join(",")
                    }
                    _ => with_whole_path(context, spec, value),
                };
                variables.insert(name.clone(), value);
            }
            None if FOLDERS.contains(&name.as_str()) => {
                variables.insert(name.clone(), absolute::path(value));
            }
            None => {}
        }
    }
    if let Origin::Environment(name) = context.config.origin("llm.api_key")
        && !name.starts_with(KEY)
    {
        warn_of_secret(context, &name, Some(&name));
    }
    let server = Executor::for_url(url).ok().and_then(Executor::server);
    let prefixes = server.map(|server| server.variables).unwrap_or_default();
    for (name, value) in &context.environment.servers {
        if !prefixes.iter().any(|prefix| name.starts_with(prefix)) {
            continue;
        }
        match is_secret_of_server(name) {
            true => warn_of_secret(context, name, Some(name)),
            false => drop(variables.insert(name.clone(), value.clone())),
        }
    }
    variables
}

/// Returns whether a value is a secret, or an address with one in it.
fn holds_secret(spec: &Spec, value: &str) -> bool {
    let may_be_address = spec.flag.is_some_and(|(_, value)| value.contains("URL"));
    matches!(spec.kind, Kind::Secret)
        || may_be_address && !DatabaseUrl::parse(value).secrets().is_empty()
}

/// Warns of a secret that is left out; `variable` takes it.
fn warn_of_secret(context: &Context, what: &str, variable: Option<&str>) {
    context.console.warn(&match variable {
        Some(variable) => format!(
            "{what} is left out, since it holds a secret: put it as {variable} in the environment \
             of the program"
        ),
        None => format!("{what} is left out, since it holds a secret: put it in a config file"),
    });
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A value with the whole path of the file that it names, if it names one.
fn with_whole_path(context: &Context, spec: &Spec, value: &str) -> String {
    let takes_paths = spec
        .flag
        .is_some_and(|(_, value)| ["PATH", "FILE"].iter().any(|word| value.contains(word)));
    match spec.kind {
        Kind::Files => absolute::path(value),
        Kind::ModelSource => match value.split_once(':') {
            Some((source, file)) if RECORDED.contains(&source) => {
                format!("{source}:{}", absolute::path(file))
            }
            _ => value.to_owned(),
        },
        Kind::SharedCache if DatabaseUrl::parse(value).scheme().is_none() => absolute::path(value),
        // A name of a config file stands for what that file says.
        _ if spec.key == DATABASE
            && !context.config.effective.databases.contains_key(value.trim()) =>
        {
            absolute::database(value)
        }
        _ if takes_paths && is_file(value) => absolute::path(value),
        _ => value.to_owned(),
    }
}

/// Returns whether a value names a file by a path, and not something built in.
fn is_file(value: &str) -> bool {
    value.contains(['/', '\\', '.']) && Path::new(value).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_no_blanks_and_is_short() {
        for (database, name) in [
            ("shop", "syrch-shop"),
            ("my shop (old).2", "syrch-my-shop--old--2"),
            ("größe", "syrch-gr--e"),
            ("", "syrch"),
        ] {
            assert_eq!(make_name(database), name);
        }
        assert_eq!(make_name(&"x".repeat(100)).len(), LONGEST);
    }
}
