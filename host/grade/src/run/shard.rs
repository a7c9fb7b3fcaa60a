//! Shards: parts of a suite for several machines.

use std::fmt;
use std::str::FromStr;

use super::header::Shard;

/// The reason why a text names no shard.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShardError {
    /// It is not two numbers.
    #[error("`{0}` names no shard: write `i/n`, part i of n, such as 2/8")]
    Form(String),
    /// The numbers do not fit.
    #[error("there is no shard {index} of {of}: shards are counted from 1 to their number")]
    Range {
        /// The number of the part.
        index: u32,
        /// The number of parts.
        of: u32,
    },
}

impl Shard {
    /// Part `index` (from 1) of `of`.
    ///
    /// # Errors
    /// When there is no such part.
    pub fn new(index: u32, of: u32) -> Result<Self, ShardError> {
        if (1..=of).contains(&index) {
            Ok(Self { index, of })
        } else {
            Err(ShardError::Range { index, of })
        }
    }

    /// Returns true if the question at this place, from 0, belongs to the shard.
    #[must_use]
    pub fn holds(&self, place: u64) -> bool {
        let of = u64::from(self.of.max(1));
        (place % of + 1) % of == u64::from(self.index) % of
    }

    /// Returns the number of questions of a suite of that size that belong to the shard.
    #[must_use]
    pub fn share(&self, questions: u64) -> u64 {
        let of = u64::from(self.of.max(1));
        questions / of + u64::from(u64::from(self.index) <= questions % of)
    }
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let form = || ShardError::Form(text.to_owned());
        let number = |part: &str| match part.bytes().all(|byte| byte.is_ascii_digit()) {
            true => part.parse::<u32>().map_err(|_| form()),
            false => Err(form()),
        };
        let (index, of) = text.trim().split_once('/').ok_or_else(form)?;
        Self::new(number(index.trim())?, number(of.trim())?)
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
        let read = |text: &str| {
            text.parse::<Shard>().map(|shard| shard.to_string()).map_err(|error| error.to_string())
        };
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
