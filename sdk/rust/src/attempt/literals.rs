//! Texts of a statement that their columns lack, looked up after a result that says nothing.

use crate::prelude::*;
use crate::text::line;

/// Texts of one statement that are looked up.
const TEXTS: usize = 8;
/// Cells that are read for one text. A common one may stand in as many other columns.
const CELLS: u32 = 200;
/// Nearest values that are named, and the least likeness of one that shares groups of letters.
const NEAREST: usize = 3;
const LIKE: f64 = 0.3;
/// Characters of a text or a value that are named.
const SHOWN: usize = 80;

/// A text that its column lacks.
struct Missing<'f> {
    literal: &'f Literal,
    nearest: Vec<String>,
}

/// The findings of the index of values about the texts of a statement whose result is empty, or one
/// row of zeros and NULL.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Absent {
    /// A sentence for each text that its column lacks while it has similar ones, which the
    /// statement may mean.
    pub(super) misspelled: Vec<String>,
    /// A sentence for each text that nothing in its column is like.
    pub(super) unlike: Vec<String>,
    /// The texts of `misspelled`, in backticks.
    named: Vec<String>,
}

impl Absent {
    /// Returns true if a warning of the host says no more than that columns lack the texts of
    /// `misspelled`, which name the nearest as well.
    pub(super) fn has_said(&self, warning: &str) -> bool {
        absent_texts(warning).is_some_and(|texts| {
            texts.split(", ").all(|text| self.named.iter().any(|named| named == text))
        })
    }
}

/// The texts, in backticks, of a warning of the host that a column lacks them.
fn absent_texts(warning: &str) -> Option<&str> {
    let (_, rest) = warning.split_once(" has no value ")?;
    rest.split_once(", and the result").map(|(texts, _)| texts)
}

/// Finds the texts that their columns lack. Without the grant of cells nothing is found.
pub(super) fn find_absent(
    host: &(impl Rows + Cells),
    facts: &Facts,
    results: &ResultSet,
    profile: &Profile,
) -> Absent {
    let literals = comparable(facts);
    if literals.is_empty() || !is_void(host, results, profile) {
        return Absent::default();
    }
    let mut absent = Absent::default();
    for Missing { literal, nearest } in find_missing(host, facts, &literals) {
        let place = place(literal);
        let text = line(&literal.text, SHOWN);
        if nearest.is_empty() {
            // The host has read the column, and the grant may hide its cells behind those of
            // others.
            if profile.warnings.iter().any(|warning| {
                let is_about =
                    warning.contains("further spelling") || absent_texts(warning).is_some();
                is_about && warning.contains(&format!("`{text}`"))
            }) {
                continue;
            }
            absent.unlike.push(format!("{place} has no known value like `{text}`"));
        } else {
            let named: Vec<String> = nearest
                .iter()
                .take(NEAREST)
                .map(|value| format!("`{}`", line(value, SHOWN)))
                .collect();
            absent.misspelled.push(format!(
                "{place} has no known value `{text}`; the nearest: {}",
                named.join(", ")
            ));
            absent.named.push(format!("`{text}`"));
        }
    }
    absent
}

/// Texts that are compared with a column, each once. Numbers and dates may well be compared without
/// being there, and patterns are no values.
fn comparable(facts: &Facts) -> Vec<&Literal> {
    let mut literals: Vec<&Literal> = Vec::new();
    for literal in &facts.literals {
        let is_text = literal.text.chars().any(char::is_alphabetic) && !literal.text.contains('%');
        let is_known =
            |known: &&&Literal| place(known) == place(literal) && known.text == literal.text;
        if is_text
            && literal.table.is_some()
            && literal.column.is_some()
            && !literals.iter().any(|k| is_known(&k))
        {
            literals.push(literal);
        }
    }
    literals.truncate(TEXTS);
    literals
}

fn place(literal: &Literal) -> String {
    let [table, column] =
        [&literal.table, &literal.column].map(|name| line(name.as_deref().unwrap_or_default(), 80));
    format!("{table}.{column}")
}

