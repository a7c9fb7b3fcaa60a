//! The question taken apart: words and pairs of words that may name tables and columns, and phrases
//! that may stand in cells.

use syrch_plugin::prelude::*;
use syrch_plugin::text::{clip, is_one_of};

/// Words that say how a question is put.
const PLAIN: &str = "about above after all also and any are ascending been before below between \
    both but calculate descending did different display distinct does each either every find for \
    from get give greater had has have how include into its least less list many more most much \
    not only order ordered other out over per please return show \
    some sort sorted tell than that the their them then there these they this those under use \
    using was were what when where which who whose will with without you your";

/// Words that an English sentence of some length hardly lacks, and that other languages do not
/// have.
const ENGLISH: &str = "and are at average between by compare count did does each every find first \
    following for from get give have highest how last least list lowest many most much number of \
    order return show than that the their there these top were what when \
    where which who whose with you";
/// Words from which on a text without any of these is of another language.
const SENTENCE: usize = 5;

/// Words that names are looked for by.
const WORDS: usize = 30;
/// Phrases that cells are looked for by, within what one call of the port takes.
const PHRASES: usize = 240;
/// Words of a phrase at most.
const RUN: usize = 4;
/// The most bytes of the question that are read.
const TEXT: usize = 8 * 1024;

/// A phrase that may stand in a cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Phrase {
    pub(crate) text: String,
    /// True if it reads like a value: quoted, a number, or in capitals within a sentence.
    pub(crate) is_marked: bool,
}

/// A question taken apart.
#[derive(Debug, Default)]
pub(crate) struct Phrases {
    /// All of its text, with what the user explained.
    pub(crate) text: String,
    /// Its words and pairs of words in lower case that may be names.
    pub(crate) names: Vec<String>,
    /// The phrases that may stand in cells, marked ones first.
    pub(crate) values: Vec<Phrase>,
    /// True if the question is in another language than English.
    pub(crate) is_foreign: bool,
}

impl Phrases {
    pub(crate) fn from_problem(problem: &Problem) -> Self {
        let mut text = problem.question.clone();
        let reported = problem.evidence.iter().chain(&problem.goal);
        for more in reported.chain(problem.answers.iter().map(|(_, answer)| answer)) {
            text = format!("{text}\n{more}");
        }
        let text = clip(&text, TEXT).to_owned();
        let tokens = tokens(&text);
        let is_foreign = is_foreign(&self::tokens(clip(&problem.question, TEXT)));
        Self { names: names(&tokens), values: values(&text, &tokens), is_foreign, text }
    }

    /// Adds what a model thinks the question is about.
    pub(crate) fn add_keywords(&mut self, keywords: Vec<String>) {
        self.values.truncate(PHRASES - keywords.len().min(PHRASES));
        for keyword in keywords {
            self.text = format!("{}\n{keyword}", self.text);
            push(&mut self.names, keyword.to_lowercase());
            push_phrase(&mut self.values, &keyword, true);
        }
    }
}

