//! Divides a question into words, numbers, days and quoted texts, and says when two words are the
//! same.

use chrono::NaiveDate;
use syrch_words::{singular, stem};

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    /// A word.
    Word,
    /// A number without a sign.
    Number,
    /// A day as `2024-05-31`.
    Day(NaiveDate),
    /// A month as `2024-05`, by its first day.
    Month(NaiveDate),
    /// A text in quotation marks.
    Quoted,
    /// A comma.
    Comma,
    /// The end of a sentence.
    End,
    /// Anything else.
    Sign,
}

/// A part of the question.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    /// The text as it is written, without quotation marks and a possessive `'s`.
    pub(super) text: String,
    /// The text in lower case.
    pub(super) lower: String,
    /// The kind.
    pub(super) kind: Kind,
}

impl Token {
    fn new(text: String, kind: Kind) -> Self {
        Self { lower: text.to_lowercase(), text, kind }
    }

    /// Returns true if the token begins with a capital letter.
    pub(super) fn is_capitalised(&self) -> bool {
        self.text.chars().next().is_some_and(char::is_uppercase)
    }

    /// The number, which may be written as a word up to twenty.
    pub(super) fn number(&self) -> Option<u64> {
        match self.kind {
            Kind::Number => self.lower.parse().ok(),
            Kind::Word => {
                let at = NUMBERS.iter().position(|word| *word == self.lower)?;
                u64::try_from(at + 1).ok()
            }
            _ => None,
        }
    }
}

const NUMBERS: &[&str] = &[
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
];

/// Divides a text into tokens. A dash between letters divides words, `%` and `&` are words.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let mut out = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let c = chars[at];
        if let Some(end) = end_of_quote(&chars, at) {
            let inner: String = chars[at + 1..end].iter().collect();
            out.push(Token::new(inner.trim().to_owned(), Kind::Quoted));
            at = end + 1;
            continue;
        }
        let end = if c.is_ascii_digit() {
            end_of_number(&chars, at)
        } else if c.is_alphabetic() {
            end_of_word(&chars, at)
        } else {
            at + 1
        };
        let part: String = chars[at..end].iter().collect();
        match c {
            _ if c.is_ascii_digit() => out.push(number_or_word(part)),
            _ if c.is_alphabetic() => out.push(Token::new(bare(&part), Kind::Word)),
            ',' => out.push(Token::new(part, Kind::Comma)),
            '?' | '.' | '!' => out.push(Token::new(part, Kind::End)),
            '%' => out.push(Token::new("percent".to_owned(), Kind::Word)),
            '&' => out.push(Token::new("and".to_owned(), Kind::Word)),
            // Dashes within words, and quotation marks that nothing closes.
            '_' | '-' | '\'' | '’' | '"' => {}
            _ if c.is_whitespace() => {}
            _ => out.push(Token::new(part, Kind::Sign)),
        }
        at = end;
    }
    out
}

/// A word without its possessive.
fn bare(word: &str) -> String {
    let word = word.replace('’', "'");
    word.strip_suffix("'s").unwrap_or(&word).to_owned()
}

fn number_or_word(part: String) -> Token {
    if part.chars().any(char::is_alphabetic) {
        return Token::new(part, Kind::Word);
    }
    if let Ok(day) = NaiveDate::parse_from_str(&part, "%Y-%m-%d") {
        return Token::new(part, Kind::Day(day));
    }
    if let Ok(first) = NaiveDate::parse_from_str(&format!("{part}-01"), "%Y-%m-%d")
        && part.len() == "2024-05".len()
    {
        return Token::new(part, Kind::Month(first));
    }
    if part.contains('-') {
        return Token::new(part, Kind::Sign);
    }
    let digits = part.replace(',', "");
    Token { lower: digits, text: part, kind: Kind::Number }
}

fn end_of_number(chars: &[char], at: usize) -> usize {
    let mut end = at;
    while let Some(c) = chars.get(end) {
        let is_between =
            matches!(c, '.' | ',' | '-') && chars.get(end + 1).is_some_and(char::is_ascii_digit);
        if !c.is_alphanumeric() && !is_between {
            break;
        }
        end += 1;
    }
    end
}

fn end_of_word(chars: &[char], at: usize) -> usize {
    let mut end = at;
    while let Some(c) = chars.get(end) {
        let is_apostrophe =
            matches!(c, '\'' | '’') && chars.get(end + 1).is_some_and(|next| next.is_alphabetic());
        if !c.is_alphanumeric() && !is_apostrophe {
            break;
        }
        end += 1;
    }
    end
}

/// The end of a quoted text that begins here; an apostrophe within a word opens none.
fn end_of_quote(chars: &[char], at: usize) -> Option<usize> {
    let close: &[char] = match chars[at] {
        '"' => &['"'],
        '“' => &['”', '"'],
        '`' => &['`'],
        '\'' | '‘' => &['\'', '’'],
        _ => return None,
    };
    if chars[at] == '\'' && at > 0 && chars[at - 1].is_alphanumeric() {
        return None;
    }
    (at + 2..chars.len()).find(|end| {
        close.contains(&chars[*end])
            && chars.get(end + 1).is_none_or(|next: &char| !next.is_alphanumeric())
    })
}

/// Returns true if two words in lower case are the same but for singular and plural. Words that
/// share no more than a stem, such as `return` and `returned`, are not.
pub(super) fn is_same_word(one: &str, other: &str) -> bool {
    one == other || (stem(one) == stem(other) && (is_plural(one, other) || is_plural(other, one)))
}

/// Returns true if `many` is a plural of `one`.
fn is_plural(many: &str, one: &str) -> bool {
    let rest = many.strip_prefix(one);
    matches!(rest, Some("s" | "es"))
        || many.strip_suffix("ies").is_some_and(|root| one.strip_suffix('y') == Some(root))
        || (many != one && singular(many) == one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_divided_into_words_numbers_days_and_quotes() {
        let kinds: Vec<(String, Kind)> =
            tokens("Anna's \"Desk Lamp\" month-over-month, 1,000 5% 2024-02-29?")
                .into_iter()
                .map(|token| (token.lower, token.kind))
                .collect();
        let day = NaiveDate::from_ymd_opt(2024, 2, 29).unwrap();
        let wanted = [
            ("anna", Kind::Word),
            ("desk lamp", Kind::Quoted),
            ("month", Kind::Word),
            ("over", Kind::Word),
            ("month", Kind::Word),
            (",", Kind::Comma),
            ("1000", Kind::Number),
            ("5", Kind::Number),
            ("percent", Kind::Word),
            ("2024-02-29", Kind::Day(day)),
            ("?", Kind::End),
        ];
        assert_eq!(kinds, wanted.map(|(text, kind)| (text.to_owned(), kind)));
    }

    #[test]
    fn plurals_are_the_same_word_and_participles_are_not() {
        for (one, other) in [("order", "orders"), ("category", "categories"), ("person", "people")]
        {
            assert!(is_same_word(one, other) && is_same_word(other, one), "{one}");
        }
        for (one, other) in [("return", "returned"), ("order", "ordered"), ("custom", "customers")]
        {
            assert!(!is_same_word(one, other), "{one}");
        }
    }
}
