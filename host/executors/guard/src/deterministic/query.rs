//! The walk over queries, set operations and common table expressions.

use std::rc::Rc;

use sqlparser::ast::{
    Cte, Expr, Fetch, Ident, LimitClause, Offset, OrderBy, OrderByExpr, OrderByKind,
    OrderByOptions, Query, SetExpr, SetOperator, SetQuantifier, TableAlias, TableAliasColumnDef,
    Value, With,
};
use sqlparser::tokenizer::Span;
use syrch_core::SqlError;

use super::kind::{Affinity, Kind};
use super::scope::{Column, Columns};
use super::{Common, Walk};
use crate::facts::write_refused;

/// The purpose of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Its rows and the names of its columns are used.
    Result,
    /// Its rows are used.
    Rows,
    /// It stands in place of a value.
    Value,
}

/// The surroundings of a query's body.
pub(super) struct Around<'q> {
    pub(super) order: Option<&'q mut Vec<OrderByExpr>>,
    pub(super) is_limited: bool,
    pub(super) purpose: Purpose,
}

impl Walk<'_> {
    pub(super) fn query(
        &mut self,
        query: &mut Query,
        purpose: Purpose,
    ) -> Result<Rc<Columns>, SqlError> {
        // What is not bound here is refused by the guard's own walk.
        let Query {
            with,
            body,
            order_by,
            limit_clause,
            fetch,
            locks: _,
            for_clause: _,
            settings: _,
            format_clause: _,
            pipe_operators: _,
        } = query;
        let depth = self.commons.len();
        if let Some(with) = with {
            self.with(with)?;
        }
        let order = match order_by {
            None => None,
            Some(OrderBy { kind: OrderByKind::Expressions(items), interpolate: _ }) => Some(items),
            Some(OrderBy {
                kind: OrderByKind::All(OrderByOptions { sort: _, nulls_first: _ }),
                interpolate: _,
            }) => {
                return Err(self.refuse(
                    "clause",
                    "ORDER BY ALL",
                    "is refused: name the columns",
                    Span::empty(),
                ));
            }
        };
        if let Some(Fetch { with_ties: _, percent: _, quantity: _ }) = fetch {
            return Err(self.refuse(
                "limit",
                "FETCH",
                "is refused: which rows it picks may depend on the plan",
                Span::empty(),
            ));
        }
        let is_limited = self.limit(limit_clause.as_ref(), order.is_some())?;
        let columns = self.body(body, Around { order, is_limited, purpose });
        self.commons.truncate(depth);
        columns
    }

    /// Returns whether there is a limit, which must be a number behind ORDER BY.
    fn limit(&self, clause: Option<&LimitClause>, is_ordered: bool) -> Result<bool, SqlError> {
        let (limit, offset) = match clause {
            None => return Ok(false),
            Some(LimitClause::LimitOffset { limit, offset, limit_by: _ }) => {
                let offset = offset.as_ref().map(|Offset { value, rows: _ }| value);
                (limit.as_ref(), offset)
            }
            Some(LimitClause::OffsetCommaLimit { offset, limit }) => (Some(limit), Some(offset)),
        };
        if self.is_sqlite && is_ordered && [limit, offset].into_iter().flatten().all(is_number) {
            return Ok(true);
        }
        let token = if limit.is_some() { "LIMIT" } else { "OFFSET" };
        Err(self.refuse(
            "limit",
            token,
            "is refused: which rows it picks may depend on the plan",
            Span::empty(),
        ))
    }

    fn with(&mut self, with: &mut With) -> Result<(), SqlError> {
        let With { with_token: _, recursive, cte_tables } = with;
        // In PostgreSQL all of them see each other then; columns matter to SQLite alone.
        if *recursive && !self.is_sqlite {
            for cte in cte_tables.iter() {
                self.commons.push(Common {
                    name: cte.alias.name.value.to_lowercase(),
                    columns: Rc::default(),
                });
            }
        }
        for cte in cte_tables {
            let Cte { alias, query, from: _, materialized: _, closing_paren_token: _ } = cte;
            self.alias(alias, None)?;
            let name = alias.name.value.to_lowercase();
            let columns = match (*recursive && self.is_sqlite).then_some(&mut *query.body) {
                Some(SetExpr::SetOperation {
                    left,
                    op: SetOperator::Union,
                    set_quantifier: _,
                    right: _,
                }) => self.recursive(&name, alias, left.clone(), query)?,
                _ => self.query(query, Purpose::Result)?,
            };
            let columns = self.rename_columns(columns, alias)?;
            self.commons.push(Common { name, columns });
        }
        Ok(())
    }

    /// A recursive query sees itself with the names of its first part; what values it may have is
    /// not known.
    fn recursive(
        &mut self,
        name: &str,
        alias: &TableAlias,
        mut first: Box<SetExpr>,
        query: &mut Query,
    ) -> Result<Rc<Columns>, SqlError> {
        let around = Around { order: None, is_limited: false, purpose: Purpose::Result };
        let first = self.body(&mut first, around)?;
        let first = self.rename_columns(first, alias)?;
        let columns = Rc::new(Columns::new(
            first
                .list
                .iter()
                .map(|column: &Column| Column {
                    kind: Kind::ANY,
                    affinity: Affinity::Any,
                    ..column.clone()
                })
                .collect(),
        ));
        self.commons.push(Common { name: name.to_owned(), columns: Rc::clone(&columns) });
        let depth = self.commons.len();
        self.query(query, Purpose::Result)?;
        self.commons.truncate(depth - 1);
        Ok(columns)
    }

    fn body(&mut self, body: &mut SetExpr, around: Around<'_>) -> Result<Rc<Columns>, SqlError> {
        match body {
            SetExpr::Select(select) => self.select(select, around),
            SetExpr::Query(query) => {
                let purpose = around.purpose;
                let columns = self.query(query, purpose)?;
                self.order_of_names(around, &[Rc::clone(&columns)])?;
                Ok(columns)
            }
            SetExpr::SetOperation { left, op: _, set_quantifier, right } => {
                if around.purpose == Purpose::Value && self.is_sqlite {
                    let why = "is refused in place of a value: it may have several rows";
                    return Err(self.refuse("scalar-rows", "UNION", why, Span::empty()));
                }
                let part = |purpose| Around { order: None, is_limited: false, purpose };
                let left = self.body(left, part(around.purpose))?;
                let right = self.body(right, part(Purpose::Rows))?;
                let is_all = match set_quantifier {
                    SetQuantifier::All | SetQuantifier::AllByName => true,
                    SetQuantifier::Distinct
                    | SetQuantifier::None
                    | SetQuantifier::ByName
                    | SetQuantifier::DistinctByName => false,
                };
                let columns = self.merge_columns(&left, &right, is_all)?;
                self.order_of_names(around, &[Rc::clone(&columns), right])?;
                Ok(columns)
            }
            SetExpr::Values(_) => Err(self.refuse(
                "values",
                "VALUES",
                "is refused: only tables are read",
                Span::empty(),
            )),
            SetExpr::Table(_) => {
                Err(self.refuse("clause", "TABLE", "is refused: write SELECT", Span::empty()))
            }
            SetExpr::Insert(_) => Err(write_refused("INSERT")),
            SetExpr::Update(_) => Err(write_refused("UPDATE")),
            SetExpr::Delete(_) => Err(write_refused("DELETE")),
            SetExpr::Merge(_) => Err(write_refused("MERGE")),
        }
    }

    /// The columns of a set operation, named as those of its left side.
    fn merge_columns(
        &self,
        left: &Columns,
        right: &Columns,
        is_all: bool,
    ) -> Result<Rc<Columns>, SqlError> {
        let mut list = Vec::with_capacity(left.list.len());
        for (index, column) in left.list.iter().enumerate() {
            let kind =
                right.list.get(index).map_or(column.kind, |other| column.kind.or(other.kind));
            if self.is_sqlite && !is_all && !kind.is_canonical() {
                return Err(self.refuse_mixed(&column.name, Span::empty()));
            }
            list.push(Column {
                kind,
                affinity: Affinity::Any,
                is_not_null: false,
                name: column.name.clone(),
            });
        }
        Ok(Rc::new(Columns::new(list)))
    }

    /// ORDER BY of a set operation, which names output columns. LIMIT behind it is refused.
    fn order_of_names(
        &mut self,
        around: Around<'_>,
        parts: &[Rc<Columns>],
    ) -> Result<(), SqlError> {
        let Around { order, is_limited, purpose: _ } = around;
        if is_limited {
            let why =
                "is refused behind a set operation: which rows it picks may depend on the plan";
            return Err(self.refuse("limit", "LIMIT", why, Span::empty()));
        }
        for OrderByExpr {
            expr,
            options: OrderByOptions { sort: _, nulls_first: _ },
            with_fill: _,
        } in order.into_iter().flatten()
        {
            let is_named = match expr {
                Expr::Value(_) => true,
                Expr::Identifier(Ident { value, quote_style: _, span: _ }) => {
                    !self.is_sqlite
                        || parts.iter().any(|part| {
                            part.list.iter().any(|column: &Column| {
                                column.name.to_lowercase() == value.to_lowercase()
                            })
                        })
                }
                _ => false,
            };
            if !is_named {
                let shown = expr.to_string();
                let why = "is refused: ORDER BY of a set operation names its columns";
                return Err(self.refuse("order", &shown, why, Span::empty()));
            }
        }
        Ok(())
    }

    pub(super) fn refuse_mixed(&self, token: &str, span: Span) -> SqlError {
        let why = "may hold equal values that differ, such as 1 and 1.0: which of them is shown \
                   depends on the plan";
        self.refuse("mixed-values", token, why, span)
    }

    /// Checks the names of an alias; `own` is the place in the catalog of the table that it is for.
    pub(super) fn alias(&self, alias: &mut TableAlias, own: Option<usize>) -> Result<(), SqlError> {
        let TableAlias { explicit: _, name, columns, at: _ } = alias;
        let columns = columns.iter_mut().map(|TableAliasColumnDef { name, data_type: _ }| name);
        for ident in std::iter::once(name).chain(columns) {
            if ident.quote_style == Some('\'') {
                ident.quote_style = Some('"');
            }
            let found = self.names.get(&ident.value.to_lowercase());
            if found.is_some_and(|place| Some(*place) != own) {
                let why = "is refused as a name: it is a table's, and the engine would not \
                           tell them apart";
                return Err(self.refuse("shadowed-name", &ident.value, why, ident.span));
            }
        }
        Ok(())
    }

    /// The columns with the names of a column list.
    pub(super) fn rename_columns(
        &self,
        columns: Rc<Columns>,
        alias: &TableAlias,
    ) -> Result<Rc<Columns>, SqlError> {
        if alias.columns.is_empty() {
            return Ok(columns);
        }
        let mut list = columns.list.clone();
        for (column, TableAliasColumnDef { name, data_type: _ }) in
            list.iter_mut().zip(&alias.columns)
        {
            column.name.clone_from(&name.value);
        }
        Ok(Rc::new(Columns::new(list)))
    }
}

/// Returns true for a number that stands in the statement itself.
fn is_number(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(value) if matches!(value.value, Value::Number(..)))
}
