//! The terminal's escape: what would move the cursor, change colours, reverse or hide text is shown instead of obeyed.

use std::borrow::Cow;

/// Whether a character has no place on a terminal: controls, and those that turn or hide the text around them.
pub(crate) fn is_dangerous(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

fn escape<'a>(text: &'a str, keep: &[char]) -> Cow<'a, str> {
    let shown = |c: char| is_dangerous(c) && !keep.contains(&c);
    if !text.chars().any(shown) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if !shown(c) => out.push(c),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => out.extend(c.escape_unicode()),
        }
    }
    Cow::Owned(out)
}

/// A text of one line: line breaks are shown as `\n`.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    escape(text, &[])
}

/// A text of several lines: line breaks and tabs stay.
pub(crate) fn block(text: &str) -> Cow<'_, str> {
    escape(text, &['\n', '\t'])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sequences_are_shown_and_not_obeyed() {
        assert_eq!(line("a\u{1b}[31mb\r\n\0"), "a\\u{1b}[31mb\\r\\n\\u{0}");
        assert_eq!(line("abc\u{202e}txt"), "abc\\u{202e}txt");
        assert_eq!(line("\u{9b}2J"), "\\u{9b}2J");
        assert_eq!(block("a\n\tb\u{7}"), "a\n\tb\\u{7}");
        assert_eq!(line("naïve 漢字 👩‍👧"), "naïve 漢字 👩‍👧");
    }

    proptest! {
        #[test]
        fn nothing_dangerous_is_left(text in any::<String>()) {
            prop_assert!(!line(&text).chars().any(is_dangerous));
            prop_assert!(!block(&text).chars().any(|c| is_dangerous(c) && c != '\n' && c != '\t'));
        }

        #[test]
        fn harmless_text_stays(text in "[a-zA-Z0-9 .,;äöü漢]*") {
            prop_assert_eq!(line(&text), text.as_str());
        }
    }
}
