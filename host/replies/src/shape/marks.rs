//! The words before a statement, by which a reply says what it is.

use super::withdrawal::is_supposed;

/// Bytes before a statement that are read.
const NEAR: usize = 400;

/// The mark that a reply gives a statement; a greater one is preferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mark {
    /// A statement that the reply says not to be the answer.
    Refused,
    /// A first draft, or a step on the way.
    Draft,
    /// An alternative, an example, or a template.
    Alternative,
    /// No mark.
    Plain,
    /// The statement that was asked for, by the name that the prompt gives it.
    Named,
    /// A statement that adds what the one before lacks, as far as the words can tell.
    Next,
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
/// The same in other languages, and words of a statement that replaces the one before.
const FINAL_PHRASES: [&str; 52] = [
    "use this instead",
    "use this one instead",
    "simplified to",
    "simplifies to",
    "recommended",
    "preferred",
    "empfohlen",
    "recommandé",
    "recomendad",
    "consigliat",
    "zalecan",
    "рекоменду",
    "推荐",
    "推奨",
    "✅",
    "✔",
    "richtig ist",
    "richtige abfrage",
    "korrigierte",
    "endgültige",
    "bonne requête",
    "requête corrig",
    "requête correcte",
    "requête finale",
    "consulta correct",
    "consulta corregid",
    "consulta final",
    "consulta certa",
    "consulta corret",
    "consulta corrigid",
    "la correcta es",
    "la corretta è",
    "quella giusta",
    "quella corretta",
    "query corretta",
    "query finale",
    "poprawne zapytanie",
    "poprawiona wersja",
    "końcowe zapytanie",
    "правильный запрос",
    "исправленный запрос",
    "итоговый запрос",
    "正确的sql",
    "正确的 sql",
    "正确的查询",
    "正确写法",
    "最终sql",
    "最终的sql",
    "最终查询",
    "正しいsql",
    "正しいクエリ",
    "最終的なsql",
];
/// Words that deny one of these.
const NOT_FINAL: [&str; 9] =
    ["not ", "never", "nicht ", "pas ", "no es ", "não ", "non ", "nie ", "не "];
