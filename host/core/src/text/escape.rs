//! One escape function for each output format. Characters that a terminal or a browser would obey,
//! and those that turn or hide the text around them, are written as their codes.

use std::borrow::Cow;

/// Returns whether a character may not stand in a report: control characters, those that turn the
/// text around them, and invisible ones, with which two different texts cannot be distinguished.
#[must_use]
pub fn is_dangerous(c: char) -> bool {
    c.is_control() || is_hidden(c) || matches!(c, '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}')
}

/// Unicode's `Default_Ignorable_Code_Point`, which a renderer leaves out: soft hyphen, fillers,
/// marks of direction, variation selectors, tags. The two joiners are excepted, since emoji
/// sequences and Persian need them.
fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The text with dangerous characters as their codes, those in `keep` excepted.
#[must_use]
pub fn escape_dangerous<'a>(text: &'a str, keep: &[char]) -> Cow<'a, str> {
    fn is_escaped(keep: &[char], c: char) -> bool {
        is_dangerous(c) && !keep.contains(&c)
    }
    if !text.chars().any(|c| is_escaped(keep, c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if !is_escaped(keep, c) => out.push(c),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => out.extend(c.escape_unicode()),
        }
    }
    Cow::Owned(out)
}

/// A text in a quotation: dangerous characters as their codes, and all blanks but the plain one
/// too, since nobody can tell them apart.
#[must_use]
pub fn escape_quotation(text: &str) -> Cow<'_, str> {
    fn is_odd_space(c: char) -> bool {
        c.is_whitespace() && c != ' ' && !is_dangerous(c)
    }
    if !text.chars().any(is_odd_space) {
        return escape_dangerous(text, &[]);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if is_odd_space(c) => out.extend(c.escape_unicode()),
            c => out.push_str(&escape_dangerous(c.encode_utf8(&mut [0; 4]), &[])),
        }
    }
    Cow::Owned(out)
}

/// A text as HTML or SVG, between tags or in a quoted attribute.
#[must_use]
pub fn html(text: &str) -> String {
    let text = escape_dangerous(text, &['\n', '\t']);
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // What XML 1.0 has no character for; a browser takes them, a reader of SVG files may
            // not.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A text on one line of GitHub's Markdown, without markup; line breaks become `<br>`.
#[must_use]
pub fn markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let text = text.replace("\r\n", "\n");
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let ends_word = chars.peek().is_none_or(|next| next.is_whitespace());
        match c {
            '\n' => out.push_str("<br>"),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // `:`, `@` and `.` keep bare addresses from becoming links; the others are Markdown's
            // own.
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '~' | '$' | ':' | '@' => {
                out.extend(['\\', c])
            }
            '-' | '+' | '=' if out.is_empty() => out.extend(['\\', c]),
            // `1.` and `1)` begin a list; `1.5` does not.
            '.' | ')' if ends_word && is_list(&out) => out.extend(['\\', c]),
            '.' if is_address(&out) => out.push_str("\\."),
            c => out.push_str(&escape_dangerous(c.encode_utf8(&mut [0; 4]), &[])),
        }
    }
    out
}

fn is_address(before: &str) -> bool {
    before.get(before.len().saturating_sub(3)..).is_some_and(|end| end.eq_ignore_ascii_case("www"))
}

fn is_list(before: &str) -> bool {
    !before.is_empty() && before.bytes().all(|byte| byte.is_ascii_digit())
}

/// A block of code in Markdown, whose fence is longer than any inside.
#[must_use]
pub fn fence_code(language: &str, code: &str) -> String {
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}{language}\n{}\n{fence}\n", escape_dangerous(code, &['\n', '\t']))
}

/// A record of comma-separated values after RFC 4180, with its line end. Fields with a semicolon or
/// a tab are quoted too: in many countries a spreadsheet splits at semicolons, and pasted text at
/// tabs.
#[must_use]
pub fn record(fields: impl IntoIterator<Item = String>) -> String {
    let mut out = String::new();
    let mut count = 0;
    for field in fields {
        if count > 0 {
            out.push(',');
        }
        count += 1;
        if field.contains(['"', ',', ';', '\t', '\n', '\r']) {
            out.push('"');
            out.push_str(&field.replace('"', "\"\""));
            out.push('"');
        } else {
            out.push_str(&field);
        }
    }
    // A lone empty field must be quoted, else it is an empty line, which readers skip.
    if count == 1 && out.is_empty() {
        out.push_str("\"\"");
    }
    out.push('\n');
    out
}

