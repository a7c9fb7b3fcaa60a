//! The aggregates of a statement, with the columns of the catalog that they are of.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, DuplicateTreatment, Expr, Function, FunctionArguments, Query, Select, SetExpr,
    Statement, TableFactor, TableWithJoins, UnaryOperator, Visit, Visitor,
};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;
use syrch_core::ports::Facts;

use super::conditions::{Left, Test, read_test};
use super::polynomial::{Polynomial, expand, list_arguments, list_columns};
use super::{last_part, shorten};

/// The limits on a statement that is read: its bytes, its operators, which make a tree as deep as
/// they are many, and the recursion of the parser.
const BYTES: usize = 16 << 10;
const OPERATORS: usize = 200;
const RECURSION: usize = 50;

/// The words that count as operators, beside signs.
const WORDS: &[&str] =
    &["and", "or", "not", "is", "in", "like", "between", "union", "except", "intersect", "case"];

/// The kind of an aggregate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Sum,
    Mean,
    Count,
    Distinct,
    Min,
    Max,
}

/// An aggregate of a statement.
#[derive(Debug)]
pub(super) struct Computed {
    pub(super) kind: Kind,
    /// The text of the aggregate in the statement.
    pub(super) text: String,
    /// Its argument; `None` if its meaning is not certain.
    pub(super) argument: Option<Polynomial>,
    /// The columns of the argument that are certain, as `table.column`.
    pub(super) columns: BTreeSet<String>,
}

/// The aggregates of a statement and the conditions that it makes.
pub(super) struct Read {
    pub(super) computed: Vec<Computed>,
    /// The conditions on one column, as `table.column`, or without the table where that is not
    /// certain; `None` where the values that are left are not certain.
    pub(super) tests: Vec<(String, Option<Left>)>,
    /// True if it is one query without DISTINCT.
    pub(super) is_plain: bool,
}

/// Reads the aggregates and conditions of a statement; `None` if it is not read.
pub(super) fn read_statement(facts: &Facts) -> Option<Read> {
    let text = &facts.normalized;
    if text.is_empty() || text.len() > BYTES || count_operators(text) > OPERATORS {
        return None;
    }
    let mut parser =
        Parser::new(&GenericDialect {}).with_recursion_limit(RECURSION).try_with_sql(text).ok()?;
    let statement = parser.parse_statement().ok()?;
    let Statement::Query(query) = &statement else { return None };
    let mut walk = Walk {
        columns: facts.columns.iter().filter_map(|column| shorten(column)).collect(),
        made: facts.tasks.iter().map(|name| name.to_lowercase()).collect(),
        scopes: Vec::new(),
        found: Vec::new(),
        tests: Vec::new(),
        queries: 0,
    };
    let _ = query.visit(&mut walk);
    let has_distinct = text.to_lowercase().contains("distinct");
    let is_plain = walk.queries == 1 && !has_distinct;
    Some(Read { computed: walk.found, tests: walk.tests, is_plain })
}

fn count_operators(text: &str) -> usize {
    let signs = text.chars().filter(|c| "+-*/%|<>=!&^".contains(*c)).count();
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    let words = words.filter(|word| WORDS.iter().any(|known| word.eq_ignore_ascii_case(known)));
    signs + words.count()
}

/// The tables in the FROM of a query by the names that stand for them; `None` for what is made by a
/// query.
type Scope = HashMap<String, Option<String>>;

/// A walk over a statement that gathers its aggregates.
struct Walk {
    /// The columns that the statement reads.
    columns: HashSet<String>,
    /// The names of relations that are made by queries.
    made: HashSet<String>,
    scopes: Vec<Scope>,
    found: Vec<Computed>,
    tests: Vec<(String, Option<Left>)>,
    queries: usize,
}

impl Visitor for Walk {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        if let Some(with) = &query.with {
            let names = with.cte_tables.iter().map(|table| table.alias.name.value.to_lowercase());
            self.made.extend(names);
        }
        self.queries += 1;
        let mut scope = Scope::new();
        self.add_body(&query.body, &mut scope);
        self.scopes.push(scope);
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.scopes.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if let Expr::Function(function) = expr
            && let Some(kind) = kind_of(function)
        {
            self.add_aggregate(kind, function);
        }
        self.add_test(expr);
        ControlFlow::Continue(())
    }
}

impl Walk {
    fn add_body(&self, body: &SetExpr, scope: &mut Scope) {
        match body {
            SetExpr::Select(select) => self.add_select(select, scope),
            SetExpr::SetOperation { left, right, .. } => {
                self.add_body(left, scope);
                self.add_body(right, scope);
            }
            // A query in parentheses has a scope of its own.
            _ => {}
        }
    }

    fn add_select(&self, select: &Select, scope: &mut Scope) {
        for TableWithJoins { relation, joins } in &select.from {
            self.add_relation(relation, scope);
            joins.iter().for_each(|join| self.add_relation(&join.relation, scope));
        }
    }

