//! Figures beside the share of right answers: the answers by their origin, whole conversations, and
//! the chance that each of several tries is right.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::share::{Share, mean};
use crate::Verdict;
use crate::run::{End, Graded};
use crate::stats::{Interval, Pair, bootstrap_difference, bootstrap_questions};

/// The seed and the number of samples of the intervals.
const SEED: u64 = 39;
const RESAMPLES: u32 = 2_000;
/// The greatest number of tries whose chance is reported.
const TRIES: usize = 10;
/// The origins in the order in which they are shown.
const ORDER: [&str; 3] = ["metric", "verified", "generated"];

/// The answers of one origin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OriginShare {
    /// `metric`, `verified` or `generated`.
    pub origin: String,
    /// The number of answers, those that do not count included.
    pub answers: u64,
    /// Their share of all answers whose origin is known, 0 to 1.
    pub part: f64,
    /// The right answers among them.
    #[serde(flatten)]
    pub share: Share,
}

/// The chance that each of `k` tries of a question is right: pass^k.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AllRight {
    /// The number of tries.
    pub k: u64,
    /// The number of seeds that the questions were asked under.
    pub seeds: u64,
    /// The number of questions that count under all seeds.
    pub of: u64,
    /// The chance, 0 to 1.
    pub chance: f64,
    /// Its 95 % interval over databases, or over questions where there is one database; `None` for
    /// a single question.
    pub interval: Option<Interval>,
}

/// The answers by origin, those of defined metrics first.
pub(crate) fn origins(graded: &[&Graded], rule: &str) -> Vec<OriginShare> {
    let mut by_origin: BTreeMap<&str, Vec<&Graded>> = BTreeMap::new();
    for one in graded.iter().filter(|one| one.end == End::Answered) {
        if let Some(origin) = &one.origin {
            by_origin.entry(origin).or_default().push(one);
        }
    }
    let all: usize = by_origin.values().map(Vec::len).sum();
    let mut shares: Vec<OriginShare> = by_origin
        .into_iter()
        .map(|(origin, answers)| OriginShare {
            origin: origin.to_owned(),
            answers: answers.len() as u64,
            part: answers.len() as f64 / all as f64,
            share: Share::from_answers(answers, rule),
        })
        .collect();
    shares.sort_by_key(|share| ORDER.iter().position(|origin| *origin == share.origin));
    shares
}

/// The conversations whose turns are all right, of those whose turns were all graded. Turns that do
/// not count are passed over; a conversation of which none counts does not count.
pub(crate) fn conversations(graded: &[&Graded], rule: &str) -> Option<Share> {
    let mut turns: BTreeMap<&str, (u64, Vec<Option<Verdict>>)> = BTreeMap::new();
    for one in graded {
        if let Some(turn) = &one.turn {
            let known = turns.entry(&turn.conversation).or_insert((turn.of, Vec::new()));
            known.1.push(one.verdict(rule));
        }
    }
    if turns.is_empty() {
        return None;
    }
    let mut right = 0;
    let mut of = 0;
    let mut excluded = 0;
    for (count, verdicts) in turns.into_values() {
        let counting: Vec<Verdict> =
            verdicts.iter().flatten().copied().filter(|it| *it != Verdict::Excluded).collect();
        if verdicts.len() as u64 != count || counting.is_empty() {
            excluded += 1;
            continue;
        }
        of += 1;
        right += u64::from(counting.into_iter().all(Verdict::is_right));
    }
    Some(Share { excluded, ..Share::from_counts(right, of) })
}

/// The chances that each of 1, 2, … tries is right, from the answers under each seed. Empty for
/// one seed.
///
/// Of a question with `c` right answers in `n` tries the chance is estimated without bias by
/// C(c, k) / C(n, k): S. Yao et al., "τ-bench: A Benchmark for Tool-Agent-User Interaction in
/// Real-World Domains" (2024), after M. Chen et al., "Evaluating Large Language Models Trained on
/// Code" (2021).
pub(crate) fn chances(seeds: &[Vec<&Graded>], rule: &str) -> Vec<AllRight> {
    if seeds.len() < 2 {
        return Vec::new();
    }
    let mut counts: BTreeMap<(u64, &str), (&str, usize, usize)> = BTreeMap::new();
    for one in seeds.iter().flatten() {
        let known = counts.entry((one.place, &one.id)).or_insert((&one.db, 0, 0));
        match one.verdict(rule) {
            Some(Verdict::Right) => (known.1, known.2) = (known.1 + 1, known.2 + 1),
            Some(Verdict::Wrong) => known.2 += 1,
            Some(Verdict::Excluded) | None => {}
        }
    }
    let counting: Vec<(&str, usize)> = counts
        .into_values()
        .filter(|(_, _, all)| *all == seeds.len())
        .map(|(db, right, _)| (db, right))
        .collect();
    (1..=seeds.len().min(TRIES))
        .filter_map(|k| {
            let values: Vec<(&str, f64)> =
                counting.iter().map(|(db, right)| (*db, chance(*right, seeds.len(), k))).collect();
            Some(AllRight {
                k: k as u64,
                seeds: seeds.len() as u64,
                of: values.len() as u64,
                chance: mean(values.iter().map(|(_, value)| *value))?,
                interval: interval(&values),
            })
        })
        .collect()
}

