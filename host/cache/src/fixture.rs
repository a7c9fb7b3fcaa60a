//! Entries that the tests of shared places store and find.

use std::sync::Arc;
use std::time::Duration;

use crate::{Cache, Found, Key, Kind};

pub(crate) fn key(number: usize) -> Key {
    Key::new(Kind::ALL[number % 2], "who", &number.to_le_bytes())
}

pub(crate) fn value(number: usize) -> Arc<[u8]> {
    vec![number as u8; number * 31 % 2_000 + 1].into()
}

/// The value of a key, found or stored. Returns whether it was found.
pub(crate) async fn fetch(cache: &Cache, number: usize) -> bool {
    match cache.find(key(number)).await {
        Found::Value(found) => {
            assert_eq!(found, value(number));
            true
        }
        Found::Lead(lead) => {
            tokio::time::sleep(Duration::from_millis(5)).await;
            lead.store(value(number)).await;
            false
        }
    }
}
