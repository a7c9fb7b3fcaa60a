//! A required range of time against the literals of a statement.

use super::Seen;

/// Returns true if the statement refers to the range: a literal names the year of one of its ends,
/// or of the year after its last, as `<` has it. A range without years is met by any column that
/// holds days or times.
pub(crate) fn is_met((from, to): &(String, String), seen: &Seen) -> bool {
    let years: Vec<u32> =
        [year(from), year(to), year(to).map(|year| year + 1)].into_iter().flatten().collect();
    if years.is_empty() {
        return seen.has_time();
    }
    let is_now = |literal: &String| literal == "now" || literal == "today";
    seen.literals
        .iter()
        .any(|literal| is_now(literal) || years.iter().any(|year| names_year(literal, *year)))
}

/// The year at the beginning of a moment.
pub(crate) fn year(text: &str) -> Option<u32> {
    let digits: String = text.trim().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|_| digits.len() == 4)
}

/// Returns true if a literal is a year, or a moment or pattern in it.
pub(crate) fn names_year(literal: &str, year: u32) -> bool {
    let mut numbers =
        literal.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty());
    let wanted = year.to_string();
    numbers.any(|number| number == wanted || (number.len() == 8 && number.starts_with(&wanted)))
}
