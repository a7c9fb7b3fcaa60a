//! A small generator for ties and coins. Equal seeds give equal throws.

use syrch_basics::Random;

/// A seeded generator of random numbers.
#[derive(Debug)]
pub struct Dice(Random);

impl Dice {
    /// A generator that starts from the run's seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Random::new(seed))
    }

    /// Returns true or false, each half of the time.
    pub fn coin(&mut self) -> bool {
        self.0.number() & 1 == 1
    }

    /// One of that many, from 0. A throw for one is none, so that it changes nothing later.
    pub fn one_of(&mut self, sides: usize) -> usize {
        if sides <= 1 {
            return 0;
        }
        // The upper half of a product: fair enough for a few sides, and without a division (Lemire
        // 2019).
        ((u128::from(self.0.number()) * sides as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coin_falls_on_either_side_and_by_the_seed() {
        fn heads(seed: u64) -> Vec<bool> {
            let mut dice = Dice::new(seed);
            (0..1000).map(|_| dice.coin()).collect::<Vec<_>>()
        }
        let number = heads(3).into_iter().filter(|is_head| *is_head).count();
        assert!((400..600).contains(&number), "{number}");
        assert_ne!(heads(3), heads(4));
    }

    #[test]
    fn all_sides_come_up() {
        let mut dice = Dice::new(0);
        let throws: std::collections::BTreeSet<usize> = (0..64).map(|_| dice.one_of(3)).collect();
        assert_eq!(throws.into_iter().collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!((dice.one_of(1), dice.one_of(0)), (0, 0));
    }
}
