//! The fit of a statement and its result to the question: the five signals of syrch 0.3.7.

use std::collections::BTreeSet;

use syrch_plugin::prelude::*;
use syrch_plugin::text::clamp01;

use crate::solver::needs::Needs;
use crate::solver::words::{UNITS, is_temporal, is_temporal_name, names, parts};

const FUNCTIONS: &[&str] = &["count", "sum", "total", "avg", "min", "max", "group_concat"];
// A column of such a name holds what was counted or added up before.
const ADDED_UP: &[&str] =
    &["count", "number", "num", "total", "sum", "average", "avg", "mean", "min", "max"];

/// The signals, 0 to 1 each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fit {
    pub(crate) structural: f64,
    pub(crate) grain: f64,
    pub(crate) dimension: f64,
    pub(crate) time: f64,
    /// Half for passing, and half for how smoothly it ran.
    pub(crate) quality: f64,
}

impl Fit {
    /// Compares a statement that ran with what is asked. `quality` comes from how it ran.
    pub(crate) fn compare(
        needs: &Needs,
        catalog: &Catalog,
        facts: &Facts,
        profile: &Profile,
        quality: f64,
    ) -> Self {
        let seen = Seen::new(catalog, facts, profile);
        let has_grain = needs.grain.as_ref().is_none_or(|grain| seen.has_grain(grain));
        let has_aggregate = !needs.aggregates || seen.aggregates;
        let one_row_missing = needs.aggregates && needs.grain.is_none() && profile.rows != 1;
        let lost = [(!has_grain, 0.3), (!has_aggregate, 0.5), (one_row_missing, 0.1)];
        let lost: f64 = lost.iter().filter(|(is_lost, _)| *is_lost).map(|(_, share)| share).sum();
        let hits = needs.dimensions.iter().filter(|word| seen.tables_have(word)).count() as f64;
        Self {
            structural: clamp01(1.0 - lost),
            grain: if has_grain { 1.0 } else { 0.5 },
            dimension: if needs.dimensions.is_empty() {
                1.0
            } else {
                hits / needs.dimensions.len() as f64
            },
            time: if !needs.has_time || seen.has_time { 1.0 } else { 0.0 },
            quality,
        }
    }

    /// Returns the signals in the order in which they decide.
    pub(crate) fn signals(&self) -> [f64; 5] {
        [self.structural, self.grain, self.dimension, self.time, self.quality]
    }

    /// The posterior of syrch 0.3.7: the mean of the five.
    pub(crate) fn posterior(&self) -> f64 {
        self.signals().iter().sum::<f64>() / 5.0
    }

    /// The parts of the fit as one line of the log.
    pub(crate) fn log_line(&self) -> String {
        let Self { structural, grain, dimension, time, quality } = self;
        format!(
            "structure {structural:.2}, grain {grain:.2}, dimensions {dimension:.2}, time \
             {time:.2}, run {quality:.2}"
        )
    }
}

/// The tables, columns and properties of a statement and its result.
struct Seen<'a> {
    tables: Vec<&'a Table>,
    /// Columns of the statement and of its result.
    columns: Vec<String>,
    aggregates: bool,
    has_time: bool,
}

impl<'a> Seen<'a> {
    fn new(catalog: &'a Catalog, facts: &Facts, profile: &Profile) -> Self {
        let read: BTreeSet<usize> =
            facts.tables.iter().filter_map(|name| catalog.place(name)).collect();
        let tables: Vec<&Table> =
            read.into_iter().filter_map(|place| catalog.tables.get(place)).collect();
        let used = facts
            .columns
            .iter()
            .map(|column| column.rsplit('.').next().unwrap_or(column).to_owned());
        let shown = profile.columns.iter().map(|column| column.column.name.clone());
        let columns: Vec<String> = used.clone().chain(shown).collect();
        let was_added_up = used
            .into_iter()
            .any(|column| parts(&column).iter().any(|part| ADDED_UP.contains(&part.as_str())));
        let in_tables = tables.iter().flat_map(|table| &table.columns).any(is_temporal);
        Self {
            aggregates: facts
                .functions
                .iter()
                .any(|name: &String| FUNCTIONS.contains(&name.to_ascii_lowercase().as_str()))
                || was_added_up,
            has_time: in_tables || columns.iter().any(|column| is_temporal_name(column)),
            tables,
            columns,
        }
    }

    /// Returns true if a row can stand for `grain`: something of that name is used or shown, or,
    /// for a unit of time, any date is.
    fn has_grain(&self, grain: &str) -> bool {
        let is_unit = UNITS.contains(&grain);
        self.tables.iter().any(|table| names(&table.name, grain))
            || self
                .columns
                .iter()
                .any(|column| names(column, grain) || (is_unit && self.is_temporal(column)))
    }

    fn is_temporal(&self, name: &str) -> bool {
        let columns = self.tables.iter().flat_map(|table| &table.columns);
        is_temporal_name(name) || columns.filter(|column| column.name == name).any(is_temporal)
    }

