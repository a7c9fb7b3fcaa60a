//! The steps of a search: plan, execute the graph, make the answer; with nothing acceptable, ask
//! the user and start over.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use syrch_core::ledger::Exhausted;
use syrch_core::result_set::digest64;
use syrch_core::roles::{Clarifier, Linker, Planner, Role};
use syrch_core::{
    Ending, FailureKind, Graph, Join, Observation, Operation, Problem, Question, RoleError,
    SqlError, SqlErrorKind, Task, TaskId,
};
use syrch_journal::{Fact, RowRetention};
use syrch_scheduler::{End, Options, Replanner, Run, execute};

use crate::answer::{Times, Worked, document};
use crate::audit::name_grant;
use crate::context::{Context, RunState};
use crate::ground::{Grounded, aggregate};
use crate::host::Host;
use crate::report::CandidateStatus;
use crate::runner::{PlannerSteps, RecordedOrder, Runner, Solved, WatchTasks};
use crate::settled::ask_for_choice;
use crate::{Ask, Error, Outcome, SearchEvent, SearchReport};

/// The limit on the time for making the answer, or a question to the user, once the user or the
/// deadline has stopped the search.
const SHUTDOWN: Duration = Duration::from_secs(2);

/// The time that tasks under way have after that to end with what they have found. Their model
/// calls are cancelled, so that most need some milliseconds.
const GRACE: Duration = Duration::from_secs(1);

/// Searches from the first wording of the problem to the end.
pub(crate) async fn search(
    host: &Host,
    mut problem: Problem,
    run: &Arc<RunState>,
    ask: Option<&dyn Ask>,
) -> Result<SearchReport, Error> {
    let question = problem.question.clone();
    let stop = &run.clock.stop;
    let mut round = 0;
    loop {
        run.event_log.fact(Fact::Round { number: round });
        let context = link_catalog(Arc::new(Context::new(host, problem.clone(), run))).await?;
        let may_ask = run.event_log.decide_by_time("may-ask", || ask.is_some()).await
            && round < run.settings.max_questions;
        let attempt = Attempt::make(&context, may_ask).await;
        let interrupted = run.event_log.decide_by_time("interrupted", || stop.is_triggered()).await;
        // Whatever fails after Ctrl-C, the user wanted an end and gets it.
        let attempt =
            attempt.map_err(|error| if interrupted { Error::Interrupted } else { error })?;
        if let Some(question) = attempt.question.as_ref().filter(|_| may_ask)
            && let Some(answer) = answer(run, ask, question).await
        {
            problem.answers.push((question.text.clone(), answer));
            round += 1;
            run.trace.restart(round);
            run.event_log.restart();
            run.trace.event(&SearchEvent::Refined { round });
            continue;
        }
        // Ctrl-C may have come instead of an answer.
        let interrupted = interrupted
            || run.event_log.decide_by_time("interrupted", || stop.is_triggered()).await;
        return attempt.report(&question, &context, interrupted);
    }
}

/// The problem with the linker's hints, over the linker's selection.
pub(crate) async fn link(
    host: &Host,
    problem: Problem,
    run: &Arc<RunState>,
) -> Result<Arc<Context>, Error> {
    link_catalog(Arc::new(Context::new(host, problem, run))).await
}

/// Makes one pass over a problem that was linked before, for the requests that it sends.
pub(crate) async fn attempt(context: &Arc<Context>) -> Result<(), Error> {
    Attempt::make(context, false).await.map(drop)
}

/// The user's answer, from the event log where it holds one; `None` if there is none or the user
/// ends the search instead. The time in which the user thinks does not count against the deadline.
async fn answer(run: &RunState, ask: Option<&dyn Ask>, question: &Question) -> Option<String> {
    let asked = Instant::now();
    let of_user = async {
        let ask = ask?;
        tokio::select! {
            biased;
            () = run.clock.stop.wait_until_triggered() => None,
            answer = ask.ask(question) => answer,
        }
    };
    let answer = run.event_log.user(question, of_user).await;
    run.clock.allow(asked.elapsed());
    answer
}

/// A name for the run that no other run has.
pub fn run_id(question: &str) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let place = std::ptr::from_ref(&now) as usize;
    let parts = [now.as_nanos().to_string(), std::process::id().to_string(), place.to_string()];
    format!("{:016x}", digest64(&[question, &parts[0], &parts[1], &parts[2]]))
}

