//! The results of strategies on recorded answers, computed from the files alone, with a reader, an
//! order, an execution and counts of its own.
//!
//! The host's figures are compared with these. Nothing here uses the host's code, so that a mistake
//! of it cannot hide in both.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// A way to sample: statements are drawn one after another, until enough of them agree or none is
/// left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampler {
    /// The name of the strategy.
    pub name: &'static str,
    /// The most statements that are drawn.
    pub samples: u32,
    /// The number of equal results with rows that ends the drawing; 0 draws all.
    pub agree: u32,
    /// True if the statement after a failed one is a repair.
    pub repair: bool,
}

/// The strategies that the figures are about.
pub const SAMPLERS: [Sampler; 5] = [
    Sampler { name: "single", samples: 1, agree: 0, repair: false },
    Sampler { name: "retry3", samples: 3, agree: 1, repair: true },
    Sampler { name: "vote5", samples: 5, agree: 0, repair: false },
    Sampler { name: "gate2of5", samples: 5, agree: 2, repair: false },
    Sampler { name: "gate3of9", samples: 9, agree: 3, repair: false },
];

/// The result of running an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Execution {
    /// The statement did not run.
    Failed,
    /// The statement has no rows.
    Empty,
    /// The digest of the statement's rows as a multiset. Columns count in their order and not by
    /// their names, and 2.0 equals 2.
    Rows([u8; 32]),
}

/// The answer of one system.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The name of the recorded system.
    pub system: String,
    /// The statement that the system wrote.
    pub sql: String,
    /// True if it was graded right (`ex`).
    pub is_right: bool,
    /// The result of running the statement.
    pub outcome: Execution,
}

/// A question with its answers.
#[derive(Debug, Clone)]
pub struct Question {
    /// The id of the question in the recording.
    pub id: String,
    /// The stem of the database's file name.
    pub database: String,
    /// The text of the question.
    pub question: String,
    /// The expected statement.
    pub gold: String,
    /// The answers, sorted by the systems' names.
    pub answers: Vec<Answer>,
}

/// The result of a sampler on one question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken<'a> {
    /// The answer that is taken; `None` when no statement ran.
    pub answer: Option<&'a Answer>,
    /// The number of statements that were drawn.
    pub calls: u32,
}

impl PartialEq for Answer {
    fn eq(&self, other: &Self) -> bool {
        (&self.system, &self.sql) == (&other.system, &other.sql)
    }
}

impl Eq for Answer {}

impl Question {
    /// The answers in their order under a seed: by the SHA-256 of `SEED/ID/SYSTEM`.
    #[must_use]
    pub fn order(&self, seed: u64) -> Vec<&Answer> {
        let mut order: Vec<&Answer> = self.answers.iter().collect();
        order.sort_by_key(|answer| {
            Sha256::digest(format!("{seed}/{}/{}", self.id, answer.system)).to_vec()
        });
        order
    }

    /// Returns true if a recorded statement was graded right; `None` when it was not recorded. The
    /// semicolon after a statement is no part of it. `meaning` gives a recorded statement as a
    /// search reads it, where it reads it in another way than it is written.
    #[must_use]
    pub fn is_right(&self, sql: &str, meaning: impl Fn(&str) -> Option<String>) -> Option<bool> {
        let answer = self.answers.iter().find(|answer| {
            let meant = meaning(&answer.sql);
            without_end(meant.as_deref().unwrap_or(&answer.sql)) == without_end(sql)
        });
        answer.map(|answer| answer.is_right)
    }
}

/// A statement without the semicolon and the space after it.
fn without_end(sql: &str) -> &str {
    sql.trim().trim_end_matches(';').trim_end()
}

impl Sampler {
    /// Draws in that order. Results with rows vote, and of equally many the earlier one wins;
    /// without any, the first result without rows is taken.
    #[must_use]
    pub fn take<'a>(&self, order: &[&'a Answer]) -> Taken<'a> {
        let mut groups: Vec<(&Execution, u32, &'a Answer)> = Vec::new();
        let mut empty = None;
        let mut calls = 0;
        for answer in order.iter().copied().take(self.samples as usize) {
            calls += 1;
            match &answer.outcome {
                Execution::Failed => {}
                Execution::Empty => empty = empty.or(Some(answer)),
                rows => match groups.iter_mut().find(|(known, ..)| *known == rows) {
                    Some((_, votes, _)) => *votes += 1,
                    None => groups.push((rows, 1, answer)),
                },
            }
            if self.agree > 0 && groups.iter().any(|(_, votes, _)| *votes >= self.agree) {
                break;
            }
        }
        let most = groups.iter().map(|(_, votes, _)| *votes).max();
        let first =
            groups.iter().find(|(_, votes, _)| Some(*votes) == most).map(|(.., answer)| *answer);
        Taken { answer: first.or(empty), calls }
    }
}

