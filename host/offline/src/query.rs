//! A query as parts, and its text in the dialect of the catalog.

use std::collections::BTreeSet;

use syrch_core::Dialect;

use super::joins;
use super::schema::{ColumnRef, Edge, Schema};

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
}

impl Expression {
    /// The column that it aggregates; none if it counts rows.
    pub(crate) fn column(&self) -> Option<ColumnRef> {
        match self {
            Self::Column(at) | Self::Aggregate(_, at) | Self::CountDistinct(at) | Self::Length(at) => Some(*at),
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
    fn text(self) -> &'static str {
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
    pub(crate) fn negated(self) -> Self {
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
    Number(String),
    Range(Box<Operand>, Box<Operand>),
    Query(Box<LogicalQuery>),
    /// No value: equal to it is `IS NULL`.
    Null,
}

/// One condition; `year` compares the year of a date.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Condition {
    pub(crate) column: ColumnRef,
    pub(crate) operator: Operator,
    pub(crate) operand: Operand,
    pub(crate) year: bool,
}

/// One SELECT. `filters` hold together; within one of them any condition suffices.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct LogicalQuery {
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
    /// Whether it or a query within it reads that table.
    pub(crate) fn reads(&self, table: usize) -> bool {
        self.all_tables().contains(&table) || self.inner().any(|query| query.reads(table))
    }

    /// Whether it or a query within it names that column.
    pub(crate) fn names(&self, column: ColumnRef) -> bool {
        let is = |expression: &Expression| match expression {
            Expression::AllColumns(table) => *table == column.table,
            other => other.column() == Some(column),
        };
        self.select.iter().any(is)
            || self.order.iter().any(|(expression, _)| is(expression))
            || self.having.iter().any(|(expression, ..)| is(expression))
            || self.group.contains(&column)
            || self.filters.iter().flatten().any(|condition| condition.column == column)
            || self.inner().any(|query| query.names(column))
    }

    /// Whether rows with related rows in that table are excluded.
    pub(crate) fn excludes(&self, table: usize) -> bool {
        self.filters.iter().flatten().any(|condition| match &condition.operand {
            Operand::Query(query) => condition.operator == Operator::NotIn && query.reads(table),
            _ => false,
        })
    }

    fn inner(&self) -> impl Iterator<Item = &LogicalQuery> {
        let operands = self.filters.iter().flatten().filter_map(|condition| match &condition.operand {
            Operand::Query(query) => Some(query.as_ref()),
            _ => None,
        });
        operands.chain(self.intersect.as_deref())
    }
}

/// Writes queries as SQL text.
pub(crate) struct Writer<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) bias: &'a dyn Fn(&Edge) -> f64,
}

