//! The phrases of a question that may be values, and the dimensions that show a column of the
//! database.

use sqlparser::ast::Expr;
use syrch_words::is_stop_word;

use super::read_tokens;
use super::tokens::{Kind, Token};
use super::{Cell, model};
use crate::Semantics;
use crate::compile::are_equal;

/// The limit on the words of a phrase.
const WORDS: usize = 5;

/// The phrases of a question that a caller looks up among the cells of the database: each
/// quotation, and each sequence of at most five words that neither begins nor ends with a stop word
/// in lower case.
#[must_use]
pub fn phrases(question: &str) -> Vec<String> {
    let Ok(tokens) = read_tokens(question) else { return Vec::new() };
    let mut out: Vec<String> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.kind == Kind::Quoted {
            out.push(token.text.clone());
            continue;
        }
        for end in at + 1..=tokens.len().min(at + WORDS) {
            let span = &tokens[at..end];
            if span.iter().any(|token| !matches!(token.kind, Kind::Word | Kind::Number)) {
                break;
            }
            if may_name(token) && span.last().is_some_and(may_name) {
                let words: Vec<&str> = span.iter().map(|token| token.text.as_str()).collect();
                out.push(words.join(" "));
            }
        }
    }
    out.sort_unstable();
    out.dedup();
    out
}

fn may_name(token: &Token) -> bool {
    token.kind == Kind::Word && (!is_stop_word(&token.lower) || token.is_capitalised())
}

/// The cells of the dimensions that show a column of the database as it is, for a value that was
/// found there. The table may be given with its schema or without.
#[must_use]
pub fn cells_at(semantics: &Semantics, table: &str, column: &str, value: &str) -> Vec<Cell> {
    let tables = semantics.tables.iter().filter(|known| {
        are_equal(&known.source, table) || are_equal(last_part(&known.source), last_part(table))
    });
    tables
        .flat_map(|known| {
            let owned = (0..semantics.dimensions.len()).filter(|at| {
                let dimension = &semantics.dimensions[*at];
                are_equal(&dimension.table, &known.name)
                    && column_of(&dimension.expression.tree)
                        .is_some_and(|name| are_equal(name, column))
            });
            owned
                .map(|at| Cell {
                    dimension: model::full_name(semantics, at),
                    value: value.to_owned(),
                })
                .collect::<Vec<_>>()
        })
        .collect()
}

fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// The column that an expression is, where it is no more than that.
fn column_of(tree: &Expr) -> Option<&str> {
    match tree {
        Expr::Identifier(name) => Some(&name.value),
        Expr::CompoundIdentifier(parts) => parts.last().map(|name| name.value.as_str()),
        Expr::Nested(inner) => column_of(inner),
        _ => None,
    }
}
