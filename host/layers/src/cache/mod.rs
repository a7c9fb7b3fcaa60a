//! What was asked before is not asked again: model calls and statements behind one store that outlives the process.
//!
//! A key holds who answers and the whole request, so two databases, models or endpoints never share an entry, and a changed database
//! file has new keys. Only good answers are kept; the store's own failures are misses. Equal calls that are under way at once go out
//! once, also when they belong to different searches.

mod database;
#[cfg(test)]
mod fakes;
mod model;
mod volatile;

pub use database::CachedDatabase;
pub use model::CachedModel;

/// Goes into every request's form: what a reply means may change with the program.
const VERSION: &str = env!("CARGO_PKG_VERSION");
