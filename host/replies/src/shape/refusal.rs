//! The words by which a reply says that there is no answer, though it holds a statement: as an
//! example, for other tables, or as the nearest thing to one.

use super::forms::{Form, has_form};

/// Bytes around a statement that are read.
const NEAR: usize = 2_000;

/// Forms of what a sentence says of the question: that it has no answer.
const UNANSWERABLE: [Form; 60] = [
    ("cannot", "answer"),
    ("can not", "answer"),
    ("can't", "answer"),
    ("could not", "answer"),
    ("couldn't", "answer"),
    ("unable to", "answer"),
    ("not able to", "answer"),
    ("impossible to", "answer"),
    ("not possible to", "answer"),
    ("no way to", "answer"),
    ("question is not", "answerable"),
    ("is unanswerable", ""),
    ("does not contain", "needed to answer"),
    ("do not contain", "needed to answer"),
    ("doesn't contain", "needed to answer"),
    ("does not have", "needed to answer"),
    ("does not contain", "required to answer"),
    ("do not contain", "required to answer"),
    ("does not contain", "necessary to answer"),
    ("do not contain", "necessary to answer"),
    ("not", "enough information to answer"),
    ("not", "sufficient information to answer"),
    ("insufficient information", ""),
    ("nicht", "beantworten"),
    ("nicht", "beantwortet werden"),
    ("nicht", "beantwortbar"),
    ("keine antwort möglich", ""),
    ("ne peut pas", "répond"),
    ("ne peux pas", "répondre"),
    ("ne peut être", "répond"),
    ("ne permet pas de", "répondre"),
    ("ne permettent pas de", "répondre"),
    ("impossible de", "répondre"),
    ("pas possible de", "répondre"),
    ("no se puede", "responder"),
    ("no se puede", "contestar"),
    ("no puedo", "responder"),
    ("no puede", "responder"),
    ("no es posible", "responder"),
    ("imposible", "responder"),
    ("não pode ser", "respondid"),
    ("não é possível", "responder"),
    ("não posso", "responder"),
    ("não consigo", "responder"),
    ("impossível", "responder"),
    ("non si può", "rispondere"),
    ("non posso", "rispondere"),
    ("non è possibile", "rispondere"),
    ("impossibile", "rispondere"),
    ("nie można", "odpowiedzi"),
    ("nie mogę", "odpowiedzi"),
    ("nie da się", "odpowiedzi"),
    ("niet", "beantwoord"),
    ("невозможно", "ответить"),
    ("нельзя", "ответить"),
    ("не могу", "ответить"),
    ("не удаётся", "ответить"),
    ("не удается", "ответить"),
    ("ответить", "невозможно"),
    ("ответить", "нельзя"),
];
/// The same in scripts that put no blanks between words.
const UNSPACED: [Form; 18] = [
    ("无法", "回答"),
    ("不能", "回答"),
    ("不可能", "回答"),
    ("無法", "回答"),
    ("無法", "作答"),
    ("没有", "所需的信息"),
    ("没有", "所需的数据"),
    ("没有", "足够的信息"),
    ("缺少", "所需"),
    ("答えられません", ""),
    ("答えられない", ""),
    ("答えることは", "できません"),
    ("答えることが", "できません"),
    ("答えることは", "できない"),
    ("回答できません", ""),
    ("回答できない", ""),
    ("回答することは", "できません"),
    ("回答することが", "できません"),
];
/// Forms of what a sentence says of the data. A sentence may go on to say what is used in its
/// place.
const ABSENT: [Form; 44] = [
    ("cannot", "determine"),
    ("can't", "determine"),
    ("could not", "determine"),
    ("unable to", "determine"),
    ("not possible to", "determine"),
    ("impossible to", "determine"),
    ("there is no", "information"),
    ("there's no", "information"),
    ("there is no", "data on"),
    ("there is no", "data about"),
    ("there is no", "data for"),
    ("does not contain", "information"),
    ("do not contain", "information"),
    ("doesn't contain", "information"),
    ("don't contain", "information"),
    ("does not contain the", "data"),
    ("do not contain the", "data"),
    ("doesn't contain the", "data"),
    ("does not have", "information"),
    ("nicht", "ermitteln"),
    ("nicht", "bestimmen"),
    ("keine informationen", ""),
    ("keine angaben", ""),
    ("keine daten", ""),
    ("impossible de", "déterminer"),
    ("aucune information", ""),
    ("aucune donnée", ""),
    ("no se puede", "determinar"),
    ("no hay", "información"),
    ("no contiene", "información"),
    ("no contiene los", "datos"),
    ("não é possível", "determinar"),
    ("não há", "informaç"),
    ("não contém", "informaç"),
    ("impossibile", "determinare"),
    ("non ci sono", "informazioni"),
    ("non contiene", "informazioni"),
    ("nie można", "ustalić"),
    ("brak informacji", ""),
    ("brak danych", ""),
    ("невозможно", "определить"),
    ("нет", "информации"),
    ("нет", "сведений"),
    ("не содерж", "информаци"),
];
const UNSPACED_ABSENT: [Form; 8] = [
    ("无法", "确定"),
    ("没有", "相关信息"),
    ("没有", "相关数据"),
    ("不包含", "信息"),
    ("不包含", "数据"),
    ("情報がありません", ""),
    ("情報は含まれていません", ""),
    ("データがありません", ""),
];
/// Forms of a sentence about a statement that is none of these tables.
const SUPPOSED: [Form; 29] = [
    ("assum", "existed"),
    ("suppos", "existed"),
    ("if", "existed"),
    ("if there were", "column"),
    ("if there were", "table"),
    ("if there were", "field"),
    ("if there was", "column"),
    ("if there was", "table"),
    ("if there was", "field"),
    ("if you had", "column"),
    ("if you had", "table"),
    ("illustration only", ""),
    ("illustrative purposes", ""),
    ("purely illustrative", ""),
    ("for illustration", ""),
    ("hypothetical", "schema"),
    ("hypothetical", "table"),
    ("hypothetical", "column"),
    ("hypothetical", "query"),
    ("the closest you can", ""),
    ("the closest i can", ""),
    ("the closest we can", ""),
    ("the best i can do", ""),
    ("the closest possible", ""),
    ("nur zur veranschaulichung", ""),
    ("nur zur illustration", ""),
    ("à titre d'illustration", ""),
    ("solo a modo de ejemplo", ""),
    ("wenn es eine solche", "gäbe"),
];
/// The same in scripts that put no blanks between words.
const UNSPACED_SUPPOSED: [Form; 4] =
    [("仅供参考", ""), ("仅供说明", ""), ("仅作示例", ""), ("あくまで例", "")];

