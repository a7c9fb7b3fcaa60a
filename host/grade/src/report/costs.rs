//! The cost and the duration of the answers of an arm.

use serde::{Deserialize, Serialize};

use super::share::mean;
use crate::run::{EarlierTries, Graded};

/// The cost of an arm's answers, over all its questions, also those that do not count.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Costs {
    /// Questions that were asked.
    pub questions: u64,
    /// Model calls, sent or answered by a cache: what the search takes wherever it runs. Left out
    /// by `without_times`, as are the next three.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// Those that were sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<u64>,
    /// Those that a cache answered. Which arm of a comparison pays for a shared call is chance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<u64>,
    /// `calls` a question; `None` if there are no questions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls_mean: Option<f64>,
    /// Tokens of prompts. Left out by `without_times`, as is all that follows: a call that was
    /// under way when a run was killed is made, and paid, again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens of the models' replies. Left out by `without_times`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Tokens of both a question; `None` if there are no questions.
    pub tokens_mean: Option<f64>,
    /// Money in dollars; `None` if the price of any question is not known. A question that called
    /// no model costs nothing.
    pub usd: Option<f64>,
    /// Money a question; `None` if `usd` is.
    pub usd_mean: Option<f64>,
    /// Questions whose price is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd_unknown: Option<u64>,
    /// The number of executed statements. Left out by `without_times`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sql_runs: Option<u64>,
    /// Statements a question; `None` if there are no questions.
    pub sql_runs_mean: Option<f64>,
    /// The duration of a question. Left out by `without_times`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
    /// The additional cost of tries that failed and were repeated; `None` if there were none. Left
    /// out by `without_times`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier_tries: Option<EarlierTries>,
}

/// The duration of questions, in milliseconds from the question to the answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Half of them took no longer.
    pub p50_ms: f64,
    /// 95 % of them took no longer.
    pub p95_ms: f64,
    /// The arithmetic mean of their durations.
    pub mean_ms: f64,
}

impl Costs {
    /// Adds up what these answers cost.
    pub(crate) fn from_answers(graded: &[&Graded]) -> Self {
        let sum = |count: fn(&Graded) -> u64| {
            graded.iter().map(|one| count(one)).fold(0, u64::saturating_add)
        };
        let questions = graded.len() as u64;
        fn per_question(questions: u64, total: u64) -> Option<f64> {
            (questions > 0).then(|| total as f64 / questions as f64)
        }
        let sent = sum(|one| u64::from(one.cost.calls));
        let cached = sum(|one| u64::from(one.cost.cached));
        let input_tokens = sum(|one| one.cost.input_tokens);
        let output_tokens = sum(|one| one.cost.output_tokens);
        let sql_runs = sum(|one| u64::from(one.cost.sql_runs));
        let prices: Vec<Option<f64>> = graded.iter().map(|one| price(one)).collect();
        let usd = prices.iter().try_fold(0.0, |sum, price| price.map(|price| sum + price));
        Self {
            questions,
            calls: Some(sent + cached),
            sent: Some(sent),
            cached: Some(cached),
            calls_mean: per_question(questions, sent + cached),
            input_tokens: Some(input_tokens),
            output_tokens: Some(output_tokens),
            tokens_mean: per_question(questions, input_tokens.saturating_add(output_tokens)),
            usd,
            usd_mean: usd.filter(|_| questions > 0).map(|usd| usd / questions as f64),
            usd_unknown: Some(prices.iter().filter(|price| price.is_none()).count() as u64),
            sql_runs: Some(sql_runs),
            sql_runs_mean: per_question(questions, sql_runs),
            latency: Latency::from_times(graded.iter().map(|one| one.time_ms)),
            earlier_tries: None,
        }
    }

    /// Returns true if more than a tenth of the calls came from a cache, so that times say little
    /// of an endpoint.
    pub(crate) fn is_cached(&self) -> bool {
        self.cached.unwrap_or(0).saturating_mul(10) > self.calls.unwrap_or(0)
    }

    /// Takes out what differs between equal runs.
    pub(crate) fn without_times(&mut self) {
        *self = Self { questions: self.questions, ..Self::default() };
    }

    /// Tokens of prompts and replies; `None` after `without_times`.
    #[must_use]
    pub fn tokens(&self) -> Option<u64> {
        Some(self.input_tokens?.saturating_add(self.output_tokens?))
    }
}

/// Returns the cost of a question in dollars; `None` if it is not known.
pub(crate) fn price(graded: &Graded) -> Option<f64> {
    graded.cost.usd.filter(|usd| usd.is_finite()).or((graded.calls() == 0).then_some(0.0))
}

impl Latency {
    /// Of these times; `None` if there are none. What is no finite number is left out.
    pub(crate) fn from_times(times_ms: impl Iterator<Item = f64>) -> Option<Self> {
        let mut times: Vec<f64> = times_ms.filter(|time| time.is_finite()).collect();
        times.sort_by(f64::total_cmp);
        Some(Self {
            p50_ms: quantile(&times, 0.5)?,
            p95_ms: quantile(&times, 0.95)?,
            mean_ms: mean(times.iter().copied())?,
        })
    }
}

/// The quantile of sorted values, between two of them by proportion: type 7 of Hyndman and Fan,
/// "Sample Quantiles in Statistical Packages", 1996, which is numpy's default.
fn quantile(sorted: &[f64], part: f64) -> Option<f64> {
    let place = part * sorted.len().checked_sub(1)? as f64;
    let below = *sorted.get(place.floor() as usize)?;
    let above = *sorted.get(place.ceil() as usize)?;
    Some(below + (above - below) * place.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_numpy() {
        let sorted = [1.0, 2.0, 4.0, 8.0];
        // numpy.quantile([1, 2, 4, 8], [.5, .95])
        assert_eq!(quantile(&sorted, 0.5), Some(3.0));
        assert!((quantile(&sorted, 0.95).unwrap() - 7.4).abs() < 1e-12);
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[7.0], 0.95), Some(7.0));
    }

    #[test]
    fn a_time_that_is_no_number_is_left_out() {
        let latency = Latency::from_times([f64::NAN, 5.0, f64::INFINITY].into_iter()).unwrap();
        assert_eq!((latency.p50_ms, latency.mean_ms), (5.0, 5.0));
        assert_eq!(Latency::from_times([f64::NAN].into_iter()), None);
    }
}
