//! Writes semantics files: scalars of YAML, names in SQL, and names that can be read back.

use std::collections::HashMap;

use sqlparser::keywords::ALL_KEYWORDS;
use syrch_core::text::escape::is_dangerous;

use crate::read::{is_plain_column, stems};

/// The limit on the length of a name that is made, in characters, which leaves room for a number.
const NAME: usize = 100;

/// The words that YAML, or an older version of it, reads as something else than a text.
const NO_TEXT: &[&str] =
    &["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"];

/// A text as a scalar of YAML: plain where every reader agrees, else in double quotes.
pub(crate) fn scalar(text: &str) -> String {
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && !text.ends_with(' ')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_ ()*./+-".contains(c))
        && !NO_TEXT.contains(&text.to_ascii_lowercase().as_str());
    // JSON's strings are YAML's in double quotes.
    if is_plain { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

/// Texts as a scalar, or as a list if there are several.
pub(crate) fn scalars<T: AsRef<str>>(texts: &[T]) -> String {
    match texts {
        [text] => scalar(text.as_ref()),
        texts => {
            let texts: Vec<String> = texts.iter().map(|text| scalar(text.as_ref())).collect();
            format!("[{}]", texts.join(", "))
        }
    }
}

/// A name in an expression: in double quotes unless it is a word that is no keyword.
pub(crate) fn sql_name(name: &str) -> String {
    let is_word = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let is_keyword = ALL_KEYWORDS.contains(&name.to_ascii_uppercase().as_str());
    if is_word && !is_keyword {
        name.to_owned()
    } else {
        format!("\"{}\"", name.replace('"', "\"\""))
    }
}

/// A column alone, in an expression over its own table: in double quotes unless it reads as a
/// column without them.
pub(crate) fn sql_own_column(column: &str) -> String {
    if is_plain_column(column) {
        column.to_owned()
    } else {
        format!("\"{}\"", column.replace('"', "\"\""))
    }
}

/// A column in an expression. After its table a keyword is a name.
pub(crate) fn sql_column(table: &str, column: &str) -> String {
    let is_word = column.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && column.starts_with(|c: char| c.is_ascii_alphabetic());
    match is_word {
        true => format!("{}.{column}", sql_name(table)),
        false => format!("{}.\"{}\"", sql_name(table), column.replace('"', "\"\"")),
    }
}

/// Returns true if the reader takes a text of one line as it is.
pub(crate) fn is_writable(text: &str) -> bool {
    text.chars().count() <= 4 * NAME && !text.trim().is_empty() && !text.chars().any(is_dangerous)
}

/// Names that the reader accepts beside each other: made of what it allows, and different even
/// when compared by the stems of their words.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    /// The names by their stems.
    stems: HashMap<String, String>,
}

impl Taken {
    /// Takes the first of these names that is free, else the last with a number.
    pub(crate) fn take(&mut self, names: &[String]) -> String {
        let names: Vec<String> = names.iter().map(|name| clean(name)).collect();
        let free = names.iter().find(|name| !self.stems.contains_key(&stems(name)));
        let name = match free {
            Some(name) => name.clone(),
            None => {
                let last = names.last().map_or("x", String::as_str);
                let numbered = (2..).map(|number: u64| format!("{last} {number}"));
                let mut free = numbered.filter(|name| !self.stems.contains_key(&stems(name)));
                free.next().unwrap_or_default()
            }
        };
        self.stems.insert(stems(&name), name.clone());
        name
    }

    /// Returns whether a name is free, or taken by the very same name.
    pub(crate) fn is_free_or(&self, name: &str) -> bool {
        self.stems.get(&stems(name)).is_none_or(|taken| taken.eq_ignore_ascii_case(name))
    }

    /// Takes a name that is free, or taken by the very same name.
    pub(crate) fn add(&mut self, name: &str) {
        self.stems.insert(stems(name), name.to_owned());
    }
}

/// A name of what the reader allows in names.
pub(crate) fn clean(name: &str) -> String {
    let replaced: String = name
        .chars()
        .take(NAME)
        .map(|c| if is_dangerous(c) || ".,;:\"`=<>".contains(c) { '_' } else { c })
        .collect();
    let trimmed = replaced.trim();
    match trimmed.chars().any(char::is_alphanumeric) {
        true => trimmed.to_owned(),
        false => "unnamed".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_are_quoted_where_yaml_would_read_something_else() {
        for (text, expected) in [
            ("orders", "orders"),
            ("sum(orders.total)", "sum(orders.total)"),
            ("yes", "\"yes\""),
            ("2024", "\"2024\""),
            ("a: b", "\"a: b\""),
            ("a \"b\"", "\"a \\\"b\\\"\""),
            ("", "\"\""),
        ] {
            assert_eq!(scalar(text), expected);
        }
        assert_eq!(scalars(&["a", "b c"]), "[a, b c]");
        assert_eq!(sql_name("order"), "\"order\"");
        assert_eq!(sql_column("orders", "order"), "orders.order");
        assert_eq!(sql_column("order", "a b"), "\"order\".\"a b\"");
    }

    #[test]
    fn names_that_are_taken_get_a_number() {
        let mut taken = Taken::default();
        assert_eq!(taken.take(&["orders".into()]), "orders");
        assert_eq!(taken.take(&["order".into(), "order lines".into()]), "order lines");
        assert_eq!(taken.take(&["order".into()]), "order 2");
        assert_eq!(taken.take(&["a.b\u{1b}".into()]), "a_b_");
        assert_eq!(taken.take(&["--".into()]), "unnamed");
    }
}
