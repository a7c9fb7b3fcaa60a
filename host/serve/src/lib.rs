//! Serves a page and an HTTP interface over one database: questions whose search can be watched,
//! earlier runs, the schema, plugins and guarded statements.
//!
//! [`Server::open`] opens the database and the strategy, and [`Server::run`] serves until it is
//! asked to stop. Searches that were unfinished when a server ended are resumed by the next one.

mod access;
mod connections;
mod headers;
mod options;
mod page;
mod problem;
mod program;
mod routes;
mod searches;
mod server;

pub use access::Token;
pub use options::{Limits, Options};
pub use program::Program;
pub use server::{ServeError, Server};
