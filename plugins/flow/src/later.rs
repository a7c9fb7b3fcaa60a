//! Continuing a flow after other plugins. Branches that wait for the plugins of their nodes are
//! written into the context of a task that depends on the tasks of these plugins. The flow reads
//! them there again and follows the edges by how those tasks ended.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use syrch_flows::{DEFAULT, Flow, NONE, SOLVER, UNSURE};
use syrch_plugin::attempt::{Chain, Ended, Statement, candidate_id};
use syrch_plugin::brief::Tried;
use syrch_plugin::prelude::*;
use syrch_plugin::serde_json::{self, Map, Value};
use syrch_plugin::text::count32;

use crate::branch::{Ballot, Branch, Fork, Frame, Passed, State};
use crate::outcome::solver_task;
use crate::walk::{BRANCHES, Walk};

/// The key of a task's context that has the branches.
const KEY: &str = "flow";
/// The size of a context, in bytes, above which it leaves out what was tried. The host refuses one
/// of 256 KiB.
const CONTEXT: usize = 200 << 10;

/// A walk as it stands in a context.
#[derive(Serialize, Deserialize)]
struct Saved {
    branches: Vec<SavedBranch>,
    visits: u32,
    forks: u32,
    rounds: u32,
}

#[derive(Serialize, Deserialize)]
struct SavedBranch {
    frames: Vec<Frame>,
    forks: Vec<Fork>,
    state: SavedState,
    tried: Vec<(String, String)>,
    errors: Errors,
    last_id: Option<String>,
    written: Option<(String, Option<f64>)>,
    groups: Vec<Vec<SavedStatement>>,
    replied: u32,
    is_chosen: bool,
    doubtful: Option<SavedStatement>,
    without_statement: u32,
    rejected: u32,
    why: String,
}

#[derive(Serialize, Deserialize)]
enum SavedState {
    Waiting,
    Ended,
    Abstained,
    Handed(String),
    Away,
    Failed { kind: String, message: String, retryable: bool },
    Joined,
}

/// The counts of a chain or of a statement.
#[derive(Default, Serialize, Deserialize)]
struct Errors {
    attempts: u32,
    syntax: u32,
    schema: u32,
    execution: u32,
}

/// A statement that ran.
#[derive(Serialize, Deserialize)]
struct SavedStatement {
    id: String,
    sql: String,
    stated: Option<f64>,
    confidence: Option<f64>,
    errors: Errors,
}

/// Divides the dependencies of a task into its own and those that plugins of the flow solved.
pub(crate) fn split<'p>(task: &Task, parents: &'p [Parent]) -> (&'p [Parent], &'p [Parent]) {
    let own = if read_context(task).contains_key(KEY) {
        parents.iter().take_while(|parent| node_of(&parent.task).is_none()).count()
    } else {
        parents.len()
    };
    parents.split_at(own)
}

/// The node whose plugin a task calls.
fn node_of(task: &Task) -> Option<&str> {
    match &task.operation {
        Operation::Other(name) => name.strip_prefix(SOLVER),
        Operation::Solve | Operation::Retrieve(_) | Operation::Choose => None,
    }
}

