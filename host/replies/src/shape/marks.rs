//! The words before a statement, by which a reply says what it is.

/// Bytes before a statement that are read.
const NEAR: usize = 400;

/// The mark that a reply gives a statement; a greater one is preferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mark {
    /// A first draft, or a step on the way.
    Draft,
    /// An alternative, an example, or a template.
    Alternative,
    /// No mark.
    Plain,
    /// The statement that was asked for, by the name that the prompt gives it.
    Named,
    /// The final statement, or a correction.
    Final,
}

/// Words that make a heading such as `Final query:` one of a final statement.
const FINAL: [&str; 11] = [
    "final",
    "corrected",
    "correct",
    "right",
    "fixed",
    "revised",
    "better",
    "complete",
    "full",
    "combined",
    "improved",
];
/// Words that are nothing more than headings.
const HEADINGS: [&str; 12] = [
    "answer",
    "query",
    "sql",
    "statement",
    "version",
    "result",
    "one",
    "solution",
    "form",
    "code",
    "attempt",
    "sqlquery",
];
/// Sentences that take the statement before them back.
const RETRACTIONS: [&str; 12] = [
    "wrong",
    "incorrect",
    "mistake",
    "oops",
    "wait,",
    "correction",
    "actually,",
    "sorry",
    "not right",
    "not correct",
    "must be fixed",
    "does not work",
];
/// Words behind a statement that take it back, or put the answer off.
const DENIALS: [&str; 17] = [
    "is wrong",
    "is incorrect",
    "is not right",
    "is not correct",
    "is not the answer",
    "not the final",
    "does not answer",
    "doesn't answer",
    "cannot be answered",
    "can't be answered",
    "cannot answer",
    "still working",
    "still need to",
    "still have to",
    "is incomplete",
    "not finished",
    "does not work",
];
/// Words of what is only another possibility.
const ALTERNATIVES: [&str; 20] = [
    "alternativ",
    "another",
    "optional",
    "if you",
    "if your",
    "if the",
    "in case",
    "for example",
    "an example",
    "template",
    "general form",
    "variant",
    "you can also",
    "you could also",
    "to see",
    "to list",
    "to check",
    "to verify",
    "to inspect",
    "e.g.",
];
/// Words of what comes before the statement.
const DRAFTS: [&str; 13] = [
    "draft",
    "i thought",
    "at first",
    "first attempt",
    "first try",
    "first version",
    "first idea",
    "first guess",
    "rough",
    "naive",
    "subquery",
    "sub-query",
    "inner query",
];

/// Reads the text between the statement before and this one.
pub(super) fn mark(before: &str) -> Mark {
    let start = (before.len().saturating_sub(NEAR)..=before.len())
        .find(|at| before.is_char_boundary(*at))
        .unwrap_or(0);
    let near = before[start..].to_lowercase();
    let lead = lead(&near);
    fn contains_any(text: &str, words: &[&str]) -> bool {
        words.iter().any(|word| text.contains(word))
    }
    let words: Vec<&str> =
        lead.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    if is_final(&words) && !contains_any(lead, &ALTERNATIVES) {
        return Mark::Final;
    }
    if contains_any(lead, &ALTERNATIVES) || words.first() == Some(&"or") {
        return Mark::Alternative;
    }
    if contains_any(lead, &DRAFTS) || is_step(&words) {
        return Mark::Draft;
    }
    let is_conditional = near.split(|c: char| !c.is_alphanumeric()).any(|word| word == "if");
    if contains_any(&near, &RETRACTIONS) && !is_conditional {
        return Mark::Final;
    }
    if contains_any(&near, &ALTERNATIVES) {
        return Mark::Alternative;
    }
    if matches!(
        words.as_slice(),
        ["sqlquery"] | ["answer"] | ["sql", "answer"] | ["my", "answer"] | ["the", "answer"]
    ) {
        return Mark::Named;
    }
    Mark::Plain
}

