//! The confidence that a model states in its text: `Confidence: 0.7`, `**Confidence:** 95%`,
//! `confidence = .5`, `Confidence: low`, `Konfidenz: 0,1`.

use syrch_core::text::clip;

/// The words that a statement of confidence begins with, in lower case.
const WORDS: [&str; 13] = [
    "confidence",
    "konfidenz",
    "vertrauen",
    "confiance",
    "confianza",
    "confiança",
    "confidenza",
    "fiducia",
    "pewność",
    "уверенность",
    "置信度",
    "信頼度",
    "確信度",
];
/// Words in the place of a number. One for a high confidence says no more than none does.
const LEVELS: [(&str, f64); 24] = [
    ("very low", 0.1),
    ("extremely low", 0.1),
    ("low", 0.3),
    ("medium", 0.5),
    ("moderate", 0.5),
    ("sehr gering", 0.1),
    ("sehr niedrig", 0.1),
    ("gering", 0.3),
    ("niedrig", 0.3),
    ("mittel", 0.5),
    ("très faible", 0.1),
    ("faible", 0.3),
    ("moyenne", 0.5),
    ("muy baj", 0.1),
    ("baja", 0.3),
    ("baixa", 0.3),
    ("molto bassa", 0.1),
    ("bassa", 0.3),
    ("media", 0.5),
    ("nisk", 0.3),
    ("низк", 0.3),
    ("средн", 0.5),
    ("低", 0.3),
    ("中", 0.5),
];
/// Words that may be between it and its number.
const FILLERS: [&str; 14] = [
    "score",
    "level",
    "value",
    "rating",
    "estimate",
    "in",
    "this",
    "is",
    "of",
    "at",
    "about",
    "around",
    "approximately",
    "roughly",
];
/// Markup and separators that may be there.
const MARKUP: &str = " \t\r*_`'\":：=~≈|>)]";

/// The last confidence of 0 to 1 that the text states; one out of range does not count.
pub(super) fn find_confidence(text: &str) -> Option<f64> {
    let lower = text.to_lowercase();
    let mut stated: Vec<(usize, f64)> = WORDS
        .iter()
        .flat_map(|word| lower.match_indices(word))
        .filter(|(at, word)| {
            !word.is_ascii() || !lower[..*at].ends_with(|c: char| c.is_alphanumeric())
        })
        .filter_map(|(at, word)| {
            let rest = clip(&lower[at + word.len()..], 128);
            let text = skip_to_number(rest)?;
            let is_set = rest[..rest.len() - text.len()].contains([':', '：', '=', '|', '\n']);
            let level = read_level(text).filter(|_| is_set).map(|(level, _)| level);
            Some((at, number(text).or(level)?))
        })
        .collect();
    stated.sort_by_key(|(at, _)| *at);
    stated.pop().map(|(_, value)| value)
}

/// Returns true if a line begins with a word for a confidence.
pub(super) fn begins_with_word(line: &str) -> bool {
    let line = clip(line, 64).to_lowercase();
    WORDS.iter().any(|word| line.starts_with(word))
}

/// A number from 0 to 1, also as a percentage or a ratio, or a word for one, which must be the
/// whole text.
pub(super) fn value(text: &str) -> Option<f64> {
    let text = text.trim().to_lowercase();
    let Some(number_read) = Number::read(&text) else {
        let (level, rest) = read_level(&text)?;
        let rest = rest.trim_start_matches(char::is_alphabetic).trim_start();
        return (rest.is_empty() || rest.starts_with([',', '.', ';', ':', '(', '-', '–', '—']))
            .then_some(level);
    };
    let rest =
        number_read.rest.trim_start_matches(|c: char| c.is_ascii_digit() || " %./".contains(c));
    rest.trim_start_matches("percent").is_empty().then(|| number(&text))?
}

/// A number without a unit as a confidence: from 0 to 1 as it is, a whole one up to 10 in tenths,
/// and a greater one up to 100 in hundredths.
pub(super) fn scale(value: f64) -> Option<f64> {
    let is_whole = value.fract() == 0.0;
    let scaled = match value {
        value if value > 10.0 => value / 100.0,
        value if value > 1.0 && is_whole => value / 10.0,
        value => value,
    };
    (0.0..=1.0).contains(&scaled).then_some(scaled)
}

/// The confidence of the word that a text begins with, and what follows it.
fn read_level(text: &str) -> Option<(f64, &str)> {
    let (word, value) = LEVELS.iter().find(|(word, _)| text.starts_with(word))?;
    let rest = &text[word.len()..];
    let is_stem = !word.is_ascii() || ["muy baj", "nisk"].contains(word);
    let is_whole = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '-');
    (is_stem || is_whole).then_some((*value, rest))
}

/// The text from the number on, if only fillers and markup are before it.
fn skip_to_number(text: &str) -> Option<&str> {
    if text.starts_with(|c: char| c.is_alphanumeric()) {
        return None;
    }
    let mut rest = text;
    let mut is_new_line = false;
    for _ in 0..32 {
        let next = rest.trim_start_matches(|c: char| MARKUP.contains(c));
        let next = FILLERS.iter().find_map(|word| strip_word(next, word)).unwrap_or(next);
        let next = next.strip_prefix('\n').inspect(|_| is_new_line = true).unwrap_or(next);
        // A scale, as in `confidence (0-1): 0.8`, but not a value, as in `confidence (0.8)`.
        let next = next.strip_prefix('(').map_or(next, |inner| after_scale(inner).unwrap_or(inner));
        let next = next.strip_prefix("- ").or_else(|| next.strip_prefix("– ")).unwrap_or(next);
        if next.len() == rest.len() {
            break;
        }
        rest = next;
    }
    // On a line of its own the number has it for itself: `1. First …` is a list.
    let line = rest.lines().next().unwrap_or_default();
    (!is_new_line || value(line.trim_matches(|c: char| MARKUP.contains(c))).is_some())
        .then_some(rest)
}

fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    text.strip_prefix(word).filter(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
}

/// Returns the text after a bracketed scale.
fn after_scale(inner: &str) -> Option<&str> {
    let (scale, rest) = inner.split_once(')')?;
    let follows = rest
        .trim_start_matches(|c: char| MARKUP.contains(c))
        .starts_with(|c: char| c.is_ascii_digit() || c == '.');
    (scale.len() <= 24 && !scale.contains('\n') && follows).then_some(rest)
}

/// The number at the beginning of the text, if it is from 0 to 1.
fn number(text: &str) -> Option<f64> {
    let Number { value, rest } = Number::read(text)?;
    let after = rest.trim_start_matches([' ', '*', '_', '`']);
    let over = after.strip_prefix('/').or_else(|| after.strip_prefix("out of"));
    let value = if let Some(whole) = over {
        let whole = Number::read(whole.trim_start())?.value;
        if whole > 0.0 { value / whole } else { return None }
    } else if after.starts_with('%') || after.starts_with("percent") {
        value / 100.0
    } else if rest.starts_with(|c: char| c.is_alphanumeric()) {
        return None;
    } else {
        return scale(value);
    };
    (0.0..=1.0).contains(&value).then_some(value)
}

/// An unsigned decimal number and what follows it.
struct Number<'a> {
    value: f64,
    rest: &'a str,
}

impl<'a> Number<'a> {
    /// Reads `7`, `0.7`, `.7` and `0,7`; not `1.2.3`.
    fn read(text: &'a str) -> Option<Self> {
        fn count_digits(text: &str) -> usize {
            text.bytes().take_while(u8::is_ascii_digit).count()
        }
        let whole = count_digits(text);
        let fraction = text[whole..].strip_prefix(['.', ',']).map_or(0, count_digits);
        let size = if fraction > 0 { whole + 1 + fraction } else { whole };
        let rest = &text[size..];
        let goes_on =
            fraction > 0 && rest.strip_prefix('.').is_some_and(|more| count_digits(more) > 0);
        if size == 0 || goes_on {
            return None;
        }
        let value = text[..size].replace(',', ".").parse().ok()?;
        Some(Self { value, rest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_spellings_are_read() {
        for (text, expected) in [
            ("Confidence: 0.7", 0.7),
            ("confidence 0.7.", 0.7),
            ("**Confidence:** 0.7", 0.7),
            ("**Confidence**: **0.7**", 0.7),
            ("Confidence = 0.7", 0.7),
            ("Confidence: .5", 0.5),
            ("Confidence: 95%", 0.95),
            ("CONFIDENCE: 95 percent", 0.95),
            ("Confidence score: 0.85", 0.85),
            ("confidence_level = 1", 1.0),
            ("My confidence is about 0.6, I think", 0.6),
            ("Confidence (0-1): 0.8", 0.8),
            ("Confidence (0.8)", 0.8),
            ("Confidence - 0.8", 0.8),
            ("Confidence: 9/10", 0.9),
            ("Confidence: 9 out of 10", 0.9),
            ("| Confidence | 0.4 |", 0.4),
            ("## Confidence\n\n0.9\n", 0.9),
            ("\"confidence\": 0.25", 0.25),
            ("Confidence: 0,7", 0.7),
            ("Confidence: 0.3 for the draft. Final confidence: 0.9", 0.9),
            ("Confidence: 95", 0.95),
            ("Confidence: 20", 0.2),
            ("Confidence: 7", 0.7),
            ("Confidence: low", 0.3),
            ("**Confidence:** Very low.", 0.1),
            ("Confidence level: medium", 0.5),
            ("| Confidence | low |", 0.3),
            ("Konfidenz: 0,1", 0.1),
            ("Konfidenz: niedrig", 0.3),
            ("Vertrauen: 90 %", 0.9),
            ("Confiance : 0,2", 0.2),
            ("Confianza: baja", 0.3),
            ("Уверенность: 0,4", 0.4),
            ("Уверенность: низкая", 0.3),
            ("置信度：0.2", 0.2),
            ("置信度：低", 0.3),
            ("確信度: 30%", 0.3),
        ] {
            assert_eq!(find_confidence(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_out_of_range_or_no_number_is_ignored() {
        for text in [
            "",
            "Confidence: 1.7",
            "Confidence: 950",
            "Confidence: -0.5",
            "Confidence: high",
            "Confidence: 250%",
            "Confidence: 1.2.3",
            "Confidence: 3rd",
            "Confidence: 1/0",
            "overconfidence: 0.5",
            "confidences 0.5",
            "Confidence\n1. First I read the question",
            "Confidence in low prices",
            "Confidence: low-level details",
            "Confidence: lower is better",
            "0.7",
        ] {
            assert_eq!(find_confidence(text), None, "{text}");
        }
        assert_eq!(find_confidence("Confidence: 0.6 … confidence: 700"), Some(0.6));
    }

    #[test]
    fn single_values_are_read_whole() {
        assert_eq!(value(" 95% "), Some(0.95));
        assert_eq!(value("0.5"), Some(0.5));
        assert_eq!(value("0.5 or so"), None);
        assert_eq!(value("high"), None);
        assert_eq!(value("20"), Some(0.2));
        assert_eq!(value("Very low"), Some(0.1));
        assert_eq!(value("low, since the column is missing"), Some(0.3));
        assert_eq!(value("low prices"), None);
    }
}
