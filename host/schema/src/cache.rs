//! The compiled schemas that were used last: a strategy asks with the same few, call after call,
//! and compiling takes longer than validating.

use std::sync::{Arc, LazyLock};

use syrch_core::Limits;
use syrch_memory::MemoryCache;

use crate::{Patterns, Schema, SchemaError};

/// Bytes of all cached schemas with their texts.
const MAX_BYTES: usize = 32 << 20;

/// The identity of a cached schema: its text, and the limits that it was checked against.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Key {
    text: String,
    patterns: Patterns,
    depth: usize,
}

static CACHE: LazyLock<MemoryCache<Key, Schema>> = LazyLock::new(|| {
    MemoryCache::within(usize::MAX, MAX_BYTES, |key, schema| schema.bytes() + key.text.len())
});

/// Returns the cached schema of that text.
pub(crate) fn get(text: &str, patterns: Patterns, limits: &Limits) -> Option<Arc<Schema>> {
    if text.len() > limits.json_bytes {
        None
    } else {
        CACHE.get_cached(|key: &Key| {
            key.text == text && key.patterns == patterns && key.depth == limits.json_depth
        })
    }
}

/// Returns the cached schema of that text, or compiles and caches it. It is compiled without the
/// lock: two threads may do it at once, and none waits.
pub(crate) fn get_or_compile(
    text: &str,
    patterns: Patterns,
    limits: &Limits,
    compile: impl FnOnce() -> Result<Schema, SchemaError>,
) -> Result<Arc<Schema>, SchemaError> {
    if let Some(schema) = get(text, patterns, limits) {
        return Ok(schema);
    }
    let compiled = compile()?;
    let key = Key { text: text.to_owned(), patterns, depth: limits.json_depth };
    CACHE.get_or_make(&key, || Ok(compiled))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_that_a_schema_was_checked_against_are_a_part_of_its_identity() {
        let limits = Limits::default();
        let text = r#"{"pattern": "^of the cache's test$"}"#;
        Schema::get_or_compile(text, Patterns::Bounded, &limits).unwrap();
        assert!(get(text, Patterns::Bounded, &limits).is_some());
        assert!(get(text, Patterns::Refused, &limits).is_none());
        assert!(get(text, Patterns::Bounded, &Limits { json_depth: 63, ..limits }).is_none());
    }
}
