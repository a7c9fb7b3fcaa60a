//! Figures under several seeds: a figure of a simulated model, or of recorded answers in a seeded
//! order, is one draw of many.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::pairing::{Tally, counting, meet};
use super::result::arm_answers;
use super::share::Share;
use crate::run::{Graded, Header};

/// The least and the greatest of a figure over seeds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Band {
    /// The lowest value over the seeds.
    pub low: f64,
    /// The highest value over the seeds.
    pub high: f64,
    /// The number of seeds.
    pub seeds: u64,
}

impl Band {
    /// `None` if there are fewer than two seeds.
    fn over(figures: impl IntoIterator<Item = f64>) -> Option<Self> {
        let all: Vec<f64> = figures.into_iter().collect();
        let low = all.iter().copied().reduce(f64::min)?;
        let high = all.iter().copied().reduce(f64::max)?;
        (all.len() > 1).then_some(Self { low, high, seeds: all.len() as u64 })
    }
}

/// The answers of an arm under each seed, its own first.
pub(crate) fn seeds<'a>(header: &Header, graded: &'a [Graded], arm: &str) -> Vec<Vec<&'a Graded>> {
    std::iter::once(arm).chain(header.again(arm)).map(|name| arm_answers(graded, name)).collect()
}

/// Of these lists of answers, those to the questions that all of them have: a list that was cut
/// short would differ for its questions' sake.
fn common<'a>(lists: &[Vec<&'a Graded>]) -> Vec<Vec<&'a Graded>> {
    let mut counts: BTreeMap<(u64, &str), usize> = BTreeMap::new();
    lists
        .iter()
        .flatten()
        .for_each(|one| *counts.entry((one.place, one.id.as_str())).or_default() += 1);
    lists
        .iter()
        .map(|list| {
            list.iter()
                .filter(|one: &&&Graded| {
                    counts.get(&(one.place, one.id.as_str())) == Some(&lists.len())
                })
                .copied()
                .collect()
        })
        .collect()
}

/// The band of an arm's share of right answers, over the questions that all seeds have.
pub(crate) fn for_share(seeds: &[Vec<&Graded>], rule: &str) -> Option<Band> {
    let seeds = common(seeds);
    Band::over(
        seeds.iter().filter_map(|answers| Share::from_answers(answers.iter().copied(), rule).share),
    )
}

/// The band of the difference between two arms, each seed of the one against the same of the other,
/// over the questions that all have.
pub(crate) fn for_difference(
    first: &[Vec<&Graded>],
    second: &[Vec<&Graded>],
    rule: &str,
) -> Option<Band> {
    let all = common(&[first, second].concat());
    let (first, second) = all.split_at(first.len().min(all.len()));
    Band::over(first.iter().zip(second).filter_map(
        |(first, second): (&Vec<&Graded>, &Vec<&Graded>)| {
            let both = counting(&meet(first, second), rule);
            Tally::from_pairs(&both, rule).difference(both.len() as u64)
        },
    ))
}

/// Arms whose bands are reported one by one; of more, as a grid has, only the widest is.
const EACH: usize = 4;

/// The bands of the arms' shares in words.
pub(crate) fn notes(arms: &[(&str, Band)]) -> Vec<String> {
    fn width(band: &Band) -> f64 {
        band.high - band.low
    }
    match arms.iter().max_by(|(_, one), (_, other)| width(one).total_cmp(&width(other))) {
        Some((widest, band)) if arms.len() > EACH => vec![format!(
            "over {} seeds shares differ by up to {:.1} points (`{widest}`): the figures here are \
             those of the first seed",
            band.seeds,
            width(band) * 100.0
        )],
        _ => arms.iter().map(|(arm, band)| note(arm, band)).collect(),
    }
}

