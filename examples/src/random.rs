//! A small generator of pseudo-random numbers, so that the example database is the same on every
//! machine.

/// Chooses numbers and list items by a seed.
#[derive(Debug, Clone)]
pub(crate) struct Random(syrch_basics::Random);

impl Random {
    /// Creates a generator; equal seeds give equal choices.
    pub(crate) fn new(seed: u64) -> Self {
        Self(syrch_basics::Random::new(seed))
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        let span = high.abs_diff(low).saturating_add(1);
        low.saturating_add_unsigned(self.0.number() % span)
    }

    /// Returns true with a chance of so many in a hundred.
    pub(crate) fn percent(&mut self, chance: i64) -> bool {
        self.between(1, 100) <= chance
    }

    /// One of these; the list must not be empty.
    pub(crate) fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        let index = self.0.number() % list.len().max(1) as u64;
        &list[usize::try_from(index).unwrap_or_default()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_in_their_bounds() {
        let mut random = Random::new(1_234_567);
        let drawn: Vec<i64> = (0..1_000).map(|_| random.between(-2, 3)).collect();
        assert!((-2..=3).all(|n| drawn.contains(&n)) && drawn.iter().all(|n| (-2..=3).contains(n)));
    }
}
