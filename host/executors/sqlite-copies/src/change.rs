//! The changes to a table's sample: to places, values, and the number of times that a row stands
//! there.

use std::collections::HashSet;

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use rusqlite::types::Value;

use crate::keys::{Keys, key_text};
use crate::literals::{RetainedLiterals, number_text};
use crate::source::Sampled;

/// The probability that a column's cells change places.
const MOVED: f64 = 0.7;
/// The probability that some of a column's cells become others of the column, and their share.
const COPIED: (f64, f64) = (0.4, 0.15);
/// The probability that some of a column's cells change a little, and their share.
const ALTERED: (f64, f64) = (0.4, 0.2);
/// The share of the changed cells that become a constant of the expected statements, or come near
/// one.
const NEAR: f64 = 0.4;
/// The largest share of rows that stand twice.
const REPEATED: f64 = 0.3;

/// Changes to one table.
pub(crate) struct Changes<'a> {
    pub(crate) table: &'a mut Sampled,
    pub(crate) keys: &'a Keys,
    pub(crate) retained: &'a RetainedLiterals,
}

impl Changes<'_> {
    pub(crate) fn make(mut self, random: &mut Pcg64) {
        if self.table.rows.len() < 2 {
            return;
        }
        let fixed = self.key_columns();
        for column in (0..self.table.columns.len()).filter(|column| !fixed.contains(column)) {
            let values: HashSet<String> =
                self.table.rows.iter().filter_map(|row| key_text(row, &[column])).collect();
            let is_measure =
                values.len() * 3 > self.table.rows.len() && !self.keys.refers(self.table, column);
            let is_repeated = values.len() < self.table.rows.len();
            if random.random_bool(COPIED.0) && is_repeated {
                self.copy(column, random);
            }
            if random.random_bool(ALTERED.0) && is_measure {
                self.alter(column, random);
            }
            if random.random_bool(MOVED) {
                self.shuffle(&[column], random);
            }
        }
        for at in 0..self.table.foreign_keys.len() {
            let columns = self.table.foreign_keys[at].columns.clone();
            if random.random_bool(MOVED) && columns.iter().all(|column| !self.is_referred(*column))
            {
                self.shuffle(&columns, random);
            }
        }
        self.repeat(random);
    }

    /// Columns of keys, unique indexes and foreign keys, which have rules of their own.
    fn key_columns(&self) -> HashSet<usize> {
        let table = &*self.table;
        let foreign = table.foreign_keys.iter().flat_map(|key| &key.columns);
        let referred = table.seen.keys().flatten();
        table
            .primary_key
            .iter()
            .chain(table.unique.iter().flatten())
            .chain(foreign)
            .chain(referred)
            .copied()
            .collect()
    }

    /// Returns true if others may refer to a column.
    fn is_referred(&self, column: usize) -> bool {
        self.table.seen.keys().any(|columns| columns == &[column])
    }

    /// Lets the cells of columns change places, those of a row together.
    fn shuffle(&mut self, columns: &[usize], random: &mut Pcg64) {
        let mut order: Vec<usize> = (0..self.table.rows.len()).collect();
        order.shuffle(random);
        for column in columns {
            let cells: Vec<Value> =
                order.iter().map(|row| self.table.rows[*row][*column].clone()).collect();
            self.table.rows.iter_mut().zip(cells).for_each(|(row, cell)| row[*column] = cell);
        }
    }

    /// Makes some cells of a column others of it.
    fn copy(&mut self, column: usize, random: &mut Pcg64) {
        for at in 0..self.table.rows.len() {
            let from = random.random_range(0..self.table.rows.len());
            if random.random_bool(COPIED.1) && !self.retained.holds(&self.table.rows[at][column]) {
                self.table.rows[at][column] = self.table.rows[from][column].clone();
            }
        }
    }

    fn alter(&mut self, column: usize, random: &mut Pcg64) {
        let cells: Vec<Value> = self.table.rows.iter().map(|row| row[column].clone()).collect();
        let near = Near::new(&cells, self.retained);
        for (row, old) in self.table.rows.iter_mut().zip(&cells) {
            if random.random_bool(ALTERED.1) && !self.retained.holds(old) {
                let near = if random.random_bool(NEAR) { near.pick(old, random) } else { None };
                if let Some(other) = near.or_else(|| alter_value(old, random)) {
                    row[column] = other;
                }
            }
        }
    }

    /// Lets some rows stand twice where no key forbids it: with a key of one whole number, the
    /// second gets a number of its own.
    fn repeat(&mut self, random: &mut Pcg64) {
        let key = self.table.primary_key.as_slice();
        let is_reference = self
            .table
            .foreign_keys
            .iter()
            .any(|other| key.iter().any(|at| other.columns.contains(at)));
        let numbers: Option<Vec<f64>> = match key {
            [column] if !is_reference => {
                self.table.rows.iter().map(|row| exact_whole(&row[*column])).collect()
            }
            _ => None,
        };
        if !self.table.unique.is_empty() || (!key.is_empty() && numbers.is_none()) {
            return;
        }
        let key = key.first().copied();
        let mut next = numbers.unwrap_or_default().into_iter().fold(0.0, f64::max);
        let share = random.random_range(0.0..REPEATED);
        for at in 0..self.table.rows.len() {
            if random.random_bool(share) {
                let mut row = self.table.rows[at].clone();
                next += 1.0;
                if let Some(key) = key {
                    row[key] = like(&row[key], next);
                }
                self.table.rows.push(row);
            }
        }
    }
}