/// Reads `questions.jsonl` and `recorded.jsonl` of a folder and runs every answer on its database
/// in `db`.
///
/// # Panics
/// When a file is missing or is not what it should be.
#[must_use]
pub fn questions(folder: &Path) -> Vec<Question> {
    #[derive(Deserialize)]
    struct Recorded {
        id: String,
        candidates: BTreeMap<String, Candidate>,
    }
    #[derive(Deserialize)]
    struct Candidate {
        sql: String,
        ex: u8,
    }
    let read = |name: &str| {
        let path = folder.join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let asked = read("questions.jsonl");
    let answered = read("recorded.jsonl");
    let recorded =
        answered.lines().map(|line| serde_json::from_str(line).expect("recorded answers"));
    let mut answers: BTreeMap<String, _> =
        recorded.map(|Recorded { id, candidates }| (id, candidates)).collect();
    let mut databases: BTreeMap<String, Connection> = BTreeMap::new();
    asked
        .lines()
        .map(|line: &str| {
            let value: Value = serde_json::from_str(line).expect("a question");
            let field = |name: &str| value[name].as_str().expect("a text").to_owned();
            let id = field("id");
            let database = field("db");
            let connection = &*databases.entry(database.clone()).or_insert_with(|| {
                let path = folder.join("db").join(format!("{database}.sqlite"));
                let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
                Connection::open_with_flags(path, flags).expect("a database")
            });
            let answers = answers
                .remove(&id)
                .unwrap_or_default()
                .into_iter()
                .map(|(system, Candidate { sql, ex }): (String, Candidate)| {
                    let outcome = run(connection, &sql).unwrap_or(Execution::Failed);
                    Answer { system, sql, is_right: ex == 1, outcome }
                })
                .collect();
            Question { id, database, question: field("question"), gold: field("gold_sql"), answers }
        })
        .collect()
}

fn run(connection: &Connection, sql: &str) -> rusqlite::Result<Execution> {
    let mut statement = connection.prepare(sql)?;
    let width = statement.column_count();
    let mut rows = statement.query([])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let cells: rusqlite::Result<Vec<String>> =
            (0..width).map(|at| row.get_ref(at).map(cell)).collect();
        all.push(cells?);
    }
    if all.is_empty() {
        return Ok(Execution::Empty);
    }
    all.sort();
    Ok(Execution::Rows(Sha256::digest(serde_json::to_vec(&all).unwrap_or_default()).into()))
}

/// A cell as text that is equal for equal cells.
fn cell(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "null".to_owned(),
        ValueRef::Integer(number) => format!("n{number}"),
        // Whole numbers that a double represents exactly.
        ValueRef::Real(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
            format!("n{number:.0}")
        }
        ValueRef::Real(number) => format!("r{number:e}"),
        ValueRef::Text(text) => format!("t{}", String::from_utf8_lossy(text)),
        ValueRef::Blob(bytes) => format!("b{bytes:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(rows: &[u8]) -> Vec<Answer> {
        fn outcome(rows: u8) -> Execution {
            match rows {
                0 => Execution::Failed,
                1 => Execution::Empty,
                more => Execution::Rows([more; 32]),
            }
        }
        rows.iter()
            .enumerate()
            .map(|(at, rows): (usize, &u8)| Answer {
                system: at.to_string(),
                sql: String::new(),
                is_right: false,
                outcome: outcome(*rows),
            })
            .collect()
    }

    /// The position of the answer that is taken, and the number of calls.
    fn take_in_order(name: &str, rows: &[u8]) -> (Option<usize>, u32) {
        let answers = answers(rows);
        let order: Vec<&Answer> = answers.iter().collect();
        let taken = SAMPLERS.iter().find(|sampler| sampler.name == name).unwrap().take(&order);
        (taken.answer.map(|answer| answer.system.parse().unwrap()), taken.calls)
    }

    #[test]
    fn samplers_stop_where_they_should() {
        assert_eq!(take_in_order("single", &[0, 2]), (None, 1));
        assert_eq!(take_in_order("retry3", &[0, 1, 2, 3]), (Some(2), 3));
        assert_eq!(take_in_order("retry3", &[0, 1, 0, 3]), (Some(1), 3));
        assert_eq!(take_in_order("vote5", &[2, 3, 3, 2, 4, 4, 4]), (Some(0), 5));
        assert_eq!(take_in_order("gate2of5", &[2, 1, 1, 3, 3]), (Some(3), 5));
        assert_eq!(take_in_order("gate2of5", &[2, 3, 2, 3]), (Some(0), 3));
        assert_eq!(take_in_order("gate3of9", &[2, 2, 0, 3, 2, 3]), (Some(0), 5));
    }

    #[test]
    fn cells_are_equal_by_value() {
        assert_eq!(cell(ValueRef::Real(-2.0)), cell(ValueRef::Integer(-2)));
        let distinct = [
            ValueRef::Real(0.5),
            ValueRef::Text(b"0.5"),
            ValueRef::Blob(b"0.5"),
            ValueRef::Null,
            ValueRef::Integer(0),
        ];
        let mut texts = distinct.map(cell).to_vec();
        texts.sort();
        texts.dedup();
        assert_eq!(texts.len(), distinct.len());
    }
}
