//! Checks a model's sentence about a result: each number, quotation and capitalised name in it
//! stands in the rows that the model was shown, in the question, or in the names of the columns.

use std::collections::BTreeSet;

use syrch_plugin::prelude::*;
use syrch_plugin::prompt;

/// Words with which a sentence may begin although nothing has them.
const OPENINGS: &[&str] = &[
    "a",
    "about",
    "all",
    "altogether",
    "among",
    "an",
    "and",
    "as",
    "at",
    "based",
    "between",
    "both",
    "but",
    "by",
    "each",
    "every",
    "for",
    "from",
    "he",
    "here",
    "however",
    "in",
    "it",
    "its",
    "most",
    "no",
    "none",
    "of",
    "on",
    "only",
    "other",
    "others",
    "out",
    "overall",
    "she",
    "so",
    "that",
    "the",
    "their",
    "there",
    "these",
    "they",
    "this",
    "those",
    "to",
    "together",
    "total",
    "while",
    "with",
    "yes",
    "yet",
];

/// Words for numbers, from two on: `one` is as often no number.
const NUMBERS: &[(&str, f64)] = &[
    ("two", 2.0),
    ("three", 3.0),
    ("four", 4.0),
    ("five", 5.0),
    ("six", 6.0),
    ("seven", 7.0),
    ("eight", 8.0),
    ("nine", 9.0),
    ("ten", 10.0),
    ("eleven", 11.0),
    ("twelve", 12.0),
    ("thirteen", 13.0),
    ("fourteen", 14.0),
    ("fifteen", 15.0),
    ("sixteen", 16.0),
    ("seventeen", 17.0),
    ("eighteen", 18.0),
    ("nineteen", 19.0),
    ("twenty", 20.0),
    ("thirty", 30.0),
    ("forty", 40.0),
    ("fifty", 50.0),
    ("sixty", 60.0),
    ("seventy", 70.0),
    ("eighty", 80.0),
    ("ninety", 90.0),
    ("dozen", 12.0),
    ("twice", 2.0),
    ("double", 2.0),
    ("half", 0.5),
    ("third", 3.0),
    ("quarter", 4.0),
    ("hundred", 100.0),
    ("thousand", 1e3),
    ("million", 1e6),
    ("billion", 1e9),
];

