//! The work on one task: the solver finds candidates, and the host itself runs, calibrates and
//! judges them.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use syrch_core::ports::{HOST, MAX_QUERY_TEXT, PortError, Relation};
use syrch_core::roles::{Output, Parent, Planner, Role, Solver};
use syrch_core::text::clip;
use syrch_core::{
    Candidate, Doubt, Edit, Ending, Equality, Failure, FailureKind, Graph, Observation, Operation,
    Question, ResultSet, RetrievalQuery, RoleError, Signals, Step, Task, TaskId, Turn, Verdict,
    most_confidence,
};
use syrch_journal::{EventLog, Fact};
use syrch_scheduler::{Ended, Order, Replanner, TaskRunner};

use crate::SearchEvent;
use crate::context::prepare::Prepared;
use crate::context::{Context, Judged};
use crate::report::CandidateStatus;
use crate::settled::Settled;

/// The confidence that is assumed of a model that states none, as in syrch 0.1.2.
const UNSTATED_CONFIDENCE: f64 = 0.7;
/// The confidence in an answer that its reward accepts with a score below this, at most.
pub(crate) const DOUBTED: f64 = 0.5;
/// The doubt about a statement that no reply gave clearly as its answer.
pub(crate) const UNCLEAR: &str =
    "the model's reply does not say clearly which statement is its answer";
/// The beginning of the reason for a candidate that is accepted in doubt.
const DOUBTFUL: &str = "doubtful: ";

/// A solved task's result.
#[derive(Clone)]
pub(crate) struct Solved {
    /// The task that its candidates were made for; a `choose` task takes over another's.
    pub(crate) task: TaskId,
    /// The name by which it stands in FROM.
    pub(crate) name: String,
    pub(crate) candidate: Candidate,
    pub(crate) others: Vec<Candidate>,
    pub(crate) results: Arc<ResultSet>,
    /// The finished tasks that its own SQL may name, each after those that it uses.
    pub(crate) relations: Vec<Relation>,
}

impl Solved {
    /// All that a dependent may name: what this one may, and this one.
    pub(crate) fn relations_for_dependents(&self) -> Vec<Relation> {
        let own = Relation {
            name: self.name.clone(),
            sql: self.candidate.sql.clone(),
            columns: self.results.columns(),
        };
        self.relations.iter().cloned().chain([own]).collect()
    }
}

/// The relations of several finished tasks, each once, in an order in which every one comes after
/// those that it uses.
pub(crate) fn relations_of<'a>(solved: impl IntoIterator<Item = &'a Solved>) -> Vec<Relation> {
    let mut relations: Vec<Relation> = Vec::new();
    for relation in solved.into_iter().flat_map(Solved::relations_for_dependents) {
        if !relations.iter().any(|known| known.name == relation.name) {
            relations.push(relation);
        }
    }
    relations
}

/// Runs the tasks of one search.
pub(crate) struct Runner {
    pub(crate) context: Arc<Context>,
}

#[async_trait]
impl TaskRunner for Runner {
    type Output = Solved;

    async fn run(&self, task: Task, parents: Vec<Ended<Solved>>) -> (Observation, Option<Solved>) {
        let task = Arc::new(task);
        if let Operation::Retrieve(query) = &task.operation {
            return (self.retrieve(&task, query).await, None);
        }
        let relations = relations_of(parents.iter().filter_map(|parent| parent.output.as_ref()));
        let prepared =
            self.context.start_call(Role::Solver, Some(&task), relations.clone(), None).await;
        let parents: Vec<Parent> = parents.into_iter().map(parent).collect();
        let mut question = None;
        let (mut observation, solved, error) =
            self.solve(&task, &prepared, &parents, relations, &mut question).await;
        let mut name = String::new();
        // At the call's sequence point, so that a replay gives the same names and questions.
        prepared
            .end(error, || {
                name = self.context.notes.relation_name(&task.id, &self.context.run.catalog);
                question
                    .into_iter()
                    .for_each(|question| self.context.notes.ask(prepared.id, question));
            })
            .await;
        observation.task.clone_from(&task.id);
        (observation, solved.map(|solved| Solved { name, ..solved }))
    }
}

