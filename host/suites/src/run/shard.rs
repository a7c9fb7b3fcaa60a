//! Shards and waves: the parts of a run for several machines, and its parts in time.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Part `index` (from 1) of `of` parts: the questions whose place, counted from 1, leaves the
/// remainder `index` mod `of`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Shard {
    /// The number of the part, from 1.
    pub index: u32,
    /// The number of parts.
    pub of: u32,
}

/// The first `index` of `of` parts of a suite, in its order: all shards finish a wave before the
/// next one begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wave {
    /// The number of the wave, from 1.
    pub index: u32,
    /// The number of waves.
    pub of: u32,
}

/// The reason why a text names no shard or no wave.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShardError {
    /// It is not two numbers.
    #[error("`{text}` names no {part}: write `i/n`, part i of n, such as 2/8")]
    Form {
        /// The text.
        text: String,
        /// `shard` or `wave`.
        part: &'static str,
    },
    /// The numbers do not fit.
    #[error("there is no {part} {index} of {of}: {part}s are counted from 1 to their number")]
    Range {
        /// `shard` or `wave`.
        part: &'static str,
        /// The number of the part.
        index: u32,
        /// The number of parts.
        of: u32,
    },
}

const SHARD: &str = "shard";
const WAVE: &str = "wave";

impl Shard {
    /// Part `index` (from 1) of `of`.
    ///
    /// # Errors
    /// When there is no such part.
    pub fn new(index: u32, of: u32) -> Result<Self, ShardError> {
        if (1..=of).contains(&index) {
            Ok(Self { index, of })
        } else {
            Err(ShardError::Range { part: SHARD, index, of })
        }
    }

    /// Returns true if the question at this place, from 0, belongs to the shard.
    #[must_use]
    pub fn holds(&self, place: u64) -> bool {
        let of = u64::from(self.of.max(1));
        (place % of + 1) % of == u64::from(self.index) % of
    }

    /// Returns the share of the shard in so many questions, or units of a budget. The shares of all
    /// shards sum to that number.
    #[must_use]
    pub fn share(&self, units: u64) -> u64 {
        let of = u64::from(self.of.max(1));
        units / of + u64::from(u64::from(self.index) <= units % of)
    }

    /// The name of the shard in paths, such as `shard-2-of-8`.
    #[must_use]
    pub fn folder_name(&self) -> String {
        format!("shard-{}-of-{}", self.index, self.of)
    }
}

impl Wave {
    /// Wave `index` (from 1) of `of`.
    ///
    /// # Errors
    /// When there is no such wave.
    pub fn new(index: u32, of: u32) -> Result<Self, ShardError> {
        if (1..=of).contains(&index) {
            Ok(Self { index, of })
        } else {
            Err(ShardError::Range { part: WAVE, index, of })
        }
    }

    /// Returns the place, from 0, of the first question of a suite of that size that belongs to a
    /// later wave.
    #[must_use]
    pub fn end(&self, questions: u64) -> u64 {
        let end = u128::from(questions) * u128::from(self.index);
        u64::try_from(end.div_ceil(u128::from(self.of.max(1)))).unwrap_or(questions)
    }
}

/// The two numbers of `i/n`.
fn read_numbers(text: &str, part: &'static str) -> Result<[u32; 2], ShardError> {
    let form = || ShardError::Form { text: text.to_owned(), part };
    let parts = text.trim().split_once('/').ok_or_else(form)?;
    let read = |number: &str| match number.bytes().all(|byte| byte.is_ascii_digit()) {
        true => number.parse::<u32>().map_err(|_| form()),
        false => Err(form()),
    };
    Ok([read(parts.0.trim())?, read(parts.1.trim())?])
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let [index, of] = read_numbers(text, SHARD)?;
        Self::new(index, of)
    }
}

impl FromStr for Wave {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let [index, of] = read_numbers(text, WAVE)?;
        Self::new(index, of)
    }
}

impl fmt::Display for Wave {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}/{}", self.index, self.of)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}/{}", self.index, self.of)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_shard_is_two_numbers_that_fit() {
        fn read(text: &str) -> Result<String, String> {
            text.parse::<Shard>().map(|shard| shard.to_string()).map_err(|error| error.to_string())
        }
        assert_eq!(read(" 2/8 "), Ok("2/8".to_owned()));
        assert_eq!(read("1 / 1"), Ok("1/1".to_owned()));
        let form = "`2` names no shard: write `i/n`, part i of n, such as 2/8";
        assert_eq!(read("2"), Err(form.to_owned()));
        for text in ["", "/", "a/b", "1/2/3", "-1/2", "+1/2", "1/99999999999"] {
            assert!(read(text).unwrap_err().ends_with("such as 2/8"), "{text}");
        }
        assert_eq!(
            read("0/4").unwrap_err(),
            "there is no shard 0 of 4: shards are counted from 1 to their number"
        );
        assert!(read("5/4").is_err() && read("0/0").is_err());
    }

    #[test]
    fn a_wave_is_the_beginning_of_the_suite() {
        let waves = ["1/4", "2/4", "3/4", "4/4"].map(|text| text.parse::<Wave>().unwrap());
        assert_eq!(waves.map(|wave| wave.end(10)), [3, 5, 8, 10]);
        assert_eq!(waves.map(|wave| wave.end(1)), [1; 4]);
        assert_eq!(waves.map(|wave| wave.end(u64::MAX))[3], u64::MAX);
        let wrong = "5/4".parse::<Wave>().unwrap_err().to_string();
        assert_eq!(wrong, "there is no wave 5 of 4: waves are counted from 1 to their number");
        assert!("x".parse::<Wave>().unwrap_err().to_string().contains("names no wave"));
    }

    proptest! {
        #[test]
        fn each_question_belongs_to_one_shard(of in 1_u32..40, questions in 0_u64..400) {
            let shards: Vec<Shard> = (1..=of).map(|index| Shard::new(index, of).unwrap()).collect();
            for place in 0..questions {
                prop_assert_eq!(shards.iter().filter(|shard| shard.holds(place)).count(), 1);
            }
            for shard in &shards {
                let held = (0..questions).filter(|place| shard.holds(*place)).count() as u64;
                prop_assert_eq!(held, shard.share(questions));
                prop_assert!(shard.to_string().parse() == Ok(*shard));
            }
            prop_assert!(Shard::new(1, of).unwrap().holds(0));
        }
    }
}
