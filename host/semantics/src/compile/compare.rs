//! Comparisons: their needs, the rows outside of the period that they look at, and their columns.

use chrono::{Datelike, Days, Months, NaiveDate};

use crate::{Comparison, Format, Grain};

use super::CompileError;
use super::derive::find_obstacle;
use super::engine::{Engine, begin};
use super::plan::{Plan, bounds};

/// A comparison that a request may ask for.
pub(super) struct Compared {
    kind: Comparison,
    pub(super) before: Before,
}

/// The days before those of the request that a comparison reads.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Before {
    /// The first day that rows count from, if it is before the request's.
    pub(super) earliest: Option<NaiveDate>,
    /// If the request's period is the first part of a period of the grain: the day of the period
    /// before from which on rows do not count, and the request's own first day.
    pub(super) gap: Option<(NaiveDate, NaiveDate)>,
}

impl Compared {
    /// Checks the comparison of a request; `None` if there is none.
    pub(super) fn new(engine: &Engine<'_>, plan: &Plan<'_>) -> Result<Option<Self>, CompileError> {
        let Some(kind) = plan.request.comparison else {
            return Ok(None);
        };
        let name = comparison_name(kind);
        let from = bounds(plan.request).and_then(|period| period.from);
        let mut gap = None;
        let earliest = match (kind, plan.request.grain) {
            (Comparison::ShareOfTotal | Comparison::ShareOfAll, _) if plan.is_grouped() => None,
            (Comparison::ShareOfTotal | Comparison::ShareOfAll, _) => {
                return Err(CompileError::Needs {
                    comparison: name,
                    what: "a dimension or a grain",
                });
            }
            (_, None) => {
                return Err(CompileError::Needs {
                    comparison: name,
                    what: "a grain, such as `month`",
                });
            }
            (Comparison::RunningTotal, Some(_)) => None,
            (_, Some(grain)) => match from {
                Some(from) => {
                    check_begin(engine, grain, from, name)?;
                    let until = bounds(plan.request).and_then(|period| period.until);
                    if let Some(until) = until {
                        gap = find_gap(engine, grain, (from, until), is_of_year(kind));
                        if gap.is_none() {
                            check_end(engine, grain, until, name)?;
                        }
                    }
                    shift_back(grain, from, is_of_year(kind))
                }
                None => None,
            },
        };
        Ok(Some(Self { kind, before: Before { earliest, gap } }))
    }

    /// Checks that the values of the first metric can be added, where the comparison adds them.
    pub(super) fn check_additive(&self, plan: &Plan<'_>) -> Result<(), CompileError> {
        let may_be_distinct = match self.kind {
            Comparison::ShareOfTotal | Comparison::ShareOfAll => true,
            Comparison::RunningTotal => false,
            _ => return Ok(()),
        };
        let Some(metric) = plan.metrics.first() else { return Ok(()) };
        match find_obstacle(plan.semantics, metric, may_be_distinct) {
            None => Ok(()),
            Some(kind) => Err(CompileError::NotAdditive {
                comparison: comparison_name(self.kind),
                metric: metric.name.clone(),
                kind,
            }),
        }
    }

    /// Returns a note if the period before counts in part only.
    pub(super) fn describe_part(&self) -> Option<String> {
        let (end, _) = self.before.gap?;
        let last = end.pred_opt()?;
        Some(format!("the period before counts up to {last} only, to the same day as this one"))
    }