/// One pass over one wording of the problem.
struct Attempt {
    grounded: Option<Grounded>,
    question: Option<Question>,
    /// True if some task has a result, however doubtful.
    any_result: bool,
    /// The error of a grant that stopped a plugin, without an answer.
    lack: Option<Error>,
    graph: Graph,
    end: End,
    seen: Vec<Observation>,
    times: Times,
    warnings: Vec<String>,
}

impl Attempt {
    /// Makes it. `may_ask`: whether the user can be asked now.
    async fn make(context: &Arc<Context>, may_ask: bool) -> Result<Self, Error> {
        let clock = Instant::now();
        let event_log = &context.run.event_log;
        let is_settled = context.find_settled().is_some() || context.find_choices().is_some();
        let graph = match is_settled {
            true => single_task(context),
            false => plan(context).await?,
        };
        let plan_time = clock.elapsed();
        context.run.trace.event(&SearchEvent::Planned { tasks: graph.tasks.len() });
        let runner = Arc::new(Runner { context: Arc::clone(context) });
        let watch = WatchTasks { context: Arc::clone(context) };
        let steps = PlannerSteps { context: Arc::clone(context) };
        let replanner: Option<&dyn Replanner> = if is_settled { None } else { Some(&steps) };
        let order = RecordedOrder(Arc::clone(event_log));
        let options = options(&context.run);
        let run =
            execute(graph, runner, replanner, &watch, &order, &options, &context.run.clock.stop)
                .await;
        let run = run.map_err(|error| {
            Error::PluginFailed(RoleError::Invalid {
                plugin: context.run.plugins.name(Role::Planner),
                export: "planner.plan".to_owned(),
                detail: error.to_string(),
            })
        })?;
        let solve_time = clock.elapsed() - plan_time;
        let tasks: Vec<TaskId> = run.graph.tasks.iter().map(|task| task.id.clone()).collect();
        context.run.trace.order(&tasks);
        let mut warnings = Vec::new();
        let grounded = tokio::select! {
            biased;
            grounded = aggregate(context, &run, &mut warnings) => grounded,
            () = event_log.over(Role::Aggregator, shutdown(context)) => {
                return Err(deadline_error(context));
            }
        };
        let mut grounded = match grounded {
            Ok(grounded) => grounded,
            Err(error) => return Err(role_failed(context, Role::Aggregator, error).await),
        };
        if let Some(grounded) = &mut grounded {
            grounded.answer.confidence =
                grounded.answer.confidence.min(context.notes.most_confidence());
        }
        let lack = match grounded {
            Some(_) => None,
            None => context.run.grant_error().await,
        };
        let is_stopped_by_grants = lack.is_some();
        let question = tokio::select! {
            biased;
            question = clarify(context, &run, grounded.as_ref(), is_stopped_by_grants, may_ask) => {
                question?
            }
            () = event_log.over(Role::Clarifier, shutdown(context)) => None,
        };
        let times = Times {
            total: context.run.clock.started.elapsed(),
            plan: plan_time,
            solve: solve_time,
            aggregate: clock.elapsed() - plan_time - solve_time,
        };
        let any_result = run.ended.values().any(|ended| ended.output.is_some());
        let is_stopped =
            event_log.decide_by_time("stopped", || context.run.clock.stop.is_triggered()).await;
        let is_late = event_log.decide_by_time("late", || context.run.clock.is_over()).await;
        let end = match run.end {
            End::Complete | End::Finished if is_stopped => End::Stopped,
            End::Complete | End::Finished if is_late => End::Deadline,
            end => end,
        };
        Ok(Self {
            grounded,
            question,
            any_result,
            lack,
            graph: run.graph,
            end,
            seen: run.seen,
            times,
            warnings,
        })
    }

