//! When a comparison fails a gate.

use std::fmt;
use std::str::FromStr;

use super::arm::ArmReport;
use super::compare::CompareReport;
use super::pair::{Decision, PairReport};

/// A result that a comparison must not have. Every arm is compared with the first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FailOn {
    /// `regression`: an arm is worse than the first beyond chance.
    Regression,
    /// `difference`: an arm is better or worse than the first beyond chance.
    Difference,
    /// `below:POINTS`: an arm's difference to the first is below so many points of a hundred,
    /// chance or not. `below:-2` allows a loss of two.
    Below(f64),
    /// `not-better`: an arm is not better than the first beyond chance.
    NotBetter,
}

/// The reason why a text is no condition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FailOnError {
    /// There is no such condition.
    #[error(
        "`{0}` is no condition; the conditions are `regression`, `difference`, `not-better` and \
         `below:POINTS`, such as `below:-2`"
    )]
    Unknown(String),
    /// The points are no number between −100 and 100.
    #[error("`{0}` is no number of points between -100 and 100 in `below:POINTS`")]
    Points(String),
}

impl FromStr for FailOn {
    type Err = FailOnError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "regression" => Ok(Self::Regression),
            "difference" => Ok(Self::Difference),
            "not-better" => Ok(Self::NotBetter),
            _ => {
                let points = text
                    .strip_prefix("below:")
                    .ok_or_else(|| FailOnError::Unknown(text.to_owned()))?;
                let number: Option<f64> = points.trim().parse().ok();
                let number = number.filter(|points| (-100.0..=100.0).contains(points));
                number.map(Self::Below).ok_or_else(|| FailOnError::Points(points.to_owned()))
            }
        }
    }
}

impl fmt::Display for FailOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Regression => f.write_str("regression"),
            Self::Difference => f.write_str("difference"),
            Self::Below(points) => write!(f, "below:{points}"),
            Self::NotBetter => f.write_str("not-better"),
        }
    }
}

impl FailOn {
    fn is_met_by(self, pair: &PairReport) -> bool {
        match self {
            Self::Regression => pair.decision == Decision::Worse,
            Self::Difference => matches!(pair.decision, Decision::Better | Decision::Worse),
            // A tolerance of one question in a million, so that 2 of 100 are not below 2 points by
            // rounding.
            Self::Below(points) => {
                pair.difference.is_none_or(|difference| difference * 100.0 < points - 1e-9)
            }
            Self::NotBetter => pair.decision != Decision::Better,
        }
    }
}

/// Returns true if the comparison fails the gate: if the condition holds for any arm against the
/// first. Where nothing was compared, `below` and `not-better` fail, which ask for something to be
/// shown. Every gate fails when a tenth of an arm's searches or more failed: then the figures are
/// those of the failures, and no gate may pass by them.
#[must_use]
pub fn fail_on(report: &CompareReport, condition: FailOn) -> bool {
    if failing(report).next().is_some() {
        return true;
    }
    let first = report.arms.first().map(|arm| arm.arm.name.as_str());
    let mut against =
        report.pairs.iter().filter(|pair| Some(pair.first.as_str()) == first).peekable();
    if against.peek().is_none() {
        return matches!(condition, FailOn::Below(_) | FailOn::NotBetter);
    }
    against.any(|pair| condition.is_met_by(pair))
}

/// The arms of which so many searches failed that no gate passes.
pub fn failing(report: &CompareReport) -> impl Iterator<Item = &ArmReport> {
    report.arms.iter().filter(|arm| arm.figures.ends.many_failed())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn conditions_are_read_and_written() {
        for text in ["regression", "difference", "not-better", "below:-2", "below:1.5"] {
            assert_eq!(text.parse::<FailOn>().unwrap().to_string(), text);
        }
        assert!(
            "worse"
                .parse::<FailOn>()
                .unwrap_err()
                .to_string()
                .starts_with("`worse` is no condition; the conditions are")
        );
        for points in ["", "two", "NaN", "inf", "101"] {
            assert_eq!(
                format!("below:{points}").parse::<FailOn>(),
                Err(FailOnError::Points(points.to_owned()))
            );
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_condition_or_an_error(text in any::<String>()) {
            if let Ok(condition) = text.parse::<FailOn>() {
                prop_assert_eq!(condition.to_string().parse::<FailOn>().unwrap(), condition);
            }
        }
    }
}
