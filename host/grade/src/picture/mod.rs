//! Pictures of a report, as SVG that needs nothing else: readable in print, without colours, and by
//! programs.
//!
//! Every mark carries the document's numbers in its `data-…` attributes, unrounded, so that picture
//! and JSON can be compared. A picture is the same, byte for byte, for the same document.

mod budget;
mod chart;
mod cost;
mod errors;
mod forest;
mod marks;
mod reliability;
mod risk;
mod scale;
mod strip;
mod svg;
#[cfg(test)]
mod tests;
mod timings;
mod width;

pub use budget::budget;
pub use cost::cost;
pub use errors::errors;
pub use forest::{differences, shares};
pub use reliability::reliability;
pub use risk::risk;
pub use strip::strip;
pub use svg::{Picture, STYLE};
pub use timings::{TimedPair, timings};

/// Arms that one picture of lines or bars shows at most: more could not be distinguished.
pub const ARMS: usize = 8;