    /// The outcome for the caller: an answer, a question, nothing acceptable, or the error that is
    /// to blame.
    fn report(
        mut self,
        asked: &str,
        context: &Context,
        interrupted: bool,
    ) -> Result<SearchReport, Error> {
        // A question that the user cannot answer now is reported instead of a doubtful answer.
        // The rules know what they lack; a model may be out of order.
        let by_rules = context.run.settings.model.is_by_rules();
        let by_rules = by_rules || context.find_choices().is_some();
        let can_choose = |question: &Question| by_rules && !question.choices.is_empty();
        let doubtful = self.question.as_ref().is_some_and(|question| {
            self.any_result || !context.notes.list_asks().is_empty() || can_choose(question)
        });
        let outcome = match (&self.grounded, doubtful) {
            (_, true) if !interrupted => Outcome::ClarificationNeeded,
            (Some(grounded), _) if is_below(grounded, context) => {
                self.warnings.extend(refuse(grounded, context));
                Outcome::NoAnswer
            }
            (Some(_), _) if self.is_cut_short(context) => Outcome::Partial,
            (Some(_), _) => Outcome::Answered,
            (None, _) if interrupted => return Err(Error::Interrupted),
            (None, _) => {
                self.blame(context)?;
                Outcome::NoAnswer
            }
        };
        if !matches!(outcome, Outcome::Answered | Outcome::Partial) {
            self.grounded = None;
        }
        if outcome != Outcome::ClarificationNeeded {
            self.question = None;
        }
        self.warn(context, outcome);
        let Self { grounded, question, graph, seen, times, warnings, .. } = self;
        let worked = Worked { graph: &graph, seen: &seen };
        let document =
            document(asked, context, worked, grounded.as_ref(), question.as_ref(), times, warnings);
        let data = grounded.map(|grounded| grounded.results);
        let request = document.sql.as_deref().and_then(|sql| context.run.requests.find(sql));
        Ok(SearchReport { outcome, interrupted, document, data, graph, request })
    }

    /// Returns whether a budget or the time ended while parts of the question were open.
    fn is_cut_short(&self, context: &Context) -> bool {
        let is_over = self.end == End::Deadline || find_exhausted(context).is_some();
        is_over && self.count_open_parts().0 > 0
    }

    /// The parts that the answer needs and that were not solved, and all that it needs. Of
    /// alternatives, one is enough.
    fn count_open_parts(&self) -> (usize, usize) {
        let mut needed: Vec<&Task> =
            self.graph.tasks.iter().filter(|task| task.id == self.graph.answer).collect();
        let mut at = 0;
        while let Some(task) = needed.get(at).copied().filter(|_| at < self.graph.tasks.len()) {
            let all =
                self.graph.tasks.iter().filter(|other| {
                    task.join == Join::AllOf && task.depends_on.contains(&other.id)
                });
            let new: Vec<&Task> =
                all.filter(|other| needed.iter().all(|known| known.id != other.id)).collect();
            needed.extend(new);
            at += 1;
        }
        let is_solved = |task: &&Task| {
            let ended = self.seen.iter().rfind(|observation| observation.task == task.id);
            ended.is_some_and(|observation| {
                matches!(observation.ending, Ending::Solved | Ending::Empty)
            })
        };
        let parts: Vec<&Task> =
            needed.into_iter().filter(|task| task.operation == Operation::Solve).collect();
        (parts.iter().filter(|task| !is_solved(task)).count(), parts.len())
    }

    /// Checks, without an answer, whether a plugin, the endpoint, the database or a budget is to
    /// blame.
    fn blame(&mut self, context: &Context) -> Result<(), Error> {
        // A plugin may stumble over what the endpoint, the database or a budget did, but has no
        // excuse for a trap.
        let (stumbled, broke): (Vec<RoleError>, Vec<RoleError>) = context
            .notes
            .faults()
            .into_iter()
            .partition(|fault| matches!(fault, RoleError::Failure { .. }));
        if let Some(fault) = broke.into_iter().next() {
            return Err(match self.lack.take() {
                Some(lack) if is_set_by(&fault, &lack) => lack,
                _ => Error::PluginFailed(fault),
            });
        }
        if let Some(outage) = context.notes.model_error() {
            return Err(outage.into_error(&context.run.settings.model.model));
        }
        if let Some(outage) = context.notes.outage() {
            return Err(Error::Sql(outage));
        }
        if let Some(denied) = context.run.denial_error() {
            return Err(denied);
        }
        // Of the rules, for which the user asked; a model or a plugin may want to write by mistake.
        fn asks_for_change(context: &Context) -> bool {
            let rules = context.run.settings.model.rules();
            rules.is_some_and(|rules| (rules.asks_for_change)(&context.problem.question))
        }
        if context.notes.has_refused_write() && asks_for_change(context) {
            let message =
                "the question asks to change data; nothing was changed, since a search only reads";
            return Err(Error::Sql(SqlError::new(SqlErrorKind::WriteRefused, message)));
        }
        if self.end == End::Deadline {
            let seconds = context.run.settings.deadline.unwrap_or_default().as_secs_f64();
            return Err(Error::Deadline(seconds));
        }
        match (find_exhausted(context), stumbled.into_iter().next()) {
            (Some(exhausted), _) => Err(Error::Budget(exhausted)),
            (None, stumbled) => match (self.lack.take(), stumbled) {
                (Some(lack), _) => Err(lack),
                (None, Some(fault)) => Err(Error::PluginFailed(fault)),
                (None, None) => Ok(()),
            },
        }
    }