/// Words of a sentence about how a question is answered, rather than whether.
const MEANS: [&str; 44] = [
    " alone",
    " without ",
    " directly",
    " by itself",
    " on its own",
    " single ",
    " only from ",
    " from only ",
    " from just ",
    " one table",
    " join",
    " if ",
    " unless ",
    " until ",
    " would ",
    " allein",
    " ohne ",
    " direkt",
    " nur aus ",
    " wenn ",
    " falls ",
    " seul",
    " sans ",
    " directement",
    " jointure",
    " sin ",
    " solo ",
    " sola ",
    " directamente",
    " sem ",
    " sozinh",
    " apenas ",
    " diretamente",
    " senza ",
    " da sola",
    " direttamente",
    " bez ",
    " samej ",
    " bezpośrednio",
    " без ",
    " только ",
    " напрямую",
    " se si ",
    " zonder ",
];
/// The same in scripts that put no blanks between words.
const UNSPACED_MEANS: [&str; 7] = ["仅从", "只从", "单独", "仅凭", "だけでは", "のみでは", "単独"];
/// Words by which a sentence says what is used in the place of what is absent.
const INSTEAD: [&str; 20] = [
    " so ",
    " hence ",
    " therefore ",
    " instead",
    " but ",
    " thus ",
    " i use ",
    " also ",
    " daher ",
    " deshalb ",
    " aber ",
    " donc ",
    " mais ",
    " así que ",
    " pero ",
    " então ",
    " quindi ",
    " więc ",
    " поэтому ",
    " но ",
];

/// Returns true if the text before the first statement of a reply says that the question has no
/// answer, or that the statement is none.
pub(super) fn is_refused_before(before: &str) -> bool {
    let start = (before.len().saturating_sub(NEAR)..=before.len())
        .find(|at| before.is_char_boundary(*at))
        .unwrap_or(0);
    says_no_answer(&before[start..])
}

