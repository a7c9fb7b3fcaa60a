//! One call of one role, outside of a search: with the ports, the layers and the limits of a
//! search, an event log, and calls in flight that end in the order in which they were made, so that
//! the same plugin does the same each time.

use std::sync::Arc;

use syrch_core::ports::{Database, EvaluatePort, Relation};
use syrch_core::roles::{Call, Role};
use syrch_core::{Catalog, Problem, RoleError, Task};
use syrch_journal::{Listener, Mode, RowRetention};
use syrch_layers::InOrder;
pub use syrch_runtime::Configured;
use syrch_scheduler::Stop;

use crate::context::prepare::Prepared;
use crate::context::{Apart, Context};
use crate::host::Host;
use crate::{Error, Observer, Settings, Shared};

/// The id of the run that such a call stands for: its salt and its seeds are those of every other.
const RUN: &str = "role-call";

/// The decisions that a search would have made before it calls the role.
pub struct Surroundings {
    /// The problem of the search.
    pub problem: Problem,
    /// The catalog that the role is shown; `None` for all granted tables of the database.
    pub catalog: Option<Catalog>,
    /// Answers the role's calls of the port `evaluate`: calibration and reward.
    pub evaluate: Arc<dyn EvaluatePort>,
    /// Receives the records of the event log.
    pub records: Listener,
    /// Receives the plugin's remarks.
    pub observer: Arc<dyn Observer>,
}

/// A plugin that is ready for one call of its role.
pub struct RoleCall {
    host: Host,
    plugin: Configured,
    context: Arc<Context>,
    order: InOrder,
}

/// A role call that has started.
pub struct Started(Prepared);

impl Started {
    /// Returns what the role's method gets besides its arguments.
    #[must_use]
    pub fn call(&self) -> Call {
        self.0.call.clone()
    }

    /// Ends the role call in the event log, with its error if it failed.
    pub async fn end(&self, error: Option<RoleError>) {
        self.0.end(error, || ()).await;
    }
}

impl RoleCall {
    /// Opens the database and the model of the settings, and loads the plugin that their strategy
    /// names for the role.
    ///
    /// # Errors
    /// When the database cannot be opened, a setting is wrong, or the plugin is refused.
    pub async fn open(
        settings: Settings,
        role: Role,
        shared: &Arc<Shared>,
        surroundings: Surroundings,
    ) -> Result<Self, Error> {
        let Surroundings { problem, catalog, evaluate, records, observer } = surroundings;
        let (host, plugin) = Host::for_role(settings, role, shared, observer.as_ref()).await?;
        let granted = host.database().catalog().await?;
        let mode = Mode::Record(None, RowRetention::Full);
        let run =
            Arc::new(host.run_state(RUN, mode, granted, &observer, &Stop::new(), Some(records)));
        let order = InOrder::default();
        let apart = Apart { evaluate, order: order.clone() };
        let context = Arc::new(Context::new(&host, problem, &run).outside_search(apart, catalog));
        Ok(Self { host, plugin, context, order })
    }

    /// The plugin, which implements the traits of all roles.
    #[must_use]
    pub fn plugin(&self) -> &Configured {
        &self.plugin
    }

    /// The problem of the call.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.context.problem
    }

    /// The catalog that the role is shown.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.context.catalog
    }

    /// The database, under the guard. What runs on it here is not charged to the call.
    #[must_use]
    pub fn database(&self) -> &Arc<dyn Database> {
        self.host.database()
    }

    /// Starts a call of the role: `task` is what it works on, if anything, and `relations` are the
    /// finished tasks that its SQL may name.
    pub async fn start(&self, task: Option<&Arc<Task>>, relations: Vec<Relation>) -> Started {
        Started(self.context.start_call(self.plugin.role(), task, relations, None).await)
    }

    /// Returns the ports that the plugin has used, of `run` and `wait`: the event log has the
    /// others.
    #[must_use]
    pub fn list_used_ports(&self) -> Vec<&'static str> {
        self.order.list_used_ports()
    }
}
