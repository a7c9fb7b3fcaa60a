//! Results against each other: equal ones stand together, and the groups are put in order.

use std::cmp::Ordering;

use crate::solver::path::Found;

/// Statements with equal results.
#[derive(Debug)]
pub(crate) struct Cluster<'p> {
    /// The statements, best first; there is at least one.
    pub(crate) members: Vec<&'p Found>,
}

impl<'p> Cluster<'p> {
    pub(crate) fn best(&self) -> Option<&'p Found> {
        self.members.first().copied()
    }

    fn signals(&self) -> [f64; 5] {
        self.best().map_or([0.0; 5], |best| best.fit.signals())
    }

    /// The posterior of the best member, raised by that part of the viable statements that agree
    /// with it.
    pub(crate) fn standing(&self, agreement: f64, viable: usize) -> f64 {
        let others = (self.members.len().saturating_sub(1)) as f64 / viable.max(1) as f64;
        self.best().map_or(0.0, |best| best.fit.posterior()) + agreement * others
    }

    /// Returns true if the signals do not decide between the two.
    pub(crate) fn fits_like(&self, other: &Self) -> bool {
        by_signals(self.signals(), other.signals()).is_eq()
    }

    /// Equally good, and not the same: neither the five signals nor the number of members decide.
    pub(crate) fn is_tied_with(&self, other: &Self) -> bool {
        order(self, other) == Ordering::Equal
    }
}

/// Groups what is viable, in the order of exploring, and puts the groups in the order of syrch
/// 0.3.7: structure, grain, dimensions, time and run decide one after the other. Then more
/// agreement wins, and at last the table that was explored earlier.
pub(crate) fn clusters<'p>(viable: impl IntoIterator<Item = &'p Found>) -> Vec<Cluster<'p>> {
    let mut clusters: Vec<Cluster<'_>> = Vec::new();
    for found in viable {
        match clusters.iter_mut().find(|cluster: &&mut Cluster<'_>| {
            cluster.members.iter().any(|known| known.fingerprint == found.fingerprint)
        }) {
            Some(cluster) => cluster.members.push(found),
            None => clusters.push(Cluster { members: vec![found] }),
        }
    }
    for cluster in &mut clusters {
        cluster.members.sort_by(|a, b| by_signals(a.fit.signals(), b.fit.signals()));
    }
    // Stable: clusters that are tied stay in the order of exploring.
    clusters.sort_by(order);
    clusters
}

fn order(a: &Cluster<'_>, b: &Cluster<'_>) -> Ordering {
    by_signals(a.signals(), b.signals()).then_with(|| b.members.len().cmp(&a.members.len()))
}

/// Greater first, one after the other.
fn by_signals(a: [f64; 5], b: [f64; 5]) -> Ordering {
    // What differs by rounding alone is equal.
    fn round_level(value: f64) -> f64 {
        (value * 1e9).round()
    }
    let mut pairs = a.into_iter().zip(b);
    pairs
        .find_map(|(a, b)| {
            Some(round_level(b).total_cmp(&round_level(a))).filter(|order| order.is_ne())
        })
        .unwrap_or(Ordering::Equal)
}

/// Returns the lead of the best standing over the next one; with a single group, its whole
/// standing.
pub(crate) fn margin(clusters: &[Cluster<'_>], agreement: f64) -> f64 {
    let viable = clusters.iter().map(|cluster| cluster.members.len()).sum();
    let mut standings: Vec<f64> =
        clusters.iter().map(|cluster| cluster.standing(agreement, viable)).collect();
    standings.sort_by(|a, b| b.total_cmp(a));
    fn standing_at(standings: &[f64], place: usize) -> f64 {
        standings.get(place).copied().unwrap_or(0.0)
    }
    standing_at(&standings, 0) - standing_at(&standings, 1)
}

/// Returns the number of groups that are tied at the top; 1 if the first leads alone, 0 without
/// groups.
pub(crate) fn count_tied(clusters: &[Cluster<'_>]) -> usize {
    let Some(first) = clusters.first() else { return 0 };
    clusters.iter().take_while(|cluster| cluster.is_tied_with(first)).count()
}
