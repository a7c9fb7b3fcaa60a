//! Opens a [`Host`]: each method sets one thing, and what is not set keeps its default.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;
use syrch_core::ports::RowsGrant;
use syrch_core::roles::Role;
use syrch_core::{DatabaseUrl, StructuredReplies};

use crate::audit::Audit;
use crate::lock::Lock;
use crate::own::{DatabaseSource, ModelSource};
use crate::query::check;
use crate::settings::ServerSettings;

use crate::settings::PluginSource;
use crate::{Error, Host, Observer, Provider, Query, Settings, Shared, Silent, strategies};

/// The settings of a [`Host`] before it is opened, from [`Host::builder`]. Nothing is read from the
/// environment or from configuration files.
///
/// ```no_run
/// use syrch::Host;
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let host = Host::builder()
///     .database("shop.sqlite")
///     .base_url("http://localhost:11434/v1")
///     .model("qwen3")
///     .strategy("vote5")
///     .open()
///     .await?;
/// let found = host.query("Which country has the most customers?").max_attempts(5).run().await?;
/// println!("{} ({:.2})", found.answer, found.confidence);
/// # Ok(())
/// # }
/// ```
#[must_use = "a builder does nothing before `open`"]
#[derive(Default)]
pub struct HostBuilder {
    settings: Settings,
    provider: Option<Provider>,
    model: Option<String>,
    base_url: Option<String>,
    shared: Option<Arc<Shared>>,
    /// The roles whose plugins were named one by one.
    named: BTreeSet<Role>,
    /// The first thing that was wrong, which [`HostBuilder::open`] returns.
    wrong: Option<Error>,
}

impl HostBuilder {
    pub(crate) fn settings(&mut self) -> &mut Settings {
        &mut self.settings
    }

    /// The database: a path, a URL such as `sqlite:shop.sqlite`, or an `Arc` of the program's own
    /// [`Database`](syrch_core::ports::Database).
    pub fn database(mut self, database: impl Into<DatabaseSource>) -> Self {
        match database.into() {
            DatabaseSource::Own(own) => {
                own.0.name().clone_into(&mut self.settings.database);
                self.settings.own_database = Some(own);
            }
            DatabaseSource::Url(url) => {
                url.expose().clone_into(&mut self.settings.database);
                self.settings.own_database = None;
            }
            DatabaseSource::File(path) if path.to_str().is_none() => {
                self.fail(Error::Config(format!("the path {} is not UTF-8 text", path.display())));
            }
            DatabaseSource::File(path) => {
                return self.database(DatabaseSource::Url(DatabaseUrl::from_path(&path)));
            }
        }
        self
    }

    /// Sets what a client of database servers needs besides the address: variables, a home folder,
    /// the address that may receive passwords.
    pub fn servers(self, servers: ServerSettings) -> Self {
        self.configure(|settings| settings.servers = servers)
    }

    /// The model: its name at the endpoint, or an `Arc` of the program's own
    /// [`ModelProvider`](syrch_core::ports::ModelProvider).
    pub fn model(mut self, model: impl Into<ModelSource>) -> Self {
        match model.into() {
            ModelSource::Named(name) => (self.model, self.settings.model.own) = (Some(name), None),
            ModelSource::Own(own) => self.settings.model.own = Some(own),
        }
        self
    }

    /// The provider of model calls. Without this, a named model, a base URL or a key means an
    /// endpoint that implements OpenAI's chat completions, and none of them means the offline
    /// rules.
    pub fn provider(mut self, provider: Provider) -> Self {
        self.provider = Some(provider);
        self
    }

    /// The address of the endpoint, up to and including `/v1`; by default the provider's own.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// The endpoint's key. It is sent there and nowhere else, and is never shown.
    pub fn api_key(self, key: impl Into<SecretString>) -> Self {
        self.configure(|settings| settings.model.api_key = Some(key.into()))
    }

    /// The temperature of calls whose plugin asks for none, 0 to 2; 0.7 by default.
    pub fn temperature(self, temperature: f32) -> Self {
        self.configure(|settings| settings.model.temperature = temperature)
    }

    /// Output tokens of one call at most; 4,096 by default.
    pub fn max_tokens(self, tokens: u32) -> Self {
        self.configure(|settings| settings.model.max_tokens = tokens)
    }

    /// Sets whether replies are requested in a format that the endpoint enforces; by default
    /// documents are, and statements once a reply held none.
    pub fn reply_format(self, structured: StructuredReplies) -> Self {
        self.configure(|settings| settings.model.structured = structured)
    }

    /// Sets how long one model call may take; 120 s by default.
    pub fn timeout(self, timeout: Duration) -> Self {
        self.configure(|settings| settings.model.timeout = timeout)
    }

