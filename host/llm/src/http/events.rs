//! Server-sent events: the stream in which some endpoints answer, asked for or not.

use serde_json::{Value, json};

use super::values::read_leniently;

/// The data that ends a stream.
const DONE: &str = "[DONE]";

/// The events of a stream.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Events {
    /// Their documents, in order.
    pub(super) all: Vec<Value>,
    /// True if the stream says that it has ended.
    pub(super) is_ended: bool,
    /// True if one of its documents is damaged.
    pub(super) is_broken: bool,
}

/// Returns true if a body is a stream of events.
pub(super) fn is_stream(body: &[u8]) -> bool {
    let start = body.trim_ascii_start();
    // A line that begins with a colon is a comment.
    [b"data:".as_slice(), b"event:", b":", b"id:", b"retry:"]
        .iter()
        .any(|prefix| start.starts_with(prefix))
}

/// Reads the documents of a stream. Data that begin as a document and are none make it a broken
/// one; other data are skipped, as comments are.
pub(super) fn read(body: &[u8]) -> Events {
    let text = String::from_utf8_lossy(body).replace("\r\n", "\n").replace('\r', "\n");
    let mut events = Events::default();
    let mut event = Event::default();
    for line in text.lines().chain([""]) {
        if line.is_empty() {
            std::mem::take(&mut event).add_to(&mut events);
        } else if let Some(name) = line.strip_prefix("event:") {
            event.is_error = ["error", "exception"].contains(&name.trim());
        } else if let Some(data) = line.strip_prefix("data:").map(str::trim) {
            if data == DONE {
                std::mem::take(&mut event).add_to(&mut events);
                events.is_ended = true;
                break;
            }
            event.lines.push(data);
        }
    }
    events
}

/// One event of a stream: the lines up to an empty one.
#[derive(Default)]
struct Event<'a> {
    lines: Vec<&'a str>,
    is_error: bool,
}

impl Event<'_> {
    /// Adds its document, which may stand in several lines. Some servers write no empty lines, so
    /// that each line is a document.
    fn add_to(self, events: &mut Events) {
        let whole = self.lines.join("\n");
        let whole = read_leniently(whole.as_bytes());
        let read = match whole {
            Some(document) => vec![Some(document)],
            None => self.lines.iter().map(|line| read_leniently(line.as_bytes())).collect(),
        };
        let lines = self.lines.iter().map(|line| line.trim_start());
        for (document, line) in read.into_iter().zip(lines) {
            match document {
                Some(document) if self.is_error && document.get("error").is_none() => {
                    events.all.push(json!({ "error": document }));
                }
                Some(document) => events.all.push(document),
                None if self.is_error => events.all.push(json!({"error": {"message": line}})),
                None => events.is_broken |= line.starts_with(['{', '[']),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn documents_are_read_out_of_a_stream() {
        let body = b": wait\n\nevent: x\ndata: {\"a\": 1}\n\ndata:{\"b\": 2}\r\n\r\ndata: ping\n\n\
                     data: {\"b\":\ndata: 3}\n\ndata: {\"b\": 4}\ndata: {\"b\": 5}\n\
                     data: [DONE]\ndata: {\"c\": 3}\n";
        assert!(is_stream(body) && !is_stream(b"{\"data\": 1}") && !is_stream(b"<html>"));
        let mut all = vec![json!({"a": 1})];
        all.extend((2..6).map(|b| json!({ "b": b })));
        assert_eq!(read(body), Events { all, is_ended: true, is_broken: false });
        assert!(!read(b"data: {}\n").is_ended);
        // Lines of one event are one document, and a line may end with a carriage return alone.
        for body in [
            b":ok\n\ndata: {\"a\":\ndata: 1}\n\ndata: {\"b\": 2}\n".as_slice(),
            b": ok\r\rdata: {\"a\": 1}\rdata: {\"b\": 2}\r",
            b"data: {\"a\": 1}\n\ndata: {\"cut\n\ndata: {\"b\": 2}\n\n",
        ] {
            assert!(is_stream(body));
            assert_eq!(read(body).all, [json!({"a": 1}), json!({"b": 2})]);
        }
    }

    #[test]
    fn damage_and_errors_of_a_stream_are_seen() {
        assert!(read(b"data: {\"a\": 1}\n\ndata: {\"cut\n\ndata: [DONE]\n").is_broken);
        for (body, error) in [
            ("event: error\ndata: {\"code\": 1}\n\ndata: [DONE]", json!({"code": 1})),
            ("event: error\ndata: overloaded\n", json!({"message": "overloaded"})),
            ("event: error\ndata: {\"error\": 1}\n", json!(1)),
        ] {
            assert_eq!(read(body.as_bytes()).all, [json!({ "error": error })], "{body}");
        }
    }
}
