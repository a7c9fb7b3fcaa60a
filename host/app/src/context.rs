//! What one search shares between its role calls, and how each call's ports are put together.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use syrch_core::ledger::Ledger;
use syrch_core::ports::{
    Budget, CellsPort, Database, Estimate, LlmError, ModelCall, ModelOutcome, ModelProvider, Policy, Ports, Preview,
    Relation, RunPort, TimeLeft, Unrecorded,
};
use syrch_core::result_set::digest64;
use syrch_core::roles::{Call, Role};
use syrch_core::{Catalog, Json, Problem, Question, RoleError, Task, TaskId, Verdict};
use syrch_layers::{BudgetedDatabase, BudgetedModel, GrantedCells, GrantedRows, Memo, ModelPort, SqlBinding};
use syrch_scheduler::Stop;
use tokio::sync::Semaphore;

use crate::evaluate::EvaluateOfTask;
use crate::host::{Cast, Host};
use crate::trace::{Trace, TraceOfCall};
use crate::{Error, Settings};

/// How much time a search has: until the user stops it, or its deadline passes.
#[derive(Clone)]
pub(crate) struct Clock {
    pub(crate) started: Instant,
    pub(crate) deadline: Option<Duration>,
    pub(crate) stop: Stop,
}

impl Clock {
    /// When the time is over at the latest.
    pub(crate) fn deadline(&self) -> Option<tokio::time::Instant> {
        self.started.checked_add(self.deadline?).map(tokio::time::Instant::from_std)
    }

    /// Ends when the time is over.
    pub(crate) async fn over(&self) {
        let late = async {
            match self.deadline() {
                Some(deadline) => tokio::time::sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.stop.triggered() => {}
            () = late => {}
        }
    }

    /// Whether the time is over.
    pub(crate) fn is_over(&self) -> bool {
        self.stop.is_triggered() || self.deadline.is_some_and(|all| self.started.elapsed() >= all)
    }
}

/// One search from one wording of the problem.
pub(crate) struct Context {
    pub(crate) settings: Settings,
    pub(crate) cast: Cast,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) trace: Arc<Trace>,
    pub(crate) problem: Arc<Problem>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) memo: Arc<Memo>,
    pub(crate) clock: Clock,
    pub(crate) salt: u64,
    model: Arc<ModelWatch>,
    cells: Arc<dyn CellsPort>,
    /// Slots for role calls that other roles wait for, apart from those of their callers.
    pub(crate) nested: Semaphore,
    shared: Mutex<Shared>,
}

#[derive(Default)]
struct Shared {
    relation_names: BTreeMap<TaskId, String>,
    calls: BTreeMap<(Role, TaskId), u64>,
    verdicts: BTreeMap<(TaskId, String), Verdict>,
    faults: Vec<RoleError>,
    asks: Vec<Question>,
}

/// A role call, with the last complaint that its plugin made.
pub(crate) struct Prepared {
    pub(crate) call: Call,
    pub(crate) sql: Arc<SqlBinding>,
    pub(crate) evaluate: Arc<EvaluateOfTask>,
    complaint: Arc<Mutex<Option<String>>>,
}

