//! The prices of calls: a table of prices, and the layer that adds them to estimates and usages.

use std::sync::Arc;

use async_trait::async_trait;
use globset::{Glob, GlobMatcher};
use syrch_core::ports::{Estimate, ModelCall, ModelLayer, ModelOutcome, ModelProvider, Usage};

use crate::budget::believable_usage;

/// The highest price of a million tokens, in dollars; a higher one is a mistake.
const HIGHEST: f64 = 1_000_000.0;
/// Prices are stored in this many parts of a millionth of a dollar.
const PARTS: f64 = 1e6;

/// The prices of a model's tokens. Dollars for a million tokens are millionths of a dollar for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// The price of one token of a prompt, in [`PARTS`] of a millionth of a dollar, so that sums
    /// are exact.
    input: u64,
    /// The price of one token of a reply, likewise.
    output: u64,
    /// The price of one token of a prompt that the endpoint had in its own prompt cache, likewise.
    cached: u64,
}

/// Dollars for a million tokens in [`PARTS`].
fn parts(dollars: f64) -> Result<u64, PriceError> {
    let is_price = (0.0..=HIGHEST).contains(&dollars);
    if is_price { Ok((dollars * PARTS).round() as u64) } else { Err(PriceError::Amount(dollars)) }
}

impl Price {
    /// A price in dollars for a million tokens of prompts and of replies.
    ///
    /// # Errors
    /// When a number is negative, not a number, or more than a million.
    pub fn new(input: f64, output: f64) -> Result<Self, PriceError> {
        let input = parts(input)?;
        Ok(Self { input, output: parts(output)?, cached: input })
    }

    /// Sets another price, in dollars for a million tokens, for tokens of a prompt that the
    /// endpoint had in its prompt cache.
    ///
    /// # Errors
    /// When the number is negative, not a number, or more than a million.
    pub fn with_cached(self, cached: f64) -> Result<Self, PriceError> {
        Ok(Self { cached: parts(cached)?, ..self })
    }

    /// The cost of that many tokens, in millionths of a dollar, rounded up.
    #[must_use]
    pub fn micros(&self, input_tokens: u64, output_tokens: u64) -> u64 {
        sum([(input_tokens, self.input), (output_tokens, self.output)])
    }

    /// The cost of a call, in millionths of a dollar, rounded up.
    #[must_use]
    pub fn micros_of(&self, usage: &Usage) -> u64 {
        let cached = usage.cached_tokens.min(usage.input_tokens);
        let new = u64::from(usage.input_tokens - cached);
        sum([
            (new, self.input),
            (cached.into(), self.cached),
            (usage.output_tokens.into(), self.output),
        ])
    }
}

/// The cost of tokens with their prices in [`PARTS`], in millionths of a dollar, rounded up.
fn sum<const N: usize>(tokens: [(u64, u64); N]) -> u64 {
    let parts = tokens.map(|(tokens, price)| u128::from(tokens) * u128::from(price));
    let sum = parts.into_iter().fold(0, u128::saturating_add);
    u64::try_from(sum.div_ceil(PARTS as u128)).unwrap_or(u64::MAX)
}

/// The reason why a table of prices cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PriceError {
    /// The number cannot be a price.
    #[error("{0} is no price in dollars for a million tokens")]
    Amount(f64),
    /// The pattern is not a glob.
    #[error("`{pattern}` is no pattern of model names: {reason}")]
    Pattern {
        /// The pattern as it was given.
        pattern: String,
        /// The error of the glob.
        reason: String,
    },
}

/// The price table: prices by a model's name or a glob of names, such as `gpt-4o*`. Of several
/// patterns that match a name the longest counts, and of equally long ones the last.
#[derive(Debug, Clone, Default)]
pub struct Prices {
    entries: Vec<(GlobMatcher, Price)>,
}

