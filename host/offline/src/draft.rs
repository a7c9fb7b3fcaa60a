//! The draft of a query: what the walk over the items collects.

use super::query::{Condition, Expression, Function, Operator};
use super::schema::ColumnRef;

/// A column that may be asked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked {
    pub(crate) item: usize,
    pub(crate) head: bool,
    pub(crate) expression: Expression,
}

/// The rows that are counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Counted {
    pub(crate) item: usize,
    pub(crate) table: Option<usize>,
    pub(crate) distinct: bool,
    pub(crate) head: bool,
}

/// A condition and the item that gave it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Filter {
    pub(crate) item: usize,
    pub(crate) condition: Condition,
    /// The item of the negation that reaches it.
    pub(crate) negated: Option<usize>,
}

/// The key of groups.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Key {
    Table(usize),
    Column(ColumnRef),
}

/// The measure by which the best rows or groups are found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Measure {
    Column(ColumnRef),
    Aggregate(Function, ColumnRef),
    /// The length of a text.
    Length(ColumnRef),
    Rows(Option<usize>),
}

/// A table that the question names.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Named {
    pub(crate) item: usize,
    pub(crate) table: usize,
    pub(crate) head: bool,
    /// The item of the negation that reaches it.
    pub(crate) negated: Option<usize>,
}

/// A superlative without a measure, and the table whose rows it compares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Unmeasured {
    pub(crate) item: usize,
    /// The item after it that names the table.
    pub(crate) to: usize,
    pub(crate) table: usize,
    pub(crate) up: bool,
}

/// The parts of the question that the walk found.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Draft {
    pub(crate) asked: Vec<Asked>,
    pub(crate) counted: Vec<Counted>,
    pub(crate) filters: Vec<Filter>,
    pub(crate) keys: Vec<Key>,
    pub(crate) best: Option<(Measure, bool)>,
    pub(crate) unmeasured: Option<Unmeasured>,
    pub(crate) having: Option<(Measure, Operator, String)>,
    pub(crate) orders: Vec<Measure>,
    pub(crate) direction: Option<bool>,
    pub(crate) wants_order: bool,
    pub(crate) limit: Option<u64>,
    /// The aggregate of the best rows: the sum of the five highest.
    pub(crate) fold: Option<Function>,
    /// A part of a whole is asked for; true is of a hundred.
    pub(crate) share: Option<bool>,
    /// The column that is divided; `None` divides the number of rows.
    pub(crate) share_of: Option<ColumnRef>,
    pub(crate) frequent: Option<bool>,
    pub(crate) everything: bool,
    pub(crate) distinct: bool,
    /// The column whose values are counted one by one: how many are open and how many are paid.
    pub(crate) split: Option<ColumnRef>,
    pub(crate) both: bool,
    pub(crate) named: Vec<Named>,
    /// The item of the first negation.
    pub(crate) not: Option<usize>,
    /// The items of all negations.
    pub(crate) negations: Vec<usize>,
    /// The negations that have reversed a comparison or asked for a missing value.
    pub(crate) settled: Vec<usize>,
    /// The number of cues without an object, or with a meaning that no rule expresses.
    pub(crate) unmet: usize,
    /// Items whose function in the question remained unclear.
    pub(crate) loose: Vec<usize>,
}
