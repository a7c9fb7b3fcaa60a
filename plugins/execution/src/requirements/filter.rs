//! A required condition against a statement: its values against the literals, its column against
//! the names.

use std::collections::BTreeSet;

use syrch_plugin::words::{naming_stems, stems};

use super::comparisons::{self, Comparison, Operator};
use super::{Seen, moment, symbols};

/// Words of a condition that are neither a column nor a value.
const OPERATORS: &[&str] = &[
    "after", "and", "before", "between", "contains", "equal", "equals", "exceeds", "greater", "in",
    "is", "least", "less", "like", "more", "most", "not", "null", "or", "over", "than", "under",
    "where",
];
/// Values that a statement can say without a literal.
const SAID_OTHERWISE: &[&str] = &["true", "false", "yes", "no", "null", "0", "1"];

/// Returns true if the statement meets the condition; `None` if the condition states nothing
/// comparable.
pub(crate) fn is_met(condition: &str, seen: &Seen) -> Option<bool> {
    let required = comparisons::read(&symbols::write_operators(condition));
    if is_contradicted(&required, seen) {
        return Some(false);
    }
    let mut parts = Parts::read(condition);
    parts.values.retain(|value| !SAID_OTHERWISE.contains(&value.trim().to_lowercase().as_str()));
    if !parts.values.is_empty() {
        return Some(
            parts
                .values
                .iter()
                .all(|value| has_value(value, seen) || has_bound(value, &required, seen)),
        );
    }
    let words: BTreeSet<String> = naming_stems(&parts.words);
    if words.is_empty() {
        return None;
    }
    if parts.has_operator {
        return Some(words.iter().all(|word| seen.has(word)));
    }
    // Free words, of which the statement may use others: one of them has to occur.
    let has_literal =
        |word: &String| seen.literals.iter().any(|literal| stems(literal).contains(word));
    if words.iter().any(|word| seen.has(word) || has_literal(word)) { Some(true) } else { None }
}

/// Returns true if the statement compares a column with a literal as the condition does, and always
/// by an operator that says something else.
fn is_contradicted(required: &[Comparison], seen: &Seen) -> bool {
    required.iter().filter(|one| one.is_certain).any(|one| {
        let verdicts: Vec<bool> = seen
            .comparisons
            .iter()
            .filter_map(|found| Some(agrees(one, found)? || !found.is_certain))
            .collect();
        !verdicts.is_empty() && !verdicts.contains(&true)
    })
}

/// Returns whether a comparison says what is required; `None` if it is about another column or
/// another literal.
fn agrees(required: &Comparison, found: &Comparison) -> Option<bool> {
    use Operator::{AtLeast, AtMost, Equal, Less, More, NotEqual, NotNull, Null};
    if !is_same_column(required, found) {
        return None;
    }
    match (required.operator, found.operator) {
        (Null | NotNull, Null | NotNull) => return Some(required.operator == found.operator),
        (Null | NotNull, _) | (_, Null | NotNull) => return None,
        _ => {}
    }
    let wanted = required.literal.trim_matches('%');
    let literal = found.literal.trim_matches('%');
    if let (Some(wanted), Some(literal)) = (number(wanted), number(literal)) {
        let is_same = (wanted - literal).abs() <= 1e-9 * wanted.abs().max(1.0);
        return match required.operator {
            _ if !is_same => None,
            Equal => Some(matches!(found.operator, Equal | AtLeast | AtMost)),
            NotEqual => Some(found.operator != Equal),
            // `> 0` may be `<> 0`.
            bound => (found.operator != NotEqual).then_some(found.operator == bound),
        };
    }
    if !is_equal(wanted, literal) {
        return None;
    }
    match required.operator {
        Equal => Some(found.operator != NotEqual),
        NotEqual => Some(found.operator != Equal),
        _ if wanted != literal || found.operator == NotEqual => None,
        Less | AtMost => Some(matches!(found.operator, Less | AtMost)),
        _ => Some(matches!(found.operator, More | AtLeast)),
    }
}

fn is_same_column(required: &Comparison, found: &Comparison) -> bool {
    fn only_digits(name: &str) -> String {
        name.chars().filter(char::is_ascii_digit).collect::<String>()
    }
    let column = stems(&required.column);
    !column.is_empty()
        && column.is_subset(&stems(&found.column))
        && only_digits(&required.column) == only_digits(&found.column)
}

/// Returns true if the statement has the bound that is required at a day in other words: on or
/// after a day is after the day before.
fn has_bound(value: &str, required: &[Comparison], seen: &Seen) -> bool {
    let value = value.trim().to_lowercase();
    required.iter().filter(|one| one.literal == value).any(|one| {
        let bound = bound(one);
        bound.is_some()
            && seen
                .comparisons
                .iter()
                .any(|found| is_same_column(one, found) && self::bound(found) == bound)
    })
}

