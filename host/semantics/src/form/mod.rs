//! Requests as people and programs write them: the texts of flags, which are the fields of a JSON
//! document as well.

mod condition;
mod period;
#[cfg(test)]
mod tests;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::compile::{are_equal, comparison_name};
use crate::{Comparison, Grain, Order, Request, WeekStart};

pub use condition::read_condition;
pub use period::read_period;

/// The JSON Schema of [`RequestText`].
pub const REQUEST_SCHEMA: &str = include_str!("request.schema.json");

/// The limit on a request as JSON and on a condition, in bytes.
const LONGEST: usize = 64 << 10;

/// A request in texts: the flags of `syrch-host metric`, and the JSON that planners write.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestText {
    /// The names of metrics.
    pub metrics: Vec<String>,
    /// The dimensions to group by; `day`, `week`, `month`, `quarter` and `year` are the grain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<String>,
    /// The grain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grain: Option<Grain>,
    /// A condition over dimensions, such as `country = 'France' AND channel IN ('web', 'shop')`.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// The part of time that counts, such as `2024`, `2024-01..2024-06` or `last_month`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<String>,
    /// The column to order by, such as `revenue:desc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    /// The limit on the number of rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// The dimensions, or a grain, in each of whose groups the limit and the share of the total
    /// count. The request groups by them as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub within: Vec<String>,
    /// The comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compare: Option<Comparison>,
}

/// The reason why a text is not a request.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RequestError {
    /// The text is too long.
    #[error("{what} has {found} bytes, and at most {LONGEST} are read")]
    TooLong {
        /// The text.
        what: &'static str,
        /// Its length.
        found: usize,
    },
    /// The JSON is not a request.
    #[error("the request is wrong: {reason}")]
    Json {
        /// The reason, with the place.
        reason: String,
    },
    /// A text is not a period.
    #[error(
        "`{text}` is no period: write 2024, 2024-Q1, 2024-03, 2024-03-04, 2024-01..2024-06, today, \
         yesterday, this_month, last_quarter or last_12_months"
    )]
    Period {
        /// The text.
        text: String,
    },
    /// A period ends before it begins.
    #[error("the period `{text}` ends before it begins")]
    Reversed {
        /// The text.
        text: String,
    },
    /// A text is not a condition.
    #[error("the condition is wrong: {reason}")]
    Condition {
        /// The reason.
        reason: String,
    },
    /// The text names two grains.
    #[error("a request has one grain, not `{one}` and `{other}`")]
    Grains {
        /// The first.
        one: &'static str,
        /// The second.
        other: &'static str,
    },
    /// An unknown word.
    #[error("`{text}` is no {what}: write {choices}")]
    Word {
        /// The kind of word that was expected.
        what: &'static str,
        /// The text.
        text: String,
        /// The words that can stand there.
        choices: String,
    },
}

impl RequestText {
    /// Reads a JSON document of [`REQUEST_SCHEMA`].
    ///
    /// # Errors
    /// When it is longer than 64 KiB, is not JSON, lacks a field or has an unknown one.
    pub fn from_json(text: &str) -> Result<Self, RequestError> {
        check_length("the request", text)?;
        serde_json::from_str(text).map_err(|error| RequestError::Json { reason: error.to_string() })
    }

    /// Reads the texts. Words such as `last_month` count from `today`.
    ///
    /// # Errors
    /// When a text is not valid for its field. Names of metrics and dimensions are compared with
    /// the semantics when the request is compiled.
    pub fn read(&self, today: NaiveDate, week_start: WeekStart) -> Result<Request, RequestError> {
        let mut grain = self.grain;
        let mut by = Vec::new();
        let others = self.within.iter().filter(|name| {
            let is_listed = self.by.iter().any(|by| are_equal(by.trim(), name.trim()));
            !is_listed && !are_equal(name.trim(), "time")
        });
        for name in others.chain(&self.by) {
            match read_grain(name) {
                None => by.push(name.trim().to_owned()),
                Some(found) => match grain {
                    Some(other) if other != found => {
                        return Err(RequestError::Grains {
                            one: crate::compile::grain_name(other),
                            other: crate::compile::grain_name(found),
                        });
                    }
                    _ => grain = Some(found),
                },
            }
        }
        let filters = self.condition.as_deref().map(read_condition).transpose()?;
        let period = self.period.as_deref().map(|text| read_period(text, today, week_start));
        Ok(Request {
            metrics: self.metrics.iter().map(|name| name.trim().to_owned()).collect(),
            by,
            grain,
            filters: filters.unwrap_or_default(),
            period: period.transpose()?,
            order: self.order.as_deref().map(read_order),
            limit: self.limit,
            within: self.within.iter().map(|name| read_within(name)).collect(),
            comparison: self.compare,
        })
    }
}

/// Returns the name of a group that a limit counts in; a grain is that of the request.
fn read_within(name: &str) -> String {
    match read_grain(name) {
        Some(_) => "time".to_owned(),
        None => name.trim().to_owned(),
    }
}

/// Returns the grain that a word names.
#[must_use]
pub fn read_grain(word: &str) -> Option<Grain> {
    [Grain::Day, Grain::Week, Grain::Month, Grain::Quarter, Grain::Year]
        .into_iter()
        .find(|grain| crate::compile::grain_name(*grain).eq_ignore_ascii_case(word.trim()))
}

/// Returns the comparison that a word names, such as `growth` or `same-period-last-year`.
///
/// # Errors
/// When it names none.
pub fn read_comparison(word: &str) -> Result<Comparison, RequestError> {
    const ALL: [Comparison; 7] = [
        Comparison::PreviousPeriod,
        Comparison::SamePeriodLastYear,
        Comparison::Growth,
        Comparison::GrowthLastYear,
        Comparison::ShareOfTotal,
        Comparison::ShareOfAll,
        Comparison::RunningTotal,
    ];
    let name = word.trim().to_lowercase().replace([' ', '-'], "_");
    ALL.into_iter().find(|it| comparison_name(*it) == name).ok_or_else(|| RequestError::Word {
        what: "comparison",
        text: clip(word),
        choices: ALL.map(comparison_name).join(", "),
    })
}

/// Returns the order that a text such as `revenue:desc` names; ascending if it does not say.
#[must_use]
pub fn read_order(text: &str) -> Order {
    let text = text.trim();
    let lower = text.to_ascii_lowercase();
    for (ending, descending) in [(":desc", true), (":asc", false)] {
        if lower.ends_with(ending) {
            let by = text[..text.len() - ending.len()].trim().to_owned();
            return Order { by, descending };
        }
    }
    Order { by: text.to_owned(), descending: false }
}

fn check_length(what: &'static str, text: &str) -> Result<(), RequestError> {
    if text.len() > LONGEST {
        return Err(RequestError::TooLong { what, found: text.len() });
    }
    Ok(())
}

fn clip(text: &str) -> String {
    syrch_core::text::clip(text, 64).to_owned()
}
