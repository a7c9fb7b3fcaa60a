//! The way of a question: plan, run the graph, make the answer; with nothing acceptable, ask and start over.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use syrch_core::ledger::{Exhausted, Ledger};
use syrch_core::result_set::digest64;
use syrch_core::roles::{Clarifier, Planner, Role};
use syrch_core::{Ending, FailureKind, Graph, Observation, Problem, Question, RoleError};
use syrch_scheduler::{End, Options, Run, Stop, execute};

use crate::answer::{Times, document};
use crate::context::{Clock, Context};
use crate::ground::{Grounded, aggregate};
use crate::host::Host;
use crate::runner::{PlannerSteps, Runner, Solved, WatchTasks};
use crate::trace::Trace;
use crate::{Ask, Error, Observer, Outcome, SearchEvent, SearchReport};

/// How long making the answer, or a question to the user, may take once the user or the deadline has stopped the search.
const LAST_WORDS: Duration = Duration::from_secs(2);

pub(crate) async fn search(
    host: &Host,
    mut problem: Problem,
    observer: Arc<dyn Observer>,
    ask: Option<&dyn Ask>,
    stop: &Stop,
) -> Result<SearchReport, Error> {
    let started = Instant::now();
    let (question, run) = (problem.question.clone(), run_id(&problem.question));
    if question.trim().is_empty() {
        return Err(Error::Config("the question is empty".to_owned()));
    }
    let ledger = Ledger::new(host.settings.budgets.clone());
    let trace = Trace::new(observer, host.settings.limits.traced);
    let salt = digest64(&[&run, "salt"]);
    let mut round = 0;
    loop {
        let clock = Clock { started, deadline: host.settings.deadline, stop: stop.clone() };
        let context = Context::new(host, problem.clone(), Arc::clone(&ledger), Arc::clone(&trace), clock, salt).await?;
        let attempt = Attempt::make(&context, stop).await;
        // Whatever goes wrong after Ctrl-C, the user wanted an end and gets it.
        let attempt = attempt.map_err(|error| if stop.is_triggered() { Error::Interrupted } else { error })?;
        if let (Some(question), Some(ask)) = (&attempt.question, ask)
            && round < host.settings.max_questions
            && let Some(answer) = answer_of(ask, question, stop).await
        {
            problem.answers.push((question.text.clone(), answer));
            round += 1;
            trace.restart(round);
            trace.event(&SearchEvent::Refined { round });
            continue;
        }
        return attempt.report(&run, &question, &context, stop);
    }
}

/// The user's answer; none when there is none or the user ends the search instead.
async fn answer_of(ask: &dyn Ask, question: &Question, stop: &Stop) -> Option<String> {
    tokio::select! {
        biased;
        () = stop.triggered() => None,
        answer = ask.ask(question) => answer,
    }
}

/// A name for the run that no other run has.
fn run_id(question: &str) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let place = std::ptr::from_ref(&now) as usize;
    let parts = [now.as_nanos().to_string(), std::process::id().to_string(), place.to_string()];
    format!("{:016x}", digest64(&[question, &parts[0], &parts[1], &parts[2]]))
}

/// One pass over one wording of the problem.
struct Attempt {
    grounded: Option<Grounded>,
    question: Option<Question>,
    /// Whether some task has a result, however doubtful.
    any_result: bool,
    end: End,
    seen: Vec<Observation>,
    times: Times,
    warnings: Vec<String>,
}

