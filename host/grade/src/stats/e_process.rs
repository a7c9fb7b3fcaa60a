//! The test that may be looked at after every question.

use std::f64::consts::LN_2;

use statrs::function::beta::checked_ln_beta;

/// The evidence at which a comparison may stop: under no difference the e-process ever reaches it
/// in at most one comparison of twenty.
pub const E_STOP: f64 = 20.0;

/// The e-value of `b` questions that only the first arm has right against `c` that only the second
/// has: B(b + 1, c + 1) · 2^(b + c). Infinite when it is beyond a double.
///
/// It is the wealth of one who bets on each flip with the share of its direction so far (Laplace's
/// rule), starting at 1; under no difference it is a martingale, so that it exceeds 20 at any time
/// with a chance of at most 1/20 (J. Ville, "Étude critique de la notion de collectif", 1939). As a
/// test: A. Ramdas, P. Grünwald, V. Vovk and G. Shafer, "Game-theoretic statistics and safe
/// anytime-valid inference", Statistical Science 38 (2023).
#[must_use]
pub fn e_value(b: u64, c: u64) -> f64 {
    let b = b as f64;
    let c = c as f64;
    checked_ln_beta(b + 1.0, c + 1.0).map_or(1.0, |log| (log + (b + c) * LN_2).exp())
}

/// Returns true if a comparison is decided by these numbers of questions that only one of the two
/// had right: the e-process has reached [`E_STOP`].
#[must_use]
pub fn is_decided(b: u64, c: u64) -> bool {
    e_value(b, c) >= E_STOP
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_counts_by_hand() {
        assert!((e_value(0, 0) - 1.0).abs() < 1e-12);
        assert!((e_value(1, 0) - 1.0).abs() < 1e-12, "one flip is no evidence");
        assert!((e_value(2, 0) - 4.0 / 3.0).abs() < 1e-12);
        assert!((e_value(1, 1) - 2.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn eight_flips_one_way_stop_and_seven_do_not() {
        assert!(e_value(7, 0) < E_STOP);
        assert!(e_value(0, 8) > E_STOP);
        assert!(e_value(20_000, 0).is_infinite());
    }

    proptest::proptest! {
        /// A fair bet: the mean of the wealth after the next flip is the wealth before it.
        #[test]
        fn it_is_a_martingale(b in 0_u64..400, c in 0_u64..400) {
            let next = f64::midpoint(e_value(b + 1, c), e_value(b, c + 1));
            proptest::prop_assert!((next / e_value(b, c) - 1.0).abs() < 1e-9);
        }
    }
}
