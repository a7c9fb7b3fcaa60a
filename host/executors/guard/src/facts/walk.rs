//! The walk over expressions: columns are looked up from the innermost scope outwards, literals are paired with the column that they
//! are compared with, and a subquery goes back to the walk over queries.

use std::collections::HashSet;
use std::ops::ControlFlow;

use sqlparser::ast::{Expr, Ident, Query, Value, ValueWithSpan, Visit, Visitor};
use sqlparser::tokenizer::Location;
use syrch_core::ports::Literal;
use syrch_core::text::nearest;
use syrch_core::{Dialect, SqlError};

use super::place;
use super::query::Resolver;
use super::scope::{Found, Origin, Scope, same};

/// Columns that every table has and no catalog lists.
const HIDDEN: [&str; 9] = ["rowid", "oid", "_rowid_", "ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"];
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

/// One walk over expressions of one scope, the last of `scopes`.
pub(super) struct Walk<'w, 'a> {
    resolver: &'w mut Resolver<'a>,
    scopes: &'w mut Vec<Scope>,
    /// How many queries deep: inside one nothing is done here.
    depth: usize,
    /// Inside a lambda every name may be its parameter.
    lambdas: usize,
    silent: bool,
    /// Literals that were paired already, by where they begin.
    paired: HashSet<Location>,
}