    /// Adds warnings about failed tasks, plugins, the model, budgets and an early end.
    fn warn(&mut self, context: &Context, outcome: Outcome) {
        for observation in &self.seen {
            match &observation.ending {
                Ending::Failed(failure) => {
                    self.warnings.push(format!("task {} failed: {failure}", observation.task))
                }
                Ending::Skipped(reason) => {
                    self.warnings.push(format!("task {} was skipped: {reason}", observation.task))
                }
                _ => {}
            }
        }
        self.warnings.extend(context.run.denial_error().map(|denied| denied.to_string()));
        self.warnings.extend(cut_off(context));
        self.warnings.extend(describe_excess(context));
        if let Outcome::Partial = outcome {
            let (open, all) = self.count_open_parts();
            let what = format!(
                "{open} of {all} parts of the question were not answered: this is what was found"
            );
            self.warnings.push(what);
        }
        if matches!(outcome, Outcome::Answered | Outcome::Partial) {
            self.warnings.extend(context.notes.faults().iter().map(ToString::to_string));
            self.warnings.extend(
                context
                    .notes
                    .reward_failure()
                    .map(|error: RoleError| format!("some candidates were not judged: {error}")),
            );
            self.warnings.extend(context.notes.model_error().map(|outage| outage.message));
            self.warnings.extend(
                find_exhausted(context).map(|which| format!("the budget is used up: {which}")),
            );
            match self.end {
                End::Deadline => {
                    self.warnings.push("the deadline passed: this is the best so far".to_owned())
                }
                End::Stopped => {
                    self.warnings.push("interrupted: this is the best so far".to_owned())
                }
                End::Complete | End::Finished => {}
            }
        }
    }
}

/// The warning of replies that were cut off and not used. Their limit is the user's, or a lower
/// one: of the budget, a plugin, the endpoint, or a shape that needs no more.
fn cut_off(context: &Context) -> Option<String> {
    let (count, least, most) = context.notes.cut_off();
    let replies = match count {
        0 => return None,
        1 => "1 reply of the model was".to_owned(),
        count => format!("{count} replies of the model were"),
    };
    let limit = if least == most {
        format!("the limit of {most} tokens")
    } else {
        format!("limits of {least} to {most} tokens")
    };
    let advice = if most >= context.run.settings.model.max_tokens {
        "--max-tokens raises it"
    } else {
        "it is below --max-tokens, which does not raise it"
    };
    Some(format!("{replies} cut off at {limit} and not used; {advice}"))
}

/// The warning of calls that cost more than the limit, since the endpoint reports more for them
/// than their prices say.
fn describe_excess(context: &Context) -> Option<String> {
    let (cost, limit) = context.run.ledger.cost_over_limit()?;
    let [cost, limit] = [cost, limit].map(|micros| micros as f64 / 1e6);
    Some(format!(
        "the calls cost ${cost:.4}, over the limit of ${limit:.4}: the endpoint reports more for a \
         call than the prices that are set; no further call was made"
    ))
}

fn find_exhausted(context: &Context) -> Option<Exhausted> {
    context.run.ledger.spending().exhausted.into_iter().next()
}

/// The search over the linker's selection from the catalog, if there is a linker. One that fails
/// honestly is no reason not to search; Ctrl-C and the deadline end the wait for it, and then the
/// planner's.
async fn link_catalog(context: Arc<Context>) -> Result<Arc<Context>, Error> {
    let Some(linker) = context.run.plugins.get(Role::Linker) else { return Ok(context) };
    if context.find_settled().is_some() || context.find_choices().is_some() {
        return Ok(context);
    }
    let prepared = context.start_call(Role::Linker, None, Vec::new(), None).await;
    let linking = async {
        let linked = linker.link(prepared.call.clone(), &prepared.problem, &context.catalog).await;
        prepared.end(linked.as_ref().err().cloned(), || ()).await;
        linked
    };
    let linked = tokio::select! {
        biased;
        linked = linking => linked,
        () = context.run.event_log.over(
            Role::Linker, context.run.clock.wait_until_over()
        ) => return Ok(context),
    };
    match linked {
        Ok(linked) => {
            let mut tables = linked.tables.clone();
            let of = context.catalog.tables.len();
            let selected = if tables.is_empty() { of } else { tables.len() };
            if context.run.settings.journal.rows == RowRetention::None {
                // A linker that sees cells may quote them.
                tables.iter_mut().for_each(|relevant| relevant.reason.clear());
            }
            let narrowed = Arc::new(context.narrow(linked));
            context.run.trace.event(&SearchEvent::Linked { selected, of });
            context.run.event_log.fact(Fact::Linked {
                tables,
                of,
                hints: narrowed.problem.hints.len(),
            });
            Ok(narrowed)
        }
        Err(error) if error.is_fault() => Err(blame_fault(&context, error).await),
        Err(error) => {
            context.run.trace.warn(&format!("the whole catalog is shown: {error}"));
            Ok(context)
        }
    }
}