impl Runner {
    /// A task that is a retrieval query: its hits are those of its observation.
    async fn retrieve(&self, task: &Arc<Task>, query: &RetrievalQuery) -> Observation {
        let prepared = self.context.start_call(Role::Solver, Some(task), Vec::new(), None).await;
        let query =
            RetrievalQuery { text: clip(&query.text, MAX_QUERY_TEXT).to_owned(), ..query.clone() };
        let found = prepared.call.ports.retrieval.find(&[query]).await.into_iter().next();
        prepared.end(None, || ()).await;
        let ended = |ending| Observation::from_ending(&task.id, ending);
        match found {
            Some(Ok(hits)) => Observation {
                hits: hits.clone(),
                ..ended(if hits.is_empty() { Ending::Empty } else { Ending::Solved })
            },
            Some(Err(error)) => {
                let kind = match &error {
                    PortError::Budget => FailureKind::Budget,
                    PortError::Unavailable(_) => FailureKind::Model,
                    _ => FailureKind::Unsupported,
                };
                ended(Ending::Failed(Failure::new(kind, error.to_string())))
            }
            None => {
                ended(Ending::Failed(Failure::new(FailureKind::Internal, "nothing was found out")))
            }
        }
    }

    async fn solve(
        &self,
        task: &Arc<Task>,
        prepared: &Prepared,
        parents: &[Parent],
        relations: Vec<Relation>,
        question: &mut Option<Question>,
    ) -> (Observation, Option<Solved>, Option<RoleError>) {
        let problem = &prepared.problem;
        let catalog = &self.context.catalog;
        let plugins = &self.context.run.plugins;
        if self.context.find_choices().is_some() {
            // The user chooses a reading first.
            return (Observation::from_ending(&task.id, Ending::Cancelled), None, None);
        }
        if let Some(settled) = self.context.find_settled() {
            self.note_origin(settled);
            let confirmed = make_settled_candidate(task, settled);
            let mut observation = Observation::from_ending(&task.id, Ending::Cancelled);
            let chosen =
                self.choose(task, prepared, vec![confirmed], relations, &mut observation).await;
            return match chosen {
                Ok(solved) => (observation, solved, None),
                Err(error) => (self.failure_observation(task, &error), None, Some(error)),
            };
        }
        // A flow names one of its nodes.
        let solver = match task.operation.solver() {
            None => match plugins.for_role(Role::Solver) {
                Ok(solver) => solver,
                Err(error) => return (self.failure_observation(task, &error), None, Some(error)),
            },
            Some(name) => {
                let Some((_, solver)) = plugins.solvers.get(name) else {
                    let why = format!(
                        "the strategy has no solver of the name `{}`",
                        clip(name, 64).escape_default()
                    );
                    let failure = Failure::new(FailureKind::Unsupported, why);
                    return (
                        Observation::from_ending(&task.id, Ending::Failed(failure)),
                        None,
                        None,
                    );
                };
                solver
            }
        };
        let outcome =
            match solver.solve(prepared.call.clone(), problem, catalog, task, parents).await {
                Ok(outcome) => outcome,
                Err(error) => return (self.failure_observation(task, &error), None, Some(error)),
            };
        *question = outcome.ask;
        let mut observation = Observation::from_ending(&task.id, Ending::Cancelled);
        observation.memo = outcome.memo;
        if outcome.candidates.is_empty() && !outcome.subtasks.is_empty() {
            observation.subtasks = outcome.subtasks;
            return (observation, None, None);
        }
        let chosen =
            self.choose(task, prepared, outcome.candidates, relations, &mut observation).await;
        self.cluster(task);
        match chosen {
            Ok(solved) => (observation, solved, None),
            // Without a calibrator or a reward that works no confidence is earned.
            Err(error) => (self.failure_observation(task, &error), None, Some(error)),
        }
    }

    /// Notes the origin of a statement that the definitions of metrics give.
    fn note_origin(&self, settled: Settled<'_>) {
        if let Settled::Given(given) = settled
            && let Ok(origin) = serde_json::from_value(given.origin.clone())
        {
            self.context.notes.note_origin(given.sql.clone(), origin);
        }
    }

