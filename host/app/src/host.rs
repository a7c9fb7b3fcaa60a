//! A host that is ready to search: one database, one model provider, a plugin for each role.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use futures::future::{BoxFuture, join_all};
use syrch_cache::Cache;
use syrch_core::RoleError;
use syrch_core::ledger::Budgets;
use syrch_core::ports::{Database, Level, ModelProvider, PortError, RetrievalPort};
use syrch_core::roles::Role;
use syrch_core::{Corpus, Hit, RetrievalQuery, Retriever};
use syrch_journal::Recording;
use syrch_layers::RoutedModel;
use syrch_runtime::Configured;
use syrch_semantics::Semantics;
use tokio::sync::Semaphore;

use crate::given_up::GivenUp;
use crate::journal_settings::journal_settings;
use crate::open::open_model;
use crate::retrieval::Retrieval;
use crate::settings::PluginSource;
use crate::shared::Known;
use crate::{
    Error, HostBuilder, Observer, Query, SearchEvent, Settings, Shared, granted, meaning, plugins,
    query,
};

/// An open database, a model and the plugins of a strategy. Searches on one host may run
/// concurrently, and a clone shares everything with the host that it was cloned from.
#[derive(Clone)]
pub struct Host {
    pub(crate) settings: Arc<Settings>,
    /// The settings as journals hold them.
    pub(crate) written: Arc<serde_json::Value>,
    pub(crate) database: Arc<dyn Database>,
    pub(crate) model: Arc<RoutedModel>,
    pub(crate) cache: Option<Arc<Cache>>,
    pub(crate) plugins: StrategyPlugins,
    /// The roles whose plugins call no model once they may know something of the data.
    pub(crate) untrusted: BTreeSet<Role>,
    /// The sources that retrieval searches besides the catalog; dropped with the last host that
    /// uses them.
    pub(crate) known: Arc<Known>,
    /// The metrics that are defined.
    pub(crate) semantics: Option<Arc<Semantics>>,
    /// Receives the exchanges with the model.
    pub(crate) recording: Option<Arc<Recording>>,
    pub(crate) searches: Arc<Semaphore>,
    /// True if a search has warned of notes, examples or vectors that are configured and empty.
    pub(crate) has_warned_of_idle: Arc<AtomicBool>,
    /// The time at which old journals were last removed.
    pub(crate) pruned: Arc<Mutex<Option<Instant>>>,
    /// The engine outlives its plugins: its ticker enforces their CPU limits.
    pub(crate) shared: Arc<Shared>,
}

/// The plugins that were loaded.
#[derive(Clone)]
pub(crate) struct StrategyPlugins {
    /// By role: those that a search calls, or one that is called alone. Without a linker the roles
    /// see the whole catalog, and a rewriter is loaded by [`Host::with_rewriter`] only.
    roles: BTreeMap<Role, Configured>,
    /// The plugins to which a flow hands tasks, by the names of its nodes.
    pub(crate) solvers: BTreeMap<String, (PluginSource, Configured)>,
}

impl StrategyPlugins {
    /// Loads the plugins of the settings' strategy that a search needs, and gives each its role.
    pub(crate) async fn load(
        settings: &Settings,
        shared: &Shared,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let links = settings.strategy.roles.contains_key(&Role::Linker);
        let needed = Role::SEARCH.into_iter().filter(|role| links || *role != Role::Linker);
        let roles = join_all(needed.map(async |role| {
            Ok::<_, Error>((role, shared.configure_plugin(role, settings, observer).await?))
        }));
        let solvers = async {
            let mut solvers = BTreeMap::new();
            for (name, (source, config)) in settings.strategy.solvers() {
                let source = granted::resolve(&source, settings)?;
                let mut own = settings.clone();
                own.strategy.roles.insert(Role::Solver, source.clone());
                own.strategy.config.insert(Role::Solver, config);
                solvers.insert(
                    name,
                    (source, shared.configure_plugin(Role::Solver, &own, observer).await?),
                );
            }
            Ok::<_, Error>(solvers)
        };
        let (roles, solvers) = futures::join!(roles, solvers);
        Ok(Self { roles: roles.into_iter().collect::<Result<_, _>>()?, solvers: solvers? })
    }

    /// Makes the plugins of a host with that plugin alone, of which nothing but its own role is
    /// called.
    fn from_plugin(plugin: &Configured) -> Self {
        let roles = BTreeMap::from([(plugin.role(), plugin.clone())]);
        Self { roles, solvers: BTreeMap::new() }
    }

    /// The plugin of a role; `None` if the host has none.
    pub(crate) fn get(&self, role: Role) -> Option<&Configured> {
        self.roles.get(&role)
    }

