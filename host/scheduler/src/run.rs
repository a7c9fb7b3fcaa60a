//! Dataflow execution: each task starts as soon as its own dependencies end; there are no layers to
//! wait for.

use std::sync::Arc;

use syrch_core::{Ending, Failure, FailureKind, Graph, Observation, Step, Taken, TaskId, Turn};
use tokio::time::Instant;

use crate::api::{End, Ended, Options, Order, Replanner, Run, TaskRunner, Watch};
use crate::check::{GraphError, check};
use crate::choose;
use crate::edit;
use crate::expand::expand;
use crate::frontier::Frontier;
use crate::optimise::{Optimised, optimise};
use crate::planning::Planning;
use crate::pool::{Joined, Pool};
use crate::stop::Stop;

/// Checks and optimises a graph and runs it to its end. Dropping the future drops everything that
/// runs.
///
/// - A task starts when its own join is satisfied, a tolerant one at the latest when all its
///   dependencies have ended. Of the ready ones the greatest priority goes first, then graph order,
///   at most [`Options::max_parallel`] at once.
/// - A task whose join cannot be satisfied any more is skipped, with a message that names the
///   dependency at fault. While the planner has not answered the end of that dependency, the task
///   stays open, since the planner may still give it another one.
/// - A task that nothing needs any more, such as the loser of an any-of, is cancelled or not
///   started.
/// - A choice is made by the scheduler, without a place in the pool.
/// - After a stop or the deadline no further task starts, and the planner is not called any more.
///   Tasks that run have [`Options::grace`] to end with what they have.
///
/// Must be called within a tokio runtime with time enabled.
///
/// # Errors
/// An error in the graph. Once it runs nothing is an error: every end is an observation, and
/// [`Run::end`] is why it ended.
pub async fn execute<R: TaskRunner>(
    graph: Graph,
    runner: Arc<R>,
    replanner: Option<&dyn Replanner>,
    watch: &dyn Watch,
    order: &dyn Order,
    options: &Options,
    stop: &Stop,
) -> Result<Run<R::Output>, GraphError> {
    check(&graph, &options.limits)?;
    let Optimised { graph, dropped, merged } = optimise(graph);
    watch.on_begin(&graph);
    let mut driver = Driver {
        runner,
        watch,
        order,
        options,
        halt: Halt { stop, deadline: options.deadline },
        frontier: Frontier::new(graph),
        pool: Pool::new(),
        planning: Planning::new(replanner, options.max_rounds),
        arrived: Vec::new(),
        step: None,
        draining: None,
        refused: Vec::new(),
    };
    let end = driver.drive().await;
    Ok(driver.close(end, dropped, merged).await)
}

/// The conditions that end a run before its graph is finished.
struct Halt<'a> {
    stop: &'a Stop,
    deadline: Option<Instant>,
}

impl Halt<'_> {
    fn find_end(&self) -> Option<End> {
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
            () = self.stop.wait_until_triggered() => End::Stopped,
            () = deadline => End::Deadline,
        }
    }
}

/// An event that a run waits for.
enum Event<T> {
    Drain(End),
    Halt(End),
    Joined(Vec<Joined<T>>),
    /// The planner's step; `None` when the planner failed.
    Step(Option<Step>),
}

fn to_end(deadline: bool) -> End {
    if deadline { End::Deadline } else { End::Stopped }
}

/// The result of a runner.
type Outcome<O> = (Observation, Option<O>);

struct Driver<'a, R: TaskRunner> {
    runner: Arc<R>,
    watch: &'a dyn Watch,
    order: &'a dyn Order,
    options: &'a Options,
    halt: Halt<'a>,
    frontier: Frontier<R::Output>,
    pool: Pool<Outcome<R::Output>>,
    planning: Planning<'a>,
    /// Completed work that is processed later, since a journal determines the order.
    arrived: Vec<Joined<Outcome<R::Output>>>,
    /// The planner's step that is processed later.
    step: Option<Option<Step>>,
    /// The reason to start no further task, and the time at which running ones are dropped.
    draining: Option<(End, Instant)>,
    refused: Vec<String>,
}

