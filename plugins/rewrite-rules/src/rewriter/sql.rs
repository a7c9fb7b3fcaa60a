//! Parsing, printing and taking apart statements.

use sqlparser::ast::{
    BinaryOperator, Expr, GroupByExpr, Ident, JoinConstraint, JoinOperator, Query, Select,
    SelectItem, SetExpr, Statement,
};
use sqlparser::dialect::{Dialect as Grammar, PostgreSqlDialect, SQLiteDialect};
use sqlparser::parser::Parser;
use syrch_plugin::prelude::*;

/// The two engines whose statements are rewritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    Sqlite,
    Postgres,
}

impl Engine {
    /// The engine of a dialect; `None` for one that has no verified optimizer.
    pub(crate) fn for_dialect(dialect: &Dialect) -> Option<Self> {
        match dialect {
            Dialect::Sqlite => Some(Self::Sqlite),
            Dialect::Postgres => Some(Self::Postgres),
            _ => None,
        }
    }

    fn grammar(self) -> &'static dyn Grammar {
        match self {
            Self::Sqlite => &SQLiteDialect {},
            Self::Postgres => &PostgreSqlDialect {},
        }
    }

    /// One SELECT; `None` for anything else, and for what does not parse.
    pub(crate) fn query(self, text: &str) -> Option<Query> {
        let mut statements = Parser::parse_sql(self.grammar(), text).ok()?;
        match (statements.pop(), statements.is_empty()) {
            (Some(Statement::Query(query)), true) => Some(*query),
            _ => None,
        }
    }

    /// Parses an expression; `None` if it does not parse.
    pub(crate) fn expr(self, text: &str) -> Option<Expr> {
        Parser::new(self.grammar()).try_with_sql(text).ok()?.parse_expr().ok()
    }
}

/// Returns the SELECT of a query that is one SELECT without WITH, ORDER BY, LIMIT, locks and the
/// like.
pub(crate) fn plain(query: &Query) -> Option<&Select> {
    let is_bare = query.with.is_none()
        && query.order_by.is_none()
        && query.limit_clause.is_none()
        && query.fetch.is_none()
        && query.locks.is_empty()
        && query.for_clause.is_none()
        && query.settings.is_none()
        && query.format_clause.is_none()
        && query.pipe_operators.is_empty();
    match &*query.body {
        SetExpr::Select(select) if is_bare && is_standard(select) => Some(select),
        _ => None,
    }
}

/// Returns true if a SELECT has no clause but those of standard SQL.
pub(crate) fn is_standard(select: &Select) -> bool {
    select.top.is_none()
        && select.exclude.is_none()
        && select.into.is_none()
        && select.lateral_views.is_empty()
        && select.prewhere.is_none()
        && select.connect_by.is_empty()
        && select.cluster_by.is_empty()
        && select.distribute_by.is_empty()
        && select.sort_by.is_empty()
        && select.qualify.is_none()
        && select.value_table_mode.is_none()
}

/// The expressions of GROUP BY; `None` with modifiers or ALL.
pub(crate) fn groups(select: &Select) -> Option<&[Expr]> {
    match &select.group_by {
        GroupByExpr::Expressions(keys, modifiers) if modifiers.is_empty() => Some(keys),
        _ => None,
    }
}

/// Returns true if the rows of a SELECT stand for the rows of its FROM one by one: no groups, no
/// aggregates and no window functions.
pub(crate) fn is_row_by_row(select: &Select) -> bool {
    groups(select).is_some_and(<[Expr]>::is_empty)
        && select.having.is_none()
        && select.named_window.is_empty()
        && !select
            .projection
            .iter()
            .any(|item| item_expr(item).is_some_and(super::refs::has_aggregate))
}

/// The expression of an output column; `None` for a wildcard.
pub(crate) fn item_expr(item: &SelectItem) -> Option<&Expr> {
    match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
        _ => None,
    }
}

/// The name of an output column, where its text shows one.
pub(crate) fn item_name(item: &SelectItem) -> Option<&Ident> {
    match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(alias),
        SelectItem::UnnamedExpr(Expr::Identifier(name)) => Some(name),
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(path)) => path.last(),
        _ => None,
    }
}

