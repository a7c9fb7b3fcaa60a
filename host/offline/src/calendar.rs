//! Days and months in words: `July`, `Q2`, `May 11, 2024`, and the day after a day.

mod impossible;

use chrono::{Days, NaiveDate};

use super::token::{Kind, Token};
pub(crate) use impossible::impossible_times;

const MONTHS: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Words after which `may` and `march` are months and no verbs.
const BEFORE_MONTHS: &[&str] = &[
    "in", "of", "during", "since", "before", "after", "for", "until", "till", "and", "or",
    "between", "from", "to", "through", "early", "late", "by", "on",
];

/// The first and the last month that a word means: the same for `July`, four and six for `Q2`;
/// `None` if it means none here.
pub(crate) fn months(tokens: &[Token], at: usize) -> Option<(u32, u32)> {
    let token = tokens.get(at).filter(|token| token.kind == Kind::Word)?;
    if let [b'q', digit @ b'1'..=b'4'] = token.lower.as_bytes() {
        let quarter = u32::from(digit - b'0');
        return Some((3 * quarter - 2, 3 * quarter));
    }
    month(tokens, at).map(|month| (month, month))
}

fn month(tokens: &[Token], at: usize) -> Option<u32> {
    let lower = tokens.get(at).filter(|token| token.kind == Kind::Word)?.lower.as_str();
    let is_short = lower.len() == 3 || lower == "sept";
    let place =
        MONTHS.iter().position(|name| *name == lower || (is_short && name.starts_with(lower)))?;
    let before = at.checked_sub(1).map(|before| tokens[before].lower.as_str());
    let near_number = tokens.get(at + 1).is_some_and(|next| next.kind == Kind::Number)
        || at.checked_sub(1).is_some_and(|before| day_of_month(&tokens[before]).is_some());
    // `may`, `march` and short forms are also other words.
    let is_plain = !is_short && !matches!(lower, "may" | "march");
    let is_meant =
        is_plain || near_number || before.is_some_and(|before| BEFORE_MONTHS.contains(&before));
    is_meant.then_some(place as u32 + 1)
}

/// The day of a month: `11` and `11th`.
fn day_of_month(token: &Token) -> Option<u32> {
    let digits = match token.kind {
        Kind::Number => token.lower.as_str(),
        Kind::Word => {
            ["st", "nd", "rd", "th"].iter().find_map(|end| token.lower.strip_suffix(end))?
        }
        _ => return None,
    };
    digits.parse().ok().filter(|day| (1..=31).contains(day))
}

/// Returns true if a number may be a year.
pub(crate) fn is_year(number: &str) -> bool {
    number.len() == 4 && number.parse::<u32>().is_ok_and(|year| (1500..2200).contains(&year))
}

fn year(token: &Token) -> Option<i32> {
    let digits = (token.kind == Kind::Number && token.lower.len() == 4).then_some(&token.lower)?;
    digits.parse().ok()
}

/// Writes each day in words, such as `May 11, 2024` and `11 May 2024`, as one date.
pub(crate) fn join_days(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        match day_in_words(&tokens, at) {
            Some((date, end)) => {
                let text = date.format("%Y-%m-%d").to_string();
                let place = tokens[at].place.start..tokens[end - 1].place.end;
                out.push(Token::new(&text, Kind::Date, place));
                at = end;
            }
            None => {
                out.push(tokens[at].clone());
                at += 1;
            }
        }
    }
    out
}

/// Returns true for `1980s`, `80s` and `eighties`.
pub(crate) fn is_decade(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "twenties",
        "thirties",
        "forties",
        "fifties",
        "sixties",
        "seventies",
        "eighties",
        "nineties",
    ];
    let digits = word.strip_suffix("0s").unwrap_or_default();
    let is_number = matches!(digits.len(), 1 | 3) && digits.bytes().all(|it| it.is_ascii_digit());
    is_number || WORDS.contains(&word)
}

/// Writes each decade, such as `in the 1980s`, as the years between its first and its last.
pub(crate) fn join_decades(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    for token in tokens {
        let first = token.lower.strip_suffix('s').filter(|first| {
            first.len() == 4 && is_year(first) && token.kind == Kind::Word && first.ends_with('0')
        });
        let the = usize::from(out.last().is_some_and(|last| last.lower == "the"));
        let before = out.len().checked_sub(the + 1).map(|at| out[at].lower.as_str());
        let year: Option<u32> = first.and_then(|first| first.parse().ok());
        let Some(year) = year.filter(|_| matches!(before, Some("in" | "during" | "of"))) else {
            out.push(token);
            continue;
        };
        out.truncate(out.len() - the - 1);
        for (word, number) in [("between", year), ("and", year + 9)] {
            out.push(Token::new(word, Kind::Word, token.place.clone()));
            out.push(Token::new(&number.to_string(), Kind::Number, token.place.clone()));
        }
    }
    out
}

