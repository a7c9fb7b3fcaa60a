//! Meaning that is defined once: tables, joins, dimensions and metrics of a semantics file, and
//! requests for metrics, which are compiled to one SELECT that repeats no row.

mod compile;
mod compiled;
mod form;
mod model;
mod read;
mod request;

pub use compile::{CompileError, compile, describe_period};
pub use compiled::{Applied, Compiled, OutputColumn, Role};
pub use form::{
    REQUEST_SCHEMA, RequestError, RequestText, read_comparison, read_condition, read_grain,
    read_order, read_period,
};
pub use model::{
    Aggregate, Cardinality, Dimension, Expression, Format, Join, Label, Literal, Measure, Metric,
    MetricKind, Place, Semantics, Table, WeekStart,
};
pub use read::{BOUNDS, FUNCTIONS, Problem, Source};
pub use request::{Comparison, Filter, Grain, Operator, Order, Period, Request};
