//! The ranges of settings, which the command line checks by its own declarations.

use std::fmt::Display;
use std::ops::RangeInclusive;

use crate::{Error, Settings};

/// # Errors
/// When a setting is out of its range; the text names it.
pub(crate) fn check(settings: &Settings) -> Result<(), Error> {
    let Settings { policy, budgets, model, .. } = settings;
    check_range("max_depth", policy.max_depth, 1..=16)?;
    check_range("max_attempts", policy.max_attempts, 1..=100)?;
    check_range("max_concurrency", policy.max_parallel, 1..=64)?;
    check_range("high_confidence", policy.high_confidence, 0.0..=1.0)?;
    check_range("token_budget", budgets.tokens, 1..=1_000_000_000_000)?;
    check_range("min_confidence", settings.min_confidence.unwrap_or_default(), 0.0..=1.0)?;
    check_range("temperature", model.temperature, 0.0..=2.0)
}

fn check_range<T: PartialOrd + Display>(
    name: &str,
    value: T,
    range: RangeInclusive<T>,
) -> Result<(), Error> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(Error::Config(format!(
        "`{name}` is {value}; it is from {} to {}",
        range.start(),
        range.end()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Change = fn(&mut Settings);

    #[test]
    fn what_is_out_of_range_is_named() {
        assert!(check(&Settings::default()).is_ok());
        let wrong: [(&str, Change); 8] = [
            ("max_depth", |settings| settings.policy.max_depth = 0),
            ("max_attempts", |settings| settings.policy.max_attempts = 101),
            ("max_concurrency", |settings| settings.policy.max_parallel = 0),
            ("high_confidence", |settings| settings.policy.high_confidence = f64::NAN),
            ("high_confidence", |settings| settings.policy.high_confidence = 1.5),
            ("min_confidence", |settings| settings.min_confidence = Some(-0.1)),
            ("token_budget", |settings| settings.budgets.tokens = 0),
            ("temperature", |settings| settings.model.temperature = -0.1),
        ];
        for (name, change) in wrong {
            let mut settings = Settings::default();
            change(&mut settings);
            let error = check(&settings).unwrap_err();
            assert!(matches!(&error, Error::Config(text) if text.contains(name)), "{error}");
        }
    }
}
