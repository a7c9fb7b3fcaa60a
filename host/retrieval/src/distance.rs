//! Edit distance and Jaro-Winkler similarity between one short text and many others, by bit
//! vectors: a comparison takes one step for each character of the other text.

/// Characters of a pattern at most: each is one bit.
pub(crate) const PATTERN: usize = u128::BITS as usize;

/// Letters and digits of ASCII.
const ASCII: usize = 36;

/// A text of at most [`PATTERN`] characters that others are compared with.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    chars: Vec<char>,
    /// The places of each letter or digit.
    ascii: [u128; ASCII],
    /// The places of each other character, sorted by character.
    others: Vec<(char, u128)>,
}

fn slot(c: char) -> Option<usize> {
    match c {
        'a'..='z' => Some(c as usize - 'a' as usize),
        '0'..='9' => Some(c as usize - '0' as usize + 26),
        _ => None,
    }
}

/// The lowest `count` bits.
fn low(count: usize) -> u128 {
    if count >= PATTERN { u128::MAX } else { (1 << count) - 1 }
}

impl Pattern {
    /// The first [`PATTERN`] characters of a text in lower case.
    pub(crate) fn new(text: &str) -> Self {
        let chars: Vec<char> = text.chars().take(PATTERN).collect();
        let mut pattern = Self { ascii: [0; ASCII], others: Vec::new(), chars: Vec::new() };
        for (at, c) in chars.iter().enumerate() {
            match slot(*c).and_then(|slot| pattern.ascii.get_mut(slot)) {
                Some(places) => *places |= 1 << at,
                None => pattern.add_other(*c, 1 << at),
            }
        }
        Self { chars, ..pattern }
    }

    fn add_other(&mut self, c: char, place: u128) {
        match self.others.binary_search_by_key(&c, |(other, _)| *other) {
            Ok(found) => self.others[found].1 |= place,
            Err(at) => self.others.insert(at, (c, place)),
        }
    }

    pub(crate) fn chars(&self) -> &[char] {
        &self.chars
    }

    fn places(&self, c: char) -> u128 {
        match slot(c) {
            Some(slot) => self.ascii.get(slot).copied().unwrap_or(0),
            None => self
                .others
                .binary_search_by_key(&c, |(other, _)| *other)
                .map_or(0, |found| self.others[found].1),
        }
    }

    /// The normalised Levenshtein similarity: 1 for equal texts, 0 if every character differs. It
    /// uses the bit vectors of G. Myers (1999) in the form of H. Hyyrö (2003). `length` is the
    /// number of characters of the text.
    pub(crate) fn nearness(&self, text: &str, length: usize) -> f64 {
        let longer = self.chars.len().max(length);
        if self.chars.is_empty() || length == 0 {
            return if longer == 0 { 1.0 } else { 0.0 };
        }
        let last = 1_u128 << (self.chars.len() - 1);
        let mut more = u128::MAX;
        let mut less = 0_u128;
        let mut distance = self.chars.len();
        for c in text.chars() {
            let equal = self.places(c);
            let down = equal | less;
            let across = ((equal & more).wrapping_add(more) ^ more) | equal;
            let up = less | !(across | more);
            let fall = more & across;
            distance = distance + usize::from(up & last != 0) - usize::from(fall & last != 0);
            let up = up << 1 | 1;
            more = fall << 1 | !(down | up);
            less = up & down;
        }
        1.0 - distance as f64 / longer as f64
    }

    /// The similarity of Jaro with Winkler's bonus for up to four common first characters. `length`
    /// is the number of characters of the text.
    pub(crate) fn jaro_winkler(&self, text: &str, length: usize) -> f64 {
        let similarity = self.jaro(text, length);
        if similarity <= 0.7 {
            return similarity;
        }
        let same =
            self.chars.iter().zip(text.chars()).take(4).take_while(|(a, b)| **a == *b).count();
        similarity + 0.1 * same as f64 * (1.0 - similarity)
    }

    fn jaro(&self, text: &str, length: usize) -> f64 {
        let own = self.chars.len();
        let reach = (own.max(length) / 2).saturating_sub(1);
        let mut taken = 0_u128;
        let mut matched = ['\0'; PATTERN];
        let mut count = 0;
        for (at, c) in text.chars().enumerate() {
            let within = low(at + reach + 1) & !low(at.saturating_sub(reach));
            let free = self.places(c) & within & !taken;
            if free != 0 {
                taken |= free & free.wrapping_neg();
                matched[count] = c;
                count += 1;
            }
        }
        if count == 0 {
            return if own == 0 && length == 0 { 1.0 } else { 0.0 };
        }
        let places = (0..own).filter(|at| taken >> at & 1 == 1);
        let swapped =
            places.zip(&matched).filter(|(at, c)| self.chars.get(*at) != Some(*c)).count() / 2;
        let count = count as f64;
        (count / length as f64 + count / own as f64 + (count - swapped as f64) / count) / 3.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts of few letters, so that many of them are nearly alike; some are longer than a
    /// pattern's half, some not of ASCII.
    fn texts() -> Vec<String> {
        let mut state = 7_u64;
        let mut next = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let letters = ['a', 'b', 'c', '7', 'é', '数'];
        let fixed = ["", "a", "customer", "costumer", "martha", "marhta", "dixon", "dicksonx"]
            .map(str::to_owned);
        let made = (0..120_usize).map(|number| {
            let length = if number % 10 == 0 { next(PATTERN as u64) } else { next(14) };
            (0..length).map(|_| letters[next(6) as usize]).collect::<String>()
        });
        fixed.into_iter().chain(made).collect()
    }

    #[test]
    fn measures_are_those_of_the_definitions() {
        let texts = texts();
        for a in &texts {
            let pattern = Pattern::new(a);
            for b in &texts {
                let length = b.chars().count();
                let edit = strsim::normalized_levenshtein(a, b);
                let winkler = strsim::jaro_winkler(b, a);
                assert!((pattern.nearness(b, length) - edit).abs() < 1e-12, "{a} {b}");
                assert!((pattern.jaro_winkler(b, length) - winkler).abs() < 1e-12, "{a} {b}");
            }
        }
    }

    #[test]
    fn a_pattern_has_a_bit_for_each_character() {
        let long = "ab".repeat(400);
        let pattern = Pattern::new(&long);
        assert_eq!(pattern.chars().len(), PATTERN);
        let distance = 1.0 - PATTERN as f64 / 800.0;
        assert!((pattern.nearness(&long, 800) - (1.0 - distance)).abs() < 1e-12);
    }
}
