//! JSON documents and lines. Characters that a terminal would obey are written as `\u…`, which
//! changes no value.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Map, Value};
use syrch_core::text::escape::is_dangerous;

use super::Grid;

/// One document over several lines.
#[must_use]
pub fn document(value: &Value) -> String {
    format!("{}\n", safe(&format!("{value:#}")))
}

/// The same of what is no value yet: of a long one, values would take many times its memory.
///
/// # Errors
/// When it has no form in JSON.
pub fn serialize_document(document: &impl Serialize) -> serde_json::Result<String> {
    Ok(format!("{}\n", safe(&serde_json::to_string_pretty(document)?)))
}

/// One document on one line.
#[must_use]
pub fn line(value: &Value) -> String {
    format!("{}\n", safe(&value.to_string()))
}

/// One object a row. A column name that stood before gets `_2`, `_3`, … so that no value is lost.
#[must_use]
pub fn lines(grid: &Grid) -> String {
    let names = unique(&grid.columns);
    let object = |row: &Vec<Value>| {
        Value::Object(names.iter().cloned().zip(row.iter().cloned()).collect::<Map<_, _>>())
    };
    grid.rows.iter().map(|row| line(&object(row))).collect()
}

fn unique(names: &[String]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut out = Vec::with_capacity(names.len());
    for name in names {
        let mut candidate = name.clone();
        let mut count = 1;
        while seen.contains(&candidate) || (count > 1 && names.contains(&candidate)) {
            count += 1;
            candidate = format!("{name}_{count}");
        }
        seen.insert(candidate.clone());
        out.push(candidate);
    }
    out
}

/// In JSON text such characters stand in strings only, where `\u…` means the same. Line breaks
/// between the parts of a document stay.
fn safe(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if c == '\n' || !is_dangerous(c) {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn repeated_names_lose_no_value() {
        let grid = Grid {
            columns: ["n", "n", "n_2", "n"].map(str::to_owned).to_vec(),
            rows: vec![vec![json!(1), json!(2), json!(3), json!(4)]],
        };
        assert_eq!(lines(&grid), "{\"n\":1,\"n_3\":2,\"n_2\":3,\"n_4\":4}\n");
    }

    proptest! {
        #[test]
        fn documents_read_back_and_are_safe(text in any::<String>(), key in any::<String>()) {
            let value = json!({key: [text]});
            for json in [document(&value), line(&value)] {
                prop_assert!(
                    !json.trim_end_matches('\n').chars().any(|c| c != '\n' && is_dangerous(c))
                );
                prop_assert_eq!(&serde_json::from_str::<Value>(&json).unwrap(), &value);
            }
        }
    }
}
