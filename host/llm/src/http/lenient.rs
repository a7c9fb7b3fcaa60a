//! Reads JSON that is not quite valid, as servers write it: halves of surrogate pairs, numbers that
//! JSON does not have.

use serde_json::Value;

/// The words that stand for numbers in no JSON.
const NUMBERS: [&str; 5] = ["-Infinity", "Infinity", "-inf", "inf", "NaN"];
/// The character in place of half of a pair.
const REPLACEMENT: &str = "\\ufffd";

/// The JSON in which half a surrogate pair is a replacement character, and a number that is none is
/// null.
pub(super) fn mend(text: &str) -> String {
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    let mut in_string = false;
    while let Some(first) = rest.chars().next() {
        let size = match first {
            '"' => {
                in_string = !in_string;
                1
            }
            '\\' if in_string => {
                let (escape, size) = escape(rest);
                mended.push_str(escape);
                rest = &rest[size..];
                continue;
            }
            _ if in_string => first.len_utf8(),
            _ => {
                if let Some(size) = no_number(rest) {
                    mended.push_str("null");
                    rest = &rest[size..];
                    continue;
                }
                // A number or a word is passed whole.
                fn is_word_char(c: char) -> bool {
                    c.is_ascii_alphanumeric() || "+-.".contains(c)
                }
                rest.find(|c| !is_word_char(c)).unwrap_or(rest.len()).max(first.len_utf8())
            }
        };
        mended.push_str(&rest[..size]);
        rest = &rest[size..];
    }
    mended
}

/// The escape at the beginning of the text as it is written, and its size.
fn escape(text: &str) -> (&str, usize) {
    let unit = |text: &str| {
        let digits = text.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    fn is_high_surrogate(unit: u16) -> bool {
        (0xd800..0xdc00).contains(&unit)
    }
    fn is_low_surrogate(unit: u16) -> bool {
        (0xdc00..0xe000).contains(&unit)
    }
    match unit(text) {
        Some(first) if is_high_surrogate(first) => match text.get(6..).and_then(unit) {
            Some(second) if is_low_surrogate(second) => (&text[..12], 12),
            _ => (REPLACEMENT, 6),
        },
        Some(first) if is_low_surrogate(first) => (REPLACEMENT, 6),
        _ => {
            let size = 1 + text[1..].chars().next().map_or(0, char::len_utf8);
            (&text[..size], size)
        }
    }
}

/// The size of what stands in place of a number and is none: a word of [`NUMBERS`], or one that is
/// too large.
fn no_number(text: &str) -> Option<usize> {
    if let Some(word) = NUMBERS.iter().find(|word| text.starts_with(**word)) {
        return Some(word.len());
    }
    let size =
        text.find(|c: char| !(c.is_ascii_digit() || "+-.eE".contains(c))).unwrap_or(text.len());
    let is_infinite = text[..size].parse::<f64>().is_ok_and(f64::is_infinite);
    is_infinite.then_some(size)
}

/// The text without the mark of its encoding, which some servers write before it.
pub(super) fn without_mark(body: &[u8]) -> &[u8] {
    body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body)
}

/// The document of a body, read as it is or as it is mended.
pub(crate) fn read_leniently(body: &[u8]) -> Option<Value> {
    let body = without_mark(body);
    serde_json::from_slice(body)
        .ok()
        .or_else(|| serde_json::from_str(&mend(&String::from_utf8_lossy(body))).ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn odd_numbers_and_halves_of_pairs_are_read() {
        let body = br#"{"a": -Infinity, "b": [NaN, 1e999, -1e400, 0.5], "c": "x \ud83d y",
            "d": "\ud83d\ude00", "e": "\ude00"}"#;
        let read = json!({
            "a": null, "b": [null, null, null, 0.5], "c": "x \u{fffd} y", "d": "😀", "e": "\u{fffd}"
        });
        assert_eq!(read_leniently(body), Some(read));
        assert_eq!(
            read_leniently(b"{\"NaN\": \"NaN \\\" Infinity \\\\\", \"b\": Infinity}"),
            Some(json!({"NaN": "NaN \" Infinity \\", "b": null}))
        );
        assert_eq!(read_leniently(b"\xef\xbb\xbf{\"a\": 1}"), Some(json!({"a": 1})));
        for wrong in [b"{\"a\": ".as_slice(), b"<html>", b"", b"\"\\", b"\"\\ud8"] {
            assert_eq!(read_leniently(wrong), None);
        }
    }

    proptest! {
        #[test]
        fn valid_json_stays_as_it_is(text in "(?s).{0,40}", number: f64) {
            let valid = json!({"a": text, "b": [number, null, true], "c": {"d": text}}).to_string();
            prop_assert_eq!(mend(&valid), valid);
        }

        #[test]
        fn nothing_panics(text in "[\\\\ud8dcf\"0-9eEINai:{}é+-]{0,40}") {
            mend(&text);
        }
    }
}
