//! The aggregates of a statement, with the columns of the catalog that they are of.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow;

use sqlparser::ast::{
    Expr, Function, Query, Select, SetExpr, Statement, TableFactor, TableWithJoins, Visit, Visitor,
};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;
use syrch_core::ports::Facts;

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
    /// A sum or a mean.
    Sum,
    Count,
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

/// Returns the aggregates of a statement; `None` if it is not read.
pub(super) fn find_aggregates(facts: &Facts) -> Option<Vec<Computed>> {
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
    };
    let _ = query.visit(&mut walk);
    Some(walk.found)
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
}

impl Visitor for Walk {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        if let Some(with) = &query.with {
            let names = with.cte_tables.iter().map(|table| table.alias.name.value.to_lowercase());
            self.made.extend(names);
        }
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

/// The kind of aggregate that a function is.
fn kind_of(function: &Function) -> Option<Kind> {
    match function.name.to_string().to_lowercase().as_str() {
        "sum" | "total" | "avg" | "mean" => Some(Kind::Sum),
        "count" => Some(Kind::Count),
        "min" => Some(Kind::Min),
        "max" => Some(Kind::Max),
        _ => None,
    }
}
