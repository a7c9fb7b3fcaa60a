//! A request, and all that its statement applies, in words.

use std::collections::HashSet;

use chrono::NaiveDate;

use crate::{
    Aggregate, Applied, Comparison, Dimension, Filter, Grain, Measure, Metric, MetricKind, Order,
    Period, Request, WeekStart,
};

use super::derive::find_operands;
use super::engine::{begin, label};
use super::names::are_equal;
use super::plan::{Plan, bounds};
use super::{describe_filter, grain_name, qualify};

/// Returns what the statement of a plan applies.
pub(super) fn apply(plan: &Plan<'_>, today: NaiveDate) -> Applied {
    let request = plan.request;
    let mut filters: Vec<String> = plan
        .filters
        .iter()
        .map(|(dimension, filter)| describe_filter(&show_name(plan, dimension), filter))
        .collect();
    for metric in &plan.involved {
        if let MetricKind::Measure(measure) = &metric.kind
            && let Some(filter) = &measure.filter
        {
            filters.push(format!("{} counts where {}", metric.name, filter.text));
        }
    }
    for group in &plan.groups {
        if let Some(filter) = &group.base.filter {
            filters.push(format!("{} where {}", group.base.name, filter.text));
        }
        for (_, table) in &group.joins {
            if let Some(filter) = &table.filter {
                filters.push(format!("{} joined where {}", table.name, filter.text));
            }
        }
    }
    let mut known: HashSet<String> = HashSet::new();
    filters.retain(|filter| known.insert(filter.clone()));
    let mut time: Vec<String> = Vec::new();
    for dimension in plan.groups.iter().filter_map(|group| group.time) {
        let name = qualify(dimension);
        if !time.contains(&name) {
            time.push(name);
        }
    }
    let by: Vec<String> = plan.by.iter().map(|dimension| show_name(plan, dimension)).collect();
    Applied {
        metrics: plan
            .involved
            .iter()
            .map(|metric| (metric.name.clone(), metric.place.file.clone()))
            .collect(),
        filters,
        time,
        period: bounds(request).cloned(),
        grain: request.grain,
        notes: find_incomplete(plan, today).into_iter().chain(find_gaps(plan)).collect(),
        request: describe(
            &plan.metrics.iter().map(|metric| metric.name.as_str()).collect::<Vec<_>>(),
            &by.iter().map(String::as_str).collect::<Vec<_>>(),
            &plan.within.by.iter().map(|dimension| show_name(plan, dimension)).collect::<Vec<_>>(),
            request,
        ),
        by,
    }
}

/// The name of a dimension for readers: with its table where another table has one of that name.
fn show_name(plan: &Plan<'_>, dimension: &Dimension) -> String {
    let all = &plan.semantics.dimensions;
    let is_shared = all.iter().filter(|other| are_equal(&other.name, &dimension.name)).count() > 1;
    if is_shared { qualify(dimension) } else { dimension.name.clone() }
}

/// Returns a note if the last period that is shown is not over.
fn find_incomplete(plan: &Plan<'_>, today: NaiveDate) -> Option<String> {
    let grain = plan.request.grain.filter(|grain| *grain != Grain::Day)?;
    let week_start = plan.semantics.week_start;
    let first = begin(grain, today, week_start);
    let tomorrow = today.succ_opt()?;
    let is_over = begin(grain, tomorrow, week_start) != first;
    let period = bounds(plan.request);
    let until = period.and_then(|period| period.until);
    let from = period.and_then(|period| period.from);
    let is_shown = until.is_none_or(|until| until > first) && from.is_none_or(|from| from <= today);
    (is_shown && !is_over).then(|| {
        format!(
            "the {} {} is not over on {today}, so its values may grow",
            grain_name(grain),
            label(grain, today, week_start)
        )
    })
}

/// Returns a note for each derived metric that has no value where a part of it has no rows.
fn find_gaps(plan: &Plan<'_>) -> Vec<String> {
    let metrics = plan.metrics.iter().copied();
    let derived = metrics.filter(|metric| matches!(metric.kind, MetricKind::Derived(_)));
    derived.filter_map(|metric| describe_gap(plan, metric)).collect()
}

/// A metric over one set of rows has a value wherever there are rows, and a count is 0 elsewhere.
fn describe_gap<'a>(plan: &Plan<'a>, metric: &'a Metric) -> Option<String> {
    let parts = list_parts(plan, metric);
    let mut rows = parts.iter().map(|(_, measure)| {
        let filter = measure.filter.as_ref().map(|filter| filter.text.as_str());
        (measure.base.as_str(), filter)
    });
    let first = rows.next()?;
    let is_over_several = rows.any(|other| other != first);
    let others = parts.iter().filter(|(_, measure)| {
        !matches!(measure.aggregate, Aggregate::Count | Aggregate::CountDistinct)
    });
    let names: Vec<&str> = others.map(|(name, _)| *name).collect();
    (is_over_several && !names.is_empty()).then(|| {
        format!("{} has no value where there are no rows of {}", metric.name, names.join(" or of "))
    })
}

