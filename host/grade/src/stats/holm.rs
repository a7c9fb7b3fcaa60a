//! Several comparisons at once.

/// Holm's adjusted p-values, in the given order: a comparison holds at 5 % among all of them when
/// its own is at most 0.05.
///
/// S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
/// Statistics 6 (1979), 65–70.
#[must_use]
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|one, other| p[*one].total_cmp(&p[*other]));
    let mut adjusted = vec![1.0; p.len()];
    let mut reached = 0.0_f64;
    for (rank, place) in order.into_iter().enumerate() {
        reached = reached.max(p[place] * (p.len() - rank) as f64).min(1.0);
        adjusted[place] = reached;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_is_multiplied_by_all_and_none_overtakes() {
        fn close(one: &[f64], other: &[f64]) -> bool {
            one.iter().zip(other).all(|(one, other)| (one - other).abs() < 1e-12)
        }
        assert!(close(&holm(&[0.01, 0.04, 0.03, 0.005]), &[0.03, 0.06, 0.06, 0.02]));
        assert_eq!(holm(&[]), Vec::<f64>::new());
        assert_eq!(holm(&[0.03]), [0.03]);
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
    }

    proptest::proptest! {
        #[test]
        fn the_order_is_kept_and_nothing_shrinks(
            p in proptest::collection::vec(0.0_f64..=1.0, 0..20)
        ) {
            let adjusted = holm(&p);
            for one in 0..p.len() {
                proptest::prop_assert!(adjusted[one] >= p[one] && adjusted[one] <= 1.0);
                for other in 0..p.len() {
                    proptest::prop_assert!(p[one] > p[other] || adjusted[one] <= adjusted[other]);
                }
            }
        }
    }
}
