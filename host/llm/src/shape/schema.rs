//! JSON schemas as guests write them: compiled by `jsonschema`, after a check that validation stays cheap.
//!
//! A schema is a small program. References that lead back to themselves, or that fan out, can keep a validator busy for ever or
//! overflow its stack, so references are local, without circles, and the schema's size with every reference written out is bounded.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;
use syrch_core::Limits;
use syrch_core::ports::LlmError;

use super::document::strict;

/// Nodes of a schema with its references written out.
const MAX_NODES: u64 = 4_096;
/// Nesting of a schema with its references written out.
const MAX_DEPTH: usize = 128;
/// Nodes of the schema times nodes of the document.
const MAX_WORK: u64 = 20_000_000;
/// Bytes that one compiled pattern may take.
const PATTERN_BYTES: usize = 1 << 20;
/// Keywords that let a reference mean something else than a place in this document.
const FOREIGN: [&str; 7] =
    ["$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$dynamicRef", "$recursiveRef", "$vocabulary"];

/// Compiled schemas that are kept: a strategy asks with the same few, call after call, and compiling takes longer than judging.
const KEPT: usize = 16;
/// Bytes of a schema at most that is kept.
const KEPT_BYTES: usize = 64 << 10;
/// A schema that is kept: its text, how deep it may be nested, and what it was compiled to.
type Kept = (String, usize, Arc<Schema>);
/// Those that were used last, the latest first.
static SCHEMAS: Mutex<VecDeque<Kept>> = Mutex::new(VecDeque::new());

/// The schema with that text and depth, which is now the one that was used last.
fn used(kept: &mut VecDeque<Kept>, text: &str, depth: usize) -> Option<Arc<Schema>> {
    let place = kept.iter().position(|(known, nested, _)| known == text && *nested == depth)?;
    let found = kept.remove(place)?;
    let schema = Arc::clone(&found.2);
    kept.push_front(found);
    Some(schema)
}

/// A schema that is safe to run.
#[derive(Debug)]
pub(super) struct Schema {
    validator: Validator,
    nodes: u64,
}

impl Schema {
    /// The schema, compiled now or before.
    pub(super) fn of(text: &str, limits: &Limits) -> Result<Arc<Self>, LlmError> {
        if text.len() > KEPT_BYTES.min(limits.json_bytes) {
            return Self::compile(text, limits).map(Arc::new);
        }
        let kept = || SCHEMAS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(schema) = used(&mut kept(), text, limits.json_depth) {
            return Ok(schema);
        }
        // Compiled without the lock: two may do it at once, and nobody waits.
        let schema = Arc::new(Self::compile(text, limits)?);
        let mut kept = kept();
        if let Some(schema) = used(&mut kept, text, limits.json_depth) {
            return Ok(schema);
        }
        kept.push_front((text.to_owned(), limits.json_depth, Arc::clone(&schema)));
        kept.truncate(KEPT);
        Ok(schema)
    }

    /// Reads and compiles a schema, as draft 2020-12 whatever it claims.
    fn compile(text: &str, limits: &Limits) -> Result<Self, LlmError> {
        let refuse = |reason: String| LlmError::Unsupported(format!("the JSON schema: {reason}"));
        if text.len() > limits.json_bytes {
            return Err(refuse("it is too large".into()));
        }
        let mut schema = strict(text, limits.json_depth).ok_or_else(|| refuse("it is not a JSON document".into()))?;
        if let Value::Object(map) = &mut schema {
            map.shift_remove("$schema");
        }
        let nodes = Measure { root: &schema, targets: HashMap::new() }.node(&schema, 0).map_err(refuse)?;
        let validator = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .with_pattern_options(PatternOptions::regex().size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES))
            .build(&schema)
            .map_err(|error| refuse(syrch_core::text::clip(&error.to_string(), 200).to_owned()))?;
        Ok(Self { validator, nodes })
    }

    /// Whether the document matches.
    pub(super) fn accepts(&self, document: &Value) -> bool {
        self.nodes.saturating_mul(count(document)) <= MAX_WORK && self.validator.is_valid(document)
    }
}

/// The nodes of a document.
fn count(value: &Value) -> u64 {
    match value {
        Value::Array(items) => 1 + items.iter().map(count).sum::<u64>(),
        Value::Object(map) => 1 + map.values().map(count).sum::<u64>(),
        _ => 1,
    }
}

/// Measures a schema. A reference's target is `None` while it is being measured: meeting it again is a circle.
struct Measure<'a> {
    root: &'a Value,
    targets: HashMap<&'a str, Option<(u64, usize)>>,
}

