//! Information about a statement or a column that is found without running a statement of the
//! guest's: syntax, names, plans, statistics.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::PortError;
use crate::SqlError;

/// A literal of a statement, with the column that it is compared with where that is clear.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Literal {
    /// The table of that column.
    pub table: Option<String>,
    /// The name of that column.
    pub column: Option<String>,
    /// The literal's text without quotes.
    pub text: String,
}

/// A use of one table's values in a statement that may mean something else than it says. Only what
/// is certain is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Use {
    /// The table, as [`Catalog::table`](crate::Catalog::table) finds it.
    pub table: String,
    /// The column whose values are used, as the catalog spells it.
    pub column: String,
    /// The expression that is used, over plain columns of the table; `None` for the column itself.
    pub value: Option<String>,
    /// The conditions of the statement on the table's rows, over its plain columns.
    pub filter: Option<String>,
    /// The kind of use.
    pub kind: UseKind,
}

/// A statement's use of the values of a [`Use`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum UseKind {
    /// They are numbers for that function or operator, such as `SUM` or `+`.
    Number(String),
    /// They are cast to a number.
    Cast,
    /// They are put in order by `MIN`, `MAX`, `ORDER BY` or a comparison with a text.
    Order(String),
    /// They are compared with a number.
    Compared {
        /// The operator, with the column on its left.
        operator: String,
        /// The number as the statement has it.
        number: String,
    },
    /// The use's `value`, a text that a function makes of them, is compared with a number by that
    /// operator.
    ComparedText(String),
    /// They are compared with a day that is written as a text, as a rule `YYYY-MM-DD`.
    Day {
        /// The operator, with the column on its left; `BETWEEN` compares by `>=` and `<=`.
        operator: String,
        /// The day.
        day: String,
    },
    /// They are compared for equality with these texts, all those of the statement together.
    Texts(Vec<String>),
    /// They are read as dates by a function, whose call is the use's `value`.
    Date,
    /// The use's `value` is a condition that every row of the result has to meet.
    Condition,
    /// Each of them is a group of its own, or is counted once.
    Groups {
        /// The expressions over the same table that are grouped beside them.
        keys: Vec<String>,
        /// True if they are a column of the result or of the query that they stand in.
        is_shown: bool,
    },
    /// They are the values of the query behind a `NOT IN`; or a `NOT IN` over them has NULL in its
    /// list, which is the use's `value` then.
    NotIn,
    /// The use's `value` is a condition that no row meets: a comparison with NULL, or of a column
    /// with two values at once.
    Never,
    /// The use's `value` is a condition that every row with a value meets, such as
    /// `kind <> 'a' OR kind <> 'b'`.
    Always,
    /// They are compared with a query that stands in the place of one value.
    Scalar {
        /// A query of the number of its values, 2 at most.
        values: String,
    },
    /// A ratio of whole numbers over rows of the table, without decimals in this dialect.
    Ratio,
    /// They are equal to those of a column of another table.
    Join {
        /// The other table.
        table: String,
        /// Its column.
        column: String,
    },
    /// They stand beside an aggregate without being grouped. `keys` are the columns of the same
    /// table that are grouped; `None` if the statement groups by anything else.
    Beside {
        /// The grouped columns; empty if there are no groups.
        keys: Option<Vec<String>>,
    },
    /// They are compared with the least or greatest value of another column.
    Extreme {
        /// The function: `min` or `max`.
        function: String,
        /// The other column.
        of: ColumnName,
    },
    /// They are aggregated over a join that may repeat the rows of the table.
    Repeated {
        /// The aggregate.
        function: String,
        /// A query of a row for each row of the table that the join repeats within a group.
        rows: String,
    },
    /// They are those of the right table of a LEFT JOIN, and the rows of each row of the left one
    /// are counted with the row that the join makes where there is none.
    Padded {
        /// A query of a row if there is such a row.
        rows: String,
    },
    /// The table stands beside that other one in FROM without a condition that connects them.
    Unconnected(String),
}