    fn failure_observation(&self, task: &Task, error: &RoleError) -> Observation {
        let failure = match error {
            RoleError::Failure { failure, .. } => failure.clone(),
            RoleError::Cancelled | RoleError::Deadline => {
                Failure::new(FailureKind::Cancelled, error.to_string())
            }
            other => Failure::new(FailureKind::Internal, other.to_string()),
        };
        Observation::from_ending(&task.id, Ending::Failed(failure))
    }

    /// Chooses the first candidate that runs and is not rejected. The report has the reason for
    /// each of the others.
    async fn choose(
        &self,
        task: &Arc<Task>,
        prepared: &Prepared,
        candidates: Vec<Candidate>,
        relations: Vec<Relation>,
        observation: &mut Observation,
    ) -> Result<Option<Solved>, RoleError> {
        let mut why = prepared.last_warning();
        let usable = self.run_candidates(task, prepared, candidates, &mut why).await;
        let mut accepted = self.reward_candidates(task, prepared, usable, &mut why).await?;
        self.calibrate(task, prepared, &mut accepted).await?;
        for (candidate, results) in &accepted {
            self.context.run.trace.propose(&task.id, candidate);
            let by_rules = self.context.notes.doubts_of(&candidate.sql);
            let of_rows = most_confidence(results.doubts()).map(|(_, doubt)| doubt.text.as_str());
            let is_unclear = self.context.notes.is_unclear(&task.id, &candidate.sql);
            let of_reply = is_unclear.then_some(UNCLEAR);
            if let Some(doubt) = of_rows.or(by_rules.first().map(String::as_str)).or(of_reply) {
                self.add_doubt(task, candidate, doubt);
            }
        }
        observation.candidates = accepted.iter().map(|(candidate, _)| candidate.clone()).collect();
        let mut accepted = accepted.into_iter();
        let Some((candidate, results)) = accepted.next() else {
            let reason = why.unwrap_or_else(|| "the solver found no candidate".to_owned());
            observation.ending =
                Ending::Failed(Failure::new(FailureKind::Other("no-candidate".to_owned()), reason));
            return Ok(None);
        };
        let profile = results.profile();
        observation.ending = if profile.rows == 0 { Ending::Empty } else { Ending::Solved };
        observation.fingerprint = results.fingerprint(&Equality::Bag, self.context.run.salt);
        observation.profile = Some(profile);
        self.context
            .run
            .trace
            .settle(&task.id, &candidate.id, |known| known.status = CandidateStatus::Kept);
        let others = accepted.map(|(candidate, _)| candidate).collect();
        Ok(Some(Solved {
            task: task.id.clone(),
            name: String::new(),
            candidate,
            others,
            results,
            relations,
        }))
    }

    /// Runs candidates, and returns those that run and whose doubts leave some confidence, with
    /// what their results say in their signals. `why` is the reason for the last of the others.
    async fn run_candidates(
        &self,
        task: &Arc<Task>,
        prepared: &Prepared,
        candidates: Vec<Candidate>,
        why: &mut Option<String>,
    ) -> Vec<(Candidate, Arc<ResultSet>)> {
        let mut usable = Vec::new();
        for mut candidate in candidates {
            self.context.run.trace.propose(&task.id, &candidate);
            match prepared.sql.run(&candidate.sql).await {
                Ok(results) => {
                    if let Some(reason) = why_unacceptable(&self.context, &results) {
                        self.give_reason(task, &candidate, &reason);
                        *why = Some(reason);
                        continue;
                    }
                    let profile = results.profile();
                    candidate.signals.empty_result = profile.rows == 0;
                    let null = profile
                        .columns
                        .iter()
                        .filter(|column| profile.rows > 0 && column.nulls == profile.rows);
                    candidate.signals.null_columns =
                        u32::try_from(null.count()).unwrap_or(u32::MAX);
                    usable.push((candidate, results));
                }
                Err(error) => {
                    let reason = format!("its SQL does not run: {error}");
                    self.give_reason(task, &candidate, &reason);
                    *why = Some(reason);
                }
            }
        }
        usable
    }

