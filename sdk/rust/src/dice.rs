//! A small generator for ties and coins: SplitMix64 (Steele, Lea and Flood 2014). Equal seeds give equal throws.

/// A seeded generator of random numbers.
#[derive(Debug)]
pub struct Dice(u64);

impl Dice {
    /// A generator that starts from the run's seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns true or false, each half of the time.
    pub fn coin(&mut self) -> bool {
        self.next() & 1 == 1
    }

    /// One of that many, from 0. A throw for one is none, so that it changes nothing later.
    pub fn one_of(&mut self, sides: usize) -> usize {
        if sides <= 1 {
            return 0;
        }
        // The upper half of a product: fair enough for a few sides, and without a division (Lemire 2019).
        ((u128::from(self.next()) * sides as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_splitmix64() {
        // The reference implementation's first outputs for the seed 1234567.
        let mut dice = Dice::new(1_234_567);
        assert_eq!([dice.next(), dice.next()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn a_coin_falls_on_either_side_and_by_the_seed() {
        let heads = |seed: u64| {
            let mut dice = Dice::new(seed);
            (0..1000).map(|_| dice.coin()).collect::<Vec<_>>()
        };
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