    /// The plugin of a role that is called now.
    ///
    /// # Errors
    /// [`RoleError::Unavailable`] in a host for calls of another role.
    pub(crate) fn for_role(&self, role: Role) -> Result<&Configured, RoleError> {
        self.get(role).ok_or_else(|| RoleError::Unavailable {
            plugin: role.name().to_owned(),
            reason: "no plugin of that role is loaded".to_owned(),
        })
    }

    /// The name that the plugin of a role gives itself.
    pub(crate) fn name(&self, role: Role) -> String {
        self.get(role).map(|one| one.plugin().identity().name.clone()).unwrap_or_default()
    }

    /// All of them: those of the search's roles, those of a flow, and the rewriter.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Configured> {
        let searching = self.roles.iter().filter(|(role, _)| **role != Role::Rewriter);
        let solvers = self.solvers.values().map(|(_, solver)| solver);
        searching.map(|(_, one)| one).chain(solvers).chain(self.get(Role::Rewriter))
    }

    /// All of them, each with where it came from.
    pub(crate) fn with_sources<'a>(
        &'a self,
        settings: &'a Settings,
    ) -> impl Iterator<Item = (Option<&'a PluginSource>, &'a Configured)> {
        let of_roles = self.all().map(|one| (settings.strategy.roles.get(&one.role()), one));
        // Those of a flow have the role of its solver, and sources of their own.
        of_roles.map(|(source, one)| {
            let own = self.solvers.values().find(|(_, known)| std::ptr::eq(known, one));
            (own.map(|(source, _)| source).or(source), one)
        })
    }
}

/// Returns the settings under the lock, and reports what its grants change.
fn restrict(settings: Settings, observer: &dyn Observer) -> Result<Settings, Error> {
    let audit = Arc::clone(&settings.audit);
    let lock = Arc::clone(&settings.lock);
    let restricted = granted::restrict(settings).inspect_err(|error| {
        if let Error::ChangedPlugin { name, .. } = error {
            let digest = lock.plugins().get(name).map_or("", |locked| locked.digest.as_str());
            audit.refuse(name, digest, &error.to_string());
        }
    });
    let (settings, notes) = restricted?;
    for message in notes {
        let call = "plugin".to_owned();
        observer.event(&SearchEvent::Note { call, level: Level::Warn, message });
    }
    Ok(settings)
}

/// Returns whether the plugin may not call a model once it may know something of the data.
fn is_untrusted(one: &Configured, settings: &Settings) -> bool {
    let source = settings.strategy.roles.get(&one.role());
    source.is_some_and(|source| plugins::is_untrusted(source, one.plugin(), settings))
}

impl Host {
    /// Settings for a new host, each with its default until a method sets it.
    pub fn builder() -> HostBuilder {
        HostBuilder::default()
    }

    /// A question to this host, with the host's settings unless a method of the query changes them
    /// for this one.
    pub fn query(&self, question: impl Into<String>) -> Query {
        Query::for_host(self, question.into())
    }

    /// Returns this host after the settings of its searches were changed. What was opened stays as
    /// it is.
    pub(crate) fn reconfigure(mut self) -> Result<Self, Error> {
        query::check::check(&self.settings)?;
        self.written = Arc::new(journal_settings(&self.settings));
        Ok(self)
    }

    /// Returns a host that shares all that this one has opened, and whose searches have these
    /// budgets.
    ///
    /// # Errors
    /// When a setting is out of its range.
    pub fn with_budgets(&self, budgets: Budgets) -> Result<Self, Error> {
        let mut host = self.clone();
        Arc::make_mut(&mut host.settings).budgets = budgets;
        host.reconfigure()
    }

    /// Returns a host that shares all that this one has opened, and whose searches ask nobody: no
    /// model words a question whose answer cannot come.
    ///
    /// # Errors
    /// When a setting is out of its range.
    pub fn without_questions(&self) -> Result<Self, Error> {
        let mut host = self.clone();
        Arc::make_mut(&mut host.settings).max_questions = 0;
        host.reconfigure()
    }

    /// Opens the database and the model and loads the plugins. Nothing is asked and nothing is paid
    /// yet.
    ///
    /// # Errors
    /// When the database cannot be opened, a setting is wrong, or a plugin is refused.
    pub async fn open(settings: Settings, observer: &dyn Observer) -> Result<Self, Error> {
        Self::open_beside(settings, &Shared::new(), observer).await
    }