/// Words behind a statement that call it the answer.
const CONFIRMATIONS: [&str; 18] = [
    "this is the final",
    "this is the correct",
    "this is the right",
    "this is the answer",
    "this is my final",
    "this is my answer",
    "this one is correct",
    "this one is right",
    "this one is the answer",
    "use this one",
    "das ist die richtige",
    "das ist die endgültige",
    "c'est la bonne",
    "esta es la correcta",
    "esta é a correta",
    "questa è quella giusta",
    "это правильный",
    "这是最终",
];
/// Words that suppose something, as whole words.
const CONDITIONS: [&str; 8] = ["if", "wenn", "falls", "si", "se", "jeśli", "если", "caso"];
/// Sentences that take the statement before them back.
const RETRACTIONS: [&str; 47] = [
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
    "not it,",
    "not it.",
    "not it:",
    "not what",
    "forgot",
    "edit:",
    "korrektur",
    "berichtigung",
    "tut mir leid",
    "vergessen",
    "ist falsch",
    "erreur",
    "il manque",
    "désolé",
    "corrección",
    "perdón",
    "equivoqu",
    "correção",
    "desculpe",
    "faltou",
    "correzione",
    "scusa",
    "sbagliat",
    "poprawka",
    "pomyłk",
    "исправлен",
    "ошибк",
    "更正",
    "有误",
    "抱歉",
    "忘了",
    "訂正",
    "修正",
    "間違",
    "correctie",
];
/// Words between two statements by which the later one may go on from the one before.
const STEPS: [&str; 24] = [
    "however",
    "ignores",
    "is missing",
    "are missing",
    "misses",
    "lacks",
    "overlook",
    "not it",
    "not quite",
    "not enough",
    "does not filter",
    "does not restrict",
    "does not account",
    "does not consider",
    "doesn't filter",
    "doesn't restrict",
    "doesn't account",
    "doesn't consider",
    "we should",
    "i should",
    "we need to",
    "i need to",
    "we must",
    "i must",
];
/// Words of a text that goes on with another question, as a model does that does not stop.
const QUESTIONS: [&str; 4] = ["question:", "user:", "human:", "input:"];
/// Words right before a statement that the reply does not give as its answer.
const REFUSALS: [&str; 14] = [
    "not use",
    "n't use",
    "not do",
    "n't do",
    "not write",
    "n't write",
    "not run",
    "n't run",
    "never use",
    "avoid",
    "not simply",
    "not just",
    "wrong to use",
    "wrong to write",
];
/// Words for the statement that may stand between them and it.
const OBJECTS: [&str; 18] = [
    "the",
    "a",
    "an",
    "this",
    "such",
    "something",
    "like",
    "just",
    "only",
    "following",
    "shorter",
    "simpler",
    "simple",
    "plain",
    "query",
    "statement",
    "sql",
    "one",
];
/// Words that compare with what follows them at once.
const COMPARISONS: [&str; 8] = [
    "instead of",
    "rather than",
    "unlike",
    "compared with",
    "compared to",
    "differs from",
    "different from",
    "as opposed to",
];
/// Headings of what is no answer, after an article.
const BAD: [&str; 5] = ["wrong", "incorrect", "bad", "common mistake", "typical mistake"];
/// Words of a sentence behind a statement that refuse it.
const FAULTS: [&str; 18] = [
    "is wrong",
    "was wrong",
    "looks wrong",
    "is incorrect",
    "is not right",
    "is not correct",
    "isn't right",
    "isn't correct",
    "is not the answer",
    "isn't the answer",
    "not it",
    "is not what",
    "isn't what",
    "does not answer",
    "doesn't answer",
    "does not work",
    "doesn't work",
    "won't work",
];
/// Words of what is only another possibility.
const ALTERNATIVES: [&str; 27] = [
    "equivalent",
    "equivalente",
    "gleichwertig",
    "the same result",
    "also be written",
    "also write",
    "等价",
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
const DRAFTS: [&str; 22] = [
    "let me check",
    "let me look",
    "let's check",
    "let's look",
    "let us check",
    "let us look",
    "check the values",
    "look at the values",
    "to explore",
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

/// Reads the text before the statement at `to`, from the end of the one before it, or from 0.
pub(super) fn mark_at(text: &str, from: usize, to: usize) -> Mark {
    let between = text.get(from..to).unwrap_or_default();
    if from == 0 { mark(between) } else { mark_next(between) }
}

/// Reads the text between a statement and the next one.
pub(super) fn mark_next(between: &str) -> Mark {
    let near = near_end(between).to_lowercase();
    let lead = lead(&near);
    match mark(between) {
        Mark::Plain | Mark::Named if contains_any(&near, &QUESTIONS) => Mark::Alternative,
        Mark::Plain
            if contains_any(&near, &STEPS) && !is_conditional(&near)
                || lead.starts_with("now ")
                || lead.starts_with("then ") =>
        {
            Mark::Next
        }
        mark => mark,
    }
}

fn contains_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

fn is_conditional(text: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|word| CONDITIONS.contains(&word))
}

/// The last bytes of a text, from a whole character on.
fn near_end(text: &str) -> &str {
    let start = (text.len().saturating_sub(NEAR)..=text.len())
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0);
    &text[start..]
}