/// Returns true if the result is void: without rows, or with only zeros and NULL, as far as its
/// rows may be read.
fn is_void(host: &impl Rows, results: &ResultSet, profile: &Profile) -> bool {
    match profile.rows {
        0 => true,
        1 => host.read(results, 0, 1).is_ok_and(|page| {
            page.rows.iter().flatten().all(|value: &Value| match value {
                Value::Null | Value::Integer(0) => true,
                Value::Real(number) => *number == 0.0,
                Value::Decimal(text) => text.parse() == Ok(0.0),
                _ => false,
            })
        }),
        _ => false,
    }
}

fn find_missing<'f>(
    host: &impl Cells,
    facts: &Facts,
    literals: &[&'f Literal],
) -> Vec<Missing<'f>> {
    let any_case = facts
        .functions
        .iter()
        .any(|name| matches!(name.to_lowercase().as_str(), "lower" | "upper"));
    let mut missing = Vec::new();
    let mut unspelled: Vec<&Literal> = Vec::new();
    for (literal, hits) in literals.iter().zip(look_up(host, literals, &Match::Exact)) {
        let is_cut = hits.len() >= CELLS as usize;
        let spellings: Vec<String> = values(literal, &hits, 0.0)
            .into_iter()
            .filter(|value: &String| {
                value.trim().to_lowercase() == literal.text.trim().to_lowercase()
            })
            .collect();
        if spellings.iter().any(|value| any_case || *value == literal.text) {
            continue;
        }
        match spellings.is_empty() {
            // The column may have it behind the last cell that was read.
            true if is_cut => {}
            true => unspelled.push(literal),
            false => missing.push(Missing { literal, nearest: spellings }),
        }
    }
    for (literal, hits) in unspelled.iter().zip(look_up(host, &unspelled, &Match::Ngram)) {
        missing.push(Missing { literal, nearest: values(literal, &hits, LIKE) });
    }
    missing
}

/// The cells that match each text; none after an error, which means that nothing is known of them.
fn look_up(host: &impl Cells, literals: &[&Literal], how: &Match) -> Vec<Vec<Hit>> {
    if literals.is_empty() {
        return Vec::new();
    }
    let texts: Vec<String> =
        literals.iter().map(|literal| literal.text.trim().to_owned()).collect();
    host.find(&texts, how, CELLS).unwrap_or_default()
}

/// The values of the text's own column among these cells, best first.
fn values(literal: &Literal, hits: &[Hit], least: f64) -> Vec<String> {
    hits.iter()
        .filter(|hit: &&Hit| {
            hit.score >= least
                && hit.column.as_deref().is_some_and(|name: &str| {
                    literal.column.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(name))
                })
                && hit.table.as_deref().is_some_and(|name: &str| {
                    literal.table.as_deref().is_some_and(|own| is_same(own, name))
                })
        })
        .filter_map(|hit| hit.snippet.clone())
        .collect()
}

