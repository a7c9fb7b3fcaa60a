//! Comparison rules, named and versioned: a report names the rule that it was made under. One file each.

mod bag_v1;

pub use bag_v1::{bag_v1, bag_v1_any};

/// What a rule says about one prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The result is the expected one.
    Right,
    /// It is another.
    Wrong,
    /// The rule cannot tell: both are empty, and so is the result of almost any wrong statement. It does not count as right.
    Excluded,
}

impl Verdict {
    /// Whether it counts as right.
    #[must_use]
    pub fn is_right(self) -> bool {
        self == Self::Right
    }
}