impl Prices {
    /// Creates a table of these patterns.
    ///
    /// # Errors
    /// When a pattern is not a glob.
    pub fn new(entries: impl IntoIterator<Item = (String, Price)>) -> Result<Self, PriceError> {
        Ok(Self {
            entries: entries
                .into_iter()
                .map(|(pattern, price): (String, Price)| match Glob::new(&pattern) {
                    Ok(glob) => Ok((glob.compile_matcher(), price)),
                    Err(error) => {
                        Err(PriceError::Pattern { reason: error.kind().to_string(), pattern })
                    }
                })
                .collect::<Result<_, _>>()?,
        })
    }

    /// The price of a model; `None` when it is unknown.
    #[must_use]
    pub fn for_model(&self, model: &str) -> Option<Price> {
        self.entries
            .iter()
            .filter(|(glob, _): &&(GlobMatcher, Price)| {
                glob.glob().glob() == model || glob.is_match(model)
            })
            .max_by_key(|(glob, _)| glob.glob().glob().len())
            .map(|(_, price)| *price)
    }
}

/// A provider whose estimates and usages carry their price, where the table has one. A price that
/// the provider itself reports stays.
///
/// It is the layer right around the provider of an endpoint, since prices go by the names that the
/// endpoint knows.
pub struct PricedModel {
    inner: Arc<dyn ModelProvider>,
    prices: Arc<Prices>,
}

impl PricedModel {
    /// Creates the layer around a provider.
    #[must_use]
    pub fn new(inner: Arc<dyn ModelProvider>, prices: Arc<Prices>) -> Self {
        Self { inner, prices }
    }

    fn price(&self, call: &ModelCall) -> Option<Price> {
        match &call.request.model {
            Some(model) => self.prices.for_model(model),
            None => self.prices.for_model(self.inner.models().first()?),
        }
    }
}

