//! Repairs the characters of a statement that was damaged on its way: by a word processor, a web
//! page, a JSON encoder or a chat template.
//!
//! Literals, quoted names and comments that are written as SQL writes them stay as they are.

use std::borrow::Cow;

use crate::statement::{continues_statement, may_go_on};

/// Characters of an end-of-text token at most.
const TOKEN: usize = 40;
/// Characters of a character reference such as `&quot;` at most.
const REFERENCE: usize = 10;
/// Pairs of brackets around a whole statement that are removed at most.
const BRACKETS: usize = 8;

/// Tokens of chat templates besides those between `<|` and `|>`.
const TOKENS: [&str; 14] = [
    "</s>",
    "<s>",
    "<bos>",
    "<eos>",
    "<eot>",
    "<end>",
    "<end_of_turn>",
    "<start_of_turn>",
    "<end_of_text>",
    "<end_of_utterance>",
    "<endoftext>",
    "[inst]",
    "[/inst]",
    "<</sys>>",
];

/// Spellings of quotes, each with the quote that SQL has.
const QUOTES: [(&str, char); 20] = [
    ("\\\"", '"'),
    ("&quot;", '"'),
    ("&#34;", '"'),
    ("&#x22;", '"'),
    ("“", '"'),
    ("”", '"'),
    ("„", '"'),
    ("‟", '"'),
    ("″", '"'),
    ("＂", '"'),
    ("\\'", '\''),
    ("&#39;", '\''),
    ("&apos;", '\''),
    ("&#x27;", '\''),
    ("‘", '\''),
    ("’", '\''),
    ("‚", '\''),
    ("‛", '\''),
    ("′", '\''),
    ("＇", '\''),
];

/// The quote of SQL that stands for a pair of curly double quotes, which enclose names and texts
/// alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Curly {
    /// They enclose names.
    Names,
    /// They enclose texts.
    Texts,
}

/// The statement with the characters of SQL in the place of those that stand for them, up to a
/// token that ends the text; `None` if there is nothing to repair.
pub(super) fn mend(sql: &str, curly: Curly) -> Option<String> {
    if sql.bytes().all(|byte: u8| byte < 0x80 && !b"\\&<[".contains(&byte)) {
        return None;
    }
    let mut out = String::with_capacity(sql.len());
    let is_one_line = !sql.trim().contains('\n');
    let mut is_changed = false;
    let mut is_blank = true;
    // The end of the line of a comment, which is searched once for all comments of the line.
    let mut line_end = 0;
    let mut at = 0;
    while at < sql.len() {
        let rest = &sql[at..];
        let is_comment = rest.starts_with("--");
        if is_comment && line_end <= at {
            line_end = rest.find('\n').map_or(sql.len(), |size| at + size + 1);
        }
        if let Some(size) = if is_comment { Some(line_end - at) } else { measure_protected(rest) } {
            // A line that an encoder joined to its comment begins after it.
            let joined = comment_line_end(&rest[..size], is_one_line);
            out.push_str(&rest[..joined.unwrap_or(size)]);
            if joined.is_some() {
                out.push('\n');
                is_changed = true;
            }
            is_blank = false;
            at += joined.map_or(size, |end| end + 2);
            continue;
        }
        let (size, new) = match find_damage(rest, curly) {
            Some(Damage::End) => {
                let size = ends(rest);
                is_changed = true;
                if !is_blank && !may_go_on(&rest[size..]) {
                    break;
                }
                (size, Cow::Borrowed(" "))
            }
            Some(Damage::Instead(size, new)) => (size, new),
            None => {
                let first = rest.chars().next().unwrap_or(' ');
                out.push(first);
                is_blank &= first.is_whitespace();
                at += first.len_utf8();
                continue;
            }
        };
        is_changed = true;
        is_blank &= new.trim().is_empty();
        out.push_str(&new);
        at += size;
    }
    is_changed.then_some(out)
}