impl Attempt {
    async fn make(context: &Arc<Context>, stop: &Stop) -> Result<Self, Error> {
        let clock = Instant::now();
        let graph = plan(context).await?;
        let plan_time = clock.elapsed();
        context.trace.event(&SearchEvent::Planned { tasks: graph.tasks.len() });
        let run = solve(context, graph, stop).await?;
        let solve_time = clock.elapsed() - plan_time;
        let mut warnings = Vec::new();
        let grounded = tokio::select! {
            grounded = aggregate(context, &run, &mut warnings) => {
                grounded.map_err(|error| role_failed(context, Role::Aggregator, error))?
            }
            () = last_words(context) => return Err(over(context)),
        };
        let question = tokio::select! {
            question = clarify(context, &run, grounded.as_ref()) => question?,
            () = last_words(context) => None,
        };
        let times = Times {
            total: context.clock.started.elapsed(),
            plan: plan_time,
            solve: solve_time,
            aggregate: clock.elapsed() - plan_time - solve_time,
        };
        let any_result = run.ended.values().any(|ended| ended.output.is_some());
        let end = match run.end {
            End::Complete | End::Finished if stop.is_triggered() => End::Stopped,
            End::Complete | End::Finished if context.clock.is_over() => End::Deadline,
            end => end,
        };
        Ok(Self { grounded, question, any_result, end, seen: run.seen, times, warnings })
    }

    /// What the caller hears: an answer, a question, nothing acceptable, or the error that is to blame.
    fn report(mut self, run: &str, asked: &str, context: &Context, stop: &Stop) -> Result<SearchReport, Error> {
        let interrupted = stop.is_triggered();
        // A doubt that the user cannot be asked about now is told instead of a doubtful answer.
        let doubtful = self.question.is_some() && (self.any_result || !context.asks().is_empty());
        let outcome = match (&self.grounded, doubtful) {
            (_, true) if !interrupted => Outcome::ClarificationNeeded,
            (Some(_), _) => Outcome::Answered,
            (None, _) if interrupted => return Err(Error::Interrupted),
            (None, _) => {
                self.blame(context)?;
                Outcome::NoAnswer
            }
        };
        if outcome != Outcome::Answered {
            self.grounded = None;
        }
        if outcome != Outcome::ClarificationNeeded {
            self.question = None;
        }
        self.tell(context, outcome);
        let Self { grounded, question, times, warnings, .. } = self;
        let document = document(run, asked, context, grounded.as_ref(), question.as_ref(), times, warnings);
        let data = grounded.map(|grounded| grounded.results);
        Ok(SearchReport { outcome, interrupted, document, data })
    }

    /// Without an answer: is a plugin, the endpoint, the database or a budget to blame?
    fn blame(&self, context: &Context) -> Result<(), Error> {
        if let Some(fault) = context.faults().into_iter().next() {
            return Err(Error::PluginFailed(fault));
        }
        if let Some(message) = context.model_error() {
            return Err(Error::Model { model: context.settings.model.model.clone(), message });
        }
        if self.end == End::Deadline {
            let seconds = context.settings.deadline.unwrap_or_default().as_secs_f64();
            return Err(Error::Deadline(seconds));
        }
        match exhausted(context) {
            Some(exhausted) => Err(Error::Budget(exhausted)),
            None => Ok(()),
        }
    }

    /// Warns of what did not go as it should.
    fn tell(&mut self, context: &Context, outcome: Outcome) {
        for observation in &self.seen {
            match &observation.ending {
                Ending::Failed(failure) => self.warnings.push(format!("task {} failed: {failure}", observation.task)),
                Ending::Skipped(reason) => {
                    self.warnings.push(format!("task {} was skipped: {reason}", observation.task))
                }
                _ => {}
            }
        }
        if outcome == Outcome::Answered {
            self.warnings.extend(context.faults().iter().map(ToString::to_string));
            self.warnings.extend(context.model_error());
            self.warnings.extend(exhausted(context).map(|which| format!("the budget is used up: {which}")));
            match self.end {
                End::Deadline => self.warnings.push("the deadline passed: this is the best so far".to_owned()),
                End::Stopped => self.warnings.push("interrupted: this is the best so far".to_owned()),
                End::Complete | End::Finished => {}
            }
        }
    }
}

fn exhausted(context: &Context) -> Option<Exhausted> {
    context.ledger.spent().exhausted.into_iter().next()
}