/// Reads the text before a statement, from the end of the one before it if there is one.
pub(super) fn mark(before: &str) -> Mark {
    let near = near_end(before).to_lowercase();
    let lead = lead(&near);
    if refuses_next(lead) || lead.contains('❌') {
        return Mark::Refused;
    }
    let words: Vec<&str> =
        lead.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_named_final = contains_any(lead, &FINAL_PHRASES) && !contains_any(lead, &NOT_FINAL);
    if (is_final(&words) || is_named_final) && !contains_any(lead, &ALTERNATIVES) {
        return Mark::Final;
    }
    match words.as_slice() {
        ["before" | "vorher" | "avant" | "antes" | "prima"] => return Mark::Draft,
        ["after" | "nachher" | "après" | "después" | "depois" | "dopo"] => return Mark::Final,
        _ => {}
    }
    if contains_any(lead, &ALTERNATIVES) || words.first() == Some(&"or") {
        return Mark::Alternative;
    }
    if contains_any(lead, &DRAFTS) || is_step(&words) {
        return Mark::Draft;
    }
    if contains_any(&near, &RETRACTIONS) && !is_conditional(&near) {
        return Mark::Final;
    }
    if contains_any(&near, &ALTERNATIVES) {
        return Mark::Alternative;
    }
    if matches!(
        words.as_slice(),
        ["sqlquery" | "sql" | "query" | "answer" | "result" | "output"]
            | ["sql", "answer" | "query" | "statement"]
            | ["my" | "the", "answer" | "query"]
    ) {
        return Mark::Named;
    }
    Mark::Plain
}

/// Returns true if the sentence before a statement says that the reply does not give it as its
/// answer: `I would not use`, `a common mistake is`, `instead of`. A sentence about the statement
/// before, such as `that is wrong`, does not.
fn refuses_next(lead: &str) -> bool {
    fn split_words(text: &str) -> impl Iterator<Item = &str> {
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
    }
    let lead = lead.trim_matches(|c: char| !c.is_alphanumeric());
    let heading =
        ["a ", "an ", "the "].iter().find_map(|article| lead.strip_prefix(article)).unwrap_or(lead);
    if COMPARISONS.iter().any(|words| lead.ends_with(words))
        || BAD.iter().any(|words| heading.starts_with(words)) && split_words(heading).count() < 5
    {
        return true;
    }
    REFUSALS.iter().any(|words| {
        lead.rsplit_once(words).is_some_and(|(before, behind)| {
            // `to avoid duplicates` is a purpose.
            !before.ends_with("to ") && split_words(behind).all(|word| OBJECTS.contains(&word))
        })
    })
}

/// Returns true if a sentence behind a statement refuses it: `this is wrong`.
pub(super) fn is_refused(behind: &str) -> bool {
    let text = syrch_core::text::clip(behind, NEAR).to_lowercase().replace('’', "'");
    text.split(['.', '!', '?', '\n', ';']).filter(|sentence| !is_supposed(sentence)).any(
        |sentence| {
            FAULTS.iter().any(|fault| {
                sentence.match_indices(fault).any(|(at, _)| {
                    speaks_of_statement(&sentence[..at])
                        && !sentence[at + fault.len()..].starts_with(" to ")
                })
            })
        },
    )
}

/// Returns true if a sentence behind a statement calls it the answer: `this is the final query`.
pub(super) fn is_confirmed(behind: &str) -> bool {
    let text = syrch_core::text::clip(behind, NEAR).to_lowercase().replace('’', "'");
    text.split(['.', '!', '?', '\n', ';', '。'])
        .any(|sentence| contains_any(sentence, &CONFIRMATIONS) && !is_conditional(sentence))
}

