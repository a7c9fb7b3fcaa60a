//! Plugins under the lock of the user: the components that names stand for, and what a search may
//! show and read with them.

use std::sync::Arc;

use syrch_core::Grants;
use syrch_runtime::{Plugin, Toolchain, digest, read_component};

use crate::open::check_prices;
use crate::settings::PluginSource;
use crate::{Error, Settings, builtin, plugins};

/// Returns the file of a plugin that is named by its name in the lock, and any other source as it
/// is. A built-in plugin's name is always that of the built-in one. It blocks.
///
/// # Errors
/// When the component is missing, or not the one that was added.
pub(crate) fn resolve(source: &PluginSource, settings: &Settings) -> Result<PluginSource, Error> {
    let PluginSource::Builtin(name) = source else { return Ok(source.clone()) };
    let locked = settings.lock.plugins().get(name).filter(|_| builtin::find(name).is_none());
    let Some(locked) = locked else { return Ok(source.clone()) };
    let path = settings.lock.component(&locked.digest);
    let bytes = read_component(&path, &settings.limits).map_err(|source| {
        let plugin = name.clone();
        Error::PluginRejected { plugin, toolchain: Toolchain::default(), source }
    })?;
    match digest(&bytes) == locked.digest {
        true => Ok(PluginSource::File(path)),
        false => {
            let path = path.display().to_string();
            Err(Error::ChangedPlugin { name: name.clone(), path })
        }
    }
}

/// Returns the settings under the lock: plugins that are named by their names in it are its
/// components, and the search shows no more cells and reads no other tables than all of its plugins
/// are granted. The plugins of a search hand each other what they read, so that a grant of data is
/// one of the whole search. Also returns what that changes, in words. It blocks.
///
/// # Errors
/// When a component is not the one that was added, or the tables of the search are not granted.
pub(crate) fn restrict(mut settings: Settings) -> Result<(Settings, Vec<String>), Error> {
    let mut notes = Vec::new();
    if settings.lock.plugins().is_empty() {
        return Ok((settings, notes));
    }
    let lock = Arc::clone(&settings.lock);
    let named = settings.tables.clone();
    for (role, source) in settings.strategy.roles.clone() {
        let source = resolve(&source, &settings)?;
        settings.strategy.roles.insert(role, source);
    }
    let solvers = settings.strategy.solvers().into_values().map(|(source, _)| source);
    let sources = settings.strategy.roles.values().cloned().chain(solvers);
    for source in sources.collect::<Vec<_>>() {
        let PluginSource::File(path) = resolve(&source, &settings)? else { continue };
        // A file that cannot be read is an error when it is loaded.
        let Ok(bytes) = read_component(&path, &settings.limits) else { continue };
        let digest = digest(&bytes);
        let Some(grants) = lock.grants(&digest)? else { continue };
        let name = lock.find_component(&digest).map_or("", |(name, _)| name.as_str());
        if grants.cost_micros.is_some()
            && let Err(Error::Unpriced { model }) = check_prices(&settings.model)
        {
            return Err(Error::Config(format!(
                "the plugin `{name}` is granted an amount of money, and the model `{model}` has no \
                 price, which llm.prices sets"
            )));
        }
        let rows = settings.rows.least(grants.rows.unwrap_or(settings.rows));
        if rows != settings.rows {
            notes.push(format!(
                "the plugin `{name}` is granted rows={rows}: this search shows no more"
            ));
            settings.rows = rows;
        }
        let Some(tables) = grants.tables else { continue };
        let list = tables.join(",");
        if let Some(table) = named.iter().find(|table| !tables.contains(table))
            && !Grants::are_all_tables(&tables)
        {
            return Err(Error::Config(format!(
                "the plugin `{name}` is granted tables={list}, and this search names `{table}`"
            )));
        }
        let both = match settings.tables.is_empty() {
            true => tables,
            false => Grants::intersect_tables(&settings.tables, &tables).map_err(|why| {
                Error::Config(format!("the grants of the plugin `{name}` and of others: {why}"))
            })?,
        };
        if both != settings.tables {
            notes.push(format!(
                "the plugin `{name}` is granted tables={list}: this search reads no others"
            ));
            settings.tables = both;
        }
    }
    Ok((settings, notes))
}

