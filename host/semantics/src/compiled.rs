//! The result of compiling a request.

use crate::{Format, Grain, Period};

/// A request as one statement, with what was applied in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiled {
    /// One SELECT in the dialect of the engine.
    pub sql: String,
    /// The columns of its result, in order.
    pub columns: Vec<OutputColumn>,
    /// The definitions and conditions that the statement applies.
    pub applied: Applied,
}

/// A column of the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputColumn {
    /// Its name in the result.
    pub name: String,
    /// The kind of its values.
    pub role: Role,
    /// The format in which its values are shown.
    pub format: Format,
    /// The unit of its values.
    pub unit: Option<String>,
}

/// The kind of values that a column of the result holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The period at the request's grain.
    Time,
    /// A dimension.
    Dimension,
    /// A metric.
    Metric,
    /// The comparison with the first metric.
    Comparison,
}

/// The definitions and conditions that a compiled statement applies, for the answer's provenance.
/// The texts are for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// Each metric that takes part, with the file that defines it.
    pub metrics: Vec<(String, String)>,
    /// The dimensions that it groups by.
    pub by: Vec<String>,
    /// Every condition in words: those of the request, of measures and of tables.
    pub filters: Vec<String>,
    /// The dimensions that date the rows, as `table.name`, where time matters.
    pub time: Vec<String>,
    /// The period that counts, if there is one.
    pub period: Option<Period>,
    /// The grain.
    pub grain: Option<Grain>,
    /// Remarks for a reader of the values, such as that the last period is not over.
    pub notes: Vec<String>,
    /// The request in plain English, such as `revenue by category and month, in 2024`.
    pub request: String,
}

impl Applied {
    /// Returns all of it in plain English: the request, the dates that count, and the conditions of
    /// measures and tables, such as `revenue by category, in 2024; dated by orders.order_date;
    /// orders where status <> 'test'`.
    #[must_use]
    pub fn words(&self) -> String {
        let mut parts = vec![self.request.clone()];
        if !self.time.is_empty() {
            parts.push(format!("dated by {}", self.time.join(" and ")));
        }
        parts.extend(self.filters.iter().filter(|it| !self.request.contains(*it)).cloned());
        parts.extend(self.notes.iter().cloned());
        parts.join("; ")
    }
}
