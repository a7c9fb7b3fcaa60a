//! The types of a semantics file after it was read and checked for itself: every name that it
//! refers to exists in it, and every expression is one that may stand in a SELECT.

use chrono::NaiveDate;

use crate::index::Index;

/// The content of one or several semantics files. Names are compared without their letter case.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Semantics {
    /// The day that "today", "last month" and the like count from; `None` for the clock's.
    pub today: Option<NaiveDate>,
    /// The first day of a week; Monday by default.
    pub week_start: WeekStart,
    /// The tables, in the order of the files.
    pub tables: Vec<Table>,
    /// The joins between them.
    pub joins: Vec<Join>,
    /// The dimensions of all tables.
    pub dimensions: Vec<Dimension>,
    /// The metrics.
    pub metrics: Vec<Metric>,
    /// The names and words in maps.
    pub(crate) index: Index,
}

/// The first day of a week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WeekStart {
    /// As ISO 8601 has it.
    #[default]
    Monday,
    /// As in the United States.
    Sunday,
}

/// The place of something in a file: the file's name as it was given, its line and column from 1.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The file's name.
    pub file: String,
    /// The line, from 1; 0 where none is known.
    pub line: u64,
    /// The column, from 1; 0 where none is known.
    pub column: u64,
}

/// A table of the database as the file describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The name by which the file refers to it.
    pub name: String,
    /// The table in the database, with its schema where it needs one; the name by default.
    pub source: String,
    /// Other names that people use.
    pub synonyms: Vec<String>,
    /// A sentence about it.
    pub description: Option<String>,
    /// The meaning of one row in words, as in `one line of an order`.
    pub grain: Option<String>,
    /// The columns that identify a row; empty if none are stated.
    pub key: Vec<String>,
    /// The dimension of this table that dates a row, by name.
    pub time: Option<String>,
    /// A condition on its columns; only rows that meet it count, as with soft deletes.
    pub filter: Option<Expression>,
    /// The place of its definition.
    pub place: Place,
}

/// An SQL expression of the file, parsed: columns, literals, operators and deterministic functions;
/// no subquery, no parameter, and no aggregate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression {
    /// The text as it is written.
    pub text: String,
    /// The parsed expression, in which each column stands with its table's name in the file.
    pub tree: sqlparser::ast::Expr,
    /// The tables that it refers to, by their names in the file, each once, in order.
    pub tables: Vec<String>,
    /// The place where it is written.
    pub place: Place,
}

/// A relation between two tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Join {
    /// The table on the side of many, where there is one.
    pub from: String,
    /// Its columns.
    pub from_columns: Vec<String>,
    /// The other table.
    pub to: String,
    /// Its columns, as many and in the same order.
    pub to_columns: Vec<String>,
    /// The number of rows that match on either side.
    pub cardinality: Cardinality,
    /// The place of its definition.
    pub place: Place,
}

/// The number of rows of the table `from` that match one row of the table `to`, and vice versa.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cardinality {
    /// Each row of `from` matches at most one of `to`.
    ManyToOne,
    /// Each row of either table matches at most one of the other.
    OneToOne,
}

/// A property of rows by which metrics can be grouped and filtered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dimension {
    /// The name, which is unique within its table; a request may write `table.name`.
    pub name: String,
    /// The table, by its name in the file.
    pub table: String,
    /// The expression over columns of that table alone; the column of that name by default.
    pub expression: Expression,
    /// True for dates and times, which can be grouped by a grain.
    pub is_time: bool,
    /// True if it names a row of its table, as the name of a customer does: groups are made by the
    /// table's key as well, so that two rows of the same name stay apart.
    pub names_row: bool,
    /// Other names that people use.
    pub synonyms: Vec<String>,
    /// The values with the words that people use for them.
    pub labels: Vec<Label>,
    /// A sentence about it.
    pub description: Option<String>,
    /// The place of its definition.
    pub place: Place,
}

/// A value of a dimension and the words for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The value as the database has it.
    pub value: Literal,
    /// The words for it, such as `canceled`.
    pub synonyms: Vec<String>,
}

/// A constant in a file or a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Literal {
    /// A text.
    Text(String),
    /// A number as it is written.
    Number(String),
    /// A truth value.
    Bool(bool),
    /// A day.
    Date(NaiveDate),
    /// The absent value.
    Null,
}

/// A number that is defined once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    /// The name, unique among metrics.
    pub name: String,
    /// Other names that people use.
    pub synonyms: Vec<String>,
    /// A sentence about it.
    pub description: Option<String>,
    /// The computation of its values.
    pub kind: MetricKind,
    /// The format in which a value is shown; a plain number by default.
    pub format: Format,
    /// The unit in words or a currency, such as `EUR`.
    pub unit: Option<String>,
    /// The place of its definition.
    pub place: Place,
}

/// The computation of a metric.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "most metrics are measures, and a file has few")]
pub enum MetricKind {
    /// An aggregate over the rows of one table, called its base, and what many-to-one joins add.
    Measure(Measure),
    /// A metric divided by another; NULL where the divisor is 0 or NULL.
    Ratio {
        /// The dividend, the name of a metric.
        numerator: String,
        /// The divisor, the name of a metric.
        denominator: String,
    },
    /// An arithmetic expression over other metrics, which stand in it as columns without a table.
    Derived(Expression),
}

/// An aggregate over a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measure {
    /// The aggregate function.
    pub aggregate: Aggregate,
    /// The argument; `None` for `count(*)`.
    pub argument: Option<Expression>,
    /// The table whose rows are aggregated: of the tables of the argument and the filter the one
    /// from which many-to-one joins reach the others.
    pub base: String,
    /// A condition on the rows that count, over the base and what is joined to it.
    pub filter: Option<Expression>,
    /// The time dimension that dates this measure, as `table.name`; that of the base by default,
    /// else that of the nearest table that joins lead to, if only one with a time is nearest.
    pub time: Option<String>,
}

/// The aggregate function of a measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregate {
    /// The sum.
    Sum,
    /// The number of rows, or of values that are not NULL.
    Count,
    /// The number of different values.
    CountDistinct,
    /// The mean.
    Avg,
    /// The least value.
    Min,
    /// The greatest value.
    Max,
}

/// The format in which the values of a metric are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// A number as it is.
    #[default]
    Number,
    /// A share of one, shown as a percentage.
    Percent,
    /// An amount of money in the metric's unit.
    Currency,
}
