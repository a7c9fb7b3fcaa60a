//! The roles of `core`, implemented by components: arguments are converted and passed in, results
//! are converted and checked.

use std::borrow::Cow;
use std::sync::Arc;

use async_trait::async_trait;
use syrch_core::ports::Plan;
use syrch_core::roles::{
    Aggregator, Answer, Attempt, Calibrator, Call, Clarifier, Finished, Linked, Linker, Outcome,
    Output, Parent, Planner, Proposal, Reward, Rewriter, Rival, Solver,
};
use syrch_core::validate::Invalid;
use syrch_core::{
    Catalog, Graph, Observation, Problem, Question, ResultSet, RoleError, Signals, Step, Task,
    Verdict,
};
use wasmtime::component::Resource;

use crate::bindings::exports::syrch::plugin as export;
use crate::bindings::syrch::plugin::types as wit;
use crate::convert::Conv;
use crate::job::{RoleCall, RoleResult};
use crate::plugin::Configured;
use crate::session::Session;
use crate::state::Rows;

/// The functions of one role in a session's instance.
macro_rules! guest {
    ($session:ident, $role:ident) => {{
        let loaded = export::$role::GuestIndices::new($session.pre())
            .and_then(|indices| indices.load(&mut *$session.store, &$session.instance));
        $session.convert_result(stringify!($role), loaded)?
    }};
}

/// Calls a function of a guest, and ends what the guest started when it has returned.
macro_rules! call {
    ($session:ident, $guest:ident.$function:ident($($argument:expr),*)) => {{
        let (liveness, idle) = $session.liveness();
        let call = $guest.$function(&mut *$session.store, $($argument),*);
        let returned = liveness.watch(idle, call).await;
        $session.left().await;
        returned
    }};
}

impl Session {
    /// Converts the value that a function with a typed failure returned.
    fn convert_returned<W: Conv<T>, T>(
        &mut self,
        export: &str,
        returned: wasmtime::Result<Result<W, wit::Failure>>,
    ) -> Result<T, RoleError> {
        match self.convert_result(export, returned)? {
            Ok(value) => Ok(value.conv()),
            Err(failure) => Err(self.failure_error(failure.conv())),
        }
    }

    /// Gives the guest a handle of a result.
    fn lend(
        &mut self,
        export: &str,
        results: &Arc<ResultSet>,
    ) -> Result<Resource<Rows>, RoleError> {
        let pushed = self.store.data_mut().lend_rows(results);
        self.convert_result(export, pushed)
    }

    /// Calls a role. Its result is converted and checked.
    pub(crate) async fn run(&mut self, call: &RoleCall<'_>) -> Result<RoleResult, RoleError> {
        let result = self.call_guest(call).await?;
        let checked = call.check(&result, &self.store.data().limits);
        checked.map_err(|Invalid(detail)| self.invalid(call.export(), detail))?;
        Ok(result)
    }

