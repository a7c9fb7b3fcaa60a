//! The port `evaluate`: the calibrator and the reward of the same search, called for a solver.

use std::sync::Arc;

use async_trait::async_trait;
use syrch_core::ports::{EvaluatePort, Flight, HOST, PortError, Relation, Ticket};
use syrch_core::roles::{Calibrator, Reward, Rival, Role};
use syrch_core::{Candidate, CandidateId, RoleError, Signals, Task, Verdict};
use syrch_journal::CallId;
use syrch_layers::Allowance;

use crate::context::prepare::Prepared;
use crate::context::{Context, Judged};

/// The reports of the reward on statements.
type Reported = Vec<(CandidateId, Judged, Verdict)>;

/// The port of one role call. Nested calls have slots of their own: the caller waits for them and
/// must not starve them.
#[derive(Clone)]
pub(crate) struct EvaluateOfTask {
    pub(crate) context: Arc<Context>,
    pub(crate) task: Option<Arc<Task>>,
    pub(crate) relations: Vec<Relation>,
    /// The role call that waits.
    pub(crate) caller: CallId,
    /// The plugins that have started what is called here; none where the host itself calls.
    pub(crate) starters: Starters,
}

/// The plugins that have started a role call, which does no more than they may: what they want
/// judged would otherwise run statements and ask models beyond their grants.
#[derive(Clone, Default)]
pub(crate) struct Starters {
    /// The roles of these plugins: an untrusted one among them makes the call untrusted.
    pub(crate) roles: Vec<Role>,
    /// The allowances of those that were added, by their digests.
    pub(crate) allowances: Vec<(String, Arc<Allowance>)>,
}

/// The call that another role call waits for, with the plugins that it is made for.
pub(crate) struct Nested {
    pub(crate) caller: CallId,
    pub(crate) ticket: Ticket,
    pub(crate) starters: Starters,
}

impl EvaluateOfTask {
    fn nest(&self, ticket: Ticket) -> Option<Nested> {
        Some(Nested { caller: self.caller, ticket, starters: self.starters.clone() })
    }

    /// The calibrator's values, for what the role call does under that ticket. A fault of its is
    /// noted.
    pub(crate) async fn call_calibrator(
        &self,
        ticket: Ticket,
        claims: &[(f64, Signals)],
    ) -> Result<Vec<f64>, RoleError> {
        let calibrator = self.context.run.plugins.for_role(Role::Calibrator)?;
        let _slot = self.context.acquire_nested_slot().await;
        let from = self.nest(ticket);
        let prepared =
            self.context.start_call(Role::Calibrator, self.task.as_ref(), Vec::new(), from).await;
        let calibrated = calibrator.calibrate(prepared.call.clone(), claims).await;
        prepared.end(calibrated.as_ref().err().cloned(), || ()).await;
        calibrated
    }

    /// The reward's verdicts, for what the role call does under that ticket: one for each
    /// candidate, in order. A fault or a failure of its is noted.
    pub(crate) async fn call_reward(
        &self,
        ticket: Ticket,
        task: &Arc<Task>,
        candidates: Vec<Candidate>,
    ) -> Result<Vec<Verdict>, RoleError> {
        let from = self.nest(ticket);
        let prepared =
            self.context.start_call(Role::Reward, Some(task), self.relations.clone(), from).await;
        let judged = self.judge(&prepared, task, candidates).await;
        let reported = judged.as_ref().map(|(reported, _)| reported.clone()).unwrap_or_default();
        let error = judged.as_ref().err();
        // At a sequence point, so that a replay knows them when the run did.
        let failure = error.filter(|error| matches!(error, RoleError::Failure { .. }));
        prepared
            .end(error.cloned(), || {
                let notes = &self.context.notes;
                for (id, judged, verdict) in &reported {
                    notes.note_verdict(&task.id, judged, verdict);
                    self.context.run.trace.reward(&task.id, id, verdict, judged.is_step());
                }
                failure
                    .into_iter()
                    .for_each(|failure| notes.note_failed_reward(prepared.id, failure.clone()));
            })
            .await;
        judged.map(|(_, verdicts)| verdicts)
    }

    async fn judge(
        &self,
        prepared: &Prepared,
        task: &Arc<Task>,
        candidates: Vec<Candidate>,
    ) -> Result<(Reported, Vec<Verdict>), RoleError> {
        let mut reported = Reported::new();
        let mut verdicts = Vec::with_capacity(candidates.len());
        let mut rivals = Vec::new();
        let mut places = Vec::new();
        for candidate in candidates {
            match prepared.sql.run(&candidate.sql).await {
                Ok(results) => {
                    places.push(verdicts.len());
                    verdicts.push(Verdict::Unavailable(String::new()));
                    rivals.push(Rival { candidate, results });
                }
                Err(error) => {
                    verdicts.push(Verdict::Unavailable(format!("its SQL does not run: {error}")))
                }
            }
        }
        if rivals.is_empty() {
            return Ok((reported, verdicts));
        }
        let problem = &prepared.problem;
        let catalog = &self.context.catalog;
        let _slot = self.context.acquire_nested_slot().await;
        let call = prepared.call.clone();
        let reward = self.context.run.plugins.for_role(Role::Reward)?;
        let judged = reward.judge(call, problem, catalog, task, &rivals).await?;
        for ((place, rival), verdict) in places.into_iter().zip(&rivals).zip(judged) {
            reported.push((rival.candidate.id.clone(), (&rival.candidate).into(), verdict.clone()));
            verdicts[place] = verdict;
        }
        Ok((reported, verdicts))
    }
}

fn unavailable_error(error: &RoleError) -> PortError {
    PortError::Unavailable(error.to_string())
}

#[async_trait]
impl EvaluatePort for EvaluateOfTask {
    async fn calibrate(&self, claims: Vec<(f64, Signals)>) -> Result<Vec<f64>, PortError> {
        self.call_calibrator(HOST, &claims).await.map_err(|error| unavailable_error(&error))
    }

    async fn issue_reward(
        &self,
        ticket: Ticket,
        candidates: Vec<Candidate>,
    ) -> Flight<Result<Vec<Verdict>, PortError>> {
        let this = self.clone();
        Box::pin(async move {
            let Some(task) = &this.task else {
                return Err(PortError::Denied(
                    "a reward judges the candidates of a task".to_owned(),
                ));
            };
            this.call_reward(ticket, task, candidates)
                .await
                .map_err(|error| unavailable_error(&error))
        })
    }
}
