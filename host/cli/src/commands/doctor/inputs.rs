//! The inputs of a search: config files, plugins and the database.

use std::path::PathBuf;
use std::sync::Arc;

use syrch::databases::{Condition, Executor, database_path, inspect_server, open_database};
use syrch::plugins::Inspection;
use syrch::settings::PluginSource;
use syrch::syrch_core::DatabaseUrl;
use syrch::syrch_core::ports::RowsGrant;
use syrch::{Settings, plugins, strategies};

use super::{Check, State};
use crate::commands::Context;
use crate::config::spec::STRATEGY;
use crate::console::progress::Watch;
use crate::failure::{Failure, Outcome};
use crate::shell;

/// Reports the config files that there are, and those that cannot be read.
pub(super) fn config(files: &[PathBuf], broken: Option<Failure>) -> Check {
    if let Some(failure) = broken {
        return Check::from_failure("config", failure);
    }
    let names: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    Check::ok(
        "config",
        if names.is_empty() {
            "no config file, the defaults hold".to_owned()
        } else {
            names.join(", ")
        },
    )
}

/// The check of a part that was not made, since the configuration cannot be read.
pub(super) fn skip_check(name: &'static str) -> Check {
    Check::warn(
        name,
        "not checked, since the configuration cannot be read",
        "fix `config` above first",
    )
}

async fn load(context: &Context, source: &PluginSource) -> Outcome<Inspection> {
    context.console.progress(&format!("loading {source}"));
    let watch = Watch::new(Arc::clone(&context.console));
    Ok(plugins::inspect(source, &context.config.effective.settings, &watch).await?)
}

/// Checks whether the built-in plugins load.
pub(super) async fn builtins(context: &Context) -> Check {
    let all = plugins::builtins();
    for builtin in &all {
        if let Err(failure) = load(context, &PluginSource::Builtin(builtin.name.to_owned())).await {
            return Check::from_failure("plugins", failure);
        }
    }
    let names: Vec<&str> = all.iter().map(|builtin| builtin.name).collect();
    Check::ok("plugins", format!("all {} built-in ones load: {}", names.len(), names.join(", ")))
}

/// The strategy in force with its plugins, and whether they accept their settings.
pub(super) async fn strategy(context: &Context) -> Check {
    let effective = &context.config.effective;
    let watch = Watch::new(Arc::clone(&context.console));
    let checked = match strategies::find(&effective.strategy) {
        Ok(found) => strategies::check(&found, &effective.settings, &watch).await.map(drop),
        Err(error) => Err(error),
    };
    if let Err(error) = checked {
        return Check::from_failure("strategy", error.into());
    }
    let roles =
        effective.settings.strategy.roles.iter().map(|(role, source)| format!("{role} {source}"));
    let word = &effective.strategy;
    let origin = context.config.origin(STRATEGY);
    Check::ok("strategy", format!("{word} ({origin}): {}", roles.collect::<Vec<_>>().join(", ")))
}

/// Checks whether the notes, the solved examples and the index of business terms can be read.
pub(super) fn retrieval(settings: &Settings) -> Option<Check> {
    let named = [("notes", &settings.retrieval.notes), ("examples", &settings.retrieval.examples)];
    let named: Vec<String> = named
        .iter()
        .filter_map(|(what, path)| Some(format!("{what} {}", path.as_ref()?.display())))
        .collect();
    match syrch::knowledge::check_retrieval(settings) {
        Err(error) => Some(Check::from_failure("retrieval", error.into())),
        Ok(()) if named.is_empty() => None,
        Ok(()) => Some(Check::ok("retrieval", named.join(", "))),
    }
}

/// Checks whether those plugins of the strategy load that are not built in.
pub(super) async fn plugin_files(context: &Context) -> Vec<Check> {
    let known = plugins::builtins();
    let is_builtin = |source: &PluginSource| match source {
        PluginSource::Builtin(name) => known.iter().any(|builtin| builtin.name == name),
        PluginSource::File(_) => false,
    };
    let settings = &context.config.effective.settings;
    let roles = &settings.strategy.roles;
    let rows = settings.rows;
    let shows_cells = matches!(rows, RowsGrant::Sample(_) | RowsGrant::Full);
    let mut checks = Vec::new();
    for (role, source) in roles.iter().filter(|(_, source)| !is_builtin(source)) {
        checks.push(match load(context, source).await {
            Ok(plugin) if shows_cells || plugin.is_trusted => {
                Check::ok("plugin", format!("{source} loads, for the {role}"))
            }
            Ok(_) => Check::warn(
                "plugin",
                format!(
                    "{source} loads, for the {role}; under --rows {rows} it calls no model once it \
                     may know something of the data"
                ),
                format!(
                    "--trust {} lets it; see --rows in docs/databases.md",
                    shell::quote(source)
                ),
            ),
            Err(failure) => Check::from_failure("plugin", failure),
        });
    }
    checks
}

