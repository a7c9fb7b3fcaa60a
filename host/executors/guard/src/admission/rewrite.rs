//! Forms that an engine has and the parser lacks are written in words that it knows before it reads
//! the text.

use std::borrow::Cow;

use syrch_core::Dialect;

use crate::{Token, lex};

/// A text for the parser.
pub(crate) struct Source<'t> {
    pub(crate) text: Cow<'t, str>,
    /// The byte from which on the text is longer than the original, and by how many bytes.
    longer: Option<(u32, u32)>,
}

impl Source<'_> {
    /// The byte of the original that stands at this byte.
    pub(crate) fn original(&self, position: u32) -> u32 {
        match self.longer {
            Some((from, by)) if position > from => position.saturating_sub(by).max(from),
            _ => position,
        }
    }
}

/// The operator that stands for SYMMETRIC: one that no version from 14 on has, and that the walk
/// refuses everywhere else.
const SYMMETRIC: &str = "!!";

/// Rewrites a text for PostgreSQL: `TABLE t` at the start becomes `SELECT * FROM t`, and of
/// `BETWEEN SYMMETRIC` the second word becomes an operator of the lower bound that the walk finds
/// there. A text that cannot be read stays as it is.
pub(crate) fn rewrite<'t>(text: &'t str, dialect: &Dialect, comment_depth: usize) -> Source<'t> {
    let unchanged = || Source { text: Cow::Borrowed(text), longer: None };
    // Most texts hold neither word and need no look at their tokens.
    if *dialect != Dialect::Postgres || !["table", "symmetric"].iter().any(|word| holds(text, word))
    {
        return unchanged();
    }
    let Ok(tokens) = lex(text, dialect, comment_depth) else {
        return unchanged();
    };
    let tokens: Vec<Token> = tokens.into_iter().filter(Token::is_significant).collect();
    let is = |token: &Token, word: &str| token.text(text).eq_ignore_ascii_case(word);
    let mut source = unchanged();
    for pair in tokens.windows(2) {
        if is(&pair[0], "between") && is(&pair[1], "symmetric") {
            let start = pair[1].start;
            let end = pair[1].end;
            source
                .text
                .to_mut()
                .replace_range(start..end, &format!("{SYMMETRIC:<width$}", width = end - start));
        } else if is(&pair[0], "between") && is(&pair[1], "asymmetric") {
            let start = pair[1].start;
            let end = pair[1].end;
            source.text.to_mut().replace_range(start..end, &" ".repeat(end - start));
        }
    }
    if let Some(first) =
        tokens.iter().find(|token| token.text(text) != "(").filter(|token| is(token, "table"))
    {
        const QUERY: &str = "SELECT * FROM";
        source.text.to_mut().replace_range(first.start..first.end, QUERY);
        let longer = QUERY.len() - (first.end - first.start);
        source.longer = u32::try_from(first.start).ok().zip(u32::try_from(longer).ok());
    }
    source
}

/// Returns true if a text holds a word, letter case aside.
fn holds(text: &str, word: &str) -> bool {
    let bytes = text.as_bytes();
    let word = word.as_bytes();
    let first = |byte: &u8| word.first().is_some_and(|first| byte.eq_ignore_ascii_case(first));
    let starts = bytes.iter().enumerate().filter(|(_, byte)| first(byte));
    starts.into_iter().any(|(at, _)| {
        bytes[at..].get(..word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word))
    })
}