/// The measures that a metric is computed from, with their names.
fn list_parts<'a>(plan: &Plan<'a>, metric: &'a Metric) -> Vec<(&'a str, &'a Measure)> {
    let mut seen: Vec<&Metric> = Vec::new();
    let mut open = vec![metric];
    while let Some(metric) = open.pop() {
        if seen.iter().any(|known| std::ptr::eq(*known, metric)) {
            continue;
        }
        seen.push(metric);
        for name in find_operands(metric) {
            open.extend(plan.involved.iter().copied().find(|it| are_equal(&it.name, &name)));
        }
    }
    let parts = plan.involved.iter().copied();
    let parts = parts.filter(|it| seen.iter().any(|known| std::ptr::eq(*known, *it)));
    parts
        .filter_map(|it| match &it.kind {
            MetricKind::Measure(measure) => Some((it.name.as_str(), measure)),
            MetricKind::Ratio { .. } | MetricKind::Derived(_) => None,
        })
        .collect()
}

fn describe(metrics: &[&str], by: &[&str], within: &[String], request: &Request) -> String {
    let mut words = join_words(metrics);
    let mut within: Vec<&str> = within.iter().map(String::as_str).collect();
    if request.within.iter().any(|name| are_equal(name, "time")) {
        within.extend(request.grain.map(grain_name));
    }
    let each = match within.is_empty() {
        true => String::new(),
        false => format!(" in each {}", join_words(&within)),
    };
    let mut groups: Vec<&str> = by.to_vec();
    groups.extend(request.grain.map(grain_name));
    if !groups.is_empty() {
        words += &format!(" by {}", join_words(&groups));
    }
    if let Some(period) = bounds(request) {
        words += &format!(", {}", describe_period(period));
    }
    let filters: Vec<String> = request
        .filters
        .iter()
        .map(|filter: &Filter| describe_filter(&filter.dimension, filter))
        .collect();
    if !filters.is_empty() {
        words += &format!(", where {}", filters.join(" and "));
    }
    if let Some(comparison) = request.comparison {
        words += match comparison {
            Comparison::PreviousPeriod => ", beside the period before",
            Comparison::SamePeriodLastYear => ", beside the same period a year before",
            Comparison::Growth => ", with the growth from the period before",
            Comparison::GrowthLastYear => ", with the growth from the same period a year before",
            Comparison::ShareOfTotal => ", with the share of the total",
            Comparison::ShareOfAll => ", with the share of all, the others included",
            Comparison::RunningTotal => ", with the running total",
        };
        if comparison.is_share() {
            words += &each;
        }
    }
    match (&request.order, request.limit) {
        (Some(Order { by, descending: true }), Some(limit)) => {
            words += &format!(", the {limit} with the greatest {by}");
        }
        (Some(Order { by, descending: false }), Some(limit)) => {
            words += &format!(", the {limit} with the least {by}");
        }
        (Some(Order { by, descending }), None) => {
            let direction = if *descending { ", the greatest first" } else { "" };
            words += &format!(", in order of {by}{direction}");
        }
        (None, Some(limit)) => words += &format!(", the first {limit}"),
        (None, None) => {}
    }
    if request.limit.is_some() {
        words += &each;
    }
    words
}

impl Request {
    /// Returns the request in plain English, with the names as the request has them, such as
    /// `revenue by category and month, in 2024, where country = 'France'`.
    #[must_use]
    pub fn describe(&self) -> String {
        let metrics: Vec<&str> = self.metrics.iter().map(String::as_str).collect();
        let by: Vec<&str> = self.by.iter().map(String::as_str).collect();
        let within = self.within.iter().filter(|name| !are_equal(name, "time"));
        describe(&metrics, &by, &within.cloned().collect::<Vec<_>>(), self)
    }
}

/// Returns a period in words: `in 2024`, `on 2024-03-04`, `from 2024-01-05 to 2024-02-04`.
#[must_use]
pub fn describe_period(period: &Period) -> String {
    let (from, until) = match (period.from, period.until) {
        (Some(from), Some(until)) => (from, until),
        (Some(from), None) => return format!("from {from} on"),
        (None, Some(until)) => return format!("before {until}"),
        (None, None) => return "at any time".to_owned(),
    };
    let Some(last) = until.pred_opt().filter(|last| *last >= from) else {
        return format!("from {from} up to without {until}");
    };
    for grain in [Grain::Year, Grain::Quarter, Grain::Month] {
        let is_begin = begin(grain, from, WeekStart::Monday) == from;
        let is_end = begin(grain, until, WeekStart::Monday) == until;
        if is_begin && is_end && begin(grain, last, WeekStart::Monday) == from {
            return format!("in {}", label(grain, from, WeekStart::Monday));
        }
    }
    if from == last { format!("on {from}") } else { format!("from {from} to {last}") }
}

fn join_words(words: &[&str]) -> String {
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => words.concat(),
    }
}
