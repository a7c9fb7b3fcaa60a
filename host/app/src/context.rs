//! The state of a search that its role calls share, and the ports of each role call.

mod notes;

use std::sync::{Arc, Mutex, PoisonError};

use syrch_core::ledger::Ledger;
use syrch_core::ports::{
    CellsPort, EvaluatePort, InspectPort, LlmPort, ModelProvider, Ports, Relation, RowsGrant,
    SearchPort, SqlPort, Ticket, Unrecorded,
};
use syrch_core::result_set::digest64;
use syrch_core::roles::{Call, Linked, Role};
use syrch_core::{Catalog, Corpus, Operation, Problem, RoleError, Task};
use syrch_journal::{CallId, Choices, Defined, EventLog, Verified};
use syrch_layers::{
    CallObserver, Consent, GrantedCells, GrantedRows, InOrder, Memo, ModelPort, NarrowedInspect,
    Previews, SqlBinding, Taint, role_stack, statement_stack,
};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::clock::Clock;
use crate::defined::{Settled, find_choice};
use crate::evaluate::EvaluateOfTask;
use crate::given_up::GivenUp;
use crate::host::{Host, StrategyPlugins};
use crate::model_calls;
use crate::noted::NotedCall;
use crate::recordings::Missed;
use crate::retrieval::{ModelEmbedder, Retrieval};
use crate::run_of_call::RunOfCall;
use crate::trace::{Trace, TraceOfCall};
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
    /// The reason why the run has no journal although it should.
    pub(crate) warning: Option<String>,
    /// The statement that a person confirmed for the question, which answers it.
    pub(crate) verified: Option<Verified>,
    /// The statements that the definitions of metrics give for the question.
    pub(crate) defined: Defined,
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
        Some(Error::Untrusted { role, plugin, rows: self.settings.rows })
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
    memo: Arc<Memo>,
    cells: Arc<dyn CellsPort>,
    search: Arc<dyn SearchPort>,
}

/// A role call, with the last warning of its plugin.
pub(crate) struct Prepared {
    pub(crate) id: CallId,
    pub(crate) call: Call,
    pub(crate) sql: Arc<dyn SqlPort>,
    pub(crate) evaluate: Arc<EvaluateOfTask>,
    complaint: Arc<Mutex<Option<String>>>,
    context: Arc<Context>,
}

impl Prepared {
    /// Ends the role call; `then` runs at its sequence point of the event log. A fault is noted.
    pub(crate) async fn end(&self, error: Option<RoleError>, then: impl FnOnce()) {
        let fault = error.clone().filter(RoleError::is_fault);
        self.context
            .run
            .event_log
            .end(self.id, error, || {
                if let Some(fault) = fault {
                    self.context.notes.note_fault(self.id, fault);
                }
                then();
            })
            .await;
    }

