//! The constants of statements, and the cells that are like them.

use std::collections::{BTreeSet, HashMap};

use rusqlite::types::Value;
use syrch_core::Dialect;
use syrch_guard::{Kind, lex};

/// Patterns shorter than this, without their wildcards, fit too many cells to be retained.
const PATTERN: usize = 3;

/// The constants of statements, for [`crate::VariantConfig::keep`]: strings without their quotes,
/// numbers, and quoted names, which SQLite takes for strings where no column has the name. Sorted,
/// each once. A text that cannot be lexed has none.
#[must_use]
pub fn literals<'a>(statements: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut found = BTreeSet::new();
    for sql in statements {
        for token in lex(sql, &Dialect::Sqlite, usize::MAX).unwrap_or_default() {
            let text = token.text(sql);
            let constant = match token.kind {
                Kind::Number => Some(text.to_owned()),
                Kind::Text => {
                    text.get(1..text.len().saturating_sub(1)).map(|inner| inner.replace("''", "'"))
                }
                Kind::Quoted => token.name(sql),
                _ => None,
            };
            found.extend(constant.filter(|constant| !constant.trim().is_empty()));
        }
    }
    found.into_iter().collect()
}

/// The constants whose cells are retained.
pub(crate) struct RetainedLiterals {
    /// Whole contents, in lower case, with their numbers.
    whole: HashMap<String, usize>,
    /// Parts, in lower case, with their numbers.
    parts: Vec<(String, usize)>,
    numbers: Vec<f64>,
}

impl RetainedLiterals {
    pub(crate) fn new(constants: &[String]) -> Self {
        let mut whole = HashMap::new();
        let mut parts = Vec::new();
        let mut numbers = Vec::new();
        for (number, constant) in constants.iter().enumerate() {
            let lower = constant.to_lowercase();
            let part = lower.trim_matches(['%', '_']);
            if part.len() < lower.len() && part.len() >= PATTERN {
                parts.push((part.to_owned(), number));
            }
            // 1.0 and 1 are the same number, and so are their cells.
            let value = lower.parse::<f64>().ok().filter(|value| value.is_finite());
            numbers.extend(value);
            whole.insert(value.map_or(lower, number_text), number);
        }
        Self { whole, parts, numbers }
    }

    /// The constants that are numbers.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = f64> + '_ {
        self.numbers.iter().copied()
    }

    /// The numbers of the constants that a cell is like.
    pub(crate) fn find_matches(&self, cell: &Value) -> Vec<usize> {
        if self.whole.is_empty() {
            return Vec::new();
        }
        let text = match cell {
            Value::Integer(value) => value.to_string(),
            Value::Real(value) => number_text(*value),
            Value::Text(text) => text.to_lowercase(),
            Value::Null | Value::Blob(_) => return Vec::new(),
        };
        let parts = self
            .parts
            .iter()
            .filter(|(part, _)| text.contains(part.as_str()))
            .map(|(_, number)| *number);
        self.whole.get(&text).copied().into_iter().chain(parts).collect()
    }

    pub(crate) fn holds(&self, cell: &Value) -> bool {
        !self.find_matches(cell).is_empty()
    }
}

/// A number as text; whole ones without a point.
pub(crate) fn number_text(value: f64) -> String {
    format!("{value}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_found() {
        let sql =
            r#"SELECT a, 7 FROM t WHERE b = 'O''Hara' AND c LIKE '%Hey%' AND d = "Aruba" -- 'no'"#;
        assert_eq!(
            literals([sql, "SELECT 7.5 FROM t WHERE b = ''"]),
            ["%Hey%", "7", "7.5", "Aruba", "O'Hara"]
        );
        assert!(literals(["SELECT 'unfinished"]).is_empty());
    }

    #[test]
    fn cells_are_like_constants() {
        let retained = RetainedLiterals::new(&[
            "%Hey%".to_owned(),
            "7.0".to_owned(),
            "Aruba".to_owned(),
            "%a%".to_owned(),
        ]);
        assert_eq!(retained.find_matches(&Value::Text("oh, hey you".to_owned())), [0]);
        assert_eq!(
            (retained.find_matches(&Value::Integer(7)), retained.find_matches(&Value::Real(7.0))),
            (vec![1], vec![1])
        );
        assert_eq!(retained.find_matches(&Value::Text("ARUBA".to_owned())), [2]);
        assert!(!retained.holds(&Value::Text("a".to_owned())) && !retained.holds(&Value::Null));
    }
}
