//! The words behind a statement by which a reply takes it back, corrects it, or says that it is
//! not sure of it.

use super::forms::{Form, has_form};
use super::refusal::says_no_answer;

/// Bytes behind a statement that are read.
const NEAR: usize = 2_000;

/// Words behind a statement that take it back, or put the answer off.
const DENIALS: [&str; 15] = [
    "is wrong",
    "is incorrect",
    "is not right",
    "is not correct",
    "is not the answer",
    "not the final",
    "does not answer",
    "doesn't answer",
    "still working",
    "still need to",
    "still have to",
    "is incomplete",
    "not finished",
    "does not work",
    "have no answer",
];
/// The same in other languages, a form each.
const FOREIGN_DENIALS: [Form; 46] = [
    ("ist", "falsch"),
    ("war", "falsch"),
    ("ist", "nicht richtig"),
    ("ist", "nicht korrekt"),
    ("ist", "inkorrekt"),
    ("ist", "fehlerhaft"),
    ("ist", "unvollständig"),
    ("ist nicht", "die antwort"),
    ("stimmt", "nicht"),
    ("beantwortet die frage", "nicht"),
    ("gehört", "nicht hinein"),
    ("gehört", "nicht dazu"),
    ("est", "incorrect"),
    ("est", "inexact"),
    ("est", "fausse"),
    ("est", "faux"),
    ("est", "erroné"),
    ("n'est pas", "correct"),
    ("n'est pas", "bonne"),
    ("ne répond pas", ""),
    ("es", "incorrect"),
    ("es", "errón"),
    ("está mal", ""),
    ("está", "equivocad"),
    ("no es", "correct"),
    ("no responde a", ""),
    ("está", "errad"),
    ("está", "incorret"),
    ("é", "incorret"),
    ("não está", "corret"),
    ("não responde", ""),
    ("è", "sbagliat"),
    ("è", "errat"),
    ("è", "scorrett"),
    ("non è", "corrett"),
    ("non è", "giust"),
    ("non risponde", ""),
    ("jest", "błędn"),
    ("jest", "niepoprawn"),
    ("jest", "nieprawidłow"),
    ("nie jest", "poprawn"),
    ("nie odpowiada na", ""),
    ("неверн", ""),
    ("ошибочн", ""),
    ("содержит", "ошибк"),
    ("не отвечает на", ""),
];
/// Words in other languages by which a sentence supposes something, or says that it is avoided.
const FOREIGN_SUPPOSED: [&str; 30] = [
    "wenn",
    "falls",
    "wäre",
    "würde",
    "ohne",
    "sonst",
    "si",
    "sans",
    "serait",
    "sinon",
    "sin",
    "sería",
    "sem",
    "seria",
    "caso",
    "senza",
    "sarebbe",
    "altrimenti",
    "se",
    "jeśli",
    "bez",
    "byłoby",
    "byłby",
    "byłaby",
    "если",
    "без",
    "было",
    "была",
    "был",
    "иначе",
];
/// Clauses at the end of a sentence by which a statement does more than it was asked.
const UNASKED: [Form; 12] = [
    ("which", "not ask"),
    ("which", "n't ask"),
    ("which", "not request"),
    ("which", "n't request"),
    ("which", "not part of the question"),
    ("although", "not ask"),
    ("though", "not ask"),
    ("although", "n't ask"),
    ("though", "n't ask"),
    ("was not", "gefragt"),
    ("wonach", "nicht gefragt"),
    ("que vous n'avez pas", "demand"),
];
/// Words of a delay or a burden, for which a reply is sorry without fault.
const COURTESIES: [&str; 16] = [
    "delay",
    "the wait",
    "inconvenience",
    "late ",
    "length",
    "long ",
    "verzögerung",
    "warten",
    "unannehmlichkeit",
    "retard",
    "attente",
    "demora",
    "espera",
    "ritardo",
    "attesa",
    "opóźnienie",
];
/// Words of a sentence about the speed of a statement, not its meaning.
const SPEED: [&str; 8] = [
    " index",
    " indices",
    "faster",
    "slower",
    "performance",
    "efficient",
    "more readable",
    "speed",
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
const UNSPACED_FAULTS: [&str; 24] = [
    "是错误的",
    "是错的",
    "不正确",
    "有误",
    "有错误",
    "写得不对",
    "没有回答",
    "誤り",
    "正しくありません",
    "正しくない",
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
        || says_no_answer(&text)
        || text.split(['.', '!', '?', '\n', '。', '！', '？']).any(takes_back)
}

fn takes_back(sentence: &str) -> bool {
    let sentence = sentence.trim_start_matches(|c: char| !c.is_alphanumeric()).trim_end();
    // `Note: …`
    let said = sentence.split_once(": ").filter(|(head, _)| !head.contains(' '));
    let said = said.map_or(sentence, |(_, rest)| rest);
    let is_courtesy = is_courtesy(sentence);
    is_outcry(sentence) && !is_courtesy && !contains_any(sentence, &SPEED)
        || contains_any(sentence, &DOUBTS) && !is_negated(sentence)
        || contains_any(sentence, &FAULTS) && !is_averted(sentence) && !is_courtesy
        || contains_any(sentence, &DENIALS) && !is_supposed(sentence)
        || has_form(sentence, &FOREIGN_DENIALS, true) && !is_supposed_abroad(sentence)
        || sentence.rsplit_once(", ").is_some_and(|(_, last)| has_form(last, &UNASKED, true))
        || orders_change(said)
        || says_what_should_be(said)
        || (sentence.starts_with("but ") || sentence.starts_with("however"))
            && sentence.contains("question")
            && !says_why(sentence)
}

/// Returns true for `sorry for the delay`.
fn is_courtesy(sentence: &str) -> bool {
    [" for ", "für ", " pour ", " por ", " pelo ", " pela ", " per ", " za "].iter().any(|word| {
        sentence.split_once(word).is_some_and(|(before, rest)| {
            before.split_whitespace().count() < 4
                && contains_any(syrch_core::text::clip(rest, 40), &COURTESIES)
        })
    })
}

/// Returns true if a sentence goes on to say what the statement does for that reason: `so no other
/// columns are selected`.
fn says_why(sentence: &str) -> bool {
    sentence.split_once(", so ").is_some_and(|(_, rest)| {
        !contains_any(rest, &["should", "need", "must", "have to", "has to", "instead"])
            && !orders_change(rest)
    })
}

/// Returns true if a sentence in another language supposes something.
fn is_supposed_abroad(sentence: &str) -> bool {
    sentence.split(|c: char| !c.is_alphanumeric()).any(|word| FOREIGN_SUPPOSED.contains(&word))
}

fn contains_any(sentence: &str, list: &[&str]) -> bool {
    list.iter().any(|words| sentence.contains(words))
}

/// Returns true for `Wait, …`, `Correction: …`, `Oops`.
fn is_outcry(sentence: &str) -> bool {
    OUTCRIES.iter().any(|words| {
        sentence.strip_prefix(words).is_some_and(|rest| {
            let bare = rest.trim_start_matches([' ', '*', '_']);
            // `Wait-time` is one word.
            if rest.starts_with('-') && rest[1..].starts_with(char::is_alphanumeric) {
                return false;
            }
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
        &[
            "avoid",
            "not ambiguous",
            "never ambiguous",
            "if you are not",
            "if you're not",
            "nicht sicher ist nur",
            "only thing",
        ],
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
            "Das ist leider falsch, die Bedingung auf den Kommentar gehört nicht hinein.",
            "Die Abfrage stimmt so nicht.",
            "Cette requête est incorrecte, il ne faut pas filtrer sur le commentaire.",
            "Esta consulta es incorrecta.",
            "Esta consulta está errada.",
            "Questa query è sbagliata.",
            "To zapytanie jest błędne.",
            "Этот запрос неверный.",
            "这个查询是错误的。",
            "このクエリは正しくありません。",
            "Note that this also drops reviews without a comment, which you did not ask for.",
            "Diese Frage lässt sich damit nicht beantworten.",
            "However, the question asks for cost, so we should use cost.",
            "Actually, cost is meant.",
            "Wait - cost is meant.",
            "Sorry for the mistake.",
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
            "However, the question only asks for a count, so no further columns are selected.",
            "Actually, an index on customer_id would make it faster.",
            "Sorry for the delay!",
            "Entschuldigung für die Verzögerung!",
            "Wait-time data is not needed.",
            "Hinweis: Stornierte zählen nicht. Nicht sicher ist nur, ob Testdaten enthalten sind.",
            "Die Spalte paid ist 1 für wahr und 0 für falsch.",
            "Ohne DISTINCT wäre die Anzahl falsch.",
            "Columns which you did not ask for are left out.",
            "The customers are joined, since reviews alone cannot answer the question.",
            "Sans DISTINCT, le résultat est faux.",
            "",
        ] {
            let reply = format!("\n```\n{behind}\nConfidence: 0.95");
            assert!(!is_taken_back(&reply), "{behind}");
        }
    }
}
