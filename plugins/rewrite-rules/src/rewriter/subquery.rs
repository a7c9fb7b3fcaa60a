//! Sub-queries taken apart: the equalities that tie one to the outer row, and its own conditions.

use sqlparser::ast::{BinaryOperator, Expr, Ident, Query, Select, TableFactor};
use syrch_plugin::prelude::*;

use super::refs::{Refs, refs, replace};
use super::scope::{Owner, Scope, Source, same};
use super::sql::{conjuncts, from_text, is_row_by_row, item_expr, plain, where_text};

/// An equality between a column of the sub-query and the outer row.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    pub(crate) inner: Expr,
    pub(crate) outer: Expr,
    /// True if the inner side is written first: SQLite uses the collation of the first.
    pub(crate) inner_first: bool,
}

/// A sub-query whose FROM and conditions are understood.
#[derive(Debug, Clone)]
pub(crate) struct Parts<'a> {
    pub(crate) scope: Scope<'a>,
    pub(crate) keys: Vec<Key>,
    /// The conditions on its own rows.
    pub(crate) rest: Vec<Expr>,
    from: String,
}

impl<'a> Parts<'a> {
    /// Takes a sub-query apart. `None` when it is more than one SELECT, or refers to the outer row
    /// in another way than by equalities in WHERE.
    pub(crate) fn from_query(
        query: &Query,
        outer: &Scope,
        catalog: &'a Catalog,
    ) -> Option<(Self, Select)> {
        let select = plain(query)?;
        let scope = Scope::from_select(select, catalog)?;
        if scope.sources.is_empty()
            || !select.from.iter().all(|tables| is_own(&refs(tables), &scope, outer))
        {
            return None;
        }
        let mut keys = Vec::new();
        let mut rest = Vec::new();
        for condition in select.selection.iter().flat_map(conjuncts) {
            if is_own(&refs(condition), &scope, outer) {
                rest.push(condition.clone());
            } else {
                keys.push(key(condition, &scope, outer)?);
            }
        }
        let parts = Self { scope, keys, rest, from: from_text(select) };
        Some((parts, select.clone()))
    }

    /// `FROM … WHERE …` with the conditions on own rows and further ones.
    pub(crate) fn text(&self, more: Vec<Expr>) -> String {
        let conditions: Vec<Expr> = self.rest.iter().cloned().chain(more).collect();
        format!("FROM {}{}", self.from, where_text(&conditions))
    }

    /// The place in the outer FROM that has all the outer sides.
    pub(crate) fn item(&self, outer: &Scope) -> Option<usize> {
        let paths: Vec<Vec<Ident>> =
            self.keys.iter().flat_map(|key| refs(&key.outer).own).collect();
        one_item(&paths, outer)
    }
}

/// The place in FROM of all these columns, where it is one.
pub(crate) fn one_item(paths: &[Vec<Ident>], scope: &Scope) -> Option<usize> {
    let mut items = paths.iter().map(|path| match scope.owner(path) {
        Owner::Source(place) => scope.sources.get(place).map(|source| source.item),
        _ => None,
    });
    let first = items.next()??;
    items.all(|item| item == Some(first)).then_some(first)
}

/// Returns true if a part of a sub-query refers only to the sub-query's own rows.
pub(crate) fn is_own(found: &Refs, inner: &Scope, outer: &Scope) -> bool {
    inner.owns_all(&found.own)
        && found.nested.iter().all(|path: &Vec<Ident>| {
            matches!(inner.owner(path), Owner::Source(_)) || !outer.may_own(path)
        })
}

/// Returns true if an expression refers to the outer row, and to nothing else.
fn is_outer(found: &Refs, inner: &Scope, outer: &Scope) -> bool {
    !found.has_query
        && !found.own.is_empty()
        && found.own.iter().all(|path: &Vec<Ident>| {
            inner.owner(path) == Owner::Nobody && matches!(outer.owner(path), Owner::Source(_))
        })
}

fn key(condition: &Expr, inner: &Scope, outer: &Scope) -> Option<Key> {
    let Expr::BinaryOp { left, op: BinaryOperator::Eq, right } = condition else { return None };
    let a = refs(&**left);
    let b = refs(&**right);
    let is_inner =
        |found: &Refs| !found.has_query && !found.own.is_empty() && inner.owns_all(&found.own);
    fn new_key(inner: &Expr, outer: &Expr, inner_first: bool) -> Key {
        Key { inner: inner.clone(), outer: outer.clone(), inner_first }
    }
    if is_inner(&a) && is_outer(&b, inner, outer) {
        Some(new_key(left, right, true))
    } else if is_inner(&b) && is_outer(&a, inner, outer) {
        Some(new_key(right, left, false))
    } else {
        None
    }
}