    /// The strategy: a built-in's name or the path of a strategy file. It replaces plugins, their
    /// options and the policy that were set before; those that are set after it change a part of
    /// it. Without this, it is [`strategies::DEFAULT`] if rules answer, and
    /// [`strategies::WITH_MODEL`] if a model does.
    pub fn strategy(mut self, name_or_path: &str) -> Self {
        match strategies::find(name_or_path) {
            Ok(strategy) => strategy.apply(&mut self.settings),
            Err(error) => self.fail(error.into()),
        }
        self
    }

    /// The plugin that implements a role: a built-in's name, or the path of a component.
    pub fn plugin(mut self, role: Role, plugin: &str) -> Self {
        self.named.insert(role);
        self.configure(|settings| {
            drop(settings.strategy.roles.insert(role, PluginSource::parse(plugin)))
        })
    }

    /// A setting of the plugin that implements a role.
    pub fn option(
        self,
        role: Role,
        name: impl Into<String>,
        value: impl Into<serde_json::Value>,
    ) -> Self {
        self.configure(|settings| {
            settings.strategy.config.entry(role).or_default().insert(name.into(), value.into());
        })
    }

    /// Ambiguity above which the built-in clarifier asks the user, 0 to 1; 0.35 by default.
    pub fn ambiguity_threshold(self, threshold: f64) -> Self {
        self.option(Role::Clarifier, "threshold", threshold)
    }

    /// Tables that searches may use, as globs; by default all. A database of the program's own
    /// restricts itself.
    pub fn tables(self, globs: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.configure(|settings| settings.tables = globs.into_iter().map(Into::into).collect())
    }

    /// Files that define tables, joins and metrics, as one whole; by default none. They are
    /// compared with the database when the host is opened.
    pub fn semantics(self, files: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        let files = files.into_iter().map(Into::into).collect();
        self.configure(|settings| settings.semantics.files = files)
    }

    /// Sets how much cell text plugins and prompts may contain; by default three rows of a result.
    pub fn rows(self, grant: RowsGrant) -> Self {
        self.configure(|settings| settings.rows = grant)
    }

    /// Caches model replies and results in this folder. By default nothing is cached.
    pub fn cache(self, folder: impl Into<PathBuf>) -> Self {
        self.configure(|settings| settings.cache.folder = Some(folder.into()))
    }

    /// Sets how long a cached reply or result is used; 24 h by default.
    pub fn cache_ttl(self, ttl: Duration) -> Self {
        self.configure(|settings| settings.cache.ttl = ttl)
    }

    /// Writes a journal of each search to this folder. By default there is none.
    pub fn journal(self, folder: impl Into<PathBuf>) -> Self {
        self.configure(|settings| settings.journal.folder = Some(folder.into()))
    }

    /// Reads the plugins that were added and what they are granted from this file, as `plugin add`
    /// writes it. By default no plugin has grants, and one that is not built in has all ports of
    /// its roles. It blocks for as long as the file takes to be read.
    pub fn lock(mut self, file: impl AsRef<Path>) -> Self {
        match Lock::read(file.as_ref()) {
            Ok(lock) => self.settings.lock = Arc::new(lock),
            Err(error) => self.fail(error),
        }
        self
    }

    /// Writes the audit log of plugins that are not built in to this folder. By default there is
    /// none.
    pub fn audit(self, folder: impl AsRef<Path>) -> Self {
        self.configure(|settings| settings.audit = Arc::new(Audit::in_folder(folder.as_ref())))
    }

    /// Answers model calls from this recording or journal; no model is called.
    pub fn replay(self, file: impl Into<PathBuf>) -> Self {
        self.configure(|settings| settings.model.replay = Some(file.into()))
    }

    /// Writes every exchange with the model to this file, for [`HostBuilder::replay`].
    pub fn record(self, file: impl Into<PathBuf>) -> Self {
        self.configure(|settings| settings.model.record = Some(file.into()))
    }

    /// Changes any other setting. [`HostBuilder::provider`], [`HostBuilder::model`] and
    /// [`HostBuilder::base_url`] are applied after it.
    pub fn configure(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self
    }

    /// Shares engine, plugins, databases, cache and endpoint limits with other hosts of the
    /// process.
    pub fn share_with(mut self, shared: &Arc<Shared>) -> Self {
        self.shared = Some(Arc::clone(shared));
        self
    }

    /// A question whose [`Query::run`] opens the host for itself. For several questions,
    /// [`HostBuilder::open`] the host once.
    pub fn query(self, question: impl Into<String>) -> Query {
        Query::with_builder(self, question.into())
    }

    /// Opens the database and the model and loads the plugins. No model is called yet.
    ///
    /// # Errors
    /// When a setting is wrong or out of its range, the database cannot be opened, or a plugin is
    /// refused.
    pub async fn open(self) -> Result<Host, Error> {
        self.open_with(&Silent).await
    }