    /// Asks the reward about candidates, and returns those that it does not reject, with its score
    /// in their signals. `why` is the reason for the last of the others.
    async fn reward_candidates(
        &self,
        task: &Arc<Task>,
        prepared: &Prepared,
        candidates: Vec<(Candidate, Arc<ResultSet>)>,
        why: &mut Option<String>,
    ) -> Result<Vec<(Candidate, Arc<ResultSet>)>, RoleError> {
        let mut accepted = Vec::new();
        for (mut candidate, results) in candidates {
            let verdict = self.verdict(task, prepared, &candidate).await?;
            let is_step = Judged::from(&candidate).is_step();
            self.context.run.trace.reward(&task.id, &candidate.id, &verdict, is_step);
            candidate.signals.reward = match verdict {
                Verdict::Rejected(opinion) => {
                    let reason = format!("rejected: {}", opinion.reason);
                    self.give_reason(task, &candidate, &reason);
                    *why = Some(reason);
                    continue;
                }
                Verdict::Accepted(opinion) => {
                    if opinion.score < DOUBTED {
                        self.give_reason(
                            task,
                            &candidate,
                            &format!("{DOUBTFUL}{}", opinion.reason),
                        );
                    }
                    Some(opinion.score)
                }
                Verdict::Unavailable(_) => None,
            };
            accepted.push((candidate, results));
        }
        Ok(accepted)
    }

    /// Reports why a candidate was dropped, or is doubtful.
    fn give_reason(&self, task: &Task, candidate: &Candidate, reason: &str) {
        self.context
            .run
            .trace
            .settle(&task.id, &candidate.id, |known| reason.clone_into(&mut known.reason));
    }

    /// Reports a doubt about the result of a candidate, after that of a reward that doubts it.
    fn add_doubt(&self, task: &Task, candidate: &Candidate, doubt: &str) {
        let is_doubted = candidate.signals.reward.is_some_and(|score| score < DOUBTED);
        self.context.run.trace.settle(&task.id, &candidate.id, |known| {
            known.reason = if is_doubted && known.reason.starts_with(DOUBTFUL) {
                format!("{}; {doubt}", known.reason)
            } else {
                format!("{DOUBTFUL}{doubt}")
            };
        });
    }

    /// Overwrites what the guest claims with the calibrator's values, none above what the doubts
    /// about the result, a reward that doubts it and a reply that is not clear leave.
    async fn calibrate(
        &self,
        task: &Task,
        prepared: &Prepared,
        usable: &mut [(Candidate, Arc<ResultSet>)],
    ) -> Result<(), RoleError> {
        if usable.is_empty() {
            return Ok(());
        }
        if let Some(settled) = self.context.find_settled() {
            for (candidate, results) in usable {
                let confidence = limit_confidence(&self.context, settled.confidence(), results);
                candidate.confidence = Some(confidence);
            }
            return Ok(());
        }
        let claims: Vec<_> = usable
            .iter()
            .map(|(candidate, _)| {
                (candidate.raw_confidence.unwrap_or(UNSTATED_CONFIDENCE), candidate.signals.clone())
            })
            .collect();
        let calibrated = prepared.evaluate.call_calibrator(HOST, &claims).await?;
        for ((candidate, results), confidence) in usable.iter_mut().zip(calibrated) {
            let is_doubted = candidate.signals.reward.is_some_and(|score| score < DOUBTED)
                || self.context.notes.is_unclear(&task.id, &candidate.sql);
            let confidence = if is_doubted { confidence.min(DOUBTED) } else { confidence };
            candidate.confidence = Some(limit_confidence(&self.context, confidence, results));
        }
        Ok(())
    }

    /// The reward's verdict: the one it gave while the solver worked, or a new one. A reward that
    /// fails honestly cannot judge; one that is broken ends the task.
    async fn verdict(
        &self,
        task: &Arc<Task>,
        prepared: &Prepared,
        candidate: &Candidate,
    ) -> Result<Verdict, RoleError> {
        if let Some(verdict) = self.context.notes.verdict(&task.id, &candidate.into()) {
            return Ok(verdict);
        }
        // A person has judged it, or the definitions.
        if let Some(settled) = self.context.find_settled() {
            return Ok(Verdict::Unavailable(settled.reason()));
        }
        match prepared.evaluate.call_reward(HOST, task, vec![candidate.clone()]).await {
            Ok(verdicts) => Ok(verdicts
                .into_iter()
                .next()
                .unwrap_or_else(|| Verdict::Unavailable(String::new()))),
            Err(error) if error.is_fault() => Err(error),
            Err(error) => Ok(Verdict::Unavailable(error.to_string())),
        }
    }

