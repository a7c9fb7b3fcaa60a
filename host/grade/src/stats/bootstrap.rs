//! The interval of a paired difference by resampling: databases as clusters, or single questions.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_distr::{Binomial, Distribution};
use rand_pcg::Pcg64;

use super::Interval;

/// The values of two arms for one question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair<'a> {
    /// Its cluster: the database. Questions on one database fail together.
    pub cluster: &'a str,
    /// The first arm's value: 1 for right and 0 for wrong, or any other number.
    pub first: f64,
    /// The second arm's value for the same question.
    pub second: f64,
}

/// The 95 % percentile interval of the mean of `second − first`, with whole clusters drawn with
/// replacement; `None` if there are fewer than two clusters. The clusters' order of names decides
/// what the seed draws, not the order of the pairs.
///
/// A. C. Davison and D. V. Hinkley, "Bootstrap Methods and their Application" (1997), sections 3.8
/// and 5.3. A drawn sample's mean is over its questions, so that large databases count for more, as
/// they do in the figure itself. With few clusters it is too narrow, as every such interval is (A.
/// C. Cameron, J. B. Gelbach and D. L. Miller, "Bootstrap-based improvements for inference with
/// clustered errors", Review of Economics and Statistics 90 (2008)): of 95 % it holds about 91 with
/// 20 databases, and about 86 with 8 (`tests/simulations.rs`).
#[must_use]
pub fn bootstrap_difference(pairs: &[Pair<'_>], seed: u64, resamples: u32) -> Option<Interval> {
    let mut clusters: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for pair in pairs {
        let cluster = clusters.entry(pair.cluster).or_default();
        cluster.0 += pair.second - pair.first;
        cluster.1 += 1.0;
    }
    let clusters: Vec<(f64, f64)> = clusters.into_values().collect();
    if clusters.len() < 2 || resamples == 0 {
        return None;
    }
    let mut random = Pcg64::seed_from_u64(seed);
    let mut draw = || {
        let mut sum = 0.0;
        let mut count = 0.0;
        for _ in 0..clusters.len() {
            let (difference, questions) = clusters[random.random_range(0..clusters.len())];
            sum += difference;
            count += questions;
        }
        sum / count
    };
    Some(percentiles((0..resamples).map(|_| draw()).collect()))
}

/// The same with single questions drawn, for suites of one database; `None` if there are fewer than
/// two questions.
///
/// B. Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7 (1979),
/// 1–26.
#[must_use]
pub fn bootstrap_questions(pairs: &[Pair<'_>], seed: u64, resamples: u32) -> Option<Interval> {
    if pairs.len() < 2 || resamples == 0 {
        return None;
    }
    let values = count_differences(pairs);
    let mut random = Pcg64::seed_from_u64(seed);
    let mut draw = || {
        // How often each value is drawn is multinomial: one binomial after the other, of what is
        // left.
        let mut left = pairs.len() as u64;
        let mut draws = pairs.len() as u64;
        let mut sum = 0.0;
        for (value, count) in &values {
            let drawn = if *count == left {
                draws
            } else {
                binomial(draws, *count as f64 / left as f64, &mut random)
            };
            sum += value * drawn as f64;
            draws -= drawn;
            left -= count;
        }
        sum / pairs.len() as f64
    };
    Some(percentiles((0..resamples).map(|_| draw()).collect()))
}

/// Each difference that occurs, ascending, with how often it does: of right and wrong there are
/// three.
fn count_differences(pairs: &[Pair<'_>]) -> Vec<(f64, u64)> {
    let mut differences: Vec<f64> = pairs.iter().map(|pair| pair.second - pair.first).collect();
    differences.sort_by(f64::total_cmp);
    differences
        .chunk_by(|one, other| one == other)
        .map(|same| (same[0], same.len() as u64))
        .collect()
}

fn binomial(draws: u64, chance: f64, random: &mut Pcg64) -> u64 {
    Binomial::new(draws, chance).map_or(0, |binomial| binomial.sample(random).min(draws))
}

/// The 2.5 % and 97.5 % quantiles, between neighbours by straight lines: number 7 of R. J. Hyndman
/// and Y. Fan, "Sample quantiles in statistical packages", American Statistician 50 (1996).
fn percentiles(mut means: Vec<f64>) -> Interval {
    means.sort_by(f64::total_cmp);
    fn quantile(means: &[f64], share: f64) -> f64 {
        let place = share * (means.len() - 1) as f64;
        let below = means[place.floor() as usize];
        let above = means[place.ceil() as usize];
        below + (above - below) * place.fract()
    }
    Interval { low: quantile(&means, 0.025), high: quantile(&means, 0.975) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(cluster: &str, first: bool, second: bool) -> Pair<'_> {
        Pair { cluster, first: f64::from(u8::from(first)), second: f64::from(u8::from(second)) }
    }

    const DATABASES: [&str; 5] = ["alpha", "beta", "gamma", "delta", "epsilon"];

    fn sample_pairs() -> Vec<Pair<'static>> {
        (0..200_usize)
            .map(|at| pair(DATABASES[at % 5], at % 3 == 0, at % 4 == 0 || at % 5 == 1))
            .collect()
    }

    #[test]
    fn one_cluster_has_no_interval_and_one_question_neither() {
        assert_eq!(bootstrap_difference(&[pair("shop", true, false); 30], 1, 100), None);
        assert_eq!(bootstrap_difference(&[], 1, 100), None);
        assert_eq!(bootstrap_difference(&sample_pairs(), 1, 0), None);
        assert_eq!(bootstrap_questions(&[pair("shop", true, false)], 1, 100), None);
        assert!(bootstrap_questions(&[pair("shop", true, false); 2], 1, 100).is_some());
    }

    #[test]
    fn the_same_everywhere_is_certain() {
        let certain = Interval { low: 1.0, high: 1.0 };
        let pairs: Vec<Pair<'_>> = DATABASES.iter().map(|name| pair(name, false, true)).collect();
        assert_eq!(bootstrap_difference(&pairs, 7, 500), Some(certain));
        assert_eq!(bootstrap_questions(&pairs, 7, 500), Some(certain));
    }

    #[test]
    fn a_seed_decides_and_the_order_of_pairs_does_not() {
        fn second(at: u32) -> f64 {
            f64::from(at * 37 % 101) / 101.0
        }
        let pairs: Vec<Pair<'_>> = (0..200)
            .map(|at| Pair { cluster: DATABASES[at as usize % 5], first: 0.0, second: second(at) })
            .collect();
        let reversed: Vec<Pair<'_>> = pairs.iter().rev().copied().collect();
        assert_eq!(
            bootstrap_difference(&pairs, 3, 2_000),
            bootstrap_difference(&reversed, 3, 2_000)
        );
        assert_eq!(bootstrap_questions(&pairs, 3, 2_000), bootstrap_questions(&reversed, 3, 2_000));
        assert_ne!(bootstrap_questions(&pairs, 3, 2_000), bootstrap_questions(&pairs, 4, 2_000));
        assert_ne!(bootstrap_difference(&pairs, 3, 2_000), bootstrap_difference(&pairs, 4, 2_000));
    }

    #[test]
    fn questions_alone_have_the_normal_width() {
        let pairs = sample_pairs();
        let n = pairs.len() as f64;
        let mean = pairs.iter().map(|pair| pair.second - pair.first).sum::<f64>() / n;
        let spread =
            pairs.iter().map(|pair| (pair.second - pair.first - mean).powi(2)).sum::<f64>() / n;
        let half = super::super::Z_95 * (spread / n).sqrt();
        let found = bootstrap_questions(&pairs, 11, 20_000).unwrap();
        assert!((found.low - (mean - half)).abs() < 0.1 * half, "{found:?}");
        assert!((found.high - (mean + half)).abs() < 0.1 * half, "{found:?}");
    }

    #[test]
    fn values_need_not_be_right_and_wrong() {
        let pairs: Vec<Pair<'_>> = (0..60_u32)
            .map(|at| Pair { cluster: "shop", first: 0.0, second: f64::from(at) / 60.0 })
            .collect();
        let found = bootstrap_questions(&pairs, 5, 4_000).unwrap();
        assert!(found.contains(59.0 / 120.0) && found.high - found.low < 0.2, "{found:?}");
    }
}
