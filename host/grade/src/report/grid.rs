//! Many settings of one strategy over a suite: `syrch.grid/1`.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::bands::{self, Band};
use super::costs::Costs;
use super::figures::{self, RuleShare};
use super::head::{Basis, ReportHead};
use super::notes;
use super::pairing;
use super::render::markdown;
use super::result;
use super::sentence::LEVEL;
use super::share::{Share, mean};
use crate::run::{Graded, Header};
use crate::stats;

/// The format's name in [`GridReport::schema`].
pub const GRID_FORMAT: &str = "syrch.grid/1";

/// Many settings over a suite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GridReport {
    /// The run and the suite, with the format [`GRID_FORMAT`].
    #[serde(flatten)]
    pub head: ReportHead,
    /// The rule, the data and the limits that the figures are based on.
    #[serde(flatten)]
    pub basis: Basis,
    /// The number of times that each pair of statements was timed. `None` if none was.
    /// `without_times` removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timed_repeats: Option<u32>,
    /// The cells, in the order of the run's arms.
    pub cells: Vec<Cell>,
    /// The name of the best cell: with the most right answers, then with the fewest calls, then the
    /// first. Where no cell has an answer that counts, because nothing was expected, the surest
    /// answers come before the fewest calls. `None` if there are no cells.
    pub best: Option<String>,
    /// Cells whose paired difference to the best is not significant (exact McNemar after Holm), the
    /// best not among them.
    pub ties: Vec<String>,
}

/// The result of one combination of settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The cell's name: its arm's.
    pub name: String,
    /// The values of the settings that the cells differ in.
    pub settings: BTreeMap<String, Value>,
    /// The right answers under the report's rule.
    #[serde(flatten)]
    pub share: Share,
    /// The share of right answers over several seeds. `None` if there is one seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub band: Option<Band>,
    /// The right answers under every rule, by name, and on the fuzzed suite, where there is one.
    #[serde(default)]
    pub rules: Vec<RuleShare>,
    /// The speed of its right answers relative to the expected statements, in percent (R-VES,
    /// BIRD's mini-dev); `None` if they were not timed. Left out by `without_times`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r_ves: Option<f64>,
    /// The mean confidence of its answers, 0 to 1; `None` if none has one.
    pub mean_confidence: Option<f64>,
    /// The costs of the cell.
    pub costs: Costs,
    /// The exact two-sided p of McNemar's test against the best, after Holm over the other cells;
    /// `None` if it is the best itself.
    pub p_to_best: Option<f64>,
}

impl GridReport {
    /// Reports on the cells of a run, which are its arms; `settings` by the arm's name. Arms under
    /// further seeds are no cells of their own.
    #[must_use]
    pub fn new(
        header: &Header,
        graded: &[Graded],
        rule: &str,
        settings: &BTreeMap<String, BTreeMap<String, Value>>,
    ) -> Self {
        let own = header.own();
        let all = header;
        let header = &own;
        let seeds: Vec<_> =
            header.arms.iter().map(|arm| bands::seeds(all, graded, &arm.name)).collect();
        let answers: Vec<Vec<&Graded>> =
            header.arms.iter().map(|arm| result::arm_answers(graded, &arm.name)).collect();
        let mut cells: Vec<Cell> = header
            .arms
            .iter()
            .zip(&answers)
            .zip(&seeds)
            .map(|((arm, answers), seeds)| Cell {
                name: arm.name.clone(),
                settings: settings.get(&arm.name).cloned().unwrap_or_default(),
                share: Share::from_answers(answers.iter().copied(), rule),
                band: bands::for_share(seeds, rule),
                rules: figures::by_rule(answers),
                r_ves: None,
                mean_confidence: mean(
                    answers.iter().filter_map(|one| one.confidence).filter(|sure| sure.is_finite()),
                ),
                costs: Costs::from_answers(answers),
                p_to_best: None,
            })
            .collect();
        let best = best_cell(&cells);
        if let Some(best) = best {
            test_against(&mut cells, &answers, rule, best);
        }
        let ties = cells
            .iter()
            .filter(|cell| cell.p_to_best.is_some_and(|p| p >= LEVEL))
            .map(|cell| cell.name.clone());
        let all: Vec<&Graded> = answers.iter().flatten().copied().collect();
        Self {
            head: ReportHead::new(GRID_FORMAT, header, &all),
            basis: Basis::new(header, &seeds, rule),
            best: best.and_then(|best| cells.get(best)).map(|cell| cell.name.clone()),
            ties: ties.collect(),
            timed_repeats: None,
            cells,
        }
    }

