//! The walk over queries: SELECT, VALUES, set operations and common table expressions whose bodies
//! are queries, over granted relations. INTO, locks, samples and the clauses of other engines are
//! refused.

use sqlparser::ast::{
    Cte, Expr, ExprWithAlias, Fetch, FunctionArg, Ident, Join, JoinConstraint, JoinOperator,
    LimitClause, ObjectName, ObjectNamePart, Offset, OrderBy, OrderByKind, OrderByOptions, Parens,
    PivotValueSource, Query, SetExpr, SetOperator, SetQuantifier, TableAlias, TableAliasColumnDef,
    TableFactor, TableFunctionArgs, TableSample, TableSampleKind, TableSampleQuantity,
    TableSampleSeed, TableWithJoins, Values, With,
};
use sqlparser::tokenizer::Span;
use syrch_core::{SqlError, SqlErrorKind};

use super::Walk;
use super::faithful::Qualified;
use super::rules::Form;
use super::scope::Relation;
use crate::carry;
use crate::facts::write_refused;

/// Words that begin a clause: the server takes none of them for the name of a table, as the parser
/// does.
const CLAUSES: [&str; 14] = [
    "except",
    "fetch",
    "for",
    "from",
    "group",
    "having",
    "intersect",
    "limit",
    "offset",
    "on",
    "order",
    "union",
    "where",
    "window",
];