    /// Gives candidates with equal results the same number.
    fn cluster(&self, task: &Task) {
        let mut clusters: BTreeMap<String, u32> = BTreeMap::new();
        for known in
            self.context.run.trace.candidates().into_iter().filter(|known| known.task == task.id)
        {
            let Some(fingerprint) = self.context.notes.fingerprint_of(&task.id, &known.sql) else {
                continue;
            };
            let next = u32::try_from(clusters.len()).unwrap_or(u32::MAX).saturating_add(1);
            let number = *clusters.entry(fingerprint).or_insert(next);
            self.context
                .run
                .trace
                .settle(&task.id, &known.id, |known| known.cluster = Some(number));
        }
    }
}

/// The only candidate of a question whose statement is known.
fn make_settled_candidate(task: &Task, settled: Settled<'_>) -> Candidate {
    Candidate {
        id: format!("{}.1", task.id),
        origin: settled.name().to_owned(),
        sql: settled.sql().to_owned(),
        rationale: Some(settled.reason()),
        signals: Signals { attempts: 1, max_attempts: 1, ..Signals::default() },
        ..Candidate::default()
    }
}

/// Returns why a result is no acceptable answer, if a doubt leaves no confidence in it.
pub(crate) fn why_unacceptable(context: &Context, results: &ResultSet) -> Option<String> {
    let doubts = select_doubts(context, results);
    let (_, doubt) = most_confidence(&doubts).filter(|(most, _)| *most <= 0.0)?;
    Some(format!("not acceptable: {}", doubt.text))
}

/// The confidence that the doubts about a result leave.
pub(crate) fn limit_confidence(context: &Context, confidence: f64, results: &ResultSet) -> f64 {
    let doubts = select_doubts(context, results);
    most_confidence(&doubts).map_or(confidence, |(most, _)| confidence.min(most))
}

/// The doubts about a result that count. Whether a statement answers the question is not doubted
/// where a person has confirmed it or the definitions give it.
fn select_doubts(context: &Context, results: &ResultSet) -> Vec<Doubt> {
    let mut doubts = results.doubts().to_vec();
    if context.find_settled().is_some() {
        doubts.retain(|doubt| !doubt.kind.is_about_question());
    }
    doubts
}

fn parent(ended: Ended<Solved>) -> Parent {
    let Ended { task, observation, output } = ended;
    let output = match (output, observation.ending) {
        (Some(solved), _) => Output::Relation {
            name: solved.name,
            candidate: Box::new(solved.candidate),
            results: solved.results,
        },
        (None, Ending::Solved | Ending::Empty) => Output::Hits(observation.hits),
        (None, Ending::Failed(failure)) => Output::Failed(failure),
        (None, Ending::Skipped(reason)) => {
            Output::Failed(Failure::new(FailureKind::Cancelled, reason))
        }
        (None, _) => Output::Failed(Failure::new(FailureKind::Cancelled, "it did not end")),
    };
    Parent { task, output, memo: observation.memo }
}

/// Lets the planner react to observations.
pub(crate) struct PlannerSteps {
    pub(crate) context: Arc<Context>,
}

#[async_trait]
impl Replanner for PlannerSteps {
    async fn next(
        &self,
        graph: &Graph,
        seen: &[Observation],
        fresh: usize,
    ) -> Result<Step, RoleError> {
        let planner = self.context.run.plugins.for_role(Role::Planner)?;
        let prepared = self.context.start_call(Role::Planner, None, Vec::new(), None).await;
        let problem = &prepared.problem;
        let catalog = &self.context.catalog;
        let call = prepared.call.clone();
        let step = planner.next(call, problem, catalog, graph, seen, fresh).await;
        prepared.end(step.as_ref().err().cloned(), || ()).await;
        step
    }
}

/// Lets the journal order what the scheduler takes.
pub(crate) struct RecordedOrder(pub(crate) Arc<EventLog>);

#[async_trait]
impl Order for RecordedOrder {
    fn is_replaying(&self) -> bool {
        self.0.is_replaying()
    }