    async fn call_guest(&mut self, call: &RoleCall<'_>) -> Result<RoleResult, RoleError> {
        let export = call.export();
        match call {
            RoleCall::Link { problem, catalog } => {
                let guest = guest!(self, linker);
                let problem = Problem::clone(problem).conv();
                let catalog = Catalog::clone(catalog).conv();
                let returned = call!(self, guest.call_link(&problem, &catalog));
                self.convert_returned(export, returned).map(RoleResult::Linked)
            }
            RoleCall::Plan { problem, catalog } => {
                let guest = guest!(self, planner);
                let problem = Problem::clone(problem).conv();
                let catalog = Catalog::clone(catalog).conv();
                let returned = call!(self, guest.call_plan(&problem, &catalog));
                self.convert_returned(export, returned).map(RoleResult::Graph)
            }
            RoleCall::Next { problem, catalog, graph, seen, fresh } => {
                let guest = guest!(self, planner);
                let problem = Problem::clone(problem).conv();
                let catalog = Catalog::clone(catalog).conv();
                let graph = Graph::clone(graph).conv();
                let seen = Conv::<Vec<wit::Observation>>::conv(seen.to_vec());
                let fresh = u32::try_from(*fresh).unwrap_or(u32::MAX);
                let returned =
                    call!(self, guest.call_next(&problem, &catalog, &graph, &seen, fresh));
                self.convert_returned(export, returned).map(RoleResult::Step)
            }
            RoleCall::Solve { problem, catalog, task, parents } => {
                let guest = guest!(self, solver);
                let mut lent = Vec::with_capacity(parents.len());
                for Parent { task, output, memo } in parents.iter().cloned() {
                    let output = match output {
                        Output::Relation { name, candidate, results } => {
                            let results = self.lend(export, &results)?;
                            let candidate = candidate.conv();
                            let relation = export::solver::Relation { name, candidate, results };
                            export::solver::Output::Relation(relation)
                        }
                        Output::Hits(hits) => export::solver::Output::Hits(hits.conv()),
                        Output::Failed(failure) => export::solver::Output::Failed(failure.conv()),
                    };
                    lent.push(export::solver::Parent { task: task.conv(), output, memo });
                }
                let problem = Problem::clone(problem).conv();
                let catalog = Catalog::clone(catalog).conv();
                let task = Task::clone(task).conv();
                let returned = call!(self, guest.call_solve(&problem, &catalog, &task, &lent));
                self.convert_returned(export, returned).map(RoleResult::Outcome)
            }
            RoleCall::Calibrate { claims } => {
                let guest = guest!(self, calibrator);
                let claims: Vec<(f64, wit::Signals)> = claims.to_vec().conv();
                let returned = call!(self, guest.call_calibrate(&claims));
                self.convert_result(export, returned).map(RoleResult::Calibrated)
            }
            RoleCall::Judge { problem, catalog, task, rivals } => {
                let guest = guest!(self, reward);
                let mut lent = Vec::with_capacity(rivals.len());
                for Rival { candidate, results } in rivals.iter().cloned() {
                    let results = self.lend(export, &results)?;
                    lent.push(export::reward::Rival { candidate: candidate.conv(), results });
                }
                let problem = Problem::clone(problem).conv();
                let catalog = Catalog::clone(catalog).conv();
                let task = Task::clone(task).conv();
                let returned = call!(self, guest.call_judge(&problem, &catalog, &task, &lent));
                self.convert_returned(export, returned).map(RoleResult::Verdicts)
            }
            RoleCall::Assess { problem, catalog, graph, seen } => {
                let guest = guest!(self, clarifier);
                let problem = Problem::clone(problem).conv();
                let catalog = Catalog::clone(catalog).conv();
                let graph = Graph::clone(graph).conv();
                let seen = Conv::<Vec<wit::Observation>>::conv(seen.to_vec());
                let returned = call!(self, guest.call_assess(&problem, &catalog, &graph, &seen));
                self.convert_returned(export, returned).map(RoleResult::Questions)
            }
            RoleCall::Aggregate { problem, graph, finished, seen } => {
                let guest = guest!(self, aggregator);
                let mut lent = Vec::with_capacity(finished.len());
                for Finished { name, task, candidate, others, results } in finished.iter().cloned()
                {
                    let results = self.lend(export, &results)?;
                    let task = task.conv();
                    let candidate = candidate.conv();
                    let others = others.conv();
                    let finished =
                        export::aggregator::Finished { name, task, candidate, others, results };
                    lent.push(finished);
                }
                let problem = Problem::clone(problem).conv();
                let graph = Graph::clone(graph).conv();
                let seen: Vec<wit::Observation> = seen.to_vec().conv();
                let returned = call!(self, guest.call_aggregate(&problem, &graph, &lent, &seen));
                self.convert_returned(export, returned).map(RoleResult::Answer)
            }
            RoleCall::Rewrite { original, best, plan, catalog, history } => {
                let guest = guest!(self, rewriter);
                let plan = Plan::clone(plan).conv();
                let catalog = Catalog::clone(catalog).conv();
                let history: Vec<export::rewriter::Attempt> = history.to_vec().conv();
                let returned =
                    call!(self, guest.call_rewrite(original, best, &plan, &catalog, &history));
                self.convert_returned(export, returned).map(RoleResult::Proposal)
            }
        }
    }
}

