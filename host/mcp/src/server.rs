//! The server: what the requests of all its clients share.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, RequestStateCodec, Tool};
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio_pipes;
use rmcp::{ServerHandler, ServiceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use syrch::Host;
use syrch::conversation::Conversations;

use crate::options::Options;
use crate::queue::Queue;
use crate::recent::Recent;
use crate::sessions::Place;
use crate::spending::Spending;
use crate::stdio::Stdio;
use crate::{quote, tools};

/// The time for which clients may cache lists and resources, in milliseconds.
pub(crate) const CACHED: u64 = 300_000;
/// The time for which a client may answer a result that asks for input.
pub(crate) const STATE_LIFETIME: Duration = Duration::from_secs(3_600);
/// The length of the key that signs request states, in bytes.
const KEY: usize = 32;

/// An error of the server itself.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address cannot be listened at.
    #[error("cannot listen at {address}: {source}")]
    Listen {
        /// The address.
        address: std::net::SocketAddr,
        /// The message of the system.
        source: std::io::Error,
    },
    /// An address that others can reach was given without the names by which they call it.
    #[error(
        "{0} means every address of this machine: name the hosts by which clients call the server"
    )]
    Unnamed(std::net::SocketAddr),
    /// The token is too short.
    #[error("a token has {least} characters or more, without blanks")]
    Token {
        /// The least number of characters.
        least: usize,
    },
    /// The system gives no random numbers.
    #[error("no random numbers: {0}")]
    Random(String),
    /// The client did not begin with the handshake of the protocol.
    #[error("the client did not begin as the protocol says: {0}")]
    Initialize(String),
}

/// An MCP server over one host. A clone serves the same host, with the same slots and budgets.
#[derive(Clone)]
pub struct Server {
    shared: Arc<Shared>,
    /// The place that it has while it is one session of HTTP, or one request without a session.
    _place: Option<Place>,
}

struct Shared {
    host: Host,
    options: Options,
    recent: Recent,
    conversations: Conversations,
    codec: RequestStateCodec,
    tools: Vec<Tool>,
}

impl Server {
    /// A server over an open host. The host must allow as many searches at once as the options have
    /// slots and places to wait.
    ///
    /// # Errors
    /// When the system gives no random numbers.
    pub fn new(host: Host, options: Options) -> Result<Self, Error> {
        let mut key = [0; KEY];
        getrandom::fill(&mut key).map_err(|error| Error::Random(error.to_string()))?;
        let codec = RequestStateCodec::try_new(key.to_vec())
            .map_err(|error| Error::Random(error.to_string()))?;
        let shared = Shared {
            recent: Recent::default(),
            conversations: Conversations::default(),
            codec,
            tools: tools::list(host.settings().rows),
            host,
            options,
        };
        Ok(Self { shared: Arc::new(shared), _place: None })
    }

    /// Serves one client over the standard streams of the process, until it closes them.
    ///
    /// # Errors
    /// When the client does not begin as the protocol says.
    pub async fn serve_stdio(&self) -> Result<(), Error> {
        let (input, output) = stdio_pipes();
        let versions = ServerHandler::supported_protocol_versions(self);
        let transport = Stdio::new(input, output, &versions);
        match self.clone().serve(transport).await {
            Ok(running) => {
                // It ends when the client closes the streams.
                drop(running.waiting().await);
                Ok(())
            }
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(Error::Initialize(error.to_string())),
        }
    }

    /// The server for one session of HTTP, or one request without a session, which has that place
    /// while it is open.
    pub(crate) fn with_place(&self, place: Option<Place>) -> Self {
        Self { shared: Arc::clone(&self.shared), _place: place }
    }

    pub(crate) fn host(&self) -> &Host {
        &self.shared.host
    }

    pub(crate) fn queue(&self) -> &Queue {
        &self.shared.options.queue
    }

    pub(crate) fn spending(&self) -> &Spending {
        &self.shared.options.spending
    }

    pub(crate) fn conversations(&self) -> &Conversations {
        &self.shared.conversations
    }

    pub(crate) fn recent(&self) -> &Recent {
        &self.shared.recent
    }

    pub(crate) fn tools(&self) -> &[Tool] {
        &self.shared.tools
    }

    pub(crate) fn codec(&self) -> &RequestStateCodec {
        &self.shared.codec
    }

    /// The value without secrets. One that cannot be written as JSON would stay; there is none.
    pub(crate) fn scrub<T: Serialize + DeserializeOwned>(&self, value: T) -> T {
        let Ok(mut written) = serde_json::to_value(&value) else { return value };
        self.shared.options.scrub.scrub(&mut written);
        serde_json::from_value(written).unwrap_or(value)
    }
}

/// The reply of a tool.
pub(crate) struct Reply {
    text: String,
    document: Option<Value>,
}

impl Reply {
    /// A result: a short text, and the document.
    pub(crate) fn document(text: String, document: Value) -> Self {
        Self { text, document: Some(document) }
    }

    /// A failure that the client's model should read.
    pub(crate) fn failure(message: impl Into<String>) -> Self {
        Self { text: message.into(), document: None }
    }

    /// An error of a search or a statement. Its message may quote the database.
    pub(crate) fn error(error: &syrch::Error) -> Self {
        let data = json!({"class": error.class(), "message": error.to_string()});
        Self::failure(quote::with_data("The call failed.", &data))
    }

    pub(crate) fn into_response(self, server: &Server) -> CallToolResponse {
        let content = vec![ContentBlock::text(server.scrub(self.text))];
        let mut result = match &self.document {
            Some(_) => CallToolResult::success(content),
            None => CallToolResult::error(content),
        };
        result.structured_content = self.document.map(|document| server.scrub(document));
        result.into()
    }
}