/// Checks whether the database can be read, and says what it holds, and at a server what its user
/// could do beyond reading.
pub(super) async fn database(settings: &Settings) -> Vec<Check> {
    let (opened, warnings) = match open(settings).await {
        Ok(opened) => opened,
        Err(check) => return vec![check],
    };
    let mut checks: Vec<Check> = vec![opened];
    checks.extend(warnings.into_iter().map(|warning: String| {
        Check::warn("connection", warning, "see docs/databases.md, Connections")
    }));
    if checks[0].state == State::Ok {
        checks.extend(role(settings).await);
    }
    checks
}

/// Checks what the user of a server's database could do beyond reading. `None` if it is a file.
async fn role(settings: &Settings) -> Option<Check> {
    let name = "role";
    match inspect_server(settings).await {
        Ok(None) => None,
        Err(error) => Some(Check::from_failure(name, error.into())),
        Ok(Some(report)) if report.beyond_reading.is_empty() => {
            Some(Check::ok(name, format!("{}: no right beyond reading was found", report.detail)))
        }
        Ok(Some(report)) => Some(Check::warn(
            name,
            format!("{}: {}", report.detail, report.beyond_reading.join("\n")),
            "connect as a role that only reads: `syrch-host doctor --print-role-sql` prints the \
             statements that make it",
        )),
    }
}

/// The check of what a database holds, and what its user should know of the connection.
async fn open(settings: &Settings) -> Result<(Check, Vec<String>), Check> {
    let name = "database";
    if settings.database.trim().is_empty() {
        return Err(Check::ok(
            name,
            "none is configured; --db, SYRCH_DB or `execution: {db_path: …}` names one",
        ));
    }
    let opened = async {
        let database = open_database(settings).await?;
        Ok::<_, Failure>((database.catalog().await?, database.warnings()))
    };
    let (catalog, warnings) = opened.await.map_err(|failure| Check::from_failure(name, failure))?;
    let views = catalog.tables.iter().filter(|table| table.is_view()).count();
    let tables = syrch::syrch_core::text::count(catalog.tables.len() - views, "table");
    let held = format!("{tables} and {}", syrch::syrch_core::text::count(views, "view"));
    let url = DatabaseUrl::parse(&settings.database);
    let opened = format!("{url} opens: {held}");
    let files = Executor::for_url(&url).ok().and_then(Executor::files);
    let path = database_path(&url);
    let (Some(files), Some(path)) = (files, path) else {
        return Ok((Check::ok(name, opened), warnings));
    };
    let Condition { detail, fix } = (files.condition)(&path);
    let detail = format!("{opened}, {detail}");
    let check = fix.map_or_else(|| Check::ok(name, &detail), |fix| Check::warn(name, &detail, fix));
    Ok((check, warnings))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn config_files_are_named_and_a_broken_one_fails() {
        assert_eq!(config(&[], None).detail, "no config file, the defaults hold");
        assert_eq!(config(&["a.yml".into(), "b.yml".into()], None).detail, "a.yml, b.yml");
        let broken = config(&[], Some(Failure::config("a.yml:1:1: bad").hint("mend it")));
        assert_eq!(broken, Check::fail("config", "a.yml:1:1: bad", "mend it"));
    }

    #[tokio::test]
    async fn the_journal_of_a_database_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.sqlite");
        let settings = Settings { database: path.display().to_string(), ..Settings::default() };
        let writer = rusqlite::Connection::open(&path).unwrap();
        writer.execute_batch("CREATE TABLE t(a); CREATE VIEW v AS SELECT a FROM t").unwrap();
        let check = database(&settings).await.remove(0);
        assert!(check.detail.ends_with("1 table and 1 view, rollback journal"), "{check:?}");
        writer.execute_batch("PRAGMA journal_mode = WAL; INSERT INTO t VALUES (1)").unwrap();
        let check = database(&settings).await.remove(0);
        assert_eq!(check.state, State::Ok);
        assert!(
            check.detail.contains("write-ahead log of") && check.detail.ends_with("KiB"),
            "{check:?}"
        );
        let missing =
            Settings { database: folder.path().join("b.sqlite").display().to_string(), ..settings };
        assert_eq!(database(&missing).await[0].state, State::Fail);
        assert!(!folder.path().join("b.sqlite").exists());
        assert_eq!(database(&Settings::default()).await[0].state, State::Ok);
    }
}
