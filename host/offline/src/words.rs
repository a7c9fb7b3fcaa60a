//! Divides questions into tokens and identifiers into words. The other modules refer to [`Token`]s
//! by their index.

use syrch_words::abbreviation;
pub(crate) use syrch_words::stem;

pub(crate) use super::token::{Kind, Token};
use super::{calendar, lexicon};

/// Divides a question into tokens.
pub(crate) fn tokens(question: &str) -> Vec<Token> {
    let chars: Vec<char> = question.chars().collect();
    let mut out = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let c = chars[at];
        if let Some(end) = end_of_quote(&chars, at) {
            let text: String = chars[at + 1..end].iter().collect();
            out.push(Token::new(text.trim(), Kind::Quoted, at..end + 1));
            at = end + 1;
        } else if c.is_ascii_digit() || is_minus(&chars, at) {
            at = number(&chars, at, &mut out);
        } else if c.is_alphabetic() || c == '_' {
            at = word(&chars, at, &mut out);
        } else {
            let end = (at + 1..chars.len())
                .find(|end| !is_comparison(chars[*end]))
                .unwrap_or(chars.len());
            let end = if is_comparison(c) { end } else { at + 1 };
            let text: String = chars[at..end].iter().collect();
            let within = at > 0
                && chars[at - 1].is_alphanumeric()
                && chars.get(end).is_some_and(|c| c.is_alphabetic());
            match c {
                // `archive.invoices` and `loc.lat` are names.
                '.' if within => {}
                '.' | ',' | '?' | ';' | '!' | '(' | ')' | ':' => {
                    out.push(Token::new(&text, Kind::Break, at..end))
                }
                '–' | '—' => out.push(Token::new(",", Kind::Break, at..end)),
                // The unit of a number is that of its column.
                '$' | '€' | '£'
                    if chars.get(end).is_some_and(|next| next.is_ascii_digit() || *next == ' ') => {
                }
                // Unpaired quotation marks, and dashes within words and between them.
                '"' | '\'' | '“' | '”' | '‘' | '’' | '`' | '-' => {}
                _ if c.is_whitespace() || c.is_control() => {}
                _ => out.push(Token::new(&text, Kind::Sign, at..end)),
            }
            at = end;
        }
    }
    calendar::join_decades(calendar::join_days(out))
}

/// Returns true if the sign before a number belongs to it: a dash between two numbers does not.
fn is_minus(chars: &[char], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| chars[before]);
    matches!(chars[at], '-' | '−')
        && chars.get(at + 1).is_some_and(char::is_ascii_digit)
        && before.is_none_or(|before| !before.is_alphanumeric())
}

fn is_comparison(c: char) -> bool {
    matches!(c, '<' | '>' | '=' | '≤' | '≥' | '≠')
}

/// The end of a quoted text that begins at `at`, if one does.
fn end_of_quote(chars: &[char], at: usize) -> Option<usize> {
    let close: &[char] = match chars[at] {
        '"' => &['"'],
        '“' => &['”', '"'],
        '‘' | '\'' => &['\'', '’'],
        '`' => &['`', '\''],
        _ => return None,
    };
    let apostrophe = close.contains(&'\'');
    // An apostrophe within or after a word does not open a quotation.
    if apostrophe && at > 0 && chars[at - 1].is_alphanumeric() {
        return None;
    }
    (at + 2..chars.len()).find(|end| {
        close.contains(&chars[*end])
            && (!apostrophe || chars.get(end + 1).is_none_or(|c| !c.is_alphanumeric()))
    })
}

fn number(chars: &[char], at: usize, out: &mut Vec<Token>) -> usize {
    fn is_number_part(chars: &[char], i: usize) -> bool {
        let within = |c: char| {
            chars.get(i) == Some(&c) && chars.get(i + 1).is_some_and(char::is_ascii_digit)
        };
        chars.get(i).is_some_and(char::is_ascii_digit) || within('.') || within(',') || within('-')
    }
    let digits = at + usize::from(!chars[at].is_ascii_digit());
    let end = (digits..).find(|i| !is_number_part(chars, *i)).unwrap_or(chars.len());
    let text: String = chars[at..end].iter().map(|c| if *c == '−' { '-' } else { *c }).collect();
    // Letters that follow directly make it a word, such as `4x4` or `1st`.
    if chars.get(end).is_some_and(|c| c.is_alphabetic()) {
        return word(chars, at, out);
    }
    let kind = match text.trim_start_matches('-').matches('-').count() {
        0 => Kind::Number,
        2 if text.len() == 10 => Kind::Date,
        _ => Kind::Quoted,
    };
    out.push(Token::new(&text, kind, at..end));
    end
}