    /// Opens a host beside other hosts of this process.
    ///
    /// # Errors
    /// As [`Host::open`].
    pub async fn open_beside(
        settings: Settings,
        shared: &Arc<Shared>,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let settings = restrict(settings, observer)?;
        // Concurrently: plugins are loaded on other threads. Boxed, so that the futures of the
        // embedding program do not grow with it.
        let plugins: BoxFuture<'_, _> =
            Box::pin(StrategyPlugins::load(&settings, shared, observer));
        let (database, plugins, unusable) =
            futures::join!(shared.database(&settings), plugins, shared.check_cache(&settings));
        if let Some(message) = unusable {
            let call = "cache".to_owned();
            let level = Level::Warn;
            observer.event(&SearchEvent::Note { call, level, message });
        }
        let database = database?;
        for message in shared.warnings(database.as_ref()) {
            observer.event(&SearchEvent::Note {
                call: "database".to_owned(),
                level: Level::Warn,
                message,
            });
        }
        let meaning = meaning::open(&settings.semantics, &database).await?;
        let semantics = meaning.as_ref().map(|meaning| &meaning.semantics);
        let model = open_model(&settings, &database, semantics, shared)?;
        let recording = shared.recording(&settings, &model)?;
        let known = shared.open_knowledge(&settings, &database).await?;
        if let Some(message) = known.wrong.clone() {
            let call = "search".to_owned();
            let level = Level::Warn;
            observer.event(&SearchEvent::Note { call, level, message });
        }
        let mut settings = settings;
        settings.retrieval.digest.clone_from(&known.digest);
        let semantics = meaning.as_ref().map(|meaning| Arc::clone(&meaning.semantics));
        settings.semantics.digest = meaning.map(|meaning| meaning.digest);
        let host = Self::from_parts(settings, database, model, plugins?, shared);
        Ok(Self { recording, known, semantics, ..host })
    }

    /// Returns this host with the rewriter that its strategy names, which the verified optimizer
    /// calls. No search does, so that opening a host does not load it.
    ///
    /// # Errors
    /// When the strategy names no rewriter, or it is refused.
    pub async fn with_rewriter(mut self, observer: &dyn Observer) -> Result<Self, Error> {
        let rewriter =
            self.shared.configure_plugin(Role::Rewriter, &self.settings, observer).await?;
        if is_untrusted(&rewriter, &self.settings) {
            self.untrusted.insert(Role::Rewriter);
        }
        self.plugins.roles.insert(Role::Rewriter, rewriter);
        Ok(self)
    }

    /// A host for calls of one role, which searches nothing, with the plugin that the settings'
    /// strategy names for the role.
    ///
    /// # Errors
    /// As [`Host::open`].
    pub(crate) async fn for_role(
        settings: Settings,
        role: Role,
        shared: &Arc<Shared>,
        observer: &dyn Observer,
    ) -> Result<(Self, Configured), Error> {
        let settings = restrict(settings, observer)?;
        let plugin = shared.configure_plugin(role, &settings, observer).await?;
        let database = shared.database(&settings).await?;
        let meaning = meaning::open(&settings.semantics, &database).await?;
        let semantics = meaning.as_ref().map(|meaning| &meaning.semantics);
        let model = open_model(&settings, &database, semantics, shared)?;
        let semantics = meaning.map(|meaning| meaning.semantics);
        let plugins = StrategyPlugins::from_plugin(&plugin);
        let host = Self::from_parts(settings, database, model, plugins, shared);
        Ok((Self { semantics, ..host }, plugin))
    }

    /// A host of these parts, with the knowledge and the metrics still to be opened.
    pub(crate) fn from_parts(
        settings: Settings,
        database: Arc<dyn Database>,
        model: Arc<RoutedModel>,
        plugins: StrategyPlugins,
        shared: &Arc<Shared>,
    ) -> Self {
        let cache = shared.cache(&settings);
        // One plugin of a role that is not trusted is enough.
        let untrusted = plugins
            .with_sources(&settings)
            .filter(|(source, one): &(Option<&PluginSource>, &Configured)| {
                source.is_some_and(|source| plugins::is_untrusted(source, one.plugin(), &settings))
            })
            .map(|(_, one)| one.role())
            .collect();
        let searches = Arc::new(Semaphore::new(settings.limits.searches));
        let shared = Arc::clone(shared);
        Self {
            written: Arc::new(journal_settings(&settings)),
            settings: Arc::new(settings),
            database,
            model,
            cache,
            plugins,
            untrusted,
            known: Arc::default(),
            semantics: None,
            recording: None,
            searches,
            has_warned_of_idle: Arc::default(),
            pruned: Arc::default(),
            shared,
        }
    }

    /// The database, under the guard.
    #[must_use]
    pub fn database(&self) -> &Arc<dyn Database> {
        &self.database
    }

    /// The settings of this host's searches.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The roles whose plugins are loaded, each with the digest of its plugin's component: its
    /// sha256, in hex.
    pub fn plugins(&self) -> impl Iterator<Item = (Role, &str)> {
        self.plugins.all().map(|configured| (configured.role(), configured.plugin().digest()))
    }

