//! Selects as many tables, and as many of their columns, as fit into the bytes.

use std::collections::{BTreeMap, BTreeSet};

use syrch_plugin::prelude::*;
use syrch_plugin::prompt;

use crate::Settings;
use crate::linker::fuse::Fused;
use crate::linker::joins::Joins;
use crate::linker::retrievers::Place;

/// Columns of a table that are shown for what was found, beside its keys, before better tables are
/// widened.
const FOUND: usize = 4;
/// Keys of a table that are shown first.
const KEYS: usize = 4;

/// The bytes that a table and each of its columns take in a prompt.
struct Cost {
    table: usize,
    columns: Vec<usize>,
}

impl Cost {
    /// Measures the table as prompts show it: a line for itself, one for each column, then its keys
    /// of several columns.
    fn measure(catalog: &Catalog, table: &Table) -> Self {
        let alone = Catalog {
            database: catalog.database.clone(),
            dialect: catalog.dialect.clone(),
            syntax: catalog.syntax.clone(),
            tables: vec![table.clone()],
        };
        let text = prompt::catalog(&alone, usize::MAX);
        let lines: Vec<usize> = text.split_inclusive('\n').map(str::len).collect();
        let columns: Vec<usize> = lines.iter().skip(1).take(table.columns.len()).copied().collect();
        Self { table: text.len() - columns.iter().sum::<usize>(), columns }
    }

    fn with(&self, columns: &BTreeSet<usize>) -> usize {
        self.table + columns.iter().filter_map(|at| self.columns.get(*at)).sum::<usize>()
    }
}

/// A table that is selected so far.
struct Selected<'f> {
    found: &'f Fused<usize>,
    cost: Cost,
    columns: BTreeSet<usize>,
}

/// The best tables that fit, in their order: first many with their keys and what was found of them,
/// then the best of them with further columns, and at last, with the bytes that are left, more
/// tables.
pub(crate) fn fit(
    catalog: &Catalog,
    joins: &Joins,
    order: &[Fused<usize>],
    columns: &[Fused<Place>],
    settings: &Settings,
) -> Vec<Relevant> {
    let bytes = settings.catalog_bytes as usize;
    let mut best_of: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for column in columns {
        best_of.entry(column.key.0).or_default().push(column.key.1);
    }
    let mut fit = Fit { catalog, joins, best_of, left: order, selected: Vec::new(), used: 0 };
    fit.broaden((bytes as f64 * settings.breadth) as usize);
    fit.widen(bytes);
    fit.broaden(bytes);
    fit.selected.iter().map(|table| table.relevant(catalog)).collect()
}

/// Tables and columns on their way into the bytes.
struct Fit<'a> {
    catalog: &'a Catalog,
    joins: &'a Joins,
    /// Columns that were found, by table, best first.
    best_of: BTreeMap<usize, Vec<usize>>,
    left: &'a [Fused<usize>],
    selected: Vec<Selected<'a>>,
    used: usize,
}

impl Fit<'_> {
    /// Adds the next tables, each with few columns, as long as they fit; the first whatever it
    /// takes.
    fn broaden(&mut self, bytes: usize) {
        while let Some((found, others)) = self.left.split_first() {
            let table = &self.catalog.tables[found.key];
            let cost = Cost::measure(self.catalog, table);
            let columns = lean(table, self.joins.keys(found.key), self.best_of.get(&found.key));
            let used = self.used + cost.with(&columns);
            if used > bytes && !self.selected.is_empty() {
                return;
            }
            self.used = used;
            self.left = others;
            self.selected.push(Selected { found, cost, columns });
        }
    }

    /// Adds columns to the best tables, what was found first, as long as they fit.
    fn widen(&mut self, bytes: usize) {
        for table in &mut self.selected {
            let best = self.best_of.get(&table.found.key).into_iter().flatten().copied();
            for column in best.chain(0..table.cost.columns.len()) {
                let cost = table.cost.columns.get(column).copied().unwrap_or(0);
                if !table.columns.contains(&column) && self.used + cost <= bytes {
                    self.used += cost;
                    table.columns.insert(column);
                }
            }
        }
    }
}

/// The columns to show of a table in any case: some keys and the best of what was found; its first
/// column when that is none.
fn lean(table: &Table, keys: &BTreeSet<usize>, best: Option<&Vec<usize>>) -> BTreeSet<usize> {
    let best = best.into_iter().flatten().take(FOUND).copied();
    let mut columns: BTreeSet<usize> = keys.iter().take(KEYS).copied().chain(best).collect();
    if columns.is_empty() && !table.columns.is_empty() {
        columns.insert(0);
    }
    columns
}

impl Selected<'_> {
    fn relevant(&self, catalog: &Catalog) -> Relevant {
        let table = &catalog.tables[self.found.key];
        let is_whole = self.columns.len() == table.columns.len();
        let names = self
            .columns
            .iter()
            .filter_map(|at| table.columns.get(*at))
            .map(|column| column.name.clone());
        Relevant {
            table: catalog.table_name(table),
            columns: if is_whole { Vec::new() } else { names.collect() },
            score: self.found.score.clamp(0.0, 1.0),
            reason: format!("found by {}", self.found.retrievers.join(", ")),
        }
    }
}
