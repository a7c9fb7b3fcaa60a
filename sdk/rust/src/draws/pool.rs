//! Draws that have ended, and which of them agree.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::attempt::candidate_id;
use crate::brief::Tried;
use crate::prelude::*;
use crate::text::line;

/// A statement that ran.
#[derive(Debug)]
pub struct Ran {
    /// What the statement speaks of.
    pub facts: Facts,
    /// The rows.
    pub results: ResultSet,
    /// Their shape.
    pub profile: Profile,
    /// What a good answer would not look like, a sentence each.
    pub doubts: Vec<String>,
    /// Equal for equal multisets of rows, whatever the columns' names.
    pub fingerprint: String,
}

/// What came of a draw.
#[derive(Debug, Clone)]
pub enum Came {
    /// It ran. Draws of the same text share what they found.
    Ran(Rc<Ran>),
    /// It did not do; the text tells a model why.
    Failed(String),
}

/// One draw.
#[derive(Debug, Clone)]
pub struct Draw {
    /// From 1, in the order of the requests.
    pub number: u32,
    /// The draw that it was to repair, when it was.
    pub repairs: Option<u32>,
    /// The statement; empty when the reply held none.
    pub sql: String,
    /// What the model claimed, 0 to 1, when it did.
    pub confidence: Option<f64>,
    /// What happened.
    pub came: Came,
    /// This draw's own counts.
    pub(super) signals: Signals,
}

impl Draw {
    /// What it found, when it ran.
    #[must_use]
    pub fn ran(&self) -> Option<&Ran> {
        match &self.came {
            Came::Ran(ran) => Some(ran),
            Came::Failed(_) => None,
        }
    }
}

/// Draws that gave the same result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    /// Of the result.
    pub fingerprint: String,
    /// The numbers of the draws, ascending; there is at least one.
    pub members: Vec<u32>,
}

impl Cluster {
    /// The number of the earliest member, which stands for all.
    #[must_use]
    pub fn first(&self) -> u32 {
        self.members.first().copied().unwrap_or_default()
    }
}

/// All draws so far, by their numbers.
#[derive(Debug, Default)]
pub struct Pool {
    draws: Vec<Draw>,
    // By fingerprint, with the reason.
    rejected: BTreeMap<String, String>,
}

impl Pool {
    /// The draws that have ended, ascending.
    #[must_use]
    pub fn draws(&self) -> &[Draw] {
        &self.draws
    }

    /// The draw of that number, once it has ended.
    #[must_use]
    pub fn draw(&self, number: u32) -> Option<&Draw> {
        self.draws.iter().find(|draw| draw.number == number)
    }

    /// How many ran, with rows or without.
    #[must_use]
    pub fn ran(&self) -> u32 {
        counted(self.draws.iter().filter(|draw| draw.ran().is_some()).count())
    }

    /// Takes a result out of the vote, with all draws that give it now or later.
    pub fn reject(&mut self, fingerprint: &str, reason: &str) {
        self.rejected.insert(fingerprint.to_owned(), reason.to_owned());
    }

    /// The groups of equal results that were not rejected: the largest first, and of equally large ones that with the earliest member.
    /// Results without rows are left out unless `empty` says that they count.
    #[must_use]
    pub fn clusters(&self, empty: bool) -> Vec<Cluster> {
        let mut clusters: Vec<Cluster> = Vec::new();
        for draw in &self.draws {
            let Some(ran) = draw.ran().filter(|ran| empty || ran.profile.rows > 0) else { continue };
            if self.rejected.contains_key(&ran.fingerprint) {
                continue;
            }
            match clusters.iter_mut().find(|cluster| cluster.fingerprint == ran.fingerprint) {
                Some(cluster) => cluster.members.push(draw.number),
                None => clusters.push(Cluster { fingerprint: ran.fingerprint.clone(), members: vec![draw.number] }),
            }
        }
        // Stable: the clusters stand in the order of their earliest members.
        clusters.sort_by_key(|cluster| std::cmp::Reverse(cluster.members.len()));
        clusters
    }

    /// What was wrong with each draw that cannot win, in order: it failed, was rejected, or, unless `empty`, has no rows.
    #[must_use]
    pub fn tried(&self, empty: bool) -> Vec<Tried> {
        let tried = |draw: &Draw| self.wrong(draw, empty).map(|wrong| Tried { sql: draw.sql.clone(), wrong });
        self.draws.iter().filter_map(tried).collect()
    }

    /// What was wrong with the draws since the last one that can win, in order: what the next draw may repair. A draw that ends a chain of
    /// `attempts` statements, the first one and its repairs, is repaired no more, so that the next one is fresh; nor does a later repair
    /// carry it or what came before it.
    #[must_use]
    pub fn tried_lately(&self, empty: bool, attempts: u32) -> Vec<Tried> {
        let lately = |draw: &Draw| {
            let wrong = self.wrong(draw, empty).filter(|_| self.chain(draw) < attempts)?;
            Some(Tried { sql: draw.sql.clone(), wrong })
        };
        let mut tried: Vec<Tried> = self.draws.iter().rev().map_while(lately).collect();
        tried.reverse();
        tried
    }

    /// How many statements there are from the first one to this repair of it.
    fn chain(&self, draw: &Draw) -> u32 {
        // A repair is later than what it repairs, so that this ends.
        draw.repairs.and_then(|number| self.draw(number)).map_or(1, |repaired| 1 + self.chain(repaired))
    }

    pub(super) fn wrong(&self, draw: &Draw, empty: bool) -> Option<String> {
        match &draw.came {
            Came::Failed(wrong) => Some(wrong.clone()),
            Came::Ran(ran) => match self.rejected.get(&ran.fingerprint) {
                Some(reason) => Some(format!("rejected: {}", line(reason, 400))),
                None if ran.profile.rows == 0 && !empty => Some(ran.doubts.join("; ")),
                None => None,
            },
        }
    }

    /// The candidate that a draw became. Its signals count errors over the draws up to and including it, out of `most`; agreement and
    /// confidence are the strategy's to fill in. A repair's parent is the draw that it repairs.
    #[must_use]
    pub fn candidate(&self, task: &Task, draw: &Draw, most: u32) -> Candidate {
        let mut signals = Signals { attempts: draw.number, max_attempts: most, ..draw.signals.clone() };
        for earlier in self.draws.iter().filter(|earlier| earlier.number < draw.number) {
            signals.syntax_errors += earlier.signals.syntax_errors;
            signals.schema_errors += earlier.signals.schema_errors;
            signals.execution_errors += earlier.signals.execution_errors;
        }
        let parent = draw.repairs.map(|number| candidate_id(&task.id, number));
        Candidate {
            id: candidate_id(&task.id, draw.number),
            parents: parent.into_iter().collect(),
            origin: if draw.repairs.is_some() { "repair" } else { "generate" }.to_owned(),
            sql: draw.sql.clone(),
            raw_confidence: draw.confidence,
            signals,
            ..Candidate::default()
        }
    }

    pub(super) fn insert(&mut self, draw: Draw) {
        let at = self.draws.partition_point(|earlier| earlier.number < draw.number);
        self.draws.insert(at, draw);
    }
}

fn counted(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