/// Returns true if two names are those of one table; either may be without its schema.
fn is_same(one: &str, other: &str) -> bool {
    fn last_part(name: &str) -> String {
        name.rsplit('.').next().unwrap_or(name).to_lowercase()
    }
    one.eq_ignore_ascii_case(other)
        || ((one.contains('.') != other.contains('.')) && last_part(one) == last_part(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fakes::{FakeHost, FakeRows, facts};

    fn cell(path: &str, text: &str, score: f64) -> Hit {
        let (table, column) = path.rsplit_once('.').unwrap();
        Hit {
            corpus: Corpus::Cells,
            id: path.into(),
            path: path.into(),
            table: Some(table.into()),
            column: Some(column.into()),
            snippet: Some(text.into()),
            payload: None,
            score,
        }
    }

    fn with(texts: &[(&str, &str)]) -> Facts {
        Facts {
            literals: texts
                .iter()
                .map(|(path, text): &(&str, &str)| {
                    let (table, column) = path.rsplit_once('.').unwrap();
                    Literal {
                        table: Some(table.into()),
                        column: Some(column.into()),
                        text: (*text).into(),
                    }
                })
                .collect(),
            ..facts("SELECT 1", &[])
        }
    }

    fn host() -> FakeHost {
        let mut host = FakeHost::default();
        let known: [(&str, &[Hit]); 4] = [
            ("GERMANY", &[cell("customers.country", "Germany", 1.0)]),
            (
                "Germany",
                &[
                    cell("customers.country", "Germany", 1.0),
                    cell("customers.name", "Germany", 1.0),
                ],
            ),
            (
                "Germani",
                &[
                    cell("customers.country", "Germany", 0.6),
                    cell("customers.country", "Oman", 0.1),
                ],
            ),
            ("Vienna", &[cell("shops.city", "Vienna", 1.0)]),
        ];
        host.database.hits.extend(known.map(|(text, hits)| (text.to_owned(), hits.to_vec())));
        host
    }

    fn find_absent_in(host: &FakeHost, facts: &Facts, rows: Vec<Vec<Value>>) -> Absent {
        let results = FakeRows::new(&["n"], rows).handle();
        find_absent(host, facts, &results, &results.profile())
    }

    #[test]
    fn a_text_that_its_column_lacks_is_named_with_the_nearest() {
        fn nearest(text: &str) -> (String, String) {
            let absent =
                find_absent_in(&host(), &with(&[("main.customers.country", text)]), Vec::new());
            (absent.misspelled.concat(), absent.unlike.concat())
        }
        fn name(text: &str) -> String {
            format!("main.customers.country has no known value `{text}`; the nearest: `Germany`")
        }
        assert_eq!(nearest("GERMANY"), (name("GERMANY"), String::new()));
        assert_eq!(nearest("Germani"), (name("Germani"), String::new()));
        assert_eq!(nearest("Germany"), Default::default());
        // Another column's value is none of its own.
        assert_eq!(nearest("Vienna").1, "main.customers.country has no known value like `Vienna`");
        for text in ["2024", "2024-05-01", "%GERMANY%"] {
            assert_eq!(nearest(text), Default::default(), "{text}");
        }
    }

    #[test]
    fn a_text_of_which_the_host_has_read_spellings_is_not_unlike_all() {
        let facts = with(&[("customers.city", "VIENNA")]);
        let said = |warnings: &[&str]| {
            let rows = FakeRows::new(&["n"], Vec::new());
            let rows = warnings.iter().fold(rows, |rows, warning| rows.with_warning(warning));
            let results = rows.handle();
            find_absent(&host(), &facts, &results, &results.profile())
        };
        assert_eq!(said(&["no rows"]).unlike.len(), 1);
        let warning =
            "1 further spelling of `VIENNA` in city, taken for another value: `Vienna` (9)";
        assert_eq!(said(&[warning]), Absent::default());
        let warning = "customers.city has no value `VIENNA`, and the result is 0 or has no rows";
        assert_eq!(said(&[warning]), Absent::default());
    }

    #[test]
    fn what_the_host_says_of_a_text_is_not_said_twice() {
        let facts = with(&[("customers.country", "GERMANY"), ("customers.country", "Germani")]);
        let absent = find_absent_in(&host(), &facts, Vec::new());
        for (texts, is_said) in [
            ("`GERMANY`", true),
            ("`GERMANY`, `Germani`", true),
            ("`GERMANY`, `Vienna`", false),
            ("`GER", false),
        ] {
            let warning = format!(
                "customers.country has no value {texts}, and the result is 0 or has no rows"
            );
            assert_eq!(absent.has_said(&warning), is_said, "{warning}");
        }
        assert!(!absent.has_said("`GERMANY` stands in no column"));
    }

    #[test]
    fn only_a_result_that_says_nothing_is_looked_at() {
        let facts = with(&[("customers.country", "GERMANY")]);
        let is_found =
            |rows: Vec<Vec<Value>>| find_absent_in(&host(), &facts, rows).misspelled.len() == 1;
        assert!(is_found(Vec::new()));
        for value in
            [Value::Integer(0), Value::Null, Value::Real(0.0), Value::Decimal("0.00".into())]
        {
            assert!(is_found(vec![vec![value]]));
        }
        assert!(!is_found(vec![vec![Value::Integer(3)]]));
        assert!(!is_found(vec![vec![Value::Integer(0)], vec![Value::Integer(0)]]));
    }

    #[test]
    fn a_statement_that_changes_letter_case_is_held_to_none() {
        let facts =
            Facts { functions: vec!["LOWER".into()], ..with(&[("customers.country", "GERMANY")]) };
        assert_eq!(find_absent_in(&host(), &facts, Vec::new()), Absent::default());
    }

    #[test]
    fn without_the_grant_of_cells_nothing_is_said() {
        let mut host = host();
        host.database.granted_rows = None;
        assert_eq!(
            find_absent_in(&host, &with(&[("customers.country", "GERMANY")]), Vec::new()),
            Absent::default()
        );
    }
}
