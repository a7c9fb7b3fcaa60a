//! The evidence that the user added to the question: definitions of terms, and answers to
//! clarifying questions.

use chrono::NaiveDate;
use syrch_core::Problem;

use super::lexicon;

/// The beginning of a clarifying question about the measure of a superlative.
const BY_WHAT: &str = "By what ";

/// The beginning of the line that says which day a question takes for today.
const TODAY: &str = "Today is ";

/// The evidence of a question: the day that it takes for today, and the rest.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Evidence {
    /// The day, if it is said on a line of its own as `Today is 2024-12-31.`.
    pub today: Option<NaiveDate>,
    /// True if there is more.
    pub has_words: bool,
}

impl Evidence {
    /// Reads the evidence of a problem.
    #[must_use]
    pub fn from_problem(problem: &Problem) -> Self {
        let mut read = Self::default();
        for line in problem.evidence.as_deref().unwrap_or_default().lines() {
            let line = line.trim();
            match read_today(line) {
                Some(day) => read.today = Some(day),
                None => read.has_words |= !line.is_empty(),
            }
        }
        read
    }
}

/// The day of a line such as `Today is 2024-12-31.`.
fn read_today(line: &str) -> Option<NaiveDate> {
    let day = line.strip_prefix(TODAY)?;
    NaiveDate::parse_from_str(day.trim_end_matches('.'), "%Y-%m-%d").ok()
}

/// The question with defined terms written out, and with the answers so far in place of what they
/// explain, else at its end.
pub(crate) fn apply_evidence(question: &str, problem: &Problem) -> String {
    let mut text = question.to_owned();
    let evidence = problem.evidence.as_deref().unwrap_or_default();
    for (term, meaning) in definitions(evidence) {
        text = replace_word(&text, term, meaning);
    }
    for (term, meaning) in sentences(evidence).filter_map(read_definition) {
        let whole = find_words(&text, term).filter(|term| has_superlative(term));
        if let Some(term) = part_of(&text, term).or(whole) {
            text = replace_word(&text, &term, &add_measure(&term, meaning));
        }
    }
    for (asked, answer) in &problem.answers {
        let is_measure = asked.starts_with(BY_WHAT);
        let whole =
            first_quoted(asked).filter(|_| is_measure).and_then(|term| find_words(&text, term));
        text = match term_in_doubt(asked, &text).or(whole) {
            Some(term) if asked.starts_with(BY_WHAT) => {
                replace_word(&text, &term, &add_measure(&term, answer))
            }
            Some(term) => replace_word(&text, &term, meaning(answer, &term)),
            None => format!("{} ({})", text.trim_end(), answer.trim()),
        };
    }
    text
}

/// The words whose meaning a clarifying question asks for: the first words that it quotes, if they
/// are a proper part of the user's question.
fn term_in_doubt(asked: &str, question: &str) -> Option<String> {
    part_of(question, first_quoted(asked)?)
}

/// The first words that a clarifying question quotes.
fn first_quoted(asked: &str) -> Option<&str> {
    asked.split('"').nth(1).map(str::trim)
}

/// The words as they stand in the question, if they are a proper part of it.
fn part_of(question: &str, quoted: &str) -> Option<String> {
    find_words(question, quoted).filter(|term| term.len() < question.trim().len())
}

/// The words as they stand in the question.
fn find_words(question: &str, quoted: &str) -> Option<String> {
    let at = question.to_ascii_lowercase().find(&quoted.to_ascii_lowercase())?;
    let term = &question[at..at + quoted.len()];
    (!term.is_empty() && replace_word(question, term, "") != question).then(|| term.to_owned())
}

/// The question with a measure for the words of which an objection says that they have none, if the
/// evidence is one of the measures that it offers.
pub(crate) fn apply_measure(question: &str, problem: &Problem, objection: &str) -> Option<String> {
    let (words, offered) = objection.strip_prefix("no measure for: ")?.split_once(" (")?;
    let offered: Vec<&str> = offered.trim_end_matches(')').split(", ").collect();
    let measure = sentences(problem.evidence.as_deref()?).find_map(|sentence| {
        let said = sentence.trim().trim_end_matches(['.', '!']);
        let said =
            ["by ", "the "].iter().fold(said, |rest, word| strip(rest, word).unwrap_or(rest));
        offered.iter().find(|measure| measure.eq_ignore_ascii_case(said))
    })?;
    let term = find_words(question, words)?;
    Some(replace_word(question, &term, &add_measure(&term, measure)))
}

fn has_superlative(text: &str) -> bool {
    text.split(' ').any(|word| lexicon::superlative_scale(&word.to_lowercase()).is_some())
}

