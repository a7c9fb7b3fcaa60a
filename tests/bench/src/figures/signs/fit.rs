//! The likelihood of the right results among pools of draws, and the shares that make it greatest.

use super::{KNOWN, SIGNS, Signs};

/// What a share costs, squared, in mean log likelihood.
const PENALTY: f64 = 0.001;
/// The most steps of a fit.
const STEPS: usize = 40;
/// What a step must gain to be followed by another.
const LEAST_STEP: f64 = 1e-7;
/// The place of the power that a result's sum of weights is raised to.
const POWER: usize = SIGNS.len();
/// The least power that is tried.
const LEAST_POWER: f64 = 0.05;

/// The shares by the places of the signs, and the power. The share of a sign that was not chosen is 0.
pub(super) type Numbers = [f64; POWER + 1];

/// Draws in which right and wrong results meet.
pub(super) struct Pool {
    pub(super) results: Vec<Drawn>,
    /// How often the same came together.
    pub(super) times: f64,
}

/// The draws that gave one result.
pub(super) struct Drawn {
    pub(super) is_right: bool,
    /// What their signs count, and how many have the same.
    pub(super) draws: Vec<(Signs, f64)>,
}

/// Numbers that take nothing off any vote.
pub(super) fn nothing() -> Numbers {
    let mut numbers = [0.0; POWER + 1];
    numbers[POWER] = 1.0;
    numbers
}

/// The log likelihood of the right results of a pool, its slopes by the active numbers, and how the slopes of its results scatter, which
/// is how steeply the likelihood bends.
fn likelihood(pool: &Pool, active: &[usize], numbers: &Numbers) -> (f64, Vec<f64>, Vec<f64>) {
    let (size, power) = (active.len(), numbers[POWER]);
    let chosen = &active[..size - 1];
    let (mut all, mut right) = (0.0, 0.0);
    let (mut mean, mut slopes, mut bends) = (vec![0.0; size], vec![0.0; size], vec![0.0; size * size]);
    let mut own = vec![0.0; size];
    for result in &pool.results {
        let mut sum = 0.0;
        own.fill(0.0);
        for (signs, count) in &result.draws {
            let spoken: f64 = chosen.iter().map(|sign| numbers[*sign] * signs[*sign]).sum();
            let weight = count * spoken.exp();
            sum += weight;
            chosen.iter().zip(&mut own).for_each(|(sign, own)| *own += weight * signs[*sign]);
        }
        own.iter_mut().for_each(|own| *own *= power / sum);
        own[size - 1] = sum.ln();
        let part = (power * own[size - 1]).exp();
        all += part;
        for at in 0..size {
            mean[at] += part * own[at];
            (0..size).for_each(|other| bends[at * size + other] += part * own[at] * own[other]);
        }
        if result.is_right {
            right += part;
            slopes.iter_mut().zip(&own).for_each(|(slope, own)| *slope += part * own);
        }
    }
    mean.iter_mut().for_each(|mean| *mean /= all);
    for at in 0..size {
        slopes[at] = slopes[at] / right - mean[at];
        (0..size).for_each(|other| bends[at * size + other] = bends[at * size + other] / all - mean[at] * mean[other]);
    }
    ((right / all).ln(), slopes, bends)
}

/// The log likelihoods of pools and how many pools there are, each added up.
pub(super) fn sum<'p>(pools: impl IntoIterator<Item = &'p Pool>, chosen: &[usize], numbers: &Numbers) -> (f64, f64) {
    let active = active(chosen);
    pools.into_iter().fold((0.0, 0.0), |(sum, count), pool| {
        (sum + pool.times * likelihood(pool, &active, numbers).0, count + pool.times)
    })
}

/// The places of the numbers that are fitted.
fn active(chosen: &[usize]) -> Vec<usize> {
    chosen.iter().copied().chain([POWER]).collect()
}

/// The mean log likelihood less the penalty, its slopes by the active numbers, and how it bends.
struct Hill {
    value: f64,
    slopes: Vec<f64>,
    bends: Vec<Vec<f64>>,
}

impl Hill {
    fn at(pools: &[&Pool], active: &[usize], numbers: &Numbers) -> Self {
        let size = active.len();
        let count: f64 = pools.iter().map(|pool| pool.times).sum();
        let (mut value, mut slopes, mut bends) = (0.0, vec![0.0; size], vec![vec![0.0; size]; size]);
        for pool in pools {
            let (log, own, scatter) = likelihood(pool, active, numbers);
            let part = pool.times / count;
            value += part * log;
            for at in 0..size {
                slopes[at] += part * own[at];
                let row = &scatter[at * size..(at + 1) * size];
                bends[at].iter_mut().zip(row).for_each(|(bend, scatter)| *bend += part * scatter);
            }
        }
        for (at, place) in active.iter().enumerate() {
            bends[at][at] += 2.0 * PENALTY;
            if *place != POWER {
                value -= PENALTY * numbers[*place].powi(2);
                slopes[at] -= 2.0 * PENALTY * numbers[*place];
            }
        }
        Self { value, slopes, bends }
    }

    /// The step that slopes and bends suggest, in which no number moves that is held.
    fn step(mut self, is_held: impl Fn(usize, f64) -> bool) -> Vec<f64> {
        let size = self.slopes.len();
        for at in (0..size).filter(|at| is_held(*at, self.slopes[*at])).collect::<Vec<_>>() {
            for other in 0..size {
                (self.bends[at][other], self.bends[other][at]) = (0.0, 0.0);
            }
            (self.bends[at][at], self.slopes[at]) = (1.0, 0.0);
        }
        solve(self.bends, self.slopes)
    }
}

/// The numbers that fit the pools best, from a start.
pub(super) fn fit(pools: &[&Pool], chosen: &[usize], start: &Numbers) -> Numbers {
    let active = active(chosen);
    let least = |place: usize| match place {
        POWER => LEAST_POWER,
        known if known < KNOWN => 0.0,
        _ => f64::NEG_INFINITY,
    };
    let mut numbers = *start;
    let mut hill = Hill::at(pools, &active, &numbers);
    for _ in 0..STEPS {
        let value = hill.value;
        let step = hill.step(|at, slope| slope <= 0.0 && numbers[active[at]] <= least(active[at]));
        let mut tried = (0..12).map(|halvings| {
            let mut tried = numbers;
            for (place, step) in active.iter().zip(&step) {
                tried[*place] = (numbers[*place] + 0.5_f64.powi(halvings) * step).max(least(*place));
            }
            (Hill::at(pools, &active, &tried), tried)
        });
        let Some((higher, tried)) = tried.find(|(tried, _)| tried.value > value) else { break };
        (hill, numbers) = (higher, tried);
        if hill.value - value < LEAST_STEP {
            break;
        }
    }
    numbers
}

/// Solves a system of equations whose matrix is positive definite.
fn solve(mut rows: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let size = right.len();
    for at in 0..size {
        let pivot = rows[at].clone();
        for below in at + 1..size {
            let part = rows[below][at] / pivot[at];
            rows[below].iter_mut().zip(&pivot).for_each(|(number, above)| *number -= part * above);
            right[below] -= part * right[at];
        }
    }
    for at in (0..size).rev() {
        let known: f64 = (at + 1..size).map(|column| rows[at][column] * right[column]).sum();
        right[at] = (right[at] - known) / rows[at][at];
    }
    right
}
