//! Kinds of values that a column is declared to have.

use syrch_core::{Dialect, Table};

/// The kind of values that the declared type of a column promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stored {
    Text,
    Number,
    /// A date, a time, or both.
    Time,
    /// Whatever was stored: a column of SQLite without a type.
    Any,
    Other,
}

impl Stored {
    /// The kind of a column's values; `None` for a column that the table lacks.
    pub(super) fn from_column(table: &Table, column: &str, dialect: &Dialect) -> Option<Self> {
        let declared = table.column(column)?.sql_type.to_uppercase();
        Some(Self::from_type(&declared, dialect.syntax().has_affinities))
    }

    fn from_type(declared: &str, has_affinities: bool) -> Self {
        fn contains_any(declared: &str, words: &[&str]) -> bool {
            words.iter().any(|word| declared.contains(word))
        }
        if has_affinities && (declared.is_empty() || contains_any(declared, &["BLOB", "ANY"])) {
            return Self::Any;
        }
        let is_made_of_others = contains_any(
            declared,
            &["[]", "ARRAY", "MAP", "STRUCT", "ROW(", "JSON", "INTERVAL", "POINT", "BOOL"],
        );
        match () {
            () if is_made_of_others => Self::Other,
            () if contains_any(declared, &["CHAR", "TEXT", "CLOB", "STRING"]) => Self::Text,
            () if contains_any(declared, &["DATE", "TIME"]) => Self::Time,
            () if contains_any(
                declared,
                &["INT", "NUM", "DEC", "REAL", "FLOA", "DOUB", "MONEY", "LONG", "SHORT"],
            ) =>
            {
                Self::Number
            }
            // SQLite converts what it can of every name that it does not know.
            () if has_affinities => Self::Number,
            () => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_types_promise_a_kind() {
        let of = |declared: &str| {
            (Stored::from_type(declared, true), Stored::from_type(declared, false))
        };
        for (declared, in_sqlite, elsewhere) in [
            ("", Stored::Any, Stored::Other),
            ("VARCHAR(20)", Stored::Text, Stored::Text),
            ("CHARACTER VARYING", Stored::Text, Stored::Text),
            ("TIMESTAMP WITHOUT TIME ZONE", Stored::Time, Stored::Time),
            ("NUMERIC(10, 2)", Stored::Number, Stored::Number),
            ("INTERVAL", Stored::Other, Stored::Other),
            ("TEXT[]", Stored::Other, Stored::Other),
            ("PUBLIC.MOOD", Stored::Number, Stored::Other),
            ("BOOLEAN", Stored::Other, Stored::Other),
        ] {
            assert_eq!(of(declared), (in_sqlite, elsewhere), "{declared}");
        }
    }
}