/// Calls a role where the plugin runs, and takes the result of that kind.
macro_rules! run {
    ($self:ident, $call:ident, $kind:ident, $function:ident { $($field:ident),* }) => {{
        let made = RoleCall::$function { $($field: Cow::Borrowed($field)),* };
        run!($self, $call, $kind, made)
    }};
    ($self:ident, $call:ident, $kind:ident, $made:ident) => {
        match $self.run($call, &$made).await? {
            RoleResult::$kind(result) => Ok(result),
            // The result was compared with the call.
            _ => Err($self.other_result($made.export())),
        }
    };
}

#[async_trait]
impl Linker for Configured {
    async fn link(
        &self,
        call: Call,
        problem: &Problem,
        catalog: &Catalog,
    ) -> Result<Linked, RoleError> {
        run!(self, call, Linked, Link { problem, catalog })
    }
}

#[async_trait]
impl Planner for Configured {
    async fn plan(
        &self,
        call: Call,
        problem: &Problem,
        catalog: &Catalog,
    ) -> Result<Graph, RoleError> {
        run!(self, call, Graph, Plan { problem, catalog })
    }

    async fn next(
        &self,
        call: Call,
        problem: &Problem,
        catalog: &Catalog,
        graph: &Graph,
        seen: &[Observation],
        fresh: usize,
    ) -> Result<Step, RoleError> {
        let made = RoleCall::Next {
            problem: Cow::Borrowed(problem),
            catalog: Cow::Borrowed(catalog),
            graph: Cow::Borrowed(graph),
            seen: Cow::Borrowed(seen),
            fresh,
        };
        run!(self, call, Step, made)
    }
}

#[async_trait]
impl Solver for Configured {
    async fn solve(
        &self,
        call: Call,
        problem: &Problem,
        catalog: &Catalog,
        task: &Task,
        parents: &[Parent],
    ) -> Result<Outcome, RoleError> {
        run!(self, call, Outcome, Solve { problem, catalog, task, parents })
    }
}

#[async_trait]
impl Calibrator for Configured {
    async fn calibrate(
        &self,
        call: Call,
        claims: &[(f64, Signals)],
    ) -> Result<Vec<f64>, RoleError> {
        run!(self, call, Calibrated, Calibrate { claims })
    }
}

#[async_trait]
impl Reward for Configured {
    async fn judge(
        &self,
        call: Call,
        problem: &Problem,
        catalog: &Catalog,
        task: &Task,
        rivals: &[Rival],
    ) -> Result<Vec<Verdict>, RoleError> {
        run!(self, call, Verdicts, Judge { problem, catalog, task, rivals })
    }
}

#[async_trait]
impl Clarifier for Configured {
    async fn assess(
        &self,
        call: Call,
        problem: &Problem,
        catalog: &Catalog,
        graph: &Graph,
        seen: &[Observation],
    ) -> Result<Vec<Question>, RoleError> {
        run!(self, call, Questions, Assess { problem, catalog, graph, seen })
    }
}

#[async_trait]
impl Aggregator for Configured {
    async fn aggregate(
        &self,
        call: Call,
        problem: &Problem,
        graph: &Graph,
        finished: &[Finished],
        seen: &[Observation],
    ) -> Result<Option<Answer>, RoleError> {
        run!(self, call, Answer, Aggregate { problem, graph, finished, seen })
    }
}

#[async_trait]
impl Rewriter for Configured {
    async fn rewrite(
        &self,
        call: Call,
        original: &str,
        best: &str,
        plan: &Plan,
        catalog: &Catalog,
        history: &[Attempt],
    ) -> Result<Option<Proposal>, RoleError> {
        run!(self, call, Proposal, Rewrite { original, best, plan, catalog, history })
    }
}
