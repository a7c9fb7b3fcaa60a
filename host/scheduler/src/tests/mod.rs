//! Runs over virtual time: a runner that follows a script, a planner made of a closure, and a log
//! of what happened when.

mod checks;
mod dataflow;
mod halting;
mod passes;
mod properties;
mod replanning;
mod subtasks;
mod turns;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use syrch_core::{
    Candidate, Corpus, Edit, Ending, Failure, FailureKind, Graph, Join, Limits, Observation,
    Operation, RetrievalQuery, Retriever, RoleError, Step, Task, TaskId,
};
use tokio::time::{Instant, sleep};

use crate::{
    AsItComes, Ended, GraphError, Options, Replanner, Run, Stop, TaskRunner, Watch, execute,
};

/// A task whose text is its id, so that no two are equal.
fn task(id: &str, depends_on: &[&str]) -> Task {
    let depends_on = depends_on.iter().map(|id| (*id).to_owned()).collect();
    Task { id: id.to_owned(), text: id.to_owned(), depends_on, ..Task::default() }
}

fn join_task(join: Join, id: &str, depends_on: &[&str]) -> Task {
    Task { join, ..task(id, depends_on) }
}

fn choice(id: &str, depends_on: &[&str]) -> Task {
    Task { operation: Operation::Choose, ..task(id, depends_on) }
}

/// The last task is the answer.
fn graph(tasks: Vec<Task>) -> Graph {
    let answer = tasks.last().map(|task| task.id.clone()).unwrap_or_default();
    Graph { tasks, answer, memo: None }
}

/// The behavior of the runner with tasks of a text.
#[derive(Debug, Clone)]
enum Act {
    Solve(u64, Option<f64>),
    Fail(u64),
    Split(u64, Vec<Task>),
    Panic,
}

/// A log of what happened, with the millisecond of virtual time.
#[derive(Debug, Clone)]
struct Log {
    begin: Instant,
    entries: Arc<Mutex<Vec<(u64, String)>>>,
}

impl Log {
    fn new() -> Self {
        Self { begin: Instant::now(), entries: Arc::default() }
    }

    fn note(&self, what: impl Into<String>) {
        let now = u64::try_from(self.begin.elapsed().as_millis()).unwrap();
        self.entries.lock().unwrap().push((now, what.into()));
    }

    fn all(&self) -> Vec<(u64, String)> {
        self.entries.lock().unwrap().clone()
    }

    /// Entries that begin with this word.
    fn entries_with(&self, word: &str) -> Vec<(u64, String)> {
        let word = format!("{word} ");
        self.all()
            .into_iter()
            .filter_map(|(at, what)| Some((at, what.strip_prefix(&word)?.to_owned())))
            .collect()
    }

    /// Returns the time at which a task did that.
    fn when(&self, word: &str, id: &str) -> Option<u64> {
        self.entries_with(word).into_iter().find(|(_, what)| what == id).map(|(at, _)| at)
    }
}

struct Script {
    acts: BTreeMap<String, Act>,
    log: Log,
}

/// Logs whether a task ended or was dropped before.
struct Guard<'a>(&'a Log, &'a str, bool);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.note(format!("{} {}", if self.2 { "leave" } else { "drop" }, self.1));
    }
}

/// Digests what a task's result depends on: its text and its parents' results as a set.
fn digest<'a>(text: &str, parents: impl IntoIterator<Item = &'a String>) -> String {
    let parents: std::collections::BTreeSet<&String> = parents.into_iter().collect();
    let mut hasher = DefaultHasher::new();
    (text, parents).hash(&mut hasher);
    format!("{:x}", hasher.finish())
}

#[async_trait]
impl TaskRunner for Script {
    type Output = String;

    async fn run(&self, task: Task, parents: Vec<Ended<String>>) -> (Observation, Option<String>) {
        let names: Vec<&str> = parents.iter().map(|parent| parent.task.id.as_str()).collect();
        self.log.note(format!("enter {}", task.id));
        self.log.note(format!("parents {}<{}", task.id, names.join(",")));
        let mut guard = Guard(&self.log, &task.id, false);
        let act = self.acts.get(&task.text).cloned().unwrap_or(Act::Solve(1, Some(0.5)));
        let (Act::Solve(after, _) | Act::Fail(after) | Act::Split(after, _)) = act else {
            panic!("as the script wants")
        };
        sleep(Duration::from_millis(after)).await;
        guard.2 = true;
        let mut seen = Observation::from_ending("whatever", Ending::Solved);
        match act {
            Act::Fail(_) => {
                seen.ending = Ending::Failed(Failure::new(FailureKind::Database, "no such table"))
            }
            Act::Split(_, subtasks) => seen.subtasks = subtasks,
            Act::Solve(_, confidence) => {
                seen.candidates = vec![Candidate {
                    id: format!("{}.c", task.id),
                    confidence,
                    ..Candidate::default()
                }];
            }
            Act::Panic => {}
        }
        let output = digest(&task.text, parents.iter().filter_map(|parent| parent.output.as_ref()));
        let output = seen.ending.is_success().then_some(output);
        (seen, output)
    }
}