/// The day that begins at this token, and the token after it.
fn day_in_words(tokens: &[Token], at: usize) -> Option<(NaiveDate, usize)> {
    let word = |at: usize| tokens.get(at).map_or("", |token| token.lower.as_str());
    let (month, day, next) = if let Some(month) = month(tokens, at) {
        (month, day_of_month(tokens.get(at + 1)?)?, at + 2)
    } else {
        let of = usize::from(word(at + 1) == "of");
        (month(tokens, at + 1 + of)?, day_of_month(tokens.get(at)?)?, at + 2 + of)
    };
    let next = next + usize::from(word(next) == ",");
    let date = NaiveDate::from_ymd_opt(year(tokens.get(next)?)?, month, day)?;
    Some((date, next + 1))
}

/// The day of a text that is one, such as `2024-05-31`.
pub(crate) fn day(text: &str) -> Option<NaiveDate> {
    let mut parts = text.splitn(3, '-');
    let mut part = |length: usize| {
        let digits = parts.next()?;
        (digits.len() == length && digits.bytes().all(|byte| byte.is_ascii_digit()))
            .then_some(digits)
    };
    let year = part(4)?.parse().ok()?;
    let month = part(2)?.parse().ok()?;
    NaiveDate::from_ymd_opt(year, month, part(2)?.parse().ok()?)
}

/// The day after a day, both as in `2024-05-31`.
pub(crate) fn day_after(text: &str) -> Option<String> {
    Some(day(text)?.checked_add_days(Days::new(1))?.format("%Y-%m-%d").to_string())
}

/// Returns true if a text has a form of a date whose order as a text is the order in time, from the
/// year on: `2024-05-31`, with or without a time of day, `2024-05` and `2024`.
pub(crate) fn is_sortable_date(text: &str) -> bool {
    fn prefix(text: &str, length: usize) -> &str {
        text.get(..length).unwrap_or(text)
    }
    match text.len() {
        4 => text.bytes().all(|byte| byte.is_ascii_digit()),
        7 => day(&format!("{text}-01")).is_some(),
        _ => day(prefix(text, 10)).is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words;

    #[test]
    fn days_in_words_are_dates() {
        for question in
            ["on May 11, 2024", "on 11 May 2024", "on the 11th of May 2024", "on May 11th 2024"]
        {
            let tokens = words::tokens(question);
            assert!(
                tokens.iter().any(|token| token.kind == Kind::Date && token.text == "2024-05-11"),
                "{tokens:?}"
            );
        }
        assert!(words::tokens("on February 30, 2024").iter().all(|token| token.kind != Kind::Date));
    }

    #[test]
    fn a_decade_is_its_ten_years() {
        fn read(question: &str) -> String {
            let tokens = words::tokens(question);
            tokens.iter().map(|token| token.lower.as_str()).collect::<Vec<_>>().join(" ")
        }
        assert_eq!(read("born in the 1980s"), "born between 1980 and 1989");
        assert_eq!(read("films of the 2000s?"), "films between 2000 and 2009 ?");
        for question in ["before the 1980s", "in the 1985s", "the 80s", "in 1980"] {
            assert_eq!(read(question), question);
        }
        assert!(["1980s", "80s", "eighties"].iter().all(|word| is_decade(word)));
        assert!(!["1985s", "0s", "gas", "bonds"].iter().any(|word| is_decade(word)));
    }

    #[test]
    fn words_that_are_also_verbs_are_months_only_after_a_preposition() {
        fn read(question: &str) -> Option<(u32, u32)> {
            let tokens = words::tokens(question);
            (0..tokens.len()).find_map(|at| months(&tokens, at))
        }
        assert_eq!(read("flights in july"), Some((7, 7)));
        assert_eq!(read("flights in Q2"), Some((4, 6)));
        assert_eq!(read("orders in May"), Some((5, 5)));
        assert_eq!(read("orders that may be late"), None);
        assert_eq!(read("who will march"), None);
    }

    #[test]
    fn the_day_after_ends_months_and_years() {
        assert_eq!(day_after("2024-02-28").as_deref(), Some("2024-02-29"));
        assert_eq!(day_after("2023-12-31").as_deref(), Some("2024-01-01"));
        assert_eq!(day_after("2023-02-29"), None);
        assert_eq!(day_after("31/12/2023"), None);
    }
}
