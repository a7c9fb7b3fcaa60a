//! Pictures of a report, as SVG that needs nothing else: readable in print, without colours, and by
//! programs.
//!
//! Every mark carries the document's numbers in its `data-…` attributes, unrounded, so that picture
//! and JSON can be compared. A picture is the same, byte for byte, for the same document.

mod chart;
pub mod marks;
mod scale;
mod svg;
mod timings;
mod width;

pub use chart::{Frame, Unit, steps};
pub use scale::Scale;
pub use svg::{Element, Picture, Svg};
pub use timings::{TimedPair, timings};
pub use width::{fit_text, width};
