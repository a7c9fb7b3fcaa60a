//! The answer in a sentence, from the rows that may be read.

use syrch_plugin::prelude::*;
use syrch_plugin::{prompt, text};

use super::rows::check_rows;
use super::sentence::check_sentence;

/// The most characters of a column's name, and of a model's sentence.
const NAME: usize = 60;
const SENTENCE: usize = 600;

/// A sentence about a result: the model's when that is wanted and holds nothing but what the rows
/// and the question have, else one by rule.
pub(crate) fn text(
    host: &impl AggregatorHost,
    problem: &Problem,
    results: &ResultSet,
    told_rows: u32,
    summarise: bool,
) -> String {
    let profile = results.profile();
    let page = if profile.rows == 0 { None } else { host.read(results, 0, told_rows).ok() };
    let page = page.filter(|page| !page.rows.is_empty());
    if summarise
        && let Some(reported) =
            page.as_ref().and_then(|page| by_model(host, problem, &profile, page))
    {
        return reported;
    }
    by_rule(&profile, page.as_ref())
}

fn by_model(
    host: &impl AggregatorHost,
    problem: &Problem,
    profile: &Profile,
    page: &Page,
) -> Option<String> {
    let user = format!(
        "{}The result has {}; these are the first:\n{}",
        prompt::problem(problem),
        text::count(profile.rows, "row"),
        prompt::rows(page)
    );
    let instructions = "Answer the question in one or two plain sentences, in its language, from \
                        the rows alone. Write numbers and names as the rows have them, compute \
                        nothing, and add nothing else.";
    let request =
        Ask::new(Purpose::Summarise).system(instructions).user(user).max_tokens(300).text();
    let reply = host.complete(&request).ok().filter(|reply| !reply.truncated)?;
    let reported = text::line(&reply.text, SENTENCE + 1);
    if reported.is_empty() || reported.chars().count() > SENTENCE {
        return None;
    }
    let why = match check_sentence(&reported, problem, profile, page) {
        Err(unbacked) => {
            format!("neither the rows nor the question have `{}`", text::line(&unbacked, NAME))
        }
        Ok(()) => match check_rows(&reported, problem, page) {
            Ok(()) => return Some(reported),
            Err(swapped) => {
                format!("`{}` is of another row than it says", text::line(&swapped, NAME))
            }
        },
    };
    host.note(Level::Info, &format!("the model's sentence is not used: {why}"));
    None
}

fn by_rule(profile: &Profile, page: Option<&Page>) -> String {
    let names: Vec<String> =
        profile.columns.iter().map(|column| entitle(&column.column.name)).collect();
    if profile.rows == 0 {
        return "The result has no rows: nothing fits the question.".to_owned();
    }
    let Some(page) = page else {
        return format!(
            "The result has {} of {}.",
            text::count(profile.rows, "row"),
            names.join(", ")
        );
    };
    match (profile.rows, page.rows.as_slice()) {
        (1, [row]) if row.len() == 1 => match &row[0] {
            Value::Null => "There is no value (NULL).".to_owned(),
            value => format!("The answer is {}.", say_cell(value)),
        },
        (1, [row]) => {
            let stated =
                names.iter().zip(row).map(|(name, value)| format!("{name}: {}", say_cell(value)));
            capitalise(&format!("{}.", stated.collect::<Vec<_>>().join(", ")))
        }
        (rows, shown) => say_rows(&names, rows, shown),
    }
}

/// Says the first of several rows: a list of values, a value for each key, or the rows as they are.
fn say_rows(names: &[String], rows: u64, shown: &[Vec<Value>]) -> String {
    let left = rows.saturating_sub(shown.len() as u64);
    let rest = if left > 0 { format!(" and {left} more") } else { String::new() };
    match names {
        [name] => {
            let values: Vec<String> = shown.iter().flatten().map(say_cell).collect();
            capitalise(&format!("{name}: {}{rest}.", values.join(", ")))
        }
        [keys @ .., name] if shown.iter().all(|row| has_number_last(row)) => {
            let values: Vec<String> = shown.iter().map(|row| say_value(row)).collect();
            let keys = keys.join(" and ");
            capitalise(&format!("{name} by {keys}: {}{rest}.", values.join(", ")))
        }
        _ => {
            let list: Vec<String> = shown
                .iter()
                .map(|row: &Vec<Value>| row.iter().map(say_cell).collect::<Vec<_>>().join(", "))
                .collect();
            let lead = if left > 0 { "the first are" } else { "they are" };
            format!("There are {rows} rows of {}; {lead} {}.", names.join(", "), list.join("; "))
        }
    }
}

