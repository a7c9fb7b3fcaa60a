//! Checks that a statement that was written again has the tokens of the one that was checked.
//!
//! The parser's tree is a function of the tokens. If the written text has the same tokens, in the
//! same order, but for words that the walk took for names and that have quotes now, and for names
//! of relations that are qualified now, then nothing was lost, moved or joined in writing, and an
//! engine that reads it finds the tree that was checked: a word in quotes can only be the name that
//! it was. Whatever is not certain here is answered with no, and the statement is then read and
//! checked once more.

use super::rules::Names;
use crate::{Kind, Token};

/// The name of a relation that the walk wrote again.
#[derive(Debug)]
pub(crate) struct Qualified {
    /// The byte at which it begins.
    pub(super) start: u32,
    /// The number of parts that it had.
    pub(super) parts: usize,
    /// The parts that it has now.
    pub(super) name: Vec<String>,
}

/// A text and those of its tokens that count.
pub(super) struct Side<'t> {
    text: &'t str,
    tokens: Vec<Token>,
}

impl<'t> Side<'t> {
    pub(super) fn new(text: &'t str, tokens: &[Token]) -> Self {
        let mut tokens: Vec<Token> = tokens.iter().copied().filter(Token::is_significant).collect();
        while tokens.last().is_some_and(|token| token.text(text) == ";") {
            tokens.pop();
        }
        Self { text, tokens }
    }

    fn token(&self, index: usize) -> Option<(Kind, &'t str)> {
        self.tokens.get(index).map(|token| (token.kind, token.text(self.text)))
    }

    /// Returns true if the token stands right behind the one before it where that matters: two
    /// operators may be one, a word may be the prefix of a string and a point may begin a number.
    fn is_joined(&self, index: usize) -> bool {
        let Some([before, token]) =
            index.checked_sub(1).and_then(|before| self.tokens.get(before..=index))
        else {
            return false;
        };
        let is_operator = |token: &Token| {
            token.kind == Kind::Symbol
                && !matches!(token.text(self.text), "(" | ")" | "[" | "]" | "," | "{" | "}")
        };
        before.end == token.start
            && match token.kind {
                Kind::Symbol => is_operator(token) && is_operator(before),
                Kind::Text => {
                    matches!(before.kind, Kind::Word | Kind::Number | Kind::Text)
                        || before.text(self.text) == "&"
                }
                Kind::Number => before.text(self.text) == ".",
                _ => false,
            }
    }
}

/// Compares the tokens of the given statement with those of the written one.
pub(super) fn is_same(
    given: &Side<'_>,
    written: &Side<'_>,
    qualified: &[Qualified],
    names: Names,
) -> bool {
    let mut relations: Vec<&Qualified> = qualified.iter().collect();
    relations.sort_by_key(|relation| relation.start);
    let mut relations = relations.into_iter().peekable();
    let mut left = 0;
    let mut right = 0;
    while let Some((kind, text)) = given.token(left) {
        let start = given.tokens[left].start;
        if let Some(relation) =
            relations.next_if(|relation| usize::try_from(relation.start) == Ok(start))
        {
            if !is_name(written, right, &relation.name) {
                return false;
            }
            left += relation.parts * 2 - 1;
            right += relation.name.len() * 2 - 1;
            continue;
        }
        let Some((other, now)) = written.token(right) else {
            return false;
        };
        let is_kept = match (kind, other) {
            // The writer puts AS before every name of a column.
            (Kind::Word | Kind::Quoted, Kind::Word)
                if now == "AS" && !text.eq_ignore_ascii_case("as") =>
            {
                right += 1;
                continue;
            }
            (Kind::Word, Kind::Word) => text.eq_ignore_ascii_case(now),
            (Kind::Word, Kind::Quoted) => {
                let name = now.get(1..now.len() - 1).unwrap_or_default();
                match names {
                    Names::Folded => {
                        text.is_ascii()
                            && text.eq_ignore_ascii_case(name)
                            && !name.bytes().any(|b| b.is_ascii_uppercase())
                    }
                    Names::Quoted(_) | Names::Plain(_) => text == name,
                }
            }
            (Kind::Quoted | Kind::Text | Kind::Symbol, _) => kind == other && text == now,
            (Kind::Number, Kind::Number) => {
                text == now && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
            }
            _ => false,
        };
        if !is_kept || given.is_joined(left) != written.is_joined(right) {
            return false;
        }
        (left, right) = (left + 1, right + 1);
    }
    right == written.tokens.len() && relations.next().is_none()
}

/// Returns true if the parts of a name stand at that index, each in quotes and with a point between
/// them.
fn is_name(written: &Side<'_>, index: usize, name: &[String]) -> bool {
    name.iter().enumerate().all(|(part, wanted)| {
        let is_part = written.tokens.get(index + part * 2).is_some_and(|token| {
            token.kind == Kind::Quoted && token.name(written.text).as_ref() == Some(wanted)
        });
        is_part && (part == 0 || written.token(index + part * 2 - 1) == Some((Kind::Symbol, ".")))
    })
}
