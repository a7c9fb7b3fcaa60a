//! A request for metrics. `syrch-host metric` reads it from flags, the rules from a question, and a
//! planner from a model's reply; `compile` makes one SELECT of it.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::Literal;

/// The last year that dates are written with.
pub(crate) const LAST_YEAR: i32 = 9_999;

/// A request for the values of metrics.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Request {
    /// The names of metrics, at least one, each once.
    pub metrics: Vec<String>,
    /// The dimensions to group by, as `name` or `table.name`, each once.
    pub by: Vec<String>,
    /// The grain at which the metrics' time is grouped as well, as the first column.
    pub grain: Option<Grain>,
    /// The conditions that rows have to meet, all of them.
    pub filters: Vec<Filter>,
    /// The period that counts.
    pub period: Option<Period>,
    /// The order; by default by time, then by the first dimension.
    pub order: Option<Order>,
    /// The limit on the number of rows.
    pub limit: Option<u64>,
    /// The dimensions of `by`, or `time`, in each of whose groups the limit and the share of the
    /// total count; empty for the whole result.
    pub within: Vec<String>,
    /// The comparison of each value of the first metric, as further columns.
    pub comparison: Option<Comparison>,
}

impl Request {
    /// Returns the request without the group that has no name, if it asks for the first groups by a
    /// metric: the employee with the most orders is not the orders without an employee.
    #[must_use]
    pub fn with_named_groups(mut self) -> Self {
        let by_value = self.order.as_ref().is_some_and(|order| !self.by.contains(&order.by));
        if self.limit.is_none() || !by_value {
            return self;
        }
        for dimension in &self.by {
            if !self.filters.iter().any(|filter| filter.dimension == *dimension) {
                self.filters.push(Filter {
                    dimension: dimension.clone(),
                    operator: Operator::NotIn,
                    values: vec![Literal::Null],
                });
            }
        }
        self
    }
}

/// A unit of time to group by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Grain {
    /// Calendar days.
    Day,
    /// Weeks, by their first day.
    Week,
    /// Months of a year, as `2024-03`.
    Month,
    /// Quarters of a year, as `2024-Q1`.
    Quarter,
    /// Years.
    Year,
}

/// The days from `from` up to but not including `until`; `None` leaves a side open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Period {
    /// The first day.
    pub from: Option<NaiveDate>,
    /// The day after the last.
    pub until: Option<NaiveDate>,
}

/// A condition on rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// The dimension, as `name` or `table.name`.
    pub dimension: String,
    /// The comparison.
    pub operator: Operator,
    /// The values: one; for `In` and `NotIn` at least one.
    pub values: Vec<Literal>,
}

/// The comparison that a filter makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// Is one of the values.
    In,
    /// Is none of the values; a row whose dimension is NULL passes.
    NotIn,
    /// Is less than the value.
    Less,
    /// Is at most the value.
    AtMost,
    /// Is greater than the value.
    Greater,
    /// Is at least the value.
    AtLeast,
    /// Contains the text, whatever the letter case.
    Contains,
}

/// The order of the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// A metric, a dimension, `time`, or the name of a column of the comparison.
    pub by: String,
    /// True for the greatest first.
    pub descending: bool,
}

/// A comparison of each value of the first metric, as further columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// The value of the period before at the request's grain.
    PreviousPeriod,
    /// The value of the same period a year before.
    SamePeriodLastYear,
    /// The relative change from the period before, as a share of one.
    Growth,
    /// The relative change from the same period a year before, as a share of one.
    GrowthLastYear,
    /// The share of the sum of the metric over all groups, before a limit.
    ShareOfTotal,
    /// The same share of all groups, also of those that conditions on the dimensions of `by` leave
    /// out of the result.
    ShareOfAll,
    /// The sum up to and including this period, within each group of the dimensions.
    RunningTotal,
}

impl Comparison {
    /// Returns true for a share of a sum over groups.
    #[must_use]
    pub fn is_share(self) -> bool {
        matches!(self, Self::ShareOfTotal | Self::ShareOfAll)
    }
}