fn note(arm: &str, band: &Band) -> String {
    let low = band.low * 100.0;
    let high = band.high * 100.0;
    format!(
        "over {} seeds `{arm}` has {low:.1} to {high:.1} % right: its figures here are those of \
         the first seed",
        band.seeds
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::made::{answer, header};
    use super::super::{BenchmarkReport, CompareOptions, CompareReport};
    use super::*;
    use crate::Verdict;

    /// `a` and `b` with two seeds more each; `right` are the right answers of four, in the order of
    /// the arms.
    fn run(right: [u64; 6]) -> (Header, Vec<Graded>) {
        let names = ["a", "b", "a #8", "b #8", "a #9", "b #9"];
        let mut header = header(&names, 4);
        for arm in header.arms.iter_mut().skip(2) {
            arm.again = Some(arm.name[..1].to_owned());
        }
        fn verdict(is_right: bool) -> Verdict {
            if is_right { Verdict::Right } else { Verdict::Wrong }
        }
        (
            header,
            names
                .into_iter()
                .zip(right)
                .flat_map(|(name, right): (&str, u64)| {
                    let name = name.to_owned();
                    (0..4)
                        .map(move |place| answer(&name, place, verdict(place < right)))
                        .collect::<Vec<_>>()
                })
                .collect(),
        )
    }

    #[test]
    fn a_band_goes_from_the_least_to_the_greatest_over_seeds() {
        let (header, graded) = run([2, 3, 1, 4, 3, 3]);
        let report = BenchmarkReport::new(&header, &graded, "bag-v1");
        assert_eq!(report.band, Some(Band { low: 0.25, high: 0.75, seeds: 3 }));
        assert_eq!(
            (report.figures.share.right, report.results.len(), report.basis.partial.is_none()),
            (2, 4, true)
        );
        let expected = "over 3 seeds `a` has 25.0 to 75.0 % right: its figures here are those of \
                        the first seed";
        assert!(
            report.basis.warnings.iter().any(|warning| warning == expected),
            "{:?}",
            report.basis.warnings
        );
        let report = CompareReport::new(&header, &graded, "bag-v1", &CompareOptions::default());
        let names: Vec<_> = report.arms.iter().map(|arm| arm.arm.name.as_str()).collect();
        assert_eq!(
            (names.as_slice(), report.pairs.len(), report.results.len()),
            (["a", "b"].as_slice(), 1, 8)
        );
        assert_eq!(report.arms[1].band, Some(Band { low: 0.75, high: 1.0, seeds: 3 }));
        assert_eq!(report.pairs[0].band, Some(Band { low: 0.0, high: 0.75, seeds: 3 }));
    }

    #[test]
    fn a_seed_that_was_cut_short_makes_the_run_partial_and_no_band_of_its_own() {
        let (header, mut graded) = run([2, 3, 1, 4, 3, 3]);
        // Of the last seed of `b` only the first question, which is right.
        graded.retain(|one| one.arm != "b #9" || one.place == 0);
        let report = CompareReport::new(&header, &graded, "bag-v1", &CompareOptions::default());
        let partial = report.basis.partial.unwrap();
        assert_eq!((partial.done, partial.of), (21, 24));
        assert_eq!(report.arms[0].band, Some(Band { low: 0.25, high: 0.75, seeds: 3 }));
        assert_eq!(report.arms[1].band, Some(Band { low: 1.0, high: 1.0, seeds: 3 }));
        assert_eq!(report.pairs[0].band, Some(Band { low: 0.0, high: 0.0, seeds: 3 }));
        graded.retain(|one| one.arm != "a #9");
        let benchmark = BenchmarkReport::new(&header, &graded, "bag-v1");
        assert_eq!(
            benchmark.basis.partial.map(|partial| (partial.done, partial.of)),
            Some((8, 12))
        );
    }

    #[test]
    fn of_many_arms_the_widest_band_is_reported() {
        fn band(high: f64) -> Band {
            Band { low: 0.25, high, seeds: 3 }
        }
        let mut arms =
            vec![("a", band(0.5)), ("b", band(0.75)), ("c", band(0.5)), ("d", band(0.5))];
        assert_eq!(notes(&arms).len(), 4);
        arms.push(("e", band(0.5)));
        let expected = "over 3 seeds shares differ by up to 50.0 points (`b`): the figures here \
                        are those of the first seed";
        assert_eq!((notes(&arms), notes(&[])), (vec![expected.to_owned()], Vec::new()));
    }

    #[test]
    fn one_seed_has_no_band() {
        let (mut header, graded) = run([2, 3, 1, 4, 3, 3]);
        header.arms.truncate(2);
        let report = CompareReport::new(&header, &graded, "bag-v1", &CompareOptions::default());
        assert!(report.arms.iter().all(|arm| arm.band.is_none()) && report.pairs[0].band.is_none());
    }
}
