//! Words of questions and parts of names, made alike.

use syrch_plugin::prelude::*;

/// The words of a text in lower case and in the singular, in their order.
pub(crate) fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’')
        .map(|word: &str| {
            let word = word.to_lowercase();
            singular(word.split(['\'', '’']).next().unwrap_or_default())
        })
        .filter(|word| !word.is_empty())
        .collect()
}

/// The parts of a name (`orderItems`, `order_items`) in lower case and in the singular.
pub(crate) fn parts(name: &str) -> Vec<String> {
    let mut spaced = String::new();
    let mut was_lower = false;
    for c in name.chars() {
        if c.is_uppercase() && was_lower {
            spaced.push(' ');
        }
        was_lower = c.is_lowercase() || c.is_numeric();
        spaced.push(if c.is_alphanumeric() { c } else { ' ' });
    }
    spaced.split_whitespace().map(|part| singular(&part.to_lowercase())).collect()
}

fn singular(word: &str) -> String {
    let long = word.chars().count() > 3;
    let without = |ending: &str| word.strip_suffix(ending).filter(|_| long);
    if let Some(stem) = without("ies").filter(|stem| stem.chars().count() > 1) {
        return format!("{stem}y");
    }
    for ending in ["sses", "xes", "ches", "shes"] {
        if without(ending).is_some() {
            return word[..word.len() - 2].to_owned();
        }
    }
    match without("s").filter(|stem| !stem.ends_with(['s', 'u', 'i'])) {
        Some(stem) => stem.to_owned(),
        None => word.to_owned(),
    }
}

/// Returns true if a name or a part of it is that word.
pub(crate) fn names(name: &str, word: &str) -> bool {
    parts(name).iter().any(|part| part == word)
}

/// Returns true if a column holds a date or a time, by its type or its name (`date`, `time`, `_at`,
/// `_ts`: syrch 0.3.7; also whole years, months and days).
pub(crate) fn is_temporal(column: &Column) -> bool {
    let sql_type = column.sql_type.to_ascii_lowercase();
    sql_type.contains("date") || sql_type.contains("time") || is_temporal_name(&column.name)
}

/// Returns true if a column of that name holds a date or a time, by the name alone.
pub(crate) fn is_temporal_name(name: &str) -> bool {
    let parts = parts(name);
    let is_date = |part: &String| {
        let ends = ["date", "time", "timestamp"].iter().any(|ending| part.ends_with(ending));
        (ends && !NO_DATES.contains(&part.as_str())) || UNITS.contains(&part.as_str())
    };
    let ends = parts.len() > 1 && parts.last().is_some_and(|last| last == "at" || last == "ts");
    ends || parts.iter().any(is_date)
}

// They end so, and are none.
const NO_DATES: &[&str] = &["update", "candidate", "mandate", "validate", "sometime"];

/// Units by which results are grouped over time.
pub(crate) const UNITS: &[&str] = &["day", "week", "month", "quarter", "year"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_parts_meet() {
        assert_eq!(
            words("Each country's addresses, cities & buses"),
            ["each", "country", "address", "city", "buse"]
        );
        assert_eq!(words("How is Status_x?"), ["how", "is", "status", "x"]);
        assert_eq!(parts("orderItems_2024"), ["order", "item", "2024"]);
        assert_eq!(parts("T_ADDRESSES"), ["t", "address"]);
        assert!(names("customer_id", "customer") && !names("customs", "custom_x"));
    }

    #[test]
    fn dates_are_known_by_type_and_name() {
        let column = |name: &str, sql_type: &str| Column {
            name: name.into(),
            sql_type: sql_type.into(),
            ..Column::default()
        };
        for (name, sql_type) in [
            ("ordered", "DATE"),
            ("x", "timestamp"),
            ("birthdate", ""),
            ("created_at", ""),
            ("Year", "INT"),
        ] {
            assert!(is_temporal(&column(name, sql_type)), "{name}");
        }
        // syrch 0.3.7 searched for these words anywhere in a name, so that `update` and `candidate`
        // were dates.
        for name in ["at", "sat", "last_update", "candidates", "sometimes_x", "id"] {
            assert!(!is_temporal_name(name), "{name}");
        }
    }
}
