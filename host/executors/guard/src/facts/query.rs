//! The walk over queries: which relations stand where, which columns they have, and the scope that
//! expressions see.

use std::collections::HashSet;

use sqlparser::ast::{
    Expr, Ident, JoinConstraint, ObjectName, OrderBy, Query, Select, SelectItem,
    SelectItemQualifiedWildcardKind, SetExpr, TableAlias, TableFactor, TableWithJoins,
    WildcardAdditionalOptions,
};
use syrch_core::text::nearest;
use syrch_core::{SqlError, Table};

use super::place;
use super::resolver::{Resolver, constraint};
use super::scope::{Columns, Origin, Output, Scope, Source, same};
use super::walk::Walk;
use crate::carry;

/// Table-valued functions that may stand in FROM without arguments.
const TABLE_FUNCTIONS: [&str; 2] = ["json_each", "json_tree"];

/// Schemas that engines make by themselves and search first.
const USUAL: [&str; 4] = ["public", "main", "default", "dbo"];

impl<'a> Resolver<'a> {
    fn names_computed_columns(&self) -> bool {
        self.catalog.dialect.syntax().names_computed_columns
    }

    /// Resolves a query within the scopes around it; the result is its columns.
    pub(super) fn resolve_query(
        &mut self,
        query: &Query,
        outer: &mut Vec<Scope>,
    ) -> Result<Columns, SqlError> {
        if !query.locks.is_empty() {
            return Err(place::write_refused("FOR UPDATE"));
        }
        let base = self.ctes.len();
        let result = self.resolve_with_and_body(query, outer);
        self.ctes.truncate(base);
        result
    }

    fn resolve_with_and_body(
        &mut self,
        query: &Query,
        outer: &mut Vec<Scope>,
    ) -> Result<Columns, SqlError> {
        let base = self.ctes.len();
        if let Some(with) = &query.with {
            // All names come first, columns unknown: engines differ in which of them see each
            // other.
            for cte in &with.cte_tables {
                let declared = alias_columns(Some(&cte.alias));
                self.ctes.push((cte.alias.name.value.clone(), declared));
            }
            for (index, cte) in with.cte_tables.iter().enumerate() {
                let columns = self.resolve_query(&cte.query, outer)?;
                // SEARCH and CYCLE add columns.
                let columns = rename_columns(columns, Some(&cte.alias));
                self.ctes[base + index].1 = columns.filter(|_| cte.from.is_none());
            }
        }
        let columns = self.resolve_body(&query.body, query.order_by.as_ref(), outer)?;
        // LIMIT and FETCH see no column; whatever else a dialect puts here is for its engine.
        outer.push(Scope { open: true, ..Scope::default() });
        let limits = Walk::new(self, outer).silent().over(&query.limit_clause);
        outer.pop();
        limits.map(|()| columns)
    }

    fn resolve_body(
        &mut self,
        body: &SetExpr,
        order: Option<&OrderBy>,
        outer: &mut Vec<Scope>,
    ) -> Result<Columns, SqlError> {
        match body {
            SetExpr::Select(select) => self.resolve_select(select, order, outer),
            SetExpr::Query(query) => {
                let columns = self.resolve_query(query, outer)?;
                self.walk_open_order(order, outer).map(|()| columns)
            }
            SetExpr::SetOperation { left, right, .. } => {
                let columns = self.resolve_body(left, None, outer)?;
                self.resolve_body(right, None, outer)?;
                self.walk_open_order(order, outer)?;
                Ok(columns.map(|columns| {
                    columns
                        .into_iter()
                        .map(|column: Output| Output {
                            name: column.name,
                            origin: None,
                            is_whole: false,
                        })
                        .collect()
                }))
            }
            SetExpr::Values(values) => {
                outer.push(Scope::default());
                let walked = Walk::new(self, outer).over(&values.rows);
                outer.pop();
                walked?;
                let width = values.rows.first().map_or(0, |row| row.len());
                Ok(self.names_computed_columns().then(|| {
                    (1..=width).map(|n| Output::with_name(format!("column{n}"))).collect()
                }))
            }
            SetExpr::Table(_) => Ok(None),
            SetExpr::Insert(_) => Err(place::write_refused("INSERT")),
            SetExpr::Update(_) => Err(place::write_refused("UPDATE")),
            SetExpr::Delete(_) => Err(place::write_refused("DELETE")),
            SetExpr::Merge(_) => Err(place::write_refused("MERGE")),
        }
    }

    /// The ORDER BY of a compound may name columns of any of its parts.
    fn walk_open_order(
        &mut self,
        order: Option<&OrderBy>,
        outer: &mut Vec<Scope>,
    ) -> Result<(), SqlError> {
        outer.push(Scope { open: true, ..Scope::default() });
        let walked = order.map_or(Ok(()), |order| Walk::new(self, outer).over(order));
        outer.pop();
        walked
    }

