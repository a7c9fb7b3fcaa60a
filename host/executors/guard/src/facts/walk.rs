//! The walk over expressions: columns are looked up from the innermost scope outwards, literals are
//! paired with the column that they are compared with, and a subquery goes back to the walk over
//! queries.

use std::collections::HashSet;
use std::ops::ControlFlow;

use sqlparser::ast::{
    AccessExpr, BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments,
    Ident, Query, SelectItem, SetExpr, UnaryOperator, Value, ValueWithSpan, Visit, Visitor,
};
use sqlparser::tokenizer::Location;
use syrch_core::SqlError;
use syrch_core::ports::Literal;
use syrch_core::text::{clip, nearest};

use super::place;
use super::resolver::Resolver;
use super::scope::{Found, Origin, Output, Scope, same};
use crate::carry;

/// The least similarity of a mistyped name to the one that is meant; 1 is the same.
const MISTYPED: f64 = 0.65;
/// Columns that every table has and no catalog lists.
const HIDDEN: [&str; 9] =
    ["rowid", "oid", "_rowid_", "ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"];
/// Functions whose argument is hardly a text that stands in the statement.
const AGGREGATES: [&str; 6] = ["avg", "count", "max", "min", "sum", "total"];
/// Words that stand for values although they look like names.
const VALUES: [&str; 10] = [
    "current_date",
    "current_time",
    "current_timestamp",
    "current_user",
    "session_user",
    "localtime",
    "localtimestamp",
    "user",
    "sysdate",
    "default",
];

/// A walk over expressions of one scope, the last of `scopes`.
pub(super) struct Walk<'w, 'a> {
    resolver: &'w mut Resolver<'a>,
    scopes: &'w mut Vec<Scope>,
    /// The number of queries around this place within the walk: inside one, nothing is done here.
    depth: usize,
    /// The number of lambdas around this place: inside one, every name may be its parameter.
    lambdas: usize,
    silent: bool,
    /// Literals that were paired already, by where they begin.
    paired: HashSet<Location>,
    /// The places where names of fields begin.
    fields: HashSet<Location>,
    /// Names in double quotes that stand where a value is expected, by where they begin.
    compared: HashSet<Location>,
    /// The query of a `NOT IN` that comes next.
    not_in: Option<*const Query>,
}

impl<'w, 'a> Walk<'w, 'a> {
    pub(super) fn new(resolver: &'w mut Resolver<'a>, scopes: &'w mut Vec<Scope>) -> Self {
        Self {
            resolver,
            scopes,
            depth: 0,
            lambdas: 0,
            silent: false,
            paired: HashSet::new(),
            fields: HashSet::new(),
            compared: HashSet::new(),
            not_in: None,
        }
    }

    /// Sets the walk to gather no literals, as in LIMIT.
    pub(super) fn silent(mut self) -> Self {
        self.silent = true;
        self
    }

