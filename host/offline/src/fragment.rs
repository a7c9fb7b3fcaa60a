//! Parts of a question that have a meaning only after another question: `and in 2024?`.

use super::draft::Draft;
use super::words::Token;

/// The reason for which such a question is refused.
pub(crate) const WHY: &str = "this is a part of a question: say what you want to know, too";

/// Words that continue an earlier question.
const GOES_ON: &[&str] = &[
    "and", "or", "but", "then", "also", "plus", "only", "just", "except", "same", "instead",
    "those", "them", "these", "they", "it", "its", "their",
];

/// Words between what is asked for and a pronoun.
const AUXILIARIES: &[&str] = &[
    "are", "can", "did", "do", "does", "had", "has", "have", "is", "was", "were", "will", "would",
];
/// The limit on the place of such a word: what is asked for has few words.
const OBJECT: usize = 6;

/// Words that stand for somebody or something that was named before; `it` often stands for nothing,
/// as in `how much does it cost to …`.
const PRONOUNS: &[&str] =
    &["he", "her", "him", "his", "its", "she", "their", "them", "these", "they", "those"];
/// Words that name nothing: behind these alone, a pronoun stands for what an earlier question
/// named.
const NAMELESS: &[&str] = &[
    "a",
    "about",
    "all",
    "also",
    "among",
    "amongst",
    "and",
    "any",
    "are",
    "at",
    "both",
    "by",
    "can",
    "count",
    "did",
    "display",
    "do",
    "does",
    "each",
    "every",
    "few",
    "find",
    "first",
    "for",
    "fraction",
    "from",
    "get",
    "give",
    "had",
    "has",
    "have",
    "how",
    "i",
    "in",
    "is",
    "last",
    "least",
    "list",
    "many",
    "me",
    "more",
    "most",
    "much",
    "no",
    "none",
    "number",
    "of",
    "on",
    "one",
    "only",
    "out",
    "part",
    "per",
    "percent",
    "percentage",
    "please",
    "print",
    "proportion",
    "rest",
    "return",
    "see",
    "share",
    "show",
    "some",
    "tell",
    "than",
    "the",
    "then",
    "there",
    "three",
    "to",
    "two",
    "us",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "who",
    "whom",
    "whose",
    "why",
    "will",
    "with",
    "would",
    "you",
];

/// Returns true if the words mean something only after an earlier question.
pub(crate) fn is_part(tokens: &[Token]) -> bool {
    begins_like_follow_up(tokens) || asks_about_pronoun(tokens) || points_back(tokens)
}

/// Returns true if a pronoun stands for what no word before it names: `how many of them are paid?`.
/// `those who borrowed a book` names them behind it.
fn points_back(tokens: &[Token]) -> bool {
    let Some(place) = tokens.iter().position(|token| PRONOUNS.contains(&&*token.lower)) else {
        return false;
    };
    let next = word_at(tokens, place + 1);
    let is_alone = !matches!(word_at(tokens, place), "these" | "those")
        || next.is_empty()
        || AUXILIARIES.contains(&next);
    is_alone
        && (0..place).all(|at| match word_at(tokens, at) {
            "name" | "names" => word_at(tokens, at + 1) == "of",
            word => NAMELESS.contains(&word),
        })
}

/// Returns true if the words begin like a follow-up to an earlier question.
fn begins_like_follow_up(tokens: &[Token]) -> bool {
    let word = |at: usize| tokens.get(at).map_or("", |token| token.lower.as_str());
    let about = matches!(word(0), "what" | "how") && word(1) == "about";
    GOES_ON.contains(&word(0)) || about
}

fn word_at(tokens: &[Token], at: usize) -> &str {
    tokens.get(at).map_or("", |token| token.lower.as_str())
}

/// Returns true if somebody is asked about whom no word names: `how many orders did she have?`.
fn asks_about_pronoun(tokens: &[Token]) -> bool {
    let asks =
        matches!(word_at(tokens, 0), "how" | "what" | "which" | "when" | "where" | "in" | "on");
    let place = (1..=OBJECT).find(|at| {
        AUXILIARIES.contains(&word_at(tokens, *at))
            && matches!(word_at(tokens, *at + 1), "he" | "she" | "they")
    });
    // `how many books are there and how many members do they have` names them before.
    let is_first = place
        .is_some_and(|place| !(1..place).any(|at| matches!(word_at(tokens, at), "and" | "if")));
    asks && is_first
}

/// Returns true if there are only conditions, and nothing is asked for.
pub(crate) fn asks_nothing(tokens: &[Token], draft: &Draft) -> bool {
    // `which are paid` asks for rows.
    let asks_which = tokens.first().is_some_and(|token| token.lower == "which");
    !asks_which
        && draft.share.is_none()
        && draft.asked.is_empty()
        && draft.counted.is_empty()
        && draft.named.is_empty()
        && draft.keys.is_empty()
        && draft.best.is_none()
        && draft.frequent.is_none()
        && !draft.everything
}

#[cfg(test)]
mod tests {
    use crate::fixture::{self, block_on};
    use crate::interpret::interpret;

    #[test]
    fn a_part_of_a_question_is_none() {
        let cells = fixture::cells();
        let objection = |question: &str| {
            block_on(interpret(question, &fixture::library(), Some(cells.as_ref())))
                .objection
                .is_some()
        };
        for part in [
            "and in 2001?",
            "What about Oslo?",
            "from Oslo",
            "only the members",
            "those from Bergen",
            "Oslo?",
            "How many books did she borrow?",
            "how many loans do they have",
            "How many of them are from Oslo?",
            "Which of those are from Bergen?",
            "What percentage of them are from Oslo?",
            "What are their names?",
            "List all of them",
        ] {
            assert!(objection(part), "{part}");
        }
        for whole in [
            "members from Oslo",
            "How many members are from Oslo?",
            "titles",
            "number of books in 2001",
            "How many books are there?",
            "How many members are from Oslo, and what are their names?",
        ] {
            assert!(!objection(whole), "{whole}");
        }
    }
}