impl Prepared {
    /// What the plugin warned of last.
    pub(crate) fn complaint(&self) -> Option<String> {
        self.complaint.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Context {
    /// The context of a search. `ledger` and `trace` go on when a clarification starts the search over.
    pub(crate) async fn new(
        host: &Host,
        problem: Problem,
        ledger: Arc<Ledger>,
        trace: Arc<Trace>,
        clock: Clock,
        salt: u64,
    ) -> Result<Arc<Self>, Error> {
        let limits = &host.settings.limits;
        let catalog = host.database.catalog().await?;
        let budgeted: Arc<dyn ModelProvider> =
            Arc::new(BudgetedModel::new(Arc::clone(&host.model), Arc::clone(&ledger), limits.clone()));
        let model = Arc::new(ModelWatch { inner: budgeted, clock: clock.clone(), last: Mutex::default() });
        let database: Arc<dyn Database> =
            Arc::new(BudgetedDatabase::new(Arc::clone(&host.database), Arc::clone(&ledger), limits));
        Ok(Arc::new(Self {
            settings: host.settings.clone(),
            cast: host.cast.clone(),
            ledger,
            trace,
            problem: Arc::new(problem),
            catalog,
            cells: Arc::new(GrantedCells { index: Arc::clone(&database) as _, grant: host.settings.rows }),
            memo: Memo::new(database),
            clock,
            salt,
            model,
            nested: Semaphore::new(limits.nested),
            shared: Mutex::default(),
        }))
    }

    fn shared<T>(&self, work: impl FnOnce(&mut Shared) -> T) -> T {
        work(&mut self.shared.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts a role call together. `relations` are the finished tasks that its SQL may name.
    pub(crate) fn prepare(
        self: &Arc<Self>,
        role: Role,
        task: Option<&Arc<Task>>,
        relations: Vec<Relation>,
    ) -> Prepared {
        let task_id = task.map(|task| task.id.clone()).unwrap_or_default();
        let label = if task_id.is_empty() { role.name().to_owned() } else { format!("{role}({task_id})") };
        let number = self.shared(|shared| {
            let number = shared.calls.entry((role, task_id.clone())).or_default();
            *number += 1;
            *number
        });
        let seed = digest64(&[&self.settings.seed.to_string(), role.name(), &task_id, &number.to_string()]);
        let sql = Arc::new(SqlBinding::new(Arc::clone(&self.memo), relations.clone(), self.salt));
        let evaluate = Arc::new(EvaluateOfTask { context: Arc::clone(self), task: task.cloned(), relations });
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
            sql: Arc::clone(&sql) as _,
            rows: Arc::new(GrantedRows(self.settings.rows)),
            cells: Arc::clone(&self.cells),
            evaluate: Arc::clone(&evaluate) as _,
            trace: Arc::new(TraceOfCall {
                trace: Arc::clone(&self.trace),
                call: label.clone(),
                task: task_id,
                complaint: Arc::clone(&complaint),
            }),
            wait: Arc::new(Unrecorded),
        };
        Prepared { call: Call { label, ports, ledger: Arc::clone(&self.ledger) }, sql, evaluate, complaint }
    }

    /// The name by which a finished task stands in FROM: unique, and no table's.
    pub(crate) fn relation_name(&self, task: &str) -> String {
        let plain: String = task.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        self.shared(|shared| {
            if let Some(name) = shared.relation_names.get(task) {
                return name.clone();
            }
            let mut name = format!("task_{plain}");
            while self.catalog.table(&name).is_some()
                || shared.relation_names.values().any(|known| known.eq_ignore_ascii_case(&name))
            {
                name.push('_');
            }
            shared.relation_names.insert(task.to_owned(), name.clone());
            name
        })
    }

    /// Notes that a plugin trapped, hit a limit or returned nonsense.
    pub(crate) fn fault(&self, error: &RoleError) {
        if error.is_fault() {
            self.shared(|shared| shared.faults.push(error.clone()));
        }
    }

    pub(crate) fn faults(&self) -> Vec<RoleError> {
        self.shared(|shared| shared.faults.clone())
    }

    /// Notes what a solver would ask the user.
    pub(crate) fn ask(&self, question: Question) {
        self.shared(|shared| shared.asks.push(question));
    }

    pub(crate) fn asks(&self) -> Vec<Question> {
        self.shared(|shared| shared.asks.clone())
    }

    pub(crate) fn remember_verdict(&self, task: &str, sql: &str, verdict: &Verdict) {
        self.shared(|shared| shared.verdicts.insert((task.to_owned(), sql.to_owned()), verdict.clone()));
    }

    pub(crate) fn verdict(&self, task: &str, sql: &str) -> Option<Verdict> {
        self.shared(|shared| shared.verdicts.get(&(task.to_owned(), sql.to_owned())).cloned())
    }

    /// Why the model could not be used, if that happened.
    pub(crate) fn model_error(&self) -> Option<String> {
        self.model.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The port `run` of one role call.
struct RunOfCall {
    context: Arc<Context>,
    seed: u64,
}

#[async_trait]
impl RunPort for RunOfCall {
    fn policy(&self) -> Policy {
        self.context.settings.policy.clone()
    }

    fn setting(&self, name: &str) -> Option<Json> {
        self.context.settings.settings.get(name).cloned()
    }

    async fn remaining(&self) -> Budget {
        let (budgets, spent) = (self.context.ledger.budgets(), self.context.ledger.spent());
        let time = match self.context.settings.deadline {
            None => TimeLeft::Plenty,
            Some(all) => match all.checked_sub(self.context.clock.started.elapsed()) {
                None => TimeLeft::Over,
                Some(left) if left > all / 5 => TimeLeft::Plenty,
                Some(_) => TimeLeft::Little,
            },
        };
        Budget {
            tokens: budgets.tokens.saturating_sub(spent.tokens_charged),
            llm_calls: budgets.llm_calls.saturating_sub(spent.calls_charged()),
            sql_runs: budgets.sql_runs.saturating_sub(spent.sql_runs),
            cost_micros: self.context.ledger.cost_left(),
            time,
        }
    }

    fn seed(&self) -> u64 {
        self.seed
    }
}

/// Remembers why the endpoint could not be used: without an answer, that is what the user must hear. When the search's time is over it
/// cancels calls, so that whoever waits for one can go on with what there is.
struct ModelWatch {
    inner: Arc<dyn ModelProvider>,
    clock: Clock,
    last: Mutex<Option<String>>,
}

#[async_trait]
impl ModelProvider for ModelWatch {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn models(&self) -> Vec<String> {
        self.inner.models()
    }

    fn identity(&self, call: &ModelCall) -> Option<String> {
        self.inner.identity(call)
    }

    fn estimate(&self, call: &ModelCall) -> Estimate {
        self.inner.estimate(call)
    }

    fn preview(&self, call: &ModelCall) -> Option<Preview> {
        self.inner.preview(call)
    }

    async fn complete(&self, call: &ModelCall) -> ModelOutcome {
        if self.clock.is_over() {
            return ModelOutcome::unsent(LlmError::Cancelled);
        }
        let outcome = tokio::select! {
            outcome = self.inner.complete(call) => outcome,
            () = self.clock.over() => ModelOutcome::sent(Err(LlmError::Cancelled), None),
        };
        if let Err(LlmError::Unavailable(message)) = &outcome.result {
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(message.clone());
        }
        outcome
    }
}
