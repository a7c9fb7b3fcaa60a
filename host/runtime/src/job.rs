//! The call of a role and its result as values, which are the same whether the guest runs in this
//! process or in another.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use syrch_core::ports::Plan;
use syrch_core::roles::{
    Answer, Attempt, Call, Finished, Linked, Outcome, Output, Parent, Proposal, Rival, Role,
};
use syrch_core::validate::{self, Invalid};
use syrch_core::{
    Catalog, Graph, Limits, Observation, Problem, Question, ResultSet, Signals, Step, Task, Verdict,
};

/// The facts of a role call that its store is made of.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct CallLimits {
    pub(crate) role: Option<Role>,
    /// A number that calls of the same search share.
    pub(crate) search: usize,
    pub(crate) seed: u64,
    pub(crate) memory: Option<usize>,
    pub(crate) cpu: Option<Duration>,
}

impl CallLimits {
    pub(crate) fn new(role: Role, call: &Call) -> Self {
        Self {
            role: Some(role),
            // All calls of a search charge the same ledger.
            search: Arc::as_ptr(&call.ledger).addr(),
            seed: call.ports.run.seed(),
            memory: call.memory,
            cpu: call.cpu,
        }
    }
}

/// The limits of a role call, of which its plugin may be granted less than others.
pub(crate) fn narrow_limits(limits: &Arc<Limits>, call: &CallLimits) -> Arc<Limits> {
    let memory = call.memory.filter(|memory| *memory < limits.memory);
    let cpu = call.cpu.filter(|cpu| *cpu < limits.cpu_per_call);
    if memory.is_none() && cpu.is_none() {
        return Arc::clone(limits);
    }
    Arc::new(Limits {
        memory: memory.unwrap_or(limits.memory),
        cpu_per_call: cpu.unwrap_or(limits.cpu_per_call),
        ..Limits::clone(limits)
    })
}

/// The description that a plugin returned, unchecked.
#[derive(Serialize, Deserialize)]
pub(crate) struct Description {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) summary: String,
    pub(crate) config_schema: String,
}

/// The CPU time and the memory that a plugin has used, over all calls of one role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Used {
    /// The CPU time of all calls.
    pub cpu: Duration,
    /// The most linear memory that one call had, in bytes.
    pub memory_peak: u64,
}

/// The arguments of a call of a role, without the rows of results.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) enum RoleCall<'a> {
    Link {
        problem: Cow<'a, Problem>,
        catalog: Cow<'a, Catalog>,
    },
    Plan {
        problem: Cow<'a, Problem>,
        catalog: Cow<'a, Catalog>,
    },
    Next {
        problem: Cow<'a, Problem>,
        catalog: Cow<'a, Catalog>,
        graph: Cow<'a, Graph>,
        seen: Cow<'a, [Observation]>,
        fresh: usize,
    },
    Solve {
        problem: Cow<'a, Problem>,
        catalog: Cow<'a, Catalog>,
        task: Cow<'a, Task>,
        parents: Cow<'a, [Parent]>,
    },
    Calibrate {
        claims: Cow<'a, [(f64, Signals)]>,
    },
    Judge {
        problem: Cow<'a, Problem>,
        catalog: Cow<'a, Catalog>,
        task: Cow<'a, Task>,
        rivals: Cow<'a, [Rival]>,
    },
    Assess {
        problem: Cow<'a, Problem>,
        catalog: Cow<'a, Catalog>,
        graph: Cow<'a, Graph>,
        seen: Cow<'a, [Observation]>,
    },
    Aggregate {
        problem: Cow<'a, Problem>,
        graph: Cow<'a, Graph>,
        finished: Cow<'a, [Finished]>,
        seen: Cow<'a, [Observation]>,
    },
    Rewrite {
        original: Cow<'a, str>,
        best: Cow<'a, str>,
        plan: Cow<'a, Plan>,
        catalog: Cow<'a, Catalog>,
        history: Cow<'a, [Attempt]>,
    },
}

/// The result of a [`RoleCall`].
#[derive(Serialize, Deserialize)]
pub(crate) enum RoleResult {
    Linked(Linked),
    Graph(Graph),
    Step(Step),
    Outcome(Outcome),
    Calibrated(Vec<f64>),
    Verdicts(Vec<Verdict>),
    Questions(Vec<Question>),
    Answer(Option<Answer>),
    Proposal(Option<Proposal>),
}

impl RoleCall<'_> {
    /// The function that is called, in errors.
    pub(crate) fn export(&self) -> &'static str {
        match self {
            Self::Link { .. } => "linker.link",
            Self::Plan { .. } => "planner.plan",
            Self::Next { .. } => "planner.next",
            Self::Solve { .. } => "solver.solve",
            Self::Calibrate { .. } => "calibrator.calibrate",
            Self::Judge { .. } => "reward.judge",
            Self::Assess { .. } => "clarifier.assess",
            Self::Aggregate { .. } => "aggregator.aggregate",
            Self::Rewrite { .. } => "rewriter.rewrite",
        }
    }

    /// The results whose handles the guest gets, in the order in which it gets them.
    pub(crate) fn results(&self) -> Vec<&Arc<ResultSet>> {
        match self {
            Self::Solve { parents, .. } => parents
                .iter()
                .filter_map(|parent| match &parent.output {
                    Output::Relation { results, .. } => Some(results),
                    Output::Hits(_) | Output::Failed(_) => None,
                })
                .collect(),
            Self::Judge { rivals, .. } => rivals.iter().map(|rival| &rival.results).collect(),
            Self::Aggregate { finished, .. } => {
                finished.iter().map(|finished| &finished.results).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Checks what a guest returned for this call.
    pub(crate) fn check(&self, result: &RoleResult, limits: &Limits) -> Result<(), Invalid> {
        match (self, result) {
            (Self::Link { catalog, .. }, RoleResult::Linked(linked)) => {
                validate::linking(linked, catalog, limits)
            }
            (Self::Plan { .. }, RoleResult::Graph(graph)) => validate::graph(graph, limits),
            (Self::Next { .. }, RoleResult::Step(step)) => validate::step(step, limits),
            (Self::Solve { .. }, RoleResult::Outcome(outcome)) => {
                validate::outcome(outcome, limits)
            }
            (Self::Calibrate { claims }, RoleResult::Calibrated(values)) => {
                validate::calibration(values, claims.len())
            }
            (Self::Judge { rivals, .. }, RoleResult::Verdicts(verdicts)) => {
                validate::verdicts(verdicts, rivals.len(), limits)
            }
            (Self::Assess { .. }, RoleResult::Questions(questions)) => {
                validate::questions(questions, limits)
            }
            (Self::Aggregate { finished, .. }, RoleResult::Answer(answer)) => {
                let known: Vec<&str> = finished.iter().map(|each| each.task.id.as_str()).collect();
                answer.as_ref().map_or(Ok(()), |answer| validate::answer(answer, &known, limits))
            }
            (Self::Rewrite { .. }, RoleResult::Proposal(proposal)) => {
                proposal.as_ref().map_or(Ok(()), |proposal| validate::proposal(proposal, limits))
            }
            _ => Err(Invalid("a result of another role".to_owned())),
        }
    }
}
