//! The walk over one SELECT.

use std::rc::Rc;

use sqlparser::ast::{
    Distinct, Expr, GroupByExpr, Ident, OrderByExpr, OrderByOptions, Select, SelectItem,
    SelectItemQualifiedWildcardKind, Value,
};
use sqlparser::tokenizer::Span;
use syrch_core::SqlError;

use super::depend::{self, Dependencies};
use super::kind::{Affinity, Kind};
use super::query::{Around, Purpose};
use super::scope::{Column, Columns, Determined, Scope};
use super::{Walk, output};

/// The groups of a SELECT.
enum Groups {
    /// Each row is a row of the result.
    None,
    /// All rows are one group, or it is grouped by what the determined values follow from.
    Some(Determined),
}

impl Walk<'_> {
    pub(super) fn select(
        &mut self,
        select: &mut Select,
        around: Around<'_>,
    ) -> Result<Rc<Columns>, SqlError> {
        let mut sources = self.sources(&mut select.from)?;
        sources.shrink_to_fit();
        self.scopes.push(Scope { sources, ..Scope::default() });
        let columns = self.walk_select(select, around);
        self.scopes.pop();
        columns
    }

    fn walk_select(
        &mut self,
        select: &mut Select,
        around: Around<'_>,
    ) -> Result<Rc<Columns>, SqlError> {
        // What is not bound here is refused by the guard's own walk, or was walked before.
        let Select {
            select_token: _,
            optimizer_hints: _,
            distinct,
            select_modifiers: _,
            top,
            top_before_distinct: _,
            projection,
            exclude: _,
            into: _,
            from,
            lateral_views: _,
            prewhere: _,
            selection,
            connect_by: _,
            group_by,
            cluster_by: _,
            distribute_by: _,
            sort_by: _,
            having,
            named_window,
            qualify: _,
            window_before_qualify: _,
            value_table_mode: _,
            flavor: _,
        } = select;
        let Around { order, is_limited, purpose } = around;
        if top.is_some() {
            return Err(self.refuse(
                "limit",
                "TOP",
                "is refused: which rows it picks may depend on the plan",
                Span::empty(),
            ));
        }
        let is_distinct = match distinct {
            None | Some(Distinct::All) => false,
            Some(Distinct::Distinct) => true,
            Some(Distinct::On(_)) => {
                let why = "is refused: which rows it picks may depend on the plan";
                return Err(self.refuse("distinct-on", "DISTINCT ON", why, Span::empty()));
            }
        };
        let order = order.map(Vec::as_mut_slice).unwrap_or_default();
        self.name_aliases(projection);
        let mut dependencies = self.joins(from)?;
        if let Some(condition) = selection {
            self.in_sight(|walk| walk.expr(condition))?;
            dependencies.condition(&self.scopes, condition);
        }
        self.windows(named_window)?;
        let keys = self.keys(group_by, projection)?;
        let groups = self.groups(keys.as_deref(), &dependencies, projection, having, order)?;
        let is_one_group = matches!(groups, Groups::Some(_)) && keys.is_none();
        if let (Groups::Some(determined), Some(scope)) = (groups, self.scopes.last_mut()) {
            scope.determined = Some(determined);
        }
        if let Some(condition) = having {
            self.in_sight(|walk| walk.expr(condition))?;
        }
        let picked: Vec<SelectItem> = match is_limited || purpose == Purpose::Value {
            true => projection.clone(),
            false => Vec::new(),
        };
        let columns = self.projection(projection, purpose == Purpose::Result)?;
        for OrderByExpr {
            expr,
            options: OrderByOptions { sort: _, nulls_first: _ },
            with_fill: _,
        } in order.iter_mut()
        {
            self.in_sight(|walk| walk.expr(expr))?;
        }
        if is_distinct
            && self.is_sqlite
            && let Some(column) = columns.list.iter().find(|column| !column.kind.is_canonical())
        {
            return Err(self.refuse_mixed(&column.name, Span::empty()));
        }
        if self.is_sqlite && !picked.is_empty() && !is_one_group {
            let sorted = if is_limited { order } else { Default::default() };
            let is_value = purpose == Purpose::Value && !is_limited;
            self.picks_one(&picked, sorted, keys.as_deref(), &dependencies, is_value)?;
        }
        Ok(columns)
    }

    /// Walks where the names of the list of results are in sight.
    fn in_sight<T>(
        &mut self,
        walk: impl FnOnce(&mut Self) -> Result<T, SqlError>,
    ) -> Result<T, SqlError> {
        self.show_aliases(true);
        let result = walk(self);
        self.show_aliases(false);
        result
    }

    fn show_aliases(&mut self, sees_aliases: bool) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.sees_aliases = sees_aliases;
        }
    }

    fn name_aliases(&mut self, projection: &mut [SelectItem]) {
        for item in projection {
            if let SelectItem::ExprWithAlias { expr, alias } = item {
                if alias.quote_style == Some('\'') {
                    alias.quote_style = Some('"');
                }
                if let Some(scope) = self.scopes.last_mut().filter(|_| self.is_sqlite) {
                    scope.aliases.push((alias.value.clone(), Rc::new(expr.clone())));
                }
            }
        }
    }

    /// The expressions of GROUP BY, in which numbers and names of the list of results are replaced
    /// by what they mean.
    fn keys(
        &mut self,
        group_by: &mut GroupByExpr,
        projection: &[SelectItem],
    ) -> Result<Option<Vec<Expr>>, SqlError> {
        let items = match group_by {
            GroupByExpr::All(_) => {
                return Err(self.refuse("clause", "GROUP BY ALL", "is refused", Span::empty()));
            }
            GroupByExpr::Expressions(items, _) if items.is_empty() => return Ok(None),
            GroupByExpr::Expressions(items, _) => items,
        };
        let mut keys = Vec::with_capacity(items.len());
        for item in items {
            let kind = self.in_sight(|walk| walk.expr(item))?;
            let meant = self.resolve_reference(item, projection);
            let kind = match &meant {
                Some(meant) => self.expr(&mut meant.clone())?,
                None => kind,
            };
            if self.is_sqlite && !kind.is_canonical() {
                return Err(self.refuse_mixed(&item.to_string(), Span::empty()));
            }
            keys.push(meant.unwrap_or_else(|| item.clone()));
        }
        Ok(Some(keys))
    }

    /// Returns the expression in the list of results that a number or a name in GROUP BY or ORDER
    /// BY stands for.
    fn resolve_reference(&self, item: &Expr, projection: &[SelectItem]) -> Option<Expr> {
        let of = |item: &SelectItem| match item {
            SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, alias: _ } => {
                Some(expr.clone())
            }
            SelectItem::ExprWithAliases { .. }
            | SelectItem::QualifiedWildcard(..)
            | SelectItem::Wildcard(_) => None,
        };
        match item {
            Expr::Value(value) => match &value.value {
                Value::Number(digits, _) => {
                    of(projection.get(digits.parse::<usize>().ok()?.checked_sub(1)?)?)
                }
                _ => None,
            },
            Expr::Identifier(Ident { value, quote_style: _, span: _ })
                if depend::column(&self.scopes, item).is_none() =>
            {
                let scope = self.scopes.last()?;
                let lower = value.to_lowercase();
                let alias = scope.aliases.iter().find(|(alias, _)| alias.to_lowercase() == lower);
                alias.map(|(_, expr)| (**expr).clone())
            }
            _ => None,
        }
    }

    fn groups(
        &mut self,
        keys: Option<&[Expr]>,
        dependencies: &Dependencies,
        projection: &mut [SelectItem],
        having: &mut Option<Expr>,
        order: &mut [OrderByExpr],
    ) -> Result<Groups, SqlError> {
        if !self.is_sqlite {
            return Ok(Groups::None);
        }
        let is_grouped = keys.is_some()
            || having.is_some()
            || projection.iter_mut().any(|item: &mut SelectItem| match item {
                SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, alias: _ } => {
                    self.has_aggregate(expr)
                }
                SelectItem::ExprWithAliases { .. }
                | SelectItem::QualifiedWildcard(..)
                | SelectItem::Wildcard(_) => false,
            })
            || order.iter_mut().any(|item| self.has_aggregate(&mut item.expr));
        if !is_grouped {
            return Ok(Groups::None);
        }
        let mut determined = self.determine(keys.unwrap_or_default(), dependencies);
        determined.has_aggregates = true;
        Ok(Groups::Some(determined))
    }

    /// Returns the columns and expressions that have one value where these expressions have one.
    fn determine(&self, exprs: &[Expr], dependencies: &Dependencies) -> Determined {
        let mut determined = Determined::default();
        for expr in exprs {
            match depend::column(&self.scopes, expr)
                .filter(|found| found.depth + 1 == self.scopes.len())
            {
                Some(found) => {
                    determined.columns.insert(found.id);
                }
                None => determined.exprs.push(expr.clone()),
            }
        }
        if let Some(scope) = self.scopes.last() {
            dependencies.close(scope, &mut determined);
        }
        determined
    }

    /// Refuses a choice among rows that differ in the list of results.
    fn picks_one(
        &mut self,
        projection: &[SelectItem],
        order: &[OrderByExpr],
        keys: Option<&[Expr]>,
        dependencies: &Dependencies,
        is_value: bool,
    ) -> Result<(), SqlError> {
        // SQLite takes a name in ORDER BY for an alias before it takes it for a column.
        if order.iter().any(|item: &OrderByExpr| {
            let mut expr = &item.expr;
            while let Expr::Nested(inner) = expr {
                expr = inner;
            }
            let Expr::Identifier(ident) = expr else { return false };
            projection.iter().any(|item: &SelectItem| match item {
                SelectItem::ExprWithAlias { expr: inner, alias } => {
                    alias.value.eq_ignore_ascii_case(&ident.value) && inner != expr
                }
                _ => false,
            }) && depend::column(&self.scopes, expr).is_some()
        }) {
            let why = "is refused: a name in ORDER BY is that of a column and of another result";
            return Err(self.refuse(
                if is_value { "scalar-rows" } else { "limit" },
                "ORDER BY",
                why,
                Span::empty(),
            ));
        }
        let sorted = order.iter().map(|item| {
            self.resolve_reference(&item.expr, projection).unwrap_or_else(|| item.expr.clone())
        });
        let sorted: Vec<Expr> = sorted.collect();
        let mut determined = self.determine(&sorted, dependencies);
        determined.is_choice = true;
        // Where one group is left, so is one value of each aggregate.
        determined.has_aggregates = keys.is_some_and(|keys| {
            keys.iter().all(|key| match depend::column(&self.scopes, key) {
                Some(found) => found.depth + 1 != self.scopes.len() || determined.has(found.id),
                None => determined.exprs.contains(key),
            })
        });
        if let Some(scope) = self.scopes.last_mut() {
            scope.determined = Some(determined);
            scope.known.clear();
        }
        let mut items = projection.to_vec();
        if self.projection(&mut items, false).is_ok() {
            return Ok(());
        }
        Err(match is_value {
            true => {
                let why = "in place of a value may have several rows, of which the engine takes \
                           any: use an aggregate or a unique key";
                self.refuse("scalar-rows", "SELECT", why, Span::empty())
            }
            false => {
                let why = "is refused: ORDER BY leaves rows equal that differ, so which of them it \
                           picks depends on the plan";
                self.refuse("limit", "LIMIT", why, Span::empty())
            }
        })
    }

    fn projection(
        &mut self,
        projection: &mut [SelectItem],
        is_named: bool,
    ) -> Result<Rc<Columns>, SqlError> {
        let mut list = Vec::with_capacity(projection.len());
        for item in projection {
            match item {
                SelectItem::UnnamedExpr(expr) => {
                    let name = output::name(expr, self.is_sqlite);
                    let column = self.column(expr, name.clone())?;
                    list.push(column);
                    if is_named && !output::has_name(expr) {
                        self.unnamed.push(name.clone());
                        let alias = Ident::with_quote('"', name);
                        *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias };
                    }
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    let column = self.column(expr, alias.value.clone())?;
                    list.push(column);
                }
                SelectItem::ExprWithAliases { expr, aliases: _ } => {
                    let why = "is refused: one name for each column";
                    return Err(self.refuse("clause", &expr.to_string(), why, Span::empty()));
                }
                SelectItem::QualifiedWildcard(
                    SelectItemQualifiedWildcardKind::ObjectName(name),
                    _,
                ) => {
                    let source = name
                        .0
                        .last()
                        .and_then(|part| part.as_ident())
                        .map(|ident| ident.value.clone());
                    self.wildcard(source.as_deref(), &mut list)?;
                }
                SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::Expr(expr), _) => {
                    return Err(self.refuse(
                        "clause",
                        &expr.to_string(),
                        "is refused before `.*`",
                        Span::empty(),
                    ));
                }
                SelectItem::Wildcard(_) => self.wildcard(None, &mut list)?,
            }
            if list.len() > super::COLUMNS {
                let why = format!("has more than {} columns", super::COLUMNS);
                return Err(self.refuse("columns", "SELECT", &why, Span::empty()));
            }
        }
        Ok(Rc::new(Columns::new(list)))
    }

    fn column(&mut self, expr: &mut Expr, name: String) -> Result<Column, SqlError> {
        let kind = self.expr(expr)?;
        let found = depend::column(&self.scopes, expr);
        let affinity = found.map_or(Affinity::Any, |found| found.affinity);
        Ok(Column { name, kind, affinity, is_not_null: false })
    }

    fn wildcard(&mut self, source: Option<&str>, list: &mut Vec<Column>) -> Result<(), SqlError> {
        let Some(scope) = self.scopes.last().filter(|_| self.is_sqlite) else { return Ok(()) };
        for (id, column) in scope.all(source) {
            if scope.determined.as_ref().is_some_and(|determined| !determined.has(id)) {
                return Err(self.bare(&column.name, Span::empty()));
            }
            list.push(Column { is_not_null: false, ..column });
        }
        Ok(())
    }

    pub(super) fn bare(&self, name: &str, span: Span) -> SqlError {
        let why = "stands beside groups that do not determine it: the engine takes its value from \
                   any row; group by it or aggregate it";
        self.refuse("bare-column", name, why, span)
    }

    /// The kind of an alias of a scope, which is walked as if it stood in that scope.
    pub(super) fn alias_kind(&mut self, depth: usize, alias: usize) -> Result<Kind, SqlError> {
        let Some(scope) = self.scopes.get(depth) else { return Ok(Kind::ANY) };
        let known = (alias, scope.determined.is_some() && scope.aggregates == 0);
        if let Some(kind) = scope.known.get(&known) {
            return Ok(*kind);
        }
        let Some((_, expr)) = scope.aliases.get(alias) else { return Ok(Kind::ANY) };
        let mut expr = (**expr).clone();
        let inner = self.scopes.split_off(depth + 1);
        self.show_aliases(false);
        let kind = self.expr(&mut expr);
        self.show_aliases(true);
        self.scopes.extend(inner);
        if let (Ok(kind), Some(scope)) = (&kind, self.scopes.get_mut(depth)) {
            scope.known.insert(known, *kind);
        }
        kind
    }
}