/// Returns true if a sentence of a text says that the question has no answer.
pub(super) fn says_no_answer(text: &str) -> bool {
    let text = text.to_lowercase().replace('’', "'");
    text.split(['.', '!', '?', '\n', '。', '！', '？']).any(refuses)
}

/// Returns true if a sentence, in lower case, says that the question has no answer.
fn refuses(sentence: &str) -> bool {
    if sentence.trim().is_empty() {
        return false;
    }
    fn has_any(text: &str, words: &[&str]) -> bool {
        words.iter().any(|word| text.contains(word))
    }
    // Blanks around the sentence and in the place of its signs part its words.
    let spaced: String =
        sentence.chars().map(|c| if ",;:()`*\"".contains(c) { ' ' } else { c }).collect();
    let spaced = format!(" {spaced} ");
    if has_form(sentence, &SUPPOSED, true) || has_form(sentence, &UNSPACED_SUPPOSED, false) {
        return true;
    }
    let is_of_question =
        has_form(sentence, &UNANSWERABLE, true) || has_form(sentence, &UNSPACED, false);
    let is_of_data =
        has_form(sentence, &ABSENT, true) || has_form(sentence, &UNSPACED_ABSENT, false);
    (is_of_question || is_of_data && !has_any(&spaced, &INSTEAD) && !sentence.contains("因此"))
        && !has_any(&spaced, &MEANS)
        && !has_any(&spaced, &UNSPACED_MEANS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_before_a_statement_is_seen() {
        for before in [
            "This question cannot be answered with the given schema. For example, if there were \
             such a column you could write:",
            "I can't answer this from the tables provided. A sample query for illustration only:",
            "I can’t reliably answer that question. Something like",
            "Unable to determine. There is no information on wholesale buyers.",
            "Assuming a table of buyers existed, the query might look like:",
            "If there were a table of buyers:",
            "The database does not contain the data needed to answer this. The closest you can \
             get is:",
            "It is not possible to answer this question with these tables.",
            "Sorry, I am unable to answer. Example:",
            "The tables do not contain any information about buyers.",
            "Diese Frage lässt sich mit den Tabellen nicht beantworten. Beispiel:",
            "Die Frage kann nicht mit diesem Schema beantwortet werden.",
            "Es gibt keine Angaben zu Käufern.",
            "Cette base ne permet pas de répondre à la question. Par exemple :",
            "Il est impossible de répondre avec ces tables.",
            "No se puede responder con este esquema. Por ejemplo:",
            "Não é possível responder a esta pergunta com este esquema. Exemplo:",
            "Non è possibile rispondere con queste tabelle. Esempio:",
            "Nie można odpowiedzieć na to pytanie. Przykład:",
            "На этот вопрос невозможно ответить по этой схеме. Пример:",
            "По этим таблицам ответить на вопрос нельзя.",
            "无法根据给定的表回答这个问题。示例：",
            "この質問にはこのスキーマでは答えられません。例：",
            "-- The question cannot be answered by these tables",
        ] {
            assert!(is_refused_before(&format!("{before}\n```sql\n")), "{before}");
        }
    }

    #[test]
    fn a_sentence_about_how_a_question_is_answered_is_no_refusal() {
        for before in [
            "",
            "This cannot be answered from reviews alone, so customers is joined:",
            "You cannot answer this without a join:",
            "I cannot run the query, but this should answer the question:",
            "There is no column `buyer`, so I use segment:",
            "There is no information on buyers in reviews, so customers is used:",
            "The year cannot be determined by the status, so order_date is used:",
            "The question cannot be answered directly; two steps are needed.",
            "We cannot count rows to answer the question.",
            "To answer the question, cancelled orders must not be counted.",
            "If there were several rows with the maximum, LIMIT 1 would take one:",
            "This query counts the questions that were not answered:",
            "Um die Frage zu beantworten, dürfen stornierte Bestellungen nicht zählen:",
            "Diese Abfrage zählt die Fragen, die nicht beantwortet wurden:",
            "Mit reviews allein lässt sich das nicht beantworten, daher der Join:",
            "Pour répondre, il ne faut pas compter les commandes annulées :",
            "Para responder, no se cuentan los pedidos cancelados:",
            "Чтобы ответить на вопрос, отменённые заказы не считаются:",
            "仅从reviews表无法回答，因此连接customers：",
            "Customers that existed in 2020 are counted:",
        ] {
            assert!(!is_refused_before(&format!("{before}\n```sql\n")), "{before}");
        }
    }
}
