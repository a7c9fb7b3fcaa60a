//! `distinct-to-exists`: tables that only filter the rows of SELECT DISTINCT move into EXISTS.
//!
//! Sound: DISTINCT removes what the join repeats. It stays unless the output has the primary key of
//! the one table that is left.

use sqlparser::ast::{Distinct, Expr, Ident, Query, Select};

use crate::rewriter::flat::{Flat, comma_list};
use crate::rewriter::refs::{path, refs};
use crate::rewriter::scope::{Owner, Scope};
use crate::rewriter::sql::{all_of, is_row_by_row, item_expr, where_text};
use crate::rewriter::walk::each_select;
use crate::rewriter::work::Work;

pub(crate) fn apply(query: &mut Query, work: &mut Work) {
    each_select(query, &mut |select| {
        if let Some(new) = semi_joined(select, work)
            && work.takes()
        {
            *select = new;
        }
    });
}

fn semi_joined(select: &Select, work: &Work) -> Option<Select> {
    let is_plain = matches!(select.distinct, Some(Distinct::Distinct)) && is_row_by_row(select);
    let flat = Flat::from_select(select)?;
    let scope = Scope::from_select(select, work.catalog)?;
    if !is_plain || flat.tables.len() < 2 {
        return None;
    }
    let mut shows = vec![false; flat.tables.len()];
    for item in &select.projection {
        let found = refs(item_expr(item)?);
        if found.has_query || !scope.owns_all(&found.own) {
            return None;
        }
        for path in &found.own {
            if let Owner::Source(place) = scope.owner(path) {
                *shows.get_mut(place)? = true;
            }
        }
    }
    if shows.iter().all(|shown| *shown) || !shows.contains(&true) {
        return None;
    }
    let (inner, outer): (Vec<Expr>, Vec<Expr>) =
        flat.conditions.iter().cloned().partition(|condition| {
            let found = refs(condition);
            found.own.iter().chain(&found.nested).any(|path: &Vec<Ident>| match scope.owner(path) {
                Owner::Source(place) => !shows.get(place).copied().unwrap_or(true),
                Owner::Nobody => false,
                Owner::Unclear => true,
            })
        });
    if inner
        .iter()
        .flat_map(|condition| refs(condition).own)
        .any(|path| scope.owner(&path) == Owner::Unclear)
    {
        return None;
    }
    let pick = |shown: bool| flat.tables.iter().zip(&shows).filter(move |(_, own)| **own == shown);
    let from = pick(false).map(|(table, _)| table.to_string()).collect::<Vec<_>>().join(", ");
    let exists = work.expr(&format!("EXISTS (SELECT 1 FROM {from}{})", where_text(&inner)))?;
    let mut new = select.clone();
    new.from = comma_list(pick(true).map(|(table, _)| table.clone()));
    new.selection = all_of(outer.into_iter().chain([exists]).collect());
    if has_key(select, &scope, &shows) {
        new.distinct = None;
    }
    Some(new)
}

/// Returns true if the output has the primary key of the one table that it shows, so that no row
/// repeats.
fn has_key(select: &Select, scope: &Scope, shows: &[bool]) -> bool {
    let mut shown =
        scope.sources.iter().zip(shows).filter(|(_, shown)| **shown).map(|(source, _)| source);
    let (Some(source), None) = (shown.next(), shown.next()) else { return false };
    let Some(table) = source.table else { return false };
    let outputs: Vec<&Ident> =
        select.projection.iter().filter_map(|item| path(item_expr(item)?)?.last()).collect();
    let is_not_null =
        |name: &String| table.columns.iter().any(|column| column.name == *name && !column.nullable);
    let is_output =
        |name: &String| outputs.iter().any(|output| output.value.eq_ignore_ascii_case(name));
    !table.primary_key.is_empty()
        && table.primary_key.iter().all(|name| is_not_null(name) && is_output(name))
}
