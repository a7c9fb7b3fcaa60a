//! Many settings of one strategy over a suite: `syrch.grid/1`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::costs::Costs;
use super::head::{Basis, ReportHead};
use super::pairing;
use super::render::markdown;
use super::result;
use super::share::{Share, mean};
use crate::run::{Graded, Header};
use crate::stats;

/// The format's name in [`GridReport::schema`].
pub const GRID_FORMAT: &str = "syrch.grid/1";

/// Many settings over a suite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GridReport {
    /// Of which run and suite it is; its format is [`GRID_FORMAT`].
    #[serde(flatten)]
    pub head: ReportHead,
    /// What the figures rest on.
    #[serde(flatten)]
    pub basis: Basis,
    /// The cells, in the order of the run's arms.
    pub cells: Vec<Cell>,
    /// The name of the best cell: with the most right answers, then with the fewest calls, then the first.
    /// Where no cell has an answer that counts, because nothing was expected, the surest answers come before the fewest calls. None
    /// without cells.
    pub best: Option<String>,
    /// Cells whose paired difference to the best is not significant (exact McNemar after Holm), the best not among them.
    pub ties: Vec<String>,
}

/// One setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The cell's name: its arm's.
    pub name: String,
    /// What was set.
    pub settings: BTreeMap<String, Value>,
    /// What is right.
    #[serde(flatten)]
    pub share: Share,
    /// The mean confidence of its answers, 0 to 1; none when none has one.
    pub mean_confidence: Option<f64>,
    /// What it cost.
    pub costs: Costs,
    /// The exact two-sided p of McNemar's test against the best, after Holm over the other cells; none for the best itself.
    pub p_to_best: Option<f64>,
}

impl GridReport {
    /// Reports on the cells of a run, which are its arms; `settings` by the arm's name.
    #[must_use]
    pub fn new(
        header: &Header,
        graded: &[Graded],
        rule: &str,
        settings: &BTreeMap<String, BTreeMap<String, Value>>,
    ) -> Self {
        let header = &header.own();
        let answers: Vec<Vec<&Graded>> = header.arms.iter().map(|arm| result::of_arm(graded, &arm.name)).collect();
        let mut cells: Vec<Cell> = header
            .arms
            .iter()
            .zip(&answers)
            .map(|(arm, answers)| Cell {
                name: arm.name.clone(),
                settings: settings.get(&arm.name).cloned().unwrap_or_default(),
                share: Share::of(answers.iter().copied(), rule),
                mean_confidence: mean(answers.iter().filter_map(|one| one.confidence).filter(|sure| sure.is_finite())),
                costs: Costs::of(answers),
                p_to_best: None,
            })
            .collect();
        let best = best(&cells);
        if let Some(best) = best {
            hold_against(&mut cells, &answers, rule, best);
        }
        let ties = cells.iter().filter(|cell| cell.p_to_best.is_some_and(|p| p >= 0.05)).map(|cell| cell.name.clone());
        let all: Vec<&Graded> = answers.iter().flatten().copied().collect();
        let seeds: Vec<_> = answers.iter().map(|answers| vec![answers.clone()]).collect();
        Self {
            head: ReportHead::new(GRID_FORMAT, header, &all),
            basis: Basis::new(header, &seeds, rule),
            best: best.and_then(|best| cells.get(best)).map(|cell| cell.name.clone()),
            ties: ties.collect(),
            cells,
        }
    }

    /// Why no cell is the best, where none is.
    #[must_use]
    pub fn without_best(&self) -> &'static str {
        if self.head.suite.asked == 0 { "no cell was tried" } else { "no cell has an answer" }
    }

    /// The best cell.
    #[must_use]
    pub fn best_cell(&self) -> Option<&Cell> {
        self.cells.iter().find(|cell| Some(&cell.name) == self.best.as_ref())
    }

    /// Takes out what differs between equal runs: times, durations, counts of calls with what they cost, and where the
    /// run is kept. What is best stays.
    pub fn without_times(&mut self) {
        self.head.without_times();
        self.basis.without_times();
        self.cells.iter_mut().for_each(|cell| cell.costs.without_times());
    }

    /// The files of a grid with their founding names: `config.json`, `results.json`, `best.json` and `summary.md`.
    #[must_use]
    pub fn files(&self) -> [(&'static str, String); 4] {
        [
            ("config.json", pretty(&self.config())),
            ("results.json", pretty(&json!(self))),
            ("best.json", pretty(&json!(self.best_cell()))),
            ("summary.md", markdown::grid(self)),
        ]
    }

    /// What was tried: each setting's values in the order of the cells, and what it was tried on.
    fn config(&self) -> Value {
        let mut values: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
        for (key, value) in self.cells.iter().flat_map(|cell| &cell.settings) {
            let seen = values.entry(key).or_default();
            if !seen.contains(&value) {
                seen.push(value);
            }
        }
        json!({
            "schema": "syrch.grid-config/1",
            "host": self.head.host,
            "suite": self.head.suite,
            "rule": self.basis.rule,
            "simulated": self.basis.simulated,
            "settings": values,
            "cells": self.cells.len(),
        })
    }
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

/// The place of the best cell.
fn best(cells: &[Cell]) -> Option<usize> {
    let nothing_counts = cells.iter().all(|cell| cell.share.of == 0);
    let surety = |cell: &Cell| if nothing_counts { cell.mean_confidence.unwrap_or(0.0) } else { 0.0 };
    let ahead = |one: &Cell, other: &Cell| {
        other
            .share
            .right
            .cmp(&one.share.right)
            .then(surety(other).total_cmp(&surety(one)))
            // Which cell pays the tokens of a call that several share is chance.
            .then(one.costs.calls.cmp(&other.costs.calls))
    };
    cells.iter().enumerate().min_by(|(_, one), (_, other)| ahead(one, other)).map(|(place, _)| place)
}

/// Tests every cell against the best.
fn hold_against(cells: &mut [Cell], answers: &[Vec<&Graded>], rule: &str, best: usize) {
    let Some(best_answers) = answers.get(best) else { return };
    let others: Vec<usize> = (0..cells.len()).filter(|place| *place != best).collect();
    let tests: Vec<f64> = others
        .iter()
        .filter_map(|place| answers.get(*place))
        .map(|answers| pairing::discordant(answers, best_answers, rule))
        .map(|(b, c)| stats::mcnemar(b, c))
        .collect();
    for (place, adjusted) in others.into_iter().zip(stats::holm(&tests)) {
        if let Some(cell) = cells.get_mut(place) {
            cell.p_to_best = Some(adjusted);
        }
    }
}
