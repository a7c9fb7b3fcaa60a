//! What clients of model endpoints share: the configuration, one exchange over HTTP, its failures in words, and how an endpoint wants to
//! be asked.
//!
//! A client is a [`Protocol`]: where a request goes, what its body and its headers hold, and what a reply says. Everything else is
//! here, so that all clients keep to the same rules: no redirect is followed and no proxy used, the key goes to the configured address or
//! nowhere, and over plain HTTP only to this machine, bodies are read up to a bound, and a call makes one request. Whether to make another is for the layers around it.

mod address;
mod config;
mod endpoint;
mod habits;
mod protocol;
mod provider;
mod status;
pub(crate) mod values;

pub use address::{is_exposed, is_loopback, kept_local};
pub use config::{EndpointConfig, EndpointError};
pub use habits::{Habits, Structured};
pub use protocol::{Answer, ListRequest, Protocol, Settings, Stopped, list_of_models};
pub use provider::HttpProvider;
