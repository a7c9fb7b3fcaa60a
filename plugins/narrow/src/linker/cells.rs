//! The tables and columns in whose cells phrases of the question stand.

use std::collections::BTreeMap;

use syrch_plugin::prelude::*;

use crate::Settings;
use crate::linker::fuse::List;
use crate::linker::phrases::{Phrase, Phrases};
use crate::linker::places::Places;
use crate::linker::retrievers::{Found, Place};

/// The most cells that are read for one phrase.
const EXACT: u32 = 60;
const NEAR: u32 = 12;
/// The least similarity of a cell that is only like a phrase.
const FLOOR: f64 = 0.5;
/// The weight of a phrase that does not read like a value.
const UNMARKED: f64 = 0.4;

/// A cell for a phrase.
struct Cell {
    hit: Hit,
    phrase: usize,
    worth: f64,
}

/// Looks for the phrases by equality, and for those that read like values and equal none by shared
/// groups of letters. Without the grant there is nothing to find.
pub(crate) fn search(
    host: &impl LinkerHost,
    settings: &Settings,
    phrases: &Phrases,
    places: &Places,
    found: &mut Found,
) {
    let all: Vec<&Phrase> = phrases.values.iter().collect();
    let Some(mut cells) = find(host, &all, &Match::Exact, EXACT) else { return };
    fn is_found(cells: &[Cell], phrase: usize) -> bool {
        cells.iter().any(|cell| cell.phrase == phrase)
    }
    let left: Vec<&Phrase> = (0..)
        .zip(&all)
        .filter(|(n, p)| p.is_marked && !is_found(&cells, *n))
        .map(|(_, p)| *p)
        .collect();
    if let Some(near) = find(host, &left, &Match::Ngram, NEAR) {
        let near = near.into_iter().filter(|cell| cell.hit.score >= FLOOR);
        cells.extend(near.map(|cell| Cell { phrase: all.len() + cell.phrase, ..cell }));
    }
    let rarity = rarity(&cells, places);
    let worth = |cell: &Cell| cell.worth * rarity.get(&cell.phrase).copied().unwrap_or(0.0);
    // Each phrase counts once for a table or a column, however many cells are like it.
    let mut tables: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    let mut columns: BTreeMap<(usize, Place), f64> = BTreeMap::new();
    for cell in &cells {
        if let Some(place) = places.column_of(&cell.hit) {
            let table = tables.entry((cell.phrase, place.0)).or_default();
            *table = table.max(worth(cell));
            let column = columns.entry((cell.phrase, place)).or_default();
            *column = column.max(worth(cell));
        }
    }
    found.tables.push(List::new(
        "cells",
        settings.values,
        tables.into_iter().map(|((_, table), worth)| (table, worth)),
    ));
    found.columns.push(List::new(
        "cells",
        settings.values,
        columns.into_iter().map(|((_, place), worth)| (place, worth)),
    ));
    found.hints.extend(
        cells.iter().map(|cell| Hit { score: worth(cell).clamp(0.0, 1.0), ..cell.hit.clone() }),
    );
}

/// The cells for each phrase; `None` if the port returns an error, which is logged unless the user
/// did not grant cells.
fn find(host: &impl LinkerHost, phrases: &[&Phrase], how: &Match, limit: u32) -> Option<Vec<Cell>> {
    if phrases.is_empty() {
        return Some(Vec::new());
    }
    let texts: Vec<String> = phrases.iter().map(|phrase| phrase.text.clone()).collect();
    let found = match host.find(&texts, how, limit) {
        Ok(found) => found,
        Err(PortError::Denied(_) | PortError::Unsupported) => return None,
        Err(error) => {
            host.note(Level::Warn, &port_failure(&error).message);
            return None;
        }
    };
    let numbered = found
        .into_iter()
        .enumerate()
        .flat_map(|(number, hits)| hits.into_iter().map(move |hit| (number, hit)));
    Some(
        numbered
            .map(|(number, hit): (usize, Hit)| {
                let is_marked = phrases.get(number).is_some_and(|phrase| phrase.is_marked);
                let worth = hit.score * if is_marked { 1.0 } else { UNMARKED };
                Cell { hit, phrase: number, worth }
            })
            .collect(),
    )
}

/// Returns the weight of a phrase for each of its tables: the more tables, the less.
fn rarity(cells: &[Cell], places: &Places) -> BTreeMap<usize, f64> {
    let mut tables: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for cell in cells {
        if let Some(table) = places.table_of(&cell.hit) {
            let seen = tables.entry(cell.phrase).or_default();
            if !seen.contains(&table) {
                seen.push(table);
            }
        }
    }
    tables
        .into_iter()
        .map(|(phrase, tables)| (phrase, 1.0 / (tables.len() as f64).sqrt()))
        .collect()
}
