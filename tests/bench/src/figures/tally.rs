//! Right answers and calls on questions, and how far two ways to sample are apart.

use syrch_grade::stats::{Interval, Pair, bootstrap_difference};

/// Resamples of the databases, and the seed that they are drawn with.
const RESAMPLES: (u32, u64) = (10_000, 1);

/// Right answers and calls, added up over searches.
#[derive(Default, Clone, Copy)]
pub(super) struct Tally {
    right: f64,
    calls: f64,
    searches: f64,
}

impl Tally {
    /// Counts one search.
    pub(super) fn add(&mut self, is_right: bool, calls: u32) {
        self.right += f64::from(u8::from(is_right));
        self.calls += f64::from(calls);
        self.searches += 1.0;
    }

    /// Right answers in a hundred searches.
    pub(super) fn right(&self) -> f64 {
        100.0 * self.right / self.searches.max(1.0)
    }

    /// Calls per search.
    pub(super) fn calls(&self) -> f64 {
        self.calls / self.searches.max(1.0)
    }
}

/// The tally of all searches together.
pub(super) fn total(tallies: &[Tally]) -> Tally {
    let mut total = Tally::default();
    for tally in tallies {
        total.right += tally.right;
        total.calls += tally.calls;
        total.searches += tally.searches;
    }
    total
}

/// Writes how far ours are from theirs in the mean over questions, with its 95 % interval over
/// databases. `databases` has the database of each question, and both slices have a tally for each
/// question, of as many searches.
pub(super) fn difference(
    databases: &[&str],
    ours: &[Tally],
    theirs: &[Tally],
    of: fn(&Tally) -> f64,
) -> String {
    assert!(
        databases.len() == ours.len() && databases.len() == theirs.len(),
        "a tally for each question"
    );
    let pairs: Vec<Pair<'_>> = databases
        .iter()
        .copied()
        .zip(ours)
        .zip(theirs)
        .map(|((cluster, ours), theirs)| Pair { cluster, first: of(theirs), second: of(ours) })
        .collect();
    let mean = mean_difference(&pairs);
    match interval(&pairs) {
        Some(interval) => format!("{mean:+.2} ({:+.2} to {:+.2})", interval.low, interval.high),
        None => format!("{mean:+.2}"),
    }
}

/// Returns how many questions in a hundred have what `of` looks for, and the 95 % interval of that
/// share over databases, in words. Each question stands with its database.
pub(super) fn share<T>(questions: &[(&str, T)], of: impl Fn(&T) -> bool) -> (f64, String) {
    let pairs: Vec<Pair<'_>> = questions
        .iter()
        .map(|(cluster, question)| Pair {
            cluster,
            first: 0.0,
            second: if of(question) { 100.0 } else { 0.0 },
        })
        .collect();
    let words = match interval(&pairs) {
        Some(interval) => format!("95 % over tables {:.1} to {:.1}", interval.low, interval.high),
        None => "of one table".to_owned(),
    };
    (mean_difference(&pairs), words)
}

fn mean_difference(pairs: &[Pair<'_>]) -> f64 {
    pairs.iter().map(|pair| pair.second - pair.first).sum::<f64>() / pairs.len().max(1) as f64
}

fn interval(pairs: &[Pair<'_>]) -> Option<Interval> {
    bootstrap_difference(pairs, RESAMPLES.1, RESAMPLES.0)
}
