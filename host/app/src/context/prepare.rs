//! The ports of one role call of a search.

use std::sync::{Arc, Mutex, PoisonError};

use syrch_core::ports::{
    InspectPort, LlmPort, ModelProvider, Ports, Relation, RowsGrant, SqlPort, Unrecorded,
};
use syrch_core::result_set::digest64;
use syrch_core::roles::{Call, Role};
use syrch_core::{Corpus, Hit, Operation, Problem, RoleError, Task};
use syrch_journal::CallId;
use syrch_layers::{
    Allowance, Bounds, CallObserver, Decision, GrantedCells, GrantedRows, ModelPort,
    NarrowedInspect, SqlBinding, TimedSql, role_stack,
};

use super::Context;
use crate::evaluate::{EvaluateOfTask, Nested, Starters};
use crate::noted::NotedCall;
use crate::run_of_call::RunOfCall;
use crate::trace::TraceOfCall;

/// A role call, with the last warning of its plugin.
pub(crate) struct Prepared {
    pub(crate) id: CallId,
    pub(crate) call: Call,
    /// The problem as the plugin is shown it.
    pub(crate) problem: Arc<Problem>,
    pub(crate) sql: Arc<dyn SqlPort>,
    pub(crate) evaluate: Arc<EvaluateOfTask>,
    last_warning: Arc<Mutex<Option<String>>>,
    context: Arc<Context>,
    /// The allowance of the plugin, if it is not built in.
    allowance: Option<Arc<Allowance>>,
}

impl Prepared {
    /// Ends the role call; `then` runs at its sequence point of the event log. A fault is noted.
    pub(crate) async fn end(&self, error: Option<RoleError>, then: impl FnOnce()) {
        let fault = error.clone().filter(RoleError::is_fault);
        if let (Some(RoleError::Limit { limit, detail, .. }), Some(allowance)) =
            (&error, &self.allowance)
            && !self.context.run.event_log.is_replaying()
        {
            allowance.note(Decision::Limited, limit, detail);
        }
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
    pub(crate) fn last_warning(&self) -> Option<String> {
        self.last_warning.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// An allowance that bounds a role call, with the digest of its plugin.
type Bounding<'a> = (Bounds, &'a str, &'a Arc<Allowance>);

/// The allowances of the plugins that make a role call, and of those that have started it.
fn join_bounds<'a>(
    own: &[(&'a str, &'a Arc<Allowance>)],
    starters: &'a Starters,
) -> Vec<Bounding<'a>> {
    let own_bounds = own.iter().map(|(digest, allowance)| {
        let has_started = starters.allowances.iter().any(|(starter, _)| starter == digest);
        let bounds = if has_started { Bounds::OwnJudgement } else { Bounds::Call };
        (bounds, *digest, *allowance)
    });
    let others = starters
        .allowances
        .iter()
        .filter(|(starter, _)| own.iter().all(|(digest, _)| *digest != starter));
    let others = others.map(|(digest, one)| (Bounds::Judgement, digest.as_str(), one));
    own_bounds.chain(others).collect()
}

impl Context {
    /// Starts a role call. `relations` are the finished tasks that its SQL may name, `from` names
    /// the role call that waits for it.
    pub(crate) async fn start_call(
        self: &Arc<Self>,
        role: Role,
        task: Option<&Arc<Task>>,
        relations: Vec<Relation>,
        from: Option<Nested>,
    ) -> Prepared {
        let starters = from.as_ref().map(|from| from.starters.clone()).unwrap_or_default();
        let from = from.map(|from| (from.caller, from.ticket));
        let task_id = task.map(|task| task.id.clone()).unwrap_or_default();
        // The retrieval query of a task comes from whichever role made the task, which the host
        // does not know.
        let retrieves = task.is_some_and(|task| matches!(task.operation, Operation::Retrieve(_)));
        let makers: &[Role] = if retrieves { &[Role::Planner, Role::Solver] } else { &[role] };
        let roles = [makers, &starters.roles].concat();
        let taint = self.run.taint.for_call(&roles);
        let id = self.run.event_log.open(role, &task_id, from, || taint.mark_seen_if_asked()).await;
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
            SqlBinding::new(Arc::clone(&self.backends.memo), relations.clone(), self.run.salt)
                .with_definitions(self.backends.definitions.clone());
        let question = self.problem.question.trim();
        // A part of a question may well ask for keys and numbers that its answer leaves out.
        if task.is_some_and(|task| task.text.trim() == question) || role == Role::Aggregator {
            let evidence = self.problem.evidence.as_deref();
            sql = sql.with_question(question, evidence, &self.problem.hints);
        }
        let sql = Arc::new(sql);
        let last_warning = Arc::default();
        let own = self.list_allowances(role, task.map(Arc::as_ref));
        let allowances = join_bounds(&own, &starters);
        let rows = allowances
            .iter()
            .fold(self.run.settings.rows, |rows, (_, _, allowance)| allowance.limit_rows(rows));
        let evaluate = EvaluateOfTask {
            context: Arc::clone(self),
            task: task.cloned(),
            relations,
            caller: id,
            starters: Starters::default(),
        };
        // What the plugin itself starts is charged to it, and to those that have started it.
        let added = allowances.iter().filter(|(_, digest, _)| self.is_added(digest));
        let starters = Starters {
            roles,
            allowances: added
                .map(|(_, digest, one)| ((*digest).to_owned(), Arc::clone(one)))
                .collect(),
        };
        let started = Arc::new(EvaluateOfTask { starters, ..evaluate.clone() });
        let inspect: Arc<dyn InspectPort> = match &self.within {
            Some(tables) => {
                Arc::new(NarrowedInspect::new(Arc::clone(&sql) as _, Arc::clone(tables)))
            }
            None => Arc::clone(&sql) as _,
        };
        let llm = self.model_port(role, task, self.limit_model(&allowances), &inspect);
        // What makes the answer out of what was found has more time.
        let sql: Arc<dyn SqlPort> = match role {
            Role::Solver | Role::Reward | Role::Calibrator => {
                Arc::new(TimedSql::new(sql, Arc::new(self.run.clock.clone())))
            }
            _ => sql,
        };
        let ports = Ports {
            run: Arc::new(RunOfCall { context: Arc::clone(self), seed }),
            llm,
            inspect,
            sql,
            rows: Arc::new(GrantedRows(rows)),
            cells: Arc::new(GrantedCells { grant: rows, ..self.backends.cells.clone() }),
            evaluate: match &self.apart {
                Some(apart) => Arc::clone(&apart.evaluate),
                None => started,
            },
            retrieval: Arc::clone(&self.backends.retrieval),
            trace: Arc::new(TraceOfCall {
                trace: Arc::clone(&self.run.trace),
                call: label.clone(),
                task: task_id.clone(),
                last_warning: Arc::clone(&last_warning),
            }),
            wait: Arc::new(Unrecorded),
        };
        let ports = allowances
            .iter()
            .fold(ports, |ports, (bounds, _, allowance)| allowance.wrap_ports(*bounds, ports));
        let noted: Arc<dyn CallObserver> = Arc::new(NotedCall {
            context: Arc::clone(self),
            task: task_id,
            call: id,
            label: label.clone(),
        });
        let ports = role_stack(ports, &self.run.event_log, id, taint, &noted);
        let ports = match &self.apart {
            Some(apart) => apart.order.wrap_ports(ports),
            None => ports,
        };
        let sql = Arc::clone(&ports.sql);
        let allowance = own.last().map(|(_, allowance)| Arc::clone(allowance));
        let grants = allowance.as_ref().map(|allowance| allowance.grants());
        let call = Call {
            label,
            ports,
            ledger: Arc::clone(&self.run.ledger),
            memory: grants.and_then(|grants| grants.memory),
            cpu: grants.and_then(|grants| grants.cpu),
        };
        let problem = self.show_problem(rows);
        let context = Arc::clone(self);
        let evaluate = Arc::new(evaluate);
        Prepared { id, call, problem, sql, evaluate, last_warning, context, allowance }
    }

