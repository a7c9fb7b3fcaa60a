//! A host that is ready to search: one database, one model provider, a plugin for each role.

use std::sync::Arc;

use syrch_core::Problem;
use syrch_core::ports::{Database, ModelProvider};
use syrch_core::roles::Role;
use syrch_runtime::{Configured, Runtime};
use syrch_scheduler::Stop;
use tokio::sync::Semaphore;

use crate::open::{open_database, open_model};
use crate::{Ask, Error, Observer, SearchReport, Settings, plugins, search};

/// Everything that searches share. Searches on one host may run side by side.
pub struct Host {
    pub(crate) settings: Settings,
    pub(crate) database: Arc<dyn Database>,
    pub(crate) model: Arc<dyn ModelProvider>,
    pub(crate) cast: Cast,
    searches: Semaphore,
    /// The engine outlives its plugins: its ticker enforces their CPU limits.
    _runtime: Runtime,
}

/// Who plays which role.
#[derive(Clone)]
pub(crate) struct Cast {
    pub(crate) planner: Configured,
    pub(crate) solver: Configured,
    pub(crate) calibrator: Configured,
    pub(crate) reward: Configured,
    pub(crate) clarifier: Configured,
    pub(crate) aggregator: Configured,
}

impl Cast {
    pub(crate) fn all(&self) -> [&Configured; 6] {
        [&self.planner, &self.solver, &self.calibrator, &self.reward, &self.clarifier, &self.aggregator]
    }
}

impl Host {
    /// Opens the database and the model and loads the plugins. Nothing is asked and nothing is paid yet.
    ///
    /// # Errors
    /// When the database cannot be opened, a setting is wrong, or a plugin is refused.
    pub async fn open(settings: Settings, observer: &dyn Observer) -> Result<Self, Error> {
        let database = open_database(&settings).await?;
        let model = open_model(&settings, &database)?;
        let runtime = plugins::runtime(&settings)?;
        let cast = Cast {
            planner: configured(&runtime, Role::Planner, &settings, observer).await?,
            solver: configured(&runtime, Role::Solver, &settings, observer).await?,
            calibrator: configured(&runtime, Role::Calibrator, &settings, observer).await?,
            reward: configured(&runtime, Role::Reward, &settings, observer).await?,
            clarifier: configured(&runtime, Role::Clarifier, &settings, observer).await?,
            aggregator: configured(&runtime, Role::Aggregator, &settings, observer).await?,
        };
        let searches = Semaphore::new(settings.limits.searches);
        Ok(Self { settings, database, model, cast, searches, _runtime: runtime })
    }

    /// The database, under the guard.
    #[must_use]
    pub fn database(&self) -> &Arc<dyn Database> {
        &self.database
    }

    /// Answers a question by search. `ask` lets it put questions to the user; `stop` ends it early with the best so far.
    ///
    /// # Errors
    /// When a plugin, the database or the model failed so that no honest answer exists. A search that found nothing acceptable is not
    /// an error: see [`crate::Outcome`].
    pub async fn search(
        &self,
        problem: Problem,
        observer: Arc<dyn Observer>,
        ask: Option<&dyn Ask>,
        stop: &Stop,
    ) -> Result<SearchReport, Error> {
        let _slot = self.searches.acquire().await;
        search::search(self, problem, observer, ask, stop).await
    }
}

async fn configured(
    runtime: &Runtime,
    role: Role,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<Configured, Error> {
    let source = settings
        .strategy
        .roles
        .get(&role)
        .ok_or_else(|| Error::Config(format!("the strategy names no plugin for the role {role}")))?;
    let plugin = plugins::load(runtime, source, observer).await?;
    let config = settings.strategy.config.get(&role).cloned().unwrap_or_default();
    plugin.configure(role, &config).await.map_err(|error| plugins::rejected(&source.to_string(), error))
}
