//! Chooses one of several columns or cells that a name may mean, by the tables that the question
//! mentions.

use std::collections::BTreeMap;

use super::cues::Cue;
use super::found::Found;
use super::items::{Reading, What};
use super::joins;
use super::lexicon::Scale;
use super::schema::{ColumnRef, Schema, Span};

/// One way to decide the open points; the default is the likeliest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Choice {
    /// Takes that item's n-th best meaning.
    pub(crate) item: Option<(usize, usize)>,
    /// DISTINCT where the question does not ask for it, and none where it does.
    pub(crate) distinct: bool,
    /// Alternatives where both are read, and both where alternatives are.
    pub(crate) sets: bool,
}

/// The data that all choices share: the meanings of each item with the score of each, best first.
pub(crate) struct Ranks {
    /// The weight of each table in the question.
    weights: Vec<f64>,
    /// The distance of each table from the one of the greatest weight.
    far: Vec<f64>,
    columns: Vec<Vec<(ColumnRef, f64)>>,
    cells: Vec<Vec<(Found, f64)>>,
}

impl Ranks {
    pub(crate) fn new(schema: &Schema, reading: &Reading) -> Self {
        let weights = weights(schema, reading);
        let far = heaviest_table(&weights)
            .map_or_else(|| vec![0.0; weights.len()], |main| joins::distances(schema, main));
        let judge = Judge { schema, reading, weights: &weights, far: &far };
        let columns = (0..reading.items.len()).map(|at| judge.columns(at)).collect();
        let cells = (0..reading.items.len()).map(|at| judge.cells(at)).collect();
        Self { weights, far, columns, cells }
    }
}

pub(crate) struct Resolver<'a> {
    schema: &'a Schema,
    reading: &'a Reading,
    ranks: &'a Ranks,
    choice: Choice,
}

impl<'a> Resolver<'a> {
    pub(crate) fn new(
        schema: &'a Schema,
        reading: &'a Reading,
        ranks: &'a Ranks,
        choice: Choice,
    ) -> Self {
        Self { schema, reading, ranks, choice }
    }

    /// The column that an item means; `None` if the item means none.
    pub(crate) fn column(&self, at: usize) -> Option<ColumnRef> {
        self.ranks.columns.get(at)?.get(self.chosen_place(at)).map(|(column, _)| *column)
    }

    /// Returns the lead of the first meaning of a column or a cell over the second; 1 if there is
    /// no second.
    pub(crate) fn margin(&self, at: usize) -> f64 {
        fn lead(first: f64, second: f64) -> f64 {
            (first - second).clamp(0.0, 1.0)
        }
        match (self.ranks.columns[at].as_slice(), self.ranks.cells[at].as_slice()) {
            ([(_, first), (_, second), ..], _) => lead(*first, *second),
            (_, [(_, first), (_, second), ..]) => lead(*first, *second),
            _ => 1.0,
        }
    }

    /// The cell that an item means.
    pub(crate) fn cell(&self, at: usize) -> Option<Found> {
        self.ranks.cells.get(at)?.get(self.chosen_place(at)).map(|(cell, _)| cell.clone())
    }

    /// The column of a table near the item that measures what the scale measures, and whether in
    /// the opposite direction.
    pub(crate) fn column_for_scale(&self, at: usize, scale: Scale) -> Option<(ColumnRef, bool)> {
        self.tables_by_nearness(at)
            .into_iter()
            .find_map(|table| self.schema.column_for_words(table, scale.of))
    }

    /// The column that a time is compared with where the question names none: of the first of
    /// these tables whose rows happen at a time, else of the first that has dates or whose rows
    /// belong to what has. `None` if none of them has any, or if it is not clear which is meant.
    pub(crate) fn find_dates(&self, tables: &[usize], span: Span) -> Option<ColumnRef> {
        let happens = |table: &&usize| self.schema.happening_dates(**table).is_some();
        let found = |table: &usize| {
            self.schema.times(*table, span).or_else(|| self.schema.dates_of_owner(*table).map(Some))
        };
        let happening = tables.iter().filter(happens).find_map(found);
        happening.or_else(|| tables.iter().find_map(found)).flatten()
    }