    /// Finds tables, columns and notes by words, as the searches of this host find them without a
    /// model: by BM25, and names by their spelling. At most `limit` hits of each kind, the best
    /// first.
    ///
    /// # Errors
    /// When the catalog cannot be read, or the index not be searched.
    pub async fn find_in_schema(&self, words: &str, limit: u32) -> Result<Vec<Hit>, Error> {
        let catalog = self.catalog_for_roles().await?;
        let given_up = GivenUp::default();
        let retrieval = Retrieval::new(&catalog, &self.known.index, None, &given_up);
        let kinds = [
            (Corpus::Tables, Retriever::Lexical),
            (Corpus::Columns, Retriever::Lexical),
            (Corpus::Tables, Retriever::PathFuzzy),
            (Corpus::Columns, Retriever::PathFuzzy),
            (Corpus::Notes, Retriever::Lexical),
        ];
        let text = words.to_owned();
        let queries = kinds.map(|(corpus, retriever)| RetrievalQuery {
            corpus,
            retriever,
            text: text.clone(),
            limit,
        });
        let mut hits = Vec::new();
        for found in retrieval.find(&queries).await {
            match found {
                Ok(found) => hits.extend(found),
                Err(PortError::Unsupported) => {}
                Err(error) => return Err(Error::Internal(error.to_string())),
            }
        }
        Ok(hits)
    }

    /// A digest of the notes, examples and index of this host; `None` if it has none of them.
    #[must_use]
    pub fn knowledge(&self) -> Option<&str> {
        self.settings.retrieval.digest.as_deref()
    }

    /// Warnings about what the user configured for retrieval and what is empty.
    pub(crate) fn idle_warnings(&self) -> Vec<String> {
        let retrieval = &self.settings.retrieval;
        let knowledge = &self.known.knowledge;
        fn note_if_empty(what: &str, path: &Option<PathBuf>, is_empty: bool) -> Option<String> {
            let path = path.as_ref().filter(|_| is_empty)?;
            Some(format!("the {what} of `{}` are not used: there are none in it", path.display()))
        }
        let vectors = self.settings.model.embeddings.as_ref().filter(|name| {
            // A recording that holds no vectors has nobody who makes them.
            self.model.models().contains(name) && knowledge.vector_length(name).is_none()
        });
        let vectors = vectors.map(|name| {
            let database = self.database.name();
            format!(
                "nothing is searched by the vectors of `{name}`: there are none of the schema of \
                 `{database}`; build-index with the same model for embeddings makes them"
            )
        });
        let notes = note_if_empty("notes", &retrieval.notes, knowledge.sources.notes.is_empty());
        let examples = note_if_empty(
            "solved examples",
            &retrieval.examples,
            knowledge.sources.examples.is_empty(),
        );
        vectors.into_iter().chain(notes).chain(examples).collect()
    }
}

#[cfg(test)]
mod tests {
    use syrch_core::ports::RowsGrant;

    use super::*;
    use crate::Silent;
    use crate::settings::PluginSource;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_rewriter_that_is_not_built_in_is_untrusted_unless_the_user_names_its_file() {
        let folder = syrch_kit::scratch();
        let shop = syrch_kit::sqlite(
            folder.path().join("shop.sqlite"),
            "CREATE TABLE customers(id INTEGER)",
        );
        let mut settings = Settings {
            database: shop.display().to_string(),
            rows: RowsGrant::None,
            ..Settings::default()
        };
        let file = syrch_kit::zoo::hostile();
        settings.strategy.roles.insert(Role::Rewriter, PluginSource::File(file.clone()));
        let shared = Shared::new();
        let untrusted = async |settings: &Settings| {
            let host = Host::open_beside(settings.clone(), &shared, &Silent).await.unwrap();
            assert!(host.untrusted.is_empty(), "it is not loaded yet");
            host.with_rewriter(&Silent).await.unwrap().untrusted
        };
        assert_eq!(untrusted(&settings).await, BTreeSet::from([Role::Rewriter]));
        settings.trust = vec![file];
        assert_eq!(untrusted(&settings).await, BTreeSet::new());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_plugin_that_was_not_added_has_the_ports_that_it_imports() {
        let folder = syrch_kit::scratch();
        let shop = syrch_kit::sqlite(
            folder.path().join("shop.sqlite"),
            "CREATE TABLE customers(id INTEGER)",
        );
        let component = std::fs::read(syrch_kit::zoo::builtin_path("signals")).unwrap();
        let file = folder.path().join("own.wasm");
        std::fs::write(&file, [&component[..], b"\0\x02\x01x"].concat()).unwrap();
        let mut settings = Settings { database: shop.display().to_string(), ..Settings::default() };
        settings.strategy.roles.insert(Role::Calibrator, PluginSource::File(file));
        let host = Host::open(settings, &Silent).await.unwrap();
        let audited = host.audit_plugins("run");
        let [own] = audited.values().collect::<Vec<_>>()[..] else { panic!("one is not built in") };
        assert_eq!(own.allowance.grants().list_words(), [""; 0], "it imports none of them");
    }
}
