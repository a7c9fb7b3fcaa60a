//! Expressions of a statement written again over the plain columns of one table, so that they can
//! be counted there.

use std::ops::ControlFlow;

use sqlparser::ast::{BinaryOperator, Expr, Ident, visit_expressions, visit_expressions_mut};
use syrch_core::Dialect;

use super::super::scope::{Found, Origin, Scope, same};

/// Bytes of an expression that is written again.
const LONGEST: usize = 2_000;

/// A column that an expression names.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Place {
    /// The number of its source in the innermost scope; `None` if it belongs to a query around.
    pub(super) source: Option<usize>,
    pub(super) origin: Origin,
}

/// An expression over the columns of one source.
#[derive(Debug, Clone)]
pub(super) struct Plain {
    pub(super) source: usize,
    /// The expression over plain columns of the table.
    pub(super) sql: String,
    /// Its columns, each once, in order.
    pub(super) columns: Vec<String>,
    pub(super) origin: Origin,
    /// True if it only compares texts, so that it may be meant to leave values out.
    pub(super) is_selective: bool,
}

/// The column of the catalog that an expression is.
pub(super) fn locate(expr: &Expr, scopes: &[Scope]) -> Option<Place> {
    match expr {
        Expr::Nested(inner) => locate(inner, scopes),
        Expr::Identifier(name) => locate_unqualified(name, scopes),
        Expr::CompoundIdentifier(names) => {
            let [rest @ .., qualifier, name] = names.as_slice() else { return None };
            let schema = rest.last().map(|schema| schema.value.as_str());
            let scopes = scopes.iter().rev().enumerate();
            let (depth, scope, source) = scopes
                .filter_map(|(depth, scope)| {
                    Some((depth, scope, scope.source_of(schema, &qualifier.value)?))
                })
                .next()?;
            let column = source.columns.as_ref()?.iter().find(|column| column.is(&name.value))?;
            let number = scope.sources.iter().position(|other| std::ptr::eq(other, source))?;
            Some(Place { source: (depth == 0).then_some(number), origin: column.origin.clone()? })
        }
        _ => None,
    }
}

fn locate_unqualified(name: &Ident, scopes: &[Scope]) -> Option<Place> {
    for (depth, scope) in scopes.iter().rev().enumerate() {
        match scope.find(&name.value) {
            Found::Nothing => {}
            Found::Column(origin) => {
                let number =
                    scope.sources.iter().position(|source: &super::super::scope::Source| {
                        source.columns.as_ref().is_some_and(|columns| {
                            columns.iter().any(|column| column.is(&name.value))
                        })
                    })?;
                return Some(Place { source: (depth == 0).then_some(number), origin: origin? });
            }
            Found::Perhaps | Found::Many(_) => return None,
        }
    }
    None
}

/// The expression over plain columns, if all of its columns belong to one source of the innermost
/// scope and it holds no query.
pub(super) fn plain(expr: &Expr, scopes: &[Scope], dialect: &Dialect) -> Option<Plain> {
    let mut found: Option<(usize, Origin)> = None;
    let mut columns: Vec<String> = Vec::new();
    let mut copy = expr.clone();
    let walked = visit_expressions_mut(&mut copy, |expr| {
        match expr {
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => {
                let Some(Place { source: Some(source), origin }) = locate(expr, scopes) else {
                    return ControlFlow::Break(());
                };
                if found.as_ref().is_some_and(|(known, _)| *known != source) {
                    return ControlFlow::Break(());
                }
                if !columns.contains(&origin.column) {
                    columns.push(origin.column.clone());
                }
                *expr = column(&origin.column, dialect);
                // Of a derived table, two columns may come from different tables.
                if found.get_or_insert_with(|| (source, origin.clone())).1.table != origin.table {
                    return ControlFlow::Break(());
                }
            }
            Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. } | Expr::Lambda(_) => {
                return ControlFlow::Break(());
            }
            _ => {}
        }
        ControlFlow::Continue(())
    });
    let (source, origin) = found.filter(|_| walked.is_continue())?;
    let sql = copy.to_string();
    let is_selective = !calls(expr, is_measure);
    (sql.len() <= LONGEST).then_some(Plain { source, sql, columns, origin, is_selective })
}