impl<R: TaskRunner> Driver<'_, R> {
    async fn drive(&mut self) -> End {
        loop {
            self.settle().await;
            if self.draining.is_none() {
                self.planning.call(self.frontier.graph());
            }
            if self.is_idle() && self.frontier.next_ready().is_none() && !self.is_planning() {
                return End::Complete;
            }
            if let Some((end, _)) = self.draining.filter(|_| self.is_idle()) {
                self.order.took(Turn::Halt { deadline: end == End::Deadline }).await;
                return end;
            }
            // Not earlier: a replay learns of a halt by the next event alone, and has done all of
            // the above by then.
            let may_drain = !self.order.is_replaying() && self.draining.is_none();
            if let Some(end) = self.halt.find_end().filter(|_| may_drain) {
                self.order.took(Turn::Drain { deadline: end == End::Deadline }).await;
                self.drain(end);
                continue;
            }
            if self.draining.is_none() {
                self.dispatch();
            }
            match self.event().await {
                Event::Drain(end) => self.drain(end),
                Event::Halt(end) => return end,
                Event::Step(step) => {
                    if let Some(step) = step
                        && self.replan(&step).await
                    {
                        return End::Finished;
                    }
                }
                Event::Joined(all) => all.into_iter().for_each(|joined| self.take(joined)),
            }
        }
    }

    /// Starts no further task, and gives those that run the grace period.
    fn drain(&mut self, end: End) {
        self.draining = Some((end, Instant::now() + self.options.grace));
    }

    fn is_idle(&self) -> bool {
        self.pool.is_idle() && self.arrived.iter().all(|joined| matches!(joined, Joined::Gone))
    }

    fn is_planning(&self) -> bool {
        self.step.is_some() || self.planning.is_pending()
    }

    /// The next event, which is reported to [`Order`] before anything follows from it.
    async fn event(&mut self) -> Event<Outcome<R::Output>> {
        let turn = loop {
            tokio::select! {
                biased;
                turn = self.order.next() => break turn,
                joined = self.pool.next() => self.arrived.push(joined),
                step = self.planning.step(), if self.step.is_none() => self.step = Some(step),
            }
        };
        let event = match &turn {
            Some(turn) => self.replay_event(turn).await,
            None => self.next_event().await,
        };
        let turn = turn.unwrap_or_else(|| self.turn(&event));
        self.order.took(turn).await;
        event
    }

    async fn next_event(&mut self) -> Event<Outcome<R::Output>> {
        let early = std::mem::take(&mut self.arrived);
        if !early.is_empty() {
            return Event::Joined(early);
        }
        if let Some(step) = self.step.take().filter(|_| self.draining.is_none()) {
            return Event::Step(step);
        }
        let draining = self.draining;
        let halted = async {
            match draining {
                Some((end, until)) => {
                    tokio::time::sleep_until(until).await;
                    Event::Halt(end)
                }
                None => Event::Drain(self.halt.wait().await),
            }
        };
        tokio::select! {
            biased;
            event = halted => event,
            joined = self.pool.next() => {
                let mut all = vec![joined];
                all.extend(std::iter::from_fn(|| self.pool.try_next()));
                Event::Joined(all)
            }
            step = self.planning.step(), if draining.is_none() => Event::Step(step),
        }
    }

    /// The event of a decision that a journal has. If it never happens, the run is not the
    /// journal's.
    async fn replay_event(&mut self, turn: &Turn) -> Event<Outcome<R::Output>> {
        match turn {
            Turn::Drain { deadline } => Event::Drain(to_end(*deadline)),
            Turn::Halt { deadline } => Event::Halt(to_end(*deadline)),
            Turn::Step => Event::Step(match self.step.take() {
                Some(step) => step,
                None => self.planning.step().await,
            }),
            Turn::Took(taken) => {
                let mut all = Vec::with_capacity(taken.len());
                for one in taken {
                    all.push(self.arrival(one).await);
                }
                Event::Joined(all)
            }
        }
    }

    async fn arrival(&mut self, wanted: &Taken) -> Joined<Outcome<R::Output>> {
        loop {
            let found = self.arrived.iter().position(|joined| self.to_taken(joined) == *wanted);
            if let Some(place) = found {
                return self.arrived.remove(place);
            }
            let joined = self.pool.next().await;
            self.arrived.push(joined);
        }
    }

    fn to_taken(&self, joined: &Joined<Outcome<R::Output>>) -> Taken {
        match joined {
            Joined::Done(position, _) => Taken::Ended(self.frontier.task(*position).id.clone()),
            Joined::Lost(position) => Taken::Lost(self.frontier.task(*position).id.clone()),
            Joined::Gone => Taken::Gone,
        }
    }

    fn turn(&self, event: &Event<Outcome<R::Output>>) -> Turn {
        match event {
            Event::Drain(end) => Turn::Drain { deadline: *end == End::Deadline },
            Event::Halt(end) => Turn::Halt { deadline: *end == End::Deadline },
            Event::Step(_) => Turn::Step,
            Event::Joined(all) => {
                Turn::Took(all.iter().map(|joined| self.to_taken(joined)).collect())
            }
        }
    }

    /// Does everything that needs no runner: choices, skips, and the cancellation of what nothing
    /// needs.
    async fn settle(&mut self) {
        let hold = self.is_planning();
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
        for position in self.frontier.find_unneeded() {
            self.cancel(position).await;
        }
    }

    fn choose(&mut self, position: usize) {
        self.note_start(position);
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
        while self.pool.places() + self.arrived.len() < self.options.max_parallel.max(1) {
            let Some(position) = self.frontier.next_ready() else { break };
            self.note_start(position);
            let parents = self.frontier.begin(position);
            let task = self.frontier.task(position).clone();
            let runner = Arc::clone(&self.runner);
            self.pool.start(position, async move { runner.run(task, parents).await });
        }
    }

    fn note_start(&self, position: usize) {
        if !self.frontier.has_started(position) {
            self.watch.on_start(self.frontier.task(position));
        }
    }

    fn take(&mut self, joined: Joined<Outcome<R::Output>>) {
        match joined {
            Joined::Done(position, (observation, output)) => {
                self.end_task(position, observation, output)
            }
            Joined::Lost(position) => {
                self.end_as(
                    position,
                    Ending::Failed(Failure::new(
                        FailureKind::Internal,
                        "the task's runner panicked",
                    )),
                );
            }
            Joined::Gone => {}
        }
    }

    fn end_task(
        &mut self,
        position: usize,
        mut observation: Observation,
        output: Option<R::Output>,
    ) {
        observation.task.clone_from(&self.frontier.task(position).id);
        if observation.subtasks.is_empty() || !observation.candidates.is_empty() {
            return self.end(position, observation, output);
        }
        match expand(self.frontier.graph(), position, &observation.subtasks, &self.options.limits) {
            Ok((graph, subtasks)) => {
                self.watch.on_expansion(self.frontier.task(position), &subtasks);
                self.frontier.expand(position, graph, subtasks);
            }
            Err(error) => {
                let message = format!("its subtasks are refused: {error}");
                observation.ending = Ending::Failed(Failure::new(FailureKind::Internal, message));
                self.end(position, observation, None);
            }
        }
    }

    /// Applies the planner's step, or refuses it as a whole. Returns whether the graph is finished.
    async fn replan(&mut self, step: &Step) -> bool {
        if *step == Step::default() {
            return false;
        }
        let edited =
            match edit::apply(self.frontier.graph(), step, &self.options.limits, |id: &str| {
                self.frontier.standing(id)
            }) {
                Ok(edited) => edited,
                Err(refusal) => {
                    self.refused.push(refusal.to_string());
                    self.watch.on_refusal(&refusal.to_string());
                    return false;
                }
            };
        if !step.edits.is_empty() {
            self.planning.count();
            self.watch.on_edit(&step.edits);
        }
        self.frontier.replace(edited.graph);
        for position in
            edited.cancelled.iter().filter_map(|id| self.frontier.position(id)).collect::<Vec<_>>()
        {
            self.cancel(position).await;
        }
        edited.finished
    }

    async fn cancel(&mut self, position: usize) {
        let id = self.frontier.task(position).id.clone();
        self.order.closing(Some(&id)).await;
        self.pool.cancel(position);
        for joined in &mut self.arrived {
            if matches!(joined, Joined::Done(done, _) | Joined::Lost(done) if *done == position) {
                *joined = Joined::Gone;
            }
        }
        self.end_as(position, Ending::Cancelled);
    }

    fn end_as(&mut self, position: usize, ending: Ending) {
        let observation = Observation::from_ending(self.frontier.task(position).id.clone(), ending);
        self.end(position, observation, None);
    }

    fn end(&mut self, position: usize, observation: Observation, output: Option<R::Output>) {
        if let Some(Ended { task, observation, .. }) =
            self.frontier.end(position, observation, output)
        {
            self.watch.on_end(task, observation);
            self.planning.record(observation.clone());
        }
    }

    async fn close(
        mut self,
        end: End,
        dropped: Vec<TaskId>,
        merged: Vec<(TaskId, TaskId)>,
    ) -> Run<R::Output> {
        if self.planning.is_thinking() {
            self.order.closing(None).await;
        }
        for position in self.frontier.open().collect::<Vec<_>>() {
            self.cancel(position).await;
        }
        self.pool.close().await;
        let (graph, ended) = self.frontier.close();
        let (seen, replan_errors) = self.planning.close();
        Run { graph, seen, ended, end, replan_errors, refused: self.refused, dropped, merged }
    }
}
