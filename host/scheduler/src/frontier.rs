//! The state of every task of a run, and what may start next. It uses no clock and no async
//! runtime.
//!
//! Tasks are named by their position in the graph. Positions never change, since edits replace
//! tasks in place or append them.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use syrch_core::{Graph, Join, Observation, Operation, Task, TaskId};

use crate::Ended;
use crate::edit::Standing;
use crate::join::{self, Verdict};
use crate::shape;

/// The state of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Phase {
    /// A dependency must end first.
    #[default]
    Waiting,
    /// The task may start.
    Ready,
    /// The task's join cannot be satisfied any more.
    Doomed,
    /// The task is running.
    Running,
    /// The task has ended.
    Ended,
}

/// The order of ready tasks: greatest priority first, then graph order.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Rank {
    priority: f64,
    position: usize,
}

impl Eq for Rank {}

impl Ord for Rank {
    fn cmp(&self, other: &Self) -> Ordering {
        // Adding zero makes one of the two zeros.
        let by_priority = (other.priority + 0.0).total_cmp(&(self.priority + 0.0));
        by_priority.then(self.position.cmp(&other.position))
    }
}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

struct Node<O> {
    phase: Phase,
    dependencies: Vec<usize>,
    dependents: Vec<usize>,
    /// Dependencies that succeeded; in `bad`, those that did not.
    good: usize,
    bad: usize,
    /// True if it ever started. A task that was replaced by subtasks is open again and still has
    /// started.
    started: bool,
    /// The subtasks that replace it.
    subtasks: Vec<Task>,
    /// The first failure that caused the task to be skipped.
    root: Option<String>,
    ended: Option<Ended<O>>,
}

impl<O> Default for Node<O> {
    fn default() -> Self {
        Self {
            phase: Phase::Waiting,
            dependencies: Vec::new(),
            dependents: Vec::new(),
            good: 0,
            bad: 0,
            started: false,
            subtasks: Vec::new(),
            root: None,
            ended: None,
        }
    }
}

fn is_bad<O>(node: &Node<O>) -> bool {
    node.ended.as_ref().is_some_and(|ended| !ended.observation.ending.is_success())
}

/// All tasks of a run.
pub(crate) struct Frontier<O> {
    graph: Arc<Graph>,
    positions: HashMap<TaskId, usize>,
    nodes: Vec<Node<O>>,
    ready: BTreeSet<Rank>,
    /// Ready choices, which need no place in the pool.
    choices: BTreeSet<usize>,
    doomed: BTreeSet<usize>,
}

impl<O: Clone> Frontier<O> {
    /// All tasks of a sound graph, none started.
    pub(crate) fn new(graph: Graph) -> Self {
        let mut frontier = Self {
            graph: Arc::default(),
            positions: HashMap::new(),
            nodes: Vec::new(),
            ready: BTreeSet::new(),
            choices: BTreeSet::new(),
            doomed: BTreeSet::new(),
        };
        frontier.replace(graph);
        frontier
    }

    /// Takes a sound graph in which every old task has its old position.
    pub(crate) fn replace(&mut self, graph: Graph) {
        self.nodes.resize_with(graph.tasks.len(), Node::default);
        for node in &mut self.nodes {
            node.dependents.clear();
            (node.good, node.bad) = (0, 0);
        }
        self.ready.clear();
        self.choices.clear();
        self.doomed.clear();
        let known = shape::positions(&graph.tasks);
        for (position, task) in graph.tasks.iter().enumerate() {
            let dependencies: Vec<usize> =
                task.depends_on.iter().filter_map(|id| known.get(id.as_str()).copied()).collect();
            for dependency in &dependencies {
                self.nodes[*dependency].dependents.push(position);
                self.count(*dependency, position);
            }
            self.nodes[position].dependencies = dependencies;
        }
        self.positions =
            known.into_iter().map(|(id, position)| (id.to_owned(), position)).collect();
        self.graph = Arc::new(graph);
        (0..self.nodes.len()).for_each(|position| self.judge(position));
    }

    /// Takes the graph in which the running task at `position` is a choice of these subtasks.
    pub(crate) fn expand(&mut self, position: usize, graph: Graph, subtasks: Vec<Task>) {
        self.nodes[position].phase = Phase::Waiting;
        self.nodes[position].subtasks = subtasks;
        self.replace(graph);
    }

    pub(crate) fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    pub(crate) fn task(&self, position: usize) -> &Task {
        &self.graph.tasks[position]
    }

    pub(crate) fn position(&self, id: &str) -> Option<usize> {
        self.positions.get(id).copied()
    }

    /// The progress of a task; one that does not exist yet is open.
    pub(crate) fn standing(&self, id: &str) -> Standing {
        match self.position(id).map(|position| &self.nodes[position]) {
            Some(node) if node.phase == Phase::Ended => Standing::Ended,
            Some(node) if node.started => Standing::Started,
            _ => Standing::Open,
        }
    }

    pub(crate) fn has_started(&self, position: usize) -> bool {
        self.nodes[position].started
    }

    /// The next choice that can be made.
    pub(crate) fn next_choice(&self) -> Option<usize> {
        self.choices.first().copied()
    }

    /// The next task whose join cannot be satisfied any more.
    pub(crate) fn next_doomed(&self) -> Option<usize> {
        self.doomed.first().copied()
    }

    /// The ready task to start next.
    pub(crate) fn next_ready(&self) -> Option<usize> {
        self.ready.first().map(|rank| rank.position)
    }

