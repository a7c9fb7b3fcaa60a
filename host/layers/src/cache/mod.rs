//! Model calls and statements behind a cache that outlives the process.
//!
//! A key holds the identity of what answers and the whole request, so two databases, models or
//! endpoints never share an entry, and changed data have new keys. Only good answers are cached;
//! failures of the cache itself are misses. Equal calls in flight are made once, also when they
//! belong to different searches.

mod database;
#[cfg(test)]
mod fakes;
mod model;
mod volatile;

use std::sync::Arc;

use syrch_cache::{Cache, Found, Key, Lead};

pub use database::CachedDatabase;
pub use model::CachedModel;

/// Part of every key, since the meaning of a reply may change with the program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The result of looking up a key.
enum Lookup<'a, T> {
    /// The value that is cached for the key.
    Hit(T),
    /// Nothing, so the caller makes the value. Calls of the same key wait for the lead; it is
    /// `None` after an entry that was damaged.
    Miss(Option<Lead<'a>>),
}

/// Looks a key up. An entry that `decode` cannot decode is removed.
async fn look_up<T>(
    cache: &Cache,
    key: Key,
    decode: impl AsyncFnOnce(Arc<[u8]>) -> Option<T>,
) -> Lookup<'_, T> {
    match cache.find(key).await {
        Found::Lead(lead) => Lookup::Miss(Some(lead)),
        Found::Value(bytes) => match decode(bytes).await {
            Some(value) => Lookup::Hit(value),
            None => {
                cache.forget(key).await;
                Lookup::Miss(None)
            }
        },
    }
}
