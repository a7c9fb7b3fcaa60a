//! Dataflow execution: each task starts as soon as its own dependencies end; there are no layers to wait for.

use std::sync::Arc;

use syrch_core::{Ending, Failure, FailureKind, Graph, Observation, Step, TaskId};
use tokio::time::Instant;

use crate::api::{End, Ended, Options, Replanner, Run, TaskRunner, Watch};
use crate::check::{GraphError, check};
use crate::choose;
use crate::edit;
use crate::expand::expand;
use crate::frontier::Frontier;
use crate::optimise::{Optimised, optimise};
use crate::planning::Planning;
use crate::pool::{Joined, Pool};
use crate::stop::Stop;

/// Checks and optimises a graph and runs it to its end. Dropping the future drops everything under way.
///
/// - A task starts when its own join is satisfied, a tolerant one at the latest when all its dependencies have ended. Of the ready
///   ones the greatest priority goes first, then graph order, at most [`Options::max_parallel`] at once.
/// - A task whose join cannot be satisfied any more is skipped, and says which dependency is to blame. While the planner has not
///   answered to that dependency's end, the task stays open: the planner may still give it another one.
/// - A task that nobody waits for any more, such as the loser of an any-of, is cancelled or not started.
/// - A choice is made here, without a place in the pool.
///
/// Must be called within a tokio runtime with time enabled.
///
/// # Errors
/// What is wrong with the graph. Once it runs nothing is an error: every end is an observation, and [`Run::end`] says why it ended.
pub async fn execute<R: TaskRunner>(
    graph: Graph,
    runner: Arc<R>,
    replanner: Option<&dyn Replanner>,
    watch: &dyn Watch,
    options: &Options,
    stop: &Stop,
) -> Result<Run<R::Output>, GraphError> {
    check(&graph, &options.limits)?;
    let Optimised { graph, dropped, merged } = optimise(graph);
    let mut driver = Driver {
        runner,
        watch,
        options,
        halt: Halt { stop, deadline: options.deadline },
        frontier: Frontier::new(graph),
        pool: Pool::new(),
        planning: Planning::new(replanner, options.max_rounds),
        refused: Vec::new(),
    };
    let end = driver.drive().await;
    Ok(driver.close(end, dropped, merged).await)
}

/// What ends a run from outside.
struct Halt<'a> {
    stop: &'a Stop,
    deadline: Option<Instant>,
}

impl Halt<'_> {
    fn reached(&self) -> Option<End> {
        if self.stop.is_triggered() {
            return Some(End::Stopped);
        }
        self.deadline.filter(|deadline| *deadline <= Instant::now()).map(|_| End::Deadline)
    }

    async fn wait(&self) -> End {
        let deadline = async {
            match self.deadline {
                Some(deadline) => tokio::time::sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.stop.triggered() => End::Stopped,
            () = deadline => End::Deadline,
        }
    }
}

/// What a run waits for.
enum Event<T> {
    Halt(End),
    Joined(Joined<T>),
    /// None: the planner failed.
    Step(Option<Step>),
}

/// What a runner returns.
type Outcome<O> = (Observation, Option<O>);

struct Driver<'a, R: TaskRunner> {
    runner: Arc<R>,
    watch: &'a dyn Watch,
    options: &'a Options,
    halt: Halt<'a>,
    frontier: Frontier<R::Output>,
    pool: Pool<Outcome<R::Output>>,
    planning: Planning<'a>,
    refused: Vec<String>,
}

