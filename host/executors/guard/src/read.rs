//! Converts the tokens of the lexer to those of the parser, so that both agree where a string ends,
//! and so that a string has the value that the engine gives it. The parser's own tokenizer reads
//! what is left: operators, numbers and strings with a prefix.

use std::collections::HashMap;
use std::sync::LazyLock;

use sqlparser::dialect::{Dialect as Grammar, PostgreSqlDialect};
use sqlparser::keywords::{ALL_KEYWORDS, ALL_KEYWORDS_INDEX, Keyword};
use sqlparser::tokenizer::{
    Location, Span, Token as Symbol, TokenWithSpan, Tokenizer, TokenizerError, Word,
};
use syrch_core::{Dialect, Escapes, Syntax};

use crate::admission::Rules;
use crate::carry;
use crate::{Kind, Token};

/// DuckDB's other sign for a power.
pub(crate) const POWER: &str = "**";

/// The rules by which the statements of a dialect become tokens of the parser.
pub(crate) struct Reading {
    pub(crate) grammar: &'static dyn Grammar,
    dialect: Dialect,
    syntax: &'static Syntax,
}

impl Reading {
    pub(crate) fn for_dialect(dialect: &Dialect) -> Self {
        let grammar = Rules::for_dialect(dialect).grammar;
        Self { grammar, dialect: dialect.clone(), syntax: dialect.syntax() }
    }

    /// Returns the function that gives a string its value, by its text between the quotes and its
    /// quote; it returns `None` if engines of the dialect differ about it.
    fn unescape(&self) -> fn(&str, char) -> Option<String> {
        match self.syntax.escapes {
            Escapes::Never => undouble_quotes,
            Escapes::Spark => spark,
            Escapes::Unclear | Escapes::Some => unambiguous,
        }
    }

    /// Returns true if `r'…'` is a string in which a backslash stands for itself.
    fn has_raw_strings(&self) -> bool {
        self.syntax.raw_prefix && self.syntax.escapes == Escapes::Spark
    }

    /// The parser's tokens of a text, by the lexer's. White space and comments are left out: the
    /// parser skips them.
    pub(crate) fn tokens(
        &self,
        text: &str,
        lexed: &[Token],
    ) -> Result<Vec<TokenWithSpan>, TokenizerError> {
        let mut reader = Reader {
            reading: self,
            text,
            lexed,
            found: Vec::with_capacity(lexed.len()),
            place: Place::START,
        };
        let mut index = 0;
        while index < lexed.len() {
            index = reader.next(index)?;
        }
        carry::carry(reader.found, &self.dialect)
    }
}

/// A place in a text, as the parser counts.
#[derive(Clone, Copy)]
struct Place {
    byte: usize,
    line: u64,
    column: u64,
}

impl Place {
    const START: Self = Self { byte: 0, line: 1, column: 1 };

    fn advance(&mut self, text: &str, byte: usize) {
        let passed = &text[self.byte..byte];
        if passed.bytes().all(|byte| byte.is_ascii() && byte != b'\n') {
            self.column += passed.len() as u64;
            self.byte = byte;
            return;
        }
        for letter in passed.chars() {
            if letter == '\n' {
                (self.line, self.column) = (self.line + 1, 1);
            } else {
                self.column += 1;
            }
        }
        self.byte = byte;
    }

    fn location(&self) -> Location {
        Location::new(self.line, self.column)
    }
}

struct Reader<'t> {
    reading: &'t Reading,
    text: &'t str,
    lexed: &'t [Token],
    found: Vec<TokenWithSpan>,
    place: Place,
}

