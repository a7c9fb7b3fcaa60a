//! The interval of one share: how many answers of an arm, or of a bin, are right.

use super::{Interval, Z_95};

/// Wilson's score interval at 95 % for `right` of `of`; 0 to 1 when there is nothing to count.
///
/// E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22
/// (1927), 209–212; recommended for all sizes by Brown, Cai and DasGupta, "Interval estimation for
/// a binomial proportion", Statistical Science 16 (2001).
#[must_use]
pub fn wilson(right: u64, of: u64) -> Interval {
    if of == 0 {
        return Interval { low: 0.0, high: 1.0 };
    }
    let right = right.min(of);
    let n = of as f64;
    let share = right as f64 / of as f64;
    let square = Z_95 * Z_95;
    let scale = 1.0 + square / n;
    let centre = (share + square / (2.0 * n)) / scale;
    let half = Z_95 / scale * (share * (1.0 - share) / n + square / (4.0 * n * n)).sqrt();
    Interval {
        // At the ends the formula gives 0 and 1 but for rounding.
        low: if right == 0 { 0.0 } else { (centre - half).max(0.0) },
        high: if right == of { 1.0 } else { (centre + half).min(1.0) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn per_mille(interval: Interval) -> (f64, f64) {
        ((interval.low * 1000.0).round(), (interval.high * 1000.0).round())
    }

    #[test]
    fn published_values() {
        assert_eq!(per_mille(wilson(118, 200)), (521.0, 656.0));
        assert_eq!(per_mille(wilson(41, 47)), (748.0, 940.0));
    }

    #[test]
    fn the_ends_are_ends() {
        assert_eq!(wilson(0, 0), Interval { low: 0.0, high: 1.0 });
        assert_eq!(wilson(0, 10).low, 0.0);
        assert_eq!(wilson(10, 10).high, 1.0);
        assert!(wilson(0, 10).high < 0.28 && wilson(10, 10).low > 0.72);
        assert_eq!(
            wilson(11, 10),
            wilson(10, 10),
            "more right than asked is a mistake of the caller, not a panic"
        );
    }

    proptest::proptest! {
        #[test]
        fn it_holds_the_share_and_mirrors(
            (right, of) in (1_u64..2_000).prop_flat_map(|of| (0..=of, proptest::strategy::Just(of)))
        ) {
            let here = wilson(right, of);
            let there = wilson(of - right, of);
            proptest::prop_assert!(here.contains(right as f64 / of as f64));
            proptest::prop_assert!((here.low - (1.0 - there.high)).abs() < 1e-12);
        }
    }

    use proptest::strategy::Strategy as _;
}
