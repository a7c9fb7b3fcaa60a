//! The tables that a SELECT reads, and the columns that can be confused with another.

use sqlparser::ast::{Expr, Ident, ObjectNamePart, Select, TableFactor};
use syrch_core::{Catalog, Table};

/// Words that cannot stand for a column without quotes, of those that columns are called by.
const RESERVED: [&str; 22] = [
    "all", "and", "as", "by", "case", "check", "default", "desc", "end", "from", "group", "having",
    "index", "in", "limit", "not", "or", "order", "primary", "select", "table", "where",
];

/// The tables of one SELECT by the names that its columns stand under.
pub(super) struct Tables<'a> {
    catalog: &'a Catalog,
    /// The name in the statement, and the table.
    read: Vec<(Ident, &'a Table)>,
}

impl<'a> Tables<'a> {
    pub(super) fn new(select: &Select, catalog: &'a Catalog) -> Self {
        let joined =
            select.from.iter().flat_map(|from| from.joins.iter().map(|join| &join.relation));
        let factors = select.from.iter().map(|from| &from.relation).chain(joined);
        Self { catalog, read: factors.filter_map(|factor| find_table(factor, catalog)).collect() }
    }

    /// The table behind a reference to a column, and how the reference names it.
    fn table_behind(&self, expr: &Expr) -> Option<(Option<Ident>, &'a Table, String)> {
        match expr {
            Expr::Identifier(column) => {
                let (_, table) =
                    self.read.iter().find(|(_, table)| table.column(&column.value).is_some())?;
                Some((None, table, column.value.clone()))
            }
            Expr::CompoundIdentifier(parts) => {
                let [name, column] = parts.as_slice() else { return None };
                let (_, table) = self
                    .read
                    .iter()
                    .find(|(known, _)| known.value.eq_ignore_ascii_case(&name.value))?;
                table.column(&column.value)?;
                Some((Some(name.clone()), table, column.value.clone()))
            }
            _ => None,
        }
    }

    /// Returns true if it refers to a column of one of the tables.
    pub(super) fn is_column(&self, expr: &Expr) -> bool {
        self.table_behind(expr).is_some()
    }

    /// The columns that could stand in the place of a reference: the others of its table, those of
    /// the other tables, and one that no table here has, as models make them up. Empty for anything
    /// but a column.
    pub(super) fn others(&self, expr: &Expr) -> Vec<Expr> {
        let Some((name, own, column)) = self.table_behind(expr) else { return Vec::new() };
        fn is_same(column: &str, other: &str) -> bool {
            other.eq_ignore_ascii_case(column)
        }
        let mut others = Vec::new();
        for (known, table) in &self.read {
            // A column of another table is named by its table, unless there is only one reading of
            // it.
            let is_own = std::ptr::eq(*table, own);
            let qualifier = if is_own { name.clone() } else { Some(known.clone()) };
            let columns =
                table.columns.iter().filter(|other| !(is_own && is_same(&column, &other.name)));
            others.extend(columns.map(|other| reference(qualifier.clone(), &other.name)));
        }
        others.extend(self.strange().map(|strange| reference(name, &strange)));
        others
    }

    /// The columns of all its tables.
    pub(super) fn columns(&self) -> Vec<Expr> {
        let single = self.read.len() == 1;
        self.read
            .iter()
            .flat_map(|(name, table): &(Ident, &'a Table)| -> Vec<Expr> {
                let qualifier = (!single).then(|| name.clone());
                table
                    .columns
                    .iter()
                    .map(|column| reference(qualifier.clone(), &column.name))
                    .collect()
            })
            .collect()
    }

    /// A column of the catalog that no table here has.
    pub(super) fn strange(&self) -> Option<String> {
        let known = |name: &str| self.read.iter().any(|(_, table)| table.column(name).is_some());
        let first = self.read.first()?;
        let foreign = self
            .catalog
            .tables
            .iter()
            .flat_map(|table| &table.columns)
            .find(|column| !known(&column.name));
        Some(foreign.map_or_else(|| format!("{}_id", first.1.name), |column| column.name.clone()))
    }

    /// The names of tables that are not read here.
    pub(super) fn unread(&self) -> impl Iterator<Item = &'a str> {
        let is_read =
            |name: &str| self.read.iter().any(|(_, table)| table.name.eq_ignore_ascii_case(name));
        self.catalog
            .tables
            .iter()
            .map(|table| table.name.as_str())
            .filter(move |name| !is_read(name))
    }
}

/// A table of the catalog in FROM, by its alias or its name.
fn find_table<'a>(factor: &TableFactor, catalog: &'a Catalog) -> Option<(Ident, &'a Table)> {
    let TableFactor::Table { name, alias, .. } = factor else { return None };
    let parts: Vec<&Ident> = name.0.iter().filter_map(ObjectNamePart::as_ident).collect();
    let own = *parts.last()?;
    let table = parts
        .iter()
        .rev()
        .nth(1)
        .and_then(|schema: &&Ident| catalog.table(&format!("{}.{}", schema.value, own.value)))
        .or_else(|| catalog.table(&own.value))?;
    Some((alias.as_ref().map_or_else(|| own.clone(), |alias| alias.name.clone()), table))
}

/// Returns the name of a table in the statement; `None` if it is no table.
pub(super) fn name_of(factor: &TableFactor) -> Option<Ident> {
    let TableFactor::Table { name, alias, .. } = factor else { return None };
    let Some(ObjectNamePart::Identifier(own)) = name.0.last() else { return None };
    Some(alias.as_ref().map_or_else(|| own.clone(), |alias| alias.name.clone()))
}

/// A reference to a column.
fn reference(table: Option<Ident>, column: &str) -> Expr {
    match table {
        None => Expr::Identifier(identifier(column)),
        Some(table) => Expr::CompoundIdentifier(vec![table, identifier(column)]),
    }
}

/// A name, in quotes where it needs them.
pub(super) fn identifier(name: &str) -> Ident {
    let is_plain =
        syrch_basics::is_word(name) && !RESERVED.contains(&name.to_ascii_lowercase().as_str());
    if is_plain { Ident::new(name) } else { Ident::with_quote('"', name) }
}
