//! The tree: statements under the task, what they gave, and what they are worth now.

use std::rc::Rc;

use syrch_plugin::prelude::*;

use crate::Bounds;

/// The root's place.
pub(crate) const ROOT: usize = 0;

/// A statement that ran and was not rejected.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) results: ResultSet,
    pub(crate) profile: Profile,
    /// What a good answer would not look like, a sentence each.
    pub(crate) doubts: Vec<String>,
    /// Equal for equal multisets of rows.
    pub(crate) fingerprint: String,
    /// What the reward said, when it said something.
    pub(crate) reward: Option<f64>,
}

/// What came of a statement.
#[derive(Debug, Clone)]
pub(crate) enum Came {
    /// Statements of the same text share what they found.
    Ran(Rc<Ran>),
    /// It did not do; the text tells a model why.
    Failed(String),
}

/// The task or a statement.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) parent: usize,
    pub(crate) children: Vec<usize>,
    /// 0 for the root.
    pub(crate) depth: u32,
    /// Whether the model stands by the statement, so that it is not expanded any more.
    pub(crate) is_settled: bool,
    /// Empty for the root.
    pub(crate) candidate: Candidate,
    /// What happened with this statement alone; its candidate's signals count the errors on the way to it too.
    pub(crate) own: Signals,
    pub(crate) came: Came,
}

impl Node {
    pub(crate) fn ran(&self) -> Option<&Ran> {
        match &self.came {
            Came::Ran(ran) => Some(ran),
            Came::Failed(_) => None,
        }
    }

    /// What was wrong with it, when it did not do.
    pub(crate) fn wrong(&self) -> Option<&str> {
        match &self.came {
            Came::Ran(_) => None,
            Came::Failed(wrong) => Some(wrong),
        }
    }
}

/// Statements with equal results.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cluster {
    /// Their places, ascending; there is at least one.
    pub(crate) members: Vec<usize>,
    /// What they count together.
    pub(crate) weight: f64,
}

/// All nodes, the root first and the others in the order in which they came.
#[derive(Debug)]
pub(crate) struct Tree<'a> {
    pub(crate) bounds: &'a Bounds,
    pub(crate) nodes: Vec<Node>,
}

impl<'a> Tree<'a> {
    pub(crate) fn new(bounds: &'a Bounds) -> Self {
        let root = Node {
            parent: ROOT,
            children: Vec::new(),
            depth: 0,
            is_settled: false,
            candidate: Candidate::default(),
            own: Signals::default(),
            came: Came::Failed(String::new()),
        };
        Self { bounds, nodes: vec![root] }
    }

    /// Adds a statement below a node; its place.
    pub(crate) fn add(&mut self, parent: usize, candidate: Candidate, own: Signals, came: Came) -> usize {
        let place = self.nodes.len();
        let depth = self.nodes[parent].depth + 1;
        self.nodes[parent].children.push(place);
        self.nodes.push(Node { parent, children: Vec::new(), depth, is_settled: false, candidate, own, came });
        place
    }

    /// The statements, without the root, in the order in which they came.
    pub(crate) fn statements(&self) -> impl Iterator<Item = (usize, &Node)> {
        self.nodes.iter().enumerate().skip(1)
    }

    /// From below the root to the node; empty for the root.
    pub(crate) fn path(&self, mut place: usize) -> Vec<usize> {
        let mut path = Vec::new();
        while place != ROOT {
            path.push(place);
            place = self.nodes[place].parent;
        }
        path.reverse();
        path
    }

    /// How many statements ran and were not rejected.
    pub(crate) fn running(&self) -> usize {
        self.statements().filter(|(_, node)| node.ran().is_some()).count()
    }

    /// How many of them gave the same result as this one; 0 when it failed.
    pub(crate) fn agreeing(&self, place: usize) -> usize {
        let Some(ran) = self.nodes[place].ran() else { return 0 };
        let same = |node: &Node| node.ran().is_some_and(|other| other.fingerprint == ran.fingerprint);
        self.statements().filter(|(_, node)| same(node)).count()
    }

    /// Execution agreement as it stands now, 0 to 1.
    pub(crate) fn value(&self, place: usize) -> f64 {
        let share = self.agreeing(place) as f64 / self.running().max(1) as f64;
        share * self.nodes[place].ran().map_or(0.0, |ran| self.count_of(ran))
    }

    fn count_of(&self, ran: &Ran) -> f64 {
        if ran.profile.rows == 0 { self.bounds.empty } else { 1.0 }
    }

    /// How many statements there are at and below a node, and the mean of their present values.
    pub(crate) fn visits_and_mean(&self, place: usize) -> (usize, f64) {
        let mut rest = vec![place];
        let (mut visits, mut sum) = (0_usize, 0.0);
        while let Some(at) = rest.pop() {
            if at != ROOT {
                visits += 1;
                sum += self.value(at);
            }
            rest.extend(&self.nodes[at].children);
        }
        (visits, sum / visits.max(1) as f64)
    }

    /// Equal results together, best first: by weight, then by the highest mean of a member, then by the most visits, then the earliest.
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
                None => clusters.push((ran.fingerprint.clone(), Cluster { members: vec![place], weight })),
            }
        }
        let standing = |cluster: &Cluster| {
            let of = cluster.members.iter().map(|place| self.visits_and_mean(*place));
            of.fold((0.0_f64, 0), |(mean, visits), (more, other)| (mean.max(level(other)), visits.max(more)))
        };
        let mut ranked: Vec<_> = clusters.into_iter().map(|(_, cluster)| (standing(&cluster), cluster)).collect();
        // Stable: what is equal in all of it stays in the order in which it came.
        ranked.sort_by(|((mean, visits), a), ((other_mean, others), b)| {
            let by_weight = level(b.weight).total_cmp(&level(a.weight));
            by_weight.then_with(|| other_mean.total_cmp(mean)).then_with(|| others.cmp(visits))
        });
        ranked.into_iter().map(|(_, cluster)| cluster).collect()
    }
}

/// What differs by rounding alone is equal.
pub(crate) fn level(value: f64) -> f64 {
    (value * 1e9).round()
}