impl<'t> Reader<'t> {
    /// Reads what begins at a token, and returns the index of the token after it.
    fn next(&mut self, index: usize) -> Result<usize, TokenizerError> {
        let token = self.lexed[index];
        let text = token.text(self.text);
        match token.kind {
            Kind::Space | Kind::Comment => {
                self.place.advance(self.text, token.end);
                Ok(index + 1)
            }
            Kind::Quoted => {
                let quote = text.chars().next();
                let name = token.name(self.text).unwrap_or_default();
                self.push(
                    Symbol::Word(Word {
                        value: name,
                        quote_style: quote,
                        keyword: Keyword::NoKeyword,
                    }),
                    token.end,
                );
                Ok(index + 1)
            }
            Kind::Text if text.starts_with(['\'', '"']) => {
                self.string(index, token.start + 1, self.reading.unescape())
            }
            Kind::Word
                if self.is_text(index + 1)
                    && self.reading.has_raw_strings()
                    && text.eq_ignore_ascii_case("r") =>
            {
                self.string(index + 1, self.lexed[index + 1].start + 1, |inner, _| {
                    Some(inner.to_owned())
                })
            }
            Kind::Word if self.is_unicode(index) => self.unicode(index),
            Kind::Word if !self.is_prefix(index) => {
                self.push(
                    Symbol::Word(Word {
                        value: text.to_owned(),
                        quote_style: None,
                        keyword: keyword(text),
                    }),
                    token.end,
                );
                Ok(index + 1)
            }
            // A power in DuckDB.
            Kind::Symbol
                if text == "*"
                    && self.reading.dialect == Dialect::Duckdb
                    && self.adjacent(index + 1).is_some_and(|next| next.text(self.text) == "*") =>
            {
                self.push(
                    Symbol::CustomBinaryOperator(POWER.to_owned()),
                    self.lexed[index + 1].end,
                );
                Ok(index + 2)
            }
            Kind::Symbol => match self.symbol(index) {
                Some(symbol) => {
                    self.push(symbol, token.end);
                    Ok(index + 1)
                }
                None => self.read_others(index),
            },
            Kind::Number if is_plain_number(text) && !self.is_prefix(index) => {
                self.push(Symbol::Number(text.to_owned(), false), token.end);
                Ok(index + 1)
            }
            Kind::Word | Kind::Text | Kind::Number | Kind::Parameter => self.read_others(index),
        }
    }

    fn push(&mut self, token: Symbol, end: usize) {
        let start = self.place.location();
        self.place.advance(self.text, end);
        self.found.push(TokenWithSpan { token, span: Span::new(start, self.place.location()) });
    }

    fn string(
        &mut self,
        index: usize,
        start: usize,
        unescape: fn(&str, char) -> Option<String>,
    ) -> Result<usize, TokenizerError> {
        let end = self.lexed[index].end;
        let quote = if self.text[..start].ends_with('"') { '"' } else { '\'' };
        match unescape(&self.text[start..end - 1], quote) {
            Some(value) => self.push(Symbol::SingleQuotedString(value), end),
            None => {
                let message =
                    "a string with a backslash is read differently by engines of this dialect"
                        .to_owned();
                return Err(TokenizerError { message, location: self.place.location() });
            }
        }
        Ok(index + 1)
    }

