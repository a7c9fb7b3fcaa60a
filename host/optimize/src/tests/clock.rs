//! The evidence over simulated clocks: how often equally fast statements are confirmed to differ.

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Pareto, StandardNormal};
use rand_pcg::Pcg64Mcg;
use syrch_core::ports::Timing;

use crate::confirm::Pairs;
use crate::evidence::{CONFIRMED, evidence, interval};
use crate::measure::two_digits;
use crate::{Confirmation, Settings};

/// The time that a run of a statement takes, as a multiple of its true time; state from run to run.
type Clock = fn(&mut Pcg64Mcg, &mut f64, u64) -> f64;

fn normal(random: &mut Pcg64Mcg) -> f64 {
    StandardNormal.sample(random)
}

const CLOCKS: [(&str, Clock); 6] = [
    ("heavy tails", |random, _, _| 1.0 + Pareto::new(0.02, 1.1).unwrap().sample(random)),
    ("drift", |random, _, run| 1.0 + 0.02 * run as f64 + 0.1 * normal(random).abs()),
    ("autocorrelation", |random, state, _| {
        *state = 0.95 * *state + 0.2 * normal(random);
        state.exp()
    }),
    ("the first of a pair is slower", |random, _, run| {
        1.0 + 0.5 * f64::from(run.is_multiple_of(2)) + 0.05 * normal(random).abs()
    }),
    ("every other pair is slow", |random, _, run| {
        1.0 + f64::from((run / 2).is_multiple_of(2)) + 0.1 * normal(random).abs()
    }),
    ("periods of load", |random, state, _| {
        if random.random_range(0.0..1.0) < 0.1 {
            *state = f64::from(*state == 0.0) * 3.0;
        }
        1.0 + *state + 0.3 * normal(random).abs()
    }),
];

/// The final measurement of two statements that truly take so many milliseconds.
fn measure(
    seed: u64,
    clock: Clock,
    original_ms: f64,
    best_ms: f64,
    settings: Settings,
) -> Confirmation {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let settings = Settings { seed, ..settings };
    let mut pairs = Pairs::default();
    let mut state = 0.0;
    let mut run = 0;
    while let Some(which) = pairs.next(&settings) {
        let truly = if which == crate::Which::Best { best_ms } else { original_ms };
        let taken = truly * clock(&mut random, &mut state, run) * 1e6;
        pairs.add(Timing { wall_ns: taken as u64, ..Timing::default() }, &settings);
        run += 1;
    }
    pairs.result().unwrap()
}

/// Counts how many of 2,000 measurements of equally fast statements reach the evidence, and how
/// many are confirmed by the acceptance rule as well.
#[test]
fn at_most_one_in_twenty_equal_statements_is_confirmed_whatever_the_clock() {
    const RUNS: u64 = 2_000;
    // Without a least gain, so that only the evidence stands between noise and a confirmation.
    let bare = Settings {
        min_gain: 0.0,
        min_gain_ms: 0,
        final_ms: u64::MAX / 2_000_000,
        ..Settings::default()
    };
    for (name, clock) in CLOCKS {
        let results: Vec<Confirmation> =
            (0..RUNS).map(|seed| measure(seed, clock, 400.0, 400.0, bare)).collect();
        let reached = results.iter().filter(|result| result.evidence >= CONFIRMED).count() as f64
            / RUNS as f64;
        assert!(reached <= 0.05, "{name}: {reached} of equal statements reach the evidence");
        let missed = results
            .iter()
            .filter(|result: &&Confirmation| {
                result.interval.is_some_and(|(low, high)| low > 1.0 || high < 1.0)
            })
            .count() as f64
            / RUNS as f64;
        assert!(missed <= 0.05, "{name}: {missed} of the intervals miss the truth");
        println!("{name}: evidence {reached:.4}, interval misses {missed:.4}");
        let ruled = (0..RUNS)
            .filter(|seed| measure(*seed, clock, 400.0, 400.0, Settings { ..bare }).confirmed)
            .count();
        assert!(ruled as f64 / RUNS as f64 <= 0.05, "{name}: {ruled}");
    }
}

#[test]
fn a_statement_that_is_twice_as_fast_is_confirmed_nearly_always() {
    for (name, clock) in CLOCKS {
        // By the clocks whose own noise is as large as the difference, not always.
        let least = if ["autocorrelation", "periods of load"].contains(&name) { 0.7 } else { 0.95 };
        let found = (0..500)
            .filter(|seed| measure(*seed, clock, 400.0, 160.0, Settings::default()).confirmed)
            .count();
        assert!(found as f64 / 500.0 >= least, "{name}: {found} of 500");
    }
}

#[test]
fn the_evidence_is_a_fair_game() {
    // The mean over all courses of n fair throws is 1: so it is a martingale that starts at 1.
    for n in [1u32, 2, 9, 24] {
        let mut mean = 0.0;
        let mut ways = 1.0;
        for lost in 0..=n {
            mean += ways * evidence(n - lost, lost) / 2f64.powi(n as i32);
            ways *= f64::from(n - lost) / f64::from(lost + 1);
        }
        assert!((mean - 1.0).abs() < 1e-9, "{n}: {mean}");
    }
    // By hand: ∫ (1+λ) = 3/2, ∫ (1−λ) = 1/2, ∫ (1+λ)(1−λ) = 2/3, ∫ (1+λ)⁹ = 1023/10.
    for (won, lost, value) in
        [(0, 0, 1.0), (1, 0, 1.5), (0, 1, 0.5), (1, 1, 2.0 / 3.0), (9, 0, 102.3)]
    {
        assert!((evidence(won, lost) - value).abs() < 1e-9, "{won}, {lost}");
    }
    assert!(evidence(7, 0) >= CONFIRMED && evidence(6, 0) < CONFIRMED);
    assert!(evidence(200, 0).is_finite() && evidence(0, 200) > 0.0);
}

#[test]
fn the_interval_needs_eight_pairs_and_leaves_out_what_is_rare() {
    fn ratios(count: u32) -> Vec<f64> {
        (1..=count).map(f64::from).collect::<Vec<_>>()
    }
    assert_eq!(interval(&ratios(7)), None);
    assert_eq!(interval(&ratios(8)), Some((1.0, 8.0)));
    let (low, high) = interval(&ratios(24)).unwrap();
    assert!(low > 1.0 && high < 24.0 && (low + high - 25.0).abs() < 1e-9, "{low} to {high}");
    assert_eq!(interval(&[]), None);
}

#[test]
fn a_speed_has_two_digits() {
    for (number, rounded) in
        [(2.0, 2.0), (1.2345, 1.2), (0.9871, 0.99), (123.4, 120.0), (0.001_234, 0.0012)]
    {
        assert!((two_digits(number) - rounded).abs() < 1e-12, "{number}");
    }
}