impl<'a> Measure<'a> {
    fn node(&mut self, value: &'a Value, depth: usize) -> Result<u64, String> {
        if depth > MAX_DEPTH {
            return Err("its references nest too deep".into());
        }
        let mut nodes = 1_u64;
        match value {
            Value::Array(items) => {
                for item in items {
                    nodes = nodes.saturating_add(self.node(item, depth + 1)?);
                }
            }
            Value::Object(map) => {
                for (key, item) in map {
                    if item.is_string() && (FOREIGN.contains(&key.as_str()) || key == "$schema") {
                        return Err(format!("`{key}` is not allowed here"));
                    }
                    let below = match item {
                        Value::String(target) if key == "$ref" => self.target(target, depth)?,
                        _ => self.node(item, depth + 1)?,
                    };
                    nodes = nodes.saturating_add(below);
                }
            }
            _ => {}
        }
        if nodes > MAX_NODES { Err(format!("it is larger than {MAX_NODES} nodes")) } else { Ok(nodes) }
    }

    fn target(&mut self, target: &'a str, depth: usize) -> Result<u64, String> {
        match self.targets.get(target) {
            Some(None) => return Err(format!("`{target}` leads back to itself")),
            // Measured at another depth: what lies below it must fit here too.
            Some(Some((nodes, measured))) if depth <= *measured => return Ok(*nodes),
            _ => {}
        }
        let place = target.strip_prefix('#').filter(|place| place.starts_with('/'));
        let value = place
            .and_then(|place| self.root.pointer(place))
            .ok_or_else(|| format!("`{target}` is no place in this schema"))?;
        self.targets.insert(target, None);
        let nodes = self.node(value, depth + 1)?;
        self.targets.insert(target, Some((nodes, depth)));
        Ok(nodes)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn compile(schema: Value) -> Result<Schema, LlmError> {
        Schema::compile(&schema.to_string(), &Limits::default())
    }

    #[test]
    fn ordinary_schemas_compile_and_judge() {
        let schema = compile(json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/$defs/a"}, "b": {"$ref": "#/$defs/a"}},
            "$defs": {"a": {"type": "string", "pattern": "^x+$"}}
        }))
        .unwrap();
        assert!(schema.accepts(&json!({"a": "xx"})));
        assert!(!schema.accepts(&json!({"a": "y"})) && !schema.accepts(&json!({})));
    }

    #[test]
    fn a_schema_is_compiled_once() {
        let text = json!({"title": "compiled once", "type": "number"}).to_string();
        let first = Schema::of(&text, &Limits::default()).unwrap();
        assert!(Arc::ptr_eq(&first, &Schema::of(&text, &Limits::default()).unwrap()));
        // What is refused under other limits is not let through by what is kept.
        let flat = Limits { json_depth: 0, ..Limits::default() };
        assert!(Schema::of(&text, &flat).is_err());
        assert!(Schema::of(&text, &Limits { json_bytes: 5, ..Limits::default() }).is_err());
        for other in 0..2 * KEPT {
            Schema::of(&json!({"title": format!("other {other}")}).to_string(), &Limits::default()).unwrap();
        }
        assert!(SCHEMAS.lock().unwrap().len() <= KEPT);
    }

    #[test]
    fn what_is_used_again_is_kept_longest() {
        let schema = Arc::new(compile(json!({})).unwrap());
        let mut kept: VecDeque<Kept> = ["c", "b", "a"].map(|text| (text.to_owned(), 1, Arc::clone(&schema))).into();
        assert!(used(&mut kept, "a", 1).is_some_and(|found| Arc::ptr_eq(&found, &schema)));
        assert!(used(&mut kept, "b", 2).is_none() && used(&mut kept, "d", 1).is_none());
        assert_eq!(kept.iter().map(|(text, ..)| text.as_str()).collect::<Vec<_>>(), ["a", "c", "b"]);
    }

    #[test]
    fn schemas_that_could_run_away_are_refused() {
        let doubling: serde_json::Map<String, Value> = (0..40)
            .map(|i| {
                let next = json!({"$ref": format!("#/$defs/d{}", i + 1)});
                (format!("d{i}"), json!({"allOf": [next.clone(), next]}))
            })
            .chain([("d40".to_owned(), json!(true))])
            .collect();
        let chain: serde_json::Map<String, Value> = (0..1_000)
            .map(|i| (format!("d{i}"), json!({"$ref": format!("#/$defs/d{}", i + 1)})))
            .chain([("d1000".to_owned(), json!(true))])
            .collect();
        for schema in [
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}),
            json!({"$ref": "#"}),
            json!({"$ref": "https://example.org/x.json"}),
            json!({"$dynamicRef": "#x"}),
            json!({"properties": {"a": {"$id": "https://example.org/", "type": "string"}}}),
            json!({"$ref": "#/$defs/d0", "$defs": doubling}),
            json!({"$ref": "#/$defs/d0", "$defs": chain}),
            json!({"pattern": "(x{1000}){1000}"}),
            json!({"type": "nothing"}),
            json!([]),
        ] {
            assert!(matches!(compile(schema.clone()), Err(LlmError::Unsupported(_))), "{}", schema.to_string());
        }
    }
}
