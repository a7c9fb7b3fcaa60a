//! The questions about the shop, with the statements whose rows are right.

use serde::Deserialize;

/// A question about the shop with the expected statement.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Question {
    /// The id, unique among the questions.
    pub id: String,
    /// The name of the database, which is always `shop`.
    pub db: String,
    /// The engine of the statement, which is always `sqlite`.
    pub engine: String,
    /// The text of the question.
    pub question: String,
    /// An explanation of terms of the question.
    #[serde(default)]
    pub evidence: Option<String>,
    /// The statement whose rows are right.
    pub gold_sql: String,
    /// `easy`, `medium` or `hard`.
    pub difficulty: String,
    /// True if the order of the rows matters.
    pub ordered: bool,
}

/// All questions, the easy ones first.
///
/// # Errors
/// When a line is not a question.
pub fn questions() -> Result<Vec<Question>, serde_json::Error> {
    include_str!("../questions.jsonl")
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(serde_json::from_str)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rusqlite::Connection;
    use rusqlite::types::Value;

    use super::*;

    type Rows = Vec<Vec<Value>>;

    fn run(db: &Connection, sql: &str) -> Rows {
        let mut statement = db.prepare(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        let width = statement.column_count();
        let rows = statement
            .query_map([], |row| (0..width).map(|index| row.get(index)).collect())
            .unwrap();
        rows.collect::<Result<_, _>>().unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// The rows when ties of the outermost ORDER BY are broken by the output columns, one way or
    /// the other.
    fn with_ties(db: &Connection, sql: &str, direction: &str, width: usize) -> Rows {
        let breakers: String =
            (1..=width).map(|column| format!(", {column} {direction}")).collect();
        let head = sql
            .rfind(" ORDER BY ")
            .unwrap_or_else(|| panic!("{sql}: LIMIT or order without ORDER BY"));
        let sql = match sql.rfind(" LIMIT ").filter(|limit| *limit > head) {
            Some(limit) => format!("{}{breakers}{}", &sql[..limit], &sql[limit..]),
            None => format!("{sql}{breakers}"),
        };
        run(db, &sql)
    }

    fn bag(mut rows: Rows) -> Vec<String> {
        let mut rows: Vec<String> = rows.iter_mut().map(|row| format!("{row:?}")).collect();
        rows.sort();
        rows
    }

    #[test]
    fn every_gold_runs_and_has_one_right_answer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shop.sqlite");
        crate::make_shop(&path).unwrap();
        let db = Connection::open(&path).unwrap();
        let questions = questions().unwrap();
        assert!(questions.len() >= 40, "{}", questions.len());
        for Question { id, gold_sql: sql, ordered, .. } in &questions {
            let rows = run(&db, sql);
            assert!(!rows.is_empty(), "{id} has no rows");
            assert!(
                rows.iter().flatten().any(|cell| !matches!(cell, Value::Null | Value::Integer(0))),
                "{id} says nothing"
            );
            if sql.contains(" LIMIT ") || *ordered {
                let [up, down] =
                    ["ASC", "DESC"].map(|direction| with_ties(&db, sql, direction, rows[0].len()));
                assert_eq!(bag(up.clone()), bag(down.clone()), "{id}: LIMIT cuts a tie");
                assert!(!ordered || up == down, "{id}: the order has ties");
            }
        }
    }

    #[test]
    fn questions_are_well_formed() {
        let questions = questions().unwrap();
        let ids: BTreeSet<&str> = questions.iter().map(|question| question.id.as_str()).collect();
        let texts: BTreeSet<&str> =
            questions.iter().map(|question| question.question.as_str()).collect();
        assert_eq!((ids.len(), texts.len()), (questions.len(), questions.len()));
        for question in &questions {
            assert_eq!((question.db.as_str(), question.engine.as_str()), ("shop", "sqlite"));
            assert!(
                ["easy", "medium", "hard"].contains(&question.difficulty.as_str()),
                "{}",
                question.id
            );
        }
    }
}
