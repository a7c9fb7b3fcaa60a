//! Meaning that is defined once: tables, joins, dimensions and metrics of a semantics file, and
//! requests for metrics, which are compiled to one SELECT that repeats no row.

mod check;
mod compile;
mod compiled;
mod departure;
mod describe;
mod digest;
mod form;
mod import;
mod index;
mod joins;
mod model;
mod propose;
mod question;
mod read;
mod request;
mod terms;
mod write;

pub use check::{Finding, Probe, Severity, check, probes};
pub use compile::{CompileError, compile, describe_period, spell_request};
pub use compiled::{Applied, Compiled, OutputColumn, Role};
pub use departure::find_departures;
pub use describe::{DescriptionPart, Descriptions, split_undescribed};
pub use form::{
    REQUEST_SCHEMA, RequestError, RequestText, read_comparison, read_condition, read_grain,
    read_order, read_period,
};
pub use import::{Imported, import};
pub use model::{
    Aggregate, Cardinality, Dimension, Expression, Format, Join, Label, Literal, Measure, Metric,
    MetricKind, Place, Semantics, Table, WeekStart,
};
pub use propose::{ColumnValues, ValuesProbe, propose, values_probes};
pub use question::{
    Cell, Choice, Choices, Reading, Understood, Unread, cells_at, find_added, find_missing,
    is_fragment, names_metric, needs_question, phrases, read_choices, read_follow_up,
    read_question,
};
pub use read::{BOUNDS, FUNCTIONS, Problem, Source};
pub use request::{Comparison, Filter, Grain, Operator, Order, Period, Request};
pub use terms::describe_terms;

/// The JSON Schema of a semantics file, which editors complete and check by.
pub const SCHEMA: &str = include_str!("../../../docs/semantics.schema.json");