/// The parts of a condition between AND, outermost parentheses taken off.
pub(crate) fn conjuncts(expr: &Expr) -> Vec<&Expr> {
    parts(expr, &BinaryOperator::And)
}

/// The parts of a condition between OR.
pub(crate) fn disjuncts(expr: &Expr) -> Vec<&Expr> {
    parts(expr, &BinaryOperator::Or)
}

fn parts<'e>(expr: &'e Expr, between: &BinaryOperator) -> Vec<&'e Expr> {
    let mut found = Vec::new();
    let mut left = vec![expr];
    while let Some(expr) = left.pop() {
        match expr {
            Expr::BinaryOp { left: first, op, right } if op == between => {
                left.extend([&**right, &**first])
            }
            Expr::Nested(inner)
                if matches!(
                    &**inner, Expr::BinaryOp { op, .. } if op == between
                ) =>
            {
                left.push(inner)
            }
            _ => found.push(expr),
        }
    }
    found
}

/// Conditions joined by AND; `None` for no condition.
pub(crate) fn all_of(conditions: Vec<Expr>) -> Option<Expr> {
    conditions
        .into_iter()
        .map(in_and)
        .reduce(|left, right| binary(left, BinaryOperator::And, right))
}

/// Joins two expressions by an operator.
pub(crate) fn binary(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp { left: Box::new(left), op, right: Box::new(right) }
}

/// A condition as it can stand beside AND.
fn in_and(expr: Expr) -> Expr {
    match expr {
        Expr::BinaryOp { op: BinaryOperator::Or | BinaryOperator::Xor, .. } => {
            Expr::Nested(Box::new(expr))
        }
        other => other,
    }
}

/// ` WHERE a AND b`, or nothing.
pub(crate) fn where_text(conditions: &[Expr]) -> String {
    all_of(conditions.to_vec()).map(|all| format!(" WHERE {all}")).unwrap_or_default()
}

/// The items of FROM as SQL, without the keyword.
pub(crate) fn from_text(select: &Select) -> String {
    select.from.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// An expression as the operand of a comparison.
pub(crate) fn operand(expr: &Expr) -> String {
    match expr {
        Expr::Identifier(_)
        | Expr::CompoundIdentifier(_)
        | Expr::Value(_)
        | Expr::Function(_)
        | Expr::Nested(_) => expr.to_string(),
        _ => format!("({expr})"),
    }
}

/// The ON condition of a join.
pub(crate) fn on_of(operator: &JoinOperator) -> Option<&Expr> {
    match operator {
        JoinOperator::Join(JoinConstraint::On(on))
        | JoinOperator::Inner(JoinConstraint::On(on))
        | JoinOperator::Left(JoinConstraint::On(on))
        | JoinOperator::LeftOuter(JoinConstraint::On(on)) => Some(on),
        _ => None,
    }
}

/// The ON condition of a join, as [`on_of`] returns it, to change it.
fn on_mut(operator: &mut JoinOperator) -> Option<&mut Expr> {
    match operator {
        JoinOperator::Join(JoinConstraint::On(on))
        | JoinOperator::Inner(JoinConstraint::On(on))
        | JoinOperator::Left(JoinConstraint::On(on))
        | JoinOperator::LeftOuter(JoinConstraint::On(on)) => Some(on),
        _ => None,
    }
}

/// Calls `change` for every condition of a SELECT for which NULL and false mean the same: the parts
/// between AND and OR of WHERE, HAVING and ON.
pub(crate) fn each_condition(select: &mut Select, change: &mut dyn FnMut(&mut Expr)) {
    fn descend(expr: &mut Expr, change: &mut dyn FnMut(&mut Expr)) {
        match expr {
            Expr::BinaryOp { left, op: BinaryOperator::And | BinaryOperator::Or, right } => {
                descend(left, change);
                descend(right, change);
            }
            Expr::Nested(inner) => descend(inner, change),
            leaf => change(leaf),
        }
    }
    let joins = select.from.iter_mut().flat_map(|item| &mut item.joins);
    for on in joins.filter_map(|join| on_mut(&mut join.join_operator)) {
        descend(on, change);
    }
    for condition in select.selection.iter_mut().chain(&mut select.having) {
        descend(condition, change);
    }
}