impl<'w, 'a> Walk<'w, 'a> {
    pub(super) fn new(resolver: &'w mut Resolver<'a>, scopes: &'w mut Vec<Scope>) -> Self {
        Self { resolver, scopes, depth: 0, lambdas: 0, silent: false, paired: HashSet::new() }
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
            Expr::Identifier(name) => self.name(name),
            Expr::CompoundIdentifier(names) => self.qualified(names),
            Expr::Function(function) => {
                self.resolver.functions.insert(function.name.to_string().to_lowercase());
                Ok(())
            }
            Expr::BinaryOp { left, right, .. } => {
                self.pair(left, right);
                self.pair(right, left);
                Ok(())
            }
            Expr::Like { expr, pattern, .. } | Expr::ILike { expr, pattern, .. } => {
                self.pair(expr, pattern);
                Ok(())
            }
            Expr::InList { expr, list, .. } => {
                list.iter().for_each(|value| self.pair(expr, value));
                Ok(())
            }
            Expr::Between { expr, low, high, .. } => {
                self.pair(expr, low);
                self.pair(expr, high);
                Ok(())
            }
            _ => Ok(()),
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
            Found::Nothing if self.may_be_else(name) => {
                if name.quote_style == Some('"') {
                    self.literal(name.span.start, &name.value, None);
                }
                Ok(())
            }
            Found::Nothing => {
                let near = nearest(&name.value, self.scopes.iter().flat_map(Scope::names));
                let elsewhere = self.elsewhere(&name.value);
                Err(place::unknown_column(name, &name.value, near, elsewhere, self.resolver.places))
            }
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

    /// Whether a name that no scope has may still mean something.
    fn may_be_else(&self, name: &Ident) -> bool {
        let is = |words: &[&str]| words.iter().any(|word| same(word, &name.value));
        // SQLite reads a double-quoted name that nothing has as a string.
        let is_text = self.resolver.is_sqlite() && name.quote_style == Some('"');
        is_text || self.lambdas > 0 || is(&HIDDEN) || (name.quote_style.is_none() && is(&VALUES))
    }

    /// Columns of that name in tables that do not stand in any scope.
    fn elsewhere(&self, name: &str) -> Vec<String> {
        let has = |table: &&syrch_core::Table| table.column(name).is_some();
        self.resolver
            .catalog
            .tables
            .iter()
            .filter(has)
            .take(3)
            .map(|table| format!("{}.{name}", self.resolver.shown(table)))
            .collect()
    }

    fn qualified(&mut self, names: &[Ident]) -> Result<(), SqlError> {
        let [rest @ .., qualifier, name] = names else {
            return Ok(());
        };
        let schema = rest.last().map(|schema| schema.value.as_str());
        let Some(source) = self.scopes.iter().rev().find_map(|scope| scope.source_of(schema, &qualifier.value)) else {
            return self.unqualified(names, qualifier);
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
        let near = nearest(&name.value, known).iter().map(|near| format!("{}.{near}", qualifier.value)).collect();
        let elsewhere = self.elsewhere(&name.value);
        let shown = format!("{}.{}", qualifier.value, name.value);
        Err(place::unknown_column(name, &shown, near, elsewhere, self.resolver.places))
    }

    /// A qualifier that no source has: certainly wrong only where everything about the scopes is known.
    fn unqualified(&self, names: &[Ident], qualifier: &Ident) -> Result<(), SqlError> {
        if self.may_be_field() || self.lambdas > 0 || self.scopes.iter().any(Scope::is_uncertain) {
            return Ok(());
        }
        let sources = self.scopes.iter().flat_map(|scope| &scope.sources).filter_map(|source| source.name.as_deref());
        let sources: Vec<&str> = sources.collect();
        let shown = names.iter().map(|name| name.value.as_str()).collect::<Vec<_>>().join(".");
        let column = names.last().map_or("", |name| name.value.as_str());
        let mut near: Vec<String> = self
            .scopes
            .iter()
            .flat_map(|scope| &scope.sources)
            .filter(|source| source.columns.as_ref().is_some_and(|columns| columns.iter().any(|c| c.is(column))))
            .filter_map(|source| source.name.as_ref().map(|name| format!("{name}.{column}")))
            .collect();
        near.extend(nearest(&qualifier.value, sources.iter().copied()).iter().map(|near| format!("{near}.{column}")));
        near.dedup();
        near.truncate(3);
        let mut error = place::unknown_column(qualifier, &shown, near, Vec::new(), self.resolver.places);
        error.message = format!("{}: `{}` does not stand in FROM", error.message, qualifier.value);
        Err(error)
    }

    /// Whether `a.b` may be a field of a structure.
    fn may_be_field(&self) -> bool {
        !matches!(self.resolver.catalog.dialect, Dialect::Sqlite | Dialect::Mysql)
    }

    fn record(&mut self, origin: Option<Origin>) {
        if let Some(Origin { table, column }) = origin {
            self.resolver.columns.insert(format!("{table}.{column}"));
        }
    }

    fn pair(&mut self, column: &Expr, value: &Expr) {
        let origin = match column {
            Expr::Nested(inner) => return self.pair(inner, value),
            Expr::Identifier(name) => match self.look_up(&name.value) {
                Found::Column(origin) => origin,
                _ => None,
            },
            Expr::CompoundIdentifier(names) => self.origin_of(names),
            // A function of one column, such as lower(name), still compares with that column.
            Expr::Function(function) => self.argument(function),
            _ => None,
        };
        if origin.is_none() {
            return;
        }
        match value {
            Expr::Value(value) => {
                if let Some(text) = literal_text(value) {
                    self.literal(value.span.start, &text, origin);
                }
            }
            Expr::Identifier(name)
                if name.quote_style == Some('"') && matches!(self.look_up(&name.value), Found::Nothing) =>
            {
                self.literal(name.span.start, &name.value, origin);
            }
            _ => {}
        }
    }

    fn argument(&self, function: &sqlparser::ast::Function) -> Option<Origin> {
        use sqlparser::ast::{FunctionArg, FunctionArgExpr, FunctionArguments};
        let FunctionArguments::List(list) = &function.args else {
            return None;
        };
        match list.args.first()? {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Identifier(name))) => match self.look_up(&name.value) {
                Found::Column(origin) => origin,
                _ => None,
            },
            FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::CompoundIdentifier(names))) => self.origin_of(names),
            _ => None,
        }
    }

    fn origin_of(&self, names: &[Ident]) -> Option<Origin> {
        let [rest @ .., qualifier, name] = names else {
            return None;
        };
        let schema = rest.last().map(|schema| schema.value.as_str());
        let source = self.scopes.iter().rev().find_map(|scope| scope.source_of(schema, &qualifier.value))?;
        source.columns.as_ref()?.iter().find(|column| column.is(&name.value))?.origin.clone()
    }

    fn literal(&mut self, at: Location, text: &str, origin: Option<Origin>) {
        if self.silent || !self.paired.insert(at) {
            return;
        }
        let (table, column) = origin.map_or((None, None), |origin| (Some(origin.table), Some(origin.column)));
        self.resolver.literals.push(Literal { table, column, text: text.to_owned() });
    }
}

impl Visitor for Walk<'_, '_> {
    type Break = SqlError;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<SqlError> {
        self.depth += 1;
        if self.depth > 1 {
            return ControlFlow::Continue(());
        }
        self.resolver.subqueries.push(query.to_string());
        flow(self.resolver.query(query, self.scopes).map(|_| ()))
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