    /// The problem, without the hints that may quote cells and the labels of dimensions where no
    /// cells are shown. In a search that shows cells, the linker may have made examples of them,
    /// too.
    fn show_problem(&self, rows: RowsGrant) -> Arc<Problem> {
        let may_all_quote = self.run.settings.rows.shows_cells();
        let is_shown = |hint: &Hit| match &hint.corpus {
            Corpus::Tables | Corpus::Columns | Corpus::Notes => true,
            Corpus::Cells => rows.shows_cells(),
            Corpus::Examples | Corpus::Other(_) => rows.shows_cells() || !may_all_quote,
        };
        let shows_labels =
            rows.shows_cells() || self.problem.terms.iter().all(|term| term.labels.is_empty());
        if shows_labels && self.problem.hints.iter().all(is_shown) {
            return Arc::clone(&self.problem);
        }
        let mut problem = Problem::clone(&self.problem);
        problem.hints.retain(is_shown);
        if !shows_labels {
            problem.terms.iter_mut().for_each(|term| term.labels.clear());
        }
        Arc::new(problem)
    }

    /// The models within the limits of the plugins that a role call comes from.
    fn limit_model(&self, allowances: &[Bounding<'_>]) -> Arc<dyn ModelProvider> {
        let limits = &self.run.settings.limits;
        let own = allowances.iter().rfind(|(bounds, ..)| *bounds != Bounds::Judgement);
        let own = own.and_then(|(_, digest, _)| self.backends.models.get(*digest));
        let starters = allowances.iter().filter(|(bounds, ..)| *bounds == Bounds::Judgement);
        starters.fold(Arc::clone(own.unwrap_or(&self.backends.model)), |model, (_, _, one)| {
            one.limit_model(&model, limits)
        })
    }

    /// The models of a role call: those within the limits of its plugin, if it has such limits. A
    /// clarifier that may ask the user nothing needs no model.
    fn model_port(
        &self,
        role: Role,
        task: Option<&Arc<Task>>,
        provider: Arc<dyn ModelProvider>,
        inspect: &Arc<dyn InspectPort>,
    ) -> Arc<dyn LlmPort> {
        if role == Role::Clarifier && self.run.settings.max_questions == 0 {
            return Arc::new(syrch_layers::wordless::Wordless);
        }
        Arc::new(ModelPort {
            provider,
            problem: Arc::clone(&self.problem),
            task: task.cloned(),
            catalog: Arc::clone(&self.catalog),
            inspect: Arc::clone(inspect),
            seed: self.run.settings.seed,
        })
    }
}