/// `TERM means MEANING`, where the meaning is words.
fn read_definition(sentence: &str) -> Option<(&str, &str)> {
    /// Words between what is explained and what explains it.
    const VERBS: [&str; 6] =
        [" is measured by ", " are measured by ", " refers to ", " means ", " mean ", " = "];
    /// Words before what is explained.
    const BEFORE: [&str; 4] = ["by ", "the ", "a ", "an "];
    let (term, meaning) = VERBS.iter().find_map(|verb| sentence.split_once(verb))?;
    fn is_space_or_quote(c: char) -> bool {
        c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ',')
    }
    let mut term = term.trim_matches(is_space_or_quote);
    while let Some(rest) = BEFORE.iter().find_map(|word| strip(term, word)) {
        term = rest.trim_matches(is_space_or_quote);
    }
    let term = term.strip_suffix(" I").unwrap_or(term).trim_matches(is_space_or_quote);
    let meaning = meaning.trim().trim_end_matches(['.', '!', ';']);
    let is_words =
        meaning.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | ',' | '\'' | '_'));
    // `TERM = …` of one word is a definition of an abbreviation.
    let is_short = !term.contains(' ') && sentence.contains('=');
    (is_words && !is_short && !term.is_empty() && !meaning.is_empty()).then_some((term, meaning))
}

/// The words in doubt with what measures them: of `biggest customer`, `customer with the highest
/// number of orders`. The meaning of other words takes their place.
fn add_measure(term: &str, answer: &str) -> String {
    let plain =
        ["by ", "the "].iter().fold(answer.trim(), |rest, word| strip(rest, word).unwrap_or(rest));
    if !has_superlative(term) {
        return meaning(answer, term).to_owned();
    }
    let (first, rest) = term.split_once(' ').unwrap_or((term, ""));
    let scale = lexicon::superlative_scale(&first.to_lowercase())
        .filter(|_| !rest.starts_with(|c: char| c.is_ascii_digit()));
    let Some(scale) = scale.filter(|_| !rest.is_empty()) else {
        return format!("{term} by {plain}");
    };
    if has_superlative(plain) {
        let is_whole = plain.to_lowercase().contains(&rest.to_lowercase());
        return if is_whole { plain.to_owned() } else { format!("{rest} with the {plain}") };
    }
    match strip(plain, "number of ") {
        Some(_) => {
            // `most popular category` is as `biggest category`.
            let adjective = rest.split_once(' ').filter(|_| scale.counts);
            let rest = adjective.map_or(rest, |(_, thing)| thing);
            format!("{rest} with the {} {plain}", if scale.up { "highest" } else { "lowest" })
        }
        None => format!("{term} by {plain}"),
    }
}

/// The text after such a beginning, letter case aside.
fn strip<'a>(text: &'a str, beginning: &str) -> Option<&'a str> {
    let head = text.get(..beginning.len())?;
    head.eq_ignore_ascii_case(beginning).then(|| text[beginning.len()..].trim_start())
}

/// The meaning without the words that only introduce it: of `zorblats are customers` and `I mean
/// customers`, `customers`.
fn meaning<'a>(answer: &'a str, term: &str) -> &'a str {
    let after = |text: &'a str, start: &str| {
        let head = text.get(..start.len())?;
        let rest = text[start.len()..].trim_start();
        head.eq_ignore_ascii_case(start).then_some(rest).filter(|rest| !rest.is_empty())
    };
    let answer = answer.trim().trim_end_matches(['.', '!']);
    let defined = after(answer, term).and_then(|rest| {
        ["=", ":", "is ", "are ", "means ", "mean "].into_iter().find_map(|verb| after(rest, verb))
    });
    defined.or_else(|| after(answer, "I mean ")).unwrap_or(answer)
}

/// `TERM = meaning` and `TERM (meaning) = formula`: one short term, and a meaning in words.
fn definitions(evidence: &str) -> Vec<(&str, &str)> {
    sentences(evidence).filter_map(definition).collect()
}

fn sentences(evidence: &str) -> impl Iterator<Item = &str> {
    evidence.split(['\n', ';']).flat_map(|line| line.split(". "))
}

fn definition(sentence: &str) -> Option<(&str, &str)> {
    let (left, right) = sentence.split_once('=')?;
    let (term, long) = match left.split_once('(') {
        Some((term, long)) => (term.trim(), Some(long.trim().trim_end_matches(')'))),
        None => (left.trim(), None),
    };
    // A term is an abbreviation: one word with at least two capital letters.
    let short = !term.contains(' ') && term.chars().filter(|c| c.is_uppercase()).count() >= 2;
    let meaning = long.unwrap_or(right).trim().trim_end_matches('.');
    let words = meaning.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | ',' | '\''));
    (short && words && !meaning.is_empty()).then_some((term, meaning))
}

