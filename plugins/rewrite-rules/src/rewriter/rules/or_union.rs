//! `or-to-union`: a condition `a OR b` becomes the rows that meet `a` and then those that meet `b`
//! and not `a`.
//!
//! Sound: every row meets exactly one of the branches, since `a IS NOT TRUE` also holds where `a`
//! is NULL. The branches stand in FROM, so that groups, DISTINCT and ORDER BY stay as they are.

use sqlparser::ast::{
    Expr, GroupByExpr, Ident, OrderBy, OrderByKind, Query, Select, SelectItem, SetExpr, Value,
};

use crate::rewriter::refs::{refs, replace};
use crate::rewriter::scope::{Owner, Scope};
use crate::rewriter::sql::{
    all_of, conjuncts, disjuncts, is_standard, item_expr, item_name, on_of,
};
use crate::rewriter::work::Work;

/// Conditions with more alternatives than this are left as they are.
const BRANCHES: usize = 3;

/// Changes the outermost SELECT, and those of its CTEs.
pub(crate) fn apply(query: &mut Query, work: &mut Work) {
    for cte in query.with.iter_mut().flat_map(|with| &mut with.cte_tables) {
        change(&mut cte.query, work);
    }
    change(query, work);
}

fn change(query: &mut Query, work: &mut Work) {
    if let Some(new) = divide(query, work)
        && work.takes()
    {
        *query = new;
    }
}

fn divide<'a>(query: &Query, work: &mut Work<'a>) -> Option<Query> {
    let SetExpr::Select(select) = &*query.body else { return None };
    let scope = Scope::from_select(select, work.catalog)?;
    if !is_standard(select) || scope.has_merged_columns || !select.named_window.is_empty() {
        return None;
    }
    let spot = find_spot(select, &scope)?;
    let name = work.fresh("u");
    let mut columns = Columns { name: &name, scope: &scope, work, found: Vec::new() };
    let mut query = query.clone();
    let mut new = (**select).clone();
    new.projection =
        new.projection.into_iter().map(|item| columns.output(item)).collect::<Option<_>>()?;
    let GroupByExpr::Expressions(keys, _) = &mut new.group_by else { return None };
    for key in keys {
        columns.change(key)?;
    }
    new.having.iter_mut().try_for_each(|having| columns.change(having))?;
    columns.order(query.order_by.as_mut(), select)?;
    let listed = columns.select_items();
    let branches = branches(select, &spot, &listed)?;
    let from =
        work.query(&format!("SELECT 1 FROM ({}) AS {name}", branches.join(" UNION ALL ")))?;
    let SetExpr::Select(from) = *from.body else { return None };
    new.from = from.from;
    new.selection = None;
    query.body = Box::new(SetExpr::Select(Box::new(new)));
    Some(query)
}

/// The place of the condition.
enum Spot {
    /// At this place among the conditions of WHERE.
    Where(usize),
    /// In ON of this join of this item of FROM, at this place among its conditions.
    On(usize, usize, usize),
}

/// The first OR that is worth dividing, in WHERE or in ON of an inner join.
fn find_spot(select: &Select, scope: &Scope) -> Option<Spot> {
    fn place(scope: &Scope, condition: &Expr) -> Option<usize> {
        conjuncts(condition).iter().position(|part| is_worth_it(part, scope))
    }
    for (item, tables) in select.from.iter().enumerate() {
        for (join, joined) in tables.joins.iter().enumerate() {
            let is_inner = crate::rewriter::scope::is_inner(&joined.join_operator);
            if let Some(found) = on_of(&joined.join_operator)
                .filter(|_| is_inner)
                .and_then(|condition| place(scope, condition))
            {
                return Some(Spot::On(item, join, found));
            }
        }
    }
    select.selection.as_ref().and_then(|condition| place(scope, condition)).map(Spot::Where)
}

/// Returns true if a condition is an OR of conditions on different columns.
fn is_worth_it(condition: &Expr, scope: &Scope) -> bool {
    let parts = disjuncts(condition);
    let all: Vec<_> = parts
        .iter()
        .map(|part: &&Expr| {
            let found = refs(*part);
            let mut names: Vec<(Option<usize>, String)> = found
                .own
                .iter()
                .filter_map(|path| {
                    let owner = match scope.owner(path) {
                        Owner::Source(place) => Some(place),
                        _ => None,
                    };
                    Some((owner, path.last()?.value.to_ascii_lowercase()))
                })
                .collect();
            names.sort();
            names.dedup();
            (names, found.has_query)
        })
        .collect();
    (2..=BRANCHES).contains(&parts.len())
        && all.iter().all(|(names, has_query): &(Vec<(Option<usize>, String)>, bool)| {
            *has_query || !names.is_empty()
        })
        && all.windows(2).any(|two| two[0] != two[1])
}

