//! The common parts of the clients of model endpoints: the configuration, an exchange over HTTP,
//! its errors, and the request forms that an endpoint accepts.
//!
//! A client is a [`Protocol`]: the address and headers of requests, their bodies, and how a reply
//! is read. Everything else is here, so that the same rules hold for all clients: no redirect is
//! followed and no proxy is used, the key is sent to the configured address only, and over plain
//! HTTP only to this machine, bodies are read up to a bound, and a call makes one request. The
//! layers decide about another one.

mod cause;
mod config;
mod endpoint;
mod events;
mod lenient;
mod protocol;
mod provider;
mod quirks;
mod status;
pub(crate) mod values;

pub use config::{EndpointConfig, EndpointError};
pub use protocol::{Answer, ListRequest, Protocol, Settings, Stopped, list_of_models};
pub use provider::HttpProvider;
pub use quirks::{Quirks, Structured};
pub use syrch_core::StructuredReplies;
pub use syrch_http::{is_exposed, is_loopback, is_secret, resolve_locally};
