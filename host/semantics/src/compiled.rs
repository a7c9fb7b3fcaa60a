//! The result of compiling a request.

use crate::{Format, Grain, Period};

/// A request as one statement, with what was applied in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiled {
    /// One SELECT in the dialect of the engine.
    pub sql: String,
    /// The columns of its result, in order.
    pub columns: Vec<OutputColumn>,
    /// What the statement applies.
    pub applied: Applied,
}

/// A column of the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputColumn {
    /// Its name in the result.
    pub name: String,
    /// What it holds.
    pub role: Role,
    /// How its values are shown.
    pub format: Format,
    /// The unit of its values.
    pub unit: Option<String>,
}

/// What a column of the result holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The period at the request's grain.
    Time,
    /// A dimension.
    Dimension,
    /// A metric.
    Metric,
    /// What the comparison adds.
    Comparison,
}

/// What a compiled statement applies, for the answer's provenance. Texts are for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// Each metric that takes part, with the file that defines it.
    pub metrics: Vec<(String, String)>,
    /// Every condition in words: those of the request, of measures and of tables.
    pub filters: Vec<String>,
    /// The days that count, where there is a bound.
    pub period: Option<Period>,
    /// The grain.
    pub grain: Option<Grain>,
}
