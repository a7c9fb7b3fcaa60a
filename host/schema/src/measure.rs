//! Measures what a schema and a document can cost, before either is used.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::{MAX_PATTERNS, Patterns};

/// Nodes of a schema with its references written out.
const MAX_NODES: u64 = 4_096;
/// Nesting of a schema with its references written out.
const MAX_DEPTH: usize = 128;
/// Keywords that validate what stands beside them once more: one within another doubles the time.
const DOUBLING: [&str; 2] = ["unevaluatedProperties", "unevaluatedItems"];
/// Keywords that let a reference mean something else than a place in this document.
const FOREIGN: [&str; 7] = [
    "$id",
    "$anchor",
    "$dynamicAnchor",
    "$recursiveAnchor",
    "$dynamicRef",
    "$recursiveRef",
    "$vocabulary",
];

/// The size of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Measured {
    /// Values of the schema, with its references written out.
    pub(crate) nodes: u64,
    /// The number of distinct regular expressions.
    pub(crate) patterns: usize,
}

/// Measures a schema; fails with the reason when it is too large, refers elsewhere or in circles,
/// or holds more patterns than it may.
pub(crate) fn schema(root: &Value, patterns: Patterns) -> Result<Measured, String> {
    let mut distinct = HashSet::new();
    collect_patterns(root, &mut distinct);
    match patterns {
        Patterns::Refused if !distinct.is_empty() => {
            return Err("`pattern` and `patternProperties` are not allowed here; list the \
                        values with `enum`"
                .to_owned());
        }
        _ if distinct.len() > MAX_PATTERNS => {
            return Err(format!(
                "it has {} regular expressions, over the limit of {MAX_PATTERNS}",
                distinct.len()
            ));
        }
        _ => {}
    }
    let nodes = Walk { root, targets: HashMap::new() }.node(root, 0)?;
    Ok(Measured { nodes, patterns: distinct.len() })
}

/// Collects whatever could be compiled as a regular expression, wherever it stands.
fn collect_patterns<'a>(value: &'a Value, found: &mut HashSet<&'a str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_patterns(item, found)),
        Value::Object(map) => {
            for (key, item) in map {
                match item {
                    Value::String(pattern) if key == "pattern" => {
                        found.insert(pattern);
                    }
                    Value::Object(members) if key == "patternProperties" => {
                        found.extend(members.keys().map(String::as_str));
                    }
                    _ => {}
                }
                collect_patterns(item, found);
            }
        }
        _ => {}
    }
}

/// Returns the nodes of a document, and the bytes of its strings and keys.
pub(crate) fn document(value: &Value) -> (u64, u64) {
    let sum = |(nodes, bytes): (u64, u64), item: &Value| {
        let (below, text) = document(item);
        (nodes + below, bytes + text)
    };
    match value {
        Value::Array(items) => items.iter().fold((1, 0), sum),
        Value::Object(map) => map.iter().fold((1, 0), |(nodes, bytes), (key, item)| {
            sum((nodes, bytes + key.len() as u64), item)
        }),
        Value::String(text) => (1, text.len() as u64),
        _ => (1, 0),
    }
}

/// A walk over a schema. A reference's target is `None` while it is being measured: meeting it
/// again is a circle.
struct Walk<'a> {
    root: &'a Value,
    targets: HashMap<&'a str, Option<(u64, usize)>>,
}

impl<'a> Walk<'a> {
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
                    if DOUBLING.contains(&key.as_str()) {
                        let instead = if key == "unevaluatedItems" {
                            "items"
                        } else {
                            "additionalProperties"
                        };
                        return Err(format!("`{key}` is not allowed; use `{instead}`"));
                    }
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
        if nodes > MAX_NODES {
            Err(format!("it is larger than {MAX_NODES} nodes"))
        } else {
            Ok(nodes)
        }
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
