//! The context in which a rule works: the catalog, the places that it may change, and unused names.

use std::collections::BTreeSet;

use sqlparser::ast::{Expr, Query};
use syrch_plugin::prelude::*;

use super::sql::Engine;
use super::walk::names;

/// One application of a rule.
pub(crate) struct Work<'a> {
    pub(crate) catalog: &'a Catalog,
    pub(crate) engine: Engine,
    /// The plan of the statement, as the engine writes it.
    pub(crate) plan: &'a str,
    /// The one place that is changed; `None` for all.
    only: Option<usize>,
    /// The places that the rule could change so far.
    seen: usize,
    taken: BTreeSet<String>,
}

impl<'a> Work<'a> {
    pub(crate) fn new(
        catalog: &'a Catalog,
        engine: Engine,
        plan: &'a str,
        query: &Query,
        only: Option<usize>,
    ) -> Self {
        let columns =
            catalog.tables.iter().flat_map(|table| &table.columns).map(|column| &column.name);
        let tables = catalog.tables.iter().map(|table| &table.name);
        let taken = tables
            .chain(columns)
            .map(|name| name.to_ascii_lowercase())
            .chain(names(query))
            .collect();
        Self { catalog, engine, plan, only, seen: 0, taken }
    }

    /// Called once for each place that the rule can change. Whether it shall.
    pub(crate) fn takes(&mut self) -> bool {
        self.seen += 1;
        self.only.is_none_or(|only| only + 1 == self.seen)
    }

    /// The number of places that the rule could change.
    pub(crate) fn places(&self) -> usize {
        self.seen
    }

    /// A name that neither the statement nor the catalog has: no alias may be called like a table,
    /// and none may hide a column.
    pub(crate) fn fresh(&mut self, start: &str) -> String {
        let mut name = format!("{start}1");
        let mut number = 1_u32;
        while !self.taken.insert(name.clone()) {
            number += 1;
            name = format!("{start}{number}");
        }
        name
    }

    pub(crate) fn query(&self, text: &str) -> Option<Query> {
        self.engine.query(text)
    }

    pub(crate) fn expr(&self, text: &str) -> Option<Expr> {
        self.engine.expr(text)
    }

    pub(crate) fn is_sqlite(&self) -> bool {
        self.engine == Engine::Sqlite
    }
}
