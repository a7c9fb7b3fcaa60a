//! The roles of `core`, implemented by components: arguments are converted and passed in, results
//! are converted and checked.

use std::sync::Arc;

use async_trait::async_trait;
use syrch_core::ports::Plan;
use syrch_core::roles::{
    Aggregator, Answer, Attempt, Calibrator, Call, Clarifier, Finished, Linked, Linker, Outcome,
    Output, Parent, Planner, Proposal, Reward, Rewriter, Rival, Solver,
};
use syrch_core::validate::{self, Invalid};
use syrch_core::{
    Catalog, Graph, Observation, Problem, Question, ResultSet, RoleError, Signals, Step, Task,
    Verdict,
};
use wasmtime::component::Resource;

use crate::bindings::exports::syrch::plugin as export;
use crate::bindings::syrch::plugin::types as wit;
use crate::convert::Conv;
use crate::plugin::{Configured, Session};
use crate::state::Rows;

/// The functions of one role in a session's instance.
macro_rules! guest {
    ($self:ident, $session:ident, $role:ident) => {{
        let loaded = export::$role::GuestIndices::new($self.pre())
            .and_then(|indices| indices.load(&mut *$session.store, &$session.instance));
        $session.convert_result(stringify!($role), loaded)?
    }};
}

impl Session {
    /// The value that a function with a typed failure returned, converted and checked.
    fn convert_returned<W: Conv<T>, T>(
        &mut self,
        export: &str,
        returned: wasmtime::Result<Result<W, wit::Failure>>,
        check: impl Fn(&T) -> Result<(), Invalid>,
    ) -> Result<T, RoleError> {
        match self.convert_result(export, returned)? {
            Ok(value) => {
                let value = value.conv();
                check(&value).map_err(|invalid| self.invalid(export, invalid))?;
                Ok(value)
            }
            Err(failure) => Err(self.failure_error(failure.conv())),
        }
    }

    /// Gives the guest a handle of a result.
    fn lend(
        &mut self,
        export: &str,
        results: &Arc<ResultSet>,
    ) -> Result<Resource<Rows>, RoleError> {
        let pushed = self.store.data_mut().push_rows(Arc::clone(results));
        self.convert_result(export, pushed)
    }
}

#[async_trait]
impl Linker for Configured {
    async fn link(
        &self,
        call: Call,
        problem: &Problem,
        catalog: &Catalog,
    ) -> Result<Linked, RoleError> {
        let mut session = self.session(call).await?;
        let guest = guest!(self, session, linker);
        let lent = problem.clone().conv();
        let whole = catalog.clone().conv();
        let (liveness, idle) = session.liveness();
        let returned =
            liveness.watch(idle, guest.call_link(&mut *session.store, &lent, &whole)).await;
        session.left().await;
        session.convert_returned("linker.link", returned, |linked| {
            validate::linking(linked, catalog, self.limits())
        })
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
        let mut session = self.session(call).await?;
        let guest = guest!(self, session, planner);
        let problem = problem.clone().conv();
        let catalog = catalog.clone().conv();
        let (liveness, idle) = session.liveness();
        let returned =
            liveness.watch(idle, guest.call_plan(&mut *session.store, &problem, &catalog)).await;
        session.left().await;
        session.convert_returned("planner.plan", returned, |graph| {
            validate::graph(graph, self.limits())
        })
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
        let mut session = self.session(call).await?;
        let guest = guest!(self, session, planner);
        let problem = problem.clone().conv();
        let catalog = catalog.clone().conv();
        let graph = graph.clone().conv();
        let seen = Conv::<Vec<wit::Observation>>::conv(seen.to_vec());
        let fresh = u32::try_from(fresh).unwrap_or(u32::MAX);
        let (liveness, idle) = session.liveness();
        let returned = liveness
            .watch(
                idle,
                guest.call_next(&mut *session.store, &problem, &catalog, &graph, &seen, fresh),
            )
            .await;
        session.left().await;
        session
            .convert_returned("planner.next", returned, |step| validate::step(step, self.limits()))
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
        const EXPORT: &str = "solver.solve";
        let mut session = self.session(call).await?;
        let guest = guest!(self, session, solver);
        let mut lent = Vec::with_capacity(parents.len());
        for Parent { task, output, memo } in parents.iter().cloned() {
            let output = match output {
                Output::Relation { name, candidate, results } => {
                    let results = session.lend(EXPORT, &results)?;
                    export::solver::Output::Relation(export::solver::Relation {
                        name,
                        candidate: candidate.conv(),
                        results,
                    })
                }
                Output::Hits(hits) => export::solver::Output::Hits(hits.conv()),
                Output::Failed(failure) => export::solver::Output::Failed(failure.conv()),
            };
            lent.push(export::solver::Parent { task: task.conv(), output, memo });
        }
        let problem = problem.clone().conv();
        let catalog = catalog.clone().conv();
        let task = task.clone().conv();
        let (liveness, idle) = session.liveness();
        let returned = liveness
            .watch(idle, guest.call_solve(&mut *session.store, &problem, &catalog, &task, &lent))
            .await;
        session.left().await;
        session
            .convert_returned(EXPORT, returned, |outcome| validate::outcome(outcome, self.limits()))
    }
}

