//! `cte-inlined` and `cte-materialized`: whether a CTE is computed once and stored, or where it is
//! used.
//!
//! PostgreSQL has words for it. SQLite has, too, but the parser does not read them in its dialect;
//! there a CTE is inlined by putting its text where its name stands. Sound: nothing that is
//! admitted here depends on how often it is computed.

use std::ops::ControlFlow;

use sqlparser::ast::{
    Cte, CteAsMaterialized, Ident, ObjectName, Query, TableAlias, TableFactor, VisitMut,
    VisitorMut, visit_relations,
};

use crate::rewriter::scope::plain_name;
use crate::rewriter::work::Work;

pub(crate) fn inline(query: &mut Query, work: &mut Work) {
    if work.is_sqlite() {
        return inline_text(query, work);
    }
    mark(query, work, CteAsMaterialized::NotMaterialized);
}

pub(crate) fn materialize(query: &mut Query, work: &mut Work) {
    if !work.is_sqlite() {
        mark(query, work, CteAsMaterialized::Materialized);
    }
}

/// Sets the word of every CTE whose default it is not: PostgreSQL stores what is used more than
/// once.
fn mark(query: &mut Query, work: &mut Work, word: CteAsMaterialized) {
    let counts: Vec<usize> =
        query.with.iter().flat_map(|with| &with.cte_tables).map(|cte| uses(query, cte)).collect();
    let Some(with) = query.with.as_mut().filter(|with| !with.recursive) else { return };
    for (cte, uses) in with.cte_tables.iter_mut().zip(counts) {
        let default = if uses > 1 {
            CteAsMaterialized::Materialized
        } else {
            CteAsMaterialized::NotMaterialized
        };
        if uses > 0 && cte.materialized.unwrap_or(default) != word && work.takes() {
            cte.materialized = Some(word);
        }
    }
}

/// Returns the number of times that a CTE's name stands in FROM.
fn uses(query: &Query, cte: &Cte) -> usize {
    let mut count = 0;
    let _ = visit_relations(query, |name| {
        count += usize::from(is_named(name, &cte.alias.name));
        ControlFlow::<()>::Continue(())
    });
    count
}

fn is_named(name: &ObjectName, cte: &Ident) -> bool {
    plain_name(name).is_some_and(|name| name.eq_ignore_ascii_case(&cte.value))
}

/// Puts a CTE that is used more than once where its name stands. One that is used once SQLite
/// inlines itself.
fn inline_text(query: &mut Query, work: &mut Work) {
    let candidates: Vec<Ident> = match &query.with {
        Some(with) if !with.recursive => with
            .cte_tables
            .iter()
            .filter(|cte: &&Cte| {
                cte.alias.columns.is_empty() && (2..=4).contains(&uses(query, cte))
            })
            .map(|cte| cte.alias.name.clone())
            .collect(),
        _ => return,
    };
    for name in candidates {
        // A name that an inner WITH gives again means something else there.
        if has_inner_with(query) || !work.takes() {
            continue;
        }
        let Some(with) = query.with.as_mut() else { return };
        let Some(place) = with.cte_tables.iter().position(|cte| cte.alias.name == name) else {
            continue;
        };
        let cte = with.cte_tables.remove(place);
        if with.cte_tables.is_empty() {
            query.with = None;
        }
        let _ = query.visit(&mut Inline { name: &name, query: &cte.query });
    }
}

struct Inline<'c> {
    name: &'c Ident,
    query: &'c Query,
}

impl VisitorMut for Inline<'_> {
    type Break = ();
    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        let TableFactor::Table { name, alias, args: None, .. } = factor else {
            return ControlFlow::Continue(());
        };
        if !is_named(name, self.name) {
            return ControlFlow::Continue(());
        }
        let own =
            TableAlias { explicit: true, name: self.name.clone(), columns: Vec::new(), at: None };
        let alias = Some(alias.take().unwrap_or(own));
        *factor = TableFactor::Derived {
            lateral: false,
            subquery: Box::new(self.query.clone()),
            alias,
            sample: None,
        };
        ControlFlow::Continue(())
    }
}

/// Returns true if a sub-query has a WITH of its own.
fn has_inner_with(query: &Query) -> bool {
    struct Find(usize, bool);
    impl sqlparser::ast::Visitor for Find {
        type Break = ();
        fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
            self.1 |= self.0 > 0 && query.with.is_some();
            self.0 += 1;
            ControlFlow::Continue(())
        }
        fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
            self.0 -= 1;
            ControlFlow::Continue(())
        }
    }
    let mut find = Find(0, false);
    let _ = sqlparser::ast::Visit::visit(query, &mut find);
    find.1
}
