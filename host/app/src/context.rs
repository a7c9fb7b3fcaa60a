//! What one search shares between its role calls, and how each call's ports are put together.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use serde::Deserialize;
use syrch_core::ledger::Ledger;
use syrch_core::ports::{
    CellsPort, LlmError, ModelProvider, Ports, Relation, Reply, RowsGrant, SearchPort, SqlPort, Ticket, Unrecorded,
};
use syrch_core::result_set::digest64;
use syrch_core::roles::{Call, Linked, Role};
use syrch_core::{
    Candidate, Catalog, Corpus, Extras, Operation, Problem, Question, ResultSet, RoleError, SqlError, SqlErrorKind,
    Task, TaskId, Verdict,
};
use syrch_journal::{CallId, Tape};
use syrch_layers::{
    CallObserver, GrantedCells, GrantedRows, Memo, ModelPort, Previews, SqlBinding, Taint, role_stack, statement_stack,
};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::clock::Clock;
use crate::evaluate::EvaluateOfTask;
use crate::given_up::GivenUp;
use crate::host::{Cast, Host};
use crate::models;
use crate::noted::NotedCall;
use crate::recordings::Missed;
use crate::retrieval::{ModelEmbedder, Retrieval};
use crate::run_of_call::RunOfCall;
use crate::trace::{Trace, TraceOfCall};
use crate::{Error, Settings};

/// What one run keeps over all wordings of its problem.
pub(crate) struct RunState {
    pub(crate) id: String,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) trace: Arc<Trace>,
    pub(crate) tape: Arc<Tape>,
    pub(crate) clock: Clock,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) taint: Arc<Taint>,
    pub(crate) salt: u64,
    pub(crate) missed: Missed,
    pub(crate) given_up: GivenUp,
    /// Where requests go in place of their endpoint, in a dry run.
    pub(crate) previews: Option<Previews>,
}

/// One search from one wording of the problem.
pub(crate) struct Context {
    pub(crate) settings: Arc<Settings>,
    pub(crate) cast: Cast,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) trace: Arc<Trace>,
    pub(crate) problem: Arc<Problem>,
    /// What roles are shown: all that is granted, or what the linker kept of it.
    pub(crate) catalog: Arc<Catalog>,
    granted: Arc<Catalog>,
    pub(crate) memo: Arc<Memo>,
    pub(crate) clock: Clock,
    pub(crate) tape: Arc<Tape>,
    /// Whose model calls are denied.
    pub(crate) taint: Arc<Taint>,
    pub(crate) salt: u64,
    missed: Missed,
    model: Arc<dyn ModelProvider>,
    cells: Arc<dyn CellsPort>,
    search: Arc<dyn SearchPort>,
    /// Slots for role calls that other roles wait for, apart from those of their callers.
    nested: Arc<Semaphore>,
    shared: Arc<Mutex<Shared>>,
}

/// What a verdict is about: a statement, and what its solver told the reward of it, such as the step that it was made for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Judged(String, Extras);

impl From<&Candidate> for Judged {
    fn from(candidate: &Candidate) -> Self {
        Self(candidate.sql.clone(), candidate.extra.clone())
    }
}

/// A role, its task, and the call that waits for it.
type Place = (Role, TaskId, Option<(CallId, Ticket)>);

#[derive(Default)]
struct Shared {
    relation_names: BTreeMap<TaskId, String>,
    calls: BTreeMap<Place, u64>,
    verdicts: BTreeMap<(TaskId, Judged), Verdict>,
    /// Results by the statement of a task that gave them.
    results: BTreeMap<(TaskId, String), Weak<ResultSet>>,
    // By role call and ticket: which is told first must not depend on which was quicker.
    faults: BTreeMap<CallId, RoleError>,
    asks: BTreeMap<CallId, Question>,
    model_errors: BTreeMap<(CallId, Ticket), String>,
    /// The greatest confidence with which the rules wrote a statement.
    by_rules: Option<f64>,
    outages: BTreeMap<CallId, SqlError>,
    has_refused_write: bool,
}

/// What a statement of the rules is claimed with.
#[derive(Deserialize)]
struct ByRules {
    confidence: f64,
}

