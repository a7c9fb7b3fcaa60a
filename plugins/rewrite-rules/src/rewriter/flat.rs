//! FROM as a list of tables and a list of conditions, where all joins are inner ones.

use sqlparser::ast::{
    Expr, Ident, Join, JoinConstraint, JoinOperator, Select, SelectItem,
    SelectItemQualifiedWildcardKind, TableFactor, TableWithJoins,
};

use super::scope::Scope;
use super::sql::{conjuncts, on_of};

/// The tables of a SELECT in their order, and all that ON and WHERE ask of their rows.
pub(crate) struct Flat {
    pub(crate) tables: Vec<TableFactor>,
    pub(crate) conditions: Vec<Expr>,
}

impl Flat {
    /// `None` with outer joins, USING and NATURAL.
    pub(crate) fn from_select(select: &Select) -> Option<Self> {
        let mut tables = Vec::new();
        let mut conditions = Vec::new();
        for item in &select.from {
            tables.push(item.relation.clone());
            for Join { relation, join_operator, .. } in &item.joins {
                tables.push(relation.clone());
                match join_operator {
                    JoinOperator::Join(JoinConstraint::On(_))
                    | JoinOperator::Inner(JoinConstraint::On(_)) => {
                        conditions
                            .extend(on_of(join_operator).into_iter().flat_map(conjuncts).cloned());
                    }
                    JoinOperator::Join(JoinConstraint::None)
                    | JoinOperator::Inner(JoinConstraint::None)
                    | JoinOperator::CrossJoin(JoinConstraint::None) => {}
                    _ => return None,
                }
            }
        }
        conditions.extend(select.selection.iter().flat_map(conjuncts).cloned());
        Some(Self { tables, conditions })
    }
}

/// Tables separated by commas.
pub(crate) fn comma_list(tables: impl IntoIterator<Item = TableFactor>) -> Vec<TableWithJoins> {
    tables.into_iter().map(|relation| TableWithJoins { relation, joins: Vec::new() }).collect()
}

/// Tables that SQLite joins in this order.
pub(crate) fn cross_join(tables: Vec<TableFactor>) -> Option<TableWithJoins> {
    let mut tables = tables.into_iter();
    let relation = tables.next()?;
    Some(TableWithJoins {
        relation,
        joins: tables
            .map(|relation| Join {
                relation,
                global: false,
                join_operator: JoinOperator::CrossJoin(JoinConstraint::None),
            })
            .collect(),
    })
}

/// Writes `*` as one `table.*` for each table, so that neither a further table nor another order
/// shows.
pub(crate) fn spell_out(select: &mut Select, scope: &Scope) {
    let old = std::mem::take(&mut select.projection);
    select.projection = old
        .into_iter()
        .flat_map(|item| match item {
            SelectItem::Wildcard(options) => {
                let each = |name: &Ident| {
                    let kind = SelectItemQualifiedWildcardKind::ObjectName(name.clone().into());
                    SelectItem::QualifiedWildcard(kind, options.clone())
                };
                scope.sources.iter().map(|source| each(&source.name)).collect()
            }
            other => vec![other],
        })
        .collect();
}
