//! The way of a query to an engine: finished tasks are spliced in, the text is bounded, and an
//! engine without an authorizer of its own gets only what the allow-lists admit, as it was written
//! again.

use syrch_core::ports::{Facts, SqlQuery};
use syrch_core::{Catalog, Dialect, SqlError};

use crate::admission::rewrite;
use crate::{Admitted, Bounds, Granted, Spliced, Unresolved, admit, facts, prelex, splice};

/// The guard of the statements of one database.
#[derive(Debug, Clone)]
pub struct Guard {
    dialect: Dialect,
    bounds: Bounds,
}

impl Guard {
    /// Returns the guard of a dialect, whose statements may have so many bytes.
    #[must_use]
    pub fn new(dialect: Dialect, bytes: usize) -> Self {
        Self { dialect, bounds: Bounds { bytes, ..Bounds::default() } }
    }

    /// Makes one self-contained statement of a query, which is not admitted yet.
    ///
    /// # Errors
    /// `syntax` for a text that cannot be read, and each rule of the first, linear look at it.
    pub fn compose(&self, query: &SqlQuery) -> Result<Spliced, SqlError> {
        let text = rewrite(&query.text, &self.dialect, self.bounds.comment_depth).text;
        prelex(&text, &self.dialect, &self.bounds)?;
        // Where nothing is spliced in, positions stay those of the original.
        let text = if query.relations.is_empty() { &query.text } else { &*text };
        splice(text, &query.relations, &self.dialect, &self.bounds)
    }

    /// Makes the statement that runs of a query, for an engine without an authorizer.
    ///
    /// # Errors
    /// Those of [`compose`](Self::compose) and [`admit`], at their places in the query.
    pub fn admit(&self, query: &SqlQuery, granted: &Granted) -> Result<Admitted, SqlError> {
        let spliced = self.compose(query)?;
        admit(&spliced.text, granted, &self.bounds).map_err(|mut error| {
            error.position =
                error.position.and_then(|position| spliced.original(position as usize));
            error
        })
    }

    /// Reads the facts of a query that the engine has checked.
    ///
    /// # Errors
    /// Those of [`facts`]. The engine's verdict counts: it may understand what the guard does not.
    pub fn facts(&self, query: &SqlQuery, catalog: &Catalog) -> Result<Facts, Unresolved> {
        let text = rewrite(&query.text, &self.dialect, self.bounds.comment_depth).text;
        facts(&text, &query.relations, catalog)
    }
}

impl Admitted {
    /// Returns the facts of a statement that only the engine understands.
    #[must_use]
    pub fn into_facts(self) -> Facts {
        let Self { sql, tables, functions } = self;
        Facts { tables, functions, normalized: sql.clone(), skeleton: sql, ..Facts::default() }
    }
}

#[cfg(test)]
mod tests {
    use syrch_core::ports::Relation;
    use syrch_core::{Column, Table};

    use super::*;

    fn catalog() -> Catalog {
        let column = Column { name: "a".into(), sql_type: "integer".into(), ..Column::default() };
        let table = Table {
            schema_name: Some("public".into()),
            name: "t".into(),
            columns: vec![column],
            ..Table::default()
        };
        Catalog { database: "x".into(), dialect: Dialect::Postgres, tables: vec![table] }
    }

    #[test]
    fn what_runs_is_the_composed_statement_as_the_guard_wrote_it_again() {
        let catalog = catalog();
        let guard = Guard::new(Dialect::Postgres, 1_000);
        let granted = Granted::new(&catalog, vec!["public".into()]);
        let relation =
            Relation { name: "task".into(), sql: "SELECT a FROM t".into(), columns: Vec::new() };
        let query = SqlQuery { relations: vec![relation], ..SqlQuery::new("TABLE task") };
        let admitted = guard.admit(&query, &granted).unwrap();
        assert_eq!(admitted.tables, ["public.t"]);
        assert!(admitted.sql.starts_with("WITH"), "{}", admitted.sql);
        assert!(admitted.sql.contains("\"public\".\"t\""), "{}", admitted.sql);
        assert_eq!(guard.admit(&SqlQuery::new(&admitted.sql), &granted).unwrap(), admitted);

        // A refusal is at its place in the query, not in the composed statement.
        let query = SqlQuery { text: "SELECT * FROM task, u".into(), ..query };
        let error = guard.admit(&query, &granted).unwrap_err();
        assert_eq!((error.rule.as_deref(), error.position), (Some("granted-tables"), Some(20)));
        let long = Guard::new(Dialect::Postgres, 10);
        let error = long.admit(&query, &granted).unwrap_err();
        assert_eq!(error.rule.as_deref(), Some("statement-size"));
    }

    #[test]
    fn facts_are_those_of_forms_that_the_parser_lacks_too() {
        let guard = Guard::new(Dialect::Postgres, 1_000);
        let facts = guard.facts(&SqlQuery::new("TABLE t"), &catalog()).unwrap();
        assert_eq!(facts.tables, ["t"]);
        let admitted = Admitted {
            sql: "SELECT 1".into(),
            tables: vec!["t".into()],
            functions: vec!["f".into()],
        };
        let facts = admitted.into_facts();
        assert_eq!(
            (facts.normalized.as_str(), facts.tables, facts.functions),
            ("SELECT 1", vec!["t".to_owned()], vec!["f".to_owned()])
        );
    }
}
