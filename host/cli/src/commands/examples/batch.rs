//! The answers that `batch` wrote, one of which a person confirms.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde_json::Value;
use syrch::batch::{Ending, Reply};
use syrch::report::OriginReport;

use super::{Answered, Known};
use crate::commands::Context;
use crate::failure::{Failure, Outcome};

/// The limit on the length of a line, in bytes.
const LONGEST: u64 = 64 << 20;

/// The answer of that id in a file.
pub(super) fn read_answer(context: &Context, path: &Path, id: &str) -> Outcome<Answered> {
    context.needs_database()?;
    let reply = find_reply(path, id)?;
    let outcome = reply.outcome;
    let answer = reply.answer.filter(|_| outcome == Ending::Answered);
    let answer = answer.ok_or_else(|| {
        refuse(path, &format!("the line with the id `{id}` has no answer to confirm"))
    })?;
    if reply.conversation.is_some() {
        let why = format!("the answer `{id}` is of a conversation, in which questions go on");
        return Err(refuse(path, &why).hint("ask it in full by itself, and confirm that answer"));
    }
    if reply.has_evidence {
        let why = format!(
            "the question `{id}` was asked with an explanation or for another day, and means \
             something else without it"
        );
        let hint = "ask it with the explanation in its own words, and confirm that answer";
        return Err(refuse(path, &why).hint(hint));
    }
    match &answer.origin {
        Some(OriginReport::Metric(_)) => {
            let why = format!("the answer `{id}` comes from the definitions of metrics");
            return Err(refuse(path, &why).hint("they give it again by themselves"));
        }
        Some(OriginReport::Verified { by, .. }) => {
            return Err(refuse(path, &format!("the answer `{id}` is confirmed already, by {by}")));
        }
        Some(OriginReport::Generated) | None => {}
    }
    let sql = answer
        .sql
        .ok_or_else(|| refuse(path, &format!("the answer `{id}` has no statement to confirm")))?;
    Ok(Answered {
        question: answer.question,
        sql,
        follows: false,
        dialect: answer.dialect,
        semantics: Known::AsNow,
        settings: context.config.effective.settings.clone(),
    })
}

/// The one reply of that id.
fn find_reply(path: &Path, id: &str) -> Outcome<Reply> {
    let file = File::open(path).map_err(|error| refuse(path, &error.to_string()))?;
    let mut reader = BufReader::new(file);
    let mut found = None;
    let mut buffer = Vec::new();
    for number in 1_u64.. {
        buffer.clear();
        let read = reader.by_ref().take(LONGEST).read_until(b'\n', &mut buffer);
        let size = read.map_err(|error| refuse(path, &error.to_string()))?;
        if size == 0 {
            break;
        }
        let reply: Reply = serde_json::from_slice(&buffer).map_err(|error| {
            refuse(path, &format!("its line {number} is no answer: {error}"))
                .hint("name a file that `batch` wrote")
        })?;
        // A line that a budget left open is answered again.
        if !is_id(&reply.id, id) || reply.is_open {
            continue;
        }
        if found.replace(reply).is_some() {
            return Err(refuse(path, &format!("two lines have the id `{id}`")));
        }
    }
    found.ok_or_else(|| refuse(path, &format!("no line has the id `{id}`")))
}

/// Returns whether a flag names that id: a text, or a number as it is written.
fn is_id(id: &Value, named: &str) -> bool {
    match id.as_str() {
        Some(text) => text == named,
        None => format!("{id}") == named,
    }
}

fn refuse(path: &Path, why: &str) -> Failure {
    Failure::usage(format!("--answers `{}`: {why}", path.display()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ids_are_named_as_they_are_written() {
        assert!(is_id(&json!("a 1"), "a 1") && is_id(&json!(7), "7") && is_id(&json!("7"), "7"));
        assert!(!is_id(&json!("\"7\""), "7") && !is_id(&json!(7), "7.0"));
    }
}
