//! The pictures of reports on graded runs, a file for each.

mod budget;
mod cost;
mod errors;
mod forest;
mod reliability;
mod risk;
mod strip;
#[cfg(test)]
mod tests;

pub use budget::budget;
pub use cost::cost;
pub use errors::errors;
pub use forest::{differences, shares};
pub use reliability::reliability;
pub use risk::risk;
pub use strip::strip;

/// Arms that one picture of lines or bars shows at most: more could not be distinguished.
pub const ARMS: usize = 8;