/// The size of the tokens and closing tags that a text begins with, one behind the other.
fn ends(text: &str) -> usize {
    let mut size = 0;
    loop {
        let rest = &text[size..];
        let bare = rest.trim_start();
        let end = token(bare)
            .or_else(|| tag(bare).filter(|(_, is_break)| !is_break).map(|(size, _)| size));
        let Some(end) = end else { return size.max(1) };
        size += rest.len() - bare.len() + end;
    }
}

/// Returns true if a line comment holds a line of the statement: one that certainly belongs to it,
/// or `in_doubt` one that may.
pub(super) fn hides_line(sql: &str, in_doubt: bool) -> bool {
    if !sql.contains("\\n") {
        return false;
    }
    let is_one_line = !sql.trim().contains('\n');
    let mut at = 0;
    while at < sql.len() && (is_one_line || in_doubt) {
        let rest = &sql[at..];
        let Some(size) = measure_protected(rest) else {
            at += rest.chars().next().map_or(1, char::len_utf8);
            continue;
        };
        if comment_line_end(&rest[..size], is_one_line).is_some() {
            return true;
        }
        at += size;
    }
    false
}

/// Returns true if a text has signs outside of literals that are certainly not its own, though a
/// parser may take them: character references of a web page, characters beyond ASCII that stand for
/// those of SQL, and a line within a comment.
pub(super) fn is_damaged(sql: &str) -> bool {
    hides_line(sql, false)
        || outside(sql).any(|rest| match rest.chars().next() {
            Some('&') => reference(rest).is_some(),
            Some('\u{200b}' | '\u{2060}' | '\u{feff}') | None => false,
            Some(first) => !first.is_ascii() && find_damage(rest, Curly::Names).is_some(),
        })
}

/// The statement with plain blanks in the place of others, outside of literals.
pub(super) fn plain_blanks(sql: &str) -> Cow<'_, str> {
    if sql.is_ascii() {
        return Cow::Borrowed(sql);
    }
    let mut out = String::with_capacity(sql.len());
    let mut from = 0;
    for rest in outside(sql) {
        if let Some(blank) = rest.chars().next().filter(|c| is_odd_blank(*c)) {
            let at = sql.len() - rest.len();
            out.push_str(&sql[from..at]);
            out.push(' ');
            from = at + blank.len_utf8();
        }
    }
    out.push_str(&sql[from..]);
    Cow::Owned(out)
}

/// A query without brackets around all of it, which SQLite does not take.
pub(super) fn without_brackets(sql: &str) -> &str {
    let mut sql = sql;
    for _ in 0..BRACKETS {
        let Some(inner) = sql.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) else {
            break;
        };
        let mut open = 1_usize;
        let mut closes_early = false;
        for rest in outside(inner) {
            match rest.as_bytes().first() {
                Some(b'(') => open += 1,
                Some(b')') => open = open.saturating_sub(1),
                _ => {}
            }
            if open == 0 {
                closes_early = true;
                break;
            }
        }
        let inner = inner.trim();
        if closes_early || open != 1 || crate::statement::first_keyword(inner).is_none() {
            break;
        }
        sql = inner;
    }
    sql
}

/// Returns the text that follows each place outside of literals, quoted names and comments.
fn outside(sql: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(size) = sql.get(at..).and_then(measure_protected) {
            at += size;
        }
        let rest = sql.get(at..).filter(|rest| !rest.is_empty())?;
        at += rest.chars().next().map_or(1, char::len_utf8);
        Some(rest)
    })
}