impl Walk<'_> {
    /// Checks a query and qualifies what it reads. Its common table expressions stay in scope: see
    /// [`Walk::subquery`].
    pub(super) fn admit_query(&mut self, query: &mut Query) -> Result<(), SqlError> {
        let Query {
            with,
            body,
            order_by,
            limit_clause,
            fetch,
            locks,
            for_clause,
            settings,
            format_clause,
            pipe_operators,
        } = query;
        if let Some(lock) = locks.first() {
            let message = format!("`{lock}` is refused: a statement may take no locks");
            return Err(SqlError::new(SqlErrorKind::WriteRefused, message).rule("locks"));
        }
        self.absent(for_clause.is_none(), "FOR")?;
        self.absent(settings.is_none(), "SETTINGS")?;
        self.absent(format_clause.is_none(), "FORMAT")?;
        self.absent(pipe_operators.is_empty(), "|>")?;
        let recursive = self.recursive.take().filter(|_| with.is_none());
        if let Some(with) = with {
            self.admit_with(with)?;
        }
        self.admit_body(body, recursive)?;
        if let Some(order_by) = order_by {
            let OrderBy { kind, interpolate } = order_by;
            self.absent(interpolate.is_none(), "INTERPOLATE")?;
            match kind {
                OrderByKind::Expressions(items) => self.admit_order(items)?,
                OrderByKind::All(OrderByOptions { sort, nulls_first: _ }) => {
                    self.only(Form::OrderByAll, false, "ORDER BY ALL")?;
                    self.admit_sort(sort.as_ref())?;
                }
            }
        }
        match limit_clause {
            None => {}
            Some(LimitClause::LimitOffset { limit, offset, limit_by }) => {
                self.absent(limit_by.is_empty(), "LIMIT BY")?;
                self.admit_optional(limit)?;
                if let Some(Offset { value, rows: _ }) = offset {
                    self.admit_expr(value)?;
                }
            }
            Some(LimitClause::OffsetCommaLimit { offset: _, limit: _ }) => {
                self.absent(false, "LIMIT a, b")?
            }
        }
        if let Some(Fetch { with_ties: _, percent, quantity }) = fetch {
            self.absent(!*percent, "FETCH PERCENT")?;
            self.admit_optional(quantity)?;
        }
        Ok(())
    }

    fn admit_with(&mut self, with: &mut With) -> Result<(), SqlError> {
        let With { with_token: _, recursive, cte_tables } = with;
        for cte in cte_tables.iter_mut() {
            self.quote_ident(&mut cte.alias.name)?;
            // Out of its scope such a name would mean one of the server's own tables.
            if self.rules.is_postgres() && cte.alias.name.value.starts_with("pg_") {
                let message =
                    format!("the name `{}` is refused: it begins with `pg_`", cte.alias.name.value);
                return Err(self.refuse(
                    SqlErrorKind::Denied,
                    "name",
                    message,
                    cte.alias.name.span,
                ));
            }
        }
        // In PostgreSQL all of them see each other. Elsewhere one that comes later may be no name
        // yet, and then the engine reads its own table.
        let see_each_other = *recursive && self.rules.is_postgres();
        if see_each_other {
            self.ctes.extend(cte_tables.iter().map(|cte| cte.alias.name.clone()));
        }
        for cte in cte_tables {
            let Cte { alias, query, from, materialized: _, closing_paren_token: _ } = cte;
            // SEARCH and CYCLE are written in one way only where they are read.
            let is_carried = from.as_ref().is_some_and(carry::is_mark) && self.rules.is_postgres();
            self.absent(from.is_none() || is_carried, "FROM")?;
            self.recursive = (*recursive && !see_each_other).then(|| alias.name.clone());
            self.subquery(query)?;
            self.admit_alias(alias)?;
            if !see_each_other {
                self.ctes.push(alias.name.clone());
            }
        }
        Ok(())
    }

    /// `recursive` is the common table expression that the body defines. Only the right side of its
    /// UNION reads it: DuckDB takes the name for a table of its own everywhere else.
    fn admit_body(&mut self, body: &mut SetExpr, recursive: Option<Ident>) -> Result<(), SqlError> {
        match body {
            SetExpr::Select(select) => self.admit_select(select),
            SetExpr::Query(query) => self.subquery(query),
            SetExpr::SetOperation { left, op, set_quantifier, right } => {
                self.only(Form::Minus, !matches!(op, SetOperator::Minus), "MINUS")?;
                let is_listed = matches!(
                    set_quantifier,
                    SetQuantifier::All | SetQuantifier::Distinct | SetQuantifier::None
                );
                self.only(Form::ByName, is_listed, "BY NAME")?;
                let is_union = matches!(op, SetOperator::Union) && is_listed;
                self.admit_body(left, None)?;
                let depth = self.ctes.len();
                self.ctes.extend(recursive.filter(|_| is_union));
                let walked = self.admit_body(right, None);
                self.ctes.truncate(depth);
                walked
            }
            SetExpr::Values(Values { explicit_row, value_keyword, rows }) => {
                self.absent(!*explicit_row, "ROW")?;
                self.absent(!*value_keyword, "VALUE")?;
                for Parens { opening_token: _, content, closing_token: _ } in rows {
                    self.admit_exprs(content)?;
                }
                Ok(())
            }
            SetExpr::Table(_) => self.absent(false, "TABLE"),
            SetExpr::Insert(_) => Err(write_refused("INSERT")),
            SetExpr::Update(_) => Err(write_refused("UPDATE")),
            SetExpr::Delete(_) => Err(write_refused("DELETE")),
            SetExpr::Merge(_) => Err(write_refused("MERGE")),
        }
    }

    pub(super) fn admit_tables(&mut self, tree: &mut TableWithJoins) -> Result<(), SqlError> {
        let TableWithJoins { relation, joins } = tree;
        self.admit_factor(relation)?;
        for Join { relation, global, join_operator } in joins {
            self.absent(!*global, "GLOBAL")?;
            self.admit_factor(relation)?;
            match join_operator {
                JoinOperator::Join(constraint)
                | JoinOperator::Inner(constraint)
                | JoinOperator::Left(constraint)
                | JoinOperator::LeftOuter(constraint)
                | JoinOperator::Right(constraint)
                | JoinOperator::RightOuter(constraint)
                | JoinOperator::FullOuter(constraint)
                | JoinOperator::CrossJoin(constraint) => self.admit_constraint(constraint)?,
                JoinOperator::Semi(constraint)
                | JoinOperator::LeftSemi(constraint)
                | JoinOperator::Anti(constraint)
                | JoinOperator::LeftAnti(constraint)
                    if self.rules.has(Form::SemiJoin) =>
                {
                    self.admit_constraint(constraint)?;
                }
                // What these carry: see the module `carry`.
                JoinOperator::RightSemi(constraint) | JoinOperator::RightAnti(constraint)
                    if self.rules.has(Form::AsOf) =>
                {
                    self.admit_constraint(constraint)?;
                }
                JoinOperator::StraightJoin(JoinConstraint::None)
                    if self.rules.has(Form::Positional) => {}
                JoinOperator::Semi(_)
                | JoinOperator::LeftSemi(_)
                | JoinOperator::RightSemi(_)
                | JoinOperator::Anti(_)
                | JoinOperator::LeftAnti(_)
                | JoinOperator::RightAnti(_)
                | JoinOperator::CrossApply
                | JoinOperator::OuterApply
                | JoinOperator::AsOf { match_condition: _, constraint: _ }
                | JoinOperator::StraightJoin(_)
                | JoinOperator::ArrayJoin
                | JoinOperator::LeftArrayJoin
                | JoinOperator::InnerArrayJoin => self.absent(false, "a join of another engine")?,
            }
        }
        Ok(())
    }

    fn admit_constraint(&mut self, constraint: &mut JoinConstraint) -> Result<(), SqlError> {
        match constraint {
            JoinConstraint::On(expr) => self.admit_expr(expr),
            JoinConstraint::Using(names) => {
                names.iter_mut().try_for_each(|name| self.admit_object_name(name).map(|_| ()))
            }
            JoinConstraint::Natural | JoinConstraint::None => Ok(()),
        }
    }

    fn admit_factor(&mut self, factor: &mut TableFactor) -> Result<(), SqlError> {
        match factor {
            TableFactor::Table {
                name,
                alias,
                args,
                with_hints,
                version,
                with_ordinality: _,
                partitions,
                json_path,
                sample,
                index_hints,
            } => {
                self.absent(with_hints.is_empty(), "WITH (…)")?;
                self.absent(version.is_none(), "a version of a table")?;
                self.absent(partitions.is_empty(), "PARTITION")?;
                self.absent(json_path.is_none(), "a path in a table")?;
                self.admit_sample(sample)?;
                self.absent(index_hints.is_empty(), "an index hint")?;
                match args {
                    None => self.admit_relation(name)?,
                    Some(TableFunctionArgs { args, settings }) => {
                        self.absent(settings.is_none(), "SETTINGS")?;
                        self.admit_table_function(name, args)?;
                    }
                }
                self.admit_optional_alias(alias)
            }
            TableFactor::Derived { lateral: _, subquery, alias, sample } => {
                self.admit_sample(sample)?;
                self.subquery(subquery)?;
                self.admit_optional_alias(alias)
            }
            TableFactor::Function { lateral: _, name, args, with_ordinality: _, alias } => {
                self.admit_table_function(name, args)?;
                self.admit_optional_alias(alias)
            }
            TableFactor::UNNEST {
                alias,
                array_exprs,
                with_offset,
                with_offset_alias,
                with_ordinality: _,
            } => {
                self.absent(!*with_offset && with_offset_alias.is_none(), "WITH OFFSET")?;
                self.admit_exprs(array_exprs)?;
                self.functions.insert("unnest".to_owned());
                self.admit_optional_alias(alias)
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                self.admit_tables(table_with_joins)?;
                self.admit_optional_alias(alias)
            }
            TableFactor::Pivot { .. } | TableFactor::Unpivot { .. }
                if self.rules.has(Form::Pivot) =>
            {
                self.admit_pivot(factor)
            }
            TableFactor::TableFunction { .. }
            | TableFactor::JsonTable { .. }
            | TableFactor::OpenJsonTable { .. }
            | TableFactor::Pivot { .. }
            | TableFactor::Unpivot { .. }
            | TableFactor::UnpivotExpr { .. }
            | TableFactor::MatchRecognize { .. }
            | TableFactor::XmlTable { .. }
            | TableFactor::SemanticView { .. } => self.absent(false, "this form of FROM"),
        }
    }

    /// `t PIVOT (sum(a) FOR b IN (1, 2))` and its inverse.
    fn admit_pivot(&mut self, factor: &mut TableFactor) -> Result<(), SqlError> {
        match factor {
            TableFactor::Pivot {
                table,
                aggregate_functions,
                value_column,
                value_source,
                default_on_null,
                alias,
            } => {
                self.admit_factor(table)?;
                self.admit_exprs_with_alias(aggregate_functions)?;
                self.admit_exprs(value_column)?;
                match value_source {
                    PivotValueSource::List(values) => self.admit_exprs_with_alias(values)?,
                    PivotValueSource::Any(_) | PivotValueSource::Subquery(_) => {
                        self.absent(false, "PIVOT without a list of values")?;
                    }
                }
                match default_on_null {
                    None => {}
                    Some(Expr::Function(function)) if carry::is_call(function, carry::GROUP) => {
                        self.check_carried_list(function)?;
                    }
                    Some(_) => self.absent(false, "DEFAULT ON NULL")?,
                }
                self.admit_optional_alias(alias)
            }
            TableFactor::Unpivot { table, value, name, columns, null_inclusion: _, alias } => {
                self.admit_factor(table)?;
                self.admit_expr(value)?;
                self.quote_ident(name)?;
                self.admit_exprs_with_alias(columns)?;
                self.admit_optional_alias(alias)
            }
            _ => self.absent(false, "this form of FROM"),
        }
    }

    fn admit_exprs_with_alias(&mut self, items: &mut [ExprWithAlias]) -> Result<(), SqlError> {
        for ExprWithAlias { expr, alias } in items {
            self.admit_expr(expr)?;
            alias.as_mut().map_or(Ok(()), |alias| self.quote_ident(alias))?;
        }
        Ok(())
    }

    fn admit_sample(&mut self, sample: &mut Option<TableSampleKind>) -> Result<(), SqlError> {
        self.only(Form::Sample, sample.is_none(), "TABLESAMPLE")?;
        let Some(
            TableSampleKind::BeforeTableAlias(sample) | TableSampleKind::AfterTableAlias(sample),
        ) = sample
        else {
            return Ok(());
        };
        let TableSample { modifier: _, name, quantity, seed, bucket, offset } = &mut **sample;
        let is_plain = name.is_none() && bucket.is_none() && offset.is_none();
        self.absent(is_plain, "a method of TABLESAMPLE")?;
        if let Some(TableSampleQuantity { parenthesized: _, value, unit: _ }) = quantity {
            self.absent(matches!(value, Expr::Value(_)), "TABLESAMPLE of an expression")?;
            self.admit_expr(value)?;
        }
        if let Some(TableSampleSeed { modifier: _, value }) = seed {
            self.admit_value(value)?;
        }
        Ok(())
    }

    fn admit_table_function(
        &mut self,
        name: &mut ObjectName,
        args: &mut [FunctionArg],
    ) -> Result<(), SqlError> {
        if !self.stands_in_from(name) {
            return Err(self.function_error(name));
        }
        self.admit_function_name(name)?;
        let function = name.to_string();
        self.admit_arguments(&function, args)
    }

    /// Qualifies a relation with its schema, or leaves the name of a common table expression.
    fn admit_relation(&mut self, name: &mut ObjectName) -> Result<(), SqlError> {
        let span = match name.0.first() {
            Some(ObjectNamePart::Identifier(ident)) => ident.span,
            _ => Span::empty(),
        };
        if let [ObjectNamePart::Identifier(ident)] = name.0.as_slice() {
            if ident.quote_style.is_none()
                && CLAUSES.contains(&ident.value.to_ascii_lowercase().as_str())
            {
                let message = format!("a table is expected in place of `{}`", ident.value);
                return Err(self.refuse(SqlErrorKind::Syntax, "syntax", message, span));
            }
            // The parser takes a text for a name here, and engines take it for a file.
            if ident.quote_style == Some('\'') && !self.rules.is_postgres() {
                let message =
                    "a text in place of a table is refused: write the name of a granted table";
                return Err(self.refuse(SqlErrorKind::Denied, "granted-tables", message, span));
            }
        }
        let parts = name.0.len();
        if self.admit_common_table(name)? {
            return Ok(());
        }
        let (schema, plain) = match self.admit_object_name(name)?[..] {
            [plain] => (None, plain.to_owned()),
            [schema, plain] => (Some(schema.to_owned()), plain.to_owned()),
            [catalog, schema, plain]
                if self.granted.catalog().is_some_and(|own| self.granted.is_one(own, catalog)) =>
            {
                (Some(schema.to_owned()), plain.to_owned())
            }
            _ => {
                let most =
                    self.granted.catalog().map_or("a schema and a table".to_owned(), |own| {
                        format!("the catalog `{own}`, a schema and a table")
                    });
                let shown = name.to_string();
                let message = format!(
                    "`{}` is refused: write at most {most}",
                    syrch_core::text::clip(&shown, 64)
                );
                return Err(self.refuse(SqlErrorKind::Denied, "granted-tables", message, span));
            }
        };
        let found = match self.granted.resolve(schema.as_deref(), &plain) {
            Ok(found) => found.clone(),
            Err(error) => {
                return Err(self
                    .refuse(error.kind, error.rule, error.message, span)
                    .suggest(error.near));
            }
        };
        let Relation { schema, name: plain } = found;
        let is_named = |part: &String| !part.is_empty();
        self.tables.insert(
            [&schema, &plain]
                .map(String::as_str)
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join("."),
        );
        // Without a schema there is nothing for a catalog to stand before.
        let catalog = self.granted.catalog().filter(|_| is_named(&schema)).map(str::to_owned);
        let written: Vec<String> =
            catalog.into_iter().chain([schema, plain]).filter(is_named).collect();
        let quote = self.rules.names.quote();
        let mut idents: Vec<Ident> =
            written.iter().map(|part| Ident::with_quote(quote, part)).collect();
        idents.iter_mut().try_for_each(|ident| self.quote_ident(ident))?;
        *name = ObjectName(idents.into_iter().map(ObjectNamePart::Identifier).collect());
        if let Some(start) = self.places.byte(span.start) {
            self.qualified.push(Qualified { start, parts, name: written });
        }
        Ok(())
    }

    /// Returns whether a name is that of a common table expression. The name is then written as in
    /// its definition, since engines differ about which letters they take for the same, and a name
    /// that they take for another one is a table.
    fn admit_common_table(&self, name: &mut ObjectName) -> Result<bool, SqlError> {
        let [ObjectNamePart::Identifier(ident)] = name.0.as_mut_slice() else {
            return Ok(false);
        };
        self.quote_ident(ident)?;
        let exact = self.ctes.iter().rev().find(|cte| cte.value == ident.value);
        let found = exact.or_else(|| {
            self.ctes.iter().rev().find(|cte| self.granted.is_one(&cte.value, &ident.value))
        });
        if let Some(Ident { value, quote_style, span: _ }) = found {
            (ident.value, ident.quote_style) = (value.clone(), *quote_style);
        }
        Ok(found.is_some())
    }

    fn admit_optional_alias(&self, alias: &mut Option<TableAlias>) -> Result<(), SqlError> {
        alias.as_mut().map_or(Ok(()), |alias| self.admit_alias(alias))
    }

    fn admit_alias(&self, alias: &mut TableAlias) -> Result<(), SqlError> {
        let TableAlias { explicit: _, name, columns, at } = alias;
        self.absent(at.is_none(), "AT")?;
        self.quote_ident(name)?;
        for TableAliasColumnDef { name, data_type } in columns {
            self.quote_ident(name)?;
            if let Some(data_type) = data_type {
                self.admit_data_type(data_type)?;
            }
        }
        Ok(())
    }
}