/// A text for a cell of a CSV file that a spreadsheet does not take for a formula: one that begins
/// with `=`, `+`, `-`, `@`, a tab or a line break, or with the full-width form of one of the signs,
/// gets a leading `'`, unless it is a plain number such as `-5` or `-inf`.
#[must_use]
pub fn spreadsheet(text: &str) -> String {
    let shown = escape_dangerous(text, &['\n', '\r', '\t']);
    if is_formula(text) { format!("'{shown}") } else { shown.into_owned() }
}

/// Returns whether a spreadsheet would take a text for a formula.
#[must_use]
pub fn is_formula(text: &str) -> bool {
    let begins = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    begins && !is_number(text)
}

/// Returns whether a text is a number as it is printed, `-inf` among them.
fn is_number(text: &str) -> bool {
    ["-inf", "-Infinity"].contains(&text)
        || text.ends_with(|c: char| c.is_ascii_digit())
            && text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte))
            && text.parse::<f64>().is_ok()
}

/// The text, or of one longer than that many characters the beginning with a remark that it was
/// cut.
#[must_use]
pub fn clip_with_remark(text: &str, characters: usize) -> Cow<'_, str> {
    match text.char_indices().nth(characters) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}… (cut)", text.get(..end).unwrap_or_default())),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_becomes_markup() {
        assert_eq!(
            html("</b a=\"1\" c='2'>&amp;\u{ffff}"),
            "&lt;/b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;\u{fffd}"
        );
        assert_eq!(html("a\u{202e}b\u{1b}[2J\0"), "a\\u{202e}b\\u{1b}[2J\\u{0}");
        assert_eq!(
            markdown("[x](https://e.example) | 1\n2"),
            "\\[x\\](https\\://e.example) \\| 1<br>2"
        );
        assert_eq!(markdown("<img src=x>&"), "&lt;img src=x&gt;&amp;");
        assert_eq!((markdown("2) a").as_str(), markdown("7.").as_str()), ("2\\) a", "7\\."));
        assert_eq!(
            (markdown("315.0").as_str(), markdown("\u{1b}[0m 3.5").as_str()),
            ("315.0", "\\u{1b}\\[0m 3.5")
        );
        assert_eq!(
            (markdown("1. a").as_str(), markdown("www.e.example").as_str()),
            ("1\\. a", "www\\.e.example")
        );
        assert_eq!(fence_code("sql", "SELECT '```'"), "````sql\nSELECT '```'\n````\n");
        assert_eq!((spreadsheet("=1+1").as_str(), spreadsheet("-5").as_str()), ("'=1+1", "-5"));
        assert_eq!(clip_with_remark("abc", 2), "ab… (cut)");
        assert_eq!(
            (record([String::new()]), record(["a,\"".into(), String::new()])),
            ("\"\"\n".into(), "\"a,\"\"\",\n".into())
        );
    }

    #[test]
    fn sequences_are_shown_and_not_obeyed() {
        assert_eq!(escape_dangerous("a\u{1b}[31mb\r\n\0", &[]), "a\\u{1b}[31mb\\r\\n\\u{0}");
        assert_eq!(escape_dangerous("abc\u{202e}txt", &[]), "abc\\u{202e}txt");
        assert_eq!(escape_dangerous("\u{9b}2J", &[]), "\\u{9b}2J");
        assert_eq!(escape_dangerous("a\n\tb\u{7}", &['\n', '\t']), "a\n\tb\\u{7}");
        assert_eq!(escape_dangerous("naïve 漢字 👩‍👧", &[]), "naïve 漢字 👩‍👧");
    }

    #[test]
    fn a_quotation_shows_which_blank_it_holds() {
        assert_eq!(escape_quotation("SELECT a\u{2019}b"), "SELECT a\u{2019}b");
        assert_eq!(
            escape_quotation("SELECT\u{a0}COUNT\u{202f}x\u{3000}\n"),
            "SELECT\\u{a0}COUNT\\u{202f}x\\u{3000}\\n"
        );
        assert_eq!(escape_quotation("a\u{200b}b\u{2009}\u{200b}"), "a\\u{200b}b\\u{2009}\\u{200b}");
    }

    #[test]
    fn what_nobody_sees_is_shown() {
        for hidden in [
            '\u{ad}',
            '\u{34f}',
            '\u{115f}',
            '\u{1160}',
            '\u{17b4}',
            '\u{180b}',
            '\u{180e}',
            '\u{200b}',
            '\u{200f}',
            '\u{2060}',
            '\u{2064}',
            '\u{2066}',
            '\u{3164}',
            '\u{fe00}',
            '\u{fe0f}',
            '\u{feff}',
            '\u{ffa0}',
            '\u{fff0}',
            '\u{1bca3}',
            '\u{1d173}',
            '\u{e0001}',
            '\u{e0041}',
            '\u{e007f}',
            '\u{e0100}',
            '\u{e01ef}',
        ] {
            let code = hidden.escape_unicode().to_string();
            let text = format!("pay{hidden}pal");
            assert_eq!(escape_dangerous(&text, &[]), format!("pay{code}pal"));
            assert_eq!(html(&text), format!("pay{code}pal"));
            assert_eq!(markdown(&text), format!("pay{code}pal"));
            assert_eq!(spreadsheet(&text), format!("pay{code}pal"));
            assert_eq!(fence_code("", &text), format!("```\npay{code}pal\n```\n"));
        }
        // The sign stays readable without its selector.
        assert_eq!(escape_dangerous("I \u{2764}\u{fe0f} SQL", &[]), "I \u{2764}\\u{fe0f} SQL");
        assert_eq!(
            escape_dangerous("می\u{200c}خواهم 한국어 ไทย", &[]),
            "می\u{200c}خواهم 한국어 ไทย"
        );
    }

    #[test]
    fn no_reader_splits_a_field() {
        let fields = ["a;b", "a\tb", "a,b", "plain", "a b"].map(str::to_owned);
        assert_eq!(record(fields), "\"a;b\",\"a\tb\",\"a,b\",plain,a b\n");
    }

    /// The text that a browser shows for this HTML.
    fn read(html: &str) -> String {
        let named = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'")];
        named
            .iter()
            .fold(html.to_owned(), |text, (name, sign)| text.replace(name, sign))
            .replace("&amp;", "&")
    }

    proptest! {
        #[test]
        fn nothing_dangerous_is_left(text in any::<String>()) {
            prop_assert!(!escape_dangerous(&text, &[]).chars().any(is_dangerous));
            prop_assert!(
                !escape_dangerous(&text, &['\n', '\t'])
                    .chars()
                    .any(|c| is_dangerous(c) && c != '\n' && c != '\t')
            );
        }

        #[test]
        fn harmless_text_stays(text in "[a-zA-Z0-9 .,;äöü漢]*") {
            prop_assert_eq!(escape_dangerous(&text, &[]), text.as_str());
        }

        #[test]
        fn no_text_leaves_its_place(text in any::<String>()) {
            let escaped = html(&text);
            prop_assert!(!escaped.contains(['<', '>', '"', '\'']));
            prop_assert!(!escaped.chars().any(|c| is_dangerous(c) && c != '\n' && c != '\t'));
            for (place, _) in escaped.match_indices('&') {
                let names = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
                prop_assert!(
                    names.iter().any(|name| escaped[place..].starts_with(name)), "{}", escaped
                );
            }
            prop_assert_eq!(
                read(&escaped), escape_dangerous(&text, &['\n', '\t']).replace(
                    ['\u{fffe}', '\u{ffff}'], "\u{fffd}"
                )
            );
            let cell = markdown(&text);
            prop_assert!(!cell.contains('\n') && !cell.replace("<br>", "").contains(['<', '>']));
            let mut after_backslash = false;
            for c in cell.chars() {
                prop_assert!(after_backslash || !matches!(c, '|' | '[' | ']' | '`'), "{}", cell);
                after_backslash = c == '\\' && !after_backslash;
            }
            prop_assert!(!is_formula(&spreadsheet(&text)));
        }
    }
}
