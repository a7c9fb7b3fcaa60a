//! Estimates the width of a text without a browser: widths of Helvetica's characters, and something
//! to spare for wider fonts.

use std::borrow::Cow;

use syrch_core::text::escape::escape_dangerous;

/// Advance widths of ` ` to `~` in thousandths of the size: Adobe's metrics of Helvetica.
const HELVETICA: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];
/// Pixels of a character's height, as the style has it.
const SIZE: f64 = 12.0;
/// Another font may be so much wider.
const SPARE: f64 = 1.22;

/// Returns an upper bound of the width of a text of one line, in pixels.
#[must_use]
pub fn width(text: &str) -> f64 {
    escape_dangerous(text, &[]).chars().map(advance).sum::<f64>() * SIZE / 1000.0 * SPARE
}

fn advance(c: char) -> f64 {
    let code = u32::from(c);
    match code {
        0x20..=0x7e => f64::from(HELVETICA.get(code as usize - 0x20).copied().unwrap_or(600)),
        // From Hangul and CJK on characters are as wide as high, emoji too.
        0x1100.. if !(0x2000..0x2190).contains(&code) => 1000.0,
        _ => 650.0,
    }
}

/// The text if it fits, else its beginning with `…`.
#[must_use]
pub fn fit_text(text: &str, space: f64) -> Cow<'_, str> {
    if width(text) <= space {
        return Cow::Borrowed(text);
    }
    let mut head = String::new();
    let mut used = width("…");
    for c in text.chars() {
        used += width(c.encode_utf8(&mut [0; 4]));
        if used > space {
            break;
        }
        head.push(c);
    }
    Cow::Owned(head.trim_end().to_owned() + "…")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn wide_letters_are_wider() {
        assert!(width("WWW") > width("iii") * 3.0);
        assert!(width("漢字") > width("ab"));
        assert_eq!(fit_text("short", 100.0), "short");
    }

    proptest! {
        #[test]
        fn what_is_fitted_fits(text in any::<String>(), space in 20.0_f64..400.0) {
            prop_assert!(width(&fit_text(&text, space)) <= space + 1e-9);
        }
    }
}
