//! The terminal's escape: what would move the cursor, change colours, reverse or hide text is shown
//! instead of obeyed.

use std::borrow::Cow;

pub(crate) use syrch::syrch_core::text::escape::is_dangerous;
use syrch::syrch_core::text::escape::shown;

/// A text of one line: line breaks are shown as `\n`.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    shown(text, &[])
}

/// A text of several lines: line breaks and tabs stay.
pub(crate) fn block(text: &str) -> Cow<'_, str> {
    shown(text, &['\n', '\t'])
}