    fn add_relation(&self, relation: &TableFactor, scope: &mut Scope) {
        let entry = match relation {
            TableFactor::Table { name, alias, .. } => {
                let table = last_part(&name.to_string());
                let known = alias.as_ref().map_or(table.clone(), |it| it.name.value.to_lowercase());
                (known, Some(table).filter(|table| !self.made.contains(table)))
            }
            TableFactor::Derived { alias: Some(alias), .. } => {
                (alias.name.value.to_lowercase(), None)
            }
            TableFactor::NestedJoin { table_with_joins, .. } => {
                self.add_relation(&table_with_joins.relation, scope);
                table_with_joins
                    .joins
                    .iter()
                    .for_each(|join| self.add_relation(&join.relation, scope));
                return;
            }
            _ => (String::new(), None),
        };
        let (name, table) = entry;
        // One name for two tables, in two parts of a UNION.
        let is_other = scope.get(&name).is_some_and(|known| *known != table);
        scope.insert(name, table.filter(|_| !is_other));
    }

    /// The column of the catalog that names mean.
    fn resolve(&self, names: &[String]) -> Option<String> {
        let names: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
        let found = match names.as_slice() {
            [column] => self.resolve_alone(column)?,
            [.., alias, column] => {
                let scope = self.scopes.iter().rev().find(|scope| scope.contains_key(alias))?;
                format!("{}.{column}", scope.get(alias)?.as_ref()?)
            }
            [] => return None,
        };
        self.columns.contains(&found).then_some(found)
    }

    /// The column of a name without a table, which only one relation of the innermost scope that
    /// has it can mean.
    fn resolve_alone(&self, column: &str) -> Option<String> {
        let scope = self.scopes.last()?;
        let tables: BTreeSet<&String> = scope.values().flatten().collect();
        let is_sure = scope.values().all(Option::is_some);
        let mut having = tables
            .into_iter()
            .map(|table| format!("{table}.{column}"))
            .filter(|name| self.columns.contains(name));
        let only = having.next().filter(|_| is_sure)?;
        having.next().is_none().then_some(only)
    }

    /// Adds the condition that an expression makes. One that is negated as a whole, or that
    /// compares what is computed from a column, leaves values that are not certain.
    fn add_test(&mut self, expr: &Expr) {
        if let Some(Test { column, left }) = read_test(expr) {
            self.push_test(&column, left);
            return;
        }
        let unclear = match expr {
            Expr::UnaryOp { op: UnaryOperator::Not, expr: inner }
            | Expr::Like { expr: inner, .. }
            | Expr::ILike { expr: inner, .. }
            | Expr::SimilarTo { expr: inner, .. }
            | Expr::Between { expr: inner, .. }
            | Expr::InSubquery { expr: inner, .. }
            | Expr::Case { operand: Some(inner), .. } => list_columns(inner),
            Expr::Function(function) if kind_of(function).is_none() => list_columns(expr),
            Expr::BinaryOp { op, .. } if is_comparison(op) => list_columns(expr),
            Expr::InList { .. }
            | Expr::AnyOp { .. }
            | Expr::AllOp { .. }
            | Expr::IsNull(_)
            | Expr::IsNotNull(_)
            | Expr::IsTrue(_)
            | Expr::IsNotTrue(_)
            | Expr::IsFalse(_)
            | Expr::IsNotFalse(_)
            | Expr::IsDistinctFrom(..)
            | Expr::IsNotDistinctFrom(..) => list_columns(expr),
            _ => Vec::new(),
        };
        for names in unclear {
            self.push_test(&names, None);
        }
    }

    /// Adds a condition on a column. One whose table is not certain may be of any.
    fn push_test(&mut self, names: &[String], left: Option<Left>) {
        let last = names.last().map(|name| name.to_lowercase()).unwrap_or_default();
        match self.resolve(names) {
            Some(column) => self.tests.push((column, left)),
            None => self.tests.push((last, None)),
        }
    }

    fn add_aggregate(&mut self, kind: Kind, function: &Function) {
        let arguments = list_arguments(function).unwrap_or_default();
        // With several arguments MIN and MAX are no aggregates.
        let argument = arguments.first().filter(|_| arguments.len() == 1);
        let names = argument.map(|argument| list_columns(argument)).unwrap_or_default();
        let computed = Computed {
            kind,
            text: function.to_string(),
            argument: argument.and_then(|it| expand(it, &|names: &[String]| self.resolve(names))),
            columns: names.iter().filter_map(|names| self.resolve(names)).collect(),
        };
        self.found.push(computed);
    }
}

fn is_comparison(op: &BinaryOperator) -> bool {
    matches!(
        op,
        BinaryOperator::Eq
            | BinaryOperator::NotEq
            | BinaryOperator::Lt
            | BinaryOperator::LtEq
            | BinaryOperator::Gt
            | BinaryOperator::GtEq
    )
}

fn is_distinct(function: &Function) -> bool {
    let FunctionArguments::List(list) = &function.args else { return false };
    list.duplicate_treatment == Some(DuplicateTreatment::Distinct)
}

/// The kind of aggregate that a function is.
fn kind_of(function: &Function) -> Option<Kind> {
    match function.name.to_string().to_lowercase().as_str() {
        "sum" | "total" => Some(Kind::Sum),
        "avg" | "mean" => Some(Kind::Mean),
        "count" if is_distinct(function) => Some(Kind::Distinct),
        "count" => Some(Kind::Count),
        "min" => Some(Kind::Min),
        "max" => Some(Kind::Max),
        _ => None,
    }
}