/// The first day within a lower bound, or behind an upper one, and true for a lower one.
fn bound(comparison: &Comparison) -> Option<(i64, bool)> {
    let day = moment::day_number(&comparison.literal)?;
    match comparison.operator {
        Operator::AtLeast => Some((day, true)),
        Operator::More => Some((day + 1, true)),
        Operator::Less => Some((day, false)),
        Operator::AtMost => Some((day + 1, false)),
        _ => None,
    }
}

/// A condition taken apart.
#[derive(Debug, PartialEq, Default)]
struct Parts {
    /// Values: quoted texts, numbers, and the words right of an operator.
    values: Vec<String>,
    /// The other words.
    words: String,
    has_operator: bool,
}

impl Parts {
    fn read(condition: &str) -> Self {
        let mut parts = Self::default();
        let mut is_right = false;
        let mut plain: Vec<String> = Vec::new();
        for token in tokens(condition) {
            match token {
                Token::Quoted(text) => {
                    parts.close(&mut plain, is_right);
                    parts.values.push(text);
                }
                Token::Operator => {
                    parts.close(&mut plain, is_right);
                    (parts.has_operator, is_right) = (true, true);
                }
                Token::Comma => parts.close(&mut plain, is_right),
                Token::Word(word) if is_number(&word) => {
                    // A number within words, such as the 2 of `top 2 rows`, is a value, too.
                    parts.close(&mut plain, is_right);
                    parts.values.push(word);
                }
                Token::Word(word) => {
                    let lower = word.to_ascii_lowercase();
                    let is_operator = OPERATORS.contains(&lower.as_str());
                    if is_operator {
                        parts.close(&mut plain, is_right);
                        let opens = matches!(
                            lower.as_str(),
                            "in" | "is" | "like" | "between" | "contains" | "equals"
                        );
                        parts.has_operator |= opens;
                        // After AND and OR there is another condition.
                        is_right = opens || (is_right && !matches!(lower.as_str(), "and" | "or"));
                        if lower == "null" {
                            is_right = false;
                        }
                    } else {
                        plain.push(word);
                    }
                }
            }
        }
        parts.close(&mut plain, is_right);
        parts.values.retain(|value| !value.trim().is_empty());
        parts
    }

    /// Takes words that stand together: right of an operator they are a value.
    fn close(&mut self, plain: &mut Vec<String>, is_right: bool) {
        let words = std::mem::take(plain).join(" ");
        if words.is_empty() {
            return;
        }
        // A qualified name is a column, also on the right.
        if is_right && !words.contains('.') && !words.contains('_') {
            self.values.push(words);
        } else {
            self.words += &format!(" {words}");
        }
    }
}

enum Token {
    Quoted(String),
    Word(String),
    Operator,
    Comma,
}

fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    let end = |word: &mut String, found: &mut Vec<Token>| {
        let text = std::mem::take(word);
        let text = text.trim_end_matches('.');
        if !text.is_empty() {
            found.push(Token::Word(text.to_owned()));
        }
    };
    while let Some(c) = chars.next() {
        let is_apostrophe = c == '\'' && !word.is_empty();
        match c {
            ',' if groups_thousands(&word, chars.clone()) => word.push(c),
            '\'' | '"' | '`' | '“' if !is_apostrophe => {
                end(&mut word, &mut found);
                let close = if c == '“' { '”' } else { c };
                let inner: String = chars.by_ref().take_while(|inner| *inner != close).collect();
                found.push(Token::Quoted(inner));
            }
            '=' | '<' | '>' | '!' | '≥' | '≤' | '≠' => {
                end(&mut word, &mut found);
                found.push(Token::Operator);
            }
            ',' | '(' | ')' | ';' | ':' => {
                end(&mut word, &mut found);
                found.push(Token::Comma);
            }
            c if c.is_whitespace() => end(&mut word, &mut found),
            c => word.push(c),
        }
    }
    end(&mut word, &mut found);
    found
}

/// Returns true if a comma after the digits of a word and before three further digits separates
/// thousands.
fn groups_thousands(word: &str, next: impl Iterator<Item = char>) -> bool {
    let digits = next.take_while(char::is_ascii_digit).take(4).count();
    digits == 3
        && word.split(',').all(|part: &str| {
            !part.is_empty() && part.len() <= 3 && part.bytes().all(|byte| byte.is_ascii_digit())
        })
}

