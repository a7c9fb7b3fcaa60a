//! The state of a search that its role calls share.

mod notes;
mod open;
pub(crate) mod prepare;

use std::collections::BTreeMap;
use std::sync::Arc;

use syrch_core::ledger::Ledger;
use syrch_core::ports::{Definitions, EvaluatePort, ModelProvider, RetrievalPort};
use syrch_core::roles::{Linked, Role};
use syrch_core::{Catalog, Corpus, Operation, Problem, Task};
use syrch_journal::{Choices, Defined, EventLog, Verified};
use syrch_layers::{Allowance, Consent, GrantedCells, InOrder, Memo, Previews, Taint};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::audit::{Audited, Lack};
use crate::clock::Clock;
use crate::defined::{Requests, list_needed};
use crate::given_up::GivenUp;
use crate::host::StrategyPlugins;
use crate::plugins;
use crate::recordings::Missed;
use crate::settled::{Settled, find_choice};
use crate::trace::Trace;
use crate::{Error, Settings};
pub(crate) use notes::{Judged, Notes};

/// The part of a search that does not change when the user's answers refine the problem.
pub(crate) struct RunState {
    pub(crate) id: String,
    pub(crate) settings: Arc<Settings>,
    pub(crate) plugins: StrategyPlugins,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) trace: Arc<Trace>,
    pub(crate) event_log: Arc<EventLog>,
    pub(crate) clock: Clock,
    /// Everything that the user granted.
    pub(crate) catalog: Arc<Catalog>,
    /// Decides which roles are denied model calls.
    pub(crate) taint: Arc<Taint>,
    pub(crate) salt: u64,
    pub(crate) missed: Missed,
    pub(crate) given_up: GivenUp,
    /// The requests that a dry run collects and does not send.
    pub(crate) previews: Option<Previews>,
    /// The consent that is asked for before something is sent to a model; `None` in a search, which
    /// the user asked for.
    pub(crate) consent: Option<Consent>,
    /// The plugins that are not built in, with their allowances, by their digests.
    pub(crate) audited: BTreeMap<String, Audited>,
    /// The reason why the run has no journal although it should.
    pub(crate) warning: Option<String>,
    /// The statement that a person confirmed for the question, which answers it.
    pub(crate) verified: Option<Verified>,
    /// The statements that the definitions of metrics give for the question.
    pub(crate) defined: Defined,
    /// The requests for metrics that the search compiled.
    pub(crate) requests: Arc<Requests>,
    /// The warning of a confirmed statement whose tables have changed.
    pub(crate) stale: Option<String>,
}

impl RunState {
    /// The error for the first role whose plugin was denied model calls, since it is not trusted
    /// and may know something of the data.
    pub(crate) fn denial_error(&self) -> Option<Error> {
        let role = self.taint.list_denied_roles().into_iter().next()?;
        let plugin =
            self.settings.strategy.roles.get(&role).map(ToString::to_string).unwrap_or_default();
        let rows = self.settings.rows;
        let grant = self.find_silence(role);
        let audited = self.find_audited(role);
        let name = audited.filter(|one| one.is_locked()).map(|one| one.access().plugin);
        Some(Error::Untrusted { role, plugin, rows, grant, name })
    }

    /// The error for the first plugin that was denied a port without which it can do little, or
    /// that used up what it is granted. The decisions are those of the journal in a replay, which
    /// asks for nothing.
    pub(crate) async fn grant_error(&self) -> Option<Error> {
        let found = || {
            let lack = self.audited.values().find_map(Audited::find_lack)?;
            serde_json::to_string(&lack).ok()
        };
        let lack = self.event_log.decide_by_grants("lack", found).await?;
        serde_json::from_str::<Lack>(&lack).ok().map(Error::from)
    }

    fn find_audited(&self, role: Role) -> Option<&Audited> {
        self.audited.get(self.plugins.get(role)?.plugin().digest())
    }

    /// The grant by which alone the plugin of a role sends nothing to a model that it knows of the
    /// data: without it, `--rows` or the user's trust would let it.
    pub(crate) fn find_silence(&self, role: Role) -> Option<String> {
        let grant = self.find_audited(role)?.allowance.grants().silence()?;
        let plugin = self.plugins.get(role)?.plugin();
        let may_otherwise =
            self.settings.rows.shows_cells() || plugins::is_named(plugin, &self.settings);
        may_otherwise.then_some(grant)
    }
}

/// A search for one wording of the problem. A clone shares everything but what is replaced in it.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) run: Arc<RunState>,
    pub(crate) problem: Arc<Problem>,
    /// The catalog that roles are shown: all that is granted, or the linker's selection from it.
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) notes: Arc<Notes>,
    backends: Backends,
    /// Slots for role calls that other roles wait for, apart from those of their callers.
    nested: Arc<Semaphore>,
    /// The only tables that the port `inspect` knows; `None` for all.
    within: Option<Arc<[String]>>,
    /// The replacements of the search's own parts in a call outside of a search; `None` in a
    /// search.
    apart: Option<Apart>,
}

/// The parts that a role call outside of a search uses in place of those of a search.
#[derive(Clone)]
pub(crate) struct Apart {
    /// The port `evaluate`, since no other role is called.
    pub(crate) evaluate: Arc<dyn EvaluatePort>,
    /// The order in which calls in flight end.
    pub(crate) order: InOrder,
}

