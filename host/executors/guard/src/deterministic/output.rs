//! Names for output columns that have none. An engine calls such a column by its text, so that two
//! ways to write one expression would give different columns.

use sqlparser::ast::{Expr, Function};
use syrch_core::text::clip;

use super::call::plain;

/// Bytes of a name at most: those of PostgreSQL, which cuts longer ones.
const BYTES: usize = 63;

/// Returns true if the engine names the output column after the expression: a column of a table or
/// a sub-query.
pub(super) fn has_name(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => has_name(inner),
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => true,
        _ => false,
    }
}

/// The name of a column that is given none.
pub(super) fn name(expr: &Expr, is_sqlite: bool) -> String {
    if is_sqlite && !has_name(expr) {
        // The engine's name is the whole text; a double quote in it could not be written again.
        let text = expr.to_string().replace(['"', '\0'], "");
        let name = clip(&text, BYTES).trim();
        return if name.is_empty() { "column".to_owned() } else { name.to_owned() };
    }
    derive_name(expr).unwrap_or_else(|| "?column?".to_owned())
}

/// The name that an expression implies.
fn derive_name(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Nested(inner) => derive_name(inner),
        Expr::Identifier(ident) => Some(ident.value.clone()),
        Expr::CompoundIdentifier(idents) => idents.last().map(|ident| ident.value.clone()),
        Expr::Function(Function { name, .. }) => Some(plain(name)),
        Expr::Cast { expr, .. } => derive_name(expr),
        Expr::Case { else_result, .. } => {
            let of_else = else_result.as_ref().and_then(|expr| derive_name(expr));
            Some(of_else.unwrap_or_else(|| "case".to_owned()))
        }
        Expr::Exists { .. } => Some("exists".to_owned()),
        Expr::Extract { .. } => Some("extract".to_owned()),
        Expr::Substring { .. } => Some("substring".to_owned()),
        _ => None,
    }
}
