//! The state that hosts of one process share: the engine with its plugins, the databases with what
//! is known of them, the cache, the endpoints with their limits, the recording.

mod living;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};
use syrch_cache::Cache;
use syrch_core::ledger::Budgets;
use syrch_core::ports::{Database, ModelProvider};
use syrch_core::roles::Role;
use syrch_core::{Ledger, Limits};
use syrch_journal::Recording;
use syrch_layers::{Limiter, Rates, RoutedModel};
use syrch_memory::MemoryCache;
use syrch_runtime::{Configured, Plugin, Runtime};
use syrch_suites::run::RunBudgets;

use crate::knowledge::Knowledge;
use crate::open::{open_cache, open_database};
use crate::own::OwnDatabase;
use crate::recordings::open_recording;
use crate::retrieval::SharedIndex;
use crate::settings::{PluginSource, RetrievalSettings};
use crate::simulation::Suites;
use crate::{Error, Observer, Settings, granted, plugins};
use living::Living;

/// Millionths of a dollar.
const MICROS: f64 = 1e6;
/// Loaded plugins that are cached.
const PLUGINS: usize = 1_024;
/// Plugins with a role and settings that are cached.
const CONFIGURED: usize = 4_096;

/// The state that hosts of one process share. Each thing is made by the first host that needs it,
/// with that host's settings: hosts that share differ in their database, their strategy and their
/// policy, and in nothing that is here.
///
/// Equal calls of hosts that share a cache are made once, and an endpoint's limits hold for all of
/// them together. Hosts of one database with the same grant and limits have it open once, and
/// statements under way at once are counted over all of them; it is closed, and its notes, examples
/// and index are forgotten, with the last of these hosts. So a further host costs little.
pub struct Shared {
    runtime: Mutex<Option<Arc<Runtime>>>,
    plugins: MemoryCache<String, Plugin>,
    configured: MemoryCache<String, Configured>,
    databases: Living<Opened, dyn Database>,
    known: Living<(Opened, RetrievalSettings), Known>,
    /// The suites that simulated models answer from.
    pub(crate) suites: Suites,
    parts: Mutex<Parts>,
}

/// Identifies an open database: its name, the address of the program's own implementation, the
/// granted tables, and the limits.
type Opened = (String, Option<usize>, Vec<String>, Limits);

/// The sources of retrieval over a database besides its catalog.
pub(crate) struct Known {
    pub(crate) knowledge: Arc<Knowledge>,
    pub(crate) index: Arc<SharedIndex>,
    /// The digest of what is known, as [`Knowledge::digest`] makes it.
    pub(crate) digest: Option<String>,
    /// The reason why the index on disk cannot be used.
    pub(crate) wrong: Option<String>,
}

impl Known {
    /// Combines that knowledge with an index over it that is made when it is needed.
    fn new(knowledge: Knowledge, wrong: Option<String>) -> Self {
        let digest = knowledge.digest();
        let knowledge = Arc::new(knowledge);
        Self { index: SharedIndex::new(Arc::clone(&knowledge)), knowledge, digest, wrong }
    }
}

impl Default for Known {
    fn default() -> Self {
        Self::new(Knowledge::default(), None)
    }
}

impl Default for Shared {
    fn default() -> Self {
        Self {
            runtime: Mutex::default(),
            plugins: MemoryCache::new(PLUGINS),
            configured: MemoryCache::new(CONFIGURED),
            databases: Living::default(),
            known: Living::default(),
            suites: Suites::default(),
            parts: Mutex::default(),
        }
    }
}

#[derive(Default)]
struct Parts {
    cache: Option<Option<Arc<Cache>>>,
    is_cache_checked: bool,
    limiters: BTreeMap<String, Arc<Limiter>>,
    providers: BTreeMap<String, Arc<dyn ModelProvider>>,
    recording: Option<Arc<Recording>>,
    /// The ledger of all searches together.
    total: Option<Arc<Ledger>>,
    /// The warnings that were given of databases: each is given once, however many hosts open them.
    warned: BTreeSet<String>,
}

