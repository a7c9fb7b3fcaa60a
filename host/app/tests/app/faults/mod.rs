//! Faults of everything that a search uses. It ends with the right answer or with an error that
//! says what is wrong, and its ledger equals what the endpoint counted. The faults are drawn from
//! seeds.

mod cache;
mod database;
mod disk;
mod journal;
mod model;
#[cfg(unix)]
mod server;
mod together;
mod world;
