//! The statement of a solved example that prompts show, given as it stands for a question about
//! other things.

use std::collections::HashSet;

use serde_json::Value;
use syrch_core::ports::{Facts, SqlQuery};
use syrch_core::text::clip;
use syrch_core::{Catalog, Corpus, Doubt, DoubtKind, Hit};

use super::question::{NOT, Question, stems};

/// Letters by which two words begin that may be one: `Germany` and `German`.
const LIKE: usize = 4;
/// Bytes of an example's question that a doubt shows.
const SHOWN: usize = 120;

/// A solved example that prompts show.
#[derive(Debug, Clone)]
pub(crate) struct Solved {
    question: String,
    stems: HashSet<String>,
    sql: String,
}

impl Solved {
    /// The solved example of a hint; `None` for any other hint.
    pub(crate) fn from_hit(hit: &Hit) -> Option<Self> {
        let payload = hit.payload.as_ref().filter(|_| hit.corpus == Corpus::Examples)?;
        let payload: Value = serde_json::from_str(payload).ok()?;
        let question = payload.get("question")?.as_str()?;
        Some(Self {
            question: question.to_owned(),
            stems: stems(question).into_iter().collect(),
            sql: squeeze(payload.get("sql")?.as_str()?),
        })
    }
}

/// The doubt about a statement that is an example's. An example that asks for the same things in
/// other words is answered by the same statement.
pub(super) fn find(
    question: &Question,
    facts: &Facts,
    catalog: &Catalog,
    query: &SqlQuery,
) -> Option<Doubt> {
    let sql = squeeze(&query.text);
    let mut copied = question.examples().iter().filter(|example| example.sql == sql);
    let example = copied.next()?;
    let statement: HashSet<String> = stems(&query.text).into_iter().collect();
    let literals: HashSet<String> =
        facts.literals.iter().flat_map(|literal| stems(&literal.text)).collect();
    // What is neither of two is what the third one is.
    let is_turned = question.has_any(NOT);
    let is_same = std::iter::once(example).chain(copied).any(|example| {
        let is_left = !is_turned
            && example
                .stems
                .iter()
                .any(|stem| literals.contains(stem) && !has_like(question.stems(), stem));
        let is_new = question.stems().iter().any(|stem| {
            let is_known = has_like(&example.stems, stem) || has_like(&statement, stem);
            !is_known && (question.is_name(stem) || is_in_catalog(stem, catalog))
        });
        !(is_left || is_new)
    });
    if is_same {
        return None;
    }
    let text = format!(
        "the statement is that of the solved example `{}`, and the question asks for something \
         else",
        clip(&example.question, SHOWN)
    );
    Some(Doubt { kind: DoubtKind::CopiedExample, text })
}

/// A statement without blanks, quotes of names and its end, in lower case.
fn squeeze(sql: &str) -> String {
    let sql = sql.trim().trim_end_matches(';');
    sql.chars()
        .filter(|c| !c.is_whitespace() && !matches!(c, '"' | '`'))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Returns true if a word is among these, or one that begins as it does.
pub(super) fn has_like(words: &HashSet<String>, word: &str) -> bool {
    let begin: String = word.chars().take(LIKE).collect();
    let is_long = begin.chars().count() == LIKE && begin.chars().all(char::is_alphabetic);
    words.contains(word) || is_long && words.iter().any(|other| other.starts_with(&begin))
}

/// Returns true if a table or a column has the word in its name.
fn is_in_catalog(word: &str, catalog: &Catalog) -> bool {
    catalog.tables.iter().any(|table| {
        let names = std::iter::once(&table.name).chain(table.columns.iter().map(|one| &one.name));
        names.flat_map(|name| stems(name)).any(|own| own == word)
    })
}

#[cfg(test)]
mod tests {
    use syrch_core::ports::Literal;
    use syrch_core::{Column, Dialect, Table};

    use super::*;

    const SPAIN: &str = "SELECT COUNT(*) FROM customers WHERE country = 'Spain'";

    fn shop() -> Catalog {
        let tables = [("customers", "country"), ("orders", "total")].map(|(name, column)| Table {
            name: name.into(),
            columns: vec![Column { name: column.into(), ..Column::default() }],
            ..Table::default()
        });
        Catalog { database: "shop".into(), dialect: Dialect::Sqlite, tables: tables.into() }
    }

    /// The doubt where the example asks `solved`.
    fn doubt(asked: &str, solved: &str, example: &str, sql: &str) -> Option<String> {
        let payload = serde_json::json!({ "question": solved, "sql": example }).to_string();
        let hit = Hit {
            corpus: Corpus::Examples,
            id: "1".into(),
            path: "example 1".into(),
            table: None,
            column: None,
            snippet: None,
            payload: Some(payload),
            score: 1.0,
        };
        let literals = match sql.contains("Spain") {
            true => vec![Literal { table: None, column: None, text: "Spain".into() }],
            false => Vec::new(),
        };
        let facts = Facts { literals, ..Facts::default() };
        let question = Question::new(asked).with_examples(&[hit]);
        find(&question, &facts, &shop(), &SqlQuery::new(sql)).map(|doubt| doubt.text)
    }

    #[test]
    fn the_statement_of_an_example_answers_no_other_question() {
        let solved = "How many customers live in Spain?";
        let copy = "select count(*)\nfrom customers\nwhere \"country\" = 'Spain';";
        for asked in [
            "How many customers live in Germany?",
            "How many customers are there?",
            "What is the total of all orders of Spain?",
            "How many customers from Spain came in 2024?",
        ] {
            let found = doubt(asked, solved, SPAIN, copy);
            assert!(found.is_some_and(|text| text.contains(&format!("`{solved}`"))), "{asked}");
        }
        for asked in [
            "how many customers live in Spain",
            "What is the number of customers from Spain?",
            "Count the customers in spain.",
        ] {
            assert_eq!(doubt(asked, solved, SPAIN, copy), None, "{asked}");
        }
        // Of three countries.
        for asked in
            ["How many customers are neither german nor french?", "How many are not french?"]
        {
            assert_eq!(doubt(asked, solved, SPAIN, copy), None, "{asked}");
        }
        let other = "SELECT COUNT(*) FROM customers WHERE country <> 'Spain'";
        assert_eq!(doubt("How many customers live in Germany?", solved, SPAIN, other), None);
        let all = "SELECT COUNT(*) FROM customers";
        let solved = "How many customers are there?";
        assert_eq!(doubt("What is the number of customers?", solved, all, all), None);
        assert!(doubt("How many orders are there?", solved, all, all).is_some());
        assert!(doubt("How many customers came in 2024?", solved, all, all).is_some());
    }
}