impl Shared {
    /// A share that holds nothing yet.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::new(Self::default())
    }

    /// Bounds what all searches that begin from now on spend together. A call is reserved before it
    /// is sent, so that searches under way exceed none of these budgets either: what one of them
    /// asks beyond it fails with an error of the class `budget`.
    pub fn limit_together(&self, budgets: &RunBudgets) {
        let RunBudgets { calls, tokens, usd, .. } = *budgets;
        let is_bounded = calls.is_some() || tokens.is_some() || usd.is_some();
        self.parts().total = is_bounded.then(|| {
            Ledger::new(Budgets {
                tokens: tokens.unwrap_or(u64::MAX),
                llm_calls: calls.map_or(u32::MAX, |calls| calls.try_into().unwrap_or(u32::MAX)),
                cost_micros: usd.map(|usd| (usd * MICROS).round() as u64),
                ..Budgets::default()
            })
        });
    }

    /// The ledger of all searches together; `None` if nothing bounds them.
    pub(crate) fn total(&self) -> Option<Arc<Ledger>> {
        self.parts().total.clone()
    }

    fn parts(&self) -> MutexGuard<'_, Parts> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn runtime(&self, settings: &Settings) -> Result<Arc<Runtime>, Error> {
        let mut made = self.runtime.lock().unwrap_or_else(PoisonError::into_inner);
        match &*made {
            Some(runtime) => Ok(Arc::clone(runtime)),
            None => Ok(Arc::clone(made.insert(Arc::new(plugins::runtime(settings)?)))),
        }
    }

    pub(crate) fn cache(&self, settings: &Settings) -> Option<Arc<Cache>> {
        self.parts().cache.get_or_insert_with(|| open_cache(settings)).clone()
    }

    /// Checks a cache that several machines share, once for all hosts. Returns why it cannot be
    /// used; `None` if it can, if it was checked before, and if none is shared.
    pub(crate) async fn check_cache(&self, settings: &Settings) -> Option<String> {
        settings.cache.shared.as_ref()?;
        let cache = self.cache(settings)?;
        if std::mem::replace(&mut self.parts().is_cache_checked, true) {
            return None;
        }
        let error = cache.check().await.err()?;
        Some(format!("{error}; calls are made as if there were no cache"))
    }

    /// The first failure of the cache, with the number of failures; `None` if there was none, or
    /// nothing is cached.
    #[must_use]
    pub fn cache_failure(&self) -> Option<String> {
        self.parts().cache.as_ref()?.as_ref()?.failure()
    }

    /// The limiter of an endpoint, by the key that identifies the endpoint.
    pub(crate) fn limiter(&self, endpoint: &str, rates: Rates) -> Arc<Limiter> {
        let mut parts = self.parts();
        let made = parts.limiters.entry(endpoint.to_owned()).or_insert_with(|| Limiter::new(rates));
        Arc::clone(made)
    }

    /// The provider with that key; made when nobody has asked for it before. It must not depend on
    /// the database.
    pub(crate) fn provider(
        &self,
        key: String,
        make: impl FnOnce() -> Result<Arc<dyn ModelProvider>, Error>,
    ) -> Result<Arc<dyn ModelProvider>, Error> {
        if let Some(known) = self.parts().providers.get(&key) {
            return Ok(Arc::clone(known));
        }
        let made = make()?;
        Ok(Arc::clone(self.parts().providers.entry(key).or_insert(made)))
    }

    /// The recording that the model's calls go to, if the settings name one.
    pub(crate) fn recording(
        &self,
        settings: &Settings,
        model: &RoutedModel,
    ) -> Result<Option<Arc<Recording>>, Error> {
        let mut parts = self.parts();
        if parts.recording.is_none() {
            parts.recording = open_recording(settings, model)?;
        }
        Ok(parts.recording.clone())
    }

    /// The database of the settings, which is open already where another host has it.
    pub(crate) async fn database(&self, settings: &Settings) -> Result<Arc<dyn Database>, Error> {
        if let Some(OwnDatabase(own)) = &settings.own_database {
            return match settings.tables.as_slice() {
                [] => Ok(Arc::clone(own)),
                _ => Err(Error::Config(format!(
                    "`tables` cannot restrict the program's own database `{}`",
                    own.name()
                ))),
            };
        }
        self.databases.get(database_key(settings), || open_database(settings)).await
    }

    /// Returns the warnings of a database that were not given before.
    pub(crate) fn warnings(&self, database: &dyn Database) -> Vec<String> {
        let mut parts = self.parts();
        database
            .warnings()
            .into_iter()
            .filter(|warning| parts.warned.insert(warning.clone()))
            .collect()
    }

    /// Returns the sources of retrieval that the settings name for that database.
    pub(crate) async fn open_knowledge(
        &self,
        settings: &Settings,
        database: &Arc<dyn Database>,
    ) -> Result<Arc<Known>, Error> {
        self.known
            .get((database_key(settings), settings.retrieval.clone()), || async {
                let retrieval = settings.retrieval.clone();
                let catalog = database.catalog().await?;
                let known = tokio::task::spawn_blocking(move || {
                    let (knowledge, wrong) = Knowledge::read(&retrieval, &catalog)?;
                    Ok::<_, Error>(Known::new(knowledge, wrong))
                })
                .await;
                Ok(Arc::new(known.map_err(|error| Error::Internal(error.to_string()))??))
            })
            .await
    }

    /// A plugin that was loaded, with a role and its settings, of whose use nothing is counted yet.
    /// A plugin is loaded once, and asked once whether it takes settings.
    pub(crate) async fn configure_plugin(
        &self,
        role: Role,
        settings: &Settings,
        observer: &dyn Observer,
    ) -> Result<Configured, Error> {
        let source = settings.strategy.roles.get(&role).ok_or_else(|| {
            Error::Config(format!("the strategy names no plugin for the role {role}"))
        })?;
        let config = settings.strategy.config.get(&role).cloned().unwrap_or_default();
        let configured = self
            .configured
            .get(&plugin_key(role, source, &config), || async {
                let plugin = self.plugin(source, settings, observer).await?;
                plugin
                    .configure(role, &config)
                    .await
                    .map_err(|error| plugins::rejection(&source.to_string(), error))
            })
            .await?
            .anew();
        granted::refuse_unknown(source, configured.plugin(), settings)?;
        Ok(configured)
    }

    async fn plugin(
        &self,
        source: &PluginSource,
        settings: &Settings,
        observer: &dyn Observer,
    ) -> Result<Plugin, Error> {
        let runtime = self.runtime(settings)?;
        let load = async || plugins::load(&runtime, source, observer).await;
        Ok(Plugin::clone(&*self.plugins.get(&format!("{source:?}"), load).await?))
    }
}

