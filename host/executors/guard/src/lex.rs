//! A linear lexer: it knows no grammar, only where strings, quoted names and comments begin and end
//! in each dialect. Everything that must be decided before a parser may see a text is decided on
//! its tokens.

use syrch_core::{Dialect, DoubleQuotes, Syntax};

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A keyword or a plain name.
    Word,
    /// A quoted name, quotes included.
    Quoted,
    /// A string, quotes included.
    Text,
    /// An unsigned numeric literal.
    Number,
    /// A placeholder for a bound value.
    Parameter,
    /// One character of punctuation.
    Symbol,
    /// A comment to the end of the line, or between its delimiters.
    Comment,
    /// One or more characters of white space.
    Space,
}

/// A token as a range of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// The kind of the token.
    pub kind: Kind,
    /// The position of its first byte in the text.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
}

impl Token {
    /// The part of `text` that the token covers; `text` must be the text that was tokenised.
    #[must_use]
    pub fn text<'t>(&self, text: &'t str) -> &'t str {
        &text[self.start..self.end]
    }

    /// Returns true if a parser would see it.
    #[must_use]
    pub fn is_significant(&self) -> bool {
        !matches!(self.kind, Kind::Comment | Kind::Space)
    }

    /// The plain name that a word or a quoted name stands for.
    #[must_use]
    pub fn name(&self, text: &str) -> Option<String> {
        let raw = self.text(text);
        match self.kind {
            Kind::Word => Some(raw.to_owned()),
            Kind::Quoted => {
                let close = raw.chars().next_back()?;
                let inner = raw.get(1..raw.len() - close.len_utf8())?;
                Some(if close == ']' {
                    inner.to_owned()
                } else {
                    inner.replace(&format!("{close}{close}"), &close.to_string())
                })
            }
            _ => None,
        }
    }
}

/// The reason why a text has no tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LexError {
    /// Something opens and never closes.
    #[error("unterminated {what}")]
    Unterminated {
        /// The construct that has no end, such as a comment or a string.
        what: &'static str,
        /// The byte at which it begins.
        start: usize,
    },
    /// Comments within comments, deeper than allowed.
    #[error("comments are nested more than {limit} deep")]
    CommentDepth {
        /// The depth that is allowed.
        limit: usize,
        /// The byte at which the comment begins.
        start: usize,
    },
}

/// Splits a text into all its tokens, in order and without gaps.
///
/// # Errors
/// [`LexError`] when something never ends, or comments nest deeper than `comment_depth`.
pub fn lex(text: &str, dialect: &Dialect, comment_depth: usize) -> Result<Vec<Token>, LexError> {
    let mut lexer = Lexer { text, bytes: text.as_bytes(), syntax: dialect.syntax(), comment_depth };
    let mut tokens: Vec<Token> = Vec::new();
    let mut start = 0;
    while start < text.len() {
        // The token right before a string may be its prefix.
        let prefix =
            || tokens.last().filter(|last| last.end == start).map_or("", |last| last.text(text));
        let is_quote = matches!(lexer.byte_at(start), b'\'' | b'"');
        let backslash = match if is_quote { prefix() } else { "" } {
            "e" | "E" => lexer.syntax.has_backslashes() || lexer.syntax.escape_prefix,
            "r" | "R" => lexer.syntax.has_backslashes() && !lexer.syntax.raw_prefix,
            _ => lexer.syntax.has_backslashes(),
        };
        let (kind, end) = lexer.token(start, backslash)?;
        tokens.push(Token { kind, start, end });
        start = end;
    }
    Ok(tokens)
}

struct Lexer<'t> {
    text: &'t str,
    bytes: &'t [u8],
    syntax: &'static Syntax,
    comment_depth: usize,
}