impl Writer<'_> {
    /// The text; none if its tables cannot be joined or it selects nothing.
    pub(crate) fn text(&self, query: &LogicalQuery) -> Option<String> {
        let query = &self.strict(query);
        let tables = query.all_tables();
        let tree = joins::tree(self.schema, &tables, self.bias)?;
        let single = tree.len() == 1;
        let mut out = String::from(if query.distinct { "SELECT DISTINCT " } else { "SELECT " });
        out += &self.list(query.select.iter().map(|item| self.expression(item, single)))?;
        out += " FROM ";
        for (table, edge) in &tree {
            match edge {
                None => out += &self.table(*table),
                Some(edge) => {
                    let (left, right) = (self.name(edge.left, false), self.name(edge.right, false));
                    out += &format!(" JOIN {} ON {left} = {right}", self.table(*table));
                }
            }
        }
        if !query.filters.is_empty() {
            let filters: Option<Vec<String>> = query.filters.iter().map(|any| self.any_of(any, single)).collect();
            out += &format!(" WHERE {}", filters?.join(" AND "));
        }
        if let Some(group) = self.list(query.group.iter().map(|at| self.name(*at, single))) {
            out += &format!(" GROUP BY {group}");
        }
        if let Some((expression, operator, number)) = &query.having {
            out += &format!(" HAVING {} {} {number}", self.expression(expression, single), operator.text());
        }
        if let Some(other) = &query.intersect {
            out += &format!(" INTERSECT {}", self.text(other)?);
        }
        let order = query.order.iter().map(|(item, down)| self.expression(item, single) + self.direction(item, *down));
        if let Some(order) = self.list(order) {
            out += &format!(" ORDER BY {order}");
        }
        if let Some(limit) = query.limit {
            out += &format!(" LIMIT {limit}");
        }
        Some(out)
    }

    fn is_postgres(&self) -> bool {
        self.schema.dialect == Dialect::Postgres
    }

    /// The query as the dialect takes it: PostgreSQL refuses to select or to order by what is neither grouped nor aggregated, and to order
    /// different rows by what they do not have. Different rows of columns are then groups, each of which has its least or, descending, its
    /// greatest value of what it is ordered by.
    fn strict(&self, query: &LogicalQuery) -> LogicalQuery {
        let mut query = query.clone();
        if !self.is_postgres() {
            return query;
        }
        let columns = query.select.iter().map(|expression| match expression {
            Expression::Column(at) => Some(*at),
            _ => None,
        });
        let is_ordered_by_other = query.order.iter().any(|(expression, _)| !query.select.contains(expression));
        if let (true, true, Some(columns)) = (query.distinct, is_ordered_by_other, columns.collect()) {
            (query.distinct, query.group) = (false, columns);
            for (expression, down) in &mut query.order {
                if let Expression::Column(at) = *expression
                    && !query.group.contains(&at)
                {
                    *expression = Expression::Aggregate(if *down { Function::Max } else { Function::Min }, at);
                }
            }
        }
        let ordered = query.order.iter().map(|(expression, _)| expression);
        if !query.group.is_empty() {
            let plain = query.select.iter().chain(ordered).filter_map(|expression| match expression {
                Expression::Column(at) => Some(*at),
                _ => None,
            });
            let missing: Vec<ColumnRef> = plain.filter(|at| !query.group.contains(at)).collect();
            query.group.extend(missing);
            let mut seen = BTreeSet::new();
            query.group.retain(|at| seen.insert(*at));
        }
        query
    }

    /// PostgreSQL takes NULL for greater than everything: without a word it would be the first of the greatest.
    fn direction(&self, expression: &Expression, down: bool) -> &'static str {
        let may_be_null = expression.column().is_some_and(|at| {
            let is_counted = matches!(expression, Expression::CountDistinct(_));
            !is_counted && (self.schema.column(at).nullable || matches!(expression, Expression::Aggregate(..)))
        });
        match down {
            true if self.is_postgres() && may_be_null => " DESC NULLS LAST",
            true => " DESC",
            false => "",
        }
    }

    fn list(&self, parts: impl Iterator<Item = String>) -> Option<String> {
        let parts: Vec<String> = parts.collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    fn any_of(&self, conditions: &[Condition], single: bool) -> Option<String> {
        let parts: Option<Vec<String>> = conditions.iter().map(|one| self.condition(one, single)).collect();
        let parts = parts?;
        Some(if parts.len() == 1 { parts.concat() } else { format!("({})", parts.join(" OR ")) })
    }

    fn condition(&self, condition: &Condition, single: bool) -> Option<String> {
        let name = self.name(condition.column, single);
        let name = if condition.year { self.year(&name, condition.column) } else { name };
        let is_pattern = matches!(condition.operator, Operator::Like | Operator::NotLike);
        let name = if is_pattern { self.as_text(name, condition.column) } else { name };
        let operator = self.operator(condition.operator);
        let is_boolean = self.is_postgres() && self.schema.column(condition.column).declared.starts_with("bool");
        Some(match &condition.operand {
            Operand::Number(number) if is_boolean && !condition.year => {
                format!("{name} {operator} {}", if number == "0" { "FALSE" } else { "TRUE" })
            }
            Operand::Range(low, high) => {
                format!("{name} {operator} {} AND {}", self.operand(low)?, self.operand(high)?)
            }
            Operand::Null if condition.operator == Operator::Equal => format!("{name} IS NULL"),
            Operand::Null => format!("{name} IS NOT NULL"),
            other => format!("{name} {operator} {}", self.operand(other)?),
        })
    }

    fn operand(&self, operand: &Operand) -> Option<String> {
        Some(match operand {
            Operand::Text(text) => format!("'{}'", text.replace('\'', "''")),
            Operand::Number(number) => number.clone(),
            Operand::Query(query) => format!("({})", self.text(query)?),
            Operand::Range(..) | Operand::Null => return None,
        })
    }

    /// The operator in the dialect. `LIKE` of SQLite and MySQL leaves letter case aside.
    fn operator(&self, operator: Operator) -> &'static str {
        match operator {
            Operator::Like if self.is_postgres() => "ILIKE",
            Operator::NotLike if self.is_postgres() => "NOT ILIKE",
            other => other.text(),
        }
    }

    /// A column whose values are compared as texts, where the dialect does not convert them by itself.
    fn as_text(&self, name: String, at: ColumnRef) -> String {
        let declared = &self.schema.column(at).declared;
        let is_text = ["char", "text", "citext"].iter().any(|kind| declared.contains(kind));
        if is_text || !self.is_postgres() { name } else { format!("CAST({name} AS TEXT)") }
    }

    fn year(&self, name: &str, at: ColumnRef) -> String {
        let declared = &self.schema.column(at).declared;
        match self.schema.dialect {
            Dialect::Sqlite => format!("CAST(strftime('%Y', {name}) AS INTEGER)"),
            // A date that is declared as a text.
            Dialect::Postgres if declared.contains("char") || declared.contains("text") => {
                format!("EXTRACT(YEAR FROM CAST({name} AS DATE))")
            }
            _ => format!("EXTRACT(YEAR FROM {name})"),
        }
    }

    fn expression(&self, expression: &Expression, single: bool) -> String {
        match expression {
            Expression::Column(at) => self.name(*at, single),
            Expression::Aggregate(function, at) => {
                let function = match function {
                    Function::Avg => "AVG",
                    Function::Min => "MIN",
                    Function::Max => "MAX",
                    Function::Sum => "SUM",
                };
                format!("{function}({})", self.name(*at, single))
            }
            Expression::CountDistinct(at) => format!("COUNT(DISTINCT {})", self.name(*at, single)),
            Expression::Length(at) => {
                // The plain function of MySQL counts bytes.
                let function = if self.schema.dialect == Dialect::Mysql { "CHAR_LENGTH" } else { "LENGTH" };
                format!("{function}({})", self.as_text(self.name(*at, single), *at))
            }
            Expression::CountRows => "COUNT(*)".to_owned(),
            Expression::AllColumns(_) if single => "*".to_owned(),
            Expression::AllColumns(table) => format!("{}.*", self.quote(&self.schema.tables[*table].name)),
        }
    }

    fn table(&self, table: usize) -> String {
        let view = &self.schema.tables[table];
        let name = self.quote(&view.name);
        view.schema.as_ref().map_or_else(|| name.clone(), |schema| format!("{}.{name}", self.quote(schema)))
    }

    fn name(&self, at: ColumnRef, single: bool) -> String {
        let column = self.quote(&self.schema.column(at).name);
        if single { column } else { format!("{}.{column}", self.quote(&self.schema.tables[at.table].name)) }
    }

    /// The identifier as the dialect needs it: quoted unless it is a plain word that no grammar reserves.
    fn quote(&self, name: &str) -> String {
        let plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !RESERVED.contains(&name.to_ascii_lowercase().as_str());
        let folds = self.schema.dialect == Dialect::Postgres && name.chars().any(|c| c.is_ascii_uppercase());
        if plain && !folds { name.to_owned() } else { self.schema.dialect.quoted(name) }
    }
}

const RESERVED: &[&str] = &[
    "add",
    "all",
    "alter",
    "and",
    "as",
    "asc",
    "between",
    "by",
    "case",
    "check",
    "collate",
    "column",
    "commit",
    "constraint",
    "create",
    "cross",
    "current",
    "current_date",
    "current_time",
    "current_timestamp",
    "database",
    "default",
    "delete",
    "desc",
    "distinct",
    "drop",
    "else",
    "end",
    "escape",
    "except",
    "exists",
    "false",
    "for",
    "foreign",
    "from",
    "full",
    "function",
    "grant",
    "group",
    "having",
    "if",
    "in",
    "index",
    "inner",
    "insert",
    "intersect",
    "interval",
    "into",
    "is",
    "join",
    "key",
    "left",
    "like",
    "limit",
    "natural",
    "not",
    "null",
    "offset",
    "on",
    "or",
    "order",
    "outer",
    "over",
    "partition",
    "primary",
    "references",
    "right",
    "row",
    "rows",
    "select",
    "set",
    "table",
    "then",
    "to",
    "trigger",
    "true",
    "union",
    "unique",
    "update",
    "user",
    "using",
    "values",
    "view",
    "when",
    "where",
    "window",
    "with",
];