/// Returns true if an expression reads its operands as something else than texts.
fn is_measure(expr: &Expr) -> bool {
    use BinaryOperator as Op;
    match expr {
        Expr::Function(function) => !is_one_of(&name(function), &super::TEXT_PARTS),
        Expr::Cast { .. } | Expr::Extract { .. } | Expr::Between { .. } => true,
        Expr::BinaryOp { op, .. } => matches!(
            op,
            Op::Plus
                | Op::Minus
                | Op::Multiply
                | Op::Divide
                | Op::Modulo
                | Op::Lt
                | Op::LtEq
                | Op::Gt
                | Op::GtEq
        ),
        _ => false,
    }
}

fn column(name: &str, dialect: &Dialect) -> Expr {
    let quote = dialect.quote("x").chars().next().unwrap_or('"');
    Expr::Identifier(Ident::with_quote(quote, name))
}

/// The conditions that an AND connects.
pub(super) fn conditions(expr: &Expr) -> Vec<&Expr> {
    let mut conditions = Vec::new();
    let mut left = vec![expr];
    while let Some(expr) = left.pop() {
        match expr {
            Expr::BinaryOp { left: first, op: BinaryOperator::And, right } => {
                left.extend([&**right, &**first])
            }
            Expr::Nested(inner)
                if matches!(&**inner, Expr::BinaryOp { op: BinaryOperator::And, .. }) =>
            {
                left.push(inner);
            }
            other => conditions.push(other),
        }
    }
    conditions
}

/// Adds conditions to those that the values of each source have met already. One that measures a
/// column says nothing of what it leaves out of that column.
pub(super) fn restrict(scope: &mut Scope, conditions: &[Plain]) {
    for (number, source) in scope.sources.iter_mut().enumerate() {
        let own = || conditions.iter().filter(|condition| condition.source == number);
        if own().next().is_none() {
            continue;
        }
        for origin in
            source.columns.iter_mut().flatten().filter_map(|column| column.origin.as_mut())
        {
            let of_table = |is_meant: &dyn Fn(&Plain, bool) -> bool| -> Vec<String> {
                let meant = own().filter(|condition| {
                    let is_own = condition.columns.contains(&origin.column);
                    condition.origin.table == origin.table && is_meant(condition, is_own)
                });
                meant.map(|condition| format!("({})", condition.sql)).collect()
            };
            let filter = of_table(&|condition, is_own| condition.is_selective || !is_own);
            let beside = of_table(&|_, is_own| !is_own);
            origin.filter = join_all(origin.filter.take(), filter);
            origin.beside = join_all(origin.beside.take(), beside);
        }
    }
}

/// Joins all of the conditions; `None` if there is none, or the text is too long: without it more
/// rows count.
fn join_all(known: Option<String>, more: Vec<String>) -> Option<String> {
    let all = known.into_iter().chain(more).collect::<Vec<_>>().join(" AND ");
    Some(all).filter(|all| !all.is_empty() && all.len() <= 2 * LONGEST)
}

/// Returns true if any part of the expression is one that is meant.
pub(super) fn calls(expr: &Expr, is_meant: impl Fn(&Expr) -> bool) -> bool {
    let walked = visit_expressions(expr, |expr| {
        if is_meant(expr) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    walked.is_break()
}

/// A function's name without its schema, in lower case.
pub(super) fn name(function: &sqlparser::ast::Function) -> String {
    let last = function.name.0.last().and_then(|part| part.as_ident());
    last.map(|name| name.value.to_lowercase()).unwrap_or_default()
}

/// Returns true if a function takes only the distinct values of its argument.
pub(super) fn is_distinct(function: &sqlparser::ast::Function) -> bool {
    use sqlparser::ast::{DuplicateTreatment, FunctionArguments};
    let FunctionArguments::List(list) = &function.args else { return false };
    list.duplicate_treatment == Some(DuplicateTreatment::Distinct)
}

/// Returns true if that is one of the names, letter case aside.
pub(super) fn is_one_of(name: &str, names: &[&str]) -> bool {
    names.iter().any(|known| same(known, name))
}

/// The arguments of a function that are expressions.
pub(super) fn arguments(function: &sqlparser::ast::Function) -> Vec<&Expr> {
    use sqlparser::ast::{FunctionArg, FunctionArgExpr, FunctionArguments};
    let FunctionArguments::List(list) = &function.args else { return Vec::new() };
    list.args
        .iter()
        .filter_map(|arg| match arg {
            &FunctionArg::Unnamed(FunctionArgExpr::Expr(ref expr))
            | &FunctionArg::Named { arg: FunctionArgExpr::Expr(ref expr), .. }
            | &FunctionArg::ExprNamed { arg: FunctionArgExpr::Expr(ref expr), .. } => Some(expr),
            _ => None,
        })
        .collect()
}