/// A column of a table of the catalog.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ColumnName {
    /// The table, as [`Catalog::table`](crate::Catalog::table) finds it.
    pub table: String,
    /// The column, as the catalog spells it.
    pub column: String,
}

/// The outermost SELECT of a statement, as far as it is certain.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outline {
    /// Its columns.
    pub columns: Vec<Selected>,
    /// The number of relations in its FROM.
    pub relations: usize,
    /// The expressions that it groups by.
    pub groups: Vec<Selected>,
    /// The first key of its order.
    pub order: Option<OrderKey>,
    /// The most rows that it returns, if it says so.
    pub limit: Option<u64>,
    /// The rows where its limit cuts its order.
    pub cut: Option<Cut>,
    /// True if its WHERE leaves out the rows that a LEFT JOIN makes where there is none.
    pub is_inner: bool,
    /// The comparisons that each of its rows meets, as its WHERE says.
    pub all_of: Vec<Comparison>,
    /// Two values of one column between which an OR stands beside an AND without parentheses:
    /// `a AND c = 1 OR c = 2`, which is `(a AND c = 1) OR c = 2`.
    pub loose: Option<[Comparison; 2]>,
    /// The lists of comparisons of which each of its rows meets one or more.
    pub any_of: Vec<Vec<Comparison>>,
    /// The comparisons with values that its rows differ from, whatever else they may meet.
    pub differing: Vec<Comparison>,
    /// The rows that it lists several times, if a join may repeat those of the one table that it
    /// lists.
    pub repeated: Option<Repeated>,
}

/// A comparison of a column with a literal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// The column.
    pub column: ColumnName,
    /// The operator with the column on its left: `=`, `<`, `<=`, `>`, `>=`, `<>` or `LIKE`.
    pub operator: &'static str,
    /// The literal, without quotes and without the signs of a pattern around it.
    pub literal: String,
}

/// Rows of a table that a join repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeated {
    /// The table.
    pub table: String,
    /// A query of a row if a row of the table is repeated.
    pub rows: String,
}

/// The rows where a limit cuts an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// A query of the last row that the statement returns and of some behind it. Its last columns
    /// are the keys of the order.
    pub rows: String,
    /// The number of keys.
    pub keys: usize,
    /// The name of the first key in the result, or its text.
    pub name: String,
}

/// The origin of a column of a result, a group or an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selected {
    /// A column of the catalog.
    Column(ColumnName),
    /// An aggregate over the rows of a group.
    Aggregate {
        /// Its name, in lower case.
        function: String,
        /// The column that it is of, if it is of a column alone.
        of: Option<ColumnName>,
        /// True if it takes each value once.
        is_distinct: bool,
    },
    /// Anything else.
    Other,
}

impl Selected {
    /// The column that this is, or is an aggregate of.
    #[must_use]
    pub fn column(&self) -> Option<&ColumnName> {
        match self {
            Self::Column(column) => Some(column),
            Self::Aggregate { of, .. } => of.as_ref(),
            Self::Other => None,
        }
    }

    /// Returns whether it is an aggregate of that name.
    #[must_use]
    pub fn is_aggregate(&self, names: &[&str]) -> bool {
        matches!(self, Self::Aggregate { function, .. } if names.contains(&function.as_str()))
    }
}

/// The first key of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderKey {
    /// The origin of the values that decide the order.
    pub by: Selected,
    /// True if the greatest value comes first.
    pub is_descending: bool,
    /// True if NULL comes first; `None` where the statement does not say so.
    pub nulls_first: Option<bool>,
    /// The conditions of the statement on the rows of the column's table, over its plain columns.
    pub filter: Option<String>,
}

