//! A statement cut into words, names and signs: enough to find its tables and equalities, and no parser.

use syrch_plugin::text::is_one_of;

/// One word, quoted name, literal or sign.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token {
    Name(String),
    Keyword(String),
    Mark(char),
    Literal,
}

// Words after a table's name that are not its alias, and words that introduce a table.
const KEYWORDS: &str = "and as by cross except from full group having inner intersect join left limit natural on or order outer \
    right select set union using where";

/// The words and signs of a statement, in order.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text.char_indices().peekable();
    while let Some((start, c)) = rest.next() {
        match c {
            '\'' | '"' | '`' | '[' => {
                let close = if c == '[' { ']' } else { c };
                let mut inner = String::new();
                while let Some((_, next)) = rest.next() {
                    if next == close && rest.peek().is_none_or(|(_, after)| *after != close || c == '[') {
                        break;
                    }
                    if next == close {
                        rest.next();
                    }
                    inner.push(next);
                }
                tokens.push(if c == '\'' { Token::Literal } else { Token::Name(inner) });
            }
            _ if c.is_alphanumeric() || c == '_' => {
                let mut end = start + c.len_utf8();
                while let Some((at, next)) = rest.next_if(|(_, next)| next.is_alphanumeric() || *next == '_') {
                    end = at + next.len_utf8();
                }
                tokens.push(word(&text[start..end]));
            }
            _ if c.is_whitespace() => {}
            _ => tokens.push(Token::Mark(c)),
        }
    }
    tokens
}

fn word(text: &str) -> Token {
    let lower = text.to_lowercase();
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        Token::Literal
    } else if is_one_of(KEYWORDS, &lower) {
        Token::Keyword(lower)
    } else {
        Token::Name(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_quotes_are_read_to_their_end() {
        assert_eq!(
            tokens("a='it''s = b' AND \"x\"\"y\"=`z`"),
            [
                Token::Name("a".into()),
                Token::Mark('='),
                Token::Literal,
                Token::Keyword("and".into()),
                Token::Name("x\"y".into()),
                Token::Mark('='),
                Token::Name("z".into()),
            ]
        );
        assert_eq!(tokens("'open").len(), 1);
    }
}