impl<R: TaskRunner> Driver<'_, R> {
    async fn drive(&mut self) -> End {
        loop {
            if let Some(end) = self.halt.reached() {
                return end;
            }
            self.settle();
            self.dispatch();
            self.planning.call(self.frontier.graph());
            if self.pool.is_idle() && self.frontier.next_ready().is_none() && !self.planning.is_pending() {
                return End::Complete;
            }
            match self.event().await {
                Event::Halt(end) => return end,
                Event::Step(step) => {
                    if step.is_some_and(|step| self.replan(&step)) {
                        return End::Finished;
                    }
                }
                Event::Joined(joined) => {
                    self.take(joined);
                    while let Some(joined) = self.pool.try_next() {
                        self.take(joined);
                    }
                }
            }
        }
    }

    async fn event(&mut self) -> Event<Outcome<R::Output>> {
        tokio::select! {
            biased;
            end = self.halt.wait() => Event::Halt(end),
            joined = self.pool.next() => Event::Joined(joined),
            step = self.planning.step() => Event::Step(step),
        }
    }

    /// Does all that needs no runner: choices, skips, and the cancellation of what nobody waits for.
    fn settle(&mut self) {
        let hold = self.planning.is_pending();
        loop {
            if let Some(position) = self.frontier.next_choice() {
                self.choose(position);
            } else if let Some(position) = self.frontier.next_doomed().filter(|_| !hold) {
                let ending = Ending::Skipped(self.frontier.reason(position));
                self.end_as(position, ending);
            } else {
                break;
            }
        }
        for position in self.frontier.unneeded() {
            self.cancel(position);
        }
    }

    fn choose(&mut self, position: usize) {
        self.started(position);
        let parents = self.frontier.begin(position);
        match choose::choose(&self.frontier.task(position).id, &parents) {
            Some((observation, output)) => self.end(position, observation, output),
            None => {
                let ending = Ending::Skipped(self.frontier.reason(position));
                self.end_as(position, ending);
            }
        }
    }

    fn dispatch(&mut self) {
        while self.pool.places() < self.options.max_parallel.max(1) {
            let Some(position) = self.frontier.next_ready() else { break };
            self.started(position);
            let parents = self.frontier.begin(position);
            let (task, runner) = (self.frontier.task(position).clone(), Arc::clone(&self.runner));
            self.pool.start(position, async move { runner.run(task, parents).await });
        }
    }

    fn started(&self, position: usize) {
        if !self.frontier.has_begun(position) {
            self.watch.started(self.frontier.task(position));
        }
    }

    fn take(&mut self, joined: Joined<Outcome<R::Output>>) {
        match joined {
            Joined::Done(position, (observation, output)) => self.done(position, observation, output),
            Joined::Lost(position) => {
                self.end_as(
                    position,
                    Ending::Failed(Failure::new(FailureKind::Internal, "the task's runner panicked")),
                );
            }
            Joined::Gone => {}
        }
    }

    fn done(&mut self, position: usize, mut observation: Observation, output: Option<R::Output>) {
        observation.task.clone_from(&self.frontier.task(position).id);
        if observation.subtasks.is_empty() || !observation.candidates.is_empty() {
            return self.end(position, observation, output);
        }
        match expand(self.frontier.graph(), position, &observation.subtasks, &self.options.limits) {
            Ok((graph, subtasks)) => {
                self.watch.expanded(self.frontier.task(position), &subtasks);
                self.frontier.expand(position, graph, subtasks);
            }
            Err(error) => {
                let message = format!("its subtasks are refused: {error}");
                observation.ending = Ending::Failed(Failure::new(FailureKind::Internal, message));
                self.end(position, observation, None);
            }
        }
    }

    /// Takes the planner's step, or refuses it as a whole. True: nothing more is to be done.
    fn replan(&mut self, step: &Step) -> bool {
        if *step == Step::default() {
            return false;
        }
        let standing = |id: &str| self.frontier.standing(id);
        let edited = match edit::apply(self.frontier.graph(), step, &self.options.limits, standing) {
            Ok(edited) => edited,
            Err(refusal) => {
                self.refused.push(refusal.to_string());
                self.watch.refused(&refusal.to_string());
                return false;
            }
        };
        if !step.edits.is_empty() {
            self.planning.count();
            self.watch.edited(&step.edits);
        }
        self.frontier.replace(edited.graph);
        for position in edited.cancelled.iter().filter_map(|id| self.frontier.position(id)).collect::<Vec<_>>() {
            self.cancel(position);
        }
        edited.finished
    }

    fn cancel(&mut self, position: usize) {
        self.pool.cancel(position);
        self.end_as(position, Ending::Cancelled);
    }

    fn end_as(&mut self, position: usize, ending: Ending) {
        let observation = Observation::ended(self.frontier.task(position).id.clone(), ending);
        self.end(position, observation, None);
    }

    fn end(&mut self, position: usize, observation: Observation, output: Option<R::Output>) {
        if let Some(Ended { task, observation, .. }) = self.frontier.end(position, observation, output) {
            self.watch.ended(task, observation);
            self.planning.record(observation.clone());
        }
    }

    async fn close(mut self, end: End, dropped: Vec<TaskId>, merged: Vec<(TaskId, TaskId)>) -> Run<R::Output> {
        for position in self.frontier.open().collect::<Vec<_>>() {
            self.cancel(position);
        }
        self.pool.close().await;
        let (graph, ended) = self.frontier.close();
        let (seen, replan_errors) = self.planning.close();
        Run { graph, seen, ended, end, replan_errors, refused: self.refused, dropped, merged }
    }
}