    /// The token at an index, if nothing stands before it.
    fn adjacent(&self, index: usize) -> Option<&'t Token> {
        self.lexed.get(index).filter(|token| token.is_significant())
    }

    fn is_text(&self, index: usize) -> bool {
        self.adjacent(index).is_some_and(|token| {
            token.kind == Kind::Text && token.text(self.text).starts_with(['\'', '"'])
        })
    }

    /// Returns true if a word is a prefix of the string behind it.
    fn is_prefix(&self, index: usize) -> bool {
        if !self.reading.syntax.escape_prefix || self.lexed[index].kind != Kind::Word {
            return false;
        }
        let is_and = self.adjacent(index + 1).is_some_and(|next| next.text(self.text) == "&");
        self.is_text(index + 1) || (is_and && self.is_text(index + 2))
    }

    /// Returns true if a word begins `U&"…"`, or a text of this form that the parser does not read.
    fn is_unicode(&self, index: usize) -> bool {
        let is = |by: usize, text: &str| {
            self.adjacent(index + by)
                .is_some_and(|token| token.text(self.text).eq_ignore_ascii_case(text))
        };
        let kind = |by: usize| self.adjacent(index + by).map(|token| token.kind);
        let is_text = kind(2) == Some(Kind::Text) && self.reading.dialect == Dialect::Duckdb;
        self.reading.syntax.escape_prefix
            && is(0, "u")
            && is(1, "&")
            && (kind(2) == Some(Kind::Quoted) || is_text)
    }

    /// A name in which letters have their numbers: `U&"d\0061ta"`.
    fn unicode(&mut self, index: usize) -> Result<usize, TokenizerError> {
        let refused = |why: &str| {
            let message = format!("not supported: {why}");
            Err(TokenizerError { message, location: self.place.location() })
        };
        if self.reading.dialect != Dialect::Postgres {
            return refused("U& before a name or a text");
        }
        let quoted = self.lexed[index + 2];
        let behind = self.lexed[index + 3..].iter().find(|token| token.is_significant());
        if behind.is_some_and(|token| token.text(self.text).eq_ignore_ascii_case("uescape")) {
            return refused("UESCAPE; write the letters as they are");
        }
        let Some(value) = quoted.name(self.text).as_deref().and_then(decode) else {
            return refused("this name with U&; write its letters as they are");
        };
        self.push(
            Symbol::Word(Word { value, quote_style: Some('"'), keyword: Keyword::NoKeyword }),
            quoted.end,
        );
        Ok(index + 3)
    }

    /// A symbol that is a token of its own: whatever stands around it, or because no other operator
    /// stands behind it.
    fn symbol(&self, index: usize) -> Option<Symbol> {
        let next = self.adjacent(index + 1);
        let is_alone =
            next.is_none_or(|next| next.kind != Kind::Symbol || is_bracket(next.text(self.text)));
        Some(match self.lexed[index].text(self.text) {
            "(" => Symbol::LParen,
            ")" => Symbol::RParen,
            "," => Symbol::Comma,
            ";" => Symbol::SemiColon,
            "[" => Symbol::LBracket,
            "]" => Symbol::RBracket,
            "{" => Symbol::LBrace,
            "}" => Symbol::RBrace,
            "*" => Symbol::Mul,
            "+" => Symbol::Plus,
            "." if next.is_some_and(|next| {
                matches!(next.kind, Kind::Word | Kind::Quoted) || next.text(self.text) == "*"
            }) =>
            {
                Symbol::Period
            }
            "=" if is_alone => Symbol::Eq,
            "<" if is_alone => Symbol::Lt,
            ">" if is_alone => Symbol::Gt,
            "-" if is_alone => Symbol::Minus,
            "/" if is_alone => Symbol::Div,
            _ => return None,
        })
    }

    /// Reads with the parser's tokenizer to the next space or to a string or name that has no
    /// prefix.
    fn read_others(&mut self, index: usize) -> Result<usize, TokenizerError> {
        let start = self.lexed[index].start;
        let is_operator = self.lexed[index].kind == Kind::Symbol
            && !matches!(self.lexed[index].text(self.text), "." | "$" | "?" | "@" | "#");
        let mut end = index + 1;
        while let Some(token) = self.adjacent(end) {
            let belongs = match token.kind {
                // A point begins a number, as in `a<.5`.
                Kind::Symbol if is_operator => {
                    !is_bracket(token.text(self.text)) && token.text(self.text) != "."
                }
                Kind::Symbol | Kind::Word | Kind::Number | Kind::Parameter => !is_operator,
                Kind::Text => {
                    self.is_prefix(end - 1) || (end > index + 1 && self.is_prefix(end - 2))
                }
                Kind::Quoted | Kind::Comment | Kind::Space => false,
            };
            if !belongs {
                break;
            }
            end += 1;
        }
        let stop = self.lexed[end - 1].end;
        let base = self.place;
        let shifted = |at: Location| match at.line {
            1 => Location::new(base.line, base.column + at.column - 1),
            line => Location::new(base.line + line - 1, at.column),
        };
        let tokens =
            Tokenizer::new(self.reading.grammar, &self.text[start..stop]).tokenize_with_location();
        let tokens = tokens
            .map_err(|error| TokenizerError { location: shifted(error.location), ..error })?;
        // `1_000` is one number to some engines, and a number with another name to the parser.
        fn is_glued(pair: &&[TokenWithSpan]) -> bool {
            matches!((&pair[0].token, &pair[1].token), (Symbol::Number(..), Symbol::Word(_)))
        }
        if let Some(pair) = tokens.windows(2).find(is_glued) {
            let message = "not supported: a word or `_` right behind a number".to_owned();
            return Err(TokenizerError { message, location: shifted(pair[1].span.start) });
        }
        let is_postgres = self.reading.grammar.is::<PostgreSqlDialect>();
        // The parser takes strings of this form in the grammar of PostgreSQL only.
        let plain = |token: Symbol| match token {
            Symbol::EscapedStringLiteral(text) if !is_postgres => Symbol::SingleQuotedString(text),
            Symbol::DollarQuotedString(text) if !is_postgres => {
                Symbol::SingleQuotedString(text.value)
            }
            token => token,
        };
        self.found.extend(
            tokens
                .into_iter()
                .filter(|token: &TokenWithSpan| !matches!(token.token, Symbol::Whitespace(_)))
                .map(|TokenWithSpan { token, span }| TokenWithSpan {
                    token: plain(token),
                    span: Span::new(shifted(span.start), shifted(span.end)),
                }),
        );
        self.place.advance(self.text, stop);
        Ok(end)
    }
}

