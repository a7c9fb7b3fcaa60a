//! `sql --stdin-jsonl`: reads lines `{"id", "sql"}` and writes a line for each, in order, whatever
//! it holds, with what is doubtful about its result. Empty lines are skipped.

use std::pin::pin;

use futures::{StreamExt, future, stream};
use serde_json::{Value, json};
use syrch::syrch_core::ports::{Database, SqlQuery};
use syrch::syrch_core::{SqlError, SqlErrorKind};

use super::lines::{LONGEST, Line, next};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome, alternatives};
use crate::output::Output;
use crate::scrub::Scrubber;
use crate::sink::json as sink;

/// Statements under way at once; the executor has a limit of its own.
const IN_FLIGHT: usize = 4;

/// Answers every line of standard input. Some statements run side by side; the replies come in
/// order, each as soon as it can.
pub(crate) async fn run(
    database: &dyn Database,
    check: bool,
    output: &Output,
    scrubber: &Scrubber,
) -> Outcome<()> {
    let lines =
        stream::unfold(lines(), async |mut lines| lines.recv().await.map(|line| (line, lines)));
    let replies = lines
        .filter(|line| {
            future::ready(!matches!(line, Ok(Line::Text(bytes)) if bytes.trim_ascii().is_empty()))
        })
        .map(async |line| match line {
            Ok(line) => Ok(reply(database, check, &line).await),
            Err(error) => Err(Failure::new(Exit::Unexpected, format!("standard input: {error}"))),
        })
        .buffered(IN_FLIGHT);
    let mut replies = pin!(replies);
    let mut stream = output.stream()?;
    while let Some(reply) = replies.next().await {
        let mut reply = reply?;
        scrubber.value(&mut reply);
        stream.write(&sink::line(&reply))?;
        if stream.is_closed() {
            break;
        }
    }
    stream.finish()
}

/// Reads on a thread of its own, which ends with the program at the latest: a read cannot be
/// cancelled.
pub(super) fn lines() -> tokio::sync::mpsc::Receiver<std::io::Result<Line>> {
    let (sender, receiver) = tokio::sync::mpsc::channel(1);
    tokio::task::spawn_blocking(move || {
        let mut input = std::io::stdin().lock();
        while let Some(line) = next(&mut input).transpose() {
            let failed = line.is_err();
            if sender.blocking_send(line).is_err() || failed {
                break;
            }
        }
    });
    receiver
}

async fn reply(database: &dyn Database, check: bool, line: &Line) -> Value {
    let (id, sql) = match parse(line) {
        Ok(parsed) => parsed,
        Err(refused) => return refusal(&refused.0, &refused.1),
    };
    let query = SqlQuery::new(sql);
    let profile = if check {
        database.check(&query).await.map(|_| None)
    } else {
        database.run(&query).await.map(|result| Some(result.profile()))
    };
    match profile {
        Ok(Some(profile)) if profile.warnings.is_empty() => {
            json!({"id": id, "ok": true, "rows": profile.rows})
        }
        Ok(Some(profile)) => {
            json!({"id": id, "ok": true, "rows": profile.rows, "warnings": profile.warnings})
        }
        // A check ran nothing, so there are no rows to count.
        Ok(None) => json!({"id": id, "ok": true}),
        Err(error) => refusal(&id, &error),
    }
}

fn refusal(id: &Value, error: &SqlError) -> Value {
    let hint = alternatives(&error.suggestions)
        .map(|names| format!("; did you mean {names}?"))
        .unwrap_or_default();
    let message = format!("{}{hint}", error.message);
    json!({
        "id": id, "ok": false, "error": {
            "kind": error.kind.name(), "rule": error.rule, "message": message
        }
    })
}

fn parse(line: &Line) -> Result<(Value, String), Box<(Value, SqlError)>> {
    let wrong = |kind, rule: &str, message: String| SqlError::new(kind, message).rule(rule);
    let bytes = match line {
        Line::Text(bytes) => bytes,
        Line::TooLong(id) => {
            let message = format!("the line is longer than {LONGEST} bytes");
            return Err(Box::new((
                id.clone(),
                wrong(SqlErrorKind::TooLarge, "statement-size", message),
            )));
        }
    };
    let mut value: Value = serde_json::from_slice(bytes).map_err(|error| {
        Box::new((
            Value::Null,
            wrong(SqlErrorKind::Other, "json-line", format!("the line is not JSON: {error}")),
        ))
    })?;
    let id = value.get_mut("id").map(Value::take).unwrap_or_default();
    match value.get_mut("sql").map(Value::take) {
        Some(Value::String(sql)) => Ok((id, sql)),
        _ => Err(Box::new((
            id,
            wrong(SqlErrorKind::Other, "json-line", "the line has no text `sql`".to_owned()),
        ))),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn wrong_lines_keep_their_id_where_they_have_one() {
        let parsed = |text: &str| parse(&Line::Text(text.as_bytes().to_vec()));
        assert_eq!(
            parsed(r#"{"id": 7, "sql": "SELECT 1", "class": "x"}"#),
            Ok((json!(7), "SELECT 1".into()))
        );
        assert_eq!(parsed(r#"{"sql": "x"}"#), Ok((Value::Null, "x".into())));
        let (id, error) = *parsed(r#"{"id": "a"}"#).unwrap_err();
        assert_eq!((id, error.rule.as_deref()), (json!("a"), Some("json-line")));
        assert_eq!(parsed("[1]").unwrap_err().0, Value::Null);
        assert_eq!(parsed(&"[".repeat(10_000)).unwrap_err().1.kind, SqlErrorKind::Other);
        assert_eq!(parse(&Line::Text(vec![0xff])).unwrap_err().0, Value::Null);
        let (id, long) = *parse(&Line::TooLong(json!("b"))).unwrap_err();
        assert_eq!(
            (id, long.kind, long.rule.as_deref()),
            (json!("b"), SqlErrorKind::TooLarge, Some("statement-size"))
        );
        let reply = refusal(&json!("a"), &error);
        assert_eq!(
            reply.to_string(),
            r#"{"id":"a","ok":false,"error":{"kind":"other","rule":"json-line","message":"the line has no text `sql`"}}"#
        );
    }

    proptest! {
        #[test]
        fn any_line_is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse(&Line::Text(bytes));
        }
    }
}
