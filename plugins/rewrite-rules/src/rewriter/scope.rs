//! The scope of a SELECT: its tables, their columns, and the owner of each reference.

use sqlparser::ast::{
    Expr, Ident, JoinConstraint, JoinOperator, ObjectName, ObjectNamePart, Select, TableFactor,
};
use syrch_plugin::prelude::*;

use super::refs::path;
use super::sql::{Engine, item_name};

/// A table, a sub-query or a CTE in FROM.
#[derive(Debug, Clone)]
pub(crate) struct Source<'a> {
    /// The name by which columns are qualified.
    pub(crate) name: Ident,
    /// The place in FROM of the joined tables to which it belongs.
    pub(crate) item: usize,
    /// The table of the catalog; `None` for a sub-query or a CTE.
    pub(crate) table: Option<&'a Table>,
    /// The columns' names in lower case; `None` where they are not known.
    columns: Option<Vec<String>>,
}

/// The tables of one SELECT.
#[derive(Debug, Clone)]
pub(crate) struct Scope<'a> {
    pub(crate) sources: Vec<Source<'a>>,
    /// True if a join may add rows of NULLs.
    pub(crate) has_outer_join: bool,
    /// True if columns are joined by USING or NATURAL, so that one name means two columns.
    pub(crate) has_merged_columns: bool,
}

/// The owner of a referenced column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The source at this place.
    Source(usize),
    /// No source has it.
    Nobody,
    /// The table cannot be determined.
    Unclear,
}

/// The class of types in which an engine compares the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Number,
    Text,
    Other,
}

/// Returns true if two names are the same.
pub(crate) fn same(a: &Ident, b: &Ident) -> bool {
    a.value.eq_ignore_ascii_case(&b.value)
}

/// A name of a table without quotes, with its schema if it is written.
pub(crate) fn plain_name(name: &ObjectName) -> Option<String> {
    Some(
        name.0
            .iter()
            .map(|part: &ObjectNamePart| match part {
                ObjectNamePart::Identifier(name) => Some(name.value.clone()),
                ObjectNamePart::Function(_) => None,
            })
            .collect::<Option<Vec<_>>>()?
            .join("."),
    )
}

impl<'a> Scope<'a> {
    /// The tables of a SELECT; `None` where FROM has something else.
    pub(crate) fn from_select(select: &Select, catalog: &'a Catalog) -> Option<Self> {
        let mut scope =
            Self { sources: Vec::new(), has_outer_join: false, has_merged_columns: false };
        for (item, tables) in select.from.iter().enumerate() {
            scope.sources.push(source(&tables.relation, item, catalog)?);
            for join in &tables.joins {
                scope.sources.push(source(&join.relation, item, catalog)?);
                scope.has_outer_join |= !is_inner(&join.join_operator);
                scope.has_merged_columns |= has_merged(&join.join_operator);
            }
        }
        Some(scope)
    }

    /// Returns the owner of a referenced column.
    pub(crate) fn owner(&self, path: &[Ident]) -> Owner {
        fn single_owner(mut places: Vec<usize>) -> Owner {
            match (places.pop(), places.is_empty()) {
                (Some(place), true) => Owner::Source(place),
                (None, _) => Owner::Nobody,
                _ => Owner::Unclear,
            }
        }
        let places = |fits: &dyn Fn(&Source) -> bool| {
            self.sources
                .iter()
                .enumerate()
                .filter(|(_, source)| fits(source))
                .map(|(place, _)| place)
                .collect()
        };
        match path {
            [column] => {
                let name = column.value.to_ascii_lowercase();
                let found = single_owner(places(&|source| source.has(&name) == Some(true)));
                let is_open = self.sources.iter().any(|source| source.columns.is_none());
                if found == Owner::Nobody && is_open { Owner::Unclear } else { found }
            }
            [.., table, _] => single_owner(places(&|source| same(&source.name, table))),
            [] => Owner::Unclear,
        }
    }

    /// Returns true if all references are columns of this scope.
    pub(crate) fn owns_all(&self, paths: &[Vec<Ident>]) -> bool {
        paths.iter().all(|path| matches!(self.owner(path), Owner::Source(_)))
    }

    /// Returns true if a reference may mean a column of this scope.
    pub(crate) fn may_own(&self, path: &[Ident]) -> bool {
        self.owner(path) != Owner::Nobody
    }

    /// The column of the catalog that an expression is.
    pub(crate) fn column(&self, expr: &Expr) -> Option<(&Source<'a>, &'a Column)> {
        let path = path(expr)?;
        let Owner::Source(place) = self.owner(path) else { return None };
        let source = self.sources.get(place)?;
        let name = path.last()?;
        let column = source
            .table?
            .columns
            .iter()
            .find(|column| column.name.eq_ignore_ascii_case(&name.value))?;
        Some((source, column))
    }

