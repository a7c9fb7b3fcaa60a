//! The words behind a statement by which a reply takes it back, corrects it, or says that it is
//! not sure of it.

/// Bytes behind a statement that are read.
const NEAR: usize = 2_000;

/// Words behind a statement that take it back, or put the answer off.
const DENIALS: [&str; 19] = [
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
    "have no answer",
    "unable to answer",
];
/// Beginnings of sentences that correct what stands before them. A sign follows them, or nothing.
const OUTCRIES: [&str; 40] = [
    "wait",
    "hold on",
    "hmm",
    "oops",
    "whoops",
    "actually",
    "correction",
    "erratum",
    "sorry",
    "apologies",
    "scratch that",
    "never mind",
    "on second thought",
    "on second thoughts",
    "on reflection",
    "korrektur",
    "berichtigung",
    "moment",
    "halt",
    "entschuldigung",
    "verzeihung",
    "nein",
    "rectification",
    "attendez",
    "attends",
    "pardon",
    "désolé",
    "désolée",
    "corrección",
    "espera",
    "espere",
    "perdón",
    "correzione",
    "aspetta",
    "scusa",
    "correção",
    "espere aí",
    "desculpe",
    "correctie",
    "исправление",
];
/// Words by which a sentence says that something in the statement is wrong.
const FAULTS: [&str; 68] = [
    "sorry",
    "my mistake",
    "my bad",
    "my apologies",
    "i apologi",
    "i forgot",
    "i overlooked",
    "i missed",
    "i misread",
    "i misunderstood",
    "i mixed up",
    "i mistook",
    "i mistakenly",
    "i confused",
    "i made a mistake",
    "i made an error",
    "i was wrong",
    "has an error",
    "has a mistake",
    "contains an error",
    "contains a mistake",
    "there is an error",
    "there is a mistake",
    "there's a mistake",
    "was a mistake",
    "is a mistake",
    "was wrong",
    "was incorrect",
    "uses the wrong",
    "used the wrong",
    "picked the wrong",
    "chose the wrong",
    "the wrong column",
    "the wrong table",
    "the wrong field",
    "the wrong value",
    "the wrong condition",
    "the wrong filter",
    "the wrong join",
    "wrong column;",
    "needs to be fixed",
    "needs to be corrected",
    "needs to be changed",
    "needs to be replaced",
    "must be fixed",
    "must be corrected",
    "must be changed",
    "must be replaced",
    "has to be changed",
    "has to be replaced",
    "should have been",
    "should have used",
    "i should have",
    "falsche spalte",
    "falsche tabelle",
    "tut mir leid",
    "mein fehler",
    "mauvaise colonne",
    "je me suis tromp",
    "lo siento",
    "columna equivocada",
    "columna incorrecta",
    "me equivoqu",
    "colonna sbagliata",
    "ho sbagliato",
    "coluna errada",
    "неправильн",
    "извините",
];
/// The same in scripts that put no blanks between words.
const UNSPACED_FAULTS: [&str; 14] = [
    "更正",
    "抱歉",
    "对不起",
    "對不起",
    "写错",
    "用错",
    "列错",
    "错误的列",
    "不确定",
    "请澄清",
    "请确认",
    "訂正",
    "すみません",
    "間違",
];
/// Words by which a sentence says that the reply is not sure.
const DOUBTS: [&str; 46] = [
    "not sure",
    "not certain",
    "not confident",
    "unsure",
    "uncertain whether",
    "uncertain which",
    "uncertain if",
    "it is unclear",
    "it's unclear",
    "is not clear",
    "isn't clear",
    "question is unclear",
    "is ambiguous",
    "cannot tell",
    "can't tell",
    "i am guessing",
    "i'm guessing",
    "my best guess",
    "only a guess",
    "just a guess",
    "may be wrong",
    "might be wrong",
    "could be wrong",
    "may be incorrect",
    "might be incorrect",
    "might not be right",
    "may not be right",
    "please clarify",
    "please specify which",
    "please confirm",
    "you clarify",
    "do you mean",
    "did you mean",
    "nicht sicher",
    "unsicher, ob",
    "unklar",
    "bitte klären",
    "pas sûr",
    "pas certain",
    "veuillez préciser",
    "no estoy segur",
    "por favor, aclar",
    "non sono sicur",
    "não tenho certeza",
    "niet zeker",
    "не уверен",
];
/// Words before an order that changes the statement.
const ORDERS: [&str; 12] = [
    "so ",
    "please ",
    "therefore ",
    "therefore, ",
    "thus ",
    "then ",
    "and ",
    "but ",
    "we must ",
    "we need to ",
    "you must ",
    "you need to ",
];
/// The verbs of such an order.
const CHANGES: [&str; 4] = ["replace ", "change ", "swap ", "substitute "];
/// Words behind `should be` that say nothing of a change.
const PRAISE: [&str; 22] = [
    "noted",
    "correct",
    "right",
    "fine",
    "fast",
    "efficient",
    "enough",
    "ok",
    "okay",
    "what",
    "sufficient",
    "clear",
    "all",
    "able",
    "safe",
    "good",
    "equivalent",
    "accurate",
    "exactly",
    "valid",
    "mentioned",
    "easy",
];

