//! `count-to-exists`: a count that is only compared with zero becomes EXISTS. Sound: a count is
//! never NULL.

use sqlparser::ast::{
    BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Query, SetExpr, Value,
};

use crate::rewriter::refs::{aggregate, function_name};
use crate::rewriter::sql::{each_condition, groups, item_expr, operand, plain};
use crate::rewriter::walk::each_select;
use crate::rewriter::work::Work;

pub(crate) fn apply(query: &mut Query, work: &mut Work) {
    each_select(query, &mut |select| {
        each_condition(select, &mut |condition| {
            if let Some(new) = exists(condition, work)
                && work.takes()
            {
                *condition = new;
            }
        });
    });
}

fn exists(condition: &Expr, work: &Work) -> Option<Expr> {
    let Expr::BinaryOp { left, op, right } = condition else { return None };
    let (query, op, number) = match (strip_parentheses(left), strip_parentheses(right)) {
        (Expr::Subquery(query), number) => (query, op.clone(), number),
        (number, Expr::Subquery(query)) => (query, flip_operator(op)?, number),
        _ => return None,
    };
    let is_there = is_there(&op, number)?;
    let select = plain(query)?;
    let [item] = select.projection.as_slice() else { return None };
    let counted = count_argument(item_expr(item)?)?;
    if !groups(select)?.is_empty()
        || select.having.is_some()
        || select.distinct.is_some()
        || select.from.is_empty()
    {
        return None;
    }
    let mut select = select.clone();
    let one = work.query("SELECT 1")?;
    select.projection = plain(&one)?.projection.clone();
    if let Some(column) = counted {
        let not_null = work.expr(&format!("{} IS NOT NULL", operand(&column)))?;
        let all = select.selection.take().into_iter().chain([not_null]).collect();
        select.selection = crate::rewriter::sql::all_of(all);
    }
    let subquery = Box::new(Query { body: Box::new(SetExpr::Select(Box::new(select))), ..one });
    Some(Expr::Exists { subquery, negated: !is_there })
}

fn strip_parentheses(expr: &Expr) -> &Expr {
    match expr {
        Expr::Nested(inner) => strip_parentheses(inner),
        other => other,
    }
}

/// The operator with its sides exchanged.
fn flip_operator(op: &BinaryOperator) -> Option<BinaryOperator> {
    Some(match op {
        BinaryOperator::Lt => BinaryOperator::Gt,
        BinaryOperator::LtEq => BinaryOperator::GtEq,
        BinaryOperator::Gt => BinaryOperator::Lt,
        BinaryOperator::GtEq => BinaryOperator::LtEq,
        BinaryOperator::Eq | BinaryOperator::NotEq => op.clone(),
        _ => return None,
    })
}

/// Returns true if `count <op> number` asks for at least one row, and false if it asks for none;
/// `None` for other comparisons.
fn is_there(op: &BinaryOperator, number: &Expr) -> Option<bool> {
    let Expr::Value(value) = number else { return None };
    let Value::Number(number, _) = &value.value else { return None };
    match (op, number.to_string().as_str()) {
        (BinaryOperator::Gt | BinaryOperator::NotEq, "0") | (BinaryOperator::GtEq, "1") => {
            Some(true)
        }
        (BinaryOperator::Eq | BinaryOperator::LtEq, "0") | (BinaryOperator::Lt, "1") => Some(false),
        _ => None,
    }
}

/// Returns the argument of a count: every row (`Some(None)`), or the rows in which an expression is
/// not NULL; `None` for other expressions.
fn count_argument(expr: &Expr) -> Option<Option<Expr>> {
    let function = aggregate(expr)?;
    let FunctionArguments::List(list) = &function.args else { return None };
    let is_plain =
        function_name(function)? == "count" && function.filter.is_none() && list.clauses.is_empty();
    match list.args.as_slice() {
        [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)] if is_plain => Some(None),
        [FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Value(value)))]
            if is_plain && value.value != Value::Null =>
        {
            Some(None)
        }
        [FunctionArg::Unnamed(FunctionArgExpr::Expr(inner))] if is_plain => {
            Some(Some(inner.clone()))
        }
        _ => None,
    }
}
