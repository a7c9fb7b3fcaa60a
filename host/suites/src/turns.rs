//! A conversation of a suite: one object with `turns`, each of which is a question with its own
//! expected answer. What the object says besides holds for each turn.

use serde_json::{Map, Value};

use super::inside::Folder;
use super::record::{self, Read};
use super::{Earlier, Format, Turn};

/// The member that holds the turns.
pub(super) const TURNS: &str = "turns";
/// Turns of one conversation at most.
const MOST: usize = 100;
/// The fields of a turn by which results can be sliced.
const CONVERSATION: &str = "conversation";
const TURN: &str = "turn";

/// One object that is no question.
fn refuse_object(id: Option<String>, reason: &str) -> Vec<Read> {
    vec![Read { id, question: Err(vec![reason.to_owned()]) }]
}

/// Reads the turns of an object as questions. Their ids are that of the object with the number of
/// the turn, from 1; their fields `conversation` and `turn` are the two.
pub(super) fn read(
    mut object: Map<String, Value>,
    index: u64,
    format: Format,
    folder: &Folder,
) -> Vec<Read> {
    let id = match object.get("id").or_else(|| object.get("question_id")) {
        Some(Value::String(id)) if !id.trim().is_empty() => id.trim().to_owned(),
        Some(Value::Number(id)) => id.to_string(),
        _ => return refuse_object(None, "a conversation has no `id`"),
    };
    let Some(Value::Array(turns)) = object.shift_remove(TURNS) else {
        return refuse_object(Some(id), "`turns` is not a list of questions");
    };
    if object.contains_key(record::QUESTION) {
        return refuse_object(Some(id), "a conversation has `turns` and no `question`");
    }
    if turns.is_empty() || turns.len() > MOST {
        return refuse_object(Some(id), "`turns` has no turn, or more than 100");
    }
    let of = turns.len();
    let mut earlier: Vec<Earlier> = Vec::new();
    let mut out = Vec::new();
    for (place, turn) in turns.into_iter().enumerate() {
        let number = place + 1;
        let name = format!("{id}/{number}");
        let Value::Object(turn) = turn else {
            out.extend(refuse_object(Some(name), "a turn is no object with a `question`"));
            continue;
        };
        let mut own = object.clone();
        own.extend(turn);
        own.shift_remove("question_id");
        own.insert("id".to_owned(), Value::String(name));
        let mut read = record::read(own, index, format, folder);
        if let Ok(question) = &mut read.question {
            question.conversation = Some(Turn { id: id.clone(), earlier: earlier.clone(), of });
            question.fields.insert(CONVERSATION.to_owned(), id.clone());
            question.fields.insert(TURN.to_owned(), number.to_string());
            earlier.push(Earlier {
                question: question.question.clone(),
                evidence: question.evidence.clone(),
                as_of: question.as_of.clone(),
            });
        }
        out.push(read);
    }
    out
}
