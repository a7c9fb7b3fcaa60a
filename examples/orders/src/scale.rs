//! The scale factor of TPC-H, and how many rows it means.

use std::str::FromStr;

const SMALLEST: f64 = 0.001;
const LARGEST: f64 = 1_000.0;

/// A scale factor from 0.001 to 1000. One stands for 1,500,000 orders.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale(f64);

/// The reason why a scale was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the scale is a number from {SMALLEST} to {LARGEST}")]
pub struct ScaleError;

impl Scale {
    /// Takes a factor.
    ///
    /// # Errors
    /// When it is out of bounds or no number. Below 0.001 tables would be empty.
    pub fn new(factor: f64) -> Result<Self, ScaleError> {
        if (SMALLEST..=LARGEST).contains(&factor) { Ok(Self(factor)) } else { Err(ScaleError) }
    }

    /// The factor as it was given, 0.001 to 1000.
    #[must_use]
    pub fn factor(self) -> f64 {
        self.0
    }

    /// The number of rows of `orders`.
    #[must_use]
    pub fn orders(self) -> u64 {
        (self.0 * 1_500_000.0) as u64
    }

    /// Rows of `clerks`: a thousand, and from scale one on a thousand for each unit.
    #[must_use]
    pub fn clerks(self) -> u64 {
        (self.0 * 1_000.0).max(1_000.0) as u64
    }
}

impl FromStr for Scale {
    type Err = ScaleError;

    fn from_str(text: &str) -> Result<Self, ScaleError> {
        text.trim().parse().map_err(|_| ScaleError).and_then(Self::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_hold() {
        for good in ["0.001", "0.01", "1", "5", "1e3", " 2.5 "] {
            assert!(good.parse::<Scale>().is_ok(), "{good}");
        }
        for bad in ["0", "-1", "-0.0", "NaN", "inf", "-inf", "1000.1", "0.0009", "", "ten", "1,5"] {
            let error = bad.parse::<Scale>().unwrap_err().to_string();
            assert_eq!(error, "the scale is a number from 0.001 to 1000", "{bad}");
        }
    }

    #[test]
    fn rows_follow_the_specification() {
        let [small, large] = [0.01, 5.0].map(|factor| Scale::new(factor).unwrap());
        assert_eq!((small.orders(), large.orders()), (15_000, 7_500_000));
        assert_eq!((small.clerks(), large.clerks()), (1_000, 5_000));
    }
}
