//! Comparisons of a column with the least or greatest value of another column.

use sqlparser::ast::{Expr, ObjectName, Select, SetExpr, TableFactor};
use syrch_core::ports::{ColumnName, UseKind};
use syrch_core::{Catalog, Table};

use super::super::scope::same;
use super::beside::expression;
use super::plain::{arguments, name};
use super::{Noted, is_extreme, strip_parentheses};

impl Noted<'_> {
    /// Records a column that is compared with the extreme of a column of another name.
    pub(super) fn extreme(&mut self, column: &Expr, other: &Expr) {
        let Some(origin) = self.column(column) else { return };
        let Some((function, of)) = extreme(other, self.catalog) else { return };
        if !same(&of.column, &origin.column) {
            self.record(origin, None, UseKind::Extreme { function, of });
        }
    }
}

/// The function and the column of a query that is one MIN or MAX over tables of the catalog.
fn extreme(expr: &Expr, catalog: &Catalog) -> Option<(String, ColumnName)> {
    let Expr::Subquery(query) = strip_parentheses(expr) else { return None };
    let SetExpr::Select(select) = &*query.body else { return None };
    let [item] = select.projection.as_slice() else { return None };
    let Expr::Function(function) = strip_parentheses(expression(item)?) else { return None };
    let argument = arguments(function).into_iter().next().filter(|_| is_extreme(function))?;
    let (qualifier, column) = match strip_parentheses(argument) {
        Expr::Identifier(column) => (None, column),
        Expr::CompoundIdentifier(names) => match names.as_slice() {
            [.., qualifier, column] => (Some(qualifier), column),
            _ => return None,
        },
        _ => return None,
    };
    let tables = tables(select, catalog)?;
    let meant = tables
        .into_iter()
        .filter(|(name, _)| qualifier.is_none_or(|qualifier| same(name, &qualifier.value)));
    let mut found = meant.filter_map(|(_, table)| Some((table, table.column(&column.value)?)));
    let (table, column) = found.next()?;
    let of = ColumnName { table: catalog.table_name(table), column: column.name.clone() };
    found.next().is_none().then_some((name(function), of))
}

/// The tables of FROM with the names that qualify their columns; `None` if anything else stands
/// there.
pub(super) fn tables<'c>(
    select: &Select,
    catalog: &'c Catalog,
) -> Option<Vec<(String, &'c Table)>> {
    let factors = select.from.iter().flat_map(|tree| {
        std::iter::once(&tree.relation).chain(tree.joins.iter().map(|join| &join.relation))
    });
    factors
        .map(|factor: &TableFactor| {
            let TableFactor::Table { name, alias, args: None, .. } = factor else { return None };
            let table = catalog.table(&full_name(name)?)?;
            let name =
                alias.as_ref().map_or_else(|| table.name.clone(), |alias| alias.name.value.clone());
            Some((name, table))
        })
        .collect()
}

fn full_name(name: &ObjectName) -> Option<String> {
    let names: Option<Vec<&str>> =
        name.0.iter().map(|part| Some(part.as_ident()?.value.as_str())).collect();
    Some(names?.join("."))
}
