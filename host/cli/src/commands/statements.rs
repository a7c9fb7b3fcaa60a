//! `sql --stdin-jsonl`: lines `{"id", "sql"}` in, in order one line each out, whatever a line holds or does. Empty lines are passed over.

use std::io::BufRead;
use std::pin::pin;

use futures::{StreamExt, future, stream};
use serde_json::{Value, json};
use syrch::syrch_core::ports::{Database, Query};
use syrch::syrch_core::{SqlError, SqlErrorKind};

use crate::exit::Exit;
use crate::failure::{Failure, Outcome, alternatives};
use crate::output::Output;
use crate::scrub::Scrubber;
use crate::sink::json as sink;

/// Bytes of a line at most: the longest statement, all its characters escaped, and room for the rest.
const LONGEST: usize = 1 << 20;

/// A line as it was read.
#[derive(Debug, PartialEq)]
enum Line {
    Text(Vec<u8>),
    TooLong,
}

/// Statements under way at once; the executor has a limit of its own.
const IN_FLIGHT: usize = 4;

/// Answers every line of standard input. Some statements run side by side; the replies come in order, each as soon as it can.
pub(crate) async fn run(database: &dyn Database, check: bool, output: &Output, scrubber: &Scrubber) -> Outcome<()> {
    let lines = stream::unfold(lines(), async |mut lines| lines.recv().await.map(|line| (line, lines)));
    let replies = lines
        .filter(|line| future::ready(!matches!(line, Ok(Line::Text(bytes)) if bytes.trim_ascii().is_empty())))
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

/// Reads on a thread of its own, which ends with the program at the latest: a read cannot be cancelled.
fn lines() -> tokio::sync::mpsc::Receiver<std::io::Result<Line>> {
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

/// The next line without its end; a line that is too long is read to its end and forgotten.
fn next(input: &mut impl BufRead) -> std::io::Result<Option<Line>> {
    let (mut bytes, mut seen, mut long) = (Vec::new(), false, false);
    loop {
        let buffer = match input.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if buffer.is_empty() {
            break;
        }
        seen = true;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let part = &buffer[..end.unwrap_or(buffer.len())];
        long = long || bytes.len() + part.len() > LONGEST;
        if long {
            bytes = Vec::new();
        } else {
            bytes.extend_from_slice(part);
        }
        let used = end.map_or(buffer.len(), |end| end + 1);
        input.consume(used);
        if end.is_some() {
            break;
        }
    }
    Ok(match (seen, long) {
        (false, _) => None,
        (true, true) => Some(Line::TooLong),
        (true, false) => Some(Line::Text(bytes)),
    })
}

async fn reply(database: &dyn Database, check: bool, line: &Line) -> Value {
    let (id, sql) = match parse(line) {
        Ok(parsed) => parsed,
        Err(refused) => return refusal(&refused.0, &refused.1),
    };
    let query = Query::new(sql);
    let rows = if check {
        database.check(&query).await.map(|_| Value::Null)
    } else {
        database.run(&query).await.map(|result| json!(result.row_count()))
    };
    match rows {
        Ok(rows) => json!({"id": id, "ok": true, "rows": rows}),
        Err(error) => refusal(&id, &error),
    }
}

fn refusal(id: &Value, error: &SqlError) -> Value {
    let hint = alternatives(&error.suggestions).map(|names| format!("; did you mean {names}?")).unwrap_or_default();
    let message = format!("{}{hint}", error.message);
    json!({"id": id, "ok": false, "error": {"kind": error.kind.name(), "rule": error.rule, "message": message}})
}

fn parse(line: &Line) -> Result<(Value, String), Box<(Value, SqlError)>> {
    let wrong = |kind, rule: &str, message: String| SqlError::new(kind, message).rule(rule);
    let Line::Text(bytes) = line else {
        let message = format!("the line is longer than {LONGEST} bytes");
        return Err(Box::new((Value::Null, wrong(SqlErrorKind::TooLarge, "line-bytes", message))));
    };
    let mut value: Value = serde_json::from_slice(bytes).map_err(|error| {
        Box::new((Value::Null, wrong(SqlErrorKind::Other, "json-line", format!("the line is not JSON: {error}"))))
    })?;
    let id = value.get_mut("id").map(Value::take).unwrap_or_default();
    match value.get_mut("sql").map(Value::take) {
        Some(Value::String(sql)) => Ok((id, sql)),
        _ => Err(Box::new((id, wrong(SqlErrorKind::Other, "json-line", "the line has no text `sql`".to_owned())))),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;

    fn all(text: &[u8]) -> Vec<Line> {
        let mut input = Cursor::new(text);
        std::iter::from_fn(|| next(&mut input).unwrap()).collect()
    }

    #[test]
    fn lines_are_read_whatever_their_length() {
        let long = [vec![b'x'; LONGEST + 1], b"\nend".to_vec()].concat();
        assert_eq!(all(&long), [Line::TooLong, Line::Text(b"end".to_vec())]);
        assert_eq!(all(b"a\n\nb\n"), [Line::Text(b"a".to_vec()), Line::Text(vec![]), Line::Text(b"b".to_vec())]);
        assert_eq!(all(b""), []);
    }

    #[test]
    fn wrong_lines_keep_their_id_where_they_have_one() {
        let parsed = |text: &str| parse(&Line::Text(text.as_bytes().to_vec()));
        assert_eq!(parsed(r#"{"id": 7, "sql": "SELECT 1", "class": "x"}"#), Ok((json!(7), "SELECT 1".into())));
        assert_eq!(parsed(r#"{"sql": "x"}"#), Ok((Value::Null, "x".into())));
        let (id, error) = *parsed(r#"{"id": "a"}"#).unwrap_err();
        assert_eq!((id, error.rule.as_deref()), (json!("a"), Some("json-line")));
        assert_eq!(parsed("[1]").unwrap_err().0, Value::Null);
        assert_eq!(parsed(&"[".repeat(10_000)).unwrap_err().1.kind, SqlErrorKind::Other);
        assert_eq!(parse(&Line::Text(vec![0xff])).unwrap_err().0, Value::Null);
        let reply = refusal(&json!("a"), &error);
        assert_eq!(
            reply.to_string(),
            r#"{"id":"a","ok":false,"error":{"kind":"other","rule":"json-line","message":"the line has no text `sql`"}}"#
        );
    }

    proptest! {
        #[test]
        fn any_line_is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            for line in all(&bytes) {
                let _ = parse(&line);
            }
        }
    }
}
