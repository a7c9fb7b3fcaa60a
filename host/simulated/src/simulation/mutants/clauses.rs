//! Mistakes in whole clauses: aggregates, DISTINCT, set operations, groups, order and limit.

use std::rc::Rc;

use sqlparser::ast::{
    Distinct, DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments,
    GroupByExpr, Ident, LimitClause, ObjectName, OrderByKind, OrderBySort, Query, Select, SetExpr,
    SetOperator, SetQuantifier, Statement, Value,
};
use syrch_core::Catalog;

use super::sites::{Change, Made, change_list, having, queries, selects};
use super::tables::Tables;

/// Another aggregate, or none.
pub(super) fn agg<'a>(statement: &'a Statement, catalog: &'a Catalog) -> Made<'a, Statement> {
    selects(statement, move |select| {
        let tables = Tables::new(&select, catalog);
        let change: Change<'a> = Rc::new(move |expr: &Expr| match expr {
            Expr::Function(function) => change_aggregate(function, &tables),
            _ => Vec::new(),
        });
        Box::new(change_list(&select, Rc::clone(&change)).chain(having(&select, change)))
    })
}

fn change_aggregate(function: &Function, tables: &Tables<'_>) -> Vec<Expr> {
    let others: &[&str] = match function.name.to_string().to_ascii_lowercase().as_str() {
        "count" => &["sum"],
        "sum" => &["avg", "count"],
        "avg" => &["sum", "max"],
        "min" => &["max"],
        "max" => &["min", "sum"],
        _ => return Vec::new(),
    };
    let FunctionArguments::List(list) = &function.args else { return Vec::new() };
    match list.args.as_slice() {
        [FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))] => others
            .iter()
            .map(|name: &&str| {
                let name = ObjectName::from(vec![Ident::new(name.to_ascii_uppercase())]);
                Expr::Function(Function { name, ..function.clone() })
            })
            .chain([argument.clone()])
            .collect(),
        // `COUNT(*)`: the mistakes count the values of a column, or add them up.
        [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)] => {
            let of = |name: &str, column: Expr, once: bool| {
                let mut function = function.clone();
                function.name = ObjectName::from(vec![Ident::new(name)]);
                if let FunctionArguments::List(list) = &mut function.args {
                    list.args = vec![FunctionArg::Unnamed(FunctionArgExpr::Expr(column))];
                    list.duplicate_treatment = once.then_some(DuplicateTreatment::Distinct);
                }
                Expr::Function(function)
            };
            let columns = tables.columns();
            let once = columns.iter().map(|column| of("COUNT", column.clone(), true));
            once.chain(columns.iter().map(|column| of("SUM", column.clone(), false))).collect()
        }
        _ => Vec::new(),
    }
}

/// Each row once, or all of them; each value once in a count, or all of them.
pub(super) fn distinct(statement: &Statement) -> Made<'_, Statement> {
    selects(statement, |select| {
        let distinct = match select.distinct {
            None | Some(Distinct::All) => Some(Distinct::Distinct),
            Some(_) => None,
        };
        Box::new(
            change_list(
                &select,
                Rc::new(|expr: &Expr| match expr {
                    Expr::Function(function) => toggle_distinct(function).into_iter().collect(),
                    _ => Vec::new(),
                }),
            )
            .chain([Select { distinct, ..Select::clone(&select) }]),
        )
    })
}

fn toggle_distinct(function: &Function) -> Option<Expr> {
    let mut function = function.clone();
    let FunctionArguments::List(list) = &mut function.args else { return None };
    let [FunctionArg::Unnamed(FunctionArgExpr::Expr(_))] = list.args.as_slice() else {
        return None;
    };
    list.duplicate_treatment = match list.duplicate_treatment {
        Some(DuplicateTreatment::Distinct) => None,
        _ => Some(DuplicateTreatment::Distinct),
    };
    Some(Expr::Function(function))
}