/// The graph of a question that one statement answers.
fn single_task(context: &Context) -> Graph {
    let id = context.find_settled().map_or("choice", |settled| settled.name()).to_owned();
    let text = context.problem.question.clone();
    let task = Task { id, text, ..Task::default() };
    Graph { answer: task.id.clone(), tasks: vec![task], memo: None }
}

/// The planner's graph. Ctrl-C and the deadline end the wait for it.
async fn plan(context: &Arc<Context>) -> Result<Graph, Error> {
    let planner = context.run.plugins.for_role(Role::Planner).map_err(Error::PluginFailed)?;
    let prepared = context.start_call(Role::Planner, None, Vec::new(), None).await;
    let planning = async {
        let call = prepared.call.clone();
        let planned = planner.plan(call, &prepared.problem, &context.catalog).await;
        prepared.end(planned.as_ref().err().cloned(), || ()).await;
        planned
    };
    let planned = tokio::select! {
        biased;
        planned = planning => planned,
        () = context.run.event_log.over(
            Role::Planner, context.run.clock.wait_until_over()
        ) => return Err(deadline_error(context)),
    };
    match planned {
        Ok(graph) => Ok(graph),
        Err(error) => Err(role_failed(context, Role::Planner, error).await),
    }
}

/// Ends a while after the search's time is over.
async fn shutdown(context: &Context) {
    context.run.clock.wait_until_over().await;
    tokio::time::sleep(SHUTDOWN).await;
}

/// The error of a search whose time is over before there is an answer.
fn deadline_error(context: &Context) -> Error {
    match context.run.settings.deadline {
        Some(deadline) if !context.run.clock.stop.is_triggered() => {
            Error::Deadline(deadline.as_secs_f64())
        }
        _ => Error::Interrupted,
    }
}

/// Returns the error for a plugin that broke a limit or trapped: the grant that sets the limit, or
/// the plugin.
async fn blame_fault(context: &Context, fault: RoleError) -> Error {
    if !matches!(fault, RoleError::Limit { .. }) {
        return Error::PluginFailed(fault);
    }
    match context.run.grant_error().await {
        Some(lack) if is_set_by(&fault, &lack) => lack,
        _ => Error::PluginFailed(fault),
    }
}

/// Returns whether a fault is a limit that this grant sets.
fn is_set_by(fault: &RoleError, lack: &Error) -> bool {
    match (fault, lack) {
        (RoleError::Limit { limit, .. }, Error::GrantUsedUp { grant, .. }) => {
            grant.split('=').next() == Some(name_grant(limit))
        }
        _ => false,
    }
}

/// A role without which there is no search has failed: who is to blame?
async fn role_failed(context: &Context, role: Role, error: RoleError) -> Error {
    let RoleError::Failure { failure, .. } = &error else {
        return blame_fault(context, error).await;
    };
    // A call that was cancelled because the time was over is no failure of the strategy.
    if context.run.event_log.decide_by_time("role-failed", || context.run.clock.is_over()).await {
        return deadline_error(context);
    }
    if let Some(outage) = context.notes.model_error() {
        return outage.into_error(&context.run.settings.model.model);
    }
    if let Some(outage) = context.notes.outage().filter(|_| failure.kind == FailureKind::Database) {
        return Error::Sql(outage);
    }
    if let Some(denied) = context.run.denial_error() {
        return denied;
    }
    if find_exhausted(context).is_none()
        && let Some(lack) = context.run.grant_error().await
    {
        return lack;
    }
    match (&failure.kind, find_exhausted(context)) {
        (FailureKind::Budget | FailureKind::Internal, Some(exhausted)) => Error::Budget(exhausted),
        (FailureKind::Internal, _) => Error::PluginFailed(error),
        _ => Error::Strategy { role: role.name().to_owned(), message: error.to_string() },
    }
}

