//! The evidence that a statement is the faster one, when the measurement ends as soon as that is
//! clear.
//!
//! Each pair times both statements, one after the other, in an order that a coin decides. If they
//! are equally fast, each is the faster one of a pair with a chance of one half whatever came
//! before, however the machine's speed drifts and whichever place of a pair has the advantage. A
//! player who stakes the share λ of their capital on the candidate multiplies it by 1 + λ when the
//! candidate is faster and by 1 − λ when it is not: the capital is a martingale, and reaches 20
//! with a chance of at most 1 in 20, at any time of its course (Ville 1939, *Étude critique de la
//! notion de collectif*; G. Shafer, "Testing by betting", J. R. Stat. Soc. A 184, 2021, § 2). The
//! capital that is returned here is the mean of those of all λ from 0 to 1 (H. Robbins,
//! "Statistical methods related to the law of the iterated logarithm", Ann. Math. Stat. 41, 1970:
//! the method of mixtures), so that no λ has to be chosen.

/// The evidence from which on a statement is confirmed to be faster: at most 1 of 20 pairs of equal
/// statements reaches it.
pub const CONFIRMED: f64 = 20.0;

/// The evidence for each end of the interval: 1 of 40 for each of two ends.
const EVIDENCE_OF_AN_END: f64 = 40.0;

/// The capital after so many pairs, from a capital of 1, in any order of wins and losses; pairs of
/// equal times count for neither.
///
/// With n = won + lost it is ∫₀¹ (1+λ)^won (1−λ)^lost dλ = Σ_{k>lost} C(n+1, k) ⁄ ((n+1) · C(n,
/// won)): an incomplete beta function as a sum of binomial coefficients (NIST Digital Library of
/// Mathematical Functions, 8.17.5).
#[must_use]
pub fn evidence(won: u32, lost: u32) -> f64 {
    let n = f64::from(won) + f64::from(lost);
    // Relative to C(n, won), so that nothing overflows: C(n+1, lost+1) = C(n, lost) · (n+1) ⁄
    // (lost+1).
    let mut term = (n + 1.0) / (f64::from(lost) + 1.0);
    let mut sum = 0.0;
    let mut k = f64::from(lost) + 1.0;
    while k <= n + 1.0 {
        sum += term;
        term *= (n + 1.0 - k) / (k + 1.0);
        k += 1.0;
    }
    sum / (n + 1.0)
}

/// An interval that holds the median of the ratios with a confidence of 95 % at whatever pair the
/// measurement ends; `None` when there are too few (fewer than 8).
///
/// A value is outside of it when [`evidence`] against it, by the pairs above or by those below, has
/// reached 40: the inverse of the test, as for quantiles in S. R. Howard and A. Ramdas, "Sequential
/// estimation of quantiles with applications to A/B testing and best-arm identification", Bernoulli
/// 28, 2022.
#[must_use]
pub fn interval(ratios: &[f64]) -> Option<(f64, f64)> {
    let mut sorted = ratios.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let count = u32::try_from(sorted.len()).ok()?;
    let cut = (0..=count / 2)
        .take_while(|below: &u32| evidence(count - below, *below) >= EVIDENCE_OF_AN_END)
        .last()?;
    let cut = usize::try_from(cut).ok()?;
    Some((*sorted.get(cut)?, *sorted.get(sorted.len().checked_sub(cut + 1)?)?))
}
