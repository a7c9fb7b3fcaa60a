//! Holds a request that a model wrote to the words of its question: what the question certainly
//! asks for and the request lacks, and what the request adds although every word is understood.

use chrono::{Datelike, NaiveDate};

use super::draft::{Condition, Draft, Group};
use super::parse::Parser;
use super::time::{Calendar, Clock, Span, Time};
use super::vocabulary::{self, Links, Meaning};
use super::{cues, read_tokens};
use crate::compile::{
    are_equal, describe_filter, describe_period, find_dimensions, find_metric, grain_name,
};
use crate::terms::{list_measures, list_parts};
use crate::{Comparison, Filter, Literal, Operator, Period, Request, Semantics};

/// Returns a sentence for each part of a question that a request certainly lacks: a group, a time,
/// an order. Relative times count from `today`.
#[must_use]
pub fn find_missing(
    semantics: &Semantics,
    question: &str,
    request: &Request,
    today: NaiveDate,
) -> Vec<String> {
    hold(semantics, question, request, today, |holder, _| holder.list_missing())
}

/// Returns a sentence for each part of a request that its question does not ask for. Words that no
/// rule understands may ask for anything, so that nothing is then said.
#[must_use]
pub fn find_added(
    semantics: &Semantics,
    question: &str,
    request: &Request,
    today: NaiveDate,
) -> Vec<String> {
    hold(semantics, question, request, today, |holder, is_whole| {
        if is_whole { holder.list_added() } else { Vec::new() }
    })
}

/// Compares a request with a question by a function, which is told whether each word of the
/// question is understood.
fn hold(
    semantics: &Semantics,
    question: &str,
    request: &Request,
    today: NaiveDate,
    compare: impl Fn(&Holder<'_>, bool) -> Vec<String>,
) -> Vec<String> {
    let Ok(tokens) = read_tokens(question) else { return Vec::new() };
    let links = vocabulary::link(semantics, &tokens, &[]);
    let calendar = Calendar { today, week_start: semantics.week_start };
    let clock = Clock { tokens: &tokens, calendar };
    let mut parser = Parser::new(semantics, &tokens, &links, clock);
    let is_whole = parser.read(0).is_ok() && parser.draft.unknown.is_empty();
    compare(&Holder { semantics, request, draft: &parser.draft, links: &links }, is_whole)
}

/// A request beside the draft of its question.
struct Holder<'a> {
    semantics: &'a Semantics,
    request: &'a Request,
    draft: &'a Draft,
    links: &'a Links,
}