    /// The last warning of the plugin.
    pub(crate) fn complaint(&self) -> Option<String> {
        self.complaint.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Context {
    /// The context of a search for one wording of its problem.
    pub(crate) fn new(host: &Host, problem: Problem, run: &Arc<RunState>) -> Self {
        let limits = &host.settings.limits;
        let model = model_calls::for_run(host, run);
        let problem = Arc::new(problem);
        let embedder = embedder(host, run, &model, &problem);
        let memo = statement_stack(
            Arc::clone(&host.database),
            host.cache.as_ref(),
            &run.ledger,
            limits,
            host.settings.rows,
        );
        let backends = Backends {
            model,
            search: Arc::new(Retrieval::new(
                &run.catalog,
                &host.known.index,
                embedder,
                &run.given_up,
            )),
            cells: Arc::new(GrantedCells {
                index: Arc::clone(memo.database()) as _,
                grant: host.settings.rows,
            }),
            memo,
        };
        Self {
            run: Arc::clone(run),
            problem,
            catalog: Arc::clone(&run.catalog),
            notes: Arc::default(),
            backends,
            nested: Arc::new(Semaphore::new(limits.nested)),
            within: None,
            apart: None,
        }
    }

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
    pub(crate) fn apart(self, apart: Apart, catalog: Option<Catalog>) -> Self {
        let catalog = catalog.map_or_else(|| Arc::clone(&self.catalog), Arc::new);
        Self { apart: Some(apart), catalog, ..self }
    }

    /// Returns the context over another catalog that roles are shown.
    pub(crate) fn showing(self, catalog: Arc<Catalog>) -> Self {
        Self { catalog, ..self }
    }

    /// Returns the context over the tables of one statement: the roles that are called see no
    /// others, in the catalog or by the port `inspect`.
    pub(crate) fn within(&self, tables: &[String]) -> Self {
        let catalog =
            self.run.catalog.narrow(tables.iter().map(|table| (table.as_str(), [].as_slice())));
        Self { catalog: Arc::new(catalog), within: Some(tables.into()), ..self.clone() }
    }

    /// Returns the context of the search over the linker's selection: its tables, if it named any,
    /// and its hints. Cell text is left out without the grant.
    pub(crate) fn narrow(&self, linked: Linked) -> Self {
        let Linked { tables, mut hints } = linked;
        let shows_cells = matches!(self.run.settings.rows, RowsGrant::Sample(_) | RowsGrant::Full);
        hints.retain(|hint| shows_cells || hint.corpus != Corpus::Cells);
        let selected =
            tables.iter().map(|relevant| (relevant.table.as_str(), relevant.columns.as_slice()));
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

    /// A slot for a role call that another one waits for. A replay needs none: the event log orders
    /// its calls.
    pub(crate) async fn acquire_nested_slot(&self) -> Option<SemaphorePermit<'_>> {
        if self.run.event_log.is_replaying() { None } else { self.nested.acquire().await.ok() }
    }

    /// Starts a role call. `relations` are the finished tasks that its SQL may name, `from` is the
    /// role call that waits for it.
    pub(crate) async fn prepare(
        self: &Arc<Self>,
        role: Role,
        task: Option<&Arc<Task>>,
        relations: Vec<Relation>,
        from: Option<(CallId, Ticket)>,
    ) -> Prepared {
        let task_id = task.map(|task| task.id.clone()).unwrap_or_default();
        // The retrieval query of a task comes from whichever role made the task, which the host
        // does not know.
        let retrieves = task.is_some_and(|task| matches!(task.operation, Operation::Retrieve(_)));
        let taint = self.run.taint.for_call(if retrieves {
            &[Role::Planner, Role::Solver]
        } else {
            std::slice::from_ref(&role)
        });
        let id = self.run.event_log.open(role, &task_id, from, || taint.starts()).await;
        let label =
            if task_id.is_empty() { role.name().to_owned() } else { format!("{role}({task_id})") };
        let number = self.notes.next_call((role, task_id.clone(), from));
        let place = from.map(|(call, ticket)| format!("{call}.{ticket}")).unwrap_or_default();
        let seed = digest64(&[
            &self.run.settings.seed.to_string(),
            role.name(),
            &task_id,
            &place,
            &number.to_string(),
        ]);
        let mut sql =
            SqlBinding::new(Arc::clone(&self.backends.memo), relations.clone(), self.run.salt);
        let question = self.problem.question.trim();
        // A part of a question may well ask for keys and numbers that its answer leaves out.
        if task.is_some_and(|task| task.text.trim() == question) || role == Role::Aggregator {
            sql = sql.answering(question, &self.problem.hints);
        }
        let sql = Arc::new(sql);
        let evaluate = Arc::new(EvaluateOfTask {
            context: Arc::clone(self),
            task: task.cloned(),
            relations,
            caller: id,
        });
        let complaint = Arc::default();
        let inspect: Arc<dyn InspectPort> = match &self.within {
            Some(tables) => {
                Arc::new(NarrowedInspect::new(Arc::clone(&sql) as _, Arc::clone(tables)))
            }
            None => Arc::clone(&sql) as _,
        };
        let llm: Arc<dyn LlmPort> = match role {
            Role::Clarifier if self.run.settings.max_questions == 0 => {
                Arc::new(syrch_layers::wordless::Wordless)
            }
            _ => Arc::new(ModelPort {
                provider: Arc::clone(&self.backends.model) as _,
                problem: Arc::clone(&self.problem),
                task: task.cloned(),
                catalog: Arc::clone(&self.catalog),
                inspect: Arc::clone(&inspect),
                seed: self.run.settings.seed,
            }),
        };
        let ports = Ports {
            run: Arc::new(RunOfCall { context: Arc::clone(self), seed }),
            llm,
            inspect,
            sql,
            rows: Arc::new(GrantedRows(self.run.settings.rows)),
            cells: Arc::clone(&self.backends.cells),
            evaluate: match &self.apart {
                Some(apart) => Arc::clone(&apart.evaluate),
                None => Arc::clone(&evaluate) as _,
            },
            search: Arc::clone(&self.backends.search),
            trace: Arc::new(TraceOfCall {
                trace: Arc::clone(&self.run.trace),
                call: label.clone(),
                task: task_id.clone(),
                complaint: Arc::clone(&complaint),
            }),
            wait: Arc::new(Unrecorded),
        };
        let noted: Arc<dyn CallObserver> = Arc::new(NotedCall {
            context: Arc::clone(self),
            task: task_id,
            call: id,
            label: label.clone(),
        });
        let ports = role_stack(ports, &self.run.event_log, id, taint, &noted);
        let ports = match &self.apart {
            Some(apart) => apart.order.around(ports),
            None => ports,
        };
        let sql = Arc::clone(&ports.sql);
        let call = Call { label, ports, ledger: Arc::clone(&self.run.ledger) };
        Prepared { id, call, sql, evaluate, complaint, context: Arc::clone(self) }
    }
}

/// The embedder of a run; `None` without a model for embeddings.
fn embedder(
    host: &Host,
    run: &RunState,
    model: &Arc<dyn ModelProvider>,
    problem: &Arc<Problem>,
) -> Option<Arc<ModelEmbedder>> {
    let name =
        host.settings.model.embeddings.clone().filter(|name| model.models().contains(name))?;
    let model = Arc::clone(model);
    let knowledge = Arc::clone(&host.known.knowledge);
    let problem = Arc::clone(problem);
    let catalog = Arc::clone(&run.catalog);
    let in_flight = host.settings.limits.llm_in_flight;
    let named = (name, host.settings.model.embedding_prefixes.clone());
    Some(Arc::new(ModelEmbedder::new(model, named, knowledge, (problem, catalog), in_flight)))
}
