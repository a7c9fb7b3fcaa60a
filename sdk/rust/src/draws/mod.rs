//! Several statements for one task, with a stop as early as the strategy allows, and their groups
//! of equal results.
//!
//! A [`Drawing`] starts model calls concurrently, tests each statement as its reply arrives, and
//! stores the draws in a [`Pool`] by their numbers, not by their arrival. A [`Sampler`] is the
//! strategy: it writes the prompts and returns how many more draws it needs at least. Since never
//! more than that are in flight, no more draws are made than one after the other would take.
//!
//! Draws whose results have the same fingerprint agree (self-consistency, Wang et al. 2022):
//! [`Pool::clusters`]. A [`Voter`] also orders these groups, and [`elect`] is the whole course from
//! a task to its candidates.
//!
//! [`run_tries`] is for strategies whose statements are repaired each by itself: a number of tries,
//! in rounds, that a strategy ends one by one ([`Tries`]).

mod drawing;
mod pool;
#[cfg(test)]
mod tests;
mod tries;
mod vote;

pub use crate::attempt::Ran;
pub use drawing::Drawing;
pub use pool::{Cluster, Draw, Pool, groups};
pub use tries::{Tries, run_tries};
pub use vote::{Standing, Voter, elect};

use crate::brief::{Brief, Tried};
use crate::prelude::*;
use crate::text::count32;

/// The decisions of a strategy about a drawing.
pub trait Sampler {
    /// The request of a draw. `pool` has the draws that ended; earlier draws than this one may
    /// still be in flight.
    fn request(&mut self, number: u32, pool: &Pool) -> Request;
    /// Returns true if all draws in flight must end before others start. If prompts contain earlier
    /// results, this keeps them independent of the order in which replies arrive.
    fn in_rounds(&self) -> bool {
        false
    }
    /// Called once for each draw after it ended, before the next call of [`Sampler::missing`].
    fn observe(&mut self, draw: &Draw) {
        let _ = draw;
    }
    /// The least number of further draws, those in flight included, after which the vote may be
    /// decided whatever they give; 0 if it is decided.
    fn missing(&self, pool: &Pool) -> u32;
    /// Makes the prompts shorter, after one was too large; false if they cannot be.
    fn shorten(&mut self) -> bool;
}

/// The request of a draw: a repair of the statements in `tried`, or, if there are none, a fresh one
/// at that temperature.
///
/// Among draws that repair, `sample` is the number of the draw, from 0, less the number of
/// statements that the request repairs: a repair of draw n is the n-th sample again, and two draws
/// never share both.
#[must_use]
pub fn request(
    brief: &Brief<'_>,
    tried: &[Tried],
    number: u32,
    temperature: Option<f64>,
) -> Request {
    let mut request = brief.request(tried, number.saturating_sub(1));
    if request.purpose == Purpose::Repair {
        request.sample = request.sample.saturating_sub(count32(request.subjects.len()));
    } else {
        request.temperature = temperature.map(|temperature| temperature as f32);
    }
    request
}

/// The reason why a drawing stopped.
#[derive(Debug, Clone, PartialEq)]
pub enum Stopped {
    /// The sampler has enough, or all draws were made.
    Done,
    /// The model abstains, for this reason. This is not a failure.
    Abstained(String),
    /// No call or no statement can succeed any more.
    Failed(Failure),
}