    fn tables_have(&self, word: &str) -> bool {
        self.tables.iter().any(|table: &&Table| {
            names(&table.name, word) || table.columns.iter().any(|column| names(&column.name, word))
        }) || self.columns.iter().any(|column| names(column, word))
    }
}

/// Returns the execution signal of syrch 0.3.7, which says how smoothly a statement ran, over all
/// attempts of its path. (There it began anew with each attempt, so that it was 1 for everything
/// that ran.)
pub(crate) fn execution_signal(signals: &Signals) -> f64 {
    fn weigh_errors(number: u32, share: f64) -> f64 {
        share * f64::from(number.min(3))
    }
    fn weigh_occurrence(occurred: bool, share: f64) -> f64 {
        if occurred { share } else { 0.0 }
    }
    let lost = weigh_errors(signals.syntax_errors, 0.10)
        + weigh_errors(signals.schema_errors, 0.05)
        + weigh_errors(signals.execution_errors, 0.10)
        + weigh_occurrence(signals.empty_result, 0.15)
        + weigh_occurrence(signals.null_columns > 0, 0.05)
        + weigh_occurrence(signals.overflow, 0.05);
    clamp01(1.0 - lost)
}

#[cfg(test)]
mod tests {
    use super::*;
    use syrch_plugin::fakes::{FakeRows, facts};

    fn catalog() -> Catalog {
        let column = |name: &str| Column { name: name.into(), ..Column::default() };
        let table = |name: &str, columns: &[&str]| Table {
            name: name.into(),
            columns: columns.iter().map(|name| column(name)).collect(),
            ..Table::default()
        };
        let tables = vec![
            table("orders", &["id", "ordered_at", "total"]),
            table("customers", &["id", "country"]),
        ];
        Catalog { database: "shop".into(), dialect: Dialect::Sqlite, tables, ..Catalog::default() }
    }

    fn fit(
        question: &str,
        tables: &[&str],
        functions: &[&str],
        columns: &[&str],
        rows: u64,
    ) -> Fit {
        let mut facts = facts("", tables);
        facts.functions = functions.iter().map(|name| (*name).to_owned()).collect();
        facts.columns = columns.iter().map(|name| (*name).to_owned()).collect();
        let profile = FakeRows::new(&["n"], vec![]).counted(rows).handle().profile();
        Fit::compare(&Needs::read(question, &catalog()), &catalog(), &facts, &profile, 1.0)
    }

    fn round(value: f64) -> f64 {
        (value * 1e9).round() / 1e9
    }

    #[test]
    fn a_question_that_asks_for_nothing_fits_everything() {
        assert_eq!(fit("Which orders?", &["orders"], &[], &[], 7).signals(), [1.0; 5]);
        assert_eq!(fit("Which orders?", &["orders"], &[], &[], 7).posterior(), 1.0);
    }

    #[test]
    fn each_mismatch_has_the_share_of_syrch_0_3_7() {
        assert_eq!(fit("How many orders?", &["orders"], &["count"], &[], 1).structural, 1.0);
        assert_eq!(round(fit("How many orders?", &["orders"], &["count"], &[], 4).structural), 0.9);
        assert_eq!(
            round(fit("How many orders?", &["orders"], &[], &["orders.id"], 1).structural),
            0.5
        );
        // What was added up before needs no function.
        assert_eq!(fit("How many orders?", &["orders"], &[], &["orders.total"], 1).structural, 1.0);
        let per_country = fit("How many orders per country?", &["orders"], &["count"], &[], 4);
        assert_eq!(
            (round(per_country.structural), per_country.grain, per_country.dimension),
            (0.7, 0.5, 0.0)
        );
        let per_country = fit(
            "How many orders per country?",
            &["orders", "customers"],
            &["count"],
            &["customers.country"],
            4,
        );
        assert_eq!(per_country.signals(), [1.0; 5]);
    }

    #[test]
    fn a_time_needs_a_column_that_holds_one() {
        assert_eq!(fit("orders of 2024", &["orders"], &[], &[], 2).time, 1.0);
        assert_eq!(fit("customers of 2024", &["customers"], &[], &[], 2).time, 0.0);
        assert_eq!(fit("monthly orders", &["orders"], &[], &["orders.ordered_at"], 2).grain, 1.0);
        assert_eq!(fit("monthly orders", &["orders"], &[], &["orders.id"], 2).grain, 0.5);
    }

    #[test]
    fn the_execution_signal_is_that_of_syrch_0_3_7() {
        let signals = |errors: u32| Signals { syntax_errors: errors, ..Signals::default() };
        assert_eq!(execution_signal(&signals(0)), 1.0);
        assert_eq!(round(execution_signal(&signals(9))), 0.7);
        let odd = Signals {
            schema_errors: 1,
            execution_errors: 1,
            empty_result: true,
            null_columns: 1,
            overflow: true,
            ..signals(0)
        };
        assert_eq!(round(execution_signal(&odd)), 0.6);
    }
}