/// The size of the literal, the quoted name or the comment that a text begins with.
fn measure_protected(text: &str) -> Option<usize> {
    fn position_after(text: &str, from: usize, end: &str) -> usize {
        let found = text.get(from..).and_then(|rest| rest.find(end));
        found.map_or(text.len(), |at| from + at + end.len())
    }
    match text.as_bytes().first()? {
        quote @ (b'\'' | b'"' | b'`') => {
            let end = text.bytes().skip(1).position(|byte| byte == *quote);
            Some(end.map_or(text.len(), |at| at + 2))
        }
        b'-' if text.starts_with("--") => Some(position_after(text, 2, "\n")),
        b'/' if text.starts_with("/*") => Some(position_after(text, 2, "*/")),
        b'$' => {
            let tag = text[1..]
                .bytes()
                .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
                .count()
                + 2;
            let is_tag = text.as_bytes().get(tag - 1) == Some(&b'$');
            is_tag.then(|| position_after(text, tag, text.get(..tag).unwrap_or("$$")))
        }
        _ => None,
    }
}

/// Returns the end of a line comment whose line break is written as `\n`. In a text of several
/// lines it may be a part of the comment, unless what follows continues the statement.
fn comment_line_end(comment: &str, is_one_line: bool) -> Option<usize> {
    let inside = comment.strip_prefix("--")?;
    let mut breaks = inside.match_indices("\\n").map(|(at, _)| at + 2);
    breaks.find(|at| is_one_line || continues_statement(&comment[at + 2..]))
}

/// A place of a statement that is not SQL.
enum Damage<'a> {
    /// The text ends here.
    End,
    /// So many bytes stand for this text.
    Instead(usize, Cow<'a, str>),
}

fn find_damage(rest: &str, curly: Curly) -> Option<Damage<'_>> {
    let first = rest.chars().next()?;
    let instead = |size: usize, new: &'static str| Some(Damage::Instead(size, Cow::Borrowed(new)));
    if let Some((size, new)) = literal(rest, curly) {
        return Some(Damage::Instead(size, Cow::Owned(new)));
    }
    match first {
        '\\' => match rest.as_bytes().get(1)? {
            b'n' | b'r' => instead(2, "\n"),
            b't' => instead(2, " "),
            b'_' => instead(2, "_"),
            b'*' => instead(2, "*"),
            _ => None,
        },
        '&' => {
            let (size, c) = reference(rest)?;
            Some(Damage::Instead(size, Cow::Owned(c.to_string())))
        }
        '<' | '[' if token(rest).is_some() => Some(Damage::End),
        '<' => tag(rest).and_then(
            |(size, is_break)| if is_break { instead(size, "\n") } else { Some(Damage::End) },
        ),
        '≤' => instead(first.len_utf8(), "<="),
        '≥' => instead(first.len_utf8(), ">="),
        '≠' => instead(first.len_utf8(), "<>"),
        '−' | '–' => instead(first.len_utf8(), "-"),
        '、' => instead(first.len_utf8(), ","),
        '。' => instead(first.len_utf8(), " "),
        '\u{ff01}'..='\u{ff5e}' => {
            let ascii =
                char::from_u32(u32::from(first) - 0xfee0).filter(char::is_ascii_punctuation)?;
            Some(Damage::Instead(first.len_utf8(), Cow::Owned(ascii.to_string())))
        }
        c if is_odd_blank(c) => instead(c.len_utf8(), " "),
        '\u{200b}' | '\u{2060}' | '\u{feff}' => instead(first.len_utf8(), ""),
        _ => None,
    }
}

/// A literal or a name between quotes that are not SQL's: its size, and how SQL writes it.
fn literal(rest: &str, curly: Curly) -> Option<(usize, String)> {
    let (open, quote) = QUOTES.into_iter().find(|(open, _)| rest.starts_with(open))?;
    let inside = &rest[open.len()..];
    let is_alike = |other: &str| {
        other.starts_with('\\') == open.starts_with('\\')
            && other.starts_with('&') == open.starts_with('&')
    };
    let closer = |text: &str| {
        let mut closers =
            QUOTES.into_iter().filter(|(close, same)| *same == quote && is_alike(close));
        closers.find(|(close, _)| text.starts_with(close)).map(|(close, _)| close.len())
    };
    let end =
        inside.char_indices().find_map(|(at, _)| closer(&inside[at..]).map(|size| (at, size)));
    let (end, close) = end.or_else(|| inside.find(quote).map(|at| (at, 1)))?;
    let text = &inside[..end];
    let text = if open.starts_with('&') { decode(text) } else { Cow::Borrowed(text) };
    let is_curly = !open.is_ascii();
    let quote = if is_curly && quote == '"' && curly == Curly::Texts { '\'' } else { quote };
    let doubled = [quote, quote].iter().collect::<String>();
    Some((open.len() + end + close, format!("{quote}{}{quote}", text.replace(quote, &doubled))))
}