    /// The columns of the nearest table that has some which the scale measures, and whether in the
    /// opposite direction.
    pub(crate) fn all_measured(&self, at: usize, scale: Scale) -> (Vec<ColumnRef>, bool) {
        let measured = self
            .tables_by_nearness(at)
            .into_iter()
            .map(|table| self.schema.all_measured(table, scale.of));
        measured.into_iter().find(|(columns, _)| !columns.is_empty()).unwrap_or_default()
    }

    /// The column that names the rows of the nearest table.
    pub(crate) fn label(&self, at: usize) -> Option<ColumnRef> {
        let table = *self.tables_by_nearness(at).first()?;
        self.schema.tables[table].labels.first().map(|column| ColumnRef { table, column: *column })
    }

    /// The table of the greatest weight.
    pub(crate) fn main(&self) -> Option<usize> {
        heaviest_table(&self.ranks.weights)
    }

    fn chosen_place(&self, at: usize) -> usize {
        self.choice.item.filter(|(item, _)| *item == at).map_or(0, |(_, nth)| nth)
    }

    /// Tables by nearness to the item: the one just after, the last one before, then by weight.
    fn tables_by_nearness(&self, at: usize) -> Vec<usize> {
        let table = |item: &super::items::Item| match item.what {
            What::Table(table) => Some(table),
            _ => None,
        };
        let close = self.reading.items.get(at + 1).and_then(table);
        let before = self.reading.items[..at].iter().rev().find_map(table);
        let cell = self.cell(at + 1).map(|cell| cell.column.table);
        let mut order: Vec<usize> =
            close.into_iter().chain(cell).chain(before).chain(self.main()).collect();
        let mut rest: Vec<usize> = (0..self.ranks.weights.len())
            .filter(|table| self.ranks.weights[*table] > 0.0)
            .collect();
        rest.sort_by(|a, b| {
            self.ranks.weights[*b].total_cmp(&self.ranks.weights[*a]).then(a.cmp(b))
        });
        order.extend(rest);
        // Neighbours of the table of the greatest weight may hold what is measured.
        let mut close: Vec<usize> =
            (0..self.ranks.far.len()).filter(|table| self.ranks.far[*table] < 2.0).collect();
        close.sort_by(|a, b| self.ranks.far[*a].total_cmp(&self.ranks.far[*b]).then(a.cmp(b)));
        order.extend(close);
        let mut seen = vec![false; self.ranks.weights.len()];
        order.retain(|table| !std::mem::replace(&mut seen[*table], true));
        order
    }
}

/// Judges meanings by their surroundings.
struct Judge<'a> {
    schema: &'a Schema,
    reading: &'a Reading,
    weights: &'a [f64],
    far: &'a [f64],
}

