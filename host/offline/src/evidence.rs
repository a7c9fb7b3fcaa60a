//! What the user added to the question: definitions of terms, and answers to clarifying questions.

use syrch_core::Problem;

/// The beginning of a clarifying question about the measure of a superlative.
const BY_WHAT: &str = "By what ";

/// The question with defined terms written out, and with the answers so far in place of what they explain, else at its end.
pub(crate) fn explained(question: &str, problem: &Problem) -> String {
    let mut text = question.to_owned();
    for (term, meaning) in definitions(problem.evidence.as_deref().unwrap_or_default()) {
        text = replaced(&text, term, meaning);
    }
    for (asked, answer) in &problem.answers {
        text = match term_in_doubt(asked, &text) {
            Some(term) if asked.starts_with(BY_WHAT) => replaced(&text, &term, &format!("{term} by {}", answer.trim())),
            Some(term) => replaced(&text, &term, meaning(answer, &term)),
            None => format!("{} ({})", text.trim_end(), answer.trim()),
        };
    }
    text
}

/// The words whose meaning a clarifying question asks for: the first words that it quotes, if they are a proper part of the user's question.
fn term_in_doubt(asked: &str, question: &str) -> Option<String> {
    let quoted = asked.split('"').nth(1)?.trim();
    let at = question.to_ascii_lowercase().find(&quoted.to_ascii_lowercase())?;
    let term = &question[at..at + quoted.len()];
    (!term.is_empty() && replaced(question, term, "") != question && term.len() < question.trim().len())
        .then(|| term.to_owned())
}

/// The meaning without the words that only introduce it: of `zorblats are customers` and `I mean customers`, `customers`.
fn meaning<'a>(answer: &'a str, term: &str) -> &'a str {
    let after = |text: &'a str, start: &str| {
        let head = text.get(..start.len())?;
        let rest = text[start.len()..].trim_start();
        head.eq_ignore_ascii_case(start).then_some(rest).filter(|rest| !rest.is_empty())
    };
    let answer = answer.trim().trim_end_matches(['.', '!']);
    let defined = after(answer, term)
        .and_then(|rest| ["=", ":", "is ", "are ", "means ", "mean "].into_iter().find_map(|verb| after(rest, verb)));
    defined.or_else(|| after(answer, "I mean ")).unwrap_or(answer)
}

/// `TERM = meaning` and `TERM (meaning) = formula`: one short term, and a meaning in words.
fn definitions(evidence: &str) -> Vec<(&str, &str)> {
    let sentences = evidence.split(['\n', ';']).flat_map(|line| line.split(". "));
    sentences.filter_map(definition).collect()
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
fn replaced(text: &str, term: &str, meaning: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(term) {
        let (before, after) = (&rest[..at], &rest[at + term.len()..]);
        let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        let whole = edge(before.chars().next_back()) && edge(after.chars().next());
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
    fn defined_terms_are_written_out() {
        let evidence = "ALD = average loan days. Filter names with LIKE.\nNB (number of books) = count(*)";
        let asked = explained("What are ALD and NB per member, NBA aside?", &problem(evidence));
        assert_eq!(asked, "What are average loan days and number of books per member, NBA aside?");
    }

    #[test]
    fn formulas_are_not_words() {
        assert_eq!(explained("What is the TR?", &problem("TR = (a + b) / 2")), "What is the TR?");
    }

    #[test]
    fn an_answer_stands_in_the_place_of_the_words_that_were_in_doubt() {
        let explained = |question: &str, answer: &str| {
            let asked =
                "What do you mean by \"zorblats\" in \"How many Zorblats?\"? The database has nothing of that name.";
            let answers = vec![(asked.to_owned(), answer.to_owned())];
            explained(question, &Problem { answers, ..Problem::default() })
        };
        for answer in ["customers", " Customers.", "zorblats are customers", "Zorblats: customers", "I mean customers"]
        {
            assert_eq!(explained("How many Zorblats?", answer).to_lowercase(), "how many customers?");
        }
        // Only whole words, and never the whole question.
        assert_eq!(explained("How many zorblatsies?", "x"), "How many zorblatsies? (x)");
        assert_eq!(explained("zorblats", "x"), "zorblats (x)");
        assert_eq!(explained("Zürich zorblats", ""), "Zürich ");
    }

    #[test]
    fn answers_follow_the_question() {
        let problem = Problem { answers: vec![("Which?".to_owned(), "the oldest".to_owned())], ..Problem::default() };
        assert_eq!(explained("List the member", &problem), "List the member (the oldest)");
    }
}