#[async_trait]
impl ModelLayer for PricedModel {
    fn layer(&self) -> &'static str {
        "price"
    }

    fn inner(&self) -> &dyn ModelProvider {
        self.inner.as_ref()
    }

    fn estimate_call(&self, call: &ModelCall) -> Estimate {
        let estimate = self.inner.estimate(call);
        Estimate {
            cost_micros: estimate.cost_micros.or_else(|| {
                Some(self.price(call)?.micros(estimate.input_tokens, estimate.output_tokens))
            }),
            ..estimate
        }
    }

    async fn call(&self, call: &ModelCall) -> ModelOutcome {
        let mut outcome = self.inner.complete(call).await;
        let Some(price) = self.price(call) else { return outcome };
        // What the budget will charge is what is priced, reported or not.
        let is_free = self.inner.estimate(call).tokens() == 0;
        let usage = believable_usage(&call.request, &outcome, is_free).map(|usage| {
            let cost = price.micros_of(&usage);
            Usage { cost_micros: usage.cost_micros.or(Some(cost)), ..usage }
        });
        if let (Ok(reply), Some(usage)) = (&mut outcome.result, &usage) {
            reply.usage = usage.clone();
        }
        outcome.usage = usage;
        outcome
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fakes::{FakeModel, call};

    fn table(entries: &[(&str, f64, f64)]) -> Prices {
        Prices::new(
            entries.iter().map(|(name, i, o)| ((*name).to_owned(), Price::new(*i, *o).unwrap())),
        )
        .unwrap()
    }

    #[test]
    fn prices_are_exact_and_rounded_up() {
        let price = Price::new(0.15, 0.60).unwrap();
        assert_eq!((price.micros(20, 0), price.micros(1, 0), price.micros(0, 0)), (3, 1, 0));
        assert_eq!(price.micros(1_000_000, 1_000_000), 750_000);
        assert_eq!(Price::new(1_000_000.0, 0.0).unwrap().micros(u64::MAX, 0), u64::MAX);
        for wrong in [-0.1, f64::NAN, f64::INFINITY, 2e6] {
            assert!(Price::new(wrong, 1.0).is_err() && Price::new(1.0, wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn tokens_of_the_endpoints_cache_have_a_price_of_their_own() {
        fn usage(cached_tokens: u32) -> Usage {
            Usage { input_tokens: 10_000, output_tokens: 10, cached_tokens, ..Usage::default() }
        }
        let price = Price::new(2.5, 10.0).unwrap();
        assert_eq!((price.micros_of(&usage(0)), price.micros_of(&usage(9_900))), (25_100, 25_100));
        let cheaper = price.with_cached(1.25).unwrap();
        assert_eq!(
            (cheaper.micros_of(&usage(0)), cheaper.micros_of(&usage(9_900))),
            (25_100, 12_725)
        );
        assert_eq!(cheaper.micros_of(&usage(u32::MAX)), 12_600);
        assert!(price.with_cached(-1.0).is_err());
    }

    #[test]
    fn the_longest_pattern_counts() {
        let prices = table(
            &[
                ("*", 9.0, 9.0),
                ("gpt-4o*", 2.0, 2.0),
                ("gpt-4o-mini*", 1.0, 1.0),
                ("a/[b", 0.0, 0.0),
            ][..3],
        );
        fn input(prices: &Prices, model: &str) -> Option<u64> {
            prices.for_model(model).map(|price| price.micros(1, 0))
        }
        assert_eq!(
            (
                input(&prices, "gpt-4o-mini-2024"),
                input(&prices, "gpt-4o"),
                input(&prices, "vendor/model:8b")
            ),
            (Some(1), Some(2), Some(9))
        );
        assert_eq!(table(&[("gpt-4o", 1.0, 1.0)]).for_model("gpt-4o-mini"), None);
        assert_eq!(
            table(&[("m", 1.0, 1.0), ("m", 2.0, 2.0)]).for_model("m"),
            Some(Price::new(2.0, 2.0).unwrap())
        );
        let wrong = Prices::new([("a[".to_owned(), Price::new(1.0, 1.0).unwrap())]).unwrap_err();
        assert!(wrong.to_string().starts_with("`a[` is no pattern of model names: "), "{wrong}");
    }

    #[tokio::test]
    async fn estimates_and_usages_get_their_price() {
        let prices = Arc::new(table(&[("fake", 2.0, 10.0)]));
        let priced = |model: FakeModel, prices: &Arc<Prices>| {
            PricedModel::new(Arc::new(model), Arc::clone(prices))
        };
        let model = priced(FakeModel::by_output(100, 50), &prices);
        assert_eq!(model.estimate(&call("x")).cost_micros, Some(700));
        let outcome = model.complete(&call("x")).await;
        assert_eq!(outcome.usage.as_ref().unwrap().cost_micros, Some(700));
        assert_eq!(outcome.usage, Some(outcome.result.unwrap().usage));
        // 300 bytes of prompt and 30 of reply without a report: a token for every three bytes.
        let outcome = priced(FakeModel::silent(200).replying(30), &prices)
            .complete(&call(&"x".repeat(300)))
            .await;
        assert_eq!(outcome.usage.unwrap().cost_micros, Some(300));
        assert_eq!(priced(FakeModel::failing(9), &prices).complete(&call("x")).await.usage, None);
        let unknown = priced(FakeModel::by_output(100, 50), &Arc::default());
        assert_eq!(unknown.estimate(&call("x")).cost_micros, None);
        assert_eq!(unknown.complete(&call("x")).await.usage.unwrap().cost_micros, None);
        let turned_away = priced(FakeModel::turning_away(9), &prices).complete(&call("x")).await;
        assert_eq!(turned_away.usage.unwrap().cost_micros, Some(0));
    }

    proptest! {
        #[test]
        fn an_estimate_of_more_costs_no_less(
            input in 0.0..100.0_f64, output in 0.0..100.0_f64, i: u32, o: u32, more in 0..9_u32
        ) {
            let price = Price::new(input, output).unwrap();
            let i = u64::from(i);
            let o = u64::from(o);
            let more = u64::from(more);
            prop_assert!(
                price
                    .micros(i, o) <= price
                    .micros(i + more, o) && price
                    .micros(i, o) <= price
                    .micros(i, o + more)
            );
            let exact = i as f64 * input + o as f64 * output;
            prop_assert!(price.micros(i, o) as f64 >= exact - (i + o) as f64 * 1e-6 - 1.0);
        }
    }
}