fn word(chars: &[char], at: usize, out: &mut Vec<Token>) -> usize {
    fn is_word_part(chars: &[char], i: usize) -> bool {
        chars.get(i).is_some_and(|c| c.is_alphanumeric() || *c == '_')
            || (matches!(chars.get(i), Some('\'' | '’'))
                && chars.get(i + 1).is_some_and(|c| c.is_alphabetic()))
    }
    let end = (at..).find(|i| !is_word_part(chars, *i)).unwrap_or(chars.len());
    let text: String = chars[at..end].iter().collect();
    let text = text.replace('’', "'");
    let bare = text.strip_suffix("'s").unwrap_or(&text);
    let lower = bare.to_lowercase();
    // `the one with`, `each one` stand for a thing.
    let thing = lower == "one"
        && out.last().is_some_and(|last| {
            matches!(
                last.lower.as_str(),
                "the" | "each" | "this" | "that" | "which" | "every" | "no"
            )
        });
    // `two hundred`, `1.5 million`.
    if let (Some(power), Some(last)) = (lexicon::power_of_ten(&lower), out.last_mut())
        && last.kind == Kind::Number
        && let Ok(number) = last.lower.parse::<f64>()
    {
        last.lower = (number * power).to_string();
        last.place.end = end;
        return end;
    }
    match lexicon::number_word(&lower).filter(|_| !thing) {
        Some(digits) => {
            out.push(Token { lower: digits.to_owned(), ..Token::new(bare, Kind::Number, at..end) })
        }
        None => {
            let parts = bare.split('_').filter(|part| !part.is_empty());
            out.extend(
                parts.map(|part| Token::new(part, Kind::Word, at..at + bare.chars().count())),
            );
        }
    }
    end
}

/// The words of an identifier in lower case, divided at underscores, spaces, digits and changes of
/// case; well-known abbreviations are written out, and words written together are cut where the
/// tail is a usual one (`petname`).
pub(crate) fn identifier(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut current = String::new();
    let chars: Vec<char> = name.chars().collect();
    for (i, c) in chars.iter().enumerate() {
        let after_lower = i > 0 && chars[i - 1].is_lowercase() && c.is_uppercase();
        let before_lower = i > 0
            && chars[i - 1].is_uppercase()
            && c.is_uppercase()
            && chars.get(i + 1).is_some_and(|next| next.is_lowercase());
        if after_lower || before_lower || !c.is_alphanumeric() {
            words.push(std::mem::take(&mut current));
        }
        if c.is_alphanumeric() {
            current.extend(c.to_lowercase());
        }
    }
    words.push(current);
    words
        .iter()
        .filter(|word| !word.is_empty())
        .flat_map(|word| cut(word))
        .filter(|word| word != "of")
        .collect()
}

/// Separates a usual tail from a word and writes abbreviations out.
fn cut(word: &str) -> Vec<String> {
    if let Some(full) = abbreviation(word) {
        return full.split(' ').map(str::to_owned).collect();
    }
    // Two letters are a tail only after a whole syllable: `bookid`, but not `aid`.
    fn is_long_enough(word: &str, tail: &str) -> bool {
        word.len() > tail.len() + if tail.len() == 2 { 2 } else { 1 }
    }
    let tail =
        lexicon::TAILS.iter().find(|tail| is_long_enough(word, tail) && word.ends_with(**tail));
    match tail {
        Some(tail) if !lexicon::WHOLE.contains(&word) => {
            [cut(&word[..word.len() - tail.len()]), cut(tail)].concat()
        }
        _ => vec![word.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(question: &str) -> Vec<String> {
        tokens(question).into_iter().map(|token| token.lower).collect()
    }

    #[test]
    fn questions_are_cut_into_words_numbers_and_quotations() {
        assert_eq!(texts("Books' prices over $30,000?"), ["books", "prices", "over", "30000", "?"]);
        let quoted = tokens("loans of 'Emma Stone' on 2024-10-16, twenty at once");
        assert_eq!((quoted[2].text.as_str(), quoted[2].kind), ("Emma Stone", Kind::Quoted));
        assert_eq!(quoted[4].kind, Kind::Date);
        assert_eq!((quoted[6].lower.as_str(), quoted[6].kind), ("20", Kind::Number));
    }

    #[test]
    fn signs_are_kept() {
        fn kinds(question: &str) -> Vec<(String, Kind)> {
            tokens(question).into_iter().map(|token| (token.lower, token.kind)).collect()
        }
        fn number(text: &str) -> (String, Kind) {
            (text.to_owned(), Kind::Number)
        }
        fn sign(text: &str) -> (String, Kind) {
            (text.to_owned(), Kind::Sign)
        }
        assert_eq!(kinds("below -5.5")[1..], [number("-5.5")]);
        assert_eq!(kinds("10-20 −3")[1..], [number("-3")]);
        assert_eq!(
            kinds(">= $30 & 5%"),
            [sign(">="), number("30"), sign("&"), number("5"), sign("%")]
        );
        assert_eq!(kinds("1.5 million or two hundred")[..1], [number("1500000")]);
        assert_eq!(kinds("1.5 million or two hundred")[2..], [number("200")]);
        assert_eq!(kinds("e-mail - or not").len(), 4);
    }

    #[test]
    fn apostrophes_are_not_quotations() {
        assert_eq!(texts("the author's readers' cards"), ["the", "author", "readers", "cards"]);
    }

    #[test]
    fn identifiers_are_cut_into_words() {
        assert_eq!(identifier("FirstName"), ["first", "name"]);
        assert_eq!(identifier("num_of_pages"), ["number", "pages"]);
        assert_eq!(identifier("bookid"), ["book", "id"]);
        assert_eq!(identifier("ISBNCode"), ["isbn", "code"]);
    }
}