/// The names and parts of one statement, spelled as the catalog spells them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Facts {
    /// The tables and views that it reads.
    pub tables: Vec<String>,
    /// The columns that it reads, as `table.column`.
    pub columns: Vec<String>,
    /// The functions that it calls, in lower case.
    pub functions: Vec<String>,
    /// The literals that it holds.
    pub literals: Vec<Literal>,
    /// Its subqueries as text.
    pub subqueries: Vec<String>,
    /// The names of the finished tasks that stand in its FROM.
    pub tasks: Vec<String>,
    /// True if the outermost query has ORDER BY.
    pub ordered: bool,
    /// The statement in canonical spelling.
    pub normalized: String,
    /// The statement in canonical spelling, with `?` for each literal.
    pub skeleton: String,
    /// The uses of columns that may mean something else than the statement says. They are for the
    /// host alone.
    #[serde(skip)]
    pub uses: Vec<Use>,
    /// The outermost query; `None` if it is no single SELECT. It is for the host alone.
    #[serde(skip)]
    pub outline: Option<Outline>,
}

/// The plan by which an engine would run a statement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The format of `text`, such as `sqlite-eqp`.
    pub format: String,
    /// The plan as the engine writes it.
    pub text: String,
    /// The expected cost in the engine's own unit.
    pub cost: Option<f64>,
    /// The expected number of rows.
    pub rows: Option<f64>,
}

/// Statistics of one column; `None` where the engine has none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ColumnStats {
    /// The column's name as the catalog spells it.
    pub column: String,
    /// The number of different values.
    pub distinct: Option<f64>,
    /// The share of NULL, 0 to 1.
    pub null_fraction: Option<f64>,
    /// The correlation of the order of values and the order of rows, -1 to 1.
    pub correlation: Option<f64>,
    /// The average size of a value, in bytes.
    pub average_width: Option<u32>,
}

/// A statement that is compiled from the definitions of metrics.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompiledMetric {
    /// One SELECT in the dialect of the database.
    pub sql: String,
    /// The conditions, dates and grain that it applies, in words.
    pub applied: String,
    /// The origin of the statement, as an answer's document has it. It is for the host alone.
    pub origin: serde_json::Value,
}

/// The metrics that the user's semantics files define.
pub trait Definitions: Send + Sync {
    /// Compiles a request for metrics, which is a JSON document.
    ///
    /// # Errors
    /// When the request has no statement: the reason.
    fn compile(&self, request: &str) -> Result<CompiledMetric, String>;
    /// Finds how a statement computes a metric that the question mentions in another way than it is
    /// defined, and which parts of the question the request leaves out that the statement was
    /// compiled of: a sentence for each.
    fn find_departures(&self, question: &str, sql: &str, facts: &Facts) -> Vec<String>;
}

/// The port `inspect` of one role call.
#[async_trait]
pub trait InspectPort: Send + Sync {
    /// Called to parse and resolve one statement without running it. It reads the catalog alone.
    ///
    /// # Errors
    /// When the guard refuses the statement, or the catalog lacks a name.
    async fn check(&self, text: &str) -> Result<Facts, SqlError>;
    /// Called for the engine's plan of one statement; it counts as a statement.
    ///
    /// # Errors
    /// When the guard or the engine refuses the statement.
    async fn explain(&self, text: &str) -> Result<Plan, SqlError>;
    /// Called for the statistics of these columns; returns them in the same order.
    ///
    /// # Errors
    /// [`PortError::UnknownName`] for a table or column that the catalog lacks.
    async fn column_stats(
        &self,
        table: &str,
        columns: &[String],
    ) -> Result<Vec<ColumnStats>, PortError>;
    /// Called to compile a request for metrics, which is a JSON document. It reads the semantics
    /// files alone.
    ///
    /// # Errors
    /// [`PortError::Unsupported`] without such files, [`PortError::Other`] with the reason why a
    /// request has no statement.
    async fn compile_metric(&self, request: &str) -> Result<CompiledMetric, PortError>;
}
