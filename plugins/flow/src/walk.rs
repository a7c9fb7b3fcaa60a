//! Following the edges: in each round every open branch visits its node, and what the nodes ask of
//! the model and the database is asked together.

use std::time::Duration;

use serde_json::json;
use syrch_flows::{ABSTAINED, DEFAULT, EXHAUSTED, Flow, Kind};
use syrch_plugin::attempt::Trials;
use syrch_plugin::prelude::*;
use syrch_plugin::text::{count, count32, line};

use crate::branch::{Ballot, Branch, Fork, Frame, State};
use crate::prompts::Prompts;
use crate::{Settings, work};

/// The most branches of a task, those that ended included.
pub(crate) const BRANCHES: usize = 64;
/// The most visits of nodes for a task.
const VISITS: u32 = 1000;

/// A task on its way through the flow.
pub(crate) struct Walk<'a, H> {
    pub(crate) host: &'a H,
    pub(crate) settings: &'a Settings,
    pub(crate) task: &'a Task,
    pub(crate) prompts: Prompts<'a>,
    /// All branches, by their ids.
    pub(crate) branches: Vec<Branch>,
    pub(crate) trials: Trials,
    /// The statements that were proposed as candidates.
    pub(crate) proposed: u32,
    /// The question to the user.
    pub(crate) question: Option<Question>,
    /// The most statements that a branch may run.
    pub(crate) attempts: u32,
    pub(crate) visits: u32,
    pub(crate) forks: u32,
    /// The times that it continued after other plugins.
    pub(crate) rounds: u32,
}

impl<'a, H: SolverHost> Walk<'a, H> {
    pub(crate) fn new(
        host: &'a H,
        settings: &'a Settings,
        task: &'a Task,
        prompts: Prompts<'a>,
    ) -> Self {
        let attempts = host.attempts();
        Self {
            host,
            settings,
            task,
            prompts,
            branches: vec![Branch::new(&settings.flow, attempts)],
            trials: Trials::new(settings.common.overflow_rows),
            proposed: 0,
            question: None,
            attempts,
            visits: 0,
            forks: 0,
            rounds: 0,
        }
    }

