//! `exists-to-in` and `not-exists-to-not-in`: a correlated EXISTS becomes a list of keys that is
//! made once.
//!
//! Sound in WHERE, HAVING and ON, where NULL means false: `EXISTS (… inner = outer)` and `outer IN
//! (SELECT inner …)` are true for the same rows. The negated form leaves NULLs out of the list and
//! lets through outer rows whose key is NULL.

use sqlparser::ast::{Expr, Query};

use crate::rewriter::scope::Scope;
use crate::rewriter::sql::{each_condition, is_row_by_row, operand};
use crate::rewriter::subquery::Parts;
use crate::rewriter::walk::each_select;
use crate::rewriter::work::Work;

pub(crate) fn apply(query: &mut Query, work: &mut Work) {
    change(query, work, false);
}

/// Only for SQLite: PostgreSQL makes an anti-join of NOT EXISTS.
pub(crate) fn apply_negated(query: &mut Query, work: &mut Work) {
    if work.is_sqlite() {
        change(query, work, true);
    }
}

fn change(query: &mut Query, work: &mut Work, is_negated: bool) {
    each_select(query, &mut |select| {
        let Some(outer) = Scope::from_select(select, work.catalog) else { return };
        each_condition(select, &mut |condition| {
            let Expr::Exists { subquery, negated } = condition else { return };
            if *negated != is_negated {
                return;
            }
            if let Some(new) = list(subquery, is_negated, &outer, work)
                && work.takes()
            {
                *condition = new;
            }
        });
    });
}

fn list(query: &Query, is_negated: bool, outer: &Scope, work: &Work) -> Option<Expr> {
    let (parts, select) = Parts::from_query(query, outer, work.catalog)?;
    if !is_row_by_row(&select) {
        return None;
    }
    let keys = parts.keys.as_slice();
    if let ([key], true) = (keys, is_negated) {
        let not_null = work.expr(&format!("{} IS NOT NULL", operand(&key.inner)))?;
        let more = if parts.scope.is_nullable(&key.inner) { vec![not_null] } else { Vec::new() };
        let inner = &key.inner;
        let outer_key = operand(&key.outer);
        let not_in = format!("{outer_key} NOT IN (SELECT {inner} {})", parts.text(more));
        let is_nullable = outer.is_nullable(&key.outer);
        return work.expr(&if is_nullable {
            format!("({outer_key} IS NULL OR {not_in})")
        } else {
            not_in
        });
    }
    if keys.is_empty() || keys.len() > 3 || is_negated {
        return None;
    }
    let all = |side: &dyn Fn(&crate::rewriter::subquery::Key) -> String| {
        keys.iter().map(side).collect::<Vec<_>>().join(", ")
    };
    let outer = all(&|key| operand(&key.outer));
    let outer = if keys.len() > 1 { format!("({outer})") } else { outer };
    work.expr(&format!(
        "{outer} IN (SELECT {} {})",
        all(&|key| key.inner.to_string()),
        parts.text(Vec::new())
    ))
}