/// The backends of the ports, each below the layers of one role call.
#[derive(Clone)]
struct Backends {
    model: Arc<dyn ModelProvider>,
    /// The same for plugins with an allowance of their own, by their digests.
    models: BTreeMap<String, Arc<dyn ModelProvider>>,
    memo: Arc<Memo>,
    definitions: Option<Arc<dyn Definitions>>,
    cells: GrantedCells,
    retrieval: Arc<dyn RetrievalPort>,
}

impl Context {
    /// The statement that a person confirmed for the question; `None` once the user has said more
    /// about it.
    pub(crate) fn find_verified(&self) -> Option<&Verified> {
        self.run.verified.as_ref().filter(|_| self.problem.answers.is_empty())
    }

    /// The statement that answers the question without a search.
    pub(crate) fn find_settled(&self) -> Option<Settled<'_>> {
        if let Some(verified) = self.find_verified() {
            return Some(Settled::Verified(verified));
        }
        let Defined { given, choices, .. } = &self.run.defined;
        match self.problem.answers.last() {
            None => given.as_ref().map(Settled::Given),
            Some((_, answer)) => find_choice(choices.as_ref()?, answer).map(Settled::Given),
        }
    }

    /// The readings of the question among which the user has not chosen yet.
    pub(crate) fn find_choices(&self) -> Option<&Choices> {
        let is_open = self.problem.answers.is_empty() && self.find_settled().is_none();
        self.run.defined.choices.as_ref().filter(|_| is_open)
    }

    /// Returns the context of a role call outside of a search. `catalog` is the one that the role
    /// is shown; `None` for all that is granted.
    pub(crate) fn outside_search(self, apart: Apart, catalog: Option<Catalog>) -> Self {
        let catalog = catalog.map_or_else(|| Arc::clone(&self.catalog), Arc::new);
        Self { apart: Some(apart), catalog, ..self }
    }

    /// Returns the context over another catalog that roles are shown.
    pub(crate) fn with_catalog(self, catalog: Arc<Catalog>) -> Self {
        Self { catalog, ..self }
    }

    /// Returns the context over the tables of one statement: the roles that are called see no
    /// others, in the catalog or by the port `inspect`.
    pub(crate) fn with_tables(&self, tables: &[String]) -> Self {
        let catalog =
            self.run.catalog.narrow(tables.iter().map(|table| (table.as_str(), [].as_slice())));
        Self { catalog: Arc::new(catalog), within: Some(tables.into()), ..self.clone() }
    }

    /// Returns the context of the search over the linker's selection: its tables, if it named any,
    /// and its hints. Cell text is left out without the grant.
    pub(crate) fn narrow(&self, linked: Linked) -> Self {
        let Linked { tables, mut hints } = linked;
        let shows_cells = self.run.settings.rows.shows_cells();
        hints.retain(|hint| shows_cells || hint.corpus != Corpus::Cells);
        let selected =
            tables.iter().map(|relevant| (relevant.table.as_str(), relevant.columns.as_slice()));
        // Whatever the linker thinks of them, a metric of the question needs its tables.
        let needed = list_needed(&self.problem.terms);
        let needed = needed.into_iter().filter(|name| {
            !tables.iter().any(|relevant| relevant.table.eq_ignore_ascii_case(name))
        });
        let selected = selected.chain(needed.map(|table| (table, [].as_slice())));
        let catalog = if tables.is_empty() {
            Arc::clone(&self.catalog)
        } else {
            Arc::new(self.run.catalog.narrow(selected))
        };
        Self {
            problem: Arc::new(Problem { hints, ..(*self.problem).clone() }),
            catalog,
            ..self.clone()
        }
    }

    /// The allowances of the plugins that a role call comes from, each with its digest. The
    /// retrieval query of a task may come from the planner or the solver.
    fn list_allowances(&self, role: Role, task: Option<&Task>) -> Vec<(&str, &Arc<Allowance>)> {
        let operation = task.filter(|_| role == Role::Solver).map(|task| &task.operation);
        let plugins = &self.run.plugins;
        let sources = match operation {
            Some(Operation::Retrieve(_)) => vec![plugins.get(Role::Planner), plugins.get(role)],
            Some(operation) if operation.solver().is_some() => {
                let name = operation.solver().unwrap_or_default();
                vec![plugins.solvers.get(name).map(|(_, solver)| solver)]
            }
            _ => vec![plugins.get(role)],
        };
        let digests = sources.into_iter().flatten().map(|source| source.plugin().digest());
        let known = digests.filter_map(|digest| self.run.audited.get_key_value(digest));
        known.map(|(digest, audited)| (digest.as_str(), &audited.allowance)).collect()
    }

    /// Returns whether the lock names the plugin of a digest. Another one has no grants that bound
    /// what it starts.
    fn is_added(&self, digest: &str) -> bool {
        self.run.audited.get(digest).is_some_and(Audited::is_locked)
    }

    /// A slot for a role call that another one waits for. A replay needs none: the event log orders
    /// its calls.
    pub(crate) async fn acquire_nested_slot(&self) -> Option<SemaphorePermit<'_>> {
        if self.run.event_log.is_replaying() { None } else { self.nested.acquire().await.ok() }
    }
}