/// Another set operation, or one of its sides alone.
pub(super) fn setop(statement: &Statement) -> Made<'_, Statement> {
    queries(statement, |query| {
        let SetExpr::SetOperation { left, op, set_quantifier, right } = query.body.as_ref() else {
            return Box::new(std::iter::empty());
        };
        fn with_body(query: &Rc<Query>, body: SetExpr) -> Query {
            Query { body: Box::new(body), ..Query::clone(query) }
        }
        let of = |op: SetOperator, set_quantifier: SetQuantifier| {
            with_body(
                &query,
                SetExpr::SetOperation {
                    left: left.clone(),
                    op,
                    set_quantifier,
                    right: right.clone(),
                },
            )
        };
        let all = [SetOperator::Union, SetOperator::Intersect, SetOperator::Except];
        let mut changed: Vec<Query> = all
            .into_iter()
            .filter(|other| other != op)
            .map(|other| of(other, SetQuantifier::None))
            .collect();
        if *op == SetOperator::Union {
            let is_all = *set_quantifier == SetQuantifier::All;
            changed.push(of(*op, if is_all { SetQuantifier::None } else { SetQuantifier::All }));
        }
        changed.extend([
            with_body(&query, left.as_ref().clone()),
            with_body(&query, right.as_ref().clone()),
        ]);
        Box::new(changed.into_iter())
    })
}

/// Removes GROUP BY, so that there are no groups.
pub(super) fn group_drop(statement: &Statement) -> Made<'_, Statement> {
    selects(statement, |select| match &select.group_by {
        GroupByExpr::Expressions(by, _) if by.is_empty() => Box::new(std::iter::empty()),
        _ => {
            let group_by = GroupByExpr::Expressions(Vec::new(), Vec::new());
            Box::new(std::iter::once(Select { group_by, having: None, ..Select::clone(&select) }))
        }
    })
}

/// The other direction, or no order where it decides what a limit leaves.
pub(super) fn order(statement: &Statement) -> Made<'_, Statement> {
    queries(statement, |query| {
        let Some(OrderByKind::Expressions(by)) = query.order_by.as_ref().map(|order| &order.kind)
        else {
            return Box::new(std::iter::empty());
        };
        let count = by.len();
        let none = Query { order_by: None, ..Query::clone(&query) };
        let turned = (0..count).map(move |place| {
            let mut query = Query::clone(&query);
            if let Some(OrderByKind::Expressions(by)) =
                query.order_by.as_mut().map(|order| &mut order.kind)
            {
                let sort = &mut by[place].options.sort;
                *sort =
                    if *sort == Some(OrderBySort::Desc) { None } else { Some(OrderBySort::Desc) };
            }
            query
        });
        Box::new(turned.chain([none]))
    })
}

/// Another limit, none, or one where there should be none.
pub(super) fn limit(statement: &Statement) -> Made<'_, Statement> {
    queries(statement, |query| {
        let of = |rows: u64| {
            let limit = Some(Expr::Value(Value::Number(rows.to_string(), false).into()));
            let clause = LimitClause::LimitOffset { limit, offset: None, limit_by: Vec::new() };
            Query { limit_clause: Some(clause), ..Query::clone(&query) }
        };
        let rows = match &query.limit_clause {
            None if query.order_by.is_some() => return Box::new([of(1), of(3)].into_iter()),
            None => return Box::new(std::iter::empty()),
            Some(
                LimitClause::LimitOffset { limit: Some(rows), .. }
                | LimitClause::OffsetCommaLimit { limit: rows, .. },
            ) => rows.to_string().parse::<u64>().ok(),
            Some(_) => None,
        };
        let near = rows.into_iter().flat_map(|rows| {
            [rows.saturating_add(1), rows.saturating_mul(2), rows.saturating_sub(1).max(1)]
        });
        let none = Query { limit_clause: None, ..Query::clone(&query) };
        Box::new(near.map(of).chain([none]).collect::<Vec<_>>().into_iter())
    })
}