/// Refuses a plugin that nobody has reviewed, unless it is built in or was added, or the user
/// trusts it: one that a document names, such as a strategy file or a journal, whose author chose
/// it, and one that stands where an added plugin came from. No grants would bound it. It blocks.
///
/// # Errors
/// When it is such a plugin.
pub(crate) fn refuse_unknown(
    source: &PluginSource,
    plugin: &Plugin,
    settings: &Settings,
) -> Result<(), Error> {
    let PluginSource::File(path) = source else { return Ok(()) };
    let digest = plugin.digest();
    let document = settings.strategy.named_by.get(path);
    let added = settings.lock.find_source(path);
    if (document.is_none() && added.is_none())
        || builtin::find_by_digest(digest).is_some()
        || settings.lock.find_component(digest).is_some()
        || plugins::is_named(plugin, settings)
    {
        return Ok(());
    }
    let path = path.display().to_string();
    let (name, error) = match added {
        Some(name) => (name.clone(), Error::NotReviewed { name: name.clone(), path }),
        None => {
            let document = document.cloned().unwrap_or_default();
            (path.clone(), Error::NotAdded { document, path })
        }
    };
    settings.audit.refuse(&name, digest, &error.to_string());
    Err(error)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use syrch_core::ports::RowsGrant;
    use syrch_core::roles::Role;

    use super::*;
    use crate::lock::{FILE, Lock, Locked};

    fn grants(words: &[&str]) -> Grants {
        words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>().try_into().unwrap()
    }

    #[test]
    fn a_search_shows_and_reads_no_more_than_its_plugins_may() {
        let scratch = syrch_kit::scratch();
        let component = std::fs::read(syrch_kit::zoo::hostile()).unwrap();
        let digest = digest(&component);
        let mut lock = Lock::read(&scratch.path().join(FILE)).unwrap();
        std::fs::create_dir(lock.store()).unwrap();
        std::fs::write(lock.component(&digest), &component).unwrap();
        let words = ["llm", "rows=aggregates", "tables=orders,customers"];
        let locked = Locked {
            digest: digest.clone(),
            bytes: component.len() as u64,
            source: PathBuf::from("hostile.wasm"),
            manifest: None,
            roles: vec![Role::Solver],
            contract: "0.1.0".to_owned(),
            key: None,
            signer: None,
            wanted: grants(&["llm"]),
            granted: grants(&words),
        };
        lock.insert("short", None, locked, None).unwrap();
        let stored = PluginSource::File(lock.component(&digest));
        let lock = Arc::new(lock);
        let under = |rows, tables: &[&str], source: &PluginSource| {
            let mut settings = Settings { rows, lock: Arc::clone(&lock), ..Settings::default() };
            settings.tables = tables.iter().map(|table| (*table).to_owned()).collect();
            settings.strategy.roles.insert(Role::Solver, source.clone());
            restrict(settings)
        };
        let named = PluginSource::parse("short");
        let file = PluginSource::File(syrch_kit::zoo::hostile());
        for source in [&named, &file] {
            let (settings, notes) = under(RowsGrant::Full, &[], source).unwrap();
            assert_eq!(settings.rows, RowsGrant::Aggregates);
            assert_eq!(
                (settings.tables, notes.len()),
                (vec!["orders".into(), "customers".into()], 2)
            );
        }
        let (settings, notes) = under(RowsGrant::None, &["orders"], &named).unwrap();
        assert_eq!((settings.rows, notes), (RowsGrant::None, Vec::new()));
        assert_eq!(settings.tables, ["orders"]);
        assert_eq!(settings.strategy.roles[&Role::Solver], stored);
        let error = under(RowsGrant::None, &["payments"], &named).unwrap_err().to_string();
        assert!(error.contains("`payments`"), "{error}");
        std::fs::write(lock.component(&digest), [&component[..], b"\0"].concat()).unwrap();
        let error = under(RowsGrant::None, &[], &named).unwrap_err();
        assert!(matches!(error, Error::ChangedPlugin { .. }), "{error}");
    }

    #[test]
    fn the_tables_of_a_search_are_those_that_all_of_its_plugins_are_granted() {
        let scratch = syrch_kit::scratch();
        let component = std::fs::read(syrch_kit::zoo::hostile()).unwrap();
        let other = [&component[..], b"\0\x02\x01x"].concat();
        let under = |first: &str, second: &str| {
            let mut lock = Lock::read(&scratch.path().join(first).join(FILE)).unwrap();
            std::fs::create_dir_all(lock.store()).unwrap();
            for (name, component, words) in [("a", &component, first), ("b", &other, second)] {
                let digest = digest(component);
                std::fs::write(lock.component(&digest), component).unwrap();
                let locked = Locked {
                    digest,
                    bytes: component.len() as u64,
                    source: PathBuf::from("x.wasm"),
                    manifest: None,
                    roles: vec![Role::Solver],
                    contract: "0.1.0".to_owned(),
                    key: None,
                    signer: None,
                    wanted: grants(&["llm"]),
                    granted: grants(&[words]),
                };
                lock.insert(name, None, locked, None).unwrap();
            }
            let mut settings = Settings { lock: Arc::new(lock), ..Settings::default() };
            settings.strategy.roles.insert(Role::Planner, PluginSource::parse("a"));
            settings.strategy.roles.insert(Role::Solver, PluginSource::parse("b"));
            restrict(settings).map(|(settings, _)| settings.tables)
        };
        assert_eq!(under("tables=orders,customers", "tables=orders").unwrap(), ["orders"]);
        let error = under("tables=payments", "tables=customers").unwrap_err().to_string();
        assert!(error.contains("no pattern in common"), "{error}");
    }
}
