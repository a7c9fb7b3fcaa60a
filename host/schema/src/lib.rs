//! JSON schemas that plugins write: checked for what they can cost, compiled off the async threads,
//! and cached within a bound of bytes.
//!
//! A schema is a small program. References that lead back to themselves or fan out can occupy a
//! validator for ever, and one regular expression of a few bytes compiles to a megabyte, so both
//! are bounded before anything is compiled.

mod cache;
mod measure;

use std::sync::Arc;

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;
use syrch_core::{Limits, blocking, text, validate};

use measure::Measured;

/// Distinct regular expressions of one schema.
pub const MAX_PATTERNS: usize = 16;
/// Bytes that one compiled regular expression may take: together those of a schema take at most
/// [`MAX_PATTERNS`] times as much.
const PATTERN_BYTES: usize = 64 << 10;
/// Bytes of the cache that a regular expression may fill while it is matched.
const DFA_BYTES: usize = 256 << 10;
/// Nodes of the schema times nodes of the document that is validated.
const MAX_WORK: u64 = 20_000_000;
/// Regular expressions of the schema times bytes of the document's strings: each may be matched
/// against each.
const MAX_MATCHED_BYTES: u64 = 1 << 20;

/// The reason why a schema is refused, in words that follow "the JSON schema: ".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SchemaError(String);

/// The rule for regular expressions (`pattern`, `patternProperties`) in a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Patterns {
    /// At most [`MAX_PATTERNS`] of them.
    Bounded,
    /// None at all, as in the settings of plugins.
    Refused,
}

/// A compiled schema that is safe to run.
#[derive(Debug)]
pub struct Schema {
    validator: Validator,
    measured: Measured,
}

impl Schema {
    /// Returns the compiled schema, from the cache or compiled on the calling thread. Draft
    /// 2020-12, whatever the text claims.
    ///
    /// # Errors
    /// When the text is no schema, or one that could cost more than the bounds of this module.
    pub fn get_or_compile(
        text: &str,
        patterns: Patterns,
        limits: &Limits,
    ) -> Result<Arc<Self>, SchemaError> {
        cache::get_or_compile(text, patterns, limits, || Self::compile(text, patterns, limits))
    }

    /// Returns the schema as [`Schema::of`] does; what has to be compiled is compiled on a thread
    /// that may block.
    ///
    /// # Errors
    /// As [`Schema::of`].
    pub async fn prepare(
        text: &str,
        patterns: Patterns,
        limits: &Limits,
    ) -> Result<Arc<Self>, SchemaError> {
        if let Some(schema) = cache::get(text, patterns, limits) {
            return Ok(schema);
        }
        let text = text.to_owned();
        let limits = limits.clone();
        let compiled =
            tokio::task::spawn_blocking(move || Self::get_or_compile(&text, patterns, &limits));
        blocking::await_work(compiled)
            .await
            .unwrap_or_else(|_| Err(SchemaError("compiling it failed".to_owned())))
    }

    fn compile(text: &str, patterns: Patterns, limits: &Limits) -> Result<Self, SchemaError> {
        validate::json("schema", text, limits).map_err(|error| SchemaError(error.0))?;
        let mut schema: Value =
            serde_json::from_str(text).map_err(|error| SchemaError(error.to_string()))?;
        if let Value::Object(map) = &mut schema {
            map.shift_remove("$schema");
        }
        let measured = measure::schema(&schema, patterns).map_err(SchemaError)?;
        let options = PatternOptions::regex().size_limit(PATTERN_BYTES).dfa_size_limit(DFA_BYTES);
        let validator = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .with_pattern_options(options)
            .build(&schema)
            .map_err(|error| SchemaError(text::clip(&error.to_string(), 200).to_owned()))?;
        Ok(Self { validator, measured })
    }

    /// Returns whether the document matches. A document that would take too long to validate does
    /// not match.
    #[must_use]
    pub fn accepts(&self, document: &Value) -> bool {
        self.is_affordable(document) && self.validator.is_valid(document)
    }

    /// Returns the first `count` reasons for which the document does not match, each with its
    /// place; none if it matches.
    #[must_use]
    pub fn errors(&self, document: &Value, count: usize) -> Vec<String> {
        if !self.is_affordable(document) {
            return vec![
                "the document is too large to be validated against this schema".to_owned(),
            ];
        }
        self.validator
            .iter_errors(document)
            .take(count)
            .map(|error: jsonschema::ValidationError<'_>| {
                let place = error.instance_path().to_string();
                if place.is_empty() {
                    error.to_string()
                } else {
                    format!("{}: {error}", place.trim_start_matches('/'))
                }
            })
            .collect()
    }

    fn is_affordable(&self, document: &Value) -> bool {
        let (nodes, bytes) = measure::document(document);
        let matched = bytes.saturating_mul(self.measured.patterns as u64);
        self.measured.nodes.saturating_mul(nodes) <= MAX_WORK && matched <= MAX_MATCHED_BYTES
    }

    /// Returns about how many bytes the compiled schema takes: measured, a node takes up to 1 KiB,
    /// and a regular expression up to eight times the limit of its program, with the caches of its
    /// matching.
    fn bytes(&self) -> usize {
        let nodes = usize::try_from(self.measured.nodes).unwrap_or(usize::MAX);
        nodes.saturating_mul(1 << 10).saturating_add(self.measured.patterns * 8 * PATTERN_BYTES)
    }
}

#[cfg(test)]
mod tests;