    /// Adds what a timed pass found: the R-VES of the cells by name, in percent, each pair of
    /// statements timed so many times.
    pub fn with_timings(&mut self, r_ves: &BTreeMap<String, f64>, repeats: u32) {
        for cell in &mut self.cells {
            cell.r_ves = r_ves.get(&cell.name).copied().filter(|r_ves| r_ves.is_finite());
        }
        self.timed_repeats = self.cells.iter().any(|cell| cell.r_ves.is_some()).then_some(repeats);
    }

    /// The cells in the order of reports: the best first, then by what makes a cell the best.
    #[must_use]
    pub fn rank_cells(&self) -> Vec<&Cell> {
        let is_best = |cell: &Cell| Some(&cell.name) == self.best.as_ref();
        let ahead = ahead(&self.cells);
        let mut cells: Vec<&Cell> = self.cells.iter().collect();
        // What is the best stays so where its calls are left out.
        cells.sort_by(|one, other| is_best(other).cmp(&is_best(one)).then(ahead(one, other)));
        cells
    }

    /// The reason why no cell is the best, for a report without a best cell.
    #[must_use]
    pub fn without_best(&self) -> &'static str {
        if self.head.suite.asked == 0 { "no cell was tried" } else { "no cell has an answer" }
    }

    /// The cell that [`GridReport::best`] names. `None` if it names none.
    #[must_use]
    pub fn best_cell(&self) -> Option<&Cell> {
        self.cells.iter().find(|cell| Some(&cell.name) == self.best.as_ref())
    }

    /// Removes what differs between equal runs: times, durations, counts of calls with their costs,
    /// and the id of the run. The best cell stays.
    pub fn without_times(&mut self) {
        self.head.without_times();
        self.basis.without_times();
        self.timed_repeats = None;
        for cell in &mut self.cells {
            cell.costs.without_times();
            cell.r_ves = None;
        }
    }

    /// Adapts the report on one question without an expected answer: nothing was right or wrong, so
    /// the best cell is that with the surest answer, and there are no tests.
    pub fn without_expected(&mut self) {
        self.basis.warnings.retain(|warning| *warning != notes::exclusion_warning(1));
        self.head.suite.gold_faults = 0;
        self.ties.clear();
        self.cells.iter_mut().for_each(|cell| cell.p_to_best = None);
        let warning =
            "nothing was expected of the answers: the best cell is that with the surest one";
        self.basis.warnings.push(warning.to_owned());
    }

    /// The files of a grid with the names that syrch 0.1.2 gives them: `config.json`,
    /// `results.json`, `best.json` and `summary.md`.
    #[must_use]
    pub fn files(&self) -> [(&'static str, String); 4] {
        [
            ("config.json", pretty(&self.config())),
            ("results.json", pretty(&json!(self))),
            ("best.json", pretty(&json!(self.best_cell()))),
            ("summary.md", markdown::grid(self)),
        ]
    }

    /// The document of the tried settings: each with its values in the order of the cells, the
    /// suite and the rule.
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

/// Compares two of these cells; the one ahead is less: that with more right answers, then the surer
/// one where nothing counts, then that with fewer calls.
fn ahead(cells: &[Cell]) -> impl Fn(&Cell, &Cell) -> Ordering + use<> {
    let nothing_counts = cells.iter().all(|cell| cell.share.of == 0);
    fn effective_confidence(nothing_counts: bool, cell: &Cell) -> f64 {
        if nothing_counts { cell.mean_confidence.unwrap_or(0.0) } else { 0.0 }
    }
    move |one, other| {
        let by_right = other.share.right.cmp(&one.share.right);
        // Which cell pays the tokens of a call that several share is chance.
        by_right
            .then(
                effective_confidence(nothing_counts, other)
                    .total_cmp(&effective_confidence(nothing_counts, one)),
            )
            .then(one.costs.calls.cmp(&other.costs.calls))
    }
}

/// The place of the best cell.
fn best_cell(cells: &[Cell]) -> Option<usize> {
    let ahead = ahead(cells);
    cells
        .iter()
        .enumerate()
        .min_by(|(_, one), (_, other)| ahead(one, other))
        .map(|(place, _)| place)
}

/// Tests every cell against the best.
fn test_against(cells: &mut [Cell], answers: &[Vec<&Graded>], rule: &str, best: usize) {
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
