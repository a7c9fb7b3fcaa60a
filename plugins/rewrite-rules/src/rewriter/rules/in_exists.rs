//! `in-to-exists` and `not-in-to-not-exists`.
//!
//! Sound in WHERE, HAVING and ON, where NULL means false. `x NOT IN (SELECT e …)` is true when no
//! row has `e = x`, none has a NULL in `e`, and `x` is not NULL or there is no row at all; where
//! the catalog has NOT NULL, these conditions are left out.

use sqlparser::ast::{Expr, Query};

use crate::rewriter::refs::refs;
use crate::rewriter::scope::Scope;
use crate::rewriter::sql::{each_condition, operand};
use crate::rewriter::subquery::{Parts, apart, one_column, qualify};
use crate::rewriter::walk::each_select;
use crate::rewriter::work::Work;

pub(crate) fn apply(query: &mut Query, work: &mut Work) {
    change(query, work, false);
}

pub(crate) fn apply_negated(query: &mut Query, work: &mut Work) {
    change(query, work, true);
}

fn change(query: &mut Query, work: &mut Work, is_negated: bool) {
    each_select(query, &mut |select| {
        let Some(outer) = Scope::from_select(select, work.catalog) else { return };
        each_condition(select, &mut |condition| {
            let Expr::InSubquery { expr, subquery, negated } = condition else { return };
            if *negated != is_negated {
                return;
            }
            if let Some(new) = exists(expr, subquery, is_negated, &outer, work)
                && work.takes()
            {
                *condition = new;
            }
        });
    });
}

fn exists(
    expr: &Expr,
    query: &Query,
    is_negated: bool,
    outer: &Scope,
    work: &mut Work,
) -> Option<Expr> {
    let value = qualify(expr, outer)?;
    let used = refs(&value).own;
    if used.is_empty() {
        return None;
    }
    let query = apart(query, &used, outer, work.catalog, &mut |start| work.fresh(start))?;
    let (parts, select) = Parts::from_query(&query, outer, work.catalog)?;
    // A list that depends on the outer row is searched for each row in either form.
    if !parts.keys.is_empty() {
        return None;
    }
    let inner = one_column(&select, &parts, outer)?;
    let value = operand(&value);
    let column = operand(&inner);
    let of = |condition: &str| -> Option<String> {
        let more = if condition.is_empty() { Vec::new() } else { vec![work.expr(condition)?] };
        Some(format!("EXISTS (SELECT 1 {})", parts.text(more)))
    };
    let equal = of(&format!("{value} = {column}"))?;
    if !is_negated {
        return work.expr(&equal);
    }
    let mut text = format!("NOT {equal}");
    if parts.scope.is_nullable(&inner) {
        text += &format!(" AND NOT {}", of(&format!("{column} IS NULL"))?);
    }
    if outer.is_nullable(expr) {
        text += &format!(" AND ({value} IS NOT NULL OR NOT {})", of("")?);
    }
    work.expr(&format!("({text})"))
}