    /// Marks a ready task as running, and returns its parents.
    pub(crate) fn begin(&mut self, position: usize) -> Vec<Ended<O>> {
        self.leave(position);
        self.nodes[position].phase = Phase::Running;
        self.nodes[position].started = true;
        self.parents(position)
    }

    /// The dependencies that have succeeded, in the task's order; for a tolerant task, all that
    /// ended.
    fn parents(&self, position: usize) -> Vec<Ended<O>> {
        let all = self.task(position).tolerant;
        let ended = self.nodes[position]
            .dependencies
            .iter()
            .filter_map(|dependency| self.nodes[*dependency].ended.as_ref());
        ended.filter(|ended| all || ended.observation.ending.is_success()).cloned().collect()
    }

    /// Returns the reason why the task cannot start, by its join.
    pub(crate) fn reason(&mut self, position: usize) -> String {
        let blames: Vec<String> = self.nodes[position]
            .dependencies
            .iter()
            .filter_map(|dependency| self.blame(*dependency))
            .collect();
        let join = self.task(position).join;
        let reason = join::reason(join, &blames);
        // A chain of skipped tasks names its nearest link and its beginning, not every link.
        let first = self.nodes[position]
            .dependencies
            .iter()
            .map(|dependency| &self.nodes[*dependency])
            .find(|node| is_bad(node));
        let root = first.and_then(|node| node.root.clone()).filter(|_| join == Join::AllOf);
        self.nodes[position].root = Some(root.unwrap_or_else(|| reason.clone()));
        reason
    }

    fn blame(&self, position: usize) -> Option<String> {
        let node = &self.nodes[position];
        let ended = node.ended.as_ref()?;
        join::blame(&ended.task.id, &ended.observation.ending, node.root.as_deref())
    }

    /// Marks a task as ended. `None` when it had ended already.
    pub(crate) fn end(
        &mut self,
        position: usize,
        mut observation: Observation,
        output: Option<O>,
    ) -> Option<&Ended<O>> {
        if self.nodes[position].phase == Phase::Ended {
            return None;
        }
        self.leave(position);
        let subtasks = std::mem::take(&mut self.nodes[position].subtasks);
        if !subtasks.is_empty() {
            observation.subtasks = subtasks;
        }
        self.nodes[position].phase = Phase::Ended;
        self.nodes[position].ended =
            Some(Ended { task: self.task(position).clone(), observation, output });
        for dependent in self.nodes[position].dependents.clone() {
            self.count(position, dependent);
            self.judge(dependent);
        }
        self.nodes[position].ended.as_ref()
    }

    /// Tasks that have not ended and that nothing needs any more, in graph order.
    pub(crate) fn find_unneeded(&self) -> Vec<usize> {
        let mut needed = vec![false; self.nodes.len()];
        let mut open: Vec<usize> = self.position(&self.graph.answer).into_iter().collect();
        while let Some(position) = open.pop() {
            let node = &self.nodes[position];
            if std::mem::replace(&mut needed[position], true)
                || !matches!(node.phase, Phase::Waiting | Phase::Doomed)
            {
                continue;
            }
            open.extend(
                node.dependencies
                    .iter()
                    .filter(|dependency| self.nodes[**dependency].phase != Phase::Ended),
            );
        }
        self.open().filter(|position| !needed[*position]).collect()
    }

    /// Tasks that have not ended, in graph order.
    pub(crate) fn open(&self) -> impl Iterator<Item = usize> {
        self.nodes
            .iter()
            .enumerate()
            .filter(|(_, node)| node.phase != Phase::Ended)
            .map(|(position, _)| position)
    }

    /// The graph and all tasks that ended.
    pub(crate) fn close(self) -> (Graph, BTreeMap<TaskId, Ended<O>>) {
        let ended = self
            .nodes
            .into_iter()
            .filter_map(|node| node.ended)
            .map(|ended| (ended.task.id.clone(), ended))
            .collect();
        (Arc::unwrap_or_clone(self.graph), ended)
    }

    /// Counts a dependency that has ended for its dependent.
    fn count(&mut self, dependency: usize, dependent: usize) {
        if is_bad(&self.nodes[dependency]) {
            self.nodes[dependent].bad += 1;
        } else if self.nodes[dependency].ended.is_some() {
            self.nodes[dependent].good += 1;
        }
    }

    /// Puts a task that has not started into its queue.
    fn judge(&mut self, position: usize) {
        if matches!(self.nodes[position].phase, Phase::Running | Phase::Ended) {
            return;
        }
        self.leave(position);
        let graph = Arc::clone(&self.graph);
        let task = &graph.tasks[position];
        let node = &mut self.nodes[position];
        node.phase = match join::judge(task, node.good, node.bad) {
            Verdict::Wait => Phase::Waiting,
            Verdict::Start => Phase::Ready,
            Verdict::Never => Phase::Doomed,
        };
        match node.phase {
            Phase::Ready if task.operation == Operation::Choose => {
                self.choices.insert(position);
            }
            Phase::Ready => drop(self.ready.insert(Rank { priority: task.priority, position })),
            Phase::Doomed => drop(self.doomed.insert(position)),
            Phase::Waiting | Phase::Running | Phase::Ended => {}
        }
    }

    /// Removes a task from all queues.
    fn leave(&mut self, position: usize) {
        match self.nodes[position].phase {
            Phase::Ready => {
                self.choices.remove(&position);
                self.ready.remove(&Rank { priority: self.task(position).priority, position });
            }
            Phase::Doomed => drop(self.doomed.remove(&position)),
            Phase::Waiting | Phase::Running | Phase::Ended => {}
        }
    }
}
