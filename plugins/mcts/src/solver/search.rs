//! The rollouts of one task.

use std::collections::BTreeMap;

use serde_json::json;
use syrch_plugin::attempt::{Statement, Trials, Written, too_large, written};
use syrch_plugin::brief::Brief;
use syrch_plugin::dice::Dice;
use syrch_plugin::prelude::*;

use crate::Settings;
use crate::prompts::{Expansion, request};
use crate::solver::grow::Grown;
use crate::solver::outcome;
use crate::solver::select::{Able, select};
use crate::solver::tree::{ROOT, Tree};

/// The state of one task's search.
pub(crate) struct Search<'a, H> {
    pub(crate) host: &'a H,
    pub(crate) settings: &'a Settings,
    pub(crate) task: &'a Task,
    brief: Brief<'a>,
    pub(crate) tree: Tree<'a>,
    dice: Dice,
    able: Able,
    pub(crate) trials: Trials,
    /// The score of the reward for each SQL text, or the reason why it rejected the statement.
    pub(crate) judgements: BTreeMap<String, Result<Option<f64>, String>>,
    /// The number of requests, which are the rollouts.
    pub(crate) asked: u32,
    /// The number of statements that were proposed.
    pub(crate) numbered: u32,
    /// The failure after which no call or no statement can succeed any more.
    pub(crate) ended: Option<Failure>,
    /// The reason why the model gives no more draws, which is not a failure.
    pub(crate) abstained: Option<String>,
    /// The error of the last reply.
    pub(crate) last_wrong: Option<String>,
}

impl<'a, H: SolverHost> Search<'a, H> {
    pub(crate) fn new(
        host: &'a H,
        settings: &'a Settings,
        task: &'a Task,
        brief: Brief<'a>,
    ) -> Self {
        Self {
            host,
            settings,
            task,
            brief,
            tree: Tree::new(settings),
            dice: Dice::new(host.seed()),
            able: Able { draws: true, repairs: true },
            trials: Trials::new(settings.overflow_rows),
            judgements: BTreeMap::new(),
            asked: 0,
            numbered: 0,
            ended: None,
            abstained: None,
            last_wrong: None,
        }
    }

    /// Rolls out until results suffice, the tree is full, or no more can come. The first draws do
    /// not depend on each other and are made at once: as many as are made in any case.
    pub(crate) fn run(mut self) -> Result<Outcome, Failure> {
        let agree = if self.settings.agree == 0 { u32::MAX } else { self.settings.agree };
        let first = self.settings.width.min(self.settings.rollouts).min(agree);
        self.expand(&vec![ROOT; first as usize]);
        while self.ended.is_none() && self.asked < self.settings.rollouts && !self.has_enough() {
            let Some((place, steps)) = select(&self.tree, self.able, &mut self.dice) else { break };
            let id = self.id_of(place).map(str::to_owned);
            self.host.event(id.as_deref(), "select", &json!({ "steps": steps }));
            self.expand(&[place]);
        }
        outcome::outcome(self)
    }

    /// Returns true if enough results agree, or no other can catch up with the leading one in the
    /// rollouts that are left.
    fn has_enough(&self) -> bool {
        if self.settings.agree == 0 {
            return false;
        }
        let clusters = self.tree.clusters();
        let weight = |place: usize| clusters.get(place).map_or(0.0, |cluster| cluster.weight);
        let left = f64::from(self.settings.rollouts - self.asked);
        weight(0) >= f64::from(self.settings.agree) || weight(0) > weight(1) + left
    }

    pub(crate) fn id_of(&self, place: usize) -> Option<&str> {
        (place != ROOT).then(|| self.tree.nodes[place].candidate.id.as_str())
    }

    /// Requests one child of each of these nodes concurrently, and adds the replies to the tree.
    fn expand(&mut self, places: &[usize]) {
        let mut requests = Vec::new();
        for place in places {
            let how = Expansion::for_node(&self.tree, *place);
            self.host.event(self.id_of(*place), "expand", &json!({ "how": how.name() }));
            requests.push(request(self.host, &self.brief, &self.tree, *place, self.asked));
            self.asked += 1;
        }
        let replies = match &requests[..] {
            [one] => vec![self.host.complete(one)],
            all => self.host.complete_all(all),
        };
        let mut shorter = None;
        let mut grown = Vec::new();
        for (place, reply) in places.iter().zip(replies) {
            grown.extend(self.read(*place, reply, &mut shorter));
        }
        self.grow(grown);
    }

    fn read(
        &mut self,
        parent: usize,
        reply: Result<Reply, LlmError>,
        shorter: &mut Option<bool>,
    ) -> Option<Grown> {
        match written(reply) {
            Written::Statement(statement) => return self.unless_known(parent, statement),
            Written::NoStatement(wrong) => self.no_statement(wrong),
            // The prompts of one round have about the same length: one shortening is enough for all
            // of them.
            Written::TooLarge if *shorter.get_or_insert_with(|| self.brief.shorten()) => {
                self.no_statement(too_large().message);
            }
            Written::TooLarge => {
                self.ended.get_or_insert_with(too_large);
            }
            // A model that gives no more draws may still repair, and the other way round.
            Written::Abstained(why) if parent == ROOT => {
                self.able.draws = false;
                self.abstained.get_or_insert(why);
            }
            Written::Abstained(_) => self.able.repairs = false,
            Written::Failed(failure) => {
                self.ended.get_or_insert(failure);
            }
        }
        None
    }

    fn no_statement(&mut self, wrong: String) {
        self.host.note(Level::Debug, &format!("{}: {wrong}", self.task.id));
        self.last_wrong = Some(wrong);
    }

    /// A model that repeats a statement from the path to the node gives no new evidence, and the
    /// node is expanded no more.
    fn unless_known(&mut self, parent: usize, statement: Statement) -> Option<Grown> {
        let known = self
            .tree
            .path(parent)
            .into_iter()
            .find(|place| self.tree.nodes[*place].candidate.sql == statement.sql);
        let Some(known) = known else {
            return Some(Grown {
                parent,
                expansion: Expansion::for_node(&self.tree, parent),
                statement,
            });
        };
        let id = self.tree.nodes[known].candidate.id.clone();
        self.host.note(
            Level::Debug,
            &format!("{}: the model repeats the statement of {id}", self.task.id),
        );
        self.tree.nodes[parent].is_settled = true;
        None
    }
}