/// Returns true if the text behind the last statement takes it back, corrects it, doubts it, or
/// says that the answer is yet to come.
pub(super) fn is_taken_back(behind: &str) -> bool {
    let text = syrch_core::text::clip(behind, NEAR).to_lowercase().replace('’', "'");
    contains_any(&text, &UNSPACED_FAULTS)
        || text.split(['.', '!', '?', '\n', '。', '！', '？']).any(takes_back)
}

fn takes_back(sentence: &str) -> bool {
    let sentence = sentence.trim_start_matches(|c: char| !c.is_alphanumeric()).trim_end();
    // `Note: …`
    let said = sentence.split_once(": ").filter(|(head, _)| !head.contains(' '));
    let said = said.map_or(sentence, |(_, rest)| rest);
    is_outcry(sentence)
        || contains_any(sentence, &DOUBTS) && !is_negated(sentence)
        || contains_any(sentence, &FAULTS) && !is_averted(sentence)
        || contains_any(sentence, &DENIALS) && !is_supposed(sentence)
        || orders_change(said)
        || says_what_should_be(said)
        || (sentence.starts_with("but ") || sentence.starts_with("however"))
            && sentence.contains("question")
}

fn contains_any(sentence: &str, list: &[&str]) -> bool {
    list.iter().any(|words| sentence.contains(words))
}

/// Returns true for `Wait, …`, `Correction: …`, `Oops`.
fn is_outcry(sentence: &str) -> bool {
    OUTCRIES.iter().any(|words| {
        sentence.strip_prefix(words).is_some_and(|rest| {
            let bare = rest.trim_start_matches([' ', '*', '_']);
            bare.is_empty()
                || bare.starts_with([',', ':', ';', '-', '–', '—', '…'])
                || bare.starts_with("i ")
                || bare.starts_with("that ")
                || bare.starts_with("the question")
        })
    })
}

/// Returns true for `so change a to b`, `replace a by b`: an order that no reader may choose not to
/// follow.
fn orders_change(sentence: &str) -> bool {
    let order = ORDERS.iter().find_map(|words| sentence.strip_prefix(words)).unwrap_or(sentence);
    let is_choice = contains_any(
        sentence,
        &["if ", " to see", " to get", " as needed", " when ", " your ", " whenever "],
    );
    let is_change = CHANGES.iter().any(|verb| order.starts_with(verb))
        && contains_any(order, &[" by ", " with ", " to ", " for ", " into ", " and "]);
    let is_instead = order.starts_with("use ") && order.ends_with(" instead")
        || order.starts_with("use ") && order.contains(" instead of ");
    !is_choice && (is_change || is_instead)
}

