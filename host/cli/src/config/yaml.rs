//! The YAML of config files: read with the place of each key and value, within bounds, and what is wrong with it in words for people.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use serde_saphyr::{Error, Location, Spanned, UserMessageFormatter};

/// Reads a text; an error comes with its place, where one is known.
pub(super) fn read(text: &str) -> Result<Spanned<Tree>, (Option<Location>, String)> {
    let options = serde_saphyr::options! {
        with_snippet: false,
        budget: serde_saphyr::budget! { max_events: 20_000, max_nodes: 10_000, max_depth: 32, max_aliases: 100 },
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| (error.location(), words(&error).into_owned()))
}

/// The parser speaks to programmers, who can set its options; who wrote a file cannot.
fn words(error: &Error) -> Cow<'static, str> {
    match error.without_snippet() {
        Error::DuplicateMappingKey { key: Some(key), .. } => {
            format!("duplicate key `{key}`: it stands above already; keep one of the two").into()
        }
        Error::DuplicateMappingKey { .. } => "duplicate key: it stands above already; keep one of the two".into(),
        Error::Budget { .. }
        | Error::AliasReplayCounterOverflow { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => {
            "too large or nested too deep for a config file, its aliases written out".into()
        }
        other => without_place(&other.render_with_formatter(&UserMessageFormatter)).to_owned().into(),
    }
}

/// The parser says the place in words at the end; whoever reports the error says it at the head.
fn without_place(message: &str) -> &str {
    message.split_once(" at line ").map_or(message, |(head, _)| head)
}

/// A key with its value.
pub(super) type Pair = (Spanned<String>, Spanned<Tree>);

/// Any YAML, with the places of its keys and values.
pub(super) enum Tree {
    /// A scalar or a list.
    Leaf(Value),
    /// A mapping, in the order of the file.
    Map(Vec<Pair>),
}

impl Tree {
    /// Without the places.
    pub(super) fn value(self) -> Value {
        match self {
            Self::Leaf(value) => value,
            Self::Map(pairs) => {
                pairs.into_iter().map(|(key, tree)| (key.value, tree.value.value())).collect::<Map<_, _>>().into()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Leaf(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Leaf(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Leaf(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Leaf(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
        Ok(Tree::Leaf(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Leaf(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element::<Tree>()? {
            list.push(item.value());
        }
        Ok(Tree::Leaf(list.into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Tree::Map(pairs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> String {
        let (place, message) = read(text).err().unwrap();
        let at = place.map(|at| format!("{}:{}: ", at.line(), at.column())).unwrap_or_default();
        format!("{at}{message}")
    }

    #[test]
    fn errors_are_told_to_people() {
        assert_eq!(
            wrong("llm:\n  model: a\n  model: b\n"),
            "3:3: duplicate key `model`: it stands above already; keep one of the two"
        );
        assert!(wrong("llm:\n\tmodel: a\n").contains("tab"));
        assert!(wrong(&format!("a: {}{}", "[".repeat(99), "]".repeat(99))).contains("nested too deep"));
        assert!(wrong("a: [1,\n").starts_with("1:4: "));
    }
}