/// The marks of a quotation, and the one that ends it.
const QUOTES: &[(char, char)] =
    &[('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('‘', '’'), ('`', '`')];

/// Returns an error with the first part of a sentence that nothing backs.
pub(crate) fn check_sentence(
    sentence: &str,
    problem: &Problem,
    profile: &Profile,
    page: &Page,
) -> Result<(), String> {
    let sources = Sources::new(problem, profile, page);
    check_quotations(sentence, &sources)?;
    let tokens: Vec<&str> = sentence.split_whitespace().collect();
    let mut before = "";
    for (place, token) in tokens.iter().enumerate() {
        let word = token.trim_matches(|c: char| !c.is_alphanumeric() && c != '-' && c != '−');
        if word.chars().any(|c| c.is_numeric() && !c.is_ascii_digit()) {
            return Err(word.to_owned());
        }
        if word.chars().any(|c| c.is_ascii_digit()) {
            let behind = tokens.get(place + 1).copied().unwrap_or_default();
            sources.check_number(word, Marks::new(before, token, behind))?;
        } else {
            let is_first = before.is_empty() || before.ends_with(['.', '!', '?', ':']);
            sources.check_word(word, is_first)?;
        }
        before = token;
    }
    Ok(())
}

/// The marks of a number in a sentence.
struct Marks {
    is_negative: bool,
    is_percent: bool,
}

impl Marks {
    /// Reads the marks of a number with the words before and behind it.
    fn new(before: &str, token: &str, behind: &str) -> Self {
        let sign = token.trim_start_matches(['(', '[', '"', '“', '\'']).chars().next();
        let is_minus = ["minus", "negative"].contains(&before.to_lowercase().as_str());
        let percents = ["%", "percent"];
        let behind = behind.trim_end_matches(|c: char| c.is_ascii_punctuation() && c != '%');
        Self {
            is_negative: is_minus || sign.is_some_and(|c| "-−–‐‑".contains(c)),
            is_percent: token.contains('%') || percents.contains(&behind.to_lowercase().as_str()),
        }
    }
}

fn check_quotations(sentence: &str, sources: &Sources) -> Result<(), String> {
    for (open, close) in QUOTES {
        let mut rest = sentence;
        while let Some((_, after)) = rest.split_once(*open) {
            let Some((quoted, behind)) = after.split_once(*close) else { break };
            let plain = quoted.trim().trim_end_matches(['.', ',']).to_lowercase();
            if !sources.texts.iter().any(|text| text.contains(&plain)) {
                return Err(quoted.to_owned());
            }
            rest = behind;
        }
    }
    Ok(())
}

/// The texts, words and numbers that may stand in a sentence.
struct Sources {
    texts: Vec<String>,
    words: BTreeSet<String>,
    /// The numbers in texts, without signs, and those of cells.
    numbers: Vec<f64>,
    cells: Vec<f64>,
    /// True if a name of a column or the question speaks of percent.
    has_percents: bool,
}

impl Sources {
    fn new(problem: &Problem, profile: &Profile, page: &Page) -> Self {
        let mut texts: Vec<String> = vec![problem.question.clone()];
        texts.extend(problem.evidence.clone());
        texts.extend(problem.answers.iter().map(|(_, answer)| answer.clone()));
        texts.extend(page.columns.iter().cloned());
        texts.extend(page.rows.iter().flatten().map(prompt::cell));
        let texts: Vec<String> = texts.iter().map(|text| text.to_lowercase()).collect();
        let words = texts.iter().flat_map(|text| split_words(text)).collect();
        let mut numbers: Vec<f64> = texts.iter().flat_map(|text| list_numbers(text)).collect();
        let cells: Vec<f64> = page.rows.iter().flatten().filter_map(exact_number).collect();
        numbers.extend(&cells);
        numbers.push(profile.rows as f64);
        let percents = ["%", "percent", "pct"];
        let has_percents = texts.iter().any(|text| percents.iter().any(|one| text.contains(one)));
        Self { texts, words, numbers, cells, has_percents }
    }

    /// A number may be rounded. One with a minus is that of a cell below zero, and one in percent
    /// is a share, or stands beside a text that speaks of percent.
    fn check_number(&self, word: &str, marks: Marks) -> Result<(), String> {
        let is_plain = !marks.is_negative && (!marks.is_percent || self.has_percents);
        if is_plain && self.words.contains(&word.to_lowercase()) {
            return Ok(());
        }
        let digits = word.trim_start_matches(|c: char| !c.is_ascii_digit());
        let Some(written) = Written::from_text(digits) else { return Err(word.to_owned()) };
        let known = if marks.is_negative { &self.cells } else { &self.numbers };
        let mut known = known.iter().filter(|number| !marks.is_negative || **number < 0.0);
        let is_backed = known.any(|number| {
            (!marks.is_percent || self.has_percents) && written.rounds(*number)
                || marks.is_percent && written.rounds(*number * 100.0)
        });
        if is_backed { Ok(()) } else { Err(word.to_owned()) }
    }

    /// A word with a capital letter is a name, and one of `NUMBERS` a number.
    fn check_word(&self, word: &str, is_first: bool) -> Result<(), String> {
        let lower = word.to_lowercase();
        let find = lower.split('-').map(|part| NUMBERS.iter().find(|(name, _)| *name == part));
        let numbers: Vec<&(&str, f64)> = find.flatten().collect();
        if !numbers.is_empty() {
            let is_known = numbers.iter().all(|(name, number)| {
                self.words.contains(*name)
                    || self.numbers.iter().any(|known| (known - number).abs() < 1e-9)
            });
            return if is_known { Ok(()) } else { Err(word.to_owned()) };
        }
        let mut parts = word.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
        let unbacked = parts.find(|part| {
            let is_name = part.chars().any(char::is_uppercase);
            let lower = part.to_lowercase();
            let is_opening = is_first && OPENINGS.contains(&lower.as_str());
            is_name && !is_opening && !self.words.contains(&lower)
        });
        unbacked.map_or(Ok(()), |_| Err(word.to_owned()))
    }
}

/// A number as a sentence has it.
pub(crate) struct Written {
    value: f64,
    decimals: usize,
}

impl Written {
    /// Reads digits with commas between thousands; `None` for anything else.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let text = text.trim_end_matches(|c: char| !c.is_ascii_digit());
        let plain = match text.split_once(',') {
            Some(_) if has_thousands(text) => text.replace(',', ""),
            Some(_) => return None,
            None => text.to_owned(),
        };
        let is_number = plain.chars().all(|c| c.is_ascii_digit() || c == '.');
        let value: f64 = plain.parse().ok().filter(|_| is_number)?;
        let decimals = plain.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        Some(Self { value, decimals })
    }

    /// Returns whether the number, without its sign, is this one with its decimals.
    pub(crate) fn rounds(&self, number: f64) -> bool {
        let half = 0.5 * 0.1_f64.powi(i32::try_from(self.decimals).unwrap_or(i32::MAX));
        (number.abs() - self.value).abs() <= half * (1.0 + 1e-9)
    }
}

/// Returns whether the commas of a number stand before groups of three digits.
fn has_thousands(text: &str) -> bool {
    let whole = text.split('.').next().unwrap_or_default();
    let mut groups = whole.split(',');
    let is_first = groups.next().is_some_and(|first| (1..=3).contains(&first.len()));
    is_first && groups.all(|group| group.len() == 3) && !text.ends_with(',')
}

fn split_words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let marked =
        text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    words.chain(marked).map(str::to_owned).collect()
}

