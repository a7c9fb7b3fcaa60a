//! The names in scope at one place of a statement.

use std::collections::HashSet;

/// A column of the catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) table: String,
    pub(super) column: String,
    /// The conditions that its rows have met, over plain columns of the table.
    pub(super) filter: Option<String>,
    /// The conditions that do not name the column.
    pub(super) beside: Option<String>,
}

/// A column of something that stands in FROM; `name` is `None` for a computed column that nothing
/// names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Output {
    pub(super) name: Option<String>,
    pub(super) origin: Option<Origin>,
    /// True if it is a count or a sum of whole numbers.
    pub(super) is_whole: bool,
}

impl Output {
    pub(super) fn with_name(name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), origin: None, is_whole: false }
    }

    pub(super) fn is(&self, name: &str) -> bool {
        self.name.as_ref().is_some_and(|own| same(own, name))
    }
}

/// The columns, or `None` if they are not known.
pub(super) type Columns = Option<Vec<Output>>;

/// Something that stands in FROM.
#[derive(Debug, Clone)]
pub(super) struct Source {
    /// The name that qualifies its columns.
    pub(super) name: Option<String>,
    /// The schema that may stand before that name: that of a table of the catalog without an alias.
    pub(super) schema: Option<String>,
    pub(super) columns: Columns,
}

/// The names of one SELECT.
#[derive(Debug, Default)]
pub(super) struct Scope {
    pub(super) sources: Vec<Source>,
    /// Names given in the list of results.
    pub(super) aliases: HashSet<String>,
    /// Columns that joins merge, lower case.
    pub(super) merged: HashSet<String>,
    /// True if a NATURAL join merges columns.
    pub(super) natural: bool,
    /// True if it may hold names that are not known here.
    pub(super) open: bool,
}

/// The result of looking up a name.
pub(super) enum Found {
    /// Exactly one column, with its origin where that is a column of the catalog.
    Column(Option<Origin>),
    /// Several columns, by their qualified names, so the name is ambiguous.
    Many(Vec<String>),
    /// Possibly a column: an alias, or a column of a source whose columns are not known.
    Perhaps,
    /// No column or alias.
    Nothing,
}

impl Scope {
    /// Looks up a name without qualifier.
    pub(super) fn find(&self, name: &str) -> Found {
        let hits: Vec<(&Source, &Output)> = self
            .sources
            .iter()
            .filter_map(|source| {
                let column = source.columns.as_ref()?.iter().find(|column| column.is(name))?;
                Some((source, column))
            })
            .collect();
        let merged = self.natural || self.open || self.merged.contains(&name.to_lowercase());
        match hits.as_slice() {
            [] if self.is_uncertain() || self.has_alias(name) || self.source(name).is_some() => {
                Found::Perhaps
            }
            [] => Found::Nothing,
            [_, _, ..] if !merged && !self.has_alias(name) => Found::Many(
                hits.iter().map(|(source, _)| self.display_column(source, name)).collect(),
            ),
            [(_, column), ..] => Found::Column(column.origin.clone()),
        }
    }

    pub(super) fn source(&self, name: &str) -> Option<&Source> {
        self.sources.iter().find(|source| source.name.as_ref().is_some_and(|own| same(own, name)))
    }

    /// The source that the names before a column mean: a table's name, with its schema where that
    /// stands before it.
    pub(super) fn source_of(&self, schema: Option<&str>, name: &str) -> Option<&Source> {
        self.sources
            .iter()
            .find(|source: &&Source| {
                source.name.as_ref().is_some_and(|own| same(own, name))
                    && source
                        .schema
                        .as_deref()
                        .zip(schema)
                        .is_some_and(|(own, schema)| same(own, schema))
            })
            .or_else(|| self.source(name))
    }

    /// A column with what must stand before it, the schema too where two sources have one name.
    fn display_column(&self, source: &Source, column: &str) -> String {
        let Some(name) = &source.name else {
            return column.to_owned();
        };
        match &source.schema {
            Some(schema)
                if self
                    .sources
                    .iter()
                    .filter(|other: &&Source| {
                        other.name.as_ref().is_some_and(|other| same(other, name))
                    })
                    .count()
                    > 1 =>
            {
                format!("{schema}.{name}.{column}")
            }
            _ => format!("{name}.{column}"),
        }
    }

    pub(super) fn is_uncertain(&self) -> bool {
        self.open || self.sources.iter().any(|source| source.columns.is_none())
    }

    fn has_alias(&self, name: &str) -> bool {
        self.aliases.contains(&name.to_lowercase())
    }

    /// Returns all names of its columns.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.sources
            .iter()
            .filter_map(|source| source.columns.as_deref())
            .flatten()
            .filter_map(|column| column.name.as_deref())
    }
}

/// Returns true if two names are the same, letter case aside.
pub(super) fn same(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b) || (!a.is_ascii() && a.to_lowercase() == b.to_lowercase())
}
