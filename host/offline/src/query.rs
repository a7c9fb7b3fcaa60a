//! A query as parts.

use std::collections::BTreeSet;

use super::schema::ColumnRef;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Function {
    Avg,
    Min,
    Max,
    Sum,
}

/// An expression in SELECT, HAVING and ORDER BY.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expression {
    Column(ColumnRef),
    Aggregate(Function, ColumnRef),
    CountDistinct(ColumnRef),
    /// The number of characters of a text.
    Length(ColumnRef),
    CountRows,
    AllColumns(usize),
    Share(Box<Share>),
}

/// A part of all rows, or of the sum of a column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Share {
    /// The column that is summed up; `None` counts rows.
    pub(crate) column: Option<ColumnRef>,
    /// True if the share is of a hundred, not of one.
    pub(crate) percent: bool,
    /// The conditions of the part. Without any, the part is the group, and the whole is all rows of
    /// the table.
    pub(crate) part: Vec<Vec<Condition>>,
    /// The table of the rows.
    pub(crate) table: usize,
}

impl Expression {
    /// The column that it aggregates; `None` if it counts rows.
    pub(crate) fn column(&self) -> Option<ColumnRef> {
        match self {
            Self::Column(at)
            | Self::Aggregate(_, at)
            | Self::CountDistinct(at)
            | Self::Length(at) => Some(*at),
            Self::Share(share) => share.column,
            Self::AllColumns(_) | Self::CountRows => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Equal,
    NotEqual,
    Greater,
    AtLeast,
    Less,
    AtMost,
    Like,
    NotLike,
    In,
    NotIn,
    Between,
    NotBetween,
}

impl Operator {
    /// The operator of SQLite.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "<>",
            Self::Greater => ">",
            Self::AtLeast => ">=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Like => "LIKE",
            Self::NotLike => "NOT LIKE",
            Self::In => "IN",
            Self::NotIn => "NOT IN",
            Self::Between => "BETWEEN",
            Self::NotBetween => "NOT BETWEEN",
        }
    }

    /// The operator that is true exactly where this one is false, NULL aside.
    pub(crate) fn negate(self) -> Self {
        match self {
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::Greater => Self::AtMost,
            Self::AtLeast => Self::Less,
            Self::Less => Self::AtLeast,
            Self::AtMost => Self::Greater,
            Self::Like => Self::NotLike,
            Self::NotLike => Self::Like,
            Self::In => Self::NotIn,
            Self::NotIn => Self::In,
            Self::Between => Self::NotBetween,
            Self::NotBetween => Self::Between,
        }
    }
}

/// The right side of a condition.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Operand {
    Text(String),
    /// Any of several spellings of one text.
    Texts(Vec<String>),
    Number(String),
    Range(Box<Operand>, Box<Operand>),
    Query(Box<LogicalQuery>),
    /// No value: equal to it is `IS NULL`.
    Null,
}

/// A part of a date that is compared as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Year,
    Month,
}

/// One condition.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Condition {
    pub(crate) column: ColumnRef,
    pub(crate) operator: Operator,
    pub(crate) operand: Operand,
    /// The part of a date that is compared; `None` compares the value itself.
    pub(crate) field: Option<Field>,
}

/// One SELECT. `filters` hold together; within one of them any condition suffices.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct LogicalQuery {
    /// Aggregates the one column that it selects, over the rows that its limit leaves: the sum of
    /// the five highest.
    pub(crate) fold: Option<Function>,
    pub(crate) distinct: bool,
    pub(crate) select: Vec<Expression>,
    /// Tables that must be joined although no column of theirs is named.
    pub(crate) tables: Vec<usize>,
    pub(crate) filters: Vec<Vec<Condition>>,
    pub(crate) group: Vec<ColumnRef>,
    pub(crate) having: Option<(Expression, Operator, String)>,
    pub(crate) order: Vec<(Expression, bool)>,
    pub(crate) limit: Option<u64>,
    /// A further SELECT whose rows must be among these as well.
    pub(crate) intersect: Option<Box<LogicalQuery>>,
}

impl LogicalQuery {
    /// The tables that it reads, those that it names first.
    pub(crate) fn all_tables(&self) -> Vec<usize> {
        let of = |expression: &Expression| match expression {
            Expression::AllColumns(table) => Some(*table),
            Expression::Share(share) => Some(share.table),
            other => other.column().map(|at| at.table),
        };
        let mut seen = BTreeSet::new();
        let select = self.select.iter().filter_map(of);
        let filters = self.filters.iter().flatten().map(|condition| condition.column.table);
        let order = self.order.iter().filter_map(|(expression, _)| of(expression));
        let having = self.having.iter().filter_map(|(expression, ..)| of(expression));
        select
            .chain(self.tables.iter().copied())
            .chain(filters)
            .chain(self.group.iter().map(|at| at.table))
            .chain(having)
            .chain(order)
            .filter(|table| seen.insert(*table))
            .collect()
    }
}

impl LogicalQuery {
    /// Returns true if the query or one within it reads that table.
    pub(crate) fn reads(&self, table: usize) -> bool {
        self.all_tables().contains(&table) || self.inner().any(|query| query.reads(table))
    }

    /// Returns true if the query or one within it uses more of a table than its rows.
    pub(crate) fn uses(&self, table: usize) -> bool {
        let named = LogicalQuery { tables: Vec::new(), intersect: None, ..self.clone() };
        named.all_tables().contains(&table) || self.inner().any(|query| query.reads(table))
    }

    /// Returns true if the query or one within it names that column.
    pub(crate) fn names(&self, column: ColumnRef) -> bool {
        let is = |expression: &Expression| match expression {
            Expression::AllColumns(table) => *table == column.table,
            other => other.column() == Some(column),
        };
        self.select.iter().any(is)
            || self.order.iter().any(|(expression, _)| is(expression))
            || self.having.iter().any(|(expression, ..)| is(expression))
            || self.group.contains(&column)
            || self.conditions().any(|condition| condition.column == column)
            || self.inner().any(|query| query.names(column))
    }

    /// Returns true if rows with related rows in that table are excluded.
    pub(crate) fn excludes(&self, table: usize) -> bool {
        self.filters.iter().flatten().any(|condition| match &condition.operand {
            Operand::Query(query) => condition.operator == Operator::NotIn && query.reads(table),
            _ => false,
        })
    }

    /// Its conditions, those of a share among them.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = &Condition> {
        let shares = self.select.iter().filter_map(|item| match item {
            Expression::Share(share) => Some(share.part.iter().flatten()),
            _ => None,
        });
        self.filters.iter().flatten().chain(shares.flatten())
    }

    /// The queries within it.
    pub(crate) fn inner(&self) -> impl Iterator<Item = &LogicalQuery> {
        let operands = self.conditions().filter_map(|condition| match &condition.operand {
            Operand::Query(query) => Some(query.as_ref()),
            _ => None,
        });
        operands.chain(self.intersect.as_deref())
    }
}