    /// [`HostBuilder::open`] with an observer of what happens meanwhile: plugins that are compiled,
    /// an index of terms that is not usable.
    ///
    /// # Errors
    /// As [`HostBuilder::open`].
    pub async fn open_with(mut self, observer: &dyn Observer) -> Result<Host, Error> {
        let shared = self.shared.take().unwrap_or_default();
        Host::open_beside(self.into_settings()?, &shared, observer).await
    }

    fn fail(&mut self, error: Error) {
        self.wrong.get_or_insert(error);
    }

    /// Returns the settings without opening anything, for programs that open hosts by other means,
    /// such as graded runs.
    ///
    /// # Errors
    /// When a setting is wrong or out of its range.
    pub fn into_settings(self) -> Result<Settings, Error> {
        let Self { mut settings, provider, model: name, base_url, shared: _, named, wrong } = self;
        if let Some(error) = wrong {
            return Err(error);
        }
        let model = &mut settings.model;
        let names_one = name.is_some() || base_url.is_some() || model.api_key.is_some();
        match provider {
            Some(provider) => model.provider = provider,
            None if names_one && model.provider.endpoint().is_none() => {
                model.provider = Provider::OPENAI
            }
            None => {}
        }
        if let Some(endpoint) = provider.and_then(Provider::endpoint) {
            endpoint.model.clone_into(&mut model.model);
            endpoint.base_url.clone_into(&mut model.base_url);
        }
        if let Some(own) = &model.own {
            model.model = own.provider()?.models().into_iter().next().ok_or_else(|| {
                Error::Config(format!("the model provider `{}` has no model", own.name()))
            })?;
        }
        model.model = name.unwrap_or(std::mem::take(&mut model.model));
        model.base_url = base_url.unwrap_or(std::mem::take(&mut model.base_url));
        strategies::settle(&mut settings, &named);
        check::check(&settings)?;
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::*;
    use crate::settings::{SimulatedSettings, Strategy};
    use crate::strategies::{DEFAULT, WITH_MODEL};

    fn strategy(change: impl FnOnce(HostBuilder) -> HostBuilder) -> Strategy {
        change(Host::builder().database("shop.sqlite")).into_settings().unwrap().strategy
    }

    fn with_model(change: impl FnOnce(HostBuilder) -> HostBuilder) -> Strategy {
        strategy(|host| change(host.base_url("http://localhost:1/v1")))
    }

    #[test]
    fn the_model_chooses_the_strategy_that_nobody_names() {
        let found = with_model(|host| host);
        assert_eq!(found, strategies::find(WITH_MODEL).unwrap().strategy());
        let simulated = strategy(|host| {
            host.configure(|settings| {
                settings.model.simulated = Some(SimulatedSettings::new("suite.jsonl"));
            })
        });
        assert_eq!(simulated, found);
        let default = strategies::find(DEFAULT).unwrap();
        assert_eq!(strategy(|host| host), default.strategy());
        assert_eq!(with_model(|host| host.provider(Provider::OFFLINE)), default.strategy());
        for named in [
            with_model(|host| host.strategy(DEFAULT)),
            with_model(|host| host.configure(|settings| default.apply(settings))),
        ] {
            assert_eq!(named, default.strategy());
        }
    }

    #[test]
    fn what_is_named_of_the_default_strategy_stays() {
        let found = strategies::find(WITH_MODEL).unwrap().strategy();
        let parts = with_model(|host| {
            host.plugin(Role::Planner, "decompose").option(Role::Solver, "samples", 5)
        });
        assert_eq!(parts.roles[&Role::Planner], PluginSource::Builtin("decompose".to_owned()));
        assert_eq!(parts.roles[&Role::Solver], found.roles[&Role::Solver]);
        let config = &parts.config[&Role::Solver];
        assert_eq!((&config["samples"], &config["agree"]), (&json!(5), &json!(3)));
        let other = with_model(|host| {
            host.configure(|settings| {
                let roles = &mut settings.strategy.roles;
                roles.insert(Role::Solver, PluginSource::Builtin("beam".to_owned()));
                roles.remove(&Role::Linker);
            })
        });
        assert_eq!(other.roles[&Role::Solver], PluginSource::Builtin("beam".to_owned()));
        assert!(!other.config.contains_key(&Role::Solver));
        assert!(!other.roles.contains_key(&Role::Linker));
        assert_eq!(other.roles[&Role::Planner], found.roles[&Role::Planner]);
    }

    #[test]
    fn a_path_is_that_of_a_file_whatever_its_name_looks_like() {
        let database = |builder: HostBuilder| builder.into_settings().unwrap().database;
        assert_eq!(
            database(Host::builder().database(Path::new("sales:2024.sqlite"))),
            "./sales:2024.sqlite"
        );
        assert_eq!(database(Host::builder().database(Path::new("shop.sqlite"))), "shop.sqlite");
        assert_eq!(database(Host::builder().database("sqlite:shop.sqlite")), "sqlite:shop.sqlite");
    }
}
