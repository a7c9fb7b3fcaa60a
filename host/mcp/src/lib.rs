//! The MCP server: the searches of one host as tools of the Model Context Protocol, over standard
//! streams and over HTTP.
//!
//! [`Server::new`] takes an open [`syrch::Host`]; [`Server::serve_stdio`] serves one client over
//! the standard streams of the process, and [`Http`] several over streamable HTTP. [`Endpoint`] is
//! one path of a server that has other paths and checks of its own. [`register`] prints what an
//! editor or an assistant needs to start the server.

mod ask;
mod catalog;
mod clarify;
mod client;
mod connections;
mod endpoint;
mod explain;
mod handler;
mod http;
mod numbers;
mod options;
mod progress;
mod queue;
mod quote;
mod recent;
pub mod register;
mod rows;
mod server;
mod sessions;
mod spending;
mod sql;
mod stdio;
mod tools;

pub use crate::http::{Http, HttpOptions, Token};
pub use endpoint::{Endpoint, refuse};
pub use options::{Options, Scrub};
pub use queue::{Queue, Refusal, Slot};
pub use server::{Error, Server};
pub use spending::{Reservation, Spending, UsedUp};