    pub(crate) fn flow(&self) -> &'a Flow {
        &self.settings.flow
    }

    /// Follows the edges until every branch ended or waits for another plugin. Each round spends
    /// visits of nodes, so that all branches end.
    pub(crate) fn run(&mut self) {
        loop {
            self.join();
            let open = self.open();
            if open.is_empty() {
                if self.pause() {
                    continue;
                }
                return;
            }
            let entered: Vec<usize> = open.into_iter().filter(|id| self.enter(*id)).collect();
            work::work(self, &entered);
        }
    }

    fn open(&self) -> Vec<usize> {
        fn is_open(branch: &Branch) -> bool {
            branch.state == State::Open && branch.pause.is_zero()
        }
        (0..self.branches.len()).filter(|id| is_open(&self.branches[*id])).collect()
    }

    /// Lets the time pass until the first of the branches that wait goes on. Returns whether one
    /// waits. There is no clock: what the others did meanwhile does not shorten it.
    fn pause(&mut self) -> bool {
        let waiting = self
            .branches
            .iter_mut()
            .filter(|branch| branch.state == State::Open && !branch.pause.is_zero());
        let mut pauses: Vec<&mut Duration> = waiting.map(|branch| &mut branch.pause).collect();
        let Some(first) = pauses.iter().map(|pause| **pause).min() else { return false };
        self.host.pause(first);
        pauses.iter_mut().for_each(|pause| **pause = pause.saturating_sub(first));
        true
    }

    /// Begins the visit of a node, or goes on with one whose last attempt failed. Returns whether
    /// the node has work to do.
    fn enter(&mut self, id: usize) -> bool {
        let flow = self.flow();
        let branch = &mut self.branches[id];
        if branch.failed > 0 {
            return true;
        }
        self.visits += 1;
        if self.visits > VISITS {
            self.end(id, &format!("the flow visited more than {}", count(VISITS.into(), "node")));
            return false;
        }
        let node = branch.node(flow);
        let place = branch.place();
        let Some(frame) = branch.frames.last_mut() else { return false };
        let visits = frame.visits.entry(place).or_default();
        let has_visits = node.max_visits.is_none_or(|most| *visits < most);
        let has_attempts = !matches!(node.kind, Kind::Draft | Kind::Repair)
            || branch.chain.signals.attempts < self.attempts;
        if !(has_visits && has_attempts) {
            let is_again = frame.exhausted.contains(&place);
            frame.exhausted.push(place);
            if has_visits && !is_again {
                let allowed = count(self.attempts.into(), "execution");
                self.host
                    .note(Level::Info, &format!("{}: the policy allows {allowed}", self.task.id));
            }
            if is_again {
                self.end(
                    id,
                    &format!("the flow came back to `{}`, which has no visit left", node.name),
                );
            } else {
                self.leave(id, EXHAUSTED);
            }
            return false;
        }
        *visits += 1;
        match node.kind {
            Kind::Vote | Kind::Choose => branch.state = State::Waiting,
            Kind::Flow => self.start_inner(id),
            _ => return true,
        }
        false
    }

    /// Starts an inner flow, in as many branches as it has times.
    fn start_inner(&mut self, id: usize) {
        let node = self.branches[id].node(self.flow());
        let Some(inner) = &node.inner else { return };
        let ids = self.fan_out(id, node.branches());
        for (item, id) in ids.into_iter().enumerate() {
            self.branches[id].frames.push(Frame::new(inner, item));
            self.branches[id].move_to(inner.start);
        }
    }

    /// The node of a branch ended with that action: the branch goes where the edges lead, or the
    /// flow ends.
    pub(crate) fn leave(&mut self, id: usize, action: &str) {
        self.leave_joined(id, action, 1);
    }

    /// Ends a node as [`leave`](Self::leave) does, where the node made one of that many branches.
    pub(crate) fn leave_joined(&mut self, id: usize, action: &str, joined: usize) {
        let flow = self.flow();
        let branch = &self.branches[id];
        self.log(id, action, joined);
        let node = branch.node(flow);
        if let Some(targets) = node.edges.get(action) {
            let ids = self.fan_out(id, targets.len());
            for (id, target) in ids.into_iter().zip(targets) {
                self.branches[id].move_to(*target);
            }
            return;
        }
        // These ends are meant, as that of the last node is.
        if !node.edges.is_empty() && ![DEFAULT, EXHAUSTED, ABSTAINED].contains(&action) {
            let known: Vec<&str> = node.edges.keys().map(String::as_str).collect();
            let note = format!(
                "{}: the flow ends at `{}`: there is no edge for `{action}`, only for {}",
                self.task.id,
                node.name,
                known.join(", ")
            );
            self.host.note(Level::Debug, &note);
        }
        let branch = &mut self.branches[id];
        if branch.frames.len() > 1 {
            // An inner flow ends with its last action, which is that of its node.
            branch.frames.pop();
            branch.failed = 0;
            let level = branch.frames.len();
            branch.forks.retain(|fork| fork.level <= level);
            self.leave(id, action);
        } else {
            self.end(id, &format!("the flow ended with `{action}` before a statement ran"));
            if action == ABSTAINED {
                self.branches[id].state = State::Abstained;
            }
        }
    }

    /// Ends a branch. `why`: the reason why it has no statement, where none was found before.
    pub(crate) fn end(&mut self, id: usize, why: &str) {
        let branch = &mut self.branches[id];
        branch.state = State::Ended;
        if branch.why.is_empty() {
            branch.why = why.to_owned();
        }
    }

    /// Makes that many branches of one, and returns their ids: its own first.
    fn fan_out(&mut self, id: usize, number: usize) -> Vec<usize> {
        let number = number.max(1);
        let fitting = number.min(BRANCHES.saturating_sub(self.branches.len()) + 1);
        if fitting < number {
            let note = format!(
                "{}: a flow has at most {BRANCHES} branches: {fitting} of {number} go on",
                self.task.id
            );
            self.host.note(Level::Warn, &note);
        }
        if number > 1 {
            self.forks += 1;
            let level = self.branches[id].frames.len();
            self.branches[id].forks.push(Fork { id: self.forks, level });
        }
        let mut ids = vec![id];
        for _ in 1..fitting {
            let new = self.branches.len();
            self.branches.push(Branch { id: count32(new), ..self.branches[id].clone() });
            ids.push(new);
        }
        ids
    }

    /// Logs the visit of a node. `joined`: the branches that it made one.
    pub(crate) fn log(&self, id: usize, action: &str, joined: usize) {
        let branch = &self.branches[id];
        let node = branch.node(self.flow());
        let visits = branch.frames.last().and_then(|frame| frame.visits.get(&frame.node)).copied();
        let mut data = json!({
            "node": branch.path(self.flow()),
            "do": node.kind.name(),
            "visit": visits.unwrap_or_default(),
            "branch": branch.id,
            "action": action,
        });
        let items: Vec<usize> = branch.items(self.flow());
        if !items.is_empty() {
            data["items"] = json!(items);
        }
        if joined > 1 {
            data["joined"] = json!(joined);
        }
        if branch.failed > 0 {
            data["failed"] = json!(branch.failed);
            data["why"] = json!(line(&branch.wrong, 200));
        }
        self.host.event(branch.chain.last_id.as_deref(), "visit", &data);
    }

    /// One attempt at the node's work failed. If it `may_repeat`, it is made again while
    /// `max_retries` allow; then the fallback takes its place, and without one the branch ends in
    /// that state.
    pub(crate) fn fail(&mut self, id: usize, wrong: &str, may_repeat: bool, state: State) {
        let flow = self.flow();
        let node = self.branches[id].node(flow);
        let branch = &mut self.branches[id];
        branch.failed += 1;
        wrong.clone_into(&mut branch.wrong);
        if may_repeat && branch.failed < node.max_retries {
            branch.pause = Duration::from_secs_f64(node.wait);
            return;
        }
        wrong.clone_into(&mut branch.why);
        match &node.fallback {
            Some(action) => self.leave(id, action),
            None => {
                self.log(id, "failed", 1);
                self.branches[id].state = state;
            }
        }
    }

    /// No call or no statement of the branch can succeed any more.
    pub(crate) fn stop(&mut self, id: usize, failure: Failure) {
        self.branches[id].why.clone_from(&failure.message);
        self.log(id, "failed", 1);
        self.branches[id].state = State::Failed(failure);
    }

    /// Gives a branch a statement that stands.
    pub(crate) fn pass(&mut self, id: usize, ballot: Ballot) {
        self.branches[id].ballot = ballot;
        self.branches[id].why.clear();
    }
}
