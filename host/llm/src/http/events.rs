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
    [b"data:".as_slice(), b"event:", b": ", b":\n", b"id:", b"retry:"]
        .iter()
        .any(|prefix| start.starts_with(prefix))
}

/// Reads the documents of a stream. Lines that hold none are skipped, as comments are.
pub(super) fn read(body: &[u8]) -> Events {
    let text = String::from_utf8_lossy(body);
    let mut events = Events::default();
    for line in text.lines() {
        let Some(data) = line.strip_prefix("data:").map(str::trim) else { continue };
        if data == DONE {
            events.is_ended = true;
            break;
        }
        events.all.extend(read_leniently(data.as_bytes()));
    }
    events
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
    }
}
