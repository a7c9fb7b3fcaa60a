//! Statistics of several measurements of one thing.

use std::time::Instant;

/// The middle one; of an even number, the mean of the two in the middle. NaN of none.
pub(crate) fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_unstable_by(f64::total_cmp);
    let middle = samples.len() / 2;
    match samples.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => samples[middle],
        _ => f64::midpoint(samples[middle - 1], samples[middle]),
    }
}

/// The least one that is no less than this share of all; NaN of none.
pub(crate) fn quantile(mut samples: Vec<f64>, share: f64) -> f64 {
    samples.sort_unstable_by(f64::total_cmp);
    let place = (samples.len() as f64 * share).ceil() as usize;
    samples.get(place.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

/// The greatest; NaN of none.
pub(crate) fn greatest(samples: &[f64]) -> f64 {
    samples.iter().copied().fold(f64::NAN, f64::max)
}

/// The milliseconds since that instant.
pub(crate) fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_the_middle() {
        assert_eq!(median(vec![9.0, 1.0, 5.0]), 5.0);
        assert_eq!(median(vec![9.0, 1.0, 5.0, 6.0]), 5.5);
        assert!(median(Vec::new()).is_nan());
        let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!((quantile(hundred.clone(), 0.95), quantile(hundred, 1.0)), (95.0, 100.0));
        assert!(quantile(Vec::new(), 0.95).is_nan());
        assert_eq!(greatest(&[1.0, 7.0, 3.0]), 7.0);
    }
}
