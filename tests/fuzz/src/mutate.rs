//! Changes of inputs, from a seed: without the guidance of coverage, but the same everywhere.

use syrch_basics::Random;

/// Changes of one input at most.
const CHANGES: usize = 4;
/// Bytes of a changed input at most.
const LARGEST: usize = 8 << 10;

/// Makes inputs of those of a corpus.
#[derive(Debug, Clone)]
pub struct Mutations<'c> {
    corpus: &'c [Vec<u8>],
    pieces: &'c [Vec<u8>],
    random: Random,
}

impl<'c> Mutations<'c> {
    /// Makes inputs of a corpus and of pieces that are put into them.
    #[must_use]
    pub fn new(corpus: &'c [Vec<u8>], pieces: &'c [Vec<u8>], seed: u64) -> Self {
        Self { corpus, pieces, random: Random::new(seed) }
    }

    /// Returns a number below `end`; 0 if that is 0.
    fn below(&mut self, end: usize) -> usize {
        let end = end.max(1) as u64;
        usize::try_from(self.random.number() % end).unwrap_or_default()
    }

    fn pick(&mut self, from: &'c [Vec<u8>]) -> &'c [u8] {
        let at = self.below(from.len());
        from.get(at).map(Vec::as_slice).unwrap_or_default()
    }

    /// A place of a text and one at most `most` bytes behind it.
    fn range(&mut self, length: usize, most: usize) -> std::ops::Range<usize> {
        let start = self.below(length + 1);
        let end = (start + self.below(most + 1)).min(length);
        start..end
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let place = self.range(input.len(), 16);
        match self.below(7) {
            0 => drop(input.drain(place)),
            1 => {
                let part = input[place.clone()].to_vec();
                input.splice(place.end..place.end, part);
            }
            2 => {
                let bit = 1 << self.below(8);
                input[place].iter_mut().take(1).for_each(|byte| *byte ^= bit);
            }
            3 => input.truncate(place.start),
            // The end of another input.
            4 => {
                let other = self.pick(self.corpus);
                let from = self.below(other.len());
                input.truncate(place.end);
                input.extend(other.iter().skip(from));
            }
            _ => {
                let piece = self.pick(self.pieces);
                let end = if self.below(2) == 0 { place.start } else { place.end };
                input.splice(place.start..end, piece.iter().copied());
            }
        }
    }
}

impl Iterator for Mutations<'_> {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        let mut input = self.pick(self.corpus).to_vec();
        for _ in 0..=self.below(CHANGES) {
            self.change(&mut input);
        }
        input.truncate(LARGEST);
        Some(input)
    }
}