impl Watch for Log {
    fn on_start(&self, task: &Task) {
        self.note(format!("start {}", task.id));
    }
    fn on_end(&self, task: &Task, observation: &Observation) {
        assert_eq!(task.id, observation.task);
        self.note(format!("end {}", task.id));
    }
    fn on_expansion(&self, task: &Task, subtasks: &[Task]) {
        let names: Vec<&str> = subtasks.iter().map(|task| task.id.as_str()).collect();
        self.note(format!("expand {}>{}", task.id, names.join(",")));
    }
    fn on_edit(&self, edits: &[Edit]) {
        self.note(format!("edit {}", edits.len()));
    }
    fn on_refusal(&self, reason: &str) {
        self.note(format!("refuse {reason}"));
    }
}

type Next = dyn Fn(&Graph, &[Observation], usize) -> Result<Step, RoleError> + Send + Sync;

/// A planner that waits for a while and then returns what the closure returns.
struct Thinker {
    log: Log,
    think: u64,
    next: Box<Next>,
}

#[async_trait]
impl Replanner for Thinker {
    async fn next(
        &self,
        graph: &Graph,
        seen: &[Observation],
        fresh: usize,
    ) -> Result<Step, RoleError> {
        let names: Vec<&str> = seen[fresh..].iter().map(|seen| seen.task.as_str()).collect();
        self.log.note(format!("next {}+{}", fresh, names.join(",")));
        sleep(Duration::from_millis(self.think)).await;
        (self.next)(graph, seen, fresh)
    }
}

/// Everything about one run; the defaults are a run without limits or planner.
struct Scene {
    graph: Graph,
    acts: BTreeMap<String, Act>,
    options: Options,
    planner: Option<(u64, Box<Next>)>,
    stop: Stop,
    log: Log,
}

impl Scene {
    /// Must be made within the runtime, since its clock starts here.
    fn new(tasks: Vec<Task>) -> Self {
        let options = Options {
            max_parallel: 64,
            max_rounds: 16,
            deadline: None,
            grace: Duration::ZERO,
            limits: Limits::default(),
        };
        Self {
            graph: graph(tasks),
            acts: BTreeMap::new(),
            options,
            planner: None,
            stop: Stop::new(),
            log: Log::new(),
        }
    }

    fn act(mut self, text: &str, act: Act) -> Self {
        self.acts.insert(text.to_owned(), act);
        self
    }

    /// Tasks that are solved after so many milliseconds.
    fn takes(self, times: &[(&str, u64)]) -> Self {
        times.iter().fold(self, |scene, (id, after)| scene.act(id, Act::Solve(*after, Some(0.5))))
    }

    fn parallel(mut self, max_parallel: usize) -> Self {
        self.options.max_parallel = max_parallel;
        self
    }

    fn plan(
        mut self,
        think: u64,
        next: impl Fn(&Graph, &[Observation], usize) -> Result<Step, RoleError> + Send + Sync + 'static,
    ) -> Self {
        self.planner = Some((think, Box::new(next)));
        self
    }

    async fn try_run(self) -> Result<Finished, GraphError> {
        let log = self.log.clone();
        let runner = Arc::new(Script { acts: self.acts, log: log.clone() });
        let planner = self.planner.map(|(think, next)| Thinker { log: log.clone(), think, next });
        let planner = planner.as_ref().map(|planner| planner as &dyn Replanner);
        let run = execute(self.graph, runner, planner, &log, &AsItComes, &self.options, &self.stop)
            .await?;
        log.note("over");
        Ok(Finished { run, log })
    }

    async fn run(self) -> Finished {
        self.try_run().await.unwrap()
    }
}

/// A run that is over.
struct Finished {
    run: Run<String>,
    log: Log,
}

impl Finished {
    fn ending(&self, id: &str) -> &Ending {
        &self.run.ended[id].observation.ending
    }

    fn skip_reason(&self, id: &str) -> &str {
        match self.ending(id) {
            Ending::Skipped(reason) => reason,
            other => panic!("{id} is {other:?}"),
        }
    }

    fn start_time(&self, id: &str) -> Option<u64> {
        self.log.when("start", id)
    }

    fn end_time(&self, id: &str) -> Option<u64> {
        self.log.when("end", id)
    }

    fn observation_order(&self) -> Vec<&TaskId> {
        self.run.seen.iter().map(|seen| &seen.task).collect()
    }

    /// Returns the parents that a task was given, as `task<parent,parent`.
    fn parents(&self, id: &str) -> String {
        let all = self.log.entries_with("parents");
        all.into_iter()
            .find_map(|(_, what)| Some(what.strip_prefix(&format!("{id}<"))?.to_owned()))
            .unwrap()
    }
}

fn edits(edits: Vec<Edit>) -> Result<Step, RoleError> {
    Ok(Step { edits, memo: None })
}