/// Returns true if the text behind the last statement takes it back, or says that the answer is yet
/// to come.
pub(super) fn is_taken_back(behind: &str) -> bool {
    let text = syrch_core::text::clip(behind, NEAR).to_lowercase();
    text.split(['.', '!', '?', '\n']).any(|sentence| {
        let is_conditional = sentence
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| ["if", "unless", "should", "would", "could", "might"].contains(&word));
        !is_conditional && DENIALS.iter().any(|words| sentence.contains(words))
    })
}

/// The last sentence before the statement. The opening of a fence and its language belong to none.
fn lead(near: &str) -> &str {
    fn is_blank_or_fence(line: &&str) -> bool {
        let bare = line.trim();
        bare.is_empty()
            || bare.starts_with("```")
            || bare.starts_with("~~~")
            || bare.starts_with('<') && bare.ends_with('>')
    }
    let line = near.lines().rev().find(|line| !is_blank_or_fence(line)).unwrap_or_default().trim();
    let line = line.split("```").next().unwrap_or_default().trim_end();
    let body = line.trim_end_matches(['.', ':', '!', '?', '*', ' ']);
    let from = [". ", "! ", "? ", "; "]
        .iter()
        .filter_map(|end| body.rfind(end).map(|at| at + end.len()))
        .max();
    &line[from.unwrap_or(0)..]
}

/// Returns true if the words are a heading of a final statement: `final answer`,
/// `here is the corrected query`, `better`.
fn is_final(words: &[&str]) -> bool {
    words.iter().enumerate().any(|(at, word)| {
        let is_alone = words.len() == 1
            || words.len() == 2 && ["the", "so", "now"].contains(&words[0]) && at == 1;
        let follows = words.iter().skip(at + 1).take(3).any(|next| HEADINGS.contains(next));
        FINAL.contains(word)
            && (is_alone || follows)
            && (at == 0 || !["not", "no"].contains(&words[at - 1]))
    })
}

/// Returns true if the words are those of a numbered step or attempt.
fn is_step(words: &[&str]) -> bool {
    words.windows(2).any(|pair| {
        ["step", "attempt"].contains(&pair[0]) && pair[1].chars().all(|c| c.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_and_sentences_are_understood() {
        for (before, expected) in [
            ("", Mark::Plain),
            ("The number of samples:\n```sql\n", Mark::Plain),
            ("\n```\nFinal answer:\n```sql\n", Mark::Final),
            ("\n```\n**Corrected query:**\n\n```sql\n", Mark::Final),
            ("\n```\nHere is the fixed version of the statement:\n```", Mark::Final),
            ("\n```\nbetter:\n```sql\n", Mark::Final),
            ("\n```\nOops, that misses a filter.\n```sql\n", Mark::Final),
            ("\n```\nThat is wrong, since names repeat. So:\n```sql\n", Mark::Final),
            (
                "\n```\nThis gives the correct number. To list them all:\n```sql\n",
                Mark::Alternative,
            ),
            ("\n```\nIf that is wrong, your column may be called state:\n```sql\n", Mark::Plain),
            (
                "\n```\nIf your column is called state, the corrected query is:\n```sql\n",
                Mark::Alternative,
            ),
            ("\n```\nAlternatively, to see all rows:\n```sql\n", Mark::Alternative),
            ("For example, the general form is:\n```sql\n", Mark::Alternative),
            ("A first draft:\n```sql\n", Mark::Draft),
            ("First I thought of\n```sql\n", Mark::Draft),
            ("\n```\nbut the right one is\n```sql\n", Mark::Final),
            ("**Step 1:** count\n```sql\n", Mark::Draft),
            ("SQLQuery: ", Mark::Named),
            ("\n```\nThis reads the whole table.\n```sql\n", Mark::Plain),
        ] {
            assert_eq!(mark(before), expected, "{before}");
        }
    }
}
