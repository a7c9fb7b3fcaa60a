//! The persistent store behind model calls and results of statements: bytes by key in one SQLite
//! file, shared by all processes of a user on a machine; or in a folder or on a server that several
//! hosts share.
//!
//! A cache never fails a search. Every failure of it is a miss, which is counted and reported once
//! ([`Cache::take_warnings`]); a damaged file is set aside, and a new one is made. The layers
//! define what a key and its bytes mean.
//!
//! Of equal requests at the same time only one is made: the first is the leader, and the others
//! wait for its value ([`Cache::find`]). Within a process they share a cell (`in_flight`). Between
//! processes the leader holds a lease: a row of the file, a file or a key. It ends when the value
//! is written, when the leader gives up, or a few seconds after its process was killed. If no lease
//! can be taken, the request is made without one, and two processes may make it.

mod activity;
mod backend;
mod cache;
mod error;
#[cfg(test)]
mod fixture;
mod folder;
mod in_flight;
mod key;
mod lease;
mod local;
mod options;
mod pause;
mod place;
mod record;
#[cfg_attr(not(feature = "redis"), path = "without_redis.rs")]
mod redis;
mod shared;
mod store;
#[cfg(test)]
mod tests;
mod worker;

pub use cache::{Cache, Found, Lead, Stats};
pub use error::CacheError;
pub use key::{Key, Kind};
pub use options::{Clock, Options};
pub use place::{Place, PlaceError};
pub use redis::RedisAddress;
pub use store::Size;