fn number(text: &str) -> Option<f64> {
    let plain = text.trim().trim_start_matches(['$', '€', '£', '+']).replace(['_', ','], "");
    let (plain, scale) = match plain.strip_suffix('%') {
        Some(plain) => (plain.to_owned(), 100.0),
        None => (plain, 1.0),
    };
    plain.parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| number / scale)
}

fn is_number(word: &str) -> bool {
    number(word).is_some() || is_day(word)
}

/// A day such as `2014-01-31`.
fn is_day(word: &str) -> bool {
    word.len() >= 7
        && word.chars().all(|c| c.is_ascii_digit() || matches!(c, '-' | '/'))
        && word.starts_with(|c: char| c.is_ascii_digit())
}

fn has_value(value: &str, seen: &Seen) -> bool {
    let wanted = value.trim().trim_matches('%').to_lowercase();
    if wanted.is_empty()
        || seen.literals.iter().any(|literal| is_equal(&wanted, literal.trim_matches('%')))
    {
        return true;
    }
    // A state may be a column's name: `active` as `is_active`.
    let words = stems(&wanted);
    number(&wanted).is_none() && !words.is_empty() && words.iter().all(|word| seen.has(word))
}

/// Returns true if a literal has the value: the same text or number, a moment in the same year,
/// words of the same stems, or one word that is the other with an ending. A bound may be off by
/// one, as `> 5` is `>= 6`.
fn is_equal(wanted: &str, literal: &str) -> bool {
    if wanted == literal {
        return true;
    }
    if let (Some(wanted), Some(literal)) = (number(wanted), number(literal)) {
        let is_off_by_one = wanted.fract() == 0.0 && ((wanted - literal).abs() - 1.0).abs() < 1e-9;
        return (wanted - literal).abs() <= 1e-9 * wanted.abs().max(1.0) || is_off_by_one;
    }
    if let Some(year) = moment::year(wanted).filter(|_| wanted.len() == 4 || is_day(wanted)) {
        return moment::names_year(literal, year);
    }
    let left = stems(wanted);
    let right = stems(literal);
    if left.is_empty() || right.is_empty() {
        return false;
    }
    fn is_beginning(one: &str, other: &str) -> bool {
        one.chars().count() >= 4 && other.starts_with(one)
    }
    left.is_subset(&right)
        || right.is_subset(&left)
        || is_beginning(wanted, literal)
        || is_beginning(literal, wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(condition: &str) -> (Vec<String>, String) {
        let parts = Parts::read(condition);
        (parts.values, parts.words.trim().to_owned())
    }

    #[test]
    fn conditions_are_taken_apart() {
        let of = |values: &[&str], words: &str| {
            (values.iter().map(|v| (*v).to_owned()).collect::<Vec<_>>(), words.to_owned())
        };
        assert_eq!(parts("year = 2014"), of(&["2014"], "year"));
        assert_eq!(parts("status = 'paid'"), of(&["paid"], "status"));
        assert_eq!(
            parts("customers.country = New Zealand"),
            of(&["New Zealand"], "customers.country")
        );
        assert_eq!(parts("year in (2014, 2015)"), of(&["2014", "2015"], "year"));
        assert_eq!(parts("price >= 1,000.50 and stock < 3"), of(&["1,000.50", "3"], "price stock"));
        assert_eq!(parts("email is not null"), of(&[], "email"));
        assert_eq!(
            parts("day between 2014-01-01 and 2014-12-31"),
            of(&["2014-01-01", "2014-12-31"], "day")
        );
        assert_eq!(parts("a.x > b_avg"), of(&[], "a.x b_avg"));
        assert_eq!(parts("only German customers"), of(&[], "only German customers"));
        assert_eq!(parts("name = 'O''"), of(&["O"], "name"));
        assert_eq!(parts("=<>('\""), of(&["\""], ""));
    }

    #[test]
    fn literals_say_values_in_several_ways() {
        for (wanted, literal) in [
            ("paid", "paid"),
            ("germany", "german"),
            ("2014", "2014-05-01"),
            ("2014-12-31", "2014"),
            ("1,000", "1e3"),
            ("5", "6"),
            ("10%", "0.1"),
            ("new zealand", "zealand"),
        ] {
            assert!(is_equal(wanted, literal), "{wanted} as {literal}");
        }
        for (wanted, literal) in [
            ("paid", "unpaid"),
            ("austria", "australia"),
            ("2014", "2015-01-01"),
            ("5", "50"),
            ("us", "usa"),
            ("14", "2014"),
        ] {
            assert!(!is_equal(wanted, literal), "{wanted} as {literal}");
        }
    }
}