    async fn next(&self) -> Option<Turn> {
        self.0.next_turn().await
    }

    async fn took(&self, turn: Turn) {
        self.0.took(turn).await;
    }

    async fn closing(&self, task: Option<&TaskId>) {
        match task {
            Some(task) => self.0.close_task(task).await,
            None => self.0.close_role(Role::Planner).await,
        }
    }
}

/// Reports tasks as they start and end.
pub(crate) struct WatchTasks {
    pub(crate) context: Arc<Context>,
}

impl syrch_scheduler::Watch for WatchTasks {
    fn on_begin(&self, graph: &Graph) {
        self.context.run.event_log.fact(Fact::Graph(graph.clone()));
        self.context.run.trace.tasks(&graph.tasks, &graph.answer);
    }

    fn on_expansion(&self, task: &Task, subtasks: &[Task]) {
        self.context
            .run
            .event_log
            .fact(Fact::Expanded { task: task.id.clone(), subtasks: subtasks.to_vec() });
        self.context.run.trace.tasks(subtasks, "");
    }

    fn on_edit(&self, edits: &[Edit]) {
        self.context.run.event_log.fact(Fact::Edited { edits: edits.to_vec() });
        let answer = edits.iter().find_map(|edit| match edit {
            Edit::Answer(task) => Some(task.as_str()),
            _ => None,
        });
        let tasks = edits.iter().filter_map(|edit| match edit {
            Edit::Add(task) | Edit::Update(task) => Some(task),
            _ => None,
        });
        self.context.run.trace.tasks(tasks, answer.unwrap_or_default());
    }

    fn on_start(&self, task: &Task) {
        self.context.run.event_log.fact(Fact::Started { task: task.id.clone() });
        self.context
            .run
            .trace
            .event(&SearchEvent::TaskStarted { id: task.id.clone(), text: task.text.clone() });
    }

    fn on_end(&self, _: &Task, observation: &Observation) {
        self.context.run.event_log.fact(Fact::Ended(observation.clone()));
        let ending = match &observation.ending {
            Ending::Solved => "solved".to_owned(),
            Ending::Empty => "solved, no rows".to_owned(),
            Ending::Failed(failure) => format!("failed: {failure}"),
            Ending::Skipped(reason) => format!("skipped: {reason}"),
            Ending::Cancelled => "cancelled".to_owned(),
            Ending::Other(name) => name.clone(),
        };
        let confidence = observation.candidates.first().and_then(|candidate| candidate.confidence);
        self.context.run.trace.event(&SearchEvent::TaskEnded {
            id: observation.task.clone(),
            ending,
            confidence,
        });
    }

    fn on_refusal(&self, reason: &str) {
        self.context.run.event_log.fact(Fact::Refused { reason: reason.to_owned() });
        let message = format!("a step of the planner was refused: {reason}");
        let call = "planner".to_owned();
        let level = syrch_core::ports::Level::Warn;
        self.context.run.trace.event(&SearchEvent::Note { call, level, message });
    }
}

#[cfg(test)]
mod tests {
    use arrow_schema::Schema;

    use super::*;

    fn make_solved(name: &str, parents: &[&Solved]) -> Solved {
        let results =
            ResultSet::new(Arc::new(Schema::empty()), Vec::new(), false, Vec::new(), String::new());
        Solved {
            task: name.to_owned(),
            name: name.to_owned(),
            candidate: Candidate { sql: format!("SELECT '{name}'"), ..Candidate::default() },
            others: Vec::new(),
            results: Arc::new(results),
            relations: relations_of(parents.iter().copied()),
        }
    }

    #[test]
    fn a_relation_comes_once_and_after_those_that_it_uses() {
        let a = make_solved("a", &[]);
        let b = make_solved("b", &[&a]);
        let c = make_solved("c", &[&a]);
        let d = make_solved("d", &[&b, &c]);
        fn names(solved: &[&Solved]) -> Vec<String> {
            relations_of(solved.iter().copied()).into_iter().map(|relation| relation.name).collect()
        }
        assert_eq!(names(&[&d]), ["a", "b", "c", "d"]);
        assert_eq!(names(&[&c, &b]), ["a", "c", "b"]);
    }
}
