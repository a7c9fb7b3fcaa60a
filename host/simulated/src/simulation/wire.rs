//! Simulates what a call would cost at an endpoint: tokens, time and rate limits.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::chance::Chance;
use super::knobs::SimulatedKnobs;

/// The measured spread of tokens of prompts and replies, as a part of their mean (llama-3.3-70b
/// over Spider's questions).
const INPUT_SPREAD: f64 = 509.0 / 1_022.0;
const OUTPUT_SPREAD: f64 = 21.0 / 38.0;
/// Seconds of a reply and their spread.
const SECONDS: (f64, f64) = (1.70, 0.78);
/// The delay that a rate-limited call is asked to wait, if replies take the measured time.
const PAUSE: f64 = 1.0;
/// The greatest number of times in a row that one call is rate-limited.
const TURNS: u32 = 16;
/// Rate-limited calls that are remembered until they are repeated.
const REMEMBERED: usize = 4_096;

/// Tokens of the prompt and of the reply.
pub(super) fn tokens(knobs: &SimulatedKnobs, source: &Chance) -> (u32, u32) {
    fn draw_count(source: &Chance, name: &str, mean: f64, spread: f64) -> u32 {
        lognormal(source.normal(name), mean, spread).round() as u32
    }
    (
        draw_count(source, "input", knobs.input_tokens, INPUT_SPREAD),
        draw_count(source, "output", knobs.output_tokens, OUTPUT_SPREAD),
    )
}

/// Returns the time that the reply takes.
pub(super) fn latency(knobs: &SimulatedKnobs, source: &Chance) -> Duration {
    let seconds =
        lognormal(source.normal("latency"), SECONDS.0, SECONDS.1 / SECONDS.0) * knobs.latency;
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

/// The number of a log-normal distribution with that mean and spread (a part of the mean) at a
/// standard normal place.
fn lognormal(place: f64, mean: f64, spread: f64) -> f64 {
    let variance = (1.0 + spread * spread).ln();
    if mean > 0.0 { (mean.ln() - variance / 2.0 + variance.sqrt() * place).exp() } else { 0.0 }
}

/// The calls that were rate-limited, and how often.
#[derive(Default)]
pub(super) struct RateLimited(Mutex<BTreeMap<[u8; 32], u32>>);

impl RateLimited {
    /// The delay that an attempt is asked to wait; `None` if it is answered. How often a call is
    /// rate-limited depends on the call alone.
    pub(super) fn delay(&self, knobs: &SimulatedKnobs, source: &Chance) -> Option<Duration> {
        if knobs.rate_limited <= 0.0 {
            return None;
        }
        fn is_turned_away(knobs: &SimulatedKnobs, source: &Chance, turn: u32) -> bool {
            source.uniform(&format!("turned {turn}")) < knobs.rate_limited
        }
        let due = (0..TURNS).take_while(|turn| is_turned_away(knobs, source, *turn)).count() as u32;
        let key = source.digest("turned");
        let mut turned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let so_far = turned.get(&key).copied().unwrap_or(0);
        if so_far >= due {
            turned.remove(&key);
            return None;
        }
        if turned.len() >= REMEMBERED {
            turned.pop_first();
        }
        turned.insert(key, so_far + 1);
        // A delay of zero would mean that the call is to be made in another form.
        Some(Duration::from_secs_f64((PAUSE * knobs.latency).clamp(0.001, 3_600.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(n: u32) -> Chance {
        Chance::from_parts([n.to_le_bytes().as_slice()])
    }

    #[test]
    fn tokens_and_times_have_the_measured_means_and_scale() {
        let knobs = SimulatedKnobs { latency: 1.0, ..SimulatedKnobs::default() };
        let mean =
            |of: &dyn Fn(&Chance) -> f64| (0..4_000).map(|n| of(&source(n))).sum::<f64>() / 4_000.0;
        assert!((mean(&|source| f64::from(tokens(&knobs, source).0)) / 1_022.0 - 1.0).abs() < 0.03);
        assert!((mean(&|source| f64::from(tokens(&knobs, source).1)) / 38.0 - 1.0).abs() < 0.03);
        let seconds = mean(&|source| latency(&knobs, source).as_secs_f64());
        assert!((seconds / 1.70 - 1.0).abs() < 0.03, "{seconds}");
        let none =
            SimulatedKnobs { input_tokens: 0.0, output_tokens: 0.0, ..SimulatedKnobs::default() };
        assert_eq!(
            (tokens(&none, &source(1)), latency(&none, &source(1))),
            ((0, 0), Duration::ZERO)
        );
        let double = SimulatedKnobs { latency: 2.0, ..knobs.clone() };
        let ratio =
            latency(&double, &source(1)).as_secs_f64() / latency(&knobs, &source(1)).as_secs_f64();
        assert!((ratio - 2.0).abs() < 1e-6);
    }

    #[test]
    fn the_set_share_of_tries_is_rate_limited_and_each_call_is_answered_at_last() {
        let knobs = SimulatedKnobs { rate_limited: 0.3, ..SimulatedKnobs::default() };
        let turned = RateLimited::default();
        let all: u32 = (0..2_000)
            .map(|n: u32| {
                (1..=TURNS + 1).find(|_| turned.delay(&knobs, &source(n)).is_none()).unwrap()
            })
            .sum();
        let away = f64::from(all - 2_000) / f64::from(all);
        assert!((away - 0.3).abs() < 0.02, "{away}");
        assert!(turned.0.lock().unwrap().is_empty());
        assert_eq!(turned.delay(&SimulatedKnobs::default(), &source(1)), None);
        let always = SimulatedKnobs { rate_limited: 1.0, latency: 2.0, ..knobs };
        assert_eq!(turned.delay(&always, &source(1)), Some(Duration::from_secs(2)));
        for n in 0..REMEMBERED as u32 + 10 {
            turned.delay(&always, &source(n));
        }
        assert!(turned.0.lock().unwrap().len() <= REMEMBERED);
    }
}
