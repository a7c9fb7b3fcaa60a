//! The terminal's escape: what would move the cursor, change colours, reverse or hide text is shown
//! instead of obeyed.

use std::borrow::Cow;

use syrch::syrch_core::text::escape::escape_dangerous;
pub(crate) use syrch::syrch_core::text::escape::is_dangerous;

/// A text of one line: line breaks are shown as `\n`.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    escape_dangerous(text, &[])
}

/// A text of several lines: line breaks and tabs stay.
pub(crate) fn block(text: &str) -> Cow<'_, str> {
    escape_dangerous(text, &['\n', '\t'])
}
