//! The tree: statements under the task, what they gave, and what they are worth now.

use syrch_plugin::attempt::{Ended, Ran};
use syrch_plugin::prelude::*;

use crate::Settings;

/// The place of the root among the nodes.
pub(crate) const ROOT: usize = 0;

/// The task or a statement.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) parent: usize,
    pub(crate) children: Vec<usize>,
    /// 0 for the root.
    pub(crate) depth: u32,
    /// True if the model repeated the statement, so that the node is no longer expanded.
    pub(crate) is_settled: bool,
    /// Empty for the root.
    pub(crate) candidate: Candidate,
    /// The statement's own counts; the signals of its candidate include the errors from the root to
    /// it.
    pub(crate) own: Signals,
    pub(crate) ended: Ended,
    /// The score of the reward; `None` if the statement was not judged.
    pub(crate) reward: Option<f64>,
}

impl Node {
    /// The result, if the statement ran and was not rejected.
    pub(crate) fn ran(&self) -> Option<&Ran> {
        self.ended.ran()
    }
}

/// Statements with equal results.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cluster {
    /// The places of the members, ascending; there is at least one.
    pub(crate) members: Vec<usize>,
    /// The sum of what the members count.
    pub(crate) weight: f64,
}

/// All nodes, the root first and the others in the order in which they came.
#[derive(Debug)]
pub(crate) struct Tree<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) nodes: Vec<Node>,
}

impl<'a> Tree<'a> {
    pub(crate) fn new(settings: &'a Settings) -> Self {
        let root = Node {
            parent: ROOT,
            children: Vec::new(),
            depth: 0,
            is_settled: false,
            candidate: Candidate::default(),
            own: Signals::default(),
            ended: Ended::Failed(String::new()),
            reward: None,
        };
        Self { settings, nodes: vec![root] }
    }

    /// Adds a statement below a node and returns its place.
    pub(crate) fn add(
        &mut self,
        parent: usize,
        candidate: Candidate,
        own: Signals,
        ended: Ended,
        reward: Option<f64>,
    ) -> usize {
        let place = self.nodes.len();
        let depth = self.nodes[parent].depth + 1;
        self.nodes[parent].children.push(place);
        let children = Vec::new();
        self.nodes.push(Node {
            parent,
            children,
            depth,
            is_settled: false,
            candidate,
            own,
            ended,
            reward,
        });
        place
    }

    /// The statements, without the root, in the order in which they came.
    pub(crate) fn statements(&self) -> impl Iterator<Item = (usize, &Node)> {
        self.nodes.iter().enumerate().skip(1)
    }

    /// The places from below the root to the node; empty for the root.
    pub(crate) fn path(&self, mut place: usize) -> Vec<usize> {
        let mut path = Vec::new();
        while place != ROOT {
            path.push(place);
            place = self.nodes[place].parent;
        }
        path.reverse();
        path
    }

    /// Returns the number of statements that ran and were not rejected.
    pub(crate) fn running(&self) -> usize {
        self.statements().filter(|(_, node)| node.ran().is_some()).count()
    }

    /// Returns the number of those that gave the same result as this one; 0 if it failed.
    pub(crate) fn agreeing(&self, place: usize) -> usize {
        let Some(ran) = self.nodes[place].ran() else { return 0 };
        fn has_same_result(ran: &Ran, node: &Node) -> bool {
            node.ran().is_some_and(|other| other.fingerprint == ran.fingerprint)
        }
        self.statements().filter(|(_, node)| has_same_result(ran, node)).count()
    }

    /// Execution agreement as it stands now, 0 to 1.
    pub(crate) fn value(&self, place: usize) -> f64 {
        let share = self.agreeing(place) as f64 / self.running().max(1) as f64;
        share * self.nodes[place].ran().map_or(0.0, |ran| self.count_of(ran))
    }

    /// The vote of a result. One with faults has none, so that it is revised.
    fn count_of(&self, ran: &Ran) -> f64 {
        if !ran.faults.is_empty() {
            return 0.0;
        }
        if ran.profile.rows == 0 { self.settings.empty } else { 1.0 }
    }

    /// Returns the number of statements at and below a node, and the mean of their present values.
    pub(crate) fn visits_and_mean(&self, place: usize) -> (usize, f64) {
        let mut rest = vec![place];
        let mut visits = 0_usize;
        let mut sum = 0.0;
        while let Some(at) = rest.pop() {
            if at != ROOT {
                visits += 1;
                sum += self.value(at);
            }
            rest.extend(&self.nodes[at].children);
        }
        (visits, sum / visits.max(1) as f64)
    }

    /// Equal results together, best first: by weight, then by the highest mean of a member, then by
    /// the most visits, then the earliest.
    pub(crate) fn clusters(&self) -> Vec<Cluster> {
        let mut clusters: Vec<(String, Cluster)> = Vec::new();
        for (place, node) in self.statements() {
            let Some(ran) = node.ran() else { continue };
            let weight = self.count_of(ran);
            match clusters.iter_mut().find(|(fingerprint, _)| *fingerprint == ran.fingerprint) {
                Some((_, cluster)) => {
                    cluster.members.push(place);
                    cluster.weight += weight;
                }
                None => clusters
                    .push((ran.fingerprint.clone(), Cluster { members: vec![place], weight })),
            }
        }
        let standing = |cluster: &Cluster| {
            let of = cluster.members.iter().map(|place| self.visits_and_mean(*place));
            of.fold((0.0_f64, 0), |(mean, visits), (more, other)| {
                (mean.max(level(other)), visits.max(more))
            })
        };
        let mut ranked: Vec<_> =
            clusters.into_iter().map(|(_, cluster)| (standing(&cluster), cluster)).collect();
        // The sort is stable: equal clusters stay in the order in which they came.
        ranked.sort_by(|((mean, visits), a), ((other_mean, others), b)| {
            let by_weight = level(b.weight).total_cmp(&level(a.weight));
            by_weight.then_with(|| other_mean.total_cmp(mean)).then_with(|| others.cmp(visits))
        });
        ranked.into_iter().map(|(_, cluster)| cluster).collect()
    }
}

/// A value rounded so that differences by rounding disappear.
pub(crate) fn level(value: f64) -> f64 {
    (value * 1e9).round()
}