    fn resolve_select(
        &mut self,
        select: &Select,
        order: Option<&OrderBy>,
        outer: &mut Vec<Scope>,
    ) -> Result<Columns, SqlError> {
        if select.into.is_some() {
            return Err(place::write_refused("SELECT INTO"));
        }
        let mut scope = Scope {
            open: !select.lateral_views.is_empty() || carry::is_pivot(select),
            ..Scope::default()
        };
        for tree in &select.from {
            self.add_sources(tree, &mut scope, outer)?;
        }
        scope.aliases = select.projection.iter().flat_map(read_aliases).collect();
        outer.push(scope);
        let walked = self.walk_expressions(select, order, outer);
        if walked.is_ok() {
            self.note_uses(select, order, outer);
        }
        let scope = outer.pop().unwrap_or_default();
        walked?;
        Ok(self.output_columns(select, &scope))
    }

    fn walk_expressions(
        &mut self,
        select: &Select,
        order: Option<&OrderBy>,
        scopes: &mut Vec<Scope>,
    ) -> Result<(), SqlError> {
        for tree in &select.from {
            self.walk_joins(tree, scopes)?;
        }
        Walk::new(self, scopes).over(&select.distinct)?;
        Walk::new(self, scopes).over(&select.projection)?;
        Walk::new(self, scopes).over(&select.lateral_views)?;
        Walk::new(self, scopes).over(&select.prewhere)?;
        Walk::new(self, scopes).over(&select.selection)?;
        Walk::new(self, scopes).over(&select.group_by)?;
        Walk::new(self, scopes).over(&select.cluster_by)?;
        Walk::new(self, scopes).over(&select.distribute_by)?;
        Walk::new(self, scopes).over(&select.sort_by)?;
        Walk::new(self, scopes).over(&select.having)?;
        Walk::new(self, scopes).over(&select.named_window)?;
        Walk::new(self, scopes).over(&select.qualify)?;
        order.map_or(Ok(()), |order| Walk::new(self, scopes).over(order))
    }

    /// Conditions of joins and arguments of table functions: both see the tables beside them.
    fn walk_joins(
        &mut self,
        tree: &TableWithJoins,
        scopes: &mut Vec<Scope>,
    ) -> Result<(), SqlError> {
        for factor in
            std::iter::once(&tree.relation).chain(tree.joins.iter().map(|join| &join.relation))
        {
            match factor {
                TableFactor::Table { args: Some(args), .. } => {
                    Walk::new(self, scopes).over(&args.args)?
                }
                TableFactor::Function { args, .. } => Walk::new(self, scopes).over(args)?,
                TableFactor::UNNEST { array_exprs, .. } => {
                    Walk::new(self, scopes).over(array_exprs)?
                }
                TableFactor::NestedJoin { table_with_joins, .. } => {
                    self.walk_joins(table_with_joins, scopes)?
                }
                _ => {}
            }
        }
        for join in &tree.joins {
            if let Some(JoinConstraint::On(condition)) = constraint(join) {
                Walk::new(self, scopes).over(condition)?;
            }
        }
        Ok(())
    }

    fn add_sources(
        &mut self,
        tree: &TableWithJoins,
        scope: &mut Scope,
        outer: &mut Vec<Scope>,
    ) -> Result<(), SqlError> {
        self.add_source(&tree.relation, scope, outer)?;
        for join in &tree.joins {
            self.add_source(&join.relation, scope, outer)?;
            match constraint(join) {
                Some(JoinConstraint::Using(names)) => {
                    scope.merged.extend(
                        names.iter().filter_map(last_name).map(|name| name.value.to_lowercase()),
                    );
                }
                Some(JoinConstraint::Natural) => scope.natural = true,
                Some(JoinConstraint::On(_) | JoinConstraint::None) => {}
                None => scope.open = true,
            }
        }
        Ok(())
    }