/// The planner's graph. Ctrl-C and the deadline end the wait for it.
async fn plan(context: &Arc<Context>) -> Result<Graph, Error> {
    let call = context.prepare(Role::Planner, None, Vec::new()).call;
    let planned = tokio::select! {
        planned = context.cast.planner.plan(call, &context.problem, &context.catalog) => planned,
        () = context.clock.over() => return Err(over(context)),
    };
    planned.map_err(|error| role_failed(context, Role::Planner, error))
}

/// Ends a while after the search's time is over.
async fn last_words(context: &Context) {
    context.clock.over().await;
    tokio::time::sleep(LAST_WORDS).await;
}

/// The error of a search whose time is over before there is an answer.
fn over(context: &Context) -> Error {
    match context.settings.deadline {
        Some(deadline) if !context.clock.stop.is_triggered() => Error::Deadline(deadline.as_secs_f64()),
        _ => Error::Interrupted,
    }
}

/// A role without which there is no search has failed: who is to blame?
fn role_failed(context: &Context, role: Role, error: RoleError) -> Error {
    let RoleError::Failure { failure, .. } = &error else {
        return Error::PluginFailed(error);
    };
    // A call that was cancelled because the time was over is no failure of the strategy.
    if context.clock.is_over() {
        return over(context);
    }
    if let Some(message) = context.model_error() {
        return Error::Model { model: context.settings.model.model.clone(), message };
    }
    match (&failure.kind, exhausted(context)) {
        (FailureKind::Budget, Some(exhausted)) => Error::Budget(exhausted),
        _ => Error::Strategy { role: role.name().to_owned(), message: error.to_string() },
    }
}

async fn solve(context: &Arc<Context>, graph: Graph, stop: &Stop) -> Result<Run<Solved>, Error> {
    let policy = &context.settings.policy;
    let options = Options {
        max_parallel: policy.max_parallel as usize,
        max_rounds: policy.max_rounds,
        deadline: context.clock.deadline(),
        limits: context.settings.limits.clone(),
    };
    let runner = Arc::new(Runner { context: Arc::clone(context) });
    let steps = PlannerSteps { context: Arc::clone(context) };
    let watch = WatchTasks { context: Arc::clone(context) };
    execute(graph, runner, Some(&steps), &watch, &options, stop).await.map_err(|error| {
        Error::PluginFailed(RoleError::Invalid {
            plugin: context.cast.planner.plugin().identity().name,
            export: "planner.plan".to_owned(),
            detail: error.to_string(),
        })
    })
}

/// What the user should be asked: the solver's own question first, then the clarifier's. A sure answer needs none.
async fn clarify(
    context: &Arc<Context>,
    run: &Run<Solved>,
    grounded: Option<&Grounded>,
) -> Result<Option<Question>, Error> {
    let stopped = matches!(run.end, End::Stopped | End::Deadline) || context.clock.is_over();
    let sure = grounded.is_some_and(|grounded| grounded.answer.confidence >= context.settings.policy.high_confidence);
    // Asking the user does not mend a plugin, an endpoint or an empty purse.
    let broken = !context.faults().is_empty() || context.model_error().is_some() || exhausted(context).is_some();
    if stopped || sure || (grounded.is_none() && broken) {
        return Ok(None);
    }
    if let (None, Some(question)) = (grounded, context.asks().into_iter().next()) {
        return Ok(Some(question));
    }
    let call = context.prepare(Role::Clarifier, None, Vec::new()).call;
    let clarifier = &context.cast.clarifier;
    match clarifier.assess(call, &context.problem, &context.catalog, &run.graph, &run.seen).await {
        Ok(questions) => Ok(questions.into_iter().next()),
        // With an answer at hand the clarifier's failure is no reason to withhold it.
        Err(error) if grounded.is_some() => {
            context.fault(&error);
            Ok(None)
        }
        Err(error) => Err(role_failed(context, Role::Clarifier, error)),
    }
}