/// Returns the limits of the scheduler for one pass.
fn options(run: &RunState) -> Options {
    Options {
        max_parallel: run.settings.policy.max_parallel as usize,
        max_rounds: run.settings.policy.max_rounds,
        deadline: run.clock.deadline(),
        grace: GRACE,
        limits: run.settings.limits.clone(),
    }
}

/// Returns the question that the user should be asked: the solver's own question first, then the
/// clarifier's. A sure answer needs none.
async fn clarify(
    context: &Arc<Context>,
    run: &Run<Solved>,
    grounded: Option<&Grounded>,
    is_stopped_by_grants: bool,
    may_ask: bool,
) -> Result<Option<Question>, Error> {
    let is_late =
        context.run.event_log.decide_by_time("clarify", || context.run.clock.is_over()).await;
    let stopped = matches!(run.end, End::Stopped | End::Deadline) || is_late;
    if let Some(choices) = context.find_choices().filter(|_| !stopped) {
        return Ok(Some(ask_for_choice(choices)));
    }
    let sure = grounded.is_some_and(|grounded| {
        grounded.answer.confidence >= context.run.settings.policy.high_confidence
    });
    // Asking the user does not mend a plugin, an endpoint, a database or an exhausted budget.
    let is_unreachable = context.notes.model_error().is_some()
        || context.notes.outage().is_some()
        || context.run.denial_error().is_some()
        || is_stopped_by_grants;
    let broken =
        !context.notes.faults().is_empty() || is_unreachable || find_exhausted(context).is_some();
    if stopped || sure || (grounded.is_none() && broken) {
        return Ok(None);
    }
    if let (None, Some(question)) = (grounded, context.notes.list_asks().into_iter().next()) {
        return Ok(Some(question));
    }
    // A question that would not be shown is not thought of, nor one about replies that held no
    // statement at all.
    let by_rules = context.run.settings.model.is_by_rules();
    let is_hidden = !may_ask && !by_rules && run.ended.values().all(|ended| ended.output.is_none());
    let is_shapeless = context.notes.is_shapeless() && context.run.trace.candidates().is_empty();
    if grounded.is_none() && (is_hidden || is_shapeless) {
        return Ok(None);
    }
    let clarifier = context.run.plugins.for_role(Role::Clarifier).map_err(Error::PluginFailed)?;
    let prepared = context.start_call(Role::Clarifier, None, Vec::new(), None).await;
    let call = prepared.call.clone();
    let questions =
        clarifier.assess(call, &prepared.problem, &context.catalog, &run.graph, &run.seen).await;
    prepared.end(questions.as_ref().err().cloned(), || ()).await;
    match questions {
        // Whether to ask is the clarifier's to say; what to ask, a solver that saw two readings
        // knows better.
        Ok(questions) => Ok(questions
            .into_iter()
            .next()
            .map(|asked| context.notes.list_asks().into_iter().next().unwrap_or(asked))),
        // With an answer at hand the clarifier's failure is no reason to withhold it.
        Err(_) if grounded.is_some() => Ok(None),
        Err(error) => Err(role_failed(context, Role::Clarifier, error).await),
    }
}

/// Returns whether the confidence of the answer is below the least that the user accepts.
fn is_below(grounded: &Grounded, context: &Context) -> bool {
    context.run.settings.min_confidence.is_some_and(|least| grounded.answer.confidence < least)
}

/// Marks the candidate of an answer that is not accepted. Returns a warning for an answer that is
/// no single candidate's.
fn refuse(grounded: &Grounded, context: &Context) -> Option<String> {
    let least = context.run.settings.min_confidence.unwrap_or_default();
    let confidence = grounded.answer.confidence;
    // Two digits of both may be the same.
    let digits = if least - confidence < 0.01 { 4 } else { 2 };
    let why =
        format!("its confidence of {confidence:.digits$} is below the required {least:.digits$}");
    let Some((task, candidate)) = &grounded.candidate else {
        return Some(format!("the answer is not accepted: {why}"));
    };
    context.run.trace.settle(task, &candidate.id, |known| {
        known.status = CandidateStatus::NotAccepted;
        known.reason = format!("not accepted: {why}");
    });
    None
}