impl Holder<'_> {
    fn list_missing(&self) -> Vec<String> {
        let groups = self.draft.groups.iter().filter_map(|group| self.miss_group(group));
        let mut missing: Vec<String> = groups.collect();
        missing.extend(self.miss_grain());
        missing.extend(self.miss_period());
        missing.extend(self.miss_order());
        missing.extend(self.miss_limit());
        missing.extend(self.draft.conditions.iter().filter_map(|it| self.miss_condition(it)));
        missing.extend(self.miss_comparison());
        missing.extend(self.miss_whole());
        missing
    }

    fn list_added(&self) -> Vec<String> {
        let groups = self.request.by.iter().filter(|name| !self.is_named(name));
        let mut added: Vec<String> = groups
            .map(|name| format!("the request groups by {name}, which the question does not say"))
            .collect();
        if let Some(grain) = self.request.grain.filter(|_| !self.asks_for_time()) {
            let grain = grain_name(grain);
            added.push(format!("the request groups by {grain}, which the question does not say"));
        }
        let filters = self.request.filters.iter().filter(|filter| {
            !filter.values.contains(&Literal::Null) && !self.is_named(&filter.dimension)
        });
        added.extend(filters.map(|filter| {
            let condition = describe_filter(&filter.dimension, filter);
            format!("the request keeps only {condition}, which the question does not say")
        }));
        if let Some(period) = self.request.period.as_ref().filter(|_| !self.names_time()) {
            let words = describe_period(period);
            added.push(format!("the request counts {words}, and the question names no time"));
        }
        if let Some(limit) =
            self.request.limit.filter(|_| self.draft.rank.is_none() && self.draft.number.is_none())
        {
            added.push(format!("the request shows the first {limit} rows, and all are asked for"));
        }
        added.extend(self.miss_metric());
        added
    }

    /// Returns true if a name of the request is one of these dimensions.
    fn is_one_of(&self, name: &str, dimensions: &[usize]) -> bool {
        let found = find_dimensions(self.semantics, name).unwrap_or_default();
        dimensions.iter().any(|at| {
            let dimension = &self.semantics.dimensions[*at];
            found.iter().any(|one| std::ptr::eq(*one, dimension))
        })
    }

    /// Returns true if the question has words of a dimension, of its table or of a value of it.
    fn is_named(&self, name: &str) -> bool {
        let named = self.links.names.iter().flatten().flat_map(|named| &named.meanings);
        let is_word = named.clone().any(|meaning| match meaning {
            Meaning::Dimension(at) => self.is_one_of(name, &[*at]),
            Meaning::Table(_) | Meaning::Metric(_) => false,
        });
        let mut tables = named.filter_map(|meaning| match meaning {
            Meaning::Table(at) => Some(&self.semantics.tables[*at].name),
            Meaning::Metric(_) | Meaning::Dimension(_) => None,
        });
        let found = find_dimensions(self.semantics, name).unwrap_or_default();
        let is_table =
            tables.any(|table| found.iter().any(|dimension| are_equal(&dimension.table, table)));
        let mut values = self.links.values.iter().flatten().flat_map(|value| &value.options);
        is_word || is_table || values.any(|value| self.is_one_of(name, &[value.dimension]))
    }

    fn asks_for_time(&self) -> bool {
        let draft = self.draft;
        let mut groups = draft.groups.iter().flat_map(|group| group.options.iter().flatten());
        let is_time = groups.any(|at| self.semantics.dimensions[*at].is_time);
        !draft.grains.is_empty() || is_time || draft.is_trend || self.compares_times()
    }

    fn compares_times(&self) -> bool {
        let draft = self.draft;
        draft.runs || draft.grows || draft.over.is_some() || draft.compare.is_some()
    }

    fn names_time(&self) -> bool {
        !self.draft.times.is_empty() || self.compares_times()
    }

    fn miss_group(&self, group: &Group) -> Option<String> {
        let options: Vec<usize> = group.options.iter().flatten().copied().collect();
        let is_time = options.iter().any(|at| self.semantics.dimensions[*at].is_time);
        let is_met = options.is_empty()
            || (is_time && self.request.grain.is_some())
            || self.request.by.iter().any(|name| self.is_one_of(name, &options))
            || (!group.per.is_empty() && !self.has_plain_metrics());
        if is_met {
            let is_within = self.draft.rank.is_some()
                && cues::EACH.contains(&group.lead)
                && self.draft.groups.len() + self.draft.grains.len() > 1;
            let is_apart = !is_within
                || options.is_empty()
                || self.request.within.iter().any(|name| self.is_one_of(name, &options));
            return (!is_apart && !is_time).then(|| {
                format!(
                    "the question asks for a ranking in each {}, and the request has one of all \
                         rows",
                    group.text
                )
            });
        }
        Some(format!("the question asks for groups by {}, and the request has none", group.text))
    }

    /// Returns true if all metrics of the request are aggregates.
    fn has_plain_metrics(&self) -> bool {
        self.request.metrics.iter().all(|name| {
            find_metric(self.semantics, name)
                .is_ok_and(|metric| matches!(metric.kind, crate::MetricKind::Measure(_)))
        })
    }

    fn miss_grain(&self) -> Option<String> {
        let asked = self.draft.grains.first()?;
        let is_dimension = self.request.by.iter().any(|name| {
            let found = find_dimensions(self.semantics, name).unwrap_or_default();
            found.iter().any(|dimension| dimension.is_time)
        });
        let given = self.request.grain;
        if is_dimension || given.is_some_and(|grain| self.draft.grains.contains(&grain)) {
            return None;
        }
        let given = match given {
            Some(grain) => format!("groups by {}", grain_name(grain)),
            None => "has none".to_owned(),
        };
        let asked = grain_name(*asked);
        Some(format!("the question asks for groups by {asked}, and the request {given}"))
    }

    fn miss_period(&self) -> Option<String> {
        let has_days = self.request.filters.iter().any(|filter| {
            let found = find_dimensions(self.semantics, &filter.dimension).unwrap_or_default();
            found.iter().any(|dimension| dimension.is_time)
        });
        if has_days || self.compares_times() || self.draft.compares {
            return None;
        }
        let [time] = self.draft.times.as_slice() else { return None };
        let given = self.request.period.as_ref();
        let (asked, is_met) = match time {
            Time::Span(span) => {
                let asked = span.period();
                let is_met = given == Some(&asked);
                (describe_period(&asked), is_met)
            }
            Time::Yearless(first, count) => {
                let asked = "a part of a year".to_owned();
                (asked, given.is_some_and(|given| is_part(given, *first, *count)))
            }
            Time::Divided | Time::Unclear(_) => return None,
        };
        let given = given.map_or("at any time".to_owned(), describe_period);
        (!is_met).then(|| format!("the question says {asked}, and the request counts {given}"))
    }

    fn miss_order(&self) -> Option<String> {
        let sort = self.draft.sort.as_ref().and_then(|(_, descending)| *descending);
        let is_descending = self.draft.rank.map(|rank| rank.descending).or(sort)?;
        let asked = if is_descending { "greatest" } else { "least" };
        let Some(order) = &self.request.order else {
            return Some(format!(
                "the question asks for the {asked}, and the request has no order"
            ));
        };
        let is_group = are_equal(&order.by, "time")
            || self.request.by.iter().any(|name| are_equal(name, &order.by));
        let is_other = self.draft.rank.is_some() && is_group;
        (is_other || order.descending != is_descending).then(|| {
            let given = if order.descending { ", the greatest first" } else { "" };
            format!(
                "the question asks for the {asked}, and the request is in order of {}{given}",
                order.by
            )
        })
    }

    fn miss_limit(&self) -> Option<String> {
        let rank = self.draft.rank?;
        let asked = rank.limit.or(self.draft.number)?;
        let given = match self.request.limit {
            Some(given) if given == asked => return None,
            Some(given) => format!("shows {given}"),
            None => "shows all".to_owned(),
        };
        Some(format!("the question asks for the first {asked}, and the request {given}"))
    }

    fn miss_condition(&self, condition: &Condition) -> Option<String> {
        if !matches!(condition.operator, Operator::In | Operator::NotIn) || self.has_conditions() {
            return None;
        }
        let missing = condition.values.iter().find(|choice| {
            !choice.options.iter().any(|value| {
                self.request.filters.iter().any(|filter: &Filter| {
                    filter.operator == condition.operator
                        && self.is_one_of(&filter.dimension, &[value.dimension])
                        && filter.values.iter().any(|literal| is_same(literal, &value.literal))
                })
            })
        });
        let words = match condition.operator {
            Operator::NotIn => "without ",
            _ => "",
        };
        let text = &missing?.text;
        Some(format!("the question says {words}{text}, and the request has no such condition"))
    }

    /// Returns true if a metric of the request has conditions of its own.
    fn has_conditions(&self) -> bool {
        let metrics = self.request.metrics.iter();
        let mut metrics = metrics.filter_map(|name| find_metric(self.semantics, name).ok());
        metrics.any(|metric| {
            list_measures(self.semantics, metric).iter().any(|measure| {
                let Some(filter) = &measure.filter else { return false };
                let mut values = self.draft.conditions.iter().flat_map(|it| &it.values);
                values.any(|choice| {
                    choice.options.iter().any(|value| match &value.literal {
                        Literal::Text(text) => filter.text.contains(text.as_str()),
                        other => filter.text.contains(&format!("{other:?}")),
                    })
                })
            })
        })
    }

    fn miss_comparison(&self) -> Option<String> {
        let draft = self.draft;
        let is_of_times = draft.grows || draft.over.is_some() || draft.compare.is_some();
        let asked = match (is_of_times, draft.runs) {
            (true, _) => "a comparison with another time",
            (_, true) => "a running total",
            _ => return None,
        };
        let is_met = match self.request.comparison {
            None => !draft.runs && self.request.grain.is_some(),
            Some(Comparison::RunningTotal) => draft.runs,
            Some(Comparison::ShareOfTotal | Comparison::ShareOfAll) => false,
            Some(_) => is_of_times,
        };
        (!is_met).then(|| format!("the question asks for {asked}, and the request has none"))
    }

    /// The whole of a share where the request has one group, whose share of itself is 1.
    fn miss_whole(&self) -> Option<String> {
        let [by] = self.request.by.as_slice() else { return None };
        let is_of_total = self.request.comparison == Some(Comparison::ShareOfTotal);
        if !self.draft.shares || !is_of_total || self.request.grain.is_some() {
            return None;
        }
        let groups = find_dimensions(self.semantics, by).unwrap_or_default();
        let is_one = self.request.filters.iter().any(|filter| {
            let found = find_dimensions(self.semantics, &filter.dimension).unwrap_or_default();
            filter.operator == Operator::In
                && filter.values.len() == 1
                && found.iter().any(|one| groups.iter().any(|group| std::ptr::eq(*one, *group)))
        });
        is_one.then(|| {
            format!(
                "the question asks for a share, and the request has that of one {by} of itself: \
                 `share_of_all` is its share of all"
            )
        })
    }

    /// The metric that the question names and from which nothing of the request is computed.
    fn miss_metric(&self) -> Option<String> {
        let metrics = self.request.metrics.iter();
        let metrics = metrics.filter_map(|name| find_metric(self.semantics, name).ok());
        let parts: Vec<&str> = metrics
            .flat_map(|metric| list_parts(self.semantics, metric))
            .map(|metric| metric.name.as_str())
            .collect();
        let missing = self.draft.metrics.iter().find(|pick| {
            !pick.metrics.is_empty()
                && !pick
                    .metrics
                    .iter()
                    .any(|at| parts.contains(&self.semantics.metrics[*at].name.as_str()))
        });
        let text = &missing?.text;
        let given = self.request.metrics.join(", ");
        Some(format!("the question names {text}, and the request computes {given}"))
    }
}

/// Returns true if a period is these months of any year.
fn is_part(period: &Period, first: u32, count: u32) -> bool {
    let Some(from) = period.from else { return false };
    let span = super::time::months(from.year(), first, count);
    span.map(Span::period).as_ref() == Some(period)
}

/// Returns whether two constants are the same but for letter case and the kind of constant.
fn is_same(one: &Literal, other: &Literal) -> bool {
    match (one, other) {
        (Literal::Text(one), Literal::Text(other)) => are_equal(one, other),
        (Literal::Number(number), Literal::Text(text))
        | (Literal::Text(text), Literal::Number(number)) => number == text,
        (one, other) => one == other,
    }
}