fn database_key(settings: &Settings) -> Opened {
    let own = settings.own_database.as_ref().map(|OwnDatabase(own)| Arc::as_ptr(own).addr());
    (settings.database.clone(), own, settings.tables.clone(), settings.limits.clone())
}

/// Identifies a plugin with a role and settings.
fn plugin_key(role: Role, source: &PluginSource, config: &Map<String, Value>) -> String {
    format!("{role} {source:?} {}", Value::Object(config.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Host, Silent};

    #[tokio::test(flavor = "multi_thread")]
    async fn a_host_beside_another_opens_and_reads_nothing_again() {
        let folder = syrch_kit::scratch();
        let shop = syrch_kit::sqlite(
            folder.path().join("shop.sqlite"),
            "CREATE TABLE customers(id INTEGER)",
        );
        let notes = folder.path().join("notes.txt");
        std::fs::write(&notes, "ids begin at 1\n").unwrap();
        let mut one = Settings { database: shop.display().to_string(), ..Settings::default() };
        one.retrieval.notes = Some(notes.clone());
        let mut other = one.clone();
        other.policy.max_attempts += 1;
        let granted = Settings { tables: vec!["cust*".to_owned()], ..one.clone() };
        let shared = Shared::new();
        let host = async |settings: &Settings| {
            Host::open_beside(settings.clone(), &shared, &Silent).await.unwrap()
        };
        let one = host(&one).await;
        let granted = host(&granted).await;
        std::fs::remove_file(&notes).unwrap();
        let beside = host(&other).await;
        assert!(
            Arc::ptr_eq(&one.database, &beside.database) && Arc::ptr_eq(&one.known, &beside.known)
        );
        assert_eq!((one.knowledge().is_some(), one.knowledge()), (true, beside.knowledge()));
        assert!(
            !Arc::ptr_eq(&one.database, &granted.database)
                && !Arc::ptr_eq(&one.known, &granted.known)
        );
        // With the last of them they are gone: the notes are missed.
        drop((one, beside));
        assert!(Host::open_beside(other, &shared, &Silent).await.is_err());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn settings_are_offered_to_a_plugin_once_and_what_was_refused_is_offered_again() {
        let shared = Shared::new();
        let mut settings = Settings::default();
        let configured = async |settings: &Settings| {
            shared.configure_plugin(Role::Planner, settings, &Silent).await
        };
        let first = configured(&settings).await.unwrap();
        let key = plugin_key(Role::Planner, &settings.strategy.roles[&Role::Planner], &Map::new());
        let again = shared.configured.get(&key, || async { Err(()) }).await.unwrap();
        assert_eq!(again.plugin().digest(), first.plugin().digest());
        settings
            .strategy
            .config
            .entry(Role::Planner)
            .or_default()
            .insert("nobody_knows".to_owned(), true.into());
        assert!(configured(&settings).await.is_err() && configured(&settings).await.is_err());
    }
}
