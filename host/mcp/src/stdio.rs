//! Standard streams: one message a line. A line that is no message gets an error, and the session
//! goes on.

use std::future::Future;
use std::pin::Pin;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, GetMeta, JsonRpcMessage, ProtocolVersion,
    RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, BufReader, Empty};

/// The limit on the size of one message, in bytes.
pub(crate) const MESSAGE: usize = 1 << 20;
/// A mark that some programs write before the first message, and that means nothing.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The streams of one client.
///
/// `rmcp` leaves lines that it cannot read without a reply, and ends a session that does not begin
/// with a request. Here the client learns of each such line, and what comes before the session has
/// begun, and is no request, has no effect.
pub(crate) struct Stdio<R, W: AsyncWrite> {
    input: BufReader<R>,
    /// The line that is being read.
    line: Vec<u8>,
    /// True from where a line has become too long up to its end.
    is_too_long: bool,
    output: AsyncRwTransport<RoleServer, Empty, W>,
    /// A reply to a line that was no message, while it is being written.
    reply: Option<Pin<Box<dyn Future<Output = std::io::Result<()>> + Send>>>,
    /// The versions of the protocol that the server speaks.
    versions: Vec<ProtocolVersion>,
    /// True from the first request that begins a session.
    has_begun: bool,
}

/// A line of the input.
enum Line {
    /// The line is read.
    Whole,
    /// The line was longer than a message may be, and is dropped.
    TooLong,
    /// The client has closed the stream.
    End,
}

/// The content of a line.
enum Content {
    Message(Box<ClientJsonRpcMessage>),
    /// Nothing, or a notification that is not of the protocol.
    Nothing,
    /// No message, with the id to which the error belongs.
    Mistake(ErrorData, Option<RequestId>),
}

impl<R: AsyncRead + Send + Unpin, W: AsyncWrite + Send + Unpin + 'static> Stdio<R, W> {
    /// The streams of a client, for a server that speaks these versions of the protocol.
    pub(crate) fn new(input: R, output: W, versions: &[ProtocolVersion]) -> Self {
        Self {
            input: BufReader::new(input),
            line: Vec::new(),
            is_too_long: false,
            output: AsyncRwTransport::new_server(tokio::io::empty(), output),
            reply: None,
            versions: versions.to_vec(),
            has_begun: false,
        }
    }

    /// Reads the next line into `line`. Nothing is lost when the future is dropped before.
    async fn read_line(&mut self) -> std::io::Result<Line> {
        loop {
            let available = self.input.fill_buf().await?;
            if available.is_empty() {
                return Ok(Line::End);
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            if !self.is_too_long {
                self.line.extend_from_slice(&available[..taken]);
                self.is_too_long = self.line.len() > MESSAGE + 1;
            }
            self.input.consume(taken);
            if self.is_too_long {
                self.line = Vec::new();
            }
            if end.is_some() {
                let is_too_long = std::mem::take(&mut self.is_too_long);
                return Ok(if is_too_long { Line::TooLong } else { Line::Whole });
            }
        }
    }

    /// Returns true if the service can take this message: before a session has begun, it takes
    /// requests alone, and ends at anything else.
    fn admit(&mut self, message: &ClientJsonRpcMessage) -> bool {
        let JsonRpcMessage::Request(request) = message else { return self.has_begun };
        self.has_begun |= match &request.request {
            ClientRequest::InitializeRequest(_) => true,
            ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
            request => begins_session(request, &self.versions),
        };
        true
    }
}

/// Returns true if a request names all that the era without sessions needs, so that it is served
/// without `initialize`.
fn begins_session(request: &ClientRequest, versions: &[ProtocolVersion]) -> bool {
    let meta = request.get_meta();
    let is_whole = meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty();
    is_whole && meta.protocol_version().is_some_and(|version| versions.contains(&version))
}

impl<R, W> Transport<RoleServer> for Stdio<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = std::io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = std::io::Result<()>> + Send + 'static {
        self.output.send(message)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(reply) = &mut self.reply {
                reply.await.ok()?;
                self.reply = None;
            }
            let content = match self.read_line().await.ok()? {
                Line::Whole => parse_line(&std::mem::take(&mut self.line)),
                Line::TooLong => {
                    let why = format!("a message has at most {MESSAGE} bytes");
                    Content::Mistake(ErrorData::parse_error(why, None), None)
                }
                Line::End => return None,
            };
            match content {
                Content::Message(message) if self.admit(&message) => return Some(*message),
                Content::Message(_) | Content::Nothing => {}
                Content::Mistake(error, id) => {
                    let reply = self.output.send(ServerJsonRpcMessage::error(error, id));
                    self.reply = Some(Box::pin(reply));
                }
            }
        }
    }

    async fn close(&mut self) -> std::io::Result<()> {
        self.output.close().await
    }
}

/// Reads a line. The error of one that is no message has the line's id, where it has one.
fn parse_line(line: &[u8]) -> Content {
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Content::Nothing;
    }
    if let Ok(message) = serde_json::from_slice(line) {
        return Content::Message(Box::new(message));
    }
    let Ok(value) = serde_json::from_slice::<Value>(line) else {
        return Content::Mistake(ErrorData::parse_error("the line is no JSON", None), None);
    };
    let id = value.get("id");
    // Nobody replies to a notification, whatever it says.
    if id.is_none() && value.get("method").is_some_and(Value::is_string) {
        return Content::Nothing;
    }
    let id = id.and_then(|id| serde_json::from_value(id.clone()).ok());
    let why = "the line is no message of the protocol";
    Content::Mistake(ErrorData::invalid_request(why, None), id)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code of the error that a line gets, with the id, or the empty text.
    fn code(line: &str) -> String {
        match parse_line(line.as_bytes()) {
            Content::Message(_) => "message".into(),
            Content::Nothing => String::new(),
            Content::Mistake(error, id) => format!("{} {id:?}", error.code.0),
        }
    }

    #[test]
    fn a_line_is_a_message_or_has_an_error() {
        assert_eq!(code(r#"{"jsonrpc": "2.0", "id": 1, "method": "ping"}"#), "message");
        assert_eq!(
            code("\u{feff}{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\"}"),
            "message"
        );
        assert_eq!(code("  \r"), "");
        assert_eq!(code(r#"{"method": "$/cancelRequest", "params": 3}"#), "");
        for (line, start) in [
            ("GET / HTTP/1.1\r", "-32700"),
            (r#"{"jsonrpc": "2.0", "id": 1"#, "-32700"),
            ("[1, 2]", "-32600 None"),
            ("null", "-32600 None"),
            (r#"{"jsonrpc": "2.0", "id": 7, "method": 5}"#, "-32600 Some(Number(7))"),
        ] {
            assert!(code(line).starts_with(start), "{line}: {}", code(line));
        }
        assert!(code(&"[".repeat(100_000)).starts_with("-32700"));
    }
}