    /// Returns the name of the column.
    pub(super) fn name(&self) -> &'static str {
        comparison_name(self.kind)
    }

    /// Returns the format of the column, given the metric's.
    pub(super) fn format(&self, metric: Format) -> Format {
        match self.kind {
            Comparison::Growth
            | Comparison::GrowthLastYear
            | Comparison::ShareOfTotal
            | Comparison::ShareOfAll => Format::Percent,
            Comparison::PreviousPeriod
            | Comparison::SamePeriodLastYear
            | Comparison::RunningTotal => metric,
        }
    }

    /// Writes the value over the groups that the column is computed from. The first metric is `v0`,
    /// and the groups are the columns of `keys` besides the period.
    pub(super) fn write_window(&self, engine: &Engine<'_>, plan: &Plan<'_>, row: &str) -> String {
        let keys = plan.group_columns(row);
        let partition = if keys.is_empty() {
            String::new()
        } else {
            format!("PARTITION BY {} ", keys.join(", "))
        };
        let within = plan.within_columns(row);
        let whole = match within.is_empty() {
            true => format!("SUM({row}.v0) OVER ()"),
            false => format!("SUM({row}.v0) OVER (PARTITION BY {})", within.join(", ")),
        };
        let Some(grain) = plan.request.grain else { return whole };
        match self.kind {
            Comparison::ShareOfTotal | Comparison::ShareOfAll => whole,
            // Rows without a time are in no period.
            Comparison::RunningTotal => format!(
                "CASE WHEN {row}.t0 IS NOT NULL THEN SUM(CASE WHEN {row}.t0 IS NOT NULL THEN \
                 {row}.v0 \
                 END) OVER ({partition}ORDER BY {row}.t0 ROWS BETWEEN UNBOUNDED PRECEDING AND \
                 CURRENT \
                 ROW) END"
            ),
            _ => {
                let label = format!("{row}.t0");
                let (number, distance) = engine.number(grain, &label, is_of_year(self.kind));
                format!(
                    "CASE WHEN {label} IS NOT NULL THEN MAX({row}.v0) OVER ({partition}ORDER BY \
                     {number} \
                     RANGE BETWEEN {distance} PRECEDING AND {distance} PRECEDING) END"
                )
            }
        }
    }

    /// Writes the column from the metric `v0` and the value `c0` over the groups.
    pub(super) fn write_column(&self, engine: &Engine<'_>, row: &str) -> String {
        let value = format!("{row}.v0");
        let other = format!("{row}.c0");
        match self.kind {
            Comparison::Growth | Comparison::GrowthLastYear => {
                engine.divide(&format!("({value} - {other})"), &other)
            }
            Comparison::ShareOfTotal | Comparison::ShareOfAll => engine.divide(&value, &other),
            Comparison::PreviousPeriod
            | Comparison::SamePeriodLastYear
            | Comparison::RunningTotal => other,
        }
    }
}

/// Returns the name of a comparison, which is the one of its column.
pub(crate) fn comparison_name(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::PreviousPeriod => "previous_period",
        Comparison::SamePeriodLastYear => "same_period_last_year",
        Comparison::Growth => "growth",
        Comparison::GrowthLastYear => "growth_last_year",
        Comparison::ShareOfTotal => "share_of_total",
        Comparison::ShareOfAll => "share_of_all",
        Comparison::RunningTotal => "running_total",
    }
}

fn is_of_year(comparison: Comparison) -> bool {
    matches!(comparison, Comparison::SamePeriodLastYear | Comparison::GrowthLastYear)
}

/// Returns the first day that rows need for the value of the period `before` the first one.
fn shift_back(grain: Grain, from: NaiveDate, is_year: bool) -> Option<NaiveDate> {
    let months = match (grain, is_year) {
        (Grain::Year, _) | (Grain::Day | Grain::Quarter | Grain::Month, true) => 12,
        (Grain::Quarter, false) => 3,
        (Grain::Month, false) => 1,
        (Grain::Day, false) => return from.pred_opt(),
        (Grain::Week, false) => return from.checked_sub_days(Days::new(7)),
        (Grain::Week, true) => return from.checked_sub_days(Days::new(364)),
    };
    from.checked_sub_months(Months::new(months))
}

/// Returns the days between the part of an earlier period and the same part of a later one, in
/// which rows do not count; `None` if the later period is no part, or the earlier one has no such
/// day.
fn find_gap(
    engine: &Engine<'_>,
    grain: Grain,
    (from, until): (NaiveDate, NaiveDate),
    is_year: bool,
) -> Option<(NaiveDate, NaiveDate)> {
    let is_part = begin(grain, until, engine.week_start) == from && until != from;
    let end = shift_back(grain, until, is_year).filter(|_| is_part)?;
    // The 31st has no counterpart in each month.
    let is_same_day = grain == Grain::Week || end.day() == until.day();
    is_same_day.then_some((end, from))
}

/// Returns an error if a period ends within a period of the grain: a part of it would be compared
/// with a whole one.
fn check_end(
    engine: &Engine<'_>,
    grain: Grain,
    until: NaiveDate,
    comparison: &'static str,
) -> Result<(), CompileError> {
    let end = begin(grain, until, engine.week_start);
    if end == until {
        return Ok(());
    }
    Err(CompileError::Ends { comparison, until: until.to_string(), end: end.to_string() })
}

/// Returns an error if a period begins within a period of the grain.
fn check_begin(
    engine: &Engine<'_>,
    grain: Grain,
    from: NaiveDate,
    comparison: &'static str,
) -> Result<(), CompileError> {
    let first = begin(grain, from, engine.week_start);
    if first == from {
        return Ok(());
    }
    Err(CompileError::Begins { comparison, from: from.to_string(), begin: first.to_string() })
}