/// The numbers among the digits of a text, and each group of digits, such as those of a day.
fn list_numbers(text: &str) -> Vec<f64> {
    let whole = text.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == ','));
    let whole = whole.filter_map(Written::from_text).map(|written| written.value);
    let groups = text.split(|c: char| !c.is_ascii_digit()).filter_map(|group| group.parse().ok());
    whole.chain(groups).collect()
}

/// The number of a cell; `None` for anything else.
pub(crate) fn exact_number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Real(number) => Some(*number),
        Value::Decimal(text) => text.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sentence: &str) -> Result<(), String> {
        let profile = Profile { rows: 8, ..Profile::default() };
        let page = Page {
            columns: vec!["country".into(), "share".into(), "revenue".into(), "day".into()],
            rows: vec![
                vec![
                    Value::Text("New Zealand".into()),
                    Value::Real(0.1254),
                    Value::Decimal("1234567.891".into()),
                    Value::Temporal("2024-03-07".into()),
                ],
                vec![
                    Value::Text("O'Brien & Söhne".into()),
                    Value::Null,
                    Value::Integer(-42),
                    Value::Null,
                ],
            ],
            clipped: false,
        };
        let problem = Problem::new("Which 3 countries had the highest revenue in Q1 2024?");
        check_sentence(sentence, &problem, &profile, &page)
    }

    #[test]
    fn what_the_rows_and_the_question_have_may_be_said() {
        for sentence in [
            "New Zealand had the highest revenue, 1,234,567.89.",
            "The revenue of New Zealand was 1234568 in Q1 2024.",
            "In 2024 the share of New Zealand was 12.5%, and 42 came from O'Brien & Söhne.",
            "There are 8 countries; the first is \"New Zealand\" on 2024-03-07.",
            "Revenue: 1234567.891 for New Zealand. It was the highest of eight.",
            "Three countries are asked for.",
            "−42 is the least.",
            "The share was 12.5 %, and the least is minus 42.",
        ] {
            assert_eq!(check(sentence), Ok(()), "{sentence}");
        }
    }

    #[test]
    fn anything_else_may_not() {
        for (sentence, unbacked) in [
            ("France had the highest revenue.", "France"),
            ("The highest is that of New France.", "France"),
            ("New Zealand had 1,234,568.9.", "1,234,568.9"),
            ("New Zealand had 1.2 million.", "1.2"),
            ("The share was 13.5%.", "13.5"),
            ("The share was 0.13 of 9 rows.", "9"),
            ("It was \"the old country\".", "the old country"),
            ("It was five times as much.", "five"),
            ("It doubled in April.", "April"),
            ("In May 2024 it was 42.", "May"),
            ("It was 12,34 in 2024.", "12,34"),
            ("It was ½ of 42.", "½"),
            ("It was 42² in 2024.", "42²"),
            ("There are -8 countries.", "-8"),
            ("There are –8 countries.", "8"),
            ("It was minus 8 in 2024.", "8"),
            ("It grew by 42 % in 2024.", "42"),
            ("The share was 0.1254 %.", "0.1254"),
            ("There are twenty-five countries.", "twenty-five"),
            ("There are ninety countries.", "ninety"),
            ("A Großbritannien.", "Großbritannien"),
        ] {
            assert_eq!(check(sentence), Err(unbacked.to_owned()), "{sentence}");
        }
    }
}