impl Lexer<'_> {
    fn byte_at(&self, position: usize) -> u8 {
        self.bytes.get(position).copied().unwrap_or(0)
    }

    fn token(&mut self, start: usize, backslash: bool) -> Result<(Kind, usize), LexError> {
        let next = self.byte_at(start + 1);
        match self.byte_at(start) {
            byte if byte.is_ascii_whitespace() => {
                Ok((Kind::Space, self.run(start, |b| b.is_ascii_whitespace())))
            }
            // A byte order mark is white space to the engines that accept it at all.
            0xEF if self.text[start..].starts_with('\u{feff}') => Ok((Kind::Space, start + 3)),
            b'-' if next == b'-' => Ok((Kind::Comment, self.run(start, |b| b != b'\n'))),
            b'#' if self.syntax.hash_comments => {
                Ok((Kind::Comment, self.run(start, |b| b != b'\n')))
            }
            b'/' if next == b'*' => Ok((Kind::Comment, self.comment(start)?)),
            b'\'' => Ok((Kind::Text, self.scan_quoted(start, b'\'', backslash, "string")?)),
            b'"' if self.syntax.double_quotes == DoubleQuotes::Text => {
                Ok((Kind::Text, self.scan_quoted(start, b'"', backslash, "string")?))
            }
            b'"' => Ok((Kind::Quoted, self.scan_quoted(start, b'"', false, "quoted name")?)),
            b'`' if self.syntax.backtick_names => {
                Ok((Kind::Quoted, self.scan_quoted(start, b'`', false, "quoted name")?))
            }
            b'[' if self.syntax.bracket_names => Ok((Kind::Quoted, self.scan_bracketed(start)?)),
            b'$' if self.syntax.dollar_quotes && self.dollar_tag(start).is_some() => {
                Ok((Kind::Text, self.dollar_quoted(start)?))
            }
            byte if self.syntax.parameters.as_bytes().contains(&byte)
                && (byte == b'?' || is_name(next)) =>
            {
                Ok((Kind::Parameter, self.run(start + 1, is_name)))
            }
            byte if byte.is_ascii_digit() => {
                Ok((Kind::Number, self.run(start, |b| is_name(b) || b == b'.')))
            }
            byte if is_name(byte) && byte != b'$' => Ok((Kind::Word, self.run(start, is_name))),
            _ => {
                let width = self.text[start..].chars().next().map_or(1, char::len_utf8);
                Ok((Kind::Symbol, start + width))
            }
        }
    }

    fn run(&self, start: usize, inside: impl Fn(u8) -> bool) -> usize {
        self.bytes[start..]
            .iter()
            .position(|byte| !inside(*byte))
            .map_or(self.bytes.len(), |length| start + length)
    }

    fn comment(&self, start: usize) -> Result<usize, LexError> {
        let mut position = start + 2;
        let mut depth = 1;
        while position + 1 < self.bytes.len() {
            match (self.byte_at(position), self.byte_at(position + 1)) {
                (b'*', b'/') => {
                    depth -= 1;
                    position += 2;
                    if depth == 0 {
                        return Ok(position);
                    }
                }
                (b'/', b'*') if self.syntax.nested_comments => {
                    depth += 1;
                    if depth > self.comment_depth {
                        return Err(LexError::CommentDepth { limit: self.comment_depth, start });
                    }
                    position += 2;
                }
                _ => position += 1,
            }
        }
        Err(LexError::Unterminated { what: "comment", start })
    }

    fn scan_quoted(
        &self,
        start: usize,
        quote: u8,
        backslash: bool,
        what: &'static str,
    ) -> Result<usize, LexError> {
        let mut position = start + 1;
        while position < self.bytes.len() {
            match self.byte_at(position) {
                b'\\' if backslash => position += 2,
                byte if byte == quote && self.byte_at(position + 1) == quote => position += 2,
                byte if byte == quote => return Ok(position + 1),
                _ => position += 1,
            }
        }
        Err(LexError::Unterminated { what, start })
    }

    fn scan_bracketed(&self, start: usize) -> Result<usize, LexError> {
        let end = self.bytes[start..].iter().position(|byte| *byte == b']');
        end.map(|length| start + length + 1)
            .ok_or(LexError::Unterminated { what: "quoted name", start })
    }

    /// The tag of a dollar quote, dollars included.
    fn dollar_tag(&self, start: usize) -> Option<&str> {
        let end = self.run(start + 1, |byte| is_name(byte) && byte != b'$');
        let numbered = self.byte_at(start + 1).is_ascii_digit();
        (self.byte_at(end) == b'$' && !numbered).then(|| &self.text[start..=end])
    }

    fn dollar_quoted(&self, start: usize) -> Result<usize, LexError> {
        let unterminated = LexError::Unterminated { what: "dollar-quoted string", start };
        let tag = self.dollar_tag(start).ok_or(unterminated)?;
        let body = start + tag.len();
        self.text[body..].find(tag).map(|length| body + length + tag.len()).ok_or(unterminated)
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kinds(text: &str, dialect: Dialect) -> Vec<(Kind, &str)> {
        let tokens = lex(text, &dialect, 8).unwrap();
        tokens
            .iter()
            .filter(|token| token.is_significant())
            .map(|token| (token.kind, token.text(text)))
            .collect()
    }

    #[test]
    fn quotes_hide_what_they_hold() {
        use Kind::{Quoted, Symbol, Text, Word};
        assert_eq!(
            kinds("a 'b;''c' \"d;\"\"\" [e;] `f;` ; -- g;\n h", Dialect::Sqlite),
            [
                (Word, "a"),
                (Text, "'b;''c'"),
                (Quoted, "\"d;\"\"\""),
                (Quoted, "[e;]"),
                (Quoted, "`f;`"),
                (Symbol, ";"),
                (Word, "h")
            ]
        );
    }

    #[test]
    fn comments_nest_where_the_dialect_nests_them() {
        assert_eq!(kinds("/* a /* b */ c", Dialect::Sqlite), [(Kind::Word, "c")]);
        assert_eq!(kinds("/* a /* b */ c */ d", Dialect::Postgres), [(Kind::Word, "d")]);
        assert!(matches!(
            lex("/* a /* b */", &Dialect::Postgres, 8),
            Err(LexError::Unterminated { start: 0, .. })
        ));
        assert!(matches!(
            lex(&"/*".repeat(9), &Dialect::Postgres, 8),
            Err(LexError::CommentDepth { .. })
        ));
    }

    #[test]
    fn dialects_differ_in_their_strings() {
        assert_eq!(kinds(r"'a\'", Dialect::Sqlite), [(Kind::Text, r"'a\'")]);
        assert_eq!(kinds(r"'a\'b'", Dialect::Spark), [(Kind::Text, r"'a\'b'")]);
        assert_eq!(
            kinds(r"E'a\'b'", Dialect::Postgres),
            [(Kind::Word, "E"), (Kind::Text, r"'a\'b'")]
        );
        assert_eq!(kinds(r"r'a\' ; 'b'", Dialect::Spark)[1], (Kind::Text, r"'a\'"));
        assert_eq!(kinds("$x$ ; $y$ $x$", Dialect::Postgres), [(Kind::Text, "$x$ ; $y$ $x$")]);
        assert_eq!(kinds("$1", Dialect::Postgres), [(Kind::Parameter, "$1")]);
    }

    #[test]
    fn names_lose_their_quotes() {
        for (text, name) in
            [("\"a\"\"b\"", "a\"b"), ("[a b]", "a b"), ("`x`", "x"), ("plain", "plain")]
        {
            let tokens = lex(text, &Dialect::Sqlite, 8).unwrap();
            assert_eq!(tokens[0].name(text).as_deref(), Some(name));
        }
    }

    proptest! {
        #[test]
        fn tokens_cover_the_text_without_gaps(text in "\\PC{0,60}|[-/*'\"`\\[\\];$a\n(]{0,40}") {
            for dialect in [Dialect::Sqlite, Dialect::Postgres, Dialect::Mysql, Dialect::Spark] {
                if let Ok(tokens) = lex(&text, &dialect, 8) {
                    let mut at = 0;
                    for token in tokens {
                        prop_assert_eq!(token.start, at);
                        prop_assert!(token.end > at && text.is_char_boundary(token.end));
                        at = token.end;
                    }
                    prop_assert_eq!(at, text.len());
                }
            }
        }
    }
}
