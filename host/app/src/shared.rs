//! What hosts of one process share: the engine with its plugins, the cache, the endpoints with their limits, the recording.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use syrch_cache::Cache;
use syrch_core::ports::ModelProvider;
use syrch_core::roles::Role;
use syrch_journal::Recording;
use syrch_layers::{Limiter, Rates, RoutedModel};
use syrch_runtime::{Configured, Plugin, Runtime};

use crate::open::open_cache;
use crate::recordings::open_recording;
use crate::{Error, Observer, PluginSource, Settings, plugins};

/// What hosts of one process share. Each thing is made by the first host that needs it, with that host's settings: hosts that share differ in
/// their database, their strategy and what strategies are told, and in nothing that is here.
///
/// Equal calls of hosts that share a cache are made once, and an endpoint's limits hold for all of them together.
#[derive(Default)]
pub struct Shared {
    runtime: Mutex<Option<Arc<Runtime>>>,
    plugins: tokio::sync::Mutex<BTreeMap<String, Plugin>>,
    parts: Mutex<Parts>,
}

#[derive(Default)]
struct Parts {
    cache: Option<Option<Arc<Cache>>>,
    limiters: BTreeMap<String, Arc<Limiter>>,
    providers: BTreeMap<String, Arc<dyn ModelProvider>>,
    recording: Option<Arc<Recording>>,
}

impl Shared {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::new(Self::default())
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

    /// The limiter of an endpoint, by what tells it from others.
    pub(crate) fn limiter(&self, endpoint: &str, rates: Rates) -> Arc<Limiter> {
        let mut parts = self.parts();
        let made = parts.limiters.entry(endpoint.to_owned()).or_insert_with(|| Limiter::new(rates));
        Arc::clone(made)
    }

    /// The provider with that key; made when nobody has asked for it before. It must not depend on the database.
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
    pub(crate) fn recording(&self, settings: &Settings, model: &RoutedModel) -> Result<Option<Arc<Recording>>, Error> {
        let mut parts = self.parts();
        if parts.recording.is_none() {
            parts.recording = open_recording(settings, model)?;
        }
        Ok(parts.recording.clone())
    }

    /// A plugin that was loaded, with a role and its settings. A plugin is loaded once.
    pub(crate) async fn configured(
        &self,
        role: Role,
        settings: &Settings,
        observer: &dyn Observer,
    ) -> Result<Configured, Error> {
        let unnamed = || Error::Config(format!("the strategy names no plugin for the role {role}"));
        let source = settings.strategy.roles.get(&role).ok_or_else(unnamed)?;
        let plugin = self.plugin(source, settings, observer).await?;
        let config = settings.strategy.config.get(&role).cloned().unwrap_or_default();
        plugin.configure(role, &config).await.map_err(|error| plugins::rejected(&source.to_string(), error))
    }

    async fn plugin(
        &self,
        source: &PluginSource,
        settings: &Settings,
        observer: &dyn Observer,
    ) -> Result<Plugin, Error> {
        let runtime = self.runtime(settings)?;
        let mut loaded = self.plugins.lock().await;
        let key = format!("{source:?}");
        if let Some(plugin) = loaded.get(&key) {
            return Ok(plugin.clone());
        }
        let plugin = plugins::load(&runtime, source, observer).await?;
        loaded.insert(key, plugin.clone());
        Ok(plugin)
    }
}
