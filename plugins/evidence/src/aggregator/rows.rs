//! Holds the numbers of a model's sentence to the rows of the labels beside them: what is that of
//! France is not said of Germany.

use std::collections::BTreeSet;

use syrch_plugin::prelude::*;
use syrch_plugin::prompt;

use super::sentence::{Written, exact_number};

/// Words at which a part of a sentence ends, as at a comma.
const BREAKS: &[&str] =
    &["and", "but", "followed", "or", "than", "then", "versus", "vs", "whereas", "while"];
/// The first and the last number of a column that is read as years, which are labels.
const YEARS: std::ops::RangeInclusive<i64> = 1_000..=2_999;

/// A label in a sentence: a text of a column, and the rows that have it.
struct Label {
    /// Its words in the sentence, from the first on and before the last.
    from: usize,
    until: usize,
    column: usize,
    rows: BTreeSet<usize>,
}

/// A part of a sentence without a comma, with the place of its sentence.
struct Part {
    from: usize,
    until: usize,
    sentence: usize,
}

/// Returns an error with the first number of a sentence that is in the rows, and not in one of
/// those that the labels beside it name. A number belongs to the nearest label of each column in
/// its part of the sentence, else to the last one before it, else to the first one behind it.
pub(crate) fn check_rows(sentence: &str, problem: &Problem, page: &Page) -> Result<(), String> {
    let words: Vec<&str> = sentence.split_whitespace().collect();
    let labels = find_labels(&words, page);
    if labels.is_empty() || page.rows.len() < 2 {
        return Ok(());
    }
    let parts = divide(&words, &labels);
    for part in &parts {
        for (at, word) in words.iter().enumerate().take(part.until).skip(part.from) {
            let is_label = labels.iter().any(|label| (label.from..label.until).contains(&at));
            let Some(written) = read_number(word).filter(|_| !is_label) else { continue };
            let has = find_rows(&written, page);
            let is_asked = has_word(&problem.question, trim(word));
            if has.is_empty() || is_asked || has.len() == page.rows.len() {
                continue;
            }
            let named = rows_of_labels(at, part, &parts, &labels);
            if named.is_some_and(|named| named.is_disjoint(&has)) {
                return Err(trim(word).to_owned());
            }
        }
    }
    Ok(())
}

