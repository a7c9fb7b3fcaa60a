//! The pass over the records of a journal.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use syrch_core::ports::Level;
use syrch_core::text::clip;
use syrch_core::{Edit, Operation, SqlError, Stated, Task};

use super::calls::Calls;
use super::candidates::Results;
use super::{
    Answered, Asked, Change, Cost, LinkedNode, Note, OutcomeNode, RoleCall, Round, SearchTree,
    Shown, Status, TRACE_SCHEMA, TaskNode, TaskOrigin, Visit,
};
use crate::read::Journal;
use crate::record::{Ask, CallId, Event, Fact, Got, Record};

/// The most steps of a strategy's own that are named for one role call.
const STEPS: usize = 64;

/// The event by which a solver logs the visit of a node, and the most visits of one task.
const VISIT: &str = "visit";
const VISITS: usize = 256;
/// The most bytes of a node's name and of an action.
const NAME: usize = 200;

/// A tree that is being built.
pub(super) struct Builder<'a> {
    journal: &'a Journal,
    pub(super) shown: Shown,
    pub(super) tree: SearchTree,
    pub(super) calls: Calls,
    pub(super) results: Results<'a>,
    /// The index of each role call in the tree.
    places: HashMap<CallId, usize>,
    /// The statements that failed: round, task and text.
    failed: HashSet<(u32, String, String)>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(journal: &'a Journal, shown: Shown) -> Self {
        let header = &journal.header;
        let tree = SearchTree {
            schema: TRACE_SCHEMA.to_owned(),
            run: header.run.clone(),
            began_ms: header.began_ms,
            took_us: 0,
            resumed_ms: Vec::new(),
            host: header.host.clone(),
            question: header.problem.question.clone(),
            evidence: header.problem.evidence.clone(),
            answers: header.problem.answers.iter().cloned().map(Answered::from).collect(),
            database: header.catalog.database.clone(),
            dialect: header.catalog.dialect.name().to_owned(),
            provider: header.provider.clone(),
            models: header.models.clone(),
            plugins: header.plugins.clone(),
            access: Vec::new(),
            settings: (*header.settings).clone(),
            outcome: OutcomeNode { kind: "unfinished".to_owned(), ..OutcomeNode::default() },
            answer: None,
            rounds: Vec::new(),
            role_calls: Vec::new(),
            calls: Vec::new(),
            cost: Cost::default(),
            warnings: Vec::new(),
        };
        let calls = Calls::new(shown.prompts);
        let results = Results::from_journal(journal);
        Self {
            journal,
            shown,
            tree,
            calls,
            results,
            places: HashMap::new(),
            failed: HashSet::new(),
        }
    }

    pub(super) fn run(mut self) -> SearchTree {
        for record in &self.journal.records {
            match record {
                Record::Event { at_us, event } => self.event(*at_us, event),
                Record::Fact { at_us, fact } => self.fact(*at_us, fact),
                Record::Ledger { entry } => self.calls.apply(entry),
                Record::Resumed { at_unix_ms } => {
                    self.tree.resumed_ms.push(*at_unix_ms);
                    self.calls.resume();
                }
                Record::Rows { .. } => {}
            }
        }
        self.finish()
    }

    /// The last round, which is made if there is none yet.
    pub(super) fn round(&mut self) -> &mut Round {
        if self.tree.rounds.is_empty() {
            self.tree.rounds.push(Round::default());
        }
        let last = self.tree.rounds.len() - 1;
        &mut self.tree.rounds[last]
    }

    fn event(&mut self, at_us: u64, event: &Event) {
        self.tree.took_us = self.tree.took_us.max(at_us);
        match event {
            Event::Call { call, role, task, from } => {
                let round = self.round().number;
                self.places.insert(*call, self.tree.role_calls.len());
                self.tree.role_calls.push(RoleCall {
                    call: *call,
                    round,
                    role: *role,
                    task: task.clone(),
                    within: from.map(|(outer, _)| outer),
                    began_us: at_us,
                    ended_us: None,
                    error: None,
                    notes: Vec::new(),
                    steps: Vec::new(),
                });
            }
            Event::Issue { call, ticket, ask } => self.calls.issue(at_us, *call, *ticket, ask),
            Event::Done { call, ticket, got } => {
                if let Some(ask) = self.calls.end_call(at_us, *call, *ticket, got) {
                    self.add_answer(*call, &ask, got);
                }
            }
            Event::Port { call, ask, .. } => self.port(at_us, *call, ask),
            Event::Left { call } => self.calls.left(at_us, *call),
            Event::End { call, error } => {
                self.calls.left(at_us, *call);
                if let Some(role_call) = self.role_call(*call) {
                    role_call.ended_us = Some(at_us);
                    role_call.error = error.as_ref().map(ToString::to_string);
                }
            }
            Event::User { question, answer } => {
                let text = question.text.clone();
                let choices = question.choices.clone();
                self.round().questions.push(Asked { at_us, text, choices, answer: answer.clone() });
            }
            Event::Closed { task } => {
                let round = self.round().number;
                for call in self.calls_of(round, task) {
                    self.calls.left(at_us, call);
                    self.calls.left_host(at_us, call);
                }
            }
            Event::Turn(_) | Event::Known { .. } | Event::Over { .. } | Event::Bench { .. } => {}
        }
    }

    pub(super) fn role_call(&mut self, call: CallId) -> Option<&mut RoleCall> {
        let place = *self.places.get(&call)?;
        self.tree.role_calls.get_mut(place)
    }

    fn calls_of(&self, round: u32, task: &str) -> Vec<CallId> {
        self.tree
            .role_calls
            .iter()
            .filter(|call: &&RoleCall| call.round == round && call.task == task)
            .map(|call| call.call)
            .collect()
    }

    /// A port call that was answered at once.
    fn port(&mut self, at_us: u64, call: CallId, ask: &Ask) {
        match ask {
            Ask::GiveUp(ticket) => self.calls.give_up(at_us, call, *ticket),
            Ask::Note(level, message) => self.note(at_us, call, *level, message),
            Ask::Step(candidate, name, data) => {
                if name == VISIT {
                    self.visit(call, candidate.as_ref(), data);
                }
                if let Some(role_call) =
                    self.role_call(call).filter(|role_call| role_call.steps.len() < STEPS)
                {
                    role_call.steps.push(name.clone());
                }
            }
            Ask::Propose(candidate) => {
                let known = self.candidate(call, &candidate.id);
                known.take_claim(candidate);
            }
            Ask::Keep(id, reason) | Ask::Discard(id, reason) => {
                let known = self.candidate(call, id);
                known.reason = Some(reason.clone());
                if matches!(ask, Ask::Discard(..)) {
                    known.status = Status::Dropped;
                }
            }
            _ => {}
        }
    }

    /// A visit whose data name the node and the action; other data are another strategy's own.
    fn visit(&mut self, call: CallId, candidate: Option<&String>, data: &str) {
        let Ok(data) = serde_json::from_str::<Value>(data) else { return };
        let text = |key: &str| {
            data.get(key).and_then(Value::as_str).map(|text| clip(text, NAME).to_owned())
        };
        let (Some(node), Some(action)) = (text("node"), text("action")) else { return };
        let branch = data.get("branch").and_then(Value::as_u64).unwrap_or_default();
        let Some((round, task)) = self.role_call(call).map(|call| (call.round, call.task.clone()))
        else {
            return;
        };
        if let Some(task) = self.task(round, &task).filter(|task| task.visits.len() < VISITS) {
            task.visits.push(Visit { node, action, branch, candidate: candidate.cloned() });
        }
    }

    fn note(&mut self, at_us: u64, call: CallId, level: Level, message: &str) {
        if let Some(role_call) = self.role_call(call) {
            role_call.notes.push(Note { at_us, level, message: message.to_owned() });
        }
    }

    /// The answer of a call that took time, as far as it concerns a task and its candidates.
    fn add_answer(&mut self, call: CallId, ask: &Ask, got: &Got) {
        let Some((round, task)) = self.role_call(call).map(|call| (call.round, call.task.clone()))
        else {
            return;
        };
        match (ask, got) {
            (Ask::Sql(sql), Got::Rows(found)) => {
                let is_new = self.results.note(round, &task, sql, found);
                if let Some(node) = self.task(round, &task).filter(|_| is_new) {
                    node.statements += 1;
                }
                if let Err(error) = found {
                    self.count_failure(round, &task, sql, error);
                }
            }
            (
                Ask::Check(sql) | Ask::Explain(sql),
                Got::Facts(Err(error)) | Got::Plan(Err(error)),
            ) => {
                self.count_failure(round, &task, sql, error);
            }
            (Ask::Reward(candidates), Got::Verdicts(Ok(verdicts))) => {
                for (candidate, verdict) in candidates.iter().zip(verdicts) {
                    self.candidate(call, &candidate.id).verdict = Some(verdict.clone());
                }
            }
            _ => {}
        }
    }

    /// A statement of a task failed, when it was checked or when it ran; each is counted once.
    fn count_failure(&mut self, round: u32, task: &str, sql: &str, error: &SqlError) {
        if self.failed.insert((round, task.to_owned(), sql.to_owned()))
            && let Some(node) = self.task(round, task)
        {
            *node.errors.entry(error.kind.name().to_owned()).or_default() += 1;
        }
    }

    pub(super) fn task(&mut self, round: u32, id: &str) -> Option<&mut TaskNode> {
        let round = self.tree.rounds.iter_mut().find(|known| known.number == round)?;
        round.tasks.iter_mut().find(|task| task.id == id)
    }

    fn fact(&mut self, at_us: u64, fact: &Fact) {
        self.tree.took_us = self.tree.took_us.max(at_us);
        match fact {
            Fact::Round { number } => {
                if !self.tree.rounds.iter().any(|round| round.number == *number) {
                    self.tree.rounds.push(Round {
                        number: *number,
                        began_us: at_us,
                        ..Round::default()
                    });
                }
            }
            Fact::Linked { tables, of, hints } => {
                let tables = tables.clone();
                let of = *of;
                let hints = *hints;
                self.round().linked = Some(LinkedNode { tables, of, hints });
            }
            Fact::Graph(graph) => {
                graph.tasks.iter().for_each(|task| self.place(task, TaskOrigin::Graph));
                self.round().answer = Some(graph.answer.clone());
            }
            Fact::Started { task } => {
                let round = self.round().number;
                if let Some(node) = self.task(round, task) {
                    node.started_us.get_or_insert(at_us);
                }
            }
            Fact::Expanded { task, subtasks } => {
                subtasks.iter().for_each(|subtask| self.place(subtask, TaskOrigin::Subtask));
                let round = self.round().number;
                if let Some(node) = self.task(round, task) {
                    node.subtasks = subtasks.iter().map(|subtask| subtask.id.clone()).collect();
                }
            }
            Fact::Edited { edits } => {
                edits.iter().for_each(|edit| self.edit(edit));
                self.round().changes.push(Change { at_us, edits: edits.clone(), refused: None });
            }
            Fact::Refused { reason } => {
                self.round().changes.push(Change {
                    at_us,
                    edits: Vec::new(),
                    refused: Some(reason.clone()),
                });
            }
            Fact::Ended(observation) => self.end_task(at_us, observation),
            Fact::Access { plugins } => {
                for plugin in plugins {
                    // Of a run that was resumed each part has its own.
                    match self.tree.access.iter_mut().find(|one| one.digest == plugin.digest) {
                        Some(known) => known.add(plugin),
                        None => self.tree.access.push(plugin.clone()),
                    }
                }
            }
            Fact::Answer { document, outcome, interrupted, .. } => {
                self.tree.outcome =
                    OutcomeNode { kind: outcome.clone(), reason: None, interrupted: *interrupted };
                self.document(document);
            }
            Fact::Failed { message, .. } => {
                let kind = "failed".to_owned();
                let reason = Some(message.clone());
                self.tree.outcome = OutcomeNode { kind, reason, interrupted: false };
            }
        }
    }

    fn edit(&mut self, edit: &Edit) {
        match edit {
            Edit::Add(task) | Edit::Update(task) => self.place(task, TaskOrigin::Edit),
            Edit::Answer(task) => self.round().answer = Some(task.clone()),
            Edit::Cancel(_) | Edit::Finish | Edit::Other(_) => {}
        }
    }

    /// Adds a task, or replaces one that has not started.
    fn place(&mut self, task: &Task, from: TaskOrigin) {
        let node = TaskNode {
            id: task.id.clone(),
            text: task.text.clone(),
            from,
            operation: match &task.operation {
                Operation::Solve => "solve".to_owned(),
                Operation::Retrieve(_) => "retrieve".to_owned(),
                Operation::Choose => "choose".to_owned(),
                Operation::Other(name) => name.clone(),
            },
            depends_on: task.depends_on.clone(),
            join: task.join,
            tolerant: task.tolerant,
            parent: task.parent.clone(),
            confidence: task.confidence,
            expected: task.expected.clone(),
            stated: Stated::from_task(task),
            ..TaskNode::default()
        };
        let tasks = &mut self.round().tasks;
        match tasks.iter_mut().find(|known| known.id == node.id) {
            Some(known) => *known = TaskNode { from: known.from, ..node },
            None => tasks.push(node),
        }
    }
}