    fn add_source(
        &mut self,
        factor: &TableFactor,
        scope: &mut Scope,
        outer: &mut Vec<Scope>,
    ) -> Result<(), SqlError> {
        match factor {
            TableFactor::Table { name, alias, args, .. } => {
                let columns = self.find_relation(name, args.is_some())?;
                let (columns, schema) = columns;
                let schema = schema.filter(|_| alias.is_none());
                let name = alias
                    .as_ref()
                    .map_or_else(|| last_name(name).cloned(), |alias| Some(alias.name.clone()));
                let columns = rename_columns(columns, alias.as_ref());
                scope.sources.push(Source { name: name.map(|name| name.value), schema, columns });
            }
            TableFactor::Derived { lateral, subquery, alias, .. } => {
                let columns = if *lateral {
                    outer.push(std::mem::take(scope));
                    let columns = self.resolve_query(subquery, outer);
                    *scope = outer.pop().unwrap_or_default();
                    columns?
                } else {
                    self.resolve_query(subquery, outer)?
                };
                self.subqueries.push(carry::restore(subquery.to_string(), &self.catalog.dialect));
                let name = alias.as_ref().map(|alias| alias.name.value.clone());
                scope.sources.push(Source {
                    name,
                    schema: None,
                    columns: rename_columns(columns, alias.as_ref()),
                });
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                self.add_sources(table_with_joins, scope, outer)?;
                if let Some(alias) = alias {
                    scope.open = true;
                    scope.sources.push(Source {
                        name: Some(alias.name.value.clone()),
                        schema: None,
                        columns: None,
                    });
                }
            }
            TableFactor::Pivot { table, .. } | TableFactor::Unpivot { table, .. } => {
                self.add_source(table, &mut Scope::default(), outer)?;
                scope.open = true;
            }
            _ => scope.open = true,
        }
        Ok(())
    }

    /// The columns of what stands in FROM by name, and its schema where it is a table of the
    /// catalog.
    fn find_relation(
        &mut self,
        name: &ObjectName,
        is_call: bool,
    ) -> Result<(Columns, Option<String>), SqlError> {
        let (Some(ident), parts) = (last_name(name), name.0.len()) else {
            return Ok((None, None));
        };
        let plain = ident.value.as_str();
        if parts == 1 {
            if let Some((_, columns)) = self.ctes.iter().rev().find(|(cte, _)| same(cte, plain)) {
                return Ok((columns.clone(), None));
            }
            if let Some(relation) =
                self.relations.iter().find(|relation| same(&relation.name, plain))
            {
                self.tasks.insert(relation.name.clone());
                let columns = relation
                    .columns
                    .iter()
                    .map(|column| Output::with_name(&column.name))
                    .collect::<Vec<_>>();
                return Ok(((!columns.is_empty()).then_some(columns), None));
            }
        }
        let schema = name.0.iter().rev().nth(1).and_then(|part| part.as_ident());
        if let Some((table, is_certain)) =
            self.find_table(schema.map(|schema| schema.value.as_str()), plain)
        {
            let shown = self.display_name(table);
            let is_known = is_certain && !is_call && !is_virtual(table);
            let columns = is_known.then(|| columns_of(table, &shown));
            self.tables.insert(shown);
            return Ok((columns, table.schema_name.clone()));
        }
        if is_call || TABLE_FUNCTIONS.iter().any(|function| same(function, plain)) {
            return Ok((None, None));
        }
        let known = self.catalog.tables.iter().map(|table| table.name.as_str());
        let known = known.chain(self.relations.iter().map(|relation| relation.name.as_str()));
        let near = nearest(plain, known.chain(self.ctes.iter().map(|(name, _)| name.as_str())));
        let shown = name
            .0
            .iter()
            .filter_map(|part| part.as_ident())
            .map(|i| i.value.as_str())
            .collect::<Vec<_>>()
            .join(".");
        Err(place::unknown_table(ident, &shown, near, self.places))
    }

    /// The table of the catalog that a name means, and whether that is certain: without a schema
    /// the engine's search path decides between several tables of the name, and it most often
    /// begins with the schema that the engine makes by itself.
    fn find_table(&self, schema: Option<&str>, name: &str) -> Option<(&'a Table, bool)> {
        let catalog = self.catalog;
        let found: Vec<&Table> = catalog
            .tables
            .iter()
            .filter(|table: &&Table| {
                same(&table.name, name)
                    && schema.is_none_or(|wanted| {
                        table.schema_name.as_deref().is_none_or(|own| same(own, wanted))
                    })
            })
            .collect();
        match found.as_slice() {
            [] => None,
            [table] => Some((table, true)),
            [first, ..] => Some(
                found
                    .iter()
                    .find(|table: &&&Table| {
                        let own = table.schema_name.as_deref().unwrap_or_default();
                        USUAL.iter().any(|usual| same(usual, own))
                    })
                    .map_or((first, false), |table| (*table, true)),
            ),
        }
    }

    /// A table's name in the facts: with its schema where several schemas have a table of that
    /// name.
    pub(super) fn display_name(&self, table: &Table) -> String {
        fn has_other_schema(table: &Table, other: &&Table) -> bool {
            same(&other.name, &table.name) && other.schema_name != table.schema_name
        }
        match &table.schema_name {
            Some(schema)
                if self.catalog.tables.iter().any(|other| has_other_schema(table, &other)) =>
            {
                format!("{schema}.{}", table.name)
            }
            _ => table.name.clone(),
        }
    }