/// The letters of a name in which a backslash stands before a number of four digits, or before `+`
/// and one of six.
fn decode(name: &str) -> Option<String> {
    let mut value = String::with_capacity(name.len());
    let mut rest = name;
    while let Some((before, behind)) = rest.split_once('\\') {
        value.push_str(before);
        if let Some(behind) = behind.strip_prefix('\\') {
            value.push('\\');
            rest = behind;
            continue;
        }
        let (start, length) = if behind.starts_with('+') { (1, 6) } else { (0, 4) };
        let digits = behind.get(start..start + length)?;
        let is_number = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let letter =
            u32::from_str_radix(digits, 16).ok().filter(|_| is_number).and_then(char::from_u32)?;
        value.push(Some(letter).filter(|letter| *letter != '\0')?);
        rest = &behind[start + length..];
    }
    value.push_str(rest);
    Some(value)
}

/// The keyword that a word is. The parser's own search, a binary one that takes each letter for
/// itself, takes five times as long.
fn keyword(word: &str) -> Keyword {
    static KEYWORDS: LazyLock<HashMap<&str, Keyword>> = LazyLock::new(|| {
        ALL_KEYWORDS.iter().copied().zip(ALL_KEYWORDS_INDEX.iter().copied()).collect()
    });
    let mut upper = [0; 64];
    let Some(upper) = upper.get_mut(..word.len()) else { return Keyword::NoKeyword };
    upper.copy_from_slice(word.as_bytes());
    upper.make_ascii_uppercase();
    let known = str::from_utf8(upper).ok().and_then(|word| KEYWORDS.get(word));
    known.copied().unwrap_or(Keyword::NoKeyword)
}

/// Symbols that belong to no operator.
fn is_bracket(symbol: &str) -> bool {
    matches!(symbol, "(" | ")" | "," | ";" | "[" | "]")
}

/// Digits, or digits with one point between them.
fn is_plain_number(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    fn is_digits(part: &str) -> bool {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit())
    }
    is_digits(whole) && is_digits(fraction)
}

/// A string in which only its quote is doubled.
fn undouble_quotes(inner: &str, quote: char) -> Option<String> {
    let (two, one) = if quote == '"' { ("\"\"", "\"") } else { ("''", "'") };
    Some(if inner.contains(quote) { inner.replace(two, one) } else { inner.to_owned() })
}