fn trim(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

fn has_word(text: &str, word: &str) -> bool {
    text.split_whitespace().any(|known| trim(known) == word)
}

fn read_number(word: &str) -> Option<Written> {
    Written::from_text(trim(word))
}

/// The rows that have a number, which may be rounded or a share in percent.
fn find_rows(written: &Written, page: &Page) -> BTreeSet<usize> {
    let rows = page.rows.iter().enumerate().filter(|(_, row)| {
        row.iter()
            .filter_map(exact_number)
            .any(|number| written.rounds(number) || written.rounds(number * 100.0))
    });
    rows.map(|(at, _)| at).collect()
}

/// The text by which a sentence names a cell; `None` for one that is no label.
fn read_label(value: &Value, column: usize) -> Option<String> {
    match value {
        Value::Text(_) | Value::Temporal(_) => Some(prompt::cell(value)),
        Value::Integer(year) if column == 0 && YEARS.contains(year) => Some(year.to_string()),
        _ => None,
    }
}

/// The labels in a sentence, in order; of those that share words, the longest.
fn find_labels(words: &[&str], page: &Page) -> Vec<Label> {
    let plain: Vec<String> = words.iter().map(|word| plain_word(word)).collect();
    let mut found: Vec<Label> = Vec::new();
    for (row, cells) in page.rows.iter().enumerate() {
        for (column, value) in cells.iter().enumerate() {
            let Some(text) = read_label(value, column) else { continue };
            let wanted: Vec<String> = text.split_whitespace().map(plain_word).collect();
            if wanted.iter().all(String::is_empty) {
                continue;
            }
            for from in 0..plain.len() {
                if !plain[from..].starts_with(&wanted) {
                    continue;
                }
                let until = from + wanted.len();
                let same = found
                    .iter_mut()
                    .find(|label| (label.from, label.until, label.column) == (from, until, column));
                match same {
                    Some(label) => drop(label.rows.insert(row)),
                    None => {
                        found.push(Label { from, until, column, rows: BTreeSet::from([row]) });
                    }
                }
            }
        }
    }
    let spans: Vec<(usize, usize)> = found.iter().map(|label| (label.from, label.until)).collect();
    found.retain(|label| {
        !spans.iter().any(|(from, until)| {
            *from <= label.from && label.until <= *until && until - from > label.until - label.from
        })
    });
    found.sort_by_key(|label| label.from);
    found
}

/// A word as it is compared, without marks around it and the `'s` behind a name.
fn plain_word(word: &str) -> String {
    let word = trim(word);
    let word = word.strip_suffix("'s").or(word.strip_suffix("\u{2019}s")).unwrap_or(word);
    word.to_lowercase()
}

/// The parts of a text, which end at commas and such words outside of labels.
fn divide(words: &[&str], labels: &[Label]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut from = 0;
    let mut sentence = 0;
    for (at, word) in words.iter().enumerate() {
        let is_within = labels.iter().any(|label| (label.from + 1..label.until).contains(&at));
        let continues = labels.iter().any(|label| (label.from..label.until - 1).contains(&at));
        if !is_within && BREAKS.contains(&word.to_lowercase().as_str()) && at > from {
            parts.push(Part { from, until: at, sentence });
            from = at;
        }
        if !continues && word.ends_with([',', ';', ':', '.', '!', '?', ')']) {
            parts.push(Part { from, until: at + 1, sentence });
            from = at + 1;
            sentence += usize::from(word.ends_with(['.', '!', '?']));
        }
    }
    parts.push(Part { from, until: words.len(), sentence });
    parts
}

/// The rows of the labels that a number belongs to; `None` if there is no label in its sentence.
fn rows_of_labels(
    at: usize,
    part: &Part,
    parts: &[Part],
    labels: &[Label],
) -> Option<BTreeSet<usize>> {
    let same = parts.iter().filter(|other| other.sentence == part.sentence);
    let from = same.clone().map(|part| part.from).min()?;
    let until = same.map(|part| part.until).max()?;
    let own: Vec<&Label> =
        labels.iter().filter(|label| from <= label.from && label.from < until).collect();
    let columns: BTreeSet<usize> = own.iter().map(|label| label.column).collect();
    let mut rows: Option<BTreeSet<usize>> = None;
    for column in columns {
        let of_column: Vec<&Label> =
            own.iter().copied().filter(|label| label.column == column).collect();
        let nearest = of_column
            .iter()
            .filter(|label| part.from <= label.from && label.until <= part.until)
            .min_by_key(|label| label.from.abs_diff(at).min(label.until.abs_diff(at + 1)));
        let before = of_column.iter().rfind(|label| label.until <= at);
        let Some(label) = nearest.or(before) else { continue };
        rows = Some(match rows {
            Some(rows) => rows.intersection(&label.rows).copied().collect(),
            None => label.rows.clone(),
        });
    }
    let behind = own.iter().find(|label| label.from > at).map(|label| label.rows.clone());
    rows.or(behind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rows: &[(&str, &str, i64)], sentence: &str) -> Result<(), String> {
        let page = Page {
            columns: vec!["country".into(), "year".into(), "revenue".into()],
            rows: rows
                .iter()
                .map(|(country, year, revenue)| {
                    let texts = [country, year].map(|text| Value::Text((*text).into()));
                    texts.into_iter().chain([Value::Integer(*revenue)]).collect()
                })
                .collect(),
            clipped: false,
        };
        check_rows(sentence, &Problem::new("revenue by country in 2024"), &page)
    }

    const COUNTRIES: [(&str, &str, i64); 3] =
        [("France", "2024", 10), ("Germany", "2024", 20), ("Trinidad and Tobago", "2024", 30)];

    #[test]
    fn numbers_of_their_own_rows_may_be_said() {
        for sentence in [
            "France had 10, Germany 20 and Trinidad and Tobago 30.",
            "10 came from France, 20 from Germany and 30 from Trinidad and Tobago.",
            "Germany's 20 is more than France's 10.",
            "France, with 10, is behind Germany, with 20.",
            "10 is the least; it is that of France.",
            "In 2024 Germany had 20.",
            "The 3 countries had 10 or more.",
            "The least is 10. Germany is not it.",
        ] {
            assert_eq!(check(&COUNTRIES, sentence), Ok(()), "{sentence}");
        }
    }

    #[test]
    fn swapped_rows_are_seen() {
        for (sentence, number) in [
            ("France had 20, Germany 10.", "20"),
            ("France had 20 and Germany 10.", "20"),
            ("20 came from France and 10 from Germany.", "20"),
            ("France 20, Germany 30, Trinidad and Tobago 10.", "20"),
            ("France, with 20, is ahead of Germany, with 10.", "20"),
            ("Germany had 20, Trinidad and Tobago had 10.", "10"),
            ("Germany's 10 is less than France's 20.", "10"),
            ("20 is the most; it is that of France.", "20"),
        ] {
            assert_eq!(check(&COUNTRIES, sentence), Err(number.to_owned()), "{sentence}");
        }
    }

    #[test]
    fn all_labels_beside_a_number_name_its_row() {
        let rows = [("France", "2023", 10), ("France", "2024", 20), ("Germany", "2023", 40)];
        assert_eq!(check(&rows, "In 2023 France had 10 and in 2024 it had 20."), Ok(()));
        for sentence in ["In 2023, France had 20.", "France had 40 in 2023."] {
            assert!(check(&rows, sentence).is_err(), "{sentence}");
        }
    }
}
