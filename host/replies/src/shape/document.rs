//! JSON documents: parsing them strictly, and finding them in prose.

use std::fmt;
use std::ops::Range;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Brackets in prose that are tried as the beginning of a document; more are not.
const MAX_STARTS: usize = 256;

/// The document that is the whole text: nested at most `depth` deep and without duplicate keys.
pub(super) fn strict(text: &str, depth: usize) -> Option<Value> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Node(depth).deserialize(&mut reader).ok()?;
    reader.end().ok()?;
    Some(value)
}

/// The objects and arrays in prose, in order. A broken one is skipped with everything inside it, so
/// that a part of a document is not taken for a smaller whole one.
pub(super) fn documents(text: &str, depth: usize) -> Vec<(Range<usize>, Value)> {
    let mut found = Vec::new();
    let mut at = 0;
    for _ in 0..MAX_STARTS {
        let Some(start) = text[at..].find(['{', '[']).map(|offset| at + offset) else { break };
        let is_document = begins_document(&text[start..]);
        let Some(end) = bracket_end(&text[start..]).map(|end| start + end) else {
            if is_document {
                break;
            }
            at = start + 1;
            continue;
        };
        match strict(&text[start..end], depth) {
            Some(value) => {
                found.push((start..end, value));
                at = end;
            }
            None if is_document => at = end,
            None => at = start + 1,
        }
    }
    found
}

/// Returns true if a bracket begins JSON rather than a remark in brackets.
fn begins_document(text: &str) -> bool {
    let mut rest = text.chars().skip(1).skip_while(|c| c.is_whitespace());
    rest.next().is_none_or(|next| "\"{}[]".contains(next))
}

/// The end of the bracket that the text begins with; brackets in strings do not count.
fn bracket_end(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => open += 1,
            b'}' | b']' => {
                open = open.checked_sub(1)?;
                if open == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns where a document begins that the text does not close: one that ends within a text, or
/// before its last bracket.
pub(super) fn unclosed(text: &str) -> Option<usize> {
    let bare = text.trim_end_matches(|c: char| c.is_whitespace() || c == '`');
    let start = bare.find("{\"").or_else(|| bare.find("{ \"")).or_else(|| bare.find("{\n"))?;
    // A literal of a statement stands behind an operator.
    let line = bare[..start].rsplit('\n').next().unwrap_or_default();
    let opens = line.rsplit_once('\'').filter(|_| line.matches('\'').count() % 2 == 1);
    if opens.is_some_and(|(before, _)| before.trim_end().ends_with(['=', '(', ',', '<', '>'])) {
        return None;
    }
    let is_closed = bare.ends_with(['}', ']']) || with_brackets(&bare[start..]).is_none();
    (!is_closed && bare[start..].contains("\":")).then_some(start)
}

/// Returns a document with the brackets that are missing at its end; the same if it ends within a
/// text, and `None` if none are missing.
pub(super) fn with_brackets(text: &str) -> Option<String> {
    let bare = text.trim();
    if !bare.starts_with(['{', '[']) {
        return None;
    }
    let mut open = Vec::new();
    let mut in_text = false;
    let mut is_escaped = false;
    for c in bare.chars() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if in_text => is_escaped = true,
            '"' => in_text = !in_text,
            _ if in_text => {}
            '{' => open.push('}'),
            '[' => open.push(']'),
            '}' | ']' => drop(open.pop()),
            _ => {}
        }
    }
    if open.is_empty() && !in_text {
        return None;
    }
    let brackets = open.into_iter().rev().filter(|_| !in_text);
    Some(bare.chars().chain(brackets).collect())
}

/// One node of a document, with the levels that may be below it.
struct Node(usize);

impl Node {
    fn descend<E: Error>(&self) -> Result<Self, E> {
        self.0.checked_sub(1).map(Self).ok_or_else(|| E::custom("nested too deep"))
    }
}

impl<'de> DeserializeSeed<'de> for Node {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("not a finite number"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self.descend()?)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(A::Error::custom("duplicate key"));
            }
            let value = entries.next_value_seed(self.descend()?)?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn values(text: &str) -> Vec<Value> {
        documents(text, 64).into_iter().map(|(_, value)| value).collect()
    }

    #[test]
    fn only_whole_documents_without_duplicates_pass() {
        assert_eq!(
            strict(" {\"a\": [1, -2, 0.5, null, true, \"é\"]} ", 64),
            Some(json!({"a": [1, -2, 0.5, null, true, "é"]}))
        );
        assert_eq!(strict("{\"a\": 1, \"a\": 2}", 64), None);
        assert_eq!(strict("{\"a\": 1} x", 64), None);
        assert_eq!(strict("[1e999]", 64), None);
        assert_eq!(
            strict(&format!("{}{}", "[".repeat(64), "]".repeat(64)), 64).map(|_| ()),
            Some(())
        );
        assert_eq!(strict(&format!("{}{}", "[".repeat(66), "]".repeat(66)), 64), None);
    }

    #[test]
    fn documents_are_found_in_prose() {
        assert_eq!(
            values("as [said {\"a\": \"}\"}] and {\"b\": 2}."),
            [json!({"a": "}"}), json!({"b": 2})]
        );
        assert_eq!(values("use {curly} first: {\"a\": 1}"), [json!({"a": 1})]);
    }

    #[test]
    fn half_a_document_is_none() {
        assert_eq!(values("{\"tasks\": [{\"id\": \"A\"}, {\"id\": "), [] as [Value; 0]);
        assert_eq!(values("{\"tasks\": [{\"id\": \"A\"}, oops, {}]}"), [] as [Value; 0]);
    }
}