/// Does the same as [`undouble_quotes`], but returns `None` for a string with a backslash, about
/// which engines or their settings differ.
fn unambiguous(inner: &str, quote: char) -> Option<String> {
    if inner.contains('\\') { None } else { undouble_quotes(inner, quote) }
}

/// A string with the escapes of Spark. A pair of quotes is one quote, as it is from Spark 4 on.
fn spark(inner: &str, quote: char) -> Option<String> {
    if !inner.contains('\\') {
        return undouble_quotes(inner, quote);
    }
    let mut value = String::with_capacity(inner.len());
    let mut rest = inner.chars();
    while let Some(letter) = rest.next() {
        if letter == quote {
            rest.next();
        }
        if letter != '\\' {
            value.push(letter);
            continue;
        }
        let code = |digits: usize, radix: u32, skip: usize| {
            let digits: String = rest.as_str().chars().skip(skip).take(digits).collect();
            let is_whole = digits.bytes().all(|byte| char::from(byte).is_digit(radix));
            u32::from_str_radix(&digits, radix)
                .ok()
                .filter(|_| is_whole)
                .and_then(char::from_u32)
                .map(|c| (c, digits.len()))
        };
        let coded = if rest.as_str().starts_with('u') {
            code(4, 16, 1).filter(|(_, length)| *length == 4).map(|(c, length)| (c, length + 1))
        } else if rest.as_str().starts_with('U') {
            code(8, 16, 1).filter(|(_, length)| *length == 8).map(|(c, length)| (c, length + 1))
        } else if rest.as_str().starts_with(['0', '1']) {
            code(3, 8, 0).filter(|(_, length)| *length == 3)
        } else {
            None
        };
        if let Some((letter, length)) = coded {
            value.push(letter);
            rest.nth(length - 1);
            continue;
        }
        match rest.next()? {
            '0' => value.push('\0'),
            'b' => value.push('\u{8}'),
            'n' => value.push('\n'),
            'r' => value.push('\r'),
            't' => value.push('\t'),
            'Z' => value.push('\u{1a}'),
            kept @ ('%' | '_') => value.extend(['\\', kept]),
            other => value.push(other),
        }
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::lex;

    fn tokens(text: &str, dialect: &Dialect) -> Result<Vec<TokenWithSpan>, String> {
        let lexed = lex(text, dialect, 8).map_err(|error| error.to_string())?;
        Reading::for_dialect(dialect).tokens(text, &lexed).map_err(|error| error.to_string())
    }

    fn strings(text: &str, dialect: &Dialect) -> Vec<String> {
        tokens(text, dialect)
            .unwrap()
            .into_iter()
            .filter_map(|token: TokenWithSpan| match token.token {
                Symbol::SingleQuotedString(text) => Some(text),
                _ => None,
            })
            .collect()
    }

    /// Returns the tokens of the parser's own tokenizer, without those that the parser skips.
    fn theirs(text: &str, grammar: &dyn Grammar) -> Result<Vec<TokenWithSpan>, String> {
        let tokens = Tokenizer::new(grammar, text)
            .tokenize_with_location()
            .map_err(|error| error.to_string())?;
        Ok(tokens
            .into_iter()
            .filter(|token| !matches!(token.token, Symbol::Whitespace(_)))
            .collect())
    }

    #[test]
    fn strings_have_the_value_that_the_engine_gives_them() {
        for (text, value) in [
            (r"'a\'b'", "a'b"),
            (r"'a\\b\nc\q\%'", "a\\b\ncq\\%"),
            (r"'\u0041\U0001F600\101\0'", "A\u{1F600}A\0"),
            (r"'\u00', 'x'", "u00"),
            (r#""it's" "#, "it's"),
            (r"r'\d+'", r"\d+"),
            ("'it''s'", "it's"),
        ] {
            assert_eq!(strings(text, &Dialect::Spark)[0], value, "{text}");
        }
        assert_eq!(strings(r"'a\', 'b''c'", &Dialect::Duckdb), ["a\\", "b'c"]);
        assert!(tokens(r"SELECT 'a\'", &Dialect::Mysql).is_err());
        for text in ["SELECT 1_000", "SELECT 1abc", "SELECT 2.5x FROM t"] {
            assert!(tokens(text, &Dialect::Duckdb).is_err(), "{text}");
        }
        assert_eq!(strings(r#"SELECT "it's""#, &Dialect::Mysql), ["it's"]);
    }

    #[test]
    fn every_keyword_is_known() {
        assert!(ALL_KEYWORDS.iter().all(|word| word.len() <= 64));
        for word in ALL_KEYWORDS.iter().chain(&["customers", "", "é", "\u{131}nt"]) {
            for text in [word.to_lowercase(), (*word).to_owned()] {
                let Symbol::Word(theirs) = Symbol::make_word(&text, None) else { unreachable!() };
                assert_eq!(keyword(&text), theirs.keyword, "{text}");
            }
        }
    }

    #[test]
    fn the_parsers_own_tokenizer_finds_the_same() {
        for text in [
            "SELECT a.b, \"C d\".*, t.1, .5, 1.5e-3, 1e5, 5., x'ff', B'01', N'n', U&'\\0041' \
             FROM t",
            "SELECT a->>'b', a::numeric(10,2)[1:2], a<=b, a>=-1, a<>b, a!=b, a||b, a~*'x', a @> b, \
             a#>>'{x}', -1--c\n+2",
            "SELECT E'a\\'b', e'x''y'||E'z', DATE'2024-01-01', $$it's$$, $a$ $$ $a$, \
             'a''b' /* x /* y */ */, f(E'x','y')",
            "SELECT\n\t'ü\nß', \"ö\"\"ä\"\r\n, été, a*b/c%d^e, (a)=(b), a<(b), a-(-b), 'x'\n'y'",
            "SELECT $1, ?, a ? 'b', a ?| b, @ -5, a<.5, a>=.5, a=-.5, |/ 4, \
             a OPERATOR(pg_catalog.+) b, a <-> b, a -|- b, a=ANY('{}')",
        ] {
            assert_eq!(
                tokens(text, &Dialect::Postgres),
                theirs(text, &PostgreSqlDialect {}),
                "{text}"
            );
        }
    }

    proptest! {
        #[test]
        fn the_parsers_own_tokenizer_finds_the_same_in_any_plain_text(
            text in "([a-z]{1,3}|[0-9]{1,2} \
                     |[-+*/<>=!~|&%^:.,();\\[\\]@#?]|[eEnuUxX]?'[a-z']?'|\"[a-z]\"| |\n){0,14}",
        ) {
            // The parser takes `b"x"` for a string of bytes, PostgreSQL and the lexer for a name
            // behind a name; and behind `&>` and `&<` it may lose a letter.
            prop_assume!(!["b\"", "&>", "&<"].iter().any(|odd| text.contains(odd)));
            let ours = tokens(&text, &Dialect::Postgres);
            let theirs = theirs(&text, &PostgreSqlDialect {});
            if let (Ok(ours), Ok(theirs)) = (ours, theirs) {
                prop_assert_eq!(ours, theirs, "{}", text);
            }
        }

        #[test]
        fn nothing_panics(text in "\\PC{0,60}|[-/*'\"`\\[\\];$arRE.0-9\n(\\\\]{0,40}") {
            let others = [
                Dialect::Other("bigquery".to_owned()), Dialect::Other("snowflake".to_owned()),
                Dialect::Ansi
            ];
            for dialect in [
                Dialect::Duckdb, Dialect::Spark, Dialect::Mysql, Dialect::Sqlite
            ].iter().chain(&others) {
                let _ = tokens(&text, dialect);
            }
        }
    }
}
