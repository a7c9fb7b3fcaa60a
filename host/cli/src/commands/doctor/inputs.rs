//! What a search is given: config files, plugins and the database.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use syrch::plugins::Inspection;
use syrch::syrch_core::Catalog;
use syrch::syrch_core::ports::RowsGrant;
use syrch::{PluginSource, Settings, open_database, plugins, strategies};

use super::Check;
use super::folders::human;
use crate::commands::Context;
use crate::config::spec::STRATEGY;
use crate::console::progress::Watch;
use crate::failure::{Failure, Outcome};
use crate::output::database_files;

/// A write-ahead log of more bytes than this slows every reader down.
const LARGE_LOG: u64 = 64 << 20;

/// Which config files there are, and whether they can be read.
pub(super) fn config(files: &[PathBuf], broken: Option<Failure>) -> Check {
    if let Some(failure) = broken {
        return Check::of("config", failure);
    }
    let names: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    Check::ok(
        "config",
        if names.is_empty() { "no config file, the defaults hold".to_owned() } else { names.join(", ") },
    )
}

/// What could not be looked at, since the configuration cannot be read.
pub(super) fn skipped(name: &'static str) -> Check {
    Check::warn(name, "not checked, since the configuration cannot be read", "mend `config` above first")
}

async fn load(context: &Context, source: &PluginSource) -> Outcome<Inspection> {
    context.console.progress(&format!("loading {source}"));
    let watch = Watch::new(Arc::clone(&context.console));
    Ok(plugins::inspect(source, &context.config.effective.settings, &watch).await?)
}

/// Whether the built-in plugins load.
pub(super) async fn builtins(context: &Context) -> Check {
    let all = plugins::builtins();
    for builtin in &all {
        if let Err(failure) = load(context, &PluginSource::Builtin(builtin.name.to_owned())).await {
            return Check::of("plugins", failure);
        }
    }
    let names: Vec<&str> = all.iter().map(|builtin| builtin.name).collect();
    Check::ok("plugins", format!("all {} built-in ones load: {}", names.len(), names.join(", ")))
}

/// Which strategy is in force, whether its plugins take their settings, and who plays its roles after all.
pub(super) async fn cast(context: &Context) -> Check {
    let effective = &context.config.effective;
    let watch = Watch::new(Arc::clone(&context.console));
    let checked = match strategies::find(&effective.strategy) {
        Ok(found) => strategies::check(&found, &effective.settings, &watch).await.map(drop),
        Err(error) => Err(error),
    };
    if let Err(error) = checked {
        return Check::of("strategy", error.into());
    }
    let roles = effective.settings.strategy.roles.iter().map(|(role, source)| format!("{role} {source}"));
    let (word, origin) = (&effective.strategy, context.config.origin(STRATEGY));
    Check::ok("strategy", format!("{word} ({origin}): {}", roles.collect::<Vec<_>>().join(", ")))
}

/// Whether the notes, the solved examples and the index of business terms can be read.
pub(super) fn retrieval(settings: &Settings) -> Option<Check> {
    let named = [("notes", &settings.retrieval.notes), ("examples", &settings.retrieval.examples)];
    let named: Vec<String> =
        named.iter().filter_map(|(what, path)| Some(format!("{what} {}", path.as_ref()?.display()))).collect();
    match syrch::check_retrieval(settings) {
        Err(error) => Some(Check::of("retrieval", error.into())),
        Ok(()) if named.is_empty() => None,
        Ok(()) => Some(Check::ok("retrieval", named.join(", "))),
    }
}

