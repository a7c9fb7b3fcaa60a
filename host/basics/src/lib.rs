//! Functions that both the host and the SDK need, and neither may import from the other: names in
//! SQL, limits of texts, pseudo-random numbers and a digest for seeds.
//!
//! It depends on nothing, so that it costs a plugin nothing.

/// A name between quotes; a quote within it stands twice.
#[must_use]
pub fn quote_name(name: &str, quote: char) -> String {
    let mut out = String::with_capacity(name.len() + 2);
    out.push(quote);
    for c in name.chars() {
        out.push(c);
        if c == quote {
            out.push(quote);
        }
    }
    out.push(quote);
    out
}

/// Returns whether every dialect reads the name without quotes as one word: ASCII letters, digits
/// and underscores, no digit at the beginning. It may be a keyword.
#[must_use]
pub fn is_word(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Returns at most `bytes` of a text, cut at a character's edge.
#[must_use]
pub fn clip(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// Pseudo-random numbers: SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014). Equal seeds give equal numbers on every machine.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The increment of the state from number to number.
    pub const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

    /// A generator that starts here.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A generator whose next number is the one at that index (from 0) of those that the seed
    /// gives.
    #[must_use]
    pub const fn nth(seed: u64, index: u64) -> Self {
        Self(seed.wrapping_add(index.wrapping_mul(Self::STEP)))
    }

    /// Returns the next number; all 64 bits are uniformly distributed.
    pub const fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(Self::STEP);
        mix(self.0)
    }
}

/// The finaliser of SplitMix64: every bit of the result depends on every bit of the value.
#[must_use]
pub const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// FNV-1a over bytes, 64 bits: the same on every machine and in every run; not for secrets.
#[must_use]
pub fn fnv1a(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte: u8| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_within_a_name_stand_twice() {
        assert_eq!(quote_name("a\"b`", '"'), "\"a\"\"b`\"");
        assert_eq!(quote_name("a\"b`", '`'), "`a\"b```");
    }

    #[test]
    fn a_word_has_no_digit_at_its_beginning() {
        assert!(["a", "_1", "Order", "x2_"].into_iter().all(is_word));
        assert!(!["", "1st", "two words", "größe", "a-b", "a\""].into_iter().any(is_word));
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!((clip("aé", 2), clip("aé", 3), clip("aé", 9)), ("a", "aé", "aé"));
    }

    #[test]
    fn the_numbers_are_those_that_were_published() {
        // The reference implementation's first values for the seed 1234567.
        let mut random = Random::new(1_234_567);
        assert_eq!(
            [random.number(), random.number()],
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]
        );
        // From the tables of the algorithm's authors.
        assert_eq!((fnv1a([]), fnv1a(*b"foobar")), (0xcbf2_9ce4_8422_2325, 0x8594_4171_f739_67e8));
    }
}
