//! The persistent store behind model calls and results of statements: bytes by key in one SQLite file, shared by all processes of a user.
//!
//! A cache never fails a search. Whatever goes wrong with it is a miss, counted and told once ([`Cache::take_warnings`]); a damaged file is
//! set aside and a new one made. What a key and its bytes mean is for the layers to say.
//!
//! Equal requests that are under way at once are made once: the first leads, and the others wait for its value ([`Cache::find`]). Within
//! a process they share a flight. Between processes the leader holds a lease, a row beside the entries that ends with the writing of the
//! value, when the leader gives up, and a few seconds after a process that was killed. Where no lease can be had, a request is made
//! without one, and perhaps by two processes.

mod cache;
mod error;
mod flight;
mod folder;
mod keeper;
mod key;
mod lease;
mod notes;
mod options;
mod store;
#[cfg(test)]
mod tests;

pub use cache::{Cache, Found, Lead, Stats};
pub use error::CacheError;
pub use key::{Key, Kind};
pub use options::{Clock, Options};
pub use store::{Cleared, Held};