/// C(right, k) / C(tries, k).
fn chance(right: usize, tries: usize, k: usize) -> f64 {
    (0..k).map(|at| right.saturating_sub(at) as f64 / (tries - at) as f64).product()
}

fn interval(values: &[(&str, f64)]) -> Option<Interval> {
    let pairs: Vec<Pair<'_>> =
        values.iter().map(|(db, value)| Pair { cluster: db, first: 0.0, second: *value }).collect();
    bootstrap_difference(&pairs, SEED, RESAMPLES)
        .or_else(|| bootstrap_questions(&pairs, SEED, RESAMPLES))
}

#[cfg(test)]
mod tests {
    use super::super::tests::made::answer;
    use super::*;
    use crate::run::TurnOf;

    fn verdict(is_right: bool) -> Verdict {
        if is_right { Verdict::Right } else { Verdict::Wrong }
    }

    fn list(right: [bool; 3]) -> Vec<Graded> {
        (0..).zip(right).map(|(place, it)| answer("a", place, verdict(it))).collect()
    }

    #[test]
    fn answers_are_counted_by_their_origin() {
        let graded = [
            (0, Some("generated"), false),
            (1, Some("metric"), true),
            (2, Some("metric"), true),
            (3, None, true),
        ];
        let graded = graded.map(|(place, origin, is_right)| Graded {
            origin: origin.map(str::to_owned),
            ..answer("a", place, verdict(is_right))
        });
        let graded: Vec<&Graded> = graded.iter().collect();
        let found: Vec<_> = origins(&graded, "bag-v1")
            .into_iter()
            .map(|share| (share.origin, share.answers, share.share.right))
            .collect();
        assert_eq!(found, [("metric".to_owned(), 2, 2), ("generated".to_owned(), 1, 0)]);
    }

    #[test]
    fn a_conversation_is_right_if_all_its_turns_are() {
        let graded = [
            (0, "one", 2, Verdict::Right),
            (1, "one", 2, Verdict::Right),
            (2, "two", 2, Verdict::Right),
            (3, "two", 2, Verdict::Wrong),
            (4, "three", 2, Verdict::Right),
            (5, "four", 1, Verdict::Excluded),
        ];
        let graded = graded.map(|(place, id, of, verdict)| Graded {
            turn: Some(TurnOf { conversation: id.to_owned(), of }),
            ..answer("a", place, verdict)
        });
        let graded: Vec<&Graded> = graded.iter().collect();
        let share = conversations(&graded, "bag-v1").unwrap();
        assert_eq!((share.right, share.of, share.excluded), (1, 2, 2));
        assert_eq!(conversations(&[], "bag-v1"), None);
    }

    #[test]
    fn the_chance_of_several_right_tries_is_unbiased() {
        assert_eq!([chance(3, 4, 1), chance(3, 4, 2), chance(1, 4, 2)], [0.75, 0.5, 0.0]);
        // The mean of C(c, k) / C(n, k) over all outcomes of n tries with a chance of 0.5 is 0.5^k.
        let mean: f64 = (0..=4_usize)
            .map(|right| [1.0, 4.0, 6.0, 4.0, 1.0][right] / 16.0 * chance(right, 4, 2))
            .sum();
        assert!((mean - 0.25).abs() < 1e-12, "{mean}");
    }

    #[test]
    fn chances_are_over_questions_that_count_under_all_seeds() {
        let seeds = [list([true, true, false]), list([true, false, false])];
        let mut third = list([true, true, true]);
        third[2] = answer("a", 2, Verdict::Excluded);
        let lists: Vec<Vec<&Graded>> =
            seeds.iter().chain([&third]).map(|list| list.iter().collect()).collect();
        let found = chances(&lists, "bag-v1");
        assert_eq!(found.len(), 3);
        assert_eq!((found[0].of, found[0].seeds), (2, 3));
        assert!((found[0].chance - 5.0 / 6.0).abs() < 1e-12, "{found:?}");
        assert!((found[2].chance - 0.5).abs() < 1e-12, "{found:?}");
        let interval = found[2].interval.unwrap();
        assert!(interval.low <= 0.5 && interval.high >= 0.5, "{found:?}");
        assert!(chances(&lists[..1], "bag-v1").is_empty());
    }
}