/// Returns whether the last cell of a row is a number, and the others say to what it belongs, which
/// amounts such as the one that a share is of do not.
fn has_number_last(row: &[Value]) -> bool {
    let Some((last, keys)) = row.split_last() else { return false };
    let is_number = matches!(last, Value::Integer(_) | Value::Real(_) | Value::Decimal(_));
    let has_amount = keys.iter().any(|key| matches!(key, Value::Real(_) | Value::Decimal(_)));
    is_number
        && !has_amount
        && keys.iter().any(|key| matches!(key, Value::Text(_) | Value::Temporal(_)))
}

/// The last cell of a row behind the others: `France 12`, or `(France, 2024) 12`.
fn say_value(row: &[Value]) -> String {
    let Some((last, keys)) = row.split_last() else { return String::new() };
    let keys: Vec<String> = keys.iter().map(say_cell).collect();
    match keys.as_slice() {
        [key] => format!("{key} {}", say_cell(last)),
        _ => format!("({}) {}", keys.join(", "), say_cell(last)),
    }
}

/// A cell as a sentence has it: a number with at most six decimals, or digits where it is small.
fn say_cell(value: &Value) -> String {
    let number = match value {
        Value::Real(number) => Some(*number),
        Value::Decimal(digits) if digits.split_once('.').is_some_and(|(_, it)| it.len() > 6) => {
            digits.parse().ok()
        }
        _ => None,
    };
    // Rounding a number of so many digits would change those before the point.
    let number = number.filter(|number: &f64| number.abs() < 1e9 && number.fract() != 0.0);
    let Some(number) = number else { return prompt::cell(value) };
    let rounded = match number.abs() < 1.0 {
        true => format!("{number:.5e}"),
        false => format!("{number:.6}"),
    };
    rounded.parse::<f64>().map_or_else(|_| prompt::cell(value), |rounded| rounded.to_string())
}

/// The name of a column in words: `COUNT(*)` is `number`, `SUM(t.price)` is `sum of price`.
fn entitle(name: &str) -> String {
    let name = text::line(name, NAME);
    let lower = name.to_lowercase();
    let call = lower.strip_suffix(')').and_then(|rest| rest.split_once('('));
    let Some((function, argument)) = call else { return space(&name) };
    let distinct = argument.strip_prefix("distinct ").unwrap_or(argument).trim();
    let column = distinct.rsplit('.').next().unwrap_or_default().trim_matches(['"', '`', '[', ']']);
    let is_column =
        !column.is_empty() && column.chars().all(|c| c.is_alphanumeric() || c == '_' || c == ' ');
    let lead = match function.trim() {
        "count" if argument == "*" || argument == "1" => return "number".to_owned(),
        "count" => "number of",
        "sum" | "total" => "sum of",
        "avg" => "mean of",
        "min" => "least",
        "max" => "greatest",
        _ => return name,
    };
    if is_column { format!("{lead} {}", space(column)) } else { name }
}

/// A name with spaces for its underscores.
fn space(name: &str) -> String {
    let spaced = name.replace('_', " ");
    if spaced.trim().is_empty() { name.to_owned() } else { spaced }
}

fn capitalise(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_people_read() {
        for (value, said) in [
            (Value::Real(12.340_000_000_000_002), "12.34"),
            (Value::Real(-2.666_666_666_666_666_5), "-2.666667"),
            (Value::Real(0.1 + 0.2), "0.3"),
            (Value::Real(0.000_012_345_678), "0.0000123457"),
            (Value::Real(3.0), "3"),
            (Value::Real(2_000_000_000.5), "2000000000.5"),
            (Value::Real(f64::NAN), "NaN"),
            (Value::Decimal("2.6666666666666667".to_owned()), "2.666667"),
            (Value::Decimal("19.90".to_owned()), "19.90"),
            (Value::Integer(7), "7"),
        ] {
            assert_eq!(say_cell(&value), said, "{value:?}");
        }
    }
}