/// Returns true if the words end with one for the statement before them.
fn speaks_of_statement(words: &str) -> bool {
    let mut last = words
        .split(|c: char| !(c.is_alphanumeric() || c == '\''))
        .filter(|word| !word.is_empty() && *word != "above")
        .rev();
    match last.next() {
        Some("this" | "that" | "it" | "that's" | "it's" | "which") => true,
        Some("query" | "statement" | "sql" | "attempt") => {
            matches!(last.next(), Some("this" | "that" | "the" | "previous" | "first"))
        }
        _ => false,
    }
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
            ("I would not use\n```sql\n", Mark::Refused),
            ("A common mistake is:\n```sql\n", Mark::Refused),
            ("Please avoid the shorter\n```sql\n", Mark::Refused),
            ("\n```\nIt would be wrong to write\n```sql\n", Mark::Refused),
            ("\n```\nCompared with\n```sql\n", Mark::Refused),
            ("The wrong query:\n```sql\n", Mark::Refused),
            ("To avoid duplicates:\n```sql\n", Mark::Plain),
            ("Since we do not use orders:\n```sql\n", Mark::Plain),
            ("\n```\nFixing the mistake:\n```sql\n", Mark::Final),
            ("\n```\nThat is wrong:\n```sql\n", Mark::Final),
            ("Instead of counting everyone, filter:\n```sql\n", Mark::Plain),
            ("Do not use DISTINCT here, the query is:\n```sql\n", Mark::Plain),
            ("Reasoning: count. SQL: ", Mark::Named),
            ("\n```\nEDIT: forgot the filter:\n```sql\n", Mark::Final),
            ("\n```\nKorrektur: die Bedingung fehlt. Richtig ist:\n```sql\n", Mark::Final),
            ("\n```\n上面的查询有误，正确的SQL是：\n```sql\n", Mark::Final),
            ("\n```\n正しいSQLは次のとおりです。\n```sql\n", Mark::Final),
            ("\n```\nDesculpe, faltou o filtro. A consulta certa é:\n```sql\n", Mark::Final),
            ("\n```\nИсправление: забыл условие. Правильный запрос:\n```sql\n", Mark::Final),
            ("\n```\nPoprawka: brakuje warunku. Poprawne zapytanie:\n```sql\n", Mark::Final),
            ("\n```\nScusa, ho sbagliato. Ecco quella giusta:\n```sql\n", Mark::Final),
            ("\n```\nOption B (with the filter, recommended):\n```sql\n", Mark::Final),
            ("\n```\nOption B (not recommended):\n```sql\n", Mark::Plain),
            ("\n```\n✅\n```sql\n", Mark::Final),
            ("\n```\nHmm, that counts everyone. Use this instead:\n```sql\n", Mark::Final),
            ("❌\n```sql\n", Mark::Refused),
            ("Before:\n```sql\n", Mark::Draft),
            ("\n```\nAfter:\n```sql\n", Mark::Final),
            ("\n```\nThis can be simplified to:\n```sql\n", Mark::Final),
            ("\n```\nAn equivalent form is:\n```sql\n", Mark::Alternative),
            ("First let me check the values:\n```sql\n", Mark::Draft),
            ("\n```\nWenn das falsch ist:\n```sql\n", Mark::Plain),
        ] {
            assert_eq!(mark(before), expected, "{before}");
        }
        for (between, expected) in [
            ("\n```\nHowever, this counts everyone. We should filter:\n```sql\n", Mark::Next),
            ("\n```\nNow restrict it to Spain:\n```sql\n", Mark::Next),
            ("\n```\nThat's not it, since Spain is missing.\n```sql\n", Mark::Final),
            ("\n```\nIf we should filter:\n```sql\n", Mark::Plain),
            ("\nQuestion: How many are there?\nSQLQuery: ", Mark::Alternative),
            ("\n```\n\n```sql\n", Mark::Plain),
        ] {
            assert_eq!(mark_next(between), expected, "{between}");
        }
    }

    #[test]
    fn a_sentence_about_the_statement_before_refuses_it() {
        for behind in [
            "\n```\nI think this is wrong.\nConfidence: 0.9",
            "\n```\nThat's not it, since Spain is missing.\n",
            "; -- that is wrong\n",
            " counts all, so it does not answer the question.",
            "\n```\nThe query above is incorrect",
        ] {
            assert!(is_refused(behind), "{behind}");
        }
        for behind in [
            "\n```\nA count without DISTINCT is wrong.",
            "\n```\nIf this is wrong, tell me.",
            "\n```\nIt is not correct to use COUNT(id) here.",
            "\n```\nThe naive query is wrong.",
        ] {
            assert!(!is_refused(behind), "{behind}");
        }
    }
}