/// The text with a whole word replaced.
fn replace_word(text: &str, term: &str, meaning: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(term) {
        let before = &rest[..at];
        let after = &rest[at + term.len()..];
        fn is_word_edge(c: Option<char>) -> bool {
            c.is_none_or(|c| !c.is_alphanumeric())
        }
        let whole = is_word_edge(before.chars().next_back()) && is_word_edge(after.chars().next());
        out += before;
        out += if whole { meaning } else { term };
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(evidence: &str) -> Problem {
        Problem { evidence: Some(evidence.to_owned()), ..Problem::default() }
    }

    #[test]
    fn the_day_of_a_question_is_no_explanation() {
        let day = NaiveDate::from_ymd_opt(2024, 2, 29);
        for (evidence, today, has_words) in [
            ("Today is 2024-02-29.", day, false),
            ("the shop is German\nToday is 2024-02-29.", day, true),
            ("Today is a good day.", None, true),
            ("Today is 2023-02-29.", None, true),
            (" \n", None, false),
        ] {
            let wanted = Evidence { today, has_words };
            assert_eq!(Evidence::from_problem(&problem(evidence)), wanted, "{evidence}");
        }
        assert_eq!(Evidence::from_problem(&Problem::default()), Evidence::default());
    }

    #[test]
    fn defined_terms_are_written_out() {
        let evidence =
            "ALD = average loan days. Filter names with LIKE.\nNB (number of books) = count(*)";
        let asked =
            apply_evidence("What are ALD and NB per member, NBA aside?", &problem(evidence));
        assert_eq!(asked, "What are average loan days and number of books per member, NBA aside?");
    }

    #[test]
    fn what_measures_a_superlative_is_written_out() {
        for (evidence, asked) in [
            (
                "biggest customer means number of orders",
                "Who is the customer with the highest number of orders?",
            ),
            (
                "\"biggest customer\" means most orders.",
                "Who is the customer with the most orders?",
            ),
            (
                "the biggest customer is measured by revenue",
                "Who is the biggest customer by revenue?",
            ),
            (
                "Biggest customer = number of reviews",
                "Who is the customer with the highest number of reviews?",
            ),
            ("biggest customer = sum(x)", "Who is the biggest customer?"),
            ("smallest customer means few orders", "Who is the biggest customer?"),
        ] {
            assert_eq!(
                apply_evidence("Who is the biggest customer?", &problem(evidence)),
                asked,
                "{evidence}"
            );
        }
        fn say(answer: &str) -> String {
            let question = "By what is \"smallest customer\" measured?".to_owned();
            let answers = vec![(question, answer.to_owned())];
            apply_evidence(
                "Who is the smallest customer?",
                &Problem { answers, ..Problem::default() },
            )
        }
        assert_eq!(
            say("number of orders"),
            "Who is the customer with the lowest number of orders?"
        );
        assert_eq!(
            say("by the number of orders"),
            "Who is the customer with the lowest number of orders?"
        );
        assert_eq!(say("age"), "Who is the smallest customer by age?");
    }

    #[test]
    fn formulas_are_not_words() {
        assert_eq!(
            apply_evidence("What is the TR?", &problem("TR = (a + b) / 2")),
            "What is the TR?"
        );
    }

    #[test]
    fn an_answer_stands_in_the_place_of_the_words_that_were_in_doubt() {
        fn explain(question: &str, answer: &str) -> String {
            let asked = "What do you mean by \"zorblats\" in \"How many Zorblats?\"? The database \
                         has nothing of that name.";
            let answers = vec![(asked.to_owned(), answer.to_owned())];
            apply_evidence(question, &Problem { answers, ..Problem::default() })
        }
        for answer in [
            "customers",
            " Customers.",
            "zorblats are customers",
            "Zorblats: customers",
            "I mean customers",
        ] {
            assert_eq!(explain("How many Zorblats?", answer).to_lowercase(), "how many customers?");
        }
        // Only whole words, and never the whole question.
        assert_eq!(explain("How many zorblatsies?", "x"), "How many zorblatsies? (x)");
        assert_eq!(explain("zorblats", "x"), "zorblats (x)");
        assert_eq!(explain("Zürich zorblats", ""), "Zürich ");
    }

    #[test]
    fn answers_follow_the_question() {
        let problem = Problem {
            answers: vec![("Which?".to_owned(), "the oldest".to_owned())],
            ..Problem::default()
        };
        assert_eq!(apply_evidence("List the member", &problem), "List the member (the oldest)");
    }
}