/// The text with its character references decoded.
fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        let (size, c) = reference(&rest[at..]).unwrap_or((1, '&'));
        out.push(c);
        rest = &rest[at + size..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The size of the character reference that a text begins with, and its character.
fn reference(text: &str) -> Option<(usize, char)> {
    let inside = syrch_core::text::clip(text.strip_prefix('&')?, REFERENCE);
    let (name, _) = inside.split_once(';')?;
    let c = match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code).filter(|c| !c.is_control() || c.is_whitespace())?
        }
    };
    Some((name.len() + 2, c))
}

/// The size of the token of a chat template that a text begins with.
fn token(text: &str) -> Option<usize> {
    let known = TOKENS.into_iter().find(|token| {
        text.get(..token.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(token))
    });
    if let Some(known) = known {
        return Some(known.len());
    }
    let inside = text.strip_prefix("<|").or_else(|| text.strip_prefix("<｜"))?;
    let size = inside
        .char_indices()
        .take(TOKEN)
        .find(|(_, c)| !(c.is_alphanumeric() || "_-▁ ".contains(*c)))
        .map(|(at, _)| at)
        .filter(|at| *at > 0)?;
    let after = inside[size..].strip_prefix("|>").or_else(|| inside[size..].strip_prefix("｜>"))?;
    Some(text.len() - after.len())
}

/// The size of the closing tag or the line break that a text begins with, and whether it is a line
/// break.
fn tag(text: &str) -> Option<(usize, bool)> {
    let (inside, _) = syrch_core::text::clip(text.strip_prefix('<')?, TOKEN).split_once('>')?;
    let name = inside.trim_start_matches('/').trim_end_matches(['/', ' ']);
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    let is_break = ["br", "p", "div"].iter().any(|known| name.eq_ignore_ascii_case(known));
    (is_name && (is_break || inside.starts_with('/'))).then_some((inside.len() + 2, is_break))
}

