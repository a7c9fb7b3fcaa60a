//! The sources in FROM, and the meaning of names there. For SQLite alone, which would read a name
//! in double quotes that means nothing as a text, and whose rules ask for columns; PostgreSQL
//! resolves names by itself.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use sqlparser::ast::{Expr, Ident};
use syrch_core::Table;

use super::kind::{Affinity, Kind};
use super::window::Windows;

/// A column of something that stands in FROM.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) affinity: Affinity,
    /// True if no stored row has NULL there.
    pub(super) is_not_null: bool,
}

/// The columns of a table or query.
#[derive(Debug, Default)]
pub(super) struct Columns {
    pub(super) list: Vec<Column>,
    by_name: HashMap<String, usize>,
    /// The columns of each unique key.
    pub(super) keys: Vec<Vec<usize>>,
    /// True if rows have a number that `rowid` means.
    has_rowid: bool,
}

/// Other names of the number of a row.
const ROWID: [&str; 3] = ["rowid", "_rowid_", "oid"];

impl Columns {
    pub(super) fn new(list: Vec<Column>) -> Self {
        let mut by_name = HashMap::with_capacity(list.len());
        for (index, column) in list.iter().enumerate() {
            by_name.entry(column.name.to_lowercase()).or_insert(index);
        }
        Self { list, by_name, keys: Vec::new(), has_rowid: false }
    }

    /// Returns true if they are those of a stored table whose rows have numbers.
    pub(super) fn is_table(&self) -> bool {
        self.has_rowid
    }

    /// The columns of a table, with its primary key and its unique indexes. The number of a row is
    /// one column more.
    pub(super) fn for_table(table: &Table) -> Self {
        let mut columns = Self::new(
            table
                .columns
                .iter()
                .map(|column: &syrch_core::Column| {
                    let (kind, affinity) = Kind::for_column(&column.sql_type);
                    Column {
                        name: column.name.clone(),
                        kind,
                        affinity,
                        is_not_null: !column.nullable,
                    }
                })
                .collect(),
        );
        let unique =
            table.indexes.iter().filter(|index| index.is_unique && index.predicate.is_none());
        let keys = std::iter::once(&table.primary_key).chain(unique.map(|index| &index.columns));
        let keys = keys
            .filter(|key| !key.is_empty())
            .filter_map(|key| {
                key.iter()
                    .map(|name: &String| columns.by_name.get(&name.to_lowercase()).copied())
                    .collect()
            })
            .collect();
        columns.keys = keys;
        columns.has_rowid = !table.extra.iter().any(|(key, _)| key == "kind");
        columns
    }

    fn find(&self, name: &str) -> Option<Place> {
        let lower = name.to_lowercase();
        match self.by_name.get(&lower) {
            Some(index) => Some(Place::Column(*index)),
            None => (self.has_rowid && ROWID.contains(&lower.as_str())).then_some(Place::Rowid),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Column(usize),
    Rowid,
}

/// Something that stands in FROM.
#[derive(Debug, Clone)]
pub(super) struct Source {
    /// The name that qualifies its columns.
    pub(super) name: Option<String>,
    pub(super) columns: Rc<Columns>,
    /// Columns that a join merged with those of a source before it, so that `*` leaves them out.
    pub(super) merged: HashSet<usize>,
}

/// A column of a source of one scope. The number of the row is behind the last column.
pub(super) type Id = (usize, usize);

/// A column that a name means, and how many scopes are around its scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) depth: usize,
    pub(super) id: Id,
    pub(super) kind: Kind,
    pub(super) affinity: Affinity,
}

/// The columns and expressions that have one value within each group of rows that is worked on.
#[derive(Debug, Default)]
pub(super) struct Determined {
    pub(super) columns: HashSet<Id>,
    /// Sources of which the whole row is determined.
    pub(super) rows: HashSet<usize>,
    pub(super) exprs: Vec<Expr>,
    /// True if an aggregate has one value, too.
    pub(super) has_aggregates: bool,
    /// True if one of several rows is chosen, where a window function may have a value for each.
    pub(super) is_choice: bool,
}

impl Determined {
    pub(super) fn has(&self, id: Id) -> bool {
        self.rows.contains(&id.0) || self.columns.contains(&id)
    }
}

/// The names of one SELECT.
#[derive(Debug, Default)]
pub(super) struct Scope {
    pub(super) sources: Vec<Source>,
    /// The names that the list of results gives, each with its expression; in sight outside that
    /// list alone.
    pub(super) aliases: Vec<(String, Rc<Expr>)>,
    pub(super) sees_aliases: bool,
    /// The values among which a column outside an aggregate must be.
    pub(super) determined: Option<Determined>,
    /// The number of aggregates of this scope around the place of the walk.
    pub(super) aggregates: usize,
    /// The number of times that its columns were named so far.
    pub(super) uses: usize,
    /// The kinds that are known of aliases, by their place, and by whether columns must be
    /// determined there.
    pub(super) known: HashMap<(usize, bool), Kind>,
    pub(super) windows: Windows,
}

impl Scope {
    /// The column that a name means among the sources: the first where several have it, which the
    /// engine refuses unless they are merged.
    pub(super) fn find(&self, qualifier: Option<&str>, name: &str) -> Option<(Id, Kind, Affinity)> {
        let is_meant = |source: &Source| {
            qualifier.is_none_or(|wanted| {
                source
                    .name
                    .as_ref()
                    .is_some_and(|name| name.to_lowercase() == wanted.to_lowercase())
            })
        };
        let mut sources = self.sources.iter().enumerate().filter(|(_, source)| is_meant(source));
        let found =
            sources.find_map(|(index, source)| Some((index, source, source.columns.find(name)?)));
        found.map(|(index, source, place)| match place {
            Place::Column(column) => {
                let Column { name: _, kind, affinity, is_not_null: _ } =
                    &source.columns.list[column];
                ((index, column), *kind, *affinity)
            }
            Place::Rowid => ((index, source.columns.list.len()), Kind::INT, Affinity::Numeric),
        })
    }

    pub(super) fn alias(&self, name: &str) -> Option<usize> {
        let lower = name.to_lowercase();
        self.aliases
            .iter()
            .position(|(alias, _)| alias.to_lowercase() == lower)
            .filter(|_| self.sees_aliases)
    }

    /// The columns that `*` stands for, or `name.*`.
    pub(super) fn all(&self, qualifier: Option<&str>) -> Vec<(Id, Column)> {
        let is_meant = |name: &Option<String>| {
            qualifier.is_none_or(|wanted| {
                name.as_ref().is_some_and(|name| name.to_lowercase() == wanted.to_lowercase())
            })
        };
        let sources = self.sources.iter().enumerate().filter(|(_, source)| is_meant(&source.name));
        let columns = sources.flat_map(|(index, source)| {
            let left = source.columns.list.iter().enumerate();
            let left = left
                .filter(move |(column, _)| qualifier.is_some() || !source.merged.contains(column));
            left.map(move |(column, found)| ((index, column), found.clone()))
        });
        columns.take(super::COLUMNS + 1).collect()
    }
}

/// The name without a qualifier, or with one.
pub(super) fn parts_of(idents: &[Ident]) -> Option<(Option<&str>, &str)> {
    match idents {
        [name] => Some((None, &name.value)),
        [source, name] => Some((Some(&source.value), &name.value)),
        _ => None,
    }
}