/// Returns true if words are of another language: they have letters that English does not have, in
/// more than names, or a sentence without an English function word.
fn is_foreign(tokens: &[Token<'_>]) -> bool {
    let words: Vec<&Token<'_>> = tokens
        .iter()
        .filter(|token: &&Token<'_>| token.text.chars().all(char::is_alphabetic))
        .collect();
    let others = words
        .iter()
        .filter(|token: &&&Token<'_>| !token.text.is_ascii() && !token.is_marked())
        .count();
    let has_english =
        words.iter().any(|token: &&Token<'_>| is_one_of(ENGLISH, &token.text.to_lowercase()));
    others * 2 >= words.len().max(1) || !has_english && (others > 0 || words.len() >= SENTENCE)
}

/// A word of the question.
struct Token<'t> {
    text: &'t str,
    /// True if a sentence or a line begins with it.
    is_first: bool,
}

impl Token<'_> {
    fn is_plain(&self) -> bool {
        self.text.len() < 3 || is_one_of(PLAIN, &self.text.to_lowercase())
    }

    fn is_marked(&self) -> bool {
        let starts = |test: fn(char) -> bool| self.text.chars().next().is_some_and(test);
        starts(|c| c.is_ascii_digit()) || (starts(char::is_uppercase) && !self.is_first)
    }
}

/// Words with what joins their parts, such as `O'Hare`, `high-speed` and `vin_number`.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut is_first = true;
    for piece in text
        .split(|c: char| c.is_whitespace() || matches!(c, '"' | '(' | ')' | ',' | '/' | '“' | '”'))
    {
        let word = piece.trim_matches(|c: char| !c.is_alphanumeric());
        let word = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
        if !word.is_empty() {
            tokens.push(Token { text: word, is_first });
            is_first = piece.ends_with(['.', '?', '!', ':', ';']);
        }
    }
    tokens
}

fn push(all: &mut Vec<String>, text: String) {
    if all.len() < WORDS * 2 && !all.contains(&text) {
        all.push(text);
    }
}

/// Words, then pairs of neighbours.
fn names(tokens: &[Token<'_>]) -> Vec<String> {
    let content: Vec<String> = tokens
        .iter()
        .filter(|token| !token.is_plain())
        .map(|token| token.text.to_lowercase())
        .take(WORDS)
        .collect();
    let mut names = Vec::new();
    for word in &content {
        push(&mut names, word.clone());
    }
    for pair in content.windows(2) {
        push(&mut names, pair.join(" "));
    }
    names
}

fn push_phrase(values: &mut Vec<Phrase>, text: &str, is_marked: bool) {
    let text = text.trim();
    if !text.is_empty()
        && values.len() < PHRASES
        && values.iter().all(|phrase| !phrase.text.eq_ignore_ascii_case(text))
    {
        values.push(Phrase { text: text.to_owned(), is_marked });
    }
}

/// Quoted texts, runs in capitals and numbers; then all runs of up to four words that neither begin
/// nor end with a plain one.
fn values(text: &str, tokens: &[Token<'_>]) -> Vec<Phrase> {
    let mut values = Vec::new();
    for quote in find_quotes(text) {
        push_phrase(&mut values, quote, true);
    }
    for run in runs(tokens) {
        push_phrase(&mut values, &run, true);
    }
    for token in tokens.iter().filter(|token| token.is_marked() && !token.is_plain()) {
        push_phrase(&mut values, token.text, true);
    }
    for size in (1..=RUN).rev() {
        for window in tokens.windows(size) {
            let first = &window[0];
            let last = &window[size - 1];
            if !first.is_plain() && !last.is_plain() {
                let words: Vec<&str> = window.iter().map(|token| token.text).collect();
                push_phrase(&mut values, &words.join(" "), false);
            }
        }
    }
    values
}

/// Returns the texts in quotation marks. An apostrophe within a word or after one opens none.
fn find_quotes(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (open, close) in [('"', '"'), ('“', '”'), ('\'', '\''), ('‘', '’'), ('`', '`')] {
        let mut rest = text;
        while let Some(start) = rest.find(open) {
            let before = rest[..start].chars().next_back();
            let inner = &rest[start + open.len_utf8()..];
            let opens = before.is_none_or(|c| !c.is_alphanumeric());
            match inner.find(close).filter(|_| opens) {
                Some(end) => {
                    found.push(&inner[..end]);
                    rest = &inner[end + close.len_utf8()..];
                }
                None => rest = inner,
            }
        }
    }
    found
}

/// Runs of two and more words in capitals. Short words may stand within, but not after the first
/// word of a sentence, whose capital says nothing.
fn runs(tokens: &[Token<'_>]) -> Vec<String> {
    let is_capital = |token: &Token<'_>| token.text.chars().next().is_some_and(char::is_uppercase);
    let mut found = Vec::new();
    let mut start = 0;
    while start < tokens.len() {
        let mut end = start;
        for (at, token) in tokens.iter().enumerate().skip(start) {
            if is_capital(token)
                && !(at == start && token.is_plain())
                && (at == start || !token.is_first)
            {
                end = at + 1;
            } else if at == start
                || token.text.len() > 3
                || token.is_first
                || (at == start + 1 && tokens[start].is_first)
            {
                break;
            }
        }
        if end > start + 1 {
            found.push(
                tokens[start..end].iter().map(|token| token.text).collect::<Vec<_>>().join(" "),
            );
        }
        start = end.max(start + 1);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_phrases(question: &str) -> Phrases {
        Phrases::from_problem(&Problem::new(question))
    }

    fn read_marked(question: &str) -> Vec<String> {
        read_phrases(question)
            .values
            .into_iter()
            .filter(|phrase| phrase.is_marked)
            .map(|phrase| phrase.text)
            .collect()
    }

    #[test]
    fn names_are_words_and_pairs() {
        assert_eq!(
            read_phrases("What is the total sale price of the cars?").names,
            ["total", "sale", "price", "cars", "total sale", "sale price", "price cars"]
        );
    }

    #[test]
    fn values_are_quoted_in_capitals_or_numbers() {
        assert_eq!(
            read_marked("Songs by \"Hey Jude\" of 2014?"),
            ["Hey Jude", "Hey", "Jude", "2014"]
        );
        assert_eq!(
            read_marked("Is the Bank of America in it?"),
            ["Bank of America", "Bank", "America"]
        );
        assert_eq!(read_marked("Which cities are in Texas? Show them."), ["Texas"]);
        assert_eq!(
            read_marked("the airline's 'JetBlue Airways' flights"),
            ["JetBlue Airways", "JetBlue", "Airways"]
        );
        assert!(read_marked("How many singers do we have?").is_empty());
    }

    #[test]
    fn other_phrases_come_after_and_have_no_plain_ends() {
        let texts: Vec<String> = read_phrases("cars with automatic transmission")
            .values
            .into_iter()
            .map(|value| value.text)
            .collect();
        assert_eq!(
            texts,
            [
                "cars with automatic transmission",
                "cars with automatic",
                "automatic transmission",
                "cars",
                "automatic",
                "transmission"
            ]
        );
    }

    #[test]
    fn what_the_user_explained_is_looked_at() {
        let problem = Problem {
            evidence: Some("churn means no orders".into()),
            ..Problem::new("How high is it?")
        };
        assert!(Phrases::from_problem(&problem).names.contains(&"churn".to_owned()));
    }

    #[test]
    fn questions_in_other_languages_are_known() {
        for question in [
            "Wie viele Kunden gibt es je Land?",
            "¿Cuántos clientes hay en cada país?",
            "Combien de commandes avons-nous reçues ?",
            "сколько заказов в 2024 году",
            "各国有多少客户？",
            "Quanti ordini ha fatto Anna",
        ] {
            assert!(read_phrases(question).is_foreign, "{question}");
        }
        for question in [
            "How many customers are there?",
            "revenue by Café München",
            "revenue 2024",
            "top 5 customers",
            "List orders of Zoë Ångström",
            "List customers in Germany",
            "total revenue in Germany 2024",
            "",
        ] {
            assert!(!read_phrases(question).is_foreign, "{question}");
        }
    }

    #[test]
    fn keywords_are_added_once() {
        let mut phrases = read_phrases("How many cars?");
        phrases.add_keywords(vec!["Cars".into(), "Net Revenue".into()]);
        assert_eq!(phrases.names, ["cars", "net revenue"]);
        assert!(phrases.text.ends_with("\nNet Revenue"));
    }

    #[test]
    fn a_long_question_is_bounded() {
        let phrases = read_phrases(&"every Word counts, 17 times \"or\" more ".repeat(1000));
        assert!(
            phrases.names.len() <= 60 && phrases.values.len() <= 240 && phrases.text.len() <= TEXT
        );
        let different: String = (0..2000).map(|number| format!("word{number} ")).collect();
        let phrases = read_phrases(&different);
        assert!(phrases.names.len() <= 60 && phrases.values.len() == 240);
    }
}
