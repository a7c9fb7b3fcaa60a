//! Text for a terminal: what would move the cursor, change colours, reverse or hide text is shown
//! instead of obeyed.

mod picture;
pub mod table;

use std::borrow::Cow;

use syrch_core::text::escape::escape_dangerous;
pub use syrch_core::text::escape::is_dangerous;

pub use picture::{Picture, Style};

/// A text of one line: line breaks are shown as `\n`.
#[must_use]
pub fn line(text: &str) -> Cow<'_, str> {
    escape_dangerous(text, &[])
}

/// A text of several lines: line breaks and tabs stay.
#[must_use]
pub fn block(text: &str) -> Cow<'_, str> {
    escape_dangerous(text, &['\n', '\t'])
}
