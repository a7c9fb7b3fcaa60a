//! The compiled schemas that were used last: a strategy asks with the same few, call after call, and compiling takes longer than validating.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use syrch_core::Limits;

use crate::{Patterns, Schema, SchemaError};

/// Bytes of all cached schemas with their texts.
pub(crate) const MAX_BYTES: usize = 32 << 20;

/// The identity of a cached schema: its text, and the limits that it was checked against.
#[derive(Debug, PartialEq, Eq)]
struct Key {
    text: String,
    patterns: Patterns,
    depth: usize,
}

/// A cached schema with the bytes that it takes.
struct Entry {
    key: Key,
    bytes: usize,
    schema: Arc<Schema>,
}

/// The entries, the one that was used last in front.
#[derive(Default)]
pub(crate) struct Cache(VecDeque<Entry>);

static CACHE: Mutex<Cache> = Mutex::new(Cache(VecDeque::new()));

fn cache() -> MutexGuard<'static, Cache> {
    CACHE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Cache {
    fn get(&mut self, text: &str, patterns: Patterns, depth: usize) -> Option<Arc<Schema>> {
        let is_wanted = |key: &Key| key.text == text && key.patterns == patterns && key.depth == depth;
        let place = self.0.iter().position(|entry| is_wanted(&entry.key))?;
        let entry = self.0.remove(place)?;
        let schema = Arc::clone(&entry.schema);
        self.0.push_front(entry);
        Some(schema)
    }

    fn put(&mut self, text: &str, patterns: Patterns, depth: usize, schema: &Arc<Schema>) {
        let key = Key { text: text.to_owned(), patterns, depth };
        self.0.push_front(Entry { key, bytes: schema.bytes() + text.len(), schema: Arc::clone(schema) });
        let mut bytes = 0;
        self.0.retain(|entry| {
            bytes += entry.bytes;
            bytes <= MAX_BYTES
        });
    }
}

/// Returns the cached schema of that text.
pub(crate) fn get(text: &str, patterns: Patterns, limits: &Limits) -> Option<Arc<Schema>> {
    if text.len() > limits.json_bytes { None } else { cache().get(text, patterns, limits.json_depth) }
}

/// Returns the cached schema of that text, or compiles and caches it. It is compiled without the lock: two threads may do it at once, and
/// none waits.
pub(crate) fn get_or_compile(
    text: &str,
    patterns: Patterns,
    limits: &Limits,
    compile: impl FnOnce() -> Result<Schema, SchemaError>,
) -> Result<Arc<Schema>, SchemaError> {
    if let Some(schema) = get(text, patterns, limits) {
        return Ok(schema);
    }
    let compiled = Arc::new(compile()?);
    let mut cache = cache();
    if let Some(schema) = cache.get(text, patterns, limits.json_depth) {
        return Ok(schema);
    }
    cache.put(text, patterns, limits.json_depth, &compiled);
    Ok(compiled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_bounded_by_bytes_and_drops_what_was_used_longest_ago() {
        let limits = Limits::default();
        let schema = Arc::new(Schema::compile(r#"{"pattern": "^a"}"#, Patterns::Bounded, &limits).unwrap());
        let mut cache = Cache::default();
        let fitting = MAX_BYTES / (schema.bytes() + 8);
        assert!((8..1_000).contains(&fitting), "{fitting}");
        for number in 0..2 * fitting {
            cache.put(&number.to_string(), Patterns::Bounded, 64, &schema);
            assert!(cache.get("0", Patterns::Bounded, 64).is_some(), "the one in use was dropped");
            assert!(cache.0.iter().map(|entry| entry.bytes).sum::<usize>() <= MAX_BYTES);
        }
        assert!(cache.get("1", Patterns::Bounded, 64).is_none());
        assert!(cache.get("0", Patterns::Refused, 64).is_none() && cache.get("0", Patterns::Bounded, 63).is_none());
    }
}