/// One SELECT for each side of the OR.
fn branches(select: &Select, spot: &Spot, columns: &[SelectItem]) -> Option<Vec<String>> {
    let mut plain = select.clone();
    plain.distinct = None;
    plain.having = None;
    plain.group_by = GroupByExpr::Expressions(Vec::new(), Vec::new());
    plain.projection = columns.to_vec();
    let (condition, place) = match spot {
        Spot::Where(place) => (plain.selection.clone()?, *place),
        Spot::On(item, join, place) => {
            (on_of(&plain.from.get(*item)?.joins.get(*join)?.join_operator)?.clone(), *place)
        }
    };
    let parts: Vec<Expr> = conjuncts(&condition).into_iter().cloned().collect();
    let sides: Vec<Expr> = disjuncts(parts.get(place)?).into_iter().cloned().collect();
    let mut branches = Vec::new();
    for (number, side) in sides.iter().enumerate() {
        let mut conditions = parts.clone();
        *conditions.get_mut(place)? = side.clone();
        conditions.extend(
            sides
                .iter()
                .take(number)
                .map(|side: &Expr| Expr::IsNotTrue(Box::new(Expr::Nested(Box::new(side.clone()))))),
        );
        let mut branch = plain.clone();
        let all = all_of(conditions);
        match spot {
            Spot::Where(_) => branch.selection = all,
            Spot::On(item, join, _) => {
                let operator = &mut branch.from.get_mut(*item)?.joins.get_mut(*join)?.join_operator;
                *operator =
                    sqlparser::ast::JoinOperator::Join(sqlparser::ast::JoinConstraint::On(all?));
            }
        }
        branches.push(branch.to_string());
    }
    Some(branches)
}

/// The columns that the outer part uses, under the names that the branches give them.
struct Columns<'s, 'a> {
    name: &'s str,
    scope: &'s Scope<'a>,
    work: &'s mut Work<'a>,
    /// Owner, name in lower case, the reference, and the name in the branches.
    found: Vec<(usize, String, Expr, String)>,
}

impl Columns<'_, '_> {
    /// Replaces references to tables by references to the branches; `None` where one is not
    /// understood.
    fn change(&mut self, expr: &mut Expr) -> Option<()> {
        let found = refs(expr);
        if found.has_query || !self.scope.owns_all(&found.own) {
            return None;
        }
        let mut new = Vec::new();
        for path in &found.own {
            new.push((path.clone(), self.column(path)?));
        }
        let name = Ident::new(self.name);
        replace(expr, &mut |expr| {
            let own = match expr {
                Expr::Identifier(own) => std::slice::from_ref(own),
                Expr::CompoundIdentifier(own) => own.as_slice(),
                _ => return None,
            };
            let (_, column) = new.iter().find(|(path, _)| path == own)?;
            Some(Expr::CompoundIdentifier(vec![name.clone(), Ident::new(column)]))
        });
        Some(())
    }

    /// The name of a column in the branches: its own, with a number where two tables have it.
    fn column(&mut self, path: &[Ident]) -> Option<String> {
        let Owner::Source(place) = self.scope.owner(path) else { return None };
        let name = path.last()?.value.to_ascii_lowercase();
        if let Some((.., column)) =
            self.found.iter().find(|(owner, known, ..)| (*owner, known) == (place, &name))
        {
            return Some(column.clone());
        }
        let column = self.work.fresh("c");
        let reference = match path {
            [name] => Expr::Identifier(name.clone()),
            path => Expr::CompoundIdentifier(path.to_vec()),
        };
        self.found.push((place, name, reference, column.clone()));
        Some(column)
    }

    /// An output column, with the name that it had.
    fn output(&mut self, item: SelectItem) -> Option<SelectItem> {
        let mut expr = item_expr(&item)?.clone();
        let name = item_name(&item).cloned();
        self.change(&mut expr)?;
        Some(name.map_or_else(
            || SelectItem::UnnamedExpr(expr.clone()),
            |alias| SelectItem::ExprWithAlias { expr: expr.clone(), alias },
        ))
    }

    /// ORDER BY, in which a name alone may be that of an output column.
    fn order(&mut self, order: Option<&mut OrderBy>, select: &Select) -> Option<()> {
        let Some(order) = order else { return Some(()) };
        let OrderByKind::Expressions(keys) = &mut order.kind else { return None };
        fn is_output(select: &Select, expr: &Expr) -> bool {
            match expr {
                Expr::Identifier(name) => select
                    .projection
                    .iter()
                    .filter_map(item_name)
                    .any(|output| output.value.eq_ignore_ascii_case(&name.value)),
                Expr::Value(_) => true,
                _ => false,
            }
        }
        keys.iter_mut()
            .filter(|key| !is_output(select, &key.expr))
            .try_for_each(|key| self.change(&mut key.expr))
    }

    /// Returns the items that the branches select.
    fn select_items(&mut self) -> Vec<SelectItem> {
        fn alias_item(expr: &Expr, name: &str) -> SelectItem {
            SelectItem::ExprWithAlias { expr: expr.clone(), alias: Ident::new(name) }
        }
        let mut items: Vec<SelectItem> =
            self.found.iter().map(|(_, _, expr, name)| alias_item(expr, name)).collect();
        if items.is_empty() {
            items.push(alias_item(
                &Expr::value(Value::Number("1".into(), false)),
                &self.work.fresh("c"),
            ));
        }
        items
    }
}
