//! The solver: the progressive loop over a beam of branches.
//!
//! In each round every open branch executes the sub-task that it is most confident in, and takes
//! the statement over when it is accepted. One that is not makes branches (`expand`). Branches are
//! ranked by cumulative reward, and only the best stay open.

mod attempt;
pub(crate) mod branch;
mod conclude;
mod expand;
mod prompts;
mod recalculate;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use syrch_plugin::brief::{Brief, PromptSize, Tried};
use syrch_plugin::prelude::*;
use syrch_plugin::replies::plan_of;

use crate::Progressive;
use crate::class::ErrorClass;
use crate::settings::Settings;
use crate::solver::branch::{Branch, Made};
use crate::subtask::{Subtask, read_from_task};
use attempt::{Came, Draft};

/// Model calls of a step and of the end: a statement, its judgement, and the judgement of the
/// whole.
const STEP_CALLS: u32 = 3;

impl SolverRole for Progressive {
    fn solve(
        &self,
        host: &impl SolverHost,
        problem: &Problem,
        catalog: &Catalog,
        task: &Task,
        parents: &[Parent],
    ) -> Result<Outcome, Failure> {
        Solve::new(host, &self.settings, problem, catalog, task, parents).run()
    }
}

/// The purpose of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Goal {
    /// The sub-task at this place.
    Step(usize),
    /// The task as a whole.
    Whole,
}

/// The reason why nothing more can be asked or run.
#[derive(Debug, Clone)]
pub(crate) enum Stop {
    /// The model abstains, which is not a failure.
    Abstained(String),
    Failed(Failure),
}

impl Stop {
    fn words(&self) -> &str {
        match self {
            Self::Abstained(why) => why,
            Self::Failed(failure) => &failure.message,
        }
    }
}

/// A try at a goal that was not accepted.
#[derive(Debug, Clone)]
pub(crate) struct Miss {
    /// Every statement so far, with what was wrong and what would mend it.
    pub(crate) tried: Vec<Tried>,
    pub(crate) class: Option<ErrorClass>,
    pub(crate) reason: String,
    /// The statement, where it was accepted with less than was asked for.
    pub(crate) below: Option<Made>,
    /// The id of the last candidate, which the next one extends; `None` if there is none yet.
    pub(crate) after: Option<String>,
}

/// The state of one task's search.
pub(crate) struct Solve<'a, H> {
    host: &'a H,
    settings: &'a Settings,
    task: &'a Task,
    catalog: &'a Catalog,
    brief: Brief<'a>,
    plan: Vec<String>,
    subtasks: Vec<Subtask>,
    /// Statements for one draft, repairs of its syntax included.
    tries: u32,
    candidates: u32,
    branches: u32,
    iterations: u32,
    /// The record of each branch.
    records: BTreeMap<u32, Value>,
    errors: BTreeMap<&'static str, u32>,
    /// The candidates that extend a candidate.
    extended: BTreeMap<String, Vec<String>>,
    recalculates: bool,
    has_warned_of_budget: bool,
    /// Replies in a row without a statement that ran.
    in_vain: u32,
    stop: Option<Stop>,
}

impl<'a, H: SolverHost> Solve<'a, H> {
    pub(crate) fn new(
        host: &'a H,
        settings: &'a Settings,
        problem: &Problem,
        catalog: &'a Catalog,
        task: &'a Task,
        parents: &[Parent],
    ) -> Self {
        let size =
            PromptSize { catalog_bytes: settings.catalog_bytes, parent_rows: settings.parent_rows };
        let (mut subtasks, notes) = read_from_task(task, settings.max_subtasks as usize);
        notes.iter().for_each(|note| host.note(Level::Warn, note));
        if subtasks.is_empty() {
            subtasks.push(Subtask::whole(task));
        }
        Self {
            host,
            settings,
            task,
            catalog,
            brief: Brief::new(host, size, problem, catalog, task, parents),
            plan: plan_of(task),
            subtasks,
            // The user's attempts bound those at one step.
            tries: (settings.max_syntax_retries + 1).min(host.attempts()),
            candidates: 0,
            branches: 1,
            iterations: 0,
            records: BTreeMap::new(),
            errors: BTreeMap::new(),
            extended: BTreeMap::new(),
            recalculates: settings.recalculate_every > 0,
            has_warned_of_budget: false,
            in_vain: 0,
            stop: None,
        }
    }

    /// Rounds until nothing is executable, the rounds are used up, or nothing more can be spent;
    /// then the whole is judged.
    pub(crate) fn run(mut self) -> Result<Outcome, Failure> {
        let mut beam = vec![Branch::root(&self.subtasks)];
        while self.stop.is_none() && beam.iter().any(|branch| self.next(branch).is_some()) {
            if self.iterations == self.settings.max_iterations {
                self.warn(&format!(
                    "{} rounds are used up before all sub-tasks are executed",
                    self.iterations
                ));
                break;
            }
            if beam
                .iter()
                .filter(|branch| self.next(branch).is_some())
                .all(|branch| self.is_spent(branch))
            {
                self.warn("the budget does not last for another step: going on with what there is");
                break;
            }
            self.iterations += 1;
            let grown = beam.into_iter().flat_map(|branch| self.advance(branch)).collect();
            beam = self.narrow(grown);
        }
        self.conclude(beam)
    }