    pub(super) fn over<T: Visit>(mut self, node: &T) -> Result<(), SqlError> {
        match node.visit(&mut self) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(error) => Err(error),
        }
    }

    fn expression(&mut self, expr: &Expr) -> Result<(), SqlError> {
        match expr {
            Expr::Identifier(name)
                if carry::is_mark(name) || self.fields.contains(&name.span.start) =>
            {
                Ok(())
            }
            // `(a).b` names a field, not a column.
            Expr::CompoundFieldAccess { access_chain, .. } => {
                for access in access_chain {
                    if let AccessExpr::Dot(Expr::Identifier(name)) = access {
                        self.fields.insert(name.span.start);
                    }
                }
                Ok(())
            }
            Expr::Identifier(name) => self.name(name),
            Expr::CompoundIdentifier(names) => self.resolve_qualified(names),
            Expr::Function(function) => {
                let name = function.name.to_string().to_lowercase();
                if !name.starts_with(carry::MARK) {
                    self.resolver.functions.insert(name);
                }
                if !AGGREGATES
                    .iter()
                    .any(|name| name.eq_ignore_ascii_case(&function.name.to_string()))
                {
                    arguments(function).for_each(|argument| self.expect_value(argument));
                }
                Ok(())
            }
            Expr::BinaryOp { left, op, right } => {
                if !is_arithmetic(op) {
                    self.expect_value(right);
                    if self.origin(right).is_some() {
                        self.expect_value(left);
                    }
                }
                self.pair(left, right);
                self.pair(right, left);
                Ok(())
            }
            Expr::Like { expr, pattern, .. } | Expr::ILike { expr, pattern, .. } => {
                self.expect_value(pattern);
                self.pair(expr, pattern);
                Ok(())
            }
            Expr::InList { expr, list, .. } => {
                list.iter().for_each(|value| self.expect_value(value));
                list.iter().for_each(|value| self.pair(expr, value));
                Ok(())
            }
            Expr::InSubquery { subquery, negated: true, .. } => {
                self.expect_not_in(subquery);
                Ok(())
            }
            Expr::UnaryOp { op: UnaryOperator::Not, expr } => {
                if let Expr::InSubquery { subquery, negated: false, .. } = strip_parentheses(expr) {
                    self.expect_not_in(subquery);
                }
                Ok(())
            }
            Expr::Case { operand, conditions, else_result, .. } => {
                let compared =
                    conditions.iter().filter(|_| operand.is_some()).map(|when| &when.condition);
                let results =
                    conditions.iter().map(|when| &when.result).chain(else_result.as_deref());
                compared.chain(results).for_each(|value| self.expect_value(value));
                Ok(())
            }
            Expr::Between { expr, low, high, .. } => {
                self.expect_value(low);
                self.expect_value(high);
                self.pair(expr, low);
                self.pair(expr, high);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Marks the query of a `NOT IN`, unless its conditions leave out NULL.
    fn expect_not_in(&mut self, query: &Query) {
        if !leaves_out_null(query) {
            self.not_in = Some(std::ptr::from_ref(query));
        }
    }

    fn name(&mut self, name: &Ident) -> Result<(), SqlError> {
        match self.look_up(&name.value) {
            Found::Column(origin) => {
                self.record(origin);
                Ok(())
            }
            Found::Perhaps => Ok(()),
            Found::Many(choices) => Err(place::ambiguous(name, choices, self.resolver.places)),
            Found::Nothing if self.may_be_else(name) => Ok(()),
            Found::Nothing => {
                let near = nearest(&name.value, self.scopes.iter().flat_map(Scope::names));
                let elsewhere = self.elsewhere(&name.value);
                let is_text = self.compared.contains(&name.span.start);
                let may_be_mistyped =
                    near.iter().any(|near| is_nearly(near, &name.value)) || !elsewhere.is_empty();
                if is_text && !may_be_mistyped && self.resolver.read_text(name) {
                    self.literal(name.span.start, &name.value, None);
                    return Ok(());
                }
                let error =
                    place::unknown_column(name, &name.value, near, elsewhere, self.resolver.places);
                Err(if is_text { place::hint_at_text(error, &name.value) } else { error })
            }
        }
    }

    /// Marks a name that SQLite would take for a text here if no column had it.
    fn expect_value(&mut self, expr: &Expr) {
        match expr {
            Expr::Nested(inner) => self.expect_value(inner),
            Expr::Identifier(name)
                if name.quote_style == Some('"')
                    && super::may_quote_texts(self.resolver.catalog) =>
            {
                self.compared.insert(name.span.start);
            }
            _ => {}
        }
    }

    fn look_up(&self, name: &str) -> Found {
        for scope in self.scopes.iter().rev() {
            match scope.find(name) {
                Found::Nothing => {}
                found => return found,
            }
        }
        Found::Nothing
    }

    /// Returns true if a name that no scope has may still mean something.
    fn may_be_else(&self, name: &Ident) -> bool {
        fn is_one_of(name: &Ident, words: &[&str]) -> bool {
            words.iter().any(|word| same(word, &name.value))
        }
        self.lambdas > 0
            || is_one_of(name, &HIDDEN)
            || (name.quote_style.is_none() && is_one_of(name, &VALUES))
    }

    /// Columns of that name in tables that do not stand in any scope.
    fn elsewhere(&self, name: &str) -> Vec<String> {
        self.resolver
            .catalog
            .tables
            .iter()
            .filter(|table: &&syrch_core::Table| table.column(name).is_some())
            .take(3)
            .map(|table| format!("{}.{name}", self.resolver.display_name(table)))
            .collect()
    }

    fn resolve_qualified(&mut self, names: &[Ident]) -> Result<(), SqlError> {
        let [rest @ .., qualifier, name] = names else {
            return Ok(());
        };
        let schema = rest.last().map(|schema| schema.value.as_str());
        let Some(source) =
            self.scopes.iter().rev().find_map(|scope| scope.source_of(schema, &qualifier.value))
        else {
            return self.refuse_unknown_qualifier(names, qualifier);
        };
        let Some(columns) = &source.columns else {
            return Ok(());
        };
        if let Some(column) = columns.iter().find(|column| column.is(&name.value)) {
            let origin = column.origin.clone();
            self.record(origin);
            return Ok(());
        }
        if HIDDEN.iter().any(|hidden| same(hidden, &name.value)) || self.may_be_field() {
            return Ok(());
        }
        let known = columns.iter().filter_map(|column| column.name.as_deref());
        let near = nearest(&name.value, known)
            .iter()
            .map(|near| format!("{}.{near}", qualifier.value))
            .collect();
        let elsewhere = self.elsewhere(&name.value);
        let shown = format!("{}.{}", qualifier.value, name.value);
        Err(place::unknown_column(name, &shown, near, elsewhere, self.resolver.places))
    }

    /// A qualifier that no source has: certainly wrong only where everything about the scopes is
    /// known.
    fn refuse_unknown_qualifier(&self, names: &[Ident], qualifier: &Ident) -> Result<(), SqlError> {
        if self.may_be_field() || self.lambdas > 0 || self.scopes.iter().any(Scope::is_uncertain) {
            return Ok(());
        }
        let sources = self
            .scopes
            .iter()
            .flat_map(|scope| &scope.sources)
            .filter_map(|source| source.name.as_deref());
        let sources: Vec<&str> = sources.collect();
        let shown = names.iter().map(|name| name.value.as_str()).collect::<Vec<_>>().join(".");
        let column = names.last().map_or("", |name| name.value.as_str());
        let mut near: Vec<String> = self
            .scopes
            .iter()
            .flat_map(|scope| &scope.sources)
            .filter(|source| {
                source.columns.as_ref().is_some_and(|columns| columns.iter().any(|c| c.is(column)))
            })
            .filter_map(|source| source.name.as_ref().map(|name| format!("{name}.{column}")))
            .collect();
        near.extend(
            nearest(&qualifier.value, sources.iter().copied())
                .iter()
                .map(|near| format!("{near}.{column}")),
        );
        near.dedup();
        near.truncate(3);
        let mut error =
            place::unknown_column(qualifier, &shown, near, Vec::new(), self.resolver.places);
        error.message = format!("{}: `{}` does not stand in FROM", error.message, qualifier.value);
        Err(error)
    }

    /// Returns true if `a.b` may be a field of a structure.
    fn may_be_field(&self) -> bool {
        self.resolver.catalog.dialect.syntax().has_structures
    }

    fn record(&mut self, origin: Option<Origin>) {
        if let Some(Origin { table, column, .. }) = origin {
            self.resolver.columns.insert(format!("{table}.{column}"));
        }
    }

    /// The column that an expression is, or that a function of one column, such as `lower(name)`,
    /// is about.
    fn origin(&self, expr: &Expr) -> Option<Origin> {
        match expr {
            Expr::Nested(inner) => self.origin(inner),
            Expr::Identifier(name) => match self.look_up(&name.value) {
                Found::Column(origin) => origin,
                _ => None,
            },
            Expr::CompoundIdentifier(names) => self.origin_of(names),
            Expr::Function(function) => match arguments(function).next()? {
                argument @ (Expr::Identifier(_) | Expr::CompoundIdentifier(_)) => {
                    self.origin(argument)
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn pair(&mut self, column: &Expr, value: &Expr) {
        let Some(origin) = self.origin(column) else { return };
        let origin = Some(origin);
        match value {
            Expr::Value(value) => {
                if let Some(text) = literal_text(value) {
                    self.literal(value.span.start, &text, origin);
                }
            }
            Expr::Identifier(name)
                if name.quote_style == Some('"')
                    && matches!(self.look_up(&name.value), Found::Nothing) =>
            {
                self.literal(name.span.start, &name.value, origin);
            }
            _ => {}
        }
    }

    fn origin_of(&self, names: &[Ident]) -> Option<Origin> {
        let [rest @ .., qualifier, name] = names else {
            return None;
        };
        let schema = rest.last().map(|schema| schema.value.as_str());
        let source =
            self.scopes.iter().rev().find_map(|scope| scope.source_of(schema, &qualifier.value))?;
        source.columns.as_ref()?.iter().find(|column| column.is(&name.value))?.origin.clone()
    }

    fn literal(&mut self, at: Location, text: &str, origin: Option<Origin>) {
        if self.silent || !self.paired.insert(at) {
            return;
        }
        let (table, column) =
            origin.map_or((None, None), |origin| (Some(origin.table), Some(origin.column)));
        self.resolver.literals.push(Literal { table, column, text: text.to_owned() });
    }
}

fn strip_parentheses(expr: &Expr) -> &Expr {
    match expr {
        Expr::Nested(inner) => strip_parentheses(inner),
        other => other,
    }
}

/// Returns true if a condition of the query compares its one column, which NULL does not pass.
fn leaves_out_null(query: &Query) -> bool {
    let SetExpr::Select(select) = &*query.body else { return false };
    let [SelectItem::UnnamedExpr(column) | SelectItem::ExprWithAlias { expr: column, .. }] =
        select.projection.as_slice()
    else {
        return false;
    };
    let name = |expr: &Expr| match strip_parentheses(expr) {
        Expr::Identifier(name) => Some(name.value.to_lowercase()),
        Expr::CompoundIdentifier(names) => names.last().map(|name| name.value.to_lowercase()),
        _ => None,
    };
    let Some(column) = name(column) else { return false };
    let is_it = |expr: &Expr| name(expr).is_some_and(|name| name == column);
    let mut left: Vec<&Expr> = select.selection.iter().collect();
    while let Some(condition) = left.pop() {
        let compares = match strip_parentheses(condition) {
            Expr::BinaryOp { left: one, op: BinaryOperator::And, right: other } => {
                left.extend([&**one, &**other]);
                false
            }
            Expr::BinaryOp { op: BinaryOperator::Or, .. } => false,
            Expr::BinaryOp { left: one, right: other, .. } => is_it(one) || is_it(other),
            Expr::IsNotNull(expr)
            | Expr::Between { expr, .. }
            | Expr::InList { expr, .. }
            | Expr::InSubquery { expr, .. }
            | Expr::Like { expr, .. } => is_it(expr),
            _ => false,
        };
        if compares {
            return true;
        }
    }
    false
}

impl Visitor for Walk<'_, '_> {
    type Break = SqlError;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<SqlError> {
        self.depth += 1;
        if self.depth > 1 {
            return ControlFlow::Continue(());
        }
        let shown = carry::restore(query.to_string(), &self.resolver.catalog.dialect);
        self.resolver.subqueries.push(shown);
        let columns = self.resolver.resolve_query(query, self.scopes);
        if self.not_in.take().is_some_and(|list| std::ptr::eq(list, query))
            && let Ok(Some(columns)) = &columns
            && let [Output { origin: Some(origin), .. }] = columns.as_slice()
        {
            self.resolver.note_not_in(origin.clone());
        }
        flow(columns.map(|_| ()))
    }

    fn post_visit_query(&mut self, _query: &Query) -> ControlFlow<SqlError> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<SqlError> {
        self.lambdas += usize::from(matches!(expr, Expr::Lambda(_)));
        if self.depth > 0 {
            return ControlFlow::Continue(());
        }
        flow(self.expression(expr))
    }

    fn post_visit_expr(&mut self, expr: &Expr) -> ControlFlow<SqlError> {
        self.lambdas -= usize::from(matches!(expr, Expr::Lambda(_)));
        ControlFlow::Continue(())
    }

    fn pre_visit_value(&mut self, value: &ValueWithSpan) -> ControlFlow<SqlError> {
        if self.depth == 0
            && let Some(text) = literal_text(value)
        {
            self.literal(value.span.start, &text, None);
        }
        ControlFlow::Continue(())
    }
}

/// Returns true if one name is the other with a letter or two mistyped; `nearest` suggests more
/// than that.
fn is_nearly(name: &str, other: &str) -> bool {
    let lower = |name: &str| clip(name, 64).to_lowercase();
    strsim::normalized_damerau_levenshtein(&lower(name), &lower(other)) >= MISTYPED
}

/// The unnamed arguments of a function that are expressions.
fn arguments(function: &Function) -> impl Iterator<Item = &Expr> {
    let list = match &function.args {
        FunctionArguments::List(list) => list.args.as_slice(),
        _ => &[],
    };
    list.iter().filter_map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
        _ => None,
    })
}

/// Returns true if an operator works on numbers or on conditions, and so hardly on a text.
fn is_arithmetic(op: &BinaryOperator) -> bool {
    use BinaryOperator::{And, Divide, Minus, Modulo, Multiply, Or, Plus};
    matches!(op, And | Divide | Minus | Modulo | Multiply | Or | Plus)
}

fn flow(result: Result<(), SqlError>) -> ControlFlow<SqlError> {
    match result {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => ControlFlow::Break(error),
    }
}

/// A literal's text; `None` for kinds that do not stand in cells.
fn literal_text(value: &ValueWithSpan) -> Option<String> {
    match &value.value {
        Value::Null | Value::Boolean(_) | Value::Placeholder(_) => None,
        Value::Number(text, _) => Some(text.clone()),
        other => other.clone().into_string(),
    }
}