/// The one output column of a sub-query that leaves its rows as they are: neither groups nor
/// aggregates, of its own rows alone.
pub(crate) fn one_column(select: &Select, parts: &Parts, outer: &Scope) -> Option<Expr> {
    let [item] = select.projection.as_slice() else { return None };
    let expr = item_expr(item)?;
    let found = refs(expr);
    let fits = is_row_by_row(select) && !found.has_query && is_own(&found, &parts.scope, outer);
    fits.then(|| expr.clone())
}

/// An expression of the outer row as it can stand in a sub-query: every column with its table.
/// `None` where a column cannot be attributed to a table.
pub(crate) fn qualify(expr: &Expr, outer: &Scope) -> Option<Expr> {
    let found = refs(expr);
    if found.has_query || !outer.owns_all(&found.own) {
        return None;
    }
    let mut expr = expr.clone();
    replace(&mut expr, &mut |expr| {
        let Expr::Identifier(column) = expr else { return None };
        let Owner::Source(place) = outer.owner(std::slice::from_ref(column)) else { return None };
        Some(Expr::CompoundIdentifier(vec![outer.sources.get(place)?.name.clone(), column.clone()]))
    });
    Some(expr)
}

/// Gives the tables of a sub-query other names where they have those of outer tables to which
/// `used` refers, so that these can be named in it. `None` where that is not possible.
pub(crate) fn apart(
    query: &Query,
    used: &[Vec<Ident>],
    outer: &Scope,
    catalog: &Catalog,
    fresh: &mut dyn FnMut(&str) -> String,
) -> Option<Query> {
    let select = plain(query)?;
    let scope = Scope::from_select(select, catalog)?;
    let names: Vec<&Ident> = used.iter().filter_map(|path| path.iter().rev().nth(1)).collect();
    let clash = |source: &Source| names.iter().any(|name| same(name, &source.name));
    if !scope.sources.iter().any(clash) {
        return Some(query.clone());
    }
    let found = refs(select);
    if found.has_query
        || scope.has_merged_columns
        || !found.own.iter().all(|path: &Vec<Ident>| {
            matches!(scope.owner(path), Owner::Source(_)) || outer.may_own(path)
        })
    {
        return None;
    }
    let renamed: Vec<Option<Ident>> =
        scope.sources.iter().map(|source| clash(source).then(|| Ident::new(fresh("t")))).collect();
    let mut query = query.clone();
    rename(&mut query, &scope, &renamed)?;
    Some(query)
}

fn rename(query: &mut Query, scope: &Scope, renamed: &[Option<Ident>]) -> Option<()> {
    fn find_new_name(renamed: &[Option<Ident>], scope: &Scope, path: &[Ident]) -> Option<Ident> {
        match scope.owner(path) {
            Owner::Source(place) => renamed.get(place).cloned().flatten(),
            _ => None,
        }
    }
    let sqlparser::ast::SetExpr::Select(select) = &mut *query.body else { return None };
    replace(&mut **select, &mut |expr| {
        let path = match expr {
            Expr::Identifier(name) => std::slice::from_ref(name),
            Expr::CompoundIdentifier(path) => path.as_slice(),
            _ => return None,
        };
        Some(Expr::CompoundIdentifier(vec![
            find_new_name(renamed, scope, path)?,
            path.last()?.clone(),
        ]))
    });
    let mut place = 0;
    let mut set = |factor: &mut TableFactor| {
        if let (
            Some(Some(name)),
            TableFactor::Table { alias, .. } | TableFactor::Derived { alias, .. },
        ) = (renamed.get(place), factor)
        {
            let columns = alias.as_ref().map(|alias| alias.columns.clone()).unwrap_or_default();
            *alias = Some(sqlparser::ast::TableAlias {
                explicit: true,
                name: name.clone(),
                columns,
                at: None,
            });
        }
        place += 1;
    };
    for tables in &mut select.from {
        set(&mut tables.relation);
        tables.joins.iter_mut().for_each(|join| set(&mut join.relation));
    }
    Some(())
}
