//! The rollouts of one task.

use serde_json::json;
use syrch_plugin::brief::Brief;
use syrch_plugin::dice::Dice;
use syrch_plugin::failure::llm_words;
use syrch_plugin::prelude::*;
use syrch_plugin::replies::{SqlReply, sql_reply};
use syrch_plugin::text::line;

use crate::Bounds;
use crate::prompts::{How, request};
use crate::select::{Able, select};
use crate::tell;
use crate::tree::{ROOT, Tree};

/// The state of one task's search.
pub(crate) struct Search<'a, H> {
    pub(crate) host: &'a H,
    pub(crate) bounds: &'a Bounds,
    pub(crate) task: &'a Task,
    brief: Brief<'a>,
    pub(crate) tree: Tree<'a>,
    dice: Dice,
    able: Able,
    /// Requests so far: the rollouts.
    pub(crate) asked: u32,
    /// Statements that were proposed.
    pub(crate) numbered: u32,
    /// Why no call or no statement can do any more.
    pub(crate) ended: Option<Failure>,
    /// What a model said that gives no more draws, which is no failure.
    pub(crate) abstained: Option<String>,
    /// What was wrong with the last reply that did not do.
    pub(crate) last_wrong: Option<String>,
}

/// A reply's statement, on its way into the tree.
pub(crate) struct Stated {
    pub(crate) parent: usize,
    pub(crate) how: How,
    pub(crate) said: SqlReply,
    pub(crate) reply: Reply,
}

impl<'a, H: SolverHost> Search<'a, H> {
    pub(crate) fn new(host: &'a H, bounds: &'a Bounds, task: &'a Task, brief: Brief<'a>) -> Self {
        Self {
            host,
            bounds,
            task,
            brief,
            tree: Tree::new(bounds),
            dice: Dice::new(host.seed()),
            able: Able { draws: true, repairs: true },
            asked: 0,
            numbered: 0,
            ended: None,
            abstained: None,
            last_wrong: None,
        }
    }

    /// Rolls out until results suffice, the tree is full, or no more can come. The first draws do not depend on each other and are made at
    /// once: as many as are made in any case.
    pub(crate) fn run(mut self) -> Result<Outcome, Failure> {
        let agree = if self.bounds.agree == 0 { u32::MAX } else { self.bounds.agree };
        let first = self.bounds.width.min(self.bounds.rollouts).min(agree);
        self.expand(&vec![ROOT; first as usize]);
        while self.ended.is_none() && self.asked < self.bounds.rollouts && !self.has_enough() {
            let Some((place, steps)) = select(&self.tree, self.able, &mut self.dice) else { break };
            let id = self.id_of(place).map(str::to_owned);
            self.host.event(id.as_deref(), "select", &json!({ "steps": steps }));
            self.expand(&[place]);
        }
        tell::outcome(self)
    }

    /// Whether enough results agree, or no other can come up with the leading one in the rollouts that are left.
    fn has_enough(&self) -> bool {
        if self.bounds.agree == 0 {
            return false;
        }
        let clusters = self.tree.clusters();
        let weight = |place: usize| clusters.get(place).map_or(0.0, |cluster| cluster.weight);
        let left = f64::from(self.bounds.rollouts - self.asked);
        weight(0) >= f64::from(self.bounds.agree) || weight(0) > weight(1) + left
    }

    pub(crate) fn id_of(&self, place: usize) -> Option<&str> {
        (place != ROOT).then(|| self.tree.nodes[place].candidate.id.as_str())
    }

    /// Asks for one child of each of these nodes, all at once, and takes what comes into the tree.
    fn expand(&mut self, places: &[usize]) {
        let mut requests = Vec::new();
        for place in places {
            let how = How::of(&self.tree, *place);
            self.host.event(self.id_of(*place), "expand", &json!({ "how": how.name() }));
            requests.push(request(self.host, &self.brief, &self.tree, *place, self.asked));
            self.asked += 1;
        }
        let replies = match &requests[..] {
            [one] => vec![self.host.complete(one)],
            all => self.host.complete_all(all),
        };
        let mut shorter = None;
        let mut stated = Vec::new();
        for (place, reply) in places.iter().zip(replies) {
            stated.extend(self.read(*place, reply, &mut shorter));
        }
        self.grow(stated);
    }

    fn read(&mut self, parent: usize, reply: Result<Reply, LlmError>, shorter: &mut Option<bool>) -> Option<Stated> {
        match reply {
            Ok(reply) => match sql_reply(&reply) {
                Some(said) => return self.unless_known(parent, said, reply),
                None => self.no_statement("the reply held no statement".to_owned()),
            },
            Err(LlmError::Malformed(start)) => {
                self.no_statement(format!("the reply held no statement; it began: {}", line(&start, 200)));
            }
            Err(error @ LlmError::TooLarge) if *shorter.get_or_insert_with(|| self.brief.shorten()) => {
                self.no_statement(llm_words(&error));
            }
            Err(error @ (LlmError::Refused(_) | LlmError::Unsupported(_))) => self.abstains(parent, &error),
            Err(error) => {
                self.ended.get_or_insert(llm_failure(&error));
            }
        }
        None
    }

    fn no_statement(&mut self, wrong: String) {
        self.host.note(Level::Debug, &format!("{}: {wrong}", self.task.id));
        self.last_wrong = Some(wrong);
    }

    /// A model that gives no more draws may still repair, and the other way round.
    fn abstains(&mut self, parent: usize, error: &LlmError) {
        if parent == ROOT {
            self.able.draws = false;
            self.abstained.get_or_insert(llm_words(error));
        } else {
            self.able.repairs = false;
        }
    }

    /// A model that repeats a statement of the node's own way stands by it: that is no new evidence, and the node is expanded no more.
    fn unless_known(&mut self, parent: usize, said: SqlReply, reply: Reply) -> Option<Stated> {
        let known = self.tree.path(parent).into_iter().find(|place| self.tree.nodes[*place].candidate.sql == said.sql);
        let Some(known) = known else {
            return Some(Stated { parent, how: How::of(&self.tree, parent), said, reply });
        };
        let id = self.tree.nodes[known].candidate.id.clone();
        self.host.note(Level::Debug, &format!("{}: the model stands by the statement of {id}", self.task.id));
        self.tree.nodes[parent].is_settled = true;
        None
    }
}