    fn next(&self, branch: &Branch) -> Option<usize> {
        branch.next(&self.subtasks, self.settings.dependents)
    }

    /// One step of one branch; what it becomes.
    fn advance(&mut self, mut branch: Branch) -> Vec<Branch> {
        if self.stop.is_some() || self.next(&branch).is_none() || self.is_spent(&branch) {
            return vec![branch];
        }
        self.refresh(&mut branch);
        let Some(place) = self.next(&branch) else { return vec![branch] };
        let goal = Goal::Step(place);
        let draft = Draft::first(branch.states[place].tried.clone());
        match self.attempt(&mut branch, goal, draft) {
            Came::Succeeded(made) => {
                self.take(&mut branch, goal, made);
                vec![branch]
            }
            Came::Missed(miss) => self.expand(branch, goal, miss),
            Came::Stopped => vec![branch],
        }
    }

    /// Takes a statement over into a branch.
    fn take(&mut self, branch: &mut Branch, goal: Goal, made: Made) {
        let id = made.candidate.id.clone();
        if let Some(earlier) = branch.last.as_ref().filter(|earlier| earlier.candidate.id != id) {
            let by = self.extended.entry(earlier.candidate.id.clone()).or_default();
            by.push(id.clone());
            self.host.discard(&earlier.candidate.id, &format!("extended by {}", by.join(" and ")));
        }
        let step = match goal {
            Goal::Step(place) => Some((place, &self.subtasks[place])),
            Goal::Whole => None,
        };
        let reward = made.reward;
        branch.take(step, made, self.catalog);
        let tables: Vec<&String> = branch.context.tables.iter().take(8).collect();
        let reported = json!({ "branch": branch.id, "iteration": self.iterations, "reward": reward,
                           "cumulative_reward": branch.cumulative,
                           "done": branch.context.done.len(), "tables": tables });
        self.host.event(Some(&id), "accumulated", &reported);
        self.record(branch, true);
    }

    /// The best branches by cumulative reward; earlier ones win a tie. Lines that have come to the
    /// same rows by the same sub-tasks are one.
    fn narrow(&mut self, grown: Vec<Branch>) -> Vec<Branch> {
        let mut apart: Vec<Branch> = Vec::new();
        for branch in rank(grown) {
            let twin = apart
                .iter()
                .find(|known| known.is_where(&branch))
                .and_then(|known| known.last.as_ref());
            if let (Some(twin), Some(made)) = (twin, &branch.last) {
                self.host.discard(
                    &made.candidate.id,
                    &format!("the same rows as {}", twin.candidate.id),
                );
                self.record(&branch, false);
            } else {
                apart.push(branch);
            }
        }
        let width = self.settings.beam_width as usize;
        let cut = apart.split_off(width.min(apart.len()));
        let least = apart.last().map_or(0.0, |branch| branch.cumulative);
        for branch in cut {
            self.record(&branch, false);
            let why = format!(
                "its branch was cut: cumulative reward {:.2}, where the {width} best have at \
                 least {least:.2}",
                branch.cumulative
            );
            if let Some(made) = &branch.last {
                self.host.discard(&made.candidate.id, &why);
            }
        }
        apart
    }

    fn record(&mut self, branch: &Branch, is_active: bool) {
        self.records.insert(branch.id, branch.json(is_active, &self.subtasks));
    }

    /// Returns true if the budget allows no further step of a branch. A branch that has a statement
    /// keeps one call for the judgement of the whole.
    fn is_spent(&self, branch: &Branch) -> bool {
        let left = self.host.remaining();
        let needed = if branch.last.is_some() { STEP_CALLS } else { 1 };
        left.time == TimeLeft::Over || left.llm_calls < needed || left.sql_runs == 0
    }

    fn count(&mut self, class: Option<ErrorClass>) {
        *self.errors.entry(class.map_or("unclassified", ErrorClass::name)).or_default() += 1;
    }

    fn warn(&self, message: &str) {
        self.host.note(Level::Warn, &format!("{}: {message}", self.task.id));
    }
}

/// Highest cumulative reward first, then fewer failures; earlier branches win a tie.
fn rank(mut branches: Vec<Branch>) -> Vec<Branch> {
    branches.sort_by(|a, b| {
        let failures = a.failures.len().cmp(&b.failures.len());
        b.cumulative.total_cmp(&a.cumulative).then(failures).then(a.id.cmp(&b.id))
    });
    branches
}
