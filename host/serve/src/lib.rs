//! Serves a page and an HTTP interface over one database: questions whose search can be watched,
//! comparisons of strategies, earlier runs, the schema, plugins and guarded statements.
//!
//! [`Server::open`] opens the database and the strategy, and [`Server::run`] serves until it is
//! asked to stop. The next server resumes what was unfinished when a server ended.

mod access;
mod comparisons;
mod connections;
mod headers;
mod options;
mod page;
mod problem;
mod program;
mod routes;
mod scope;
mod searches;
mod server;
mod unfinished;

pub use access::Token;
pub use comparisons::Comparison;
pub use options::{Limits, Options};
pub use page::static_page;
pub use program::{Compared, Program, Uncompared};
pub use server::{ServeError, Server};
