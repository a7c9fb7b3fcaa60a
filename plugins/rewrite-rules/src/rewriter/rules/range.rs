//! Years, months and days as ranges of a column, and what texts begin with.

use sqlparser::ast::BinaryOperator;

/// The first day of a year, a month or a day, and the first day after it: `2023`, `2023-05`,
/// `2023-05-31`.
pub(crate) fn period(text: &str) -> Option<(String, String)> {
    let parts: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    let is_digits = parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    if !is_digits || !matches!(lengths.as_slice(), [4] | [4, 2] | [4, 2, 2]) {
        return None;
    }
    let numbers: Vec<u32> = parts.iter().map(|part| part.parse()).collect::<Result<_, _>>().ok()?;
    let (year, month, day) = match *numbers.as_slice() {
        [year] => (year, None, None),
        [year, month] => (year, Some(month), None),
        [year, month, day] => (year, Some(month), Some(day)),
        _ => return None,
    };
    if !(1..=9998).contains(&year) || !(1..=12).contains(&month.unwrap_or(1)) {
        return None;
    }
    if !(1..=days(year, month.unwrap_or(1))).contains(&day.unwrap_or(1)) {
        return None;
    }
    let start = date(year, month.unwrap_or(1), day.unwrap_or(1));
    Some((start, day_after(year, month, day)))
}

fn date(year: u32, month: u32, day: u32) -> String {
    format!("{year:04}-{month:02}-{day:02}")
}

fn day_after(year: u32, month: Option<u32>, day: Option<u32>) -> String {
    match (month, day) {
        (Some(month), Some(day)) if day < days(year, month) => date(year, month, day + 1),
        (Some(month), _) if month < 12 => date(year, month + 1, 1),
        _ => date(year + 1, 1, 1),
    }
}

fn days(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => {
            29
        }
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// A condition on a column that holds for the same values as one on its period: `(start, end)` is
/// the period of the constant.
pub(crate) fn compare_with_period(
    column: &str,
    op: &BinaryOperator,
    start: &str,
    end: &str,
) -> Option<String> {
    Some(match op {
        BinaryOperator::Eq => format!("({column} >= {start} AND {column} < {end})"),
        BinaryOperator::Lt => format!("{column} < {start}"),
        BinaryOperator::LtEq => format!("{column} < {end}"),
        BinaryOperator::Gt => format!("{column} >= {end}"),
        BinaryOperator::GtEq => format!("{column} >= {start}"),
        _ => return None,
    })
}

/// The least text after all that begin with this one, in the order of bytes.
pub(crate) fn after_prefix(prefix: &str) -> Option<String> {
    let last =
        prefix.bytes().last().filter(|last| prefix.is_ascii() && (b' '..b'~').contains(last))?;
    let start = prefix.get(..prefix.len() - 1)?;
    Some(format!("{start}{}", char::from(last + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_ends_where_the_next_begins() {
        let of = |text| period(text).map(|(start, end)| format!("{start} {end}"));
        assert_eq!(of("2023").unwrap(), "2023-01-01 2024-01-01");
        assert_eq!(of("2023-12").unwrap(), "2023-12-01 2024-01-01");
        assert_eq!(of("2024-02-28").unwrap(), "2024-02-28 2024-02-29");
        assert_eq!(of("2023-02-28").unwrap(), "2023-02-28 2023-03-01");
        assert_eq!(of("2000-02-29").unwrap(), "2000-02-29 2000-03-01");
        for wrong in [
            "",
            "23",
            "2023-13",
            "2023-00",
            "1900-02-29",
            "2023-1-1",
            "2023-05-1x",
            "0000",
            "2023-01-01-01",
        ] {
            assert_eq!(period(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_prefix_has_a_text_after_it_unless_its_last_letter_has_no_next() {
        assert_eq!(after_prefix("ab").unwrap(), "ac");
        assert_eq!(after_prefix("2").unwrap(), "3");
        for wrong in ["", "a~", "ä"] {
            assert_eq!(after_prefix(wrong), None);
        }
    }
}