/// The context of a task, which has join keys and requirements of the planner.
fn read_context(task: &Task) -> Map<String, Value> {
    task.context.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// A kind of failure by its word, for the kinds that decide how a search ends.
static KINDS: [(FailureKind, &str); 5] = [
    (FailureKind::Model, "model"),
    (FailureKind::Database, "database"),
    (FailureKind::Budget, "budget"),
    (FailureKind::Unsupported, "unsupported"),
    (FailureKind::Cancelled, "cancelled"),
];

impl SavedState {
    /// `None` for a branch that goes on, of which there is none when a flow waits.
    fn from_state(state: &State) -> Option<Self> {
        Some(match state {
            State::Open => return None,
            State::Waiting => Self::Waiting,
            State::Ended => Self::Ended,
            State::Abstained => Self::Abstained,
            State::Handed(name) => Self::Handed(name.clone()),
            State::Away => Self::Away,
            State::Failed(failure) => {
                let known = KINDS.iter().find(|(kind, _)| *kind == failure.kind);
                Self::Failed {
                    kind: known.map_or("other", |(_, word)| *word).to_owned(),
                    message: failure.message.clone(),
                    retryable: failure.retryable,
                }
            }
            State::Joined => Self::Joined,
        })
    }

    fn into_state(self) -> State {
        match self {
            Self::Waiting => State::Waiting,
            Self::Ended => State::Ended,
            Self::Abstained => State::Abstained,
            Self::Handed(name) => State::Handed(name),
            Self::Away => State::Away,
            Self::Failed { kind, message, retryable } => {
                let known = KINDS.iter().find(|(_, word)| *word == kind);
                let kind = known.map_or(FailureKind::Other(kind), |(kind, _)| kind.clone());
                State::Failed(Failure { kind, message, retryable })
            }
            Self::Joined => State::Joined,
        }
    }
}

impl Errors {
    fn from_signals(signals: &Signals) -> Self {
        Self {
            attempts: signals.attempts,
            syntax: signals.syntax_errors,
            schema: signals.schema_errors,
            execution: signals.execution_errors,
        }
    }

    /// Writes the counts into signals that have the shape of a result, or nothing.
    fn into_signals(self, signals: Signals, max_attempts: u32) -> Signals {
        Signals {
            attempts: self.attempts,
            max_attempts,
            syntax_errors: self.syntax,
            schema_errors: self.schema,
            execution_errors: self.execution,
            ..signals
        }
    }
}

impl SavedStatement {
    fn from_passed(passed: &Passed) -> Self {
        let candidate = &passed.candidate;
        Self {
            id: candidate.id.clone(),
            sql: candidate.sql.clone(),
            stated: candidate.raw_confidence,
            confidence: candidate.confidence,
            errors: Errors::from_signals(&candidate.signals),
        }
    }
}

impl SavedBranch {
    fn from_branch(branch: &Branch) -> Option<Self> {
        let ballot = &branch.ballot;
        let groups = ballot.groups.iter();
        let tried = branch.chain.tried.iter();
        Some(Self {
            state: SavedState::from_state(&branch.state)?,
            frames: branch.frames.clone(),
            forks: branch.forks.clone(),
            tried: tried.map(|tried| (tried.sql.clone(), tried.wrong.clone())).collect(),
            errors: Errors::from_signals(&branch.chain.signals),
            last_id: branch.chain.last_id.clone(),
            written: branch.written.as_ref().map(|one| (one.sql.clone(), one.confidence)),
            groups: groups
                .map(|group| group.iter().map(SavedStatement::from_passed).collect())
                .collect(),
            replied: ballot.replied,
            is_chosen: ballot.is_chosen,
            doubtful: branch.doubtful.as_ref().map(SavedStatement::from_passed),
            without_statement: branch.without_statement,
            rejected: branch.rejected,
            why: branch.why.clone(),
        })
    }

    /// The statements that ran.
    fn statements(&self) -> impl Iterator<Item = &SavedStatement> {
        self.groups.iter().flatten().chain(&self.doubtful)
    }

    /// Returns true if each frame is at a node of the flow, and each but the last at one that has
    /// an inner flow.
    fn fits(&self, outermost: &Flow) -> bool {
        let mut flow = Some(outermost);
        !self.frames.is_empty()
            && self.frames.iter().all(|frame| {
                let node = flow.and_then(|flow| flow.nodes.get(frame.node));
                flow = node.and_then(|node| node.inner.as_ref());
                node.is_some()
            })
    }
}

impl Saved {
    /// Leaves out what was tried, which repairs alone need, where it is too much for a context.
    fn fit(mut self) -> Self {
        let size = serde_json::to_string(&self).map_or(0, |text| text.len());
        if size > CONTEXT {
            self.branches.iter_mut().for_each(|branch| branch.tried.clear());
        }
        self
    }
}

impl<H: SolverHost> Walk<'_, H> {
    /// The tasks that replace this one where branches wait for other plugins: one for each plugin,
    /// and the one that continues after them. `own`: what the task depends on.
    pub(crate) fn postpone(&self, own: &[Parent]) -> Vec<Task> {
        let flow = self.flow();
        let away = self.branches.iter().filter(|branch| branch.state == State::Away);
        let mut nodes: Vec<String> = away.map(|branch| branch.path(flow)).collect();
        nodes.sort_unstable();
        if nodes.is_empty() {
            return Vec::new();
        }
        let own: Vec<String> = own.iter().map(|parent| parent.task.id.clone()).collect();
        let mut context = read_context(self.task);
        let without = match context.remove(KEY) {
            Some(_) if context.is_empty() => None,
            Some(_) => Some(Value::Object(context.clone()).to_string()),
            None => self.task.context.clone(),
        };
        let free = (1_usize..).map(|number| format!("S{number}")).filter(|id| !own.contains(id));
        let mut tasks: Vec<Task> = nodes
            .iter()
            .zip(free)
            .map(|(node, id)| Task {
                join: Join::AllOf,
                depends_on: own.clone(),
                context: without.clone(),
                ..solver_task(self.task, id, node)
            })
            .collect();
        let branches = self.branches.iter().filter_map(SavedBranch::from_branch).collect();
        let rounds = self.rounds + 1;
        let saved = Saved { branches, visits: self.visits, forks: self.forks, rounds };
        let saved = saved.fit();
        for statement in saved.branches.iter().flat_map(SavedBranch::statements) {
            self.host.keep(&statement.id, "the flow continues with it after other plugins");
        }
        context.insert(KEY.to_owned(), serde_json::to_value(saved).unwrap_or_default());
        let free = ["then", "then-2"].into_iter().find(|id| !own.iter().any(|own| own == id));
        tasks.push(Task {
            id: free.unwrap_or("then-3").to_owned(),
            join: Join::AllOf,
            tolerant: true,
            depends_on: own.iter().chain(tasks.iter().map(|task| &task.id)).cloned().collect(),
            context: Some(Value::Object(context).to_string()),
            ..self.task.clone()
        });
        tasks
    }

    /// Continues a flow that waited, if this is the task that does: `solved` are the tasks of the
    /// plugins.
    ///
    /// # Errors
    /// The context has branches of another flow.
    pub(crate) fn resume(&mut self, solved: &[Parent]) -> Result<(), Failure> {
        if solved.is_empty() {
            return Ok(());
        }
        let saved = read_context(self.task).remove(KEY).unwrap_or_default();
        let saved: Saved = serde_json::from_value(saved).map_err(internal)?;
        let flow = self.flow();
        let count = saved.branches.len();
        if count == 0 || count > BRANCHES || !saved.branches.iter().all(|one| one.fits(flow)) {
            return Err(internal("the context of the task has branches of another flow"));
        }
        self.visits = saved.visits;
        self.forks = saved.forks;
        self.rounds = saved.rounds;
        let found = solved.iter().filter_map(|parent| match &parent.output {
            Output::Relation(relation) => Some(relation.candidate.sql.as_str()),
            _ => None,
        });
        let earlier = saved.branches.iter().flat_map(SavedBranch::statements);
        let statements: Vec<&str> = earlier.map(|one| one.sql.as_str()).chain(found).collect();
        // What stopped the database is in the trials, too.
        let _ = self.trials.run(self.host, statements);
        let mut ids = BTreeMap::new();
        self.branches.clear();
        for branch in saved.branches {
            let branch = self.restore(branch, &mut ids);
            self.branches.push(branch);
        }
        for id in 0..self.branches.len() {
            if self.branches[id].state == State::Away {
                self.come_back(id, solved);
            }
        }
        Ok(())
    }

    /// A branch as it was. A statement that stands becomes a candidate of this task; `ids` are the
    /// new ids of those of the task before.
    fn restore(&mut self, saved: SavedBranch, ids: &mut BTreeMap<String, String>) -> Branch {
        let groups: Vec<Vec<Passed>> = saved
            .groups
            .into_iter()
            .map(|group| group.into_iter().filter_map(|one| self.bring(one, ids)).collect())
            .filter(|group: &Vec<Passed>| !group.is_empty())
            .collect();
        let doubtful = saved.doubtful.and_then(|one| self.bring(one, ids));
        let mut branch = Branch::new(self.flow(), self.attempts);
        branch.id = count32(self.branches.len());
        branch.frames = saved.frames;
        branch.forks = saved.forks;
        branch.state = saved.state.into_state();
        let tried = saved.tried.into_iter().map(|(sql, wrong)| Tried { sql, wrong });
        branch.chain = Chain {
            tried: tried.collect(),
            signals: saved.errors.into_signals(Signals::default(), self.attempts),
            last_id: saved.last_id.map(|id| ids.get(&id).cloned().unwrap_or(id)),
        };
        branch.written = saved.written.map(|(sql, confidence)| Statement {
            sql,
            confidence,
            logprob: None,
            tokens: 0.0,
        });
        branch.ballot = Ballot { groups, replied: saved.replied, is_chosen: saved.is_chosen };
        branch.doubtful = doubtful;
        branch.without_statement = saved.without_statement;
        branch.rejected = saved.rejected;
        branch.why = saved.why;
        branch
    }

    /// A statement of the task before as a candidate of this one; `None` if it runs no more.
    fn bring(
        &mut self,
        saved: SavedStatement,
        ids: &mut BTreeMap<String, String>,
    ) -> Option<Passed> {
        let trial = self.trials.get(&saved.sql)?.clone();
        let Ended::Ran(ran) = trial.ended else { return None };
        let id = match ids.get(&saved.id) {
            Some(id) => id.clone(),
            None => self.next_id(),
        };
        let candidate = Candidate {
            id: id.clone(),
            parents: vec![saved.id.clone()],
            origin: "continue".to_owned(),
            sql: saved.sql,
            raw_confidence: saved.stated,
            confidence: saved.confidence,
            signals: saved.errors.into_signals(trial.signals, self.attempts),
            ..Candidate::default()
        };
        if ids.insert(saved.id, id).is_none() {
            self.host.propose(&candidate);
        }
        Some(Passed { candidate, ran })
    }

    fn next_id(&mut self) -> String {
        self.proposed += 1;
        candidate_id(&self.task.id, self.proposed)
    }

    /// Ends the node of a branch by how the task of its plugin ended.
    fn come_back(&mut self, id: usize, solved: &[Parent]) {
        let path = self.branches[id].path(self.flow());
        self.branches[id].state = State::Open;
        let parent = solved.iter().find(|parent| node_of(&parent.task) == Some(path.as_str()));
        match parent.map(|parent| &parent.output) {
            Some(Output::Relation(relation)) => self.take_found(id, &relation.candidate),
            Some(Output::Failed(failure)) => self.take_nothing(id, failure),
            _ => {
                let why = format!("the plugin of `{path}` has no result");
                self.take_nothing(id, &failure(FailureKind::Other("no-result".to_owned()), why));
            }
        }
    }

    /// Takes the statement of a plugin. Where an edge says so, one that the plugin is not sure of
    /// is only the best so far.
    fn take_found(&mut self, id: usize, found: &Candidate) {
        let Some(Ended::Ran(ran)) = self.trials.get(&found.sql).map(|trial| trial.ended.clone())
        else {
            let why = "the statement of the plugin does not run any more";
            return self.take_nothing(id, &failure(FailureKind::Database, why));
        };
        let candidate = Candidate {
            id: self.next_id(),
            parents: vec![found.id.clone()],
            origin: "solver".to_owned(),
            ..found.clone()
        };
        self.host.propose(&candidate);
        let node = self.branches[id].node(self.flow());
        let confidence = found.confidence.or(found.raw_confidence).unwrap_or_default();
        let is_unsure =
            node.edges.contains_key(UNSURE) && confidence < node.number("sure").unwrap_or_default();
        let branch = &mut self.branches[id];
        branch.chain.last_id = Some(candidate.id.clone());
        branch.written = None;
        let passed = Passed { candidate, ran };
        if !is_unsure {
            let before = std::mem::take(&mut branch.ballot).groups.into_iter().flatten();
            for other in before.chain(branch.doubtful.take()) {
                let why = format!("{} took its place", passed.candidate.id);
                self.host.discard(&other.candidate.id, &why);
            }
            self.pass(id, Ballot::from_statement(passed));
            return self.leave(id, DEFAULT);
        }
        let wrong = format!("another plugin wrote it, with a confidence of {confidence:.2} in it");
        branch.chain.fail(&passed.candidate.sql, wrong);
        let best = branch.final_ballot().best().cloned();
        let (best, other) = match best {
            Some(best) if best.candidate.confidence.unwrap_or_default() >= confidence => {
                (best, Some(passed))
            }
            best => (passed, best),
        };
        if let Some(other) = other {
            let why = format!("{} has a higher confidence", best.candidate.id);
            self.host.discard(&other.candidate.id, &why);
        }
        branch.ballot = Ballot::default();
        branch.doubtful = Some(best);
        self.leave(id, UNSURE);
    }

    /// A plugin found nothing: what stood before stands.
    fn take_nothing(&mut self, id: usize, wrong: &Failure) {
        let node = self.branches[id].node(self.flow());
        self.branches[id].why.clone_from(&wrong.message);
        if node.fallback.is_some() && !node.edges.contains_key(NONE) {
            return self.fail(id, &wrong.message, false, State::Failed(wrong.clone()));
        }
        self.leave(id, NONE);
        let branch = &mut self.branches[id];
        let has_nothing = branch.final_ballot().best().is_none();
        let is_outage = KINDS.iter().any(|(kind, _)| *kind == wrong.kind);
        if branch.state == State::Ended && has_nothing && is_outage {
            branch.state = State::Failed(wrong.clone());
        }
    }
}