#[async_trait]
impl Calibrator for Configured {
    async fn calibrate(
        &self,
        call: Call,
        claims: &[(f64, Signals)],
    ) -> Result<Vec<f64>, RoleError> {
        const EXPORT: &str = "calibrator.calibrate";
        let mut session = self.session(call).await?;
        let guest = guest!(self, session, calibrator);
        let lent: Vec<(f64, wit::Signals)> = claims.to_vec().conv();
        let (liveness, idle) = session.liveness();
        let returned = liveness.watch(idle, guest.call_calibrate(&mut *session.store, &lent)).await;
        session.left().await;
        let values = session.convert_result(EXPORT, returned)?;
        validate::calibration(&values, claims.len())
            .map_err(|invalid| session.invalid(EXPORT, invalid))?;
        Ok(values)
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
        const EXPORT: &str = "reward.judge";
        let mut session = self.session(call).await?;
        let guest = guest!(self, session, reward);
        let mut lent = Vec::with_capacity(rivals.len());
        for rival in rivals {
            let results = session.lend(EXPORT, &rival.results)?;
            lent.push(export::reward::Rival { candidate: rival.candidate.clone().conv(), results });
        }
        let problem = problem.clone().conv();
        let catalog = catalog.clone().conv();
        let task = task.clone().conv();
        let (liveness, idle) = session.liveness();
        let returned = liveness
            .watch(idle, guest.call_judge(&mut *session.store, &problem, &catalog, &task, &lent))
            .await;
        session.left().await;
        session.convert_returned(EXPORT, returned, |verdicts: &Vec<Verdict>| {
            validate::verdicts(verdicts, rivals.len(), self.limits())
        })
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
        let mut session = self.session(call).await?;
        let guest = guest!(self, session, clarifier);
        let problem = problem.clone().conv();
        let catalog = catalog.clone().conv();
        let graph = graph.clone().conv();
        let seen = Conv::<Vec<wit::Observation>>::conv(seen.to_vec());
        let (liveness, idle) = session.liveness();
        let returned = liveness
            .watch(idle, guest.call_assess(&mut *session.store, &problem, &catalog, &graph, &seen))
            .await;
        session.left().await;
        session.convert_returned("clarifier.assess", returned, |questions: &Vec<Question>| {
            validate::questions(questions, self.limits())
        })
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
        const EXPORT: &str = "aggregator.aggregate";
        let mut session = self.session(call).await?;
        let guest = guest!(self, session, aggregator);
        let mut lent = Vec::with_capacity(finished.len());
        for Finished { name, task, candidate, others, results } in finished.iter().cloned() {
            let results = session.lend(EXPORT, &results)?;
            let task = task.conv();
            let candidate = candidate.conv();
            let others = others.conv();
            lent.push(export::aggregator::Finished { name, task, candidate, others, results });
        }
        let known: Vec<&str> = finished.iter().map(|each| each.task.id.as_str()).collect();
        let problem = problem.clone().conv();
        let graph = graph.clone().conv();
        let seen: Vec<wit::Observation> = seen.to_vec().conv();
        let (liveness, idle) = session.liveness();
        let returned = liveness
            .watch(idle, guest.call_aggregate(&mut *session.store, &problem, &graph, &lent, &seen))
            .await;
        session.left().await;
        session.convert_returned(EXPORT, returned, |answer: &Option<Answer>| {
            answer.as_ref().map_or(Ok(()), |answer| validate::answer(answer, &known, self.limits()))
        })
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
        let mut session = self.session(call).await?;
        let guest = guest!(self, session, rewriter);
        let plan = plan.clone().conv();
        let catalog = catalog.clone().conv();
        let history: Vec<export::rewriter::Attempt> = history.to_vec().conv();
        let (liveness, idle) = session.liveness();
        let call =
            guest.call_rewrite(&mut *session.store, original, best, &plan, &catalog, &history);
        let returned = liveness.watch(idle, call).await;
        session.left().await;
        session.convert_returned("rewriter.rewrite", returned, |proposal: &Option<Proposal>| {
            proposal.as_ref().map_or(Ok(()), |proposal| validate::proposal(proposal, self.limits()))
        })
    }
}
