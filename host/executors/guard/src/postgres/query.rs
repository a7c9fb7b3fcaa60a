//! The walk over queries: SELECT, VALUES, set operations and common table expressions whose bodies are queries, over granted relations. INTO,
//! locks, samples and the clauses of other engines are refused.

use sqlparser::ast::{
    Cte, Distinct, Fetch, FunctionArg, GroupByExpr, Ident, Join, JoinConstraint, JoinOperator, LimitClause,
    NamedWindowDefinition, NamedWindowExpr, ObjectName, ObjectNamePart, Offset, OrderBy, OrderByExpr, OrderByKind,
    OrderByOptions, Parens, Query, Select, SelectFlavor, SelectItem, SelectItemQualifiedWildcardKind, SetExpr,
    SetOperator, SetQuantifier, TableAlias, TableAliasColumnDef, TableFactor, TableFunctionArgs, TableWithJoins,
    Values, WildcardAdditionalOptions, With,
};
use sqlparser::tokenizer::Span;
use syrch_core::{SqlError, SqlErrorKind};

use super::Walk;
use crate::facts::write_refused;

/// Words that begin a clause: the server takes none of them for the name of a table, as the parser does.
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
    /// Checks a query and qualifies what it reads. Its common table expressions stay in scope: see [`Walk::subquery`].
    pub(super) fn query(&mut self, query: &mut Query) -> Result<(), SqlError> {
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
        if let Some(with) = with {
            self.with(with)?;
        }
        self.body(body)?;
        if let Some(order_by) = order_by {
            let OrderBy { kind, interpolate } = order_by;
            self.absent(interpolate.is_none(), "INTERPOLATE")?;
            match kind {
                OrderByKind::Expressions(items) => self.order(items)?,
                OrderByKind::All(_) => self.absent(false, "ORDER BY ALL")?,
            }
        }
        match limit_clause {
            None => {}
            Some(LimitClause::LimitOffset { limit, offset, limit_by }) => {
                self.absent(limit_by.is_empty(), "LIMIT BY")?;
                self.optional(limit)?;
                if let Some(Offset { value, rows: _ }) = offset {
                    self.expr(value)?;
                }
            }
            Some(LimitClause::OffsetCommaLimit { offset: _, limit: _ }) => self.absent(false, "LIMIT a, b")?,
        }
        if let Some(Fetch { with_ties: _, percent, quantity }) = fetch {
            self.absent(!*percent, "FETCH PERCENT")?;
            self.optional(quantity)?;
        }
        Ok(())
    }

    fn with(&mut self, with: &mut With) -> Result<(), SqlError> {
        let With { with_token: _, recursive, cte_tables } = with;
        for cte in cte_tables.iter_mut() {
            self.ident(&mut cte.alias.name)?;
            // Out of its scope such a name would mean one of the server's own tables.
            if cte.alias.name.value.starts_with("pg_") {
                let message = format!("the name `{}` is refused: it begins with `pg_`", cte.alias.name.value);
                return Err(self.refuse(SqlErrorKind::Denied, "name", message, cte.alias.name.span));
            }
        }
        if *recursive {
            self.ctes.extend(cte_tables.iter().map(|cte| cte.alias.name.value.clone()));
        }
        for cte in cte_tables {
            let Cte { alias, query, from, materialized: _, closing_paren_token: _ } = cte;
            self.absent(from.is_none(), "FROM")?;
            self.subquery(query)?;
            self.alias(alias)?;
            if !*recursive {
                self.ctes.push(alias.name.value.clone());
            }
        }
        Ok(())
    }

    fn body(&mut self, body: &mut SetExpr) -> Result<(), SqlError> {
        match body {
            SetExpr::Select(select) => self.select(select),
            SetExpr::Query(query) => self.subquery(query),
            SetExpr::SetOperation { left, op, set_quantifier, right } => {
                self.absent(!matches!(op, SetOperator::Minus), "MINUS")?;
                let is_listed =
                    matches!(set_quantifier, SetQuantifier::All | SetQuantifier::Distinct | SetQuantifier::None);
                self.absent(is_listed, "BY NAME")?;
                self.body(left)?;
                self.body(right)
            }
            SetExpr::Values(Values { explicit_row, value_keyword, rows }) => {
                self.absent(!*explicit_row, "ROW")?;
                self.absent(!*value_keyword, "VALUE")?;
                for Parens { opening_token: _, content, closing_token: _ } in rows {
                    self.exprs(content)?;
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

    fn select(&mut self, select: &mut Select) -> Result<(), SqlError> {
        let Select {
            select_token: _,
            optimizer_hints,
            distinct,
            select_modifiers,
            top,
            top_before_distinct: _,
            projection,
            exclude,
            into,
            from,
            lateral_views,
            prewhere,
            selection,
            connect_by,
            group_by,
            cluster_by,
            distribute_by,
            sort_by,
            having,
            named_window,
            qualify,
            window_before_qualify: _,
            value_table_mode,
            flavor,
        } = select;
        if into.is_some() {
            return Err(write_refused("SELECT INTO"));
        }
        self.absent(optimizer_hints.is_empty(), "/*+ */")?;
        self.absent(select_modifiers.is_none(), "a modifier of SELECT")?;
        self.absent(top.is_none(), "TOP")?;
        self.absent(exclude.is_none(), "EXCLUDE")?;
        self.absent(lateral_views.is_empty(), "LATERAL VIEW")?;
        self.absent(prewhere.is_none(), "PREWHERE")?;
        self.absent(connect_by.is_empty(), "CONNECT BY")?;
        self.absent(cluster_by.is_empty(), "CLUSTER BY")?;
        self.absent(distribute_by.is_empty(), "DISTRIBUTE BY")?;
        self.absent(sort_by.is_empty(), "SORT BY")?;
        self.absent(qualify.is_none(), "QUALIFY")?;
        self.absent(value_table_mode.is_none(), "AS VALUE")?;
        self.absent(matches!(flavor, SelectFlavor::Standard), "FROM without SELECT")?;
        match distinct {
            None | Some(Distinct::All | Distinct::Distinct) => {}
            Some(Distinct::On(items)) => self.exprs(items)?,
        }
        for tree in from {
            self.tree(tree)?;
        }
        projection.iter_mut().try_for_each(|item| self.item(item))?;
        self.optional(selection)?;
        match group_by {
            GroupByExpr::All(_) => self.absent(false, "GROUP BY ALL")?,
            GroupByExpr::Expressions(items, modifiers) => {
                self.absent(modifiers.is_empty(), "a modifier of GROUP BY")?;
                self.exprs(items)?;
            }
        }
        self.optional(having)?;
        for NamedWindowDefinition(name, window) in named_window {
            self.ident(name)?;
            match window {
                NamedWindowExpr::NamedWindow(name) => self.ident(name)?,
                NamedWindowExpr::WindowSpec(spec) => self.window(spec)?,
            }
        }
        Ok(())
    }

    fn item(&mut self, item: &mut SelectItem) -> Result<(), SqlError> {
        match item {
            SelectItem::UnnamedExpr(expr) => self.expr(expr),
            SelectItem::ExprWithAlias { expr, alias } => {
                self.ident(alias)?;
                self.expr(expr)
            }
            SelectItem::ExprWithAliases { expr: _, aliases: _ } => self.absent(false, "AS (…)"),
            SelectItem::QualifiedWildcard(kind, options) => {
                self.wildcard(options)?;
                match kind {
                    SelectItemQualifiedWildcardKind::ObjectName(name) => self.object_name(name).map(|_| ()),
                    SelectItemQualifiedWildcardKind::Expr(expr) => self.expr(expr),
                }
            }
            SelectItem::Wildcard(options) => self.wildcard(options),
        }
    }

    pub(super) fn wildcard(&self, options: &WildcardAdditionalOptions) -> Result<(), SqlError> {
        let WildcardAdditionalOptions {
            wildcard_token: _,
            opt_ilike,
            opt_exclude,
            opt_except,
            opt_replace,
            opt_rename,
            opt_alias,
        } = options;
        let is_plain = opt_ilike.is_none()
            && opt_exclude.is_none()
            && opt_except.is_none()
            && opt_replace.is_none()
            && opt_rename.is_none()
            && opt_alias.is_none();
        self.absent(is_plain, "a modifier of `*`")
    }

    pub(super) fn order(&mut self, items: &mut [OrderByExpr]) -> Result<(), SqlError> {
        for OrderByExpr { expr, options: OrderByOptions { sort, nulls_first: _ }, with_fill } in items {
            let is_listed = sort.as_ref().is_none_or(|sort| {
                use sqlparser::ast::OrderBySort;
                matches!(sort, OrderBySort::Asc | OrderBySort::Desc)
            });
            self.absent(is_listed, "USING")?;
            self.absent(with_fill.is_none(), "WITH FILL")?;
            self.expr(expr)?;
        }
        Ok(())
    }

    fn tree(&mut self, tree: &mut TableWithJoins) -> Result<(), SqlError> {
        let TableWithJoins { relation, joins } = tree;
        self.factor(relation)?;
        for Join { relation, global, join_operator } in joins {
            self.absent(!*global, "GLOBAL")?;
            self.factor(relation)?;
            match join_operator {
                JoinOperator::Join(constraint)
                | JoinOperator::Inner(constraint)
                | JoinOperator::Left(constraint)
                | JoinOperator::LeftOuter(constraint)
                | JoinOperator::Right(constraint)
                | JoinOperator::RightOuter(constraint)
                | JoinOperator::FullOuter(constraint)
                | JoinOperator::CrossJoin(constraint) => self.constraint(constraint)?,
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

    fn constraint(&mut self, constraint: &mut JoinConstraint) -> Result<(), SqlError> {
        match constraint {
            JoinConstraint::On(expr) => self.expr(expr),
            JoinConstraint::Using(names) => names.iter_mut().try_for_each(|name| self.object_name(name).map(|_| ())),
            JoinConstraint::Natural | JoinConstraint::None => Ok(()),
        }
    }

    fn factor(&mut self, factor: &mut TableFactor) -> Result<(), SqlError> {
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
                self.absent(sample.is_none(), "TABLESAMPLE")?;
                self.absent(index_hints.is_empty(), "an index hint")?;
                match args {
                    None => self.relation(name)?,
                    Some(TableFunctionArgs { args, settings }) => {
                        self.absent(settings.is_none(), "SETTINGS")?;
                        self.table_function(name, args)?;
                    }
                }
                self.optional_alias(alias)
            }
            TableFactor::Derived { lateral: _, subquery, alias, sample } => {
                self.absent(sample.is_none(), "TABLESAMPLE")?;
                self.subquery(subquery)?;
                self.optional_alias(alias)
            }
            TableFactor::Function { lateral: _, name, args, with_ordinality: _, alias } => {
                self.table_function(name, args)?;
                self.optional_alias(alias)
            }
            TableFactor::UNNEST { alias, array_exprs, with_offset, with_offset_alias, with_ordinality: _ } => {
                self.absent(!*with_offset && with_offset_alias.is_none(), "WITH OFFSET")?;
                self.exprs(array_exprs)?;
                self.functions.insert("unnest".to_owned());
                self.optional_alias(alias)
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                self.tree(table_with_joins)?;
                self.optional_alias(alias)
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

    fn table_function(&mut self, name: &mut ObjectName, args: &mut [FunctionArg]) -> Result<(), SqlError> {
        self.function_name(name)?;
        let function = name.to_string();
        self.arguments(&function, args)
    }

    /// Qualifies a relation with its schema, or leaves the name of a common table expression.
    fn relation(&mut self, name: &mut ObjectName) -> Result<(), SqlError> {
        let span = match name.0.first() {
            Some(ObjectNamePart::Identifier(ident)) => ident.span,
            _ => Span::empty(),
        };
        if let [ObjectNamePart::Identifier(Ident { value, quote_style: None, span: _ })] = name.0.as_slice()
            && CLAUSES.contains(&value.to_ascii_lowercase().as_str())
        {
            let message = format!("a table is expected in place of `{value}`");
            return Err(self.refuse(SqlErrorKind::Syntax, "syntax", message, span));
        }
        let (schema, plain) = match self.object_name(name)?[..] {
            [plain] if self.ctes.iter().any(|cte| cte == plain) => return Ok(()),
            [plain] => (None, plain.to_owned()),
            [schema, plain] => (Some(schema.to_owned()), plain.to_owned()),
            _ => {
                let message = format!("`{name}` is refused: write at most a schema and a table");
                return Err(self.refuse(SqlErrorKind::Denied, "granted-tables", message, span));
            }
        };
        let schema = match self.granted.resolve(schema.as_deref(), &plain) {
            Ok(schema) => schema.to_owned(),
            Err(error) => return Err(self.refuse(error.kind, error.rule, error.message, span).suggest(error.near)),
        };
        self.tables.insert(format!("{schema}.{plain}"));
        let part = |value: String| ObjectNamePart::Identifier(Ident::with_quote('"', value));
        *name = ObjectName(vec![part(schema), part(plain)]);
        Ok(())
    }

    fn optional_alias(&self, alias: &mut Option<TableAlias>) -> Result<(), SqlError> {
        alias.as_mut().map_or(Ok(()), |alias| self.alias(alias))
    }

    fn alias(&self, alias: &mut TableAlias) -> Result<(), SqlError> {
        let TableAlias { explicit: _, name, columns, at } = alias;
        self.absent(at.is_none(), "AT")?;
        self.ident(name)?;
        for TableAliasColumnDef { name, data_type } in columns {
            self.ident(name)?;
            if let Some(data_type) = data_type {
                self.data_type(data_type)?;
            }
        }
        Ok(())
    }
}
