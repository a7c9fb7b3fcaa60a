//! The test of two arms on the same questions: only those count that one has right and the other
//! wrong.

use statrs::distribution::{Binomial, DiscreteCDF};

/// The exact two-sided p-value of McNemar's test: `b` questions are right in the first arm only,
/// `c` in the second only.
///
/// Under no difference b follows a binomial distribution with b + c tries at ½; the p-value is
/// twice its smaller tail, at most 1. Q. McNemar, "Note on the sampling error of the difference
/// between correlated proportions", Psychometrika 12 (1947), 153–157, with the exact tail in place
/// of the chi-square, which is too bold for few flips.
#[must_use]
pub fn mcnemar(b: u64, c: u64) -> f64 {
    let Some(tries) = b.checked_add(c) else { return 1.0 };
    // Both tails together are all there is; the sum would be 1 but for rounding.
    if b.abs_diff(c) <= 1 {
        return 1.0;
    }
    (2.0 * lower_tail(b.min(c), tries, 0.5)).min(1.0)
}

/// P(X ≤ `most`) of a binomial distribution with `tries` at `chance`.
pub(super) fn lower_tail(most: u64, tries: u64, chance: f64) -> f64 {
    if most >= tries {
        return 1.0;
    }
    Binomial::new(chance.clamp(0.0, 1.0), tries).map_or(1.0, |binomial| binomial.cdf(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_value() {
        assert_eq!((mcnemar(21, 8) * 1e4).round() / 1e4, 0.0241);
        assert_eq!(mcnemar(21, 8), mcnemar(8, 21));
    }

    #[test]
    fn no_flips_and_balanced_flips_show_nothing() {
        assert_eq!(mcnemar(0, 0), 1.0);
        assert_eq!(mcnemar(7, 7), 1.0);
        assert_eq!(mcnemar(1, 0), 1.0);
        assert_eq!(mcnemar(u64::MAX, 1), 1.0, "an impossible count is no proof");
    }

    #[test]
    fn five_flips_one_way_are_not_enough_and_six_are() {
        assert!((mcnemar(5, 0) - 0.0625).abs() < 1e-15);
        assert!((mcnemar(6, 0) - 0.031_25).abs() < 1e-15);
    }

    #[test]
    fn a_huge_difference_stays_a_number() {
        let p = mcnemar(5_000, 10);
        assert!((0.0..1e-100).contains(&p), "{p}");
    }
}