impl Judge<'_> {
    fn columns(&self, at: usize) -> Vec<(ColumnRef, f64)> {
        let Some(What::Column(candidates)) = self.reading.items.get(at).map(|item| &item.what)
        else {
            return Vec::new();
        };
        let mut scored: Vec<(ColumnRef, f64)> = candidates
            .iter()
            .map(|(column, score)| (*column, score + self.context(at, *column)))
            .collect();
        scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        scored
    }

    fn cells(&self, at: usize) -> Vec<(Found, f64)> {
        let Some(What::Cell(cells)) = self.reading.items.get(at).map(|item| &item.what) else {
            return Vec::new();
        };
        let mut scored: Vec<(Found, f64)> = cells
            .iter()
            .map(|cell| {
                let named = self
                    .names(at.checked_sub(1), cell.column)
                    .max(self.names(Some(at + 1), cell.column));
                let label =
                    self.schema.tables[cell.column.table].labels.contains(&cell.column.column);
                let bonus = if label { 0.08 } else { 0.0 };
                // A reference is a worse place for a cell than the table that it refers to.
                let key = if self.schema.column(cell.column).is_key { 0.05 } else { 0.0 };
                // `guests in Paris` are no guests of a hotel there, whatever follows.
                let is_place = self.reading.table_of_place(at) == Some(cell.column.table);
                let place = if is_place { 0.4 } else { 0.0 };
                let score = cell.weight + named + bonus + place - key;
                (cell.clone(), score + self.context(at, cell.column))
            })
            .collect();
        scored.sort_by(|a, b| {
            b.1.total_cmp(&a.1).then(a.0.column.cmp(&b.0.column)).then(a.0.text.cmp(&b.0.text))
        });
        scored
    }

    /// The weight of a neighbouring item that may mean this column.
    fn names(&self, neighbour: Option<usize>, column: ColumnRef) -> f64 {
        let Some(item) = neighbour.and_then(|at| self.reading.items.get(at)) else { return 0.0 };
        match &item.what {
            What::Column(candidates) => candidates
                .iter()
                .find(|(other, _)| *other == column)
                .map_or(0.0, |(_, score)| 0.5 * score),
            What::Table(table) if *table == column.table => 0.3,
            _ => 0.0,
        }
    }

    /// The score of a column of that table by the surroundings of the item.
    fn context(&self, at: usize, column: ColumnRef) -> f64 {
        let mut score = self.weights[column.table];
        if self.table_after(at) == Some(column.table) {
            score += 0.3;
        }
        if self.table_before(at) == Some(column.table) {
            score += 0.4;
        }
        score -= 0.04 * self.far[column.table].min(6.0);
        score
    }

    /// The table of `name of the T`, `name and age for each T`.
    fn table_after(&self, at: usize) -> Option<usize> {
        for item in &self.reading.items[at + 1..] {
            match &item.what {
                What::Table(table) => return Some(*table),
                What::Cue(
                    Cue::And | Cue::Comma | Cue::Distinct | Cue::Each | Cue::Superlative(_),
                )
                | What::Column(_)
                | What::Cell(_) => {}
                _ => return None,
            }
        }
        None
    }

    /// The table of `T name`.
    fn table_before(&self, at: usize) -> Option<usize> {
        let previous = &self.reading.items[at.checked_sub(1)?];
        match previous.what {
            What::Table(table) if previous.to == self.reading.items[at].from => Some(table),
            _ => None,
        }
    }
}

/// The table of the greatest weight, if any has one.
fn heaviest_table(weights: &[f64]) -> Option<usize> {
    let best = weights.iter().copied().fold(0.0, f64::max);
    weights.iter().position(|weight| *weight == best && best > 0.0)
}

/// The weight of each table: for its own name, more in the part that asks for something; for its
/// columns; for its cells.
fn weights(schema: &Schema, reading: &Reading) -> Vec<f64> {
    let mut weights = vec![0.0; schema.tables.len()];
    let mut best = |table: usize, weight: f64| weights[table] = f64::max(weights[table], weight);
    let mut main = false;
    for (at, item) in reading.items.iter().enumerate() {
        if let What::Table(table) = item.what {
            let counted = at > 0 && matches!(reading.items[at - 1].what, What::Cue(Cue::Count));
            let first = item.head && !main && !counted;
            main |= first;
            best(table, if first { 0.4 } else { 0.3 } * item.score.max(0.6));
        }
    }
    let columns: Vec<&Vec<(ColumnRef, f64)>> = reading
        .items
        .iter()
        .filter_map(
            |item| if let What::Column(candidates) = &item.what { Some(candidates) } else { None },
        )
        .collect();
    for list in &columns {
        let mut fits: BTreeMap<usize, f64> = BTreeMap::new();
        for (column, score) in *list {
            let best = fits.entry(column.table).or_default();
            *best = best.max(*score);
        }
        fits.iter().for_each(|(table, fit)| weights[*table] += 0.25 * fit / columns.len() as f64);
    }
    for item in &reading.items {
        if let What::Cell(cells) = &item.what {
            let mut tables: Vec<usize> = cells.iter().map(|cell| cell.column.table).collect();
            tables.dedup();
            if let [only] = tables.as_slice() {
                weights[*only] += 0.05;
            }
        }
    }
    weights
}
