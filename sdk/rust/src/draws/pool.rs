//! Draws that have ended, and which of them agree.

use std::collections::BTreeMap;

use crate::attempt::{Ended, Ran, add_errors, candidate_id};
use crate::brief::Tried;
use crate::prelude::*;
use crate::text::{count32, line};

/// One drawn statement and how it ended.
#[derive(Debug, Clone)]
pub struct Draw {
    /// The number of the draw, from 1, in the order of the requests.
    pub number: u32,
    /// The draw that this one repairs; `None` if it is a fresh one.
    pub repairs: Option<u32>,
    /// The statement; empty if the reply had none.
    pub sql: String,
    /// The confidence that the model stated, 0 to 1.
    pub confidence: Option<f64>,
    /// The result or the error of the statement.
    pub ended: Ended,
    /// The draw's own counts.
    pub(super) signals: Signals,
}

impl Draw {
    /// The result, if the statement ran.
    #[must_use]
    pub fn ran(&self) -> Option<&Ran> {
        self.ended.ran()
    }
}

/// A group of draws with equal results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    /// The fingerprint of the result.
    pub fingerprint: String,
    /// The numbers of the draws, ascending; there is at least one.
    pub members: Vec<u32>,
}

impl Cluster {
    /// The number of the earliest member, which represents the group.
    #[must_use]
    pub fn first(&self) -> u32 {
        self.members.first().copied().unwrap_or_default()
    }
}

/// The draws that ended, by their numbers.
#[derive(Debug, Default)]
pub struct Pool {
    draws: Vec<Draw>,
    // The reasons by the fingerprints of the results.
    rejected: BTreeMap<String, String>,
}

impl Pool {
    /// The draws that have ended, ascending.
    #[must_use]
    pub fn draws(&self) -> &[Draw] {
        &self.draws
    }

    /// The draw of that number; `None` before it ended.
    #[must_use]
    pub fn draw(&self, number: u32) -> Option<&Draw> {
        self.draws.iter().find(|draw| draw.number == number)
    }

    /// Returns the number of draws whose statements ran, with or without rows.
    #[must_use]
    pub fn ran(&self) -> u32 {
        count32(self.draws.iter().filter(|draw| draw.ran().is_some()).count())
    }

    /// Excludes a result from the vote, for all draws that have it now or later.
    pub fn reject(&mut self, fingerprint: &str, reason: &str) {
        self.rejected.insert(fingerprint.to_owned(), reason.to_owned());
    }

    /// The groups of equal results that were not rejected: the largest first, and of equally large
    /// ones that with the earliest member. Results without rows are left out unless `empty` says
    /// that they count.
    #[must_use]
    pub fn clusters(&self, empty: bool) -> Vec<Cluster> {
        self.clusters_of(|ran| empty || ran.profile.rows > 0)
    }

    /// The groups of results that need no repair ([`Ran::to_repair`]), in the order of
    /// [`Pool::clusters`].
    #[must_use]
    pub fn sound_clusters(&self, empty: bool) -> Vec<Cluster> {
        self.clusters_of(|ran| ran.to_repair(empty).is_none())
    }

    fn clusters_of(&self, is_voting: impl Fn(&Ran) -> bool) -> Vec<Cluster> {
        let draws: Vec<&Draw> = self
            .draws
            .iter()
            .filter(|draw: &&Draw| {
                draw.ran().is_some_and(|ran| {
                    is_voting(ran) && !self.rejected.contains_key(&ran.fingerprint)
                })
            })
            .collect();
        let fingerprints: Vec<&str> = draws
            .iter()
            .filter_map(|draw| draw.ran())
            .map(|ran| ran.fingerprint.as_str())
            .collect();
        groups(&fingerprints)
            .into_iter()
            .map(|places: Vec<usize>| Cluster {
                fingerprint: fingerprints[places[0]].to_owned(),
                members: places.into_iter().map(|place| draws[place].number).collect(),
            })
            .collect()
    }

    /// Returns the draws that cannot win, in order, each with the reason: it failed, was rejected,
    /// or, unless `empty`, has no rows.
    #[must_use]
    pub fn failures(&self, empty: bool) -> Vec<Tried> {
        self.draws
            .iter()
            .filter_map(|draw: &Draw| {
                self.wrong(draw, empty).map(|wrong| Tried { sql: draw.sql.clone(), wrong })
            })
            .collect()
    }

    /// Returns the draws since the last one that can win, in order, each with the reason why it
    /// cannot: those that the next draw may repair. A draw that ends a chain of `attempts`
    /// statements, the first one and its repairs, is repaired no more, so that the next one is
    /// fresh; nor does a later repair carry it or what came before it.
    #[must_use]
    pub fn failures_lately(&self, empty: bool, attempts: u32) -> Vec<Tried> {
        self.lately(attempts, |draw| self.wrong(draw, empty))
    }

    /// Returns the same as [`Pool::failures_lately`] for the draws since the last one that needs no
    /// repair: draws with faults are repaired, too.
    #[must_use]
    pub fn unsound_lately(&self, empty: bool, attempts: u32) -> Vec<Tried> {
        self.lately(attempts, |draw| self.unsound(draw, empty))
    }

    fn lately(&self, attempts: u32, wrong: impl Fn(&Draw) -> Option<String>) -> Vec<Tried> {
        let mut tried: Vec<Tried> = self
            .draws
            .iter()
            .rev()
            .map_while(|draw: &Draw| {
                let wrong = wrong(draw).filter(|_| self.chain(draw) < attempts)?;
                Some(Tried { sql: draw.sql.clone(), wrong })
            })
            .collect();
        tried.reverse();
        tried
    }

    pub(super) fn unsound(&self, draw: &Draw, empty: bool) -> Option<String> {
        self.wrong(draw, empty).or_else(|| draw.ran()?.to_repair(empty))
    }

    /// The number of statements from the first one of a chain to this repair of it.
    fn chain(&self, draw: &Draw) -> u32 {
        // A repair is later than what it repairs, so that the recursion ends.
        draw.repairs
            .and_then(|number| self.draw(number))
            .map_or(1, |repaired| 1 + self.chain(repaired))
    }

    pub(super) fn wrong(&self, draw: &Draw, empty: bool) -> Option<String> {
        match &draw.ended {
            Ended::Failed(wrong) => Some(wrong.clone()),
            Ended::Ran(ran) => match self.rejected.get(&ran.fingerprint) {
                Some(reason) => Some(format!("rejected: {}", line(reason, 400))),
                None if ran.profile.rows == 0 && !empty => Some(ran.doubts.join("; ")),
                None => None,
            },
        }
    }

    /// The candidate of a draw. Its signals count the errors of the draws up to and including this
    /// one, out of `most`; the strategy adds agreement and confidence. The parent of a repair is
    /// the draw that it repairs.
    #[must_use]
    pub fn candidate(&self, task: &Task, draw: &Draw, most: u32) -> Candidate {
        let mut signals =
            Signals { attempts: draw.number, max_attempts: most, ..draw.signals.clone() };
        for earlier in self.draws.iter().filter(|earlier| earlier.number < draw.number) {
            add_errors(&mut signals, &earlier.signals);
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

/// The places of equal keys, ascending in each group: the largest group first, and of equally large
/// ones that with the earliest member.
#[must_use]
pub fn groups<K: PartialEq>(keys: &[K]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (place, key) in keys.iter().enumerate() {
        match groups.iter_mut().find(|group| keys[group[0]] == *key) {
            Some(group) => group.push(place),
            None => groups.push(vec![place]),
        }
    }
    // The sort is stable, so that equally large groups stay in the order of their earliest members.
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    groups
}