/// Whether the plugins of the strategy load that are files, or that no built-in is called.
pub(super) async fn strategy(context: &Context) -> Vec<Check> {
    let known = plugins::builtins();
    let is_builtin = |source: &PluginSource| match source {
        PluginSource::Builtin(name) => known.iter().any(|builtin| builtin.name == name),
        PluginSource::File(_) => false,
    };
    let settings = &context.config.effective.settings;
    let (roles, rows) = (&settings.strategy.roles, settings.rows);
    let shows_cells = matches!(rows, RowsGrant::Sample(_) | RowsGrant::Full);
    let mut checks = Vec::new();
    for (role, source) in roles.iter().filter(|(_, source)| !is_builtin(source)) {
        checks.push(match load(context, source).await {
            Ok(plugin) if shows_cells || plugin.is_trusted => {
                Check::ok("plugin", format!("{source} loads, for the {role}"))
            }
            Ok(_) => Check::warn(
                "plugin",
                format!("{source} loads, for the {role}; under --rows {rows} it calls no model once it may know something of the data"),
                format!("--trust {source} lets it; see --rows in docs/databases.md"),
            ),
            Err(failure) => Check::of("plugin", failure),
        });
    }
    checks
}

/// Whether the database can be read, and what it holds.
pub(super) async fn database(settings: &Settings) -> Check {
    let name = "database";
    if settings.database.trim().is_empty() {
        return Check::ok(name, "none is configured; --db, SYRCH_DB or `execution: {db_path: …}` names one");
    }
    let catalog = match catalog(settings).await {
        Ok(catalog) => catalog,
        Err(failure) => return Check::of(name, failure),
    };
    let views = catalog.tables.iter().filter(|table| table.is_view()).count();
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let held = format!("{} and {}", count(catalog.tables.len() - views, "table"), count(views, "view"));
    let opened = format!("{} opens: {held}", settings.database);
    match database_files(&settings.database).first() {
        Some(file) if file.is_file() => journal(opened, file),
        _ => Check::ok(name, opened),
    }
}

async fn catalog(settings: &Settings) -> Outcome<Arc<Catalog>> {
    Ok(open_database(settings).await?.catalog().await?)
}

/// Adds how a SQLite file keeps its changes.
fn journal(opened: String, file: &Path) -> Check {
    let name = "database";
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    let bytes = std::fs::metadata(PathBuf::from(log)).map_or(0, |data| data.len());
    if !writes_ahead(file) {
        return Check::ok(name, format!("{opened}, rollback journal"));
    }
    let detail = format!("{opened}, write-ahead log of {}", human(bytes));
    if bytes <= LARGE_LOG {
        return Check::ok(name, detail);
    }
    let fix = format!("sqlite3 '{}' 'PRAGMA wal_checkpoint(TRUNCATE)'", file.display());
    Check::warn(name, detail, fix)
}

/// Whether the file's header asks for a write-ahead log: its byte 18 is 2 (the SQLite file format, "file format version numbers").
fn writes_ahead(file: &Path) -> bool {
    let mut head = [0; 20];
    let read = std::fs::File::open(file).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && head[18] == 2
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn config_files_are_named_and_a_broken_one_fails() {
        assert_eq!(config(&[], None).detail, "no config file, the defaults hold");
        assert_eq!(config(&["a.yml".into(), "b.yml".into()], None).detail, "a.yml, b.yml");
        let broken = config(&[], Some(Failure::config("a.yml:1:1: bad").hint("mend it")));
        assert_eq!(broken, Check::fail("config", "a.yml:1:1: bad", "mend it"));
    }

    #[tokio::test]
    async fn the_journal_of_a_database_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.sqlite");
        let settings = Settings { database: path.display().to_string(), ..Settings::default() };
        let writer = rusqlite::Connection::open(&path).unwrap();
        writer.execute_batch("CREATE TABLE t(a); CREATE VIEW v AS SELECT a FROM t").unwrap();
        let check = database(&settings).await;
        assert!(check.detail.ends_with("1 table and 1 view, rollback journal"), "{check:?}");
        writer.execute_batch("PRAGMA journal_mode = WAL; INSERT INTO t VALUES (1)").unwrap();
        let check = database(&settings).await;
        assert_eq!(check.state, State::Ok);
        assert!(check.detail.contains("write-ahead log of") && check.detail.ends_with("KiB"), "{check:?}");
        let missing = Settings { database: folder.path().join("b.sqlite").display().to_string(), ..settings };
        assert_eq!(database(&missing).await.state, State::Fail);
        assert!(!folder.path().join("b.sqlite").exists());
        assert_eq!(database(&Settings::default()).await.state, State::Ok);
    }
}
