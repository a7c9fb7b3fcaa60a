//! Measures how often something is done in a second: contenders in turns, so that what else the
//! machine does meets all of them alike.

use std::time::{Duration, Instant};

use crate::Outcome;
use crate::samples::median;

/// Turns of each contender.
pub(crate) const ROUNDS: usize = 7;
/// The least length of a turn.
const ROUND: Duration = Duration::from_millis(500);

/// A call; it fails when its result is wrong.
pub(crate) type Call<'a> = Box<dyn FnMut() -> Outcome<()> + 'a>;

/// The calls per second of each contender, one number for each of its turns. A short turn of each,
/// to warm up, is not counted.
pub(crate) fn measure(contenders: &mut [Call]) -> Outcome<Vec<Vec<f64>>> {
    for call in &mut *contenders {
        turn(call, ROUND / 5)?;
    }
    let mut rates = vec![Vec::with_capacity(ROUNDS); contenders.len()];
    for _ in 0..ROUNDS {
        for (call, rates) in contenders.iter_mut().zip(&mut rates) {
            rates.push(turn(call, ROUND)?);
        }
    }
    Ok(rates)
}

/// The calls per second of one turn.
fn turn(call: &mut Call, length: Duration) -> Outcome<f64> {
    let begin = Instant::now();
    let mut calls = 0_u32;
    loop {
        call()?;
        calls += 1;
        let taken = begin.elapsed();
        if taken >= length {
            return Ok(f64::from(calls) / taken.as_secs_f64());
        }
    }
}

/// Returns how much faster the first is than the second: the median over the rounds, each of which
/// compares turns that follow each other.
pub(crate) fn ratio(first: &[f64], second: &[f64]) -> f64 {
    median(first.iter().zip(second).map(|(first, second)| first / second).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contenders_take_turns_and_a_failure_ends_them() {
        let order = std::cell::RefCell::new(Vec::new());
        let call = |name: char| -> Call {
            let order = &order;
            Box::new(move || {
                order.borrow_mut().push(name);
                std::thread::sleep(Duration::from_millis(100));
                if order.borrow().len() > 3 { Err("enough".into()) } else { Ok(()) }
            })
        };
        assert_eq!(measure(&mut [call('a'), call('b')]).unwrap_err().to_string(), "enough");
        // The warm-up of each, then the first turn of `a`.
        assert_eq!(*order.borrow(), ['a', 'b', 'a', 'a']);
    }

    #[test]
    fn a_ratio_compares_within_rounds() {
        assert_eq!(ratio(&[4.0, 20.0, 6.0], &[2.0, 10.0, 1.0]), 2.0);
        assert!(ratio(&[], &[]).is_nan());
    }
}