    fn output_columns(&self, select: &Select, scope: &Scope) -> Columns {
        // `FROM t` alone has all columns.
        if select.projection.is_empty() {
            return None;
        }
        let mut outputs = Vec::new();
        for item in &select.projection {
            match item {
                SelectItem::UnnamedExpr(expr) => {
                    let origin = origin(expr, scope);
                    let name = column_name(expr).map(|name| name.value.clone());
                    // Only here is it known what the engine calls a computed column: as its text,
                    // which no plain name is.
                    if name.is_none() && !self.names_computed_columns() {
                        return None;
                    }
                    outputs.push(Output { name, origin, is_whole: self.is_whole(expr, scope) });
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    outputs.push(Output {
                        name: Some(alias.value.clone()),
                        origin: origin(expr, scope),
                        is_whole: self.is_whole(expr, scope),
                    });
                }
                SelectItem::Wildcard(options) if is_plain_wildcard(options) && !scope.open => {
                    for source in &scope.sources {
                        outputs.extend(source.columns.as_ref()?.iter().cloned());
                    }
                }
                SelectItem::QualifiedWildcard(
                    SelectItemQualifiedWildcardKind::ObjectName(name),
                    options,
                ) if is_plain_wildcard(options) => {
                    outputs.extend(
                        scope.source(&last_name(name)?.value)?.columns.as_ref()?.iter().cloned(),
                    );
                }
                _ => return None,
            }
        }
        Some(outputs)
    }
}

fn columns_of(table: &Table, shown: &str) -> Vec<Output> {
    let output = |name: &String| Output {
        name: Some(name.clone()),
        origin: Some(Origin {
            table: shown.to_owned(),
            column: name.clone(),
            filter: None,
            beside: None,
        }),
        is_whole: false,
    };
    table.columns.iter().map(|column| output(&column.name)).collect()
}

/// A virtual table has columns that no catalog lists, such as a rank.
fn is_virtual(table: &Table) -> bool {
    table.extra.iter().any(|(key, value)| key == "kind" && value == "\"virtual\"")
}

fn is_plain_wildcard(options: &WildcardAdditionalOptions) -> bool {
    options.opt_ilike.is_none()
        && options.opt_exclude.is_none()
        && options.opt_except.is_none()
        && options.opt_replace.is_none()
        && options.opt_rename.is_none()
        && options.opt_alias.is_none()
}

fn last_name(name: &ObjectName) -> Option<&Ident> {
    name.0.last().and_then(|part| part.as_ident())
}

fn read_aliases(item: &SelectItem) -> HashSet<String> {
    match item {
        SelectItem::ExprWithAlias { alias, .. } => HashSet::from([alias.value.to_lowercase()]),
        SelectItem::ExprWithAliases { aliases, .. } => {
            aliases.iter().map(|alias| alias.value.to_lowercase()).collect()
        }
        _ => HashSet::new(),
    }
}

/// The columns that an alias declares, when it declares any.
fn alias_columns(alias: Option<&TableAlias>) -> Columns {
    let columns = &alias?.columns;
    (!columns.is_empty())
        .then(|| columns.iter().map(|column| Output::with_name(&column.name.value)).collect())
}

/// Columns under the names that an alias gives them.
fn rename_columns(columns: Columns, alias: Option<&TableAlias>) -> Columns {
    let Some(names) = alias_columns(alias) else {
        return columns;
    };
    let Some(mut columns) = columns else {
        return Some(names);
    };
    for (column, name) in columns.iter_mut().zip(names) {
        column.name = name.name;
    }
    Some(columns)
}

/// The name that a column has in a result, when the expression is just a column.
pub(super) fn column_name(expr: &Expr) -> Option<&Ident> {
    match expr {
        Expr::Identifier(name) => Some(name),
        Expr::CompoundIdentifier(names) => names.last(),
        Expr::Nested(inner) => column_name(inner),
        _ => None,
    }
}

fn origin(expr: &Expr, scope: &Scope) -> Option<Origin> {
    match expr {
        Expr::Nested(inner) => origin(inner, scope),
        Expr::Identifier(name) => match scope.find(&name.value) {
            super::scope::Found::Column(origin) => origin,
            _ => None,
        },
        Expr::CompoundIdentifier(names) => {
            let [.., source, name] = names.as_slice() else {
                return None;
            };
            let columns = scope.source(&source.value)?.columns.as_ref()?;
            columns.iter().find(|column| column.is(&name.value))?.origin.clone()
        }
        _ => None,
    }
}