/// Returns true if a character is a blank that SQL does not know.
fn is_odd_blank(c: char) -> bool {
    c.is_whitespace() && !c.is_ascii_whitespace() && c != '\u{b}'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mend_sql(sql: &str) -> String {
        mend(sql, Curly::Names).unwrap_or_else(|| sql.to_owned())
    }

    #[test]
    fn what_stands_for_a_character_of_sql_becomes_it() {
        for (sql, expected) in [
            (
                "SELECT “Full Name” FROM t WHERE a = ‘it''s’",
                "SELECT \"Full Name\" FROM t WHERE a = 'it''''s'",
            ),
            (
                "SELECT COUNT（＊） FROM t WHERE a ＝ 'x（y）'；",
                "SELECT COUNT(*) FROM t WHERE a = 'x（y）';",
            ),
            ("SELECT\u{a0}a,\u{202f}b\u{3000}FROM t", "SELECT a, b FROM t"),
            ("SELECT a\\nFROM t\\n\\tWHERE b = 'c\\nd'", "SELECT a\nFROM t\n WHERE b = 'c\\nd'"),
            ("-- one\\nSELECT a\\nFROM t", "-- one\nSELECT a\nFROM t"),
            (
                "a &lt; 5 AND b &gt;= 3 AND c = &#39;x &amp; y&#39;",
                "a < 5 AND b >= 3 AND c = 'x & y'",
            ),
            ("a &lt; 5 AND b = 'a&lt;b'", "a < 5 AND b = 'a&lt;b'"),
            ("SELECT a FROM t<|im_end|>\nnext", "SELECT a FROM t"),
            ("SELECT a FROM t;</s>", "SELECT a FROM t;"),
            ("SELECT a FROM t<｜end▁of▁sentence｜>", "SELECT a FROM t"),
            ("<|im_start|>SELECT a FROM t[/INST]", " SELECT a FROM t"),
            ("SELECT a FROM t</sql> That is it", "SELECT a FROM t"),
            ("SELECT a FROM t</sql> as asked", "SELECT a FROM t  as asked"),
            ("SELECT a FROM t</sql></s> WHERE b", "SELECT a FROM t  WHERE b"),
            ("SELECT a FROM t WHERE b [/inst] > 5<eos>\nDone", "SELECT a FROM t WHERE b   > 5"),
            ("SELECT a FROM t<|im_end|>\nORDER BY a", "SELECT a FROM t \nORDER BY a"),
            ("SELECT a<br>FROM t<br/>", "SELECT a\nFROM t\n"),
            ("SELECT COUNT(\\*) FROM my\\_table", "SELECT COUNT(*) FROM my_table"),
            ("SELECT \\\"a b\\\" FROM t", "SELECT \"a b\" FROM t"),
            ("a ≥ 3 AND b ≠ −1", "a >= 3 AND b <> -1"),
        ] {
            assert_eq!(mend_sql(sql), expected, "{sql}");
        }
        assert_eq!(mend("a = “open”", Curly::Texts).as_deref(), Some("a = 'open'"));
    }

    #[test]
    fn what_is_sql_is_not_mended() {
        for sql in [
            "SELECT 'a&lt;b', '“x”', '<|im_end|>', '（）', 'a\u{a0}b' FROM t",
            "SELECT \"näme\" FROM \"t</s>\" -- “as asked”",
            "SELECT a <b AND c> d, e & f, g[1], h->'$.x' FROM t /* ‘x’ */",
            "SELECT $$ “x” $$, $a$ ； $a$, größe FROM 表",
        ] {
            assert_eq!(mend(sql, Curly::Names), None, "{sql}");
            assert_eq!(plain_blanks(sql), sql);
        }
    }

    #[test]
    fn brackets_around_all_of_it_are_removed() {
        assert_eq!(without_brackets("(SELECT ')' FROM t)"), "SELECT ')' FROM t");
        assert_eq!(
            without_brackets("((WITH a AS (SELECT 1) SELECT * FROM a))"),
            "WITH a AS (SELECT 1) SELECT * FROM a"
        );
        for sql in ["(SELECT 1) UNION (SELECT 2)", "(SELECT 1", "(1)", "SELECT (1)"] {
            assert_eq!(without_brackets(sql), sql);
        }
    }

    #[test]
    fn damage_is_found_outside_of_literals() {
        for sql in ["a &lt; 5", "a = &#39;x&#39;", "a = ‘x’", "f（a)", "a\u{a0}b"] {
            assert!(is_damaged(sql), "{sql}");
        }
        for sql in ["a = '&lt;‘x’（'", "a & b;", "a &unknown; b", "größe = 表", "a[inst] <eos> b"]
        {
            assert!(!is_damaged(sql), "{sql}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "(?s).{0,200}") {
            let _ = (mend(&text, Curly::Names), mend(&text, Curly::Texts), is_damaged(&text));
            let _ = (plain_blanks(&text), without_brackets(&text));
        }

        #[test]
        fn damage_inside_a_literal_stays(text in "[“”‘’（），；＝\u{a0}&;a-z<>|/\\\\]{0,20}") {
            let sql = format!("SELECT '{text}'， \"{text}\" FROM t");
            prop_assert_eq!(mend_sql(&sql), format!("SELECT '{text}', \"{text}\" FROM t"));
        }
    }
}
