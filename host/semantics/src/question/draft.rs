//! The request of a text before its ambiguous words are resolved.

use super::time::{Span, Time};
use crate::{Grain, Literal, Operator};

/// A metric that a text names.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Pick {
    /// The words.
    pub(super) text: String,
    /// The metrics of that name.
    pub(super) metrics: Vec<usize>,
    /// The tables of that name.
    pub(super) tables: Vec<usize>,
}

/// Dimensions to group by.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Group {
    /// The words.
    pub(super) text: String,
    /// The choices; each is one dimension or those that name the rows of a table.
    pub(super) options: Vec<Vec<usize>>,
    /// The metrics of that name where the text says `per`: `revenue per order` is a metric where
    /// one is defined so.
    pub(super) per: Vec<usize>,
    /// The words before it, such as `by` or `in each`; none where it is what is ranked.
    pub(super) lead: &'static str,
}

/// A value of a dimension.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Value {
    /// The dimension.
    pub(super) dimension: usize,
    /// The value as the database has it.
    pub(super) literal: Literal,
    /// True if the file gives the words for it, which takes precedence over cells of the database.
    pub(super) is_label: bool,
}

/// A value that a text names, with the dimensions that have it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Choice {
    /// The words.
    pub(super) text: String,
    /// The possible meanings.
    pub(super) options: Vec<Value>,
}

/// A condition.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Condition {
    /// The values.
    pub(super) values: Vec<Choice>,
    /// The comparison; `In` or `NotIn` for values that were found by their words.
    pub(super) operator: Operator,
    /// True if `or` stands between the values.
    pub(super) is_or: bool,
    /// True if `and` stands between them.
    pub(super) is_and: bool,
    /// The preposition before them, as in `in Paris`, which says nothing of whose place it is.
    pub(super) place: Option<&'static str>,
    /// The dimensions that the text names beside the values.
    pub(super) dimensions: Vec<usize>,
    /// The tables that it names beside them.
    pub(super) tables: Vec<usize>,
}

/// The time that values are compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Target {
    /// The unit before; true if it counts from today, as in `last month`.
    Before(Grain, bool),
    /// The period before at the grain.
    Period,
    /// The same period a year before.
    YearAgo,
    /// A time that the text names.
    Time(Time),
}

/// A column to order by.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Sort {
    /// The first metric.
    First,
    /// A metric.
    Metric(Pick),
    /// Dimensions.
    Group(Group),
    /// Time.
    Time,
    /// The names of the groups.
    Name,
}

/// A question for the greatest or the least.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rank {
    /// True for the greatest first.
    pub(super) descending: bool,
    /// The number of results; `None` if the text does not say.
    pub(super) limit: Option<u64>,
}

/// All that a text asks for.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Draft {
    pub(super) metrics: Vec<Pick>,
    pub(super) groups: Vec<Group>,
    pub(super) grains: Vec<Grain>,
    /// The words before the unit of time that is grouped by.
    pub(super) grain_lead: &'static str,
    pub(super) conditions: Vec<Condition>,
    /// The number of them before the verb behind the metric: one in `what percent of orders from
    /// Germany were cancelled`.
    pub(super) conditions_before_verb: Option<usize>,
    pub(super) times: Vec<Time>,
    /// The first and the last unit of the time that was read last, as in `from 2023 to 2024`.
    pub(super) ends: Option<(Span, Span)>,
    /// Tables that stand in the text beside the metric: `orders from customers in Germany`.
    pub(super) contexts: Vec<Pick>,
    pub(super) sort: Option<(Sort, Option<bool>)>,
    pub(super) rank: Option<Rank>,
    /// The number of things that are asked for.
    pub(super) number: Option<u64>,
    /// True if the text asks `which`.
    pub(super) asks_which: bool,
    pub(super) compare: Option<Target>,
    /// True if the text asks for a comparison, also where it does not say with what.
    pub(super) compares: bool,
    pub(super) over: Option<Grain>,
    pub(super) grows: bool,
    pub(super) runs: bool,
    pub(super) shares: bool,
    pub(super) is_trend: bool,
    pub(super) counts: bool,
    pub(super) is_distinct: bool,
    pub(super) totals: bool,
    pub(super) averages: bool,
    /// True if the text asks for a list of rows.
    pub(super) lists: bool,
    /// True if the text begins with a word such as `show`, which asks for rows of what has rows.
    pub(super) shows: bool,
    /// Words that are known only beside certain metrics.
    pub(super) verbs: Vec<(String, Vec<usize>)>,
    /// Words that no rule understands.
    pub(super) unknown: Vec<String>,
}

impl Draft {
    /// Returns true if the text names nothing of a request.
    pub(super) fn is_empty(&self) -> bool {
        let unknown = self.unknown.clone();
        *self == Self { unknown, shows: self.shows, ..Self::default() }
    }

    /// Returns true if the text may ask for rows of a table, as it counts and adds up nothing.
    pub(super) fn may_ask_for_rows(&self) -> bool {
        let asks_for_number = self.counts || self.totals || self.averages || self.shares;
        !asks_for_number && self.groups.is_empty() && self.grains.is_empty()
            || self.lists
            || self.asks_which && self.rank.is_none()
    }

    /// Returns true if the text asks for more than a metric.
    pub(super) fn has_parts(&self) -> bool {
        let metrics = self.metrics.clone();
        let totals = self.totals;
        let counts = self.counts;
        let conditions_before_verb = self.conditions_before_verb;
        let shows = self.shows;
        *self != Self { metrics, totals, counts, conditions_before_verb, shows, ..Self::default() }
    }
}