/// A role call, with the last complaint that its plugin made.
pub(crate) struct Prepared {
    pub(crate) id: CallId,
    pub(crate) call: Call,
    pub(crate) sql: Arc<dyn SqlPort>,
    pub(crate) evaluate: Arc<EvaluateOfTask>,
    complaint: Arc<Mutex<Option<String>>>,
    context: Arc<Context>,
}

impl Prepared {
    /// The role call ends, and what the host did with it; `then` is done in its turn. A fault is noted.
    pub(crate) async fn end(&self, error: Option<RoleError>, then: impl FnOnce()) {
        let fault = error.clone().filter(RoleError::is_fault);
        let then = || {
            if let Some(fault) = fault {
                self.context.shared(|shared| shared.faults.insert(self.id, fault));
            }
            then();
        };
        self.context.tape.end(self.id, error, then).await;
    }

    /// What the plugin warned of last.
    pub(crate) fn complaint(&self) -> Option<String> {
        self.complaint.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Context {
    /// The context of a search over one wording of its problem.
    pub(crate) fn new(host: &Host, problem: Problem, run: &RunState) -> Arc<Self> {
        let limits = &host.settings.limits;
        let ledger = &run.ledger;
        let (model, problem) = (models::of_run(host, run), Arc::new(problem));
        let embedder = embedder(host, run, &model, &problem);
        let memo = statement_stack(Arc::clone(&host.database), host.cache.as_ref(), ledger, limits);
        Arc::new(Self {
            settings: Arc::clone(&host.settings),
            cast: host.cast.clone(),
            ledger: Arc::clone(ledger),
            trace: Arc::clone(&run.trace),
            problem,
            catalog: Arc::clone(&run.catalog),
            granted: Arc::clone(&run.catalog),
            search: Arc::new(Retrieval::new(&run.catalog, &host.known.index, embedder, &run.given_up)),
            cells: Arc::new(GrantedCells { index: Arc::clone(memo.database()) as _, grant: host.settings.rows }),
            memo,
            clock: run.clock.clone(),
            tape: Arc::clone(&run.tape),
            taint: Arc::clone(&run.taint),
            salt: run.salt,
            missed: run.missed.clone(),
            model,
            nested: Arc::new(Semaphore::new(limits.nested)),
            shared: Arc::default(),
        })
    }

    /// The same search over what a linker found: its tables, if it named any, and its hints. Cell text is left out without the grant.
    pub(crate) fn narrowed(&self, linked: Linked) -> Arc<Self> {
        let Linked { tables, mut hints } = linked;
        let shows_cells = matches!(self.settings.rows, RowsGrant::Sample(_) | RowsGrant::Full);
        hints.retain(|hint| shows_cells || hint.corpus != Corpus::Cells);
        let kept = tables.iter().map(|relevant| (relevant.table.as_str(), relevant.columns.as_slice()));
        let catalog = if tables.is_empty() { Arc::clone(&self.catalog) } else { Arc::new(self.granted.narrowed(kept)) };
        Arc::new(Self {
            settings: Arc::clone(&self.settings),
            cast: self.cast.clone(),
            ledger: Arc::clone(&self.ledger),
            trace: Arc::clone(&self.trace),
            problem: Arc::new(Problem { hints, ..(*self.problem).clone() }),
            catalog,
            granted: Arc::clone(&self.granted),
            memo: Arc::clone(&self.memo),
            clock: self.clock.clone(),
            tape: Arc::clone(&self.tape),
            taint: Arc::clone(&self.taint),
            salt: self.salt,
            missed: self.missed.clone(),
            model: Arc::clone(&self.model),
            cells: Arc::clone(&self.cells),
            search: Arc::clone(&self.search),
            nested: Arc::clone(&self.nested),
            shared: Arc::clone(&self.shared),
        })
    }

    fn shared<T>(&self, work: impl FnOnce(&mut Shared) -> T) -> T {
        work(&mut self.shared.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A slot for a role call that another one waits for. A journal that plays has had them already.
    pub(crate) async fn nested_slot(&self) -> Option<SemaphorePermit<'_>> {
        if self.tape.is_playing() { None } else { self.nested.acquire().await.ok() }
    }

    /// Begins a role call. `relations` are the finished tasks that its SQL may name, `from` is the role call that waits for it.
    pub(crate) async fn prepare(
        self: &Arc<Self>,
        role: Role,
        task: Option<&Arc<Task>>,
        relations: Vec<Relation>,
        from: Option<(CallId, Ticket)>,
    ) -> Prepared {
        let task_id = task.map(|task| task.id.clone()).unwrap_or_default();
        // What a task looks up was written by whoever made the task, which the host cannot tell.
        let looks = task.is_some_and(|task| matches!(task.operation, Operation::Retrieve(_)));
        let taint =
            self.taint.of_call(if looks { &[Role::Planner, Role::Solver] } else { std::slice::from_ref(&role) });
        let id = self.tape.open(role, &task_id, from, || taint.begins()).await;
        let label = if task_id.is_empty() { role.name().to_owned() } else { format!("{role}({task_id})") };
        let number = self.shared(|shared| {
            let number = shared.calls.entry((role, task_id.clone(), from)).or_default();
            *number += 1;
            *number
        });
        let place = from.map(|(call, ticket)| format!("{call}.{ticket}")).unwrap_or_default();
        let seed = digest64(&[&self.settings.seed.to_string(), role.name(), &task_id, &place, &number.to_string()]);
        let sql = Arc::new(SqlBinding::new(Arc::clone(&self.memo), relations.clone(), self.salt));
        let evaluate =
            Arc::new(EvaluateOfTask { context: Arc::clone(self), task: task.cloned(), relations, caller: id });
        let complaint = Arc::default();
        let ports = Ports {
            run: Arc::new(RunOfCall { context: Arc::clone(self), seed }),
            llm: Arc::new(ModelPort {
                provider: Arc::clone(&self.model) as _,
                problem: Arc::clone(&self.problem),
                task: task.cloned(),
                catalog: Arc::clone(&self.catalog),
            }),
            inspect: Arc::clone(&sql) as _,
            sql,
            rows: Arc::new(GrantedRows(self.settings.rows)),
            cells: Arc::clone(&self.cells),
            evaluate: Arc::clone(&evaluate) as _,
            search: Arc::clone(&self.search),
            trace: Arc::new(TraceOfCall {
                trace: Arc::clone(&self.trace),
                call: label.clone(),
                task: task_id.clone(),
                complaint: Arc::clone(&complaint),
            }),
            wait: Arc::new(Unrecorded),
        };
        let noted: Arc<dyn CallObserver> = Arc::new(NotedCall { context: Arc::clone(self), task: task_id, call: id });
        let ports = role_stack(ports, &self.tape, id, taint, &noted);
        let sql = Arc::clone(&ports.sql);
        let call = Call { label, ports, ledger: Arc::clone(&self.ledger) };
        Prepared { id, call, sql, evaluate, complaint, context: Arc::clone(self) }
    }

    /// The name by which a finished task stands in FROM: unique, and no table's.
    pub(crate) fn relation_name(&self, task: &str) -> String {
        let plain: String = task.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        self.shared(|shared| {
            if let Some(name) = shared.relation_names.get(task) {
                return name.clone();
            }
            let mut name = format!("task_{plain}");
            while self.granted.table(&name).is_some()
                || shared.relation_names.values().any(|known| known.eq_ignore_ascii_case(&name))
            {
                name.push('_');
            }
            shared.relation_names.insert(task.to_owned(), name.clone());
            name
        })
    }

    /// The first role whose plugin was denied model calls, since it is not trusted and may know something of the data.
    pub(crate) fn denied(&self) -> Option<Error> {
        let role = self.taint.denied().into_iter().next()?;
        let plugin = self.settings.strategy.roles.get(&role).map(ToString::to_string).unwrap_or_default();
        Some(Error::Untrusted { role, plugin, rows: self.settings.rows })
    }

    /// What plugins did wrong: trapped, hit a limit, returned nonsense; the earliest call first.
    pub(crate) fn faults(&self) -> Vec<RoleError> {
        self.shared(|shared| shared.faults.values().cloned().collect())
    }

    /// Notes what a solver would ask the user.
    pub(crate) fn ask(&self, call: CallId, question: Question) {
        self.shared(|shared| shared.asks.insert(call, question));
    }

    pub(crate) fn asks(&self) -> Vec<Question> {
        self.shared(|shared| shared.asks.values().cloned().collect())
    }

    /// Notes the result that a statement of a task gave.
    pub(crate) fn note_result(&self, task: TaskId, sql: String, results: &Arc<ResultSet>) {
        self.shared(|shared| shared.results.insert((task, sql), Arc::downgrade(results)));
    }

    /// The result that a statement of a task has given, if anybody still holds it.
    pub(crate) fn result_of(&self, task: &str, sql: &str) -> Option<Arc<ResultSet>> {
        self.shared(|shared| shared.results.get(&(task.to_owned(), sql.to_owned()))?.upgrade())
    }

    pub(crate) fn remember_verdict(&self, task: &str, judged: &Judged, verdict: &Verdict) {
        self.shared(|shared| shared.verdicts.insert((task.to_owned(), judged.clone()), verdict.clone()));
    }

    pub(crate) fn verdict(&self, task: &str, judged: &Judged) -> Option<Verdict> {
        self.shared(|shared| shared.verdicts.get(&(task.to_owned(), judged.clone())).cloned())
    }

    /// Why the model could not be used, if that happened: without an answer, that is what the user must hear.
    pub(crate) fn model_error(&self) -> Option<String> {
        self.shared(|shared| shared.model_errors.values().next_back().cloned())
    }

    /// Notes why a call of the model could not be made, or that a recording lacks it.
    pub(crate) fn note_model_error(&self, call: CallId, ticket: Ticket, error: &LlmError) {
        match error {
            LlmError::Unavailable(message) => {
                self.shared(|shared| shared.model_errors.insert((call, ticket), message.clone()));
            }
            LlmError::Missed(message) => self.missed.note(message),
            _ => {}
        }
    }

    /// Notes how sure the rules are of a statement that they wrote.
    pub(crate) fn note_reply(&self, reply: &Reply) {
        let by_rules = reply.parsed.as_ref().filter(|_| self.settings.model.is_by_rules());
        let parsed = by_rules.and_then(|parsed| serde_json::from_str::<ByRules>(parsed).ok());
        if let Some(ByRules { confidence }) = parsed {
            self.shared(|shared| {
                shared.by_rules = Some(shared.by_rules.map_or(confidence, |most| most.max(confidence)))
            });
        }
    }

    /// The most that an answer's confidence can be: the rules give the same statement to whoever asks, so that its candidates agree says nothing.
    pub(crate) fn most_confidence(&self) -> f64 {
        self.shared(|shared| shared.by_rules).unwrap_or(1.0)
    }

    /// Notes an error that tells that the database cannot be read now, or that somebody wanted to write to it.
    pub(crate) fn note_error(&self, call: CallId, error: &SqlError) {
        self.shared(|shared| match error.kind {
            SqlErrorKind::Unavailable => drop(shared.outages.entry(call).or_insert_with(|| error.clone())),
            SqlErrorKind::WriteRefused => shared.has_refused_write = true,
            _ => {}
        });
    }

    /// Why the database could not be read, if that happened.
    pub(crate) fn outage(&self) -> Option<SqlError> {
        self.shared(|shared| shared.outages.values().next_back().cloned())
    }

    /// Whether a statement that would have written was refused.
    pub(crate) fn has_refused_write(&self) -> bool {
        self.shared(|shared| shared.has_refused_write)
    }
}

/// Who makes vectors for a run; none without a model for them.
fn embedder(
    host: &Host,
    run: &RunState,
    model: &Arc<dyn ModelProvider>,
    problem: &Arc<Problem>,
) -> Option<Arc<ModelEmbedder>> {
    let name = host.settings.model.embeddings.clone().filter(|name| model.models().contains(name))?;
    let (model, knowledge) = (Arc::clone(model), Arc::clone(&host.known.knowledge));
    let (problem, catalog) = (Arc::clone(problem), Arc::clone(&run.catalog));
    let in_flight = host.settings.limits.llm_in_flight;
    Some(Arc::new(ModelEmbedder::new(model, name, knowledge, (problem, catalog), in_flight)))
}