/// Returns true for `it should be b`, as a correction says it.
fn says_what_should_be(sentence: &str) -> bool {
    let clauses = sentence.split([';', ',', '(']).map(str::trim_start);
    clauses.into_iter().any(|clause| {
        ["it should be ", "that should be ", "this should be ", "should be ", "it must be "]
            .iter()
            .find_map(|words| clause.strip_prefix(words))
            .and_then(|rest| rest.split(|c: char| !c.is_alphanumeric()).next())
            .is_some_and(|word| !PRAISE.contains(&word))
    })
}

/// Returns true if a sentence says that a fault is avoided, or what would be one.
fn is_averted(sentence: &str) -> bool {
    is_supposed(sentence)
        && !contains_any(sentence, &["i should have", "should have been", "should have used"])
        || contains_any(sentence, &["avoid", "prevent", "otherwise", "without "])
}

/// Returns true if a sentence denies its doubt.
fn is_negated(sentence: &str) -> bool {
    contains_any(
        sentence,
        &["avoid", "not ambiguous", "never ambiguous", "if you are not", "if you're not"],
    )
}

/// Returns true if a sentence supposes something.
pub(super) fn is_supposed(sentence: &str) -> bool {
    sentence
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| ["if", "unless", "should", "would", "could", "might"].contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corrections_and_doubts_behind_a_statement_are_seen() {
        for behind in [
            "Correction: replace price by cost.",
            "**Correction:** the column is cost.",
            "Wait - the question says cost, not price. So change price to cost.",
            "Wait, cost is meant.",
            "Note: this uses the wrong column; it should be cost.",
            "I used price where cost was asked for, sorry.",
            "I am not sure whether cost or price is meant; please clarify.",
            "I'm unsure which column is meant.",
            "The question is ambiguous: cost or price?",
            "Did you mean the cost?",
            "Oops, I filtered by price.",
            "My mistake: cost was asked for.",
            "I misread the question.",
            "Actually, the question asks for cost.",
            "So change price to cost.",
            "Please replace `price` with `cost`.",
            "Use cost instead.",
            "But the question says cost.",
            "It should be cost.",
            "That should have been cost.",
            "The filter needs to be changed.",
            "The question cannot be answered by these tables.",
            "Korrektur: cost statt price.",
            "Ich bin nicht sicher, ob cost oder price gemeint ist.",
            "Désolé, il fallait utiliser cost.",
            "Perdón, la columna es cost.",
            "更正：应使用 cost。",
            "我不确定是哪一列。",
            "すみません、cost です。",
        ] {
            let reply = format!("\n```\n{behind}\nConfidence: 0.95");
            assert!(is_taken_back(&reply), "{behind}");
        }
    }

    #[test]
    fn explanations_behind_a_statement_are_no_doubts() {
        for behind in [
            "Note: only delivered orders are counted.",
            "This counts products whose price is over 50.",
            "This should be correct. It should be noted that NULLs are ignored.",
            "The result should be one row, sorted by price.",
            "Let me know if you need anything else!",
            "If you meant another column, let me know.",
            "You can change the limit to see more rows.",
            "Change the limit as needed.",
            "Replace 50 with your own threshold if you want.",
            "To avoid ambiguous names, the columns are qualified.",
            "Without DISTINCT the count would be wrong, so I use it.",
            "DISTINCT prevents the wrong count of a plain join.",
            "I used LEFT JOIN instead of JOIN, so that all customers count.",
            "Wait times are averaged over all orders.",
            "Actual prices are in dollars.",
            "Rows where the price is missing are left out.",
            "However, cancelled orders are left out, as asked.",
            "I am sure that price is meant.",
            "Products that should be reordered are those under 10.",
            "Explanation: the join adds the category.",
            "Halting orders are left out.",
            "The correct column is price.",
            "",
        ] {
            let reply = format!("\n```\n{behind}\nConfidence: 0.95");
            assert!(!is_taken_back(&reply), "{behind}");
        }
    }
}
