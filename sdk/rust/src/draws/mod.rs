//! Drawing several statements for one task, with a stop as early as a strategy's rule allows, and grouping them by what they return.
//!
//! A [`Drawing`] starts model calls side by side, takes each reply's statement through the database as it comes, and keeps what came in a
//! [`Pool`], by the numbers of the draws and not by their arrival. A [`Sampler`] is the strategy: it writes the prompts and says how many
//! more draws it takes at the least. Since never more are under way than that, as many are made as one after the other would be.
//!
//! Draws whose results have the same fingerprint agree (self-consistency, Wang et al. 2022): [`Pool::clusters`]. A [`Voter`] also says
//! which group it would take, and [`elect`] is the whole way from a task to its candidates.

mod drawing;
mod pool;
#[cfg(test)]
mod tests;
mod vote;

pub use drawing::Drawing;
pub use pool::{Came, Cluster, Draw, Pool, Ran};
pub use vote::{Standing, Voter, elect};

use crate::brief::{Brief, Tried};
use crate::prelude::*;

/// A strategy's part in a drawing.
pub trait Sampler {
    /// The request of that draw. `pool` has what ended by now; draws before this one may still be under way.
    fn request(&mut self, number: u32, pool: &Pool) -> Request;
    /// Whether all draws under way have to end before others start, since prompts follow from what came before: then a prompt never
    /// depends on which reply was the quickest.
    fn in_rounds(&self) -> bool {
        false
    }
    /// Called once for each draw when it has ended, before [`Sampler::missing`] is asked again: the place to look closer at it.
    fn seen(&mut self, draw: &Draw) {
        let _ = draw;
    }
    /// How many more draws it takes at the least until it can be over, whatever they bring; 0: it is over. Draws under way count among
    /// them.
    fn missing(&self, pool: &Pool) -> u32;
    /// Called when a prompt was too large; false when it cannot be made shorter.
    fn shorten(&mut self) -> bool;
}

/// The request of a draw: a repair of what failed lately, with nothing but that, or a fresh one at that temperature.
///
/// Among draws that repair, `sample` is the number of the draw, from 0, less the statements that the request repairs: so a repair of
/// draw n is the n-th sample again, and two draws never share both.
#[must_use]
pub fn request(brief: &Brief<'_>, lately: &[Tried], number: u32, temperature: Option<f64>) -> Request {
    let mut request = brief.request(lately, number.saturating_sub(1));
    if request.purpose == Purpose::Repair {
        let repaired = u32::try_from(request.subjects.len()).unwrap_or(u32::MAX);
        request.sample = request.sample.saturating_sub(repaired);
    } else {
        request.temperature = temperature.map(|temperature| temperature as f32);
    }
    request
}

/// Why a drawing stopped.
#[derive(Debug, Clone, PartialEq)]
pub enum Stopped {
    /// The sampler has enough, or as many draws were made as may be.
    Done,
    /// The model abstains, which is not a failure.
    Abstained(String),
    /// No call or no statement can do any more.
    Failed(Failure),
}