    /// Returns true if an expression may be NULL: anything but a column of a table that the catalog
    /// declares NOT NULL.
    pub(crate) fn is_nullable(&self, expr: &Expr) -> bool {
        self.has_outer_join || self.column(expr).is_none_or(|(_, column)| column.nullable)
    }

    /// Returns the class in which the values of an expression compare; `None` if it is no column.
    pub(crate) fn class(&self, expr: &Expr) -> Option<Class> {
        self.column(expr).map(|(_, column)| class(&column.sql_type))
    }
}

impl Source<'_> {
    /// Returns true if it has a column of that name; `None` if that is not known.
    fn has(&self, name: &str) -> Option<bool> {
        self.columns.as_ref().map(|columns| columns.iter().any(|column| column == name))
    }

    /// Returns true if these columns can be equal in one row at the most.
    pub(crate) fn is_unique(&self, columns: &[&str]) -> bool {
        fn covers(columns: &[&str], key: &[String]) -> bool {
            !key.is_empty()
                && key
                    .iter()
                    .all(|name| columns.iter().any(|column| column.eq_ignore_ascii_case(name)))
        }
        self.table.is_some_and(|table| {
            covers(columns, &table.primary_key)
                || table.indexes.iter().any(|index: &Index| {
                    index.is_unique && index.predicate.is_none() && covers(columns, &index.columns)
                })
        })
    }
}

/// Returns true if comparing two columns means the same as grouping by the second: SQLite converts
/// between numbers and texts while it compares, so that `'1'` and `'01'` equal 1 and are two
/// groups.
pub(crate) fn groups_alike(engine: Engine, a: (&Scope, &Expr), b: (&Scope, &Expr)) -> bool {
    match (engine, a.0.class(a.1), b.0.class(b.1)) {
        (Engine::Postgres, _, _) => true,
        (Engine::Sqlite, Some(a), Some(b)) => a == b,
        (Engine::Sqlite, _, _) => false,
    }
}

/// Classifies a type as SQLite derives the affinity of a column; PostgreSQL's types fall into the
/// same classes.
fn class(sql_type: &str) -> Class {
    let upper = sql_type.to_ascii_uppercase();
    fn contains_any(upper: &str, words: &[&str]) -> bool {
        words.iter().any(|word| upper.contains(word))
    }
    if contains_any(&upper, &["INT"]) {
        Class::Number
    } else if contains_any(&upper, &["CHAR", "CLOB", "TEXT"]) {
        Class::Text
    } else if upper.is_empty() || contains_any(&upper, &["BLOB", "DATE", "TIME"]) {
        Class::Other
    } else {
        Class::Number
    }
}

fn source<'a>(factor: &TableFactor, item: usize, catalog: &'a Catalog) -> Option<Source<'a>> {
    match factor {
        TableFactor::Table { name, alias, args: None, sample: None, .. } => {
            let plain = plain_name(name)?;
            let table = catalog.table(&plain);
            let own = match name.0.last()? {
                ObjectNamePart::Identifier(name) => name.clone(),
                ObjectNamePart::Function(_) => return None,
            };
            let has_other_names = alias.as_ref().is_some_and(|alias| !alias.columns.is_empty());
            let columns = table.filter(|_| !has_other_names).map(|table| {
                table.columns.iter().map(|column| column.name.to_ascii_lowercase()).collect()
            });
            let name = alias.as_ref().map_or(own, |alias| alias.name.clone());
            Some(Source { name, item, table: table.filter(|_| !has_other_names), columns })
        }
        TableFactor::Derived { lateral: false, subquery, alias: Some(alias), sample: None } => {
            let names = subquery.body.as_select().map(|select| {
                select
                    .projection
                    .iter()
                    .map(|item| item_name(item).map(|name| name.value.to_ascii_lowercase()))
                    .collect::<Option<Vec<_>>>()
            });
            let columns = names.flatten().filter(|_| alias.columns.is_empty());
            Some(Source { name: alias.name.clone(), item, table: None, columns })
        }
        _ => None,
    }
}

/// Returns true if a join only combines rows of both sides.
pub(crate) fn is_inner(operator: &JoinOperator) -> bool {
    matches!(operator, JoinOperator::Join(_) | JoinOperator::Inner(_) | JoinOperator::CrossJoin(_))
}

fn has_merged(operator: &JoinOperator) -> bool {
    let (JoinOperator::Join(constraint)
    | JoinOperator::Inner(constraint)
    | JoinOperator::CrossJoin(constraint)
    | JoinOperator::Left(constraint)
    | JoinOperator::LeftOuter(constraint)
    | JoinOperator::Right(constraint)
    | JoinOperator::RightOuter(constraint)
    | JoinOperator::FullOuter(constraint)) = operator
    else {
        return true;
    };
    matches!(constraint, JoinConstraint::Using(_) | JoinConstraint::Natural)
}
