//! Random draws by name: the same names give the same numbers, on any machine and in any order of
//! the draws. That needs a hash function in place of a generator with a state.

use sha2::{Digest, Sha256};
use statrs::distribution::{ContinuousCDF, Normal};

/// A source of independent draws, each found by its name.
#[derive(Clone)]
pub(super) struct Chance(Sha256);

impl Chance {
    /// The source of these parts. Each counts with its length, so that no two lists of parts are
    /// the same.
    pub(super) fn from_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        Self(Sha256::new()).and(parts)
    }

    /// The source of the former parts and these.
    pub(super) fn and<'a>(mut self, parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        for part in parts {
            self.0.update((part.len() as u64).to_le_bytes());
            self.0.update(part);
        }
        self
    }

    /// The digest of all parts and the draw's name.
    pub(super) fn digest(&self, name: &str) -> [u8; 32] {
        self.clone().and([name.as_bytes()]).0.finalize().into()
    }

    /// A number from 0 to below 1, in steps of 2⁻⁵³.
    pub(super) fn uniform(&self, name: &str) -> f64 {
        let digest = self.digest(name);
        let head = digest.first_chunk::<8>().copied().unwrap_or_default();
        (u64::from_le_bytes(head) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number of the standard normal distribution.
    pub(super) fn normal(&self, name: &str) -> f64 {
        // The middle of the step: 0 has no quantile.
        Normal::standard().inverse_cdf(self.uniform(name) + 0.5_f64.powi(54))
    }

    /// The place of a draw among weights. `None` if their sum is 0.
    pub(super) fn pick(&self, name: &str, weights: &[f64]) -> Option<usize> {
        let all: f64 = weights.iter().sum();
        let mut left = self.uniform(name) * all;
        let last = weights.iter().rposition(|weight| *weight > 0.0)?;
        for (place, weight) in weights.iter().enumerate() {
            if left < *weight {
                return Some(place);
            }
            left -= weight;
        }
        Some(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chance(parts: &[&str]) -> Chance {
        Chance::from_parts(parts.iter().map(|part| part.as_bytes()))
    }

    #[test]
    fn a_draw_follows_from_its_parts_and_its_name() {
        assert_eq!(chance(&["a", "b"]).uniform("x"), chance(&["a", "b"]).uniform("x"));
        let different = [
            chance(&["a", "b"]).uniform("x"),
            chance(&["a", "b"]).uniform("y"),
            chance(&["b", "a"]).uniform("x"),
            chance(&["ab"]).uniform("x"),
            chance(&["a", "", "b"]).uniform("x"),
        ];
        assert!(
            different.iter().enumerate().all(|(at, one)| !different[..at].contains(one)),
            "{different:?}"
        );
        assert_eq!(
            chance(&["a"]).and([b"b".as_slice()]).uniform("x"),
            chance(&["a", "b"]).uniform("x")
        );
    }

    #[test]
    fn draws_are_spread_as_they_should_be() {
        let source = chance(&["spread"]);
        let names: Vec<String> = (0..4_000).map(|n: u32| n.to_string()).collect();
        let mean = |draw: &dyn Fn(&String) -> f64| names.iter().map(draw).sum::<f64>() / 4_000.0;
        assert!((mean(&|name| source.uniform(name)) - 0.5).abs() < 0.02);
        assert!(mean(&|name| source.normal(name)).abs() < 0.05);
        assert!((mean(&|name| source.normal(name).powi(2)) - 1.0).abs() < 0.08);
        let picked = |place: usize| {
            mean(&|name| f64::from(source.pick(name, &[1.0, 0.0, 3.0]) == Some(place)))
        };
        assert!(
            (picked(0) - 0.25).abs() < 0.03 && picked(1) == 0.0 && (picked(2) - 0.75).abs() < 0.03
        );
        assert_eq!((source.pick("x", &[]), source.pick("x", &[0.0])), (None, None));
    }
}