/// Values near the constants of a column: they distinguish `>` from `>=`, and `=` from LIKE.
struct Near<'a> {
    numbers: Vec<f64>,
    texts: Vec<&'a str>,
}

impl<'a> Near<'a> {
    fn new(cells: &'a [Value], retained: &RetainedLiterals) -> Self {
        let values: Vec<f64> = cells.iter().filter_map(number).collect();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let numbers =
            retained.numbers().filter(|constant| (least..=most).contains(constant)).collect();
        Self {
            numbers,
            texts: cells
                .iter()
                .filter_map(|cell: &'a Value| match cell {
                    Value::Text(text)
                        if text.len() <= 200 && number(cell).is_none() && retained.holds(cell) =>
                    {
                        Some(text.as_str())
                    }
                    _ => None,
                })
                .collect(),
        }
    }

    /// Picks one for a cell of this kind.
    fn pick(&self, cell: &Value, random: &mut Pcg64) -> Option<Value> {
        if number(cell).is_some() {
            let constant = self.numbers.get(random.random_range(0..self.numbers.len().max(1)))?;
            return Some(like(cell, constant + f64::from(random.random_range(-1..=1_i8))));
        }
        let text = self.texts.get(random.random_range(0..self.texts.len().max(1)))?;
        let letter = text.chars().next_back().filter(|letter| letter.is_alphabetic())?;
        matches!(cell, Value::Text(_)).then(|| Value::Text(format!("{text}{letter}")))
    }
}

/// The value of a number, whatever it is stored as.
fn number(cell: &Value) -> Option<f64> {
    match cell {
        Value::Real(value) => Some(*value),
        cell => exact_whole(cell),
    }
}

/// The value of a whole number, whatever it is stored as, where adding one to it is exact.
fn exact_whole(cell: &Value) -> Option<f64> {
    let value = match cell {
        Value::Integer(value) => *value as f64,
        Value::Real(value) => *value,
        Value::Text(text) if text.parse::<i64>().is_ok_and(|value| value.to_string() == *text) => {
            text.parse().ok()?
        }
        _ => return None,
    };
    (value.fract() == 0.0 && value.abs() < 1e15).then_some(value)
}

/// A number stored as a cell like this one.
fn like(cell: &Value, number: f64) -> Value {
    match cell {
        Value::Real(_) => Value::Real(number),
        Value::Text(_) => Value::Text(number_text(number.round())),
        _ => Value::Integer(number.round() as i64),
    }
}

/// A value a little apart: whole numbers by a twentieth, reals too with the decimals that they
/// have, words by a letter. `None` if it has a form of its own, as dates and codes have.
fn alter_value(cell: &Value, random: &mut Pcg64) -> Option<Value> {
    match cell {
        Value::Null | Value::Blob(_) => None,
        Value::Real(value) if value.fract() != 0.0 => {
            let decimals =
                number_text(*value).split_once('.').map_or(0, |(_, part)| part.len()).min(12);
            let apart = value * (1.0 + random.random_range(-0.05..0.05));
            format!("{apart:.decimals$}").parse().ok().map(Value::Real)
        }
        Value::Text(text) if exact_whole(cell).is_none() => word(text, random),
        _ => {
            let value = exact_whole(cell)?;
            let reach = (value.abs() / 20.0).floor().max(1.0);
            let apart = value + random.random_range(-reach..=reach).round();
            Some(like(cell, if value >= 0.0 { apart.max(0.0) } else { apart }))
        }
    }
}

/// A word or several with a letter twice.
fn word(text: &str, random: &mut Pcg64) -> Option<Value> {
    let letters: Vec<(usize, char)> =
        text.char_indices().filter(|(_, c)| c.is_alphabetic()).collect();
    let is_plain = text.chars().all(|c| c.is_alphabetic() || c == ' ' || c == '\'' || c == '-');
    if !is_plain || letters.len() < 3 || text.len() > 200 {
        return None;
    }
    // Not the first, so that the letter case stays as it is.
    let (at, letter) = letters[random.random_range(1..letters.len())];
    let mut altered = text.to_owned();
    altered.insert(at, letter);
    Some(Value::Text(altered))
}
