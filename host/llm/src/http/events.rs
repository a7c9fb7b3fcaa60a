//! Server-sent events: the stream in which some endpoints answer, asked for or not.

use serde_json::Value;

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
}

/// Returns true if a body is a stream of events.
pub(super) fn is_stream(body: &[u8]) -> bool {
    let start = body.trim_ascii_start();
    // A line that begins with a colon is a comment.
    [b"data:".as_slice(), b"event:", b":", b"id:", b"retry:"]
        .iter()
        .any(|prefix| start.starts_with(prefix))
}

/// Reads the documents of a stream, each from one line of data or from those of one event. Lines
/// that hold none are skipped, as comments are.
pub(super) fn read(body: &[u8]) -> Events {
    let text = String::from_utf8_lossy(body).replace("\r\n", "\n").replace('\r', "\n");
    let mut events = Events::default();
    let mut event: Vec<&str> = Vec::new();
    for line in text.lines() {
        match line.strip_prefix("data:").map(str::trim) {
            Some(DONE) => {
                events.is_ended = true;
                break;
            }
            Some(data) => event.push(data),
            None if line.is_empty() => events.take(&mut event),
            None => {}
        }
    }
    events.take(&mut event);
    events
}

impl Events {
    /// Adds the documents of an event: those of its lines, or the one that all of them are.
    fn take(&mut self, event: &mut Vec<&str>) {
        let lines = std::mem::take(event);
        let read: Vec<Option<Value>> =
            lines.iter().map(|line| read_leniently(line.as_bytes())).collect();
        let whole = match read.contains(&None) && lines.len() > 1 {
            true => read_leniently(lines.join("\n").as_bytes()),
            false => None,
        };
        match whole {
            Some(document) => self.all.push(document),
            None => self.all.extend(read.into_iter().flatten()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn documents_are_read_out_of_a_stream() {
        let body = b": wait\n\nevent: x\ndata: {\"a\": 1}\n\ndata:{\"b\": 2}\r\n\r\ndata: {\"cut\n\
                     data: [DONE]\ndata: {\"c\": 3}\n";
        assert!(is_stream(body) && !is_stream(b"{\"data\": 1}") && !is_stream(b"<html>"));
        assert_eq!(
            read(body),
            Events { all: vec![json!({"a": 1}), json!({"b": 2})], is_ended: true }
        );
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
}
