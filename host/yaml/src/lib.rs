//! The YAML of files that people write: read with the place of each key and value, within bounds,
//! and what is wrong with it in words for them.

use std::borrow::Cow;
use std::fmt;
use std::fs::{File, Metadata};
use std::io::Read;
use std::path::Path;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use serde_saphyr::{Error, UserMessageFormatter};
pub use serde_saphyr::{Location, Spanned};

/// The limits on what reading a file may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The limit on the size of a file, in bytes.
    pub bytes: u64,
    /// The limit on the number of values, keys and containers, with aliases written out.
    pub nodes: usize,
    /// The limit on how deep containers are nested.
    pub depth: usize,
    /// The limit on the number of aliases.
    pub aliases: usize,
}

impl Bounds {
    /// The limits for config files, strategies and the like, which are short.
    pub const SHORT: Self = Self { bytes: 256 << 10, nodes: 10_000, depth: 32, aliases: 100 };
}

/// The text of a file that may be no larger than 256 KiB. With `only_plain` a symbolic link, a pipe
/// or a device is refused: the first leads to whatever file its maker liked, opening the second
/// waits for a writer, and the third may never end. Without it they are read, such as `<(…)` of a
/// shell.
///
/// # Errors
/// The error in the file, in words that follow its name.
pub fn text_of(path: &Path, only_plain: bool) -> Result<String, String> {
    text_within(path, only_plain, &Bounds::SHORT)
}

/// The text of a file as [`text_of`] reads it, within other bounds.
///
/// # Errors
/// The error in the file, in words that follow its name.
pub fn text_within(path: &Path, only_plain: bool, bounds: &Bounds) -> Result<String, String> {
    fn check_kind(only_plain: bool, data: Metadata) -> Result<(), String> {
        match data.is_dir() {
            true => Err("is a folder".to_owned()),
            false if only_plain && data.is_symlink() => Err("is a symbolic link".to_owned()),
            false if only_plain && !data.is_file() => {
                Err("is a special file, such as a pipe or a device".to_owned())
            }
            false => Ok(()),
        }
    }
    fn error_text(error: std::io::Error) -> String {
        error.to_string()
    }
    let about = if only_plain { std::fs::symlink_metadata(path) } else { std::fs::metadata(path) };
    about.map_err(error_text).and_then(|data| check_kind(only_plain, data))?;
    let file = File::open(path).map_err(error_text)?;
    file.metadata().map_err(error_text).and_then(|data| check_kind(only_plain, data))?;
    let mut bytes = Vec::new();
    file.take(bounds.bytes + 1).read_to_end(&mut bytes).map_err(error_text)?;
    if bytes.len() as u64 > bounds.bytes {
        return Err(format!("is larger than {} KiB", bounds.bytes >> 10));
    }
    String::from_utf8(bytes)
        .map_err(|error| format!("is not UTF-8 (byte {})", error.utf8_error().valid_up_to()))
}

/// Reads a text. Its aliases are written out within bounds.
///
/// # Errors
/// The error, in words, with its place, where one is known.
pub fn read(text: &str) -> Result<Spanned<Tree>, (Option<Location>, String)> {
    read_within(text, &Bounds::SHORT)
}

/// Reads a text within other bounds than [`read`].
///
/// # Errors
/// The error, in words, with its place, where one is known.
pub fn read_within(
    text: &str,
    bounds: &Bounds,
) -> Result<Spanned<Tree>, (Option<Location>, String)> {
    let options = serde_saphyr::options! {
        with_snippet: false,
        budget: serde_saphyr::budget! {
            max_events: bounds.nodes.saturating_mul(2),
            max_nodes: bounds.nodes,
            max_depth: bounds.depth,
            max_aliases: bounds.aliases,
        },
    };
    serde_saphyr::from_str_with_options(text, options)
        .map_err(|error| (error.location(), words(&error).into_owned()))
}

/// The parser speaks to programmers, who can set its options; who wrote a file cannot.
fn words(error: &Error) -> Cow<'static, str> {
    match error.without_snippet() {
        Error::DuplicateMappingKey { key: Some(key), .. } => {
            format!("duplicate key `{key}`: it stands above already; keep one of the two").into()
        }
        Error::DuplicateMappingKey { .. } => {
            "duplicate key: it stands above already; keep one of the two".into()
        }
        Error::Budget { .. }
        | Error::AliasReplayCounterOverflow { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => TOO_LARGE.into(),
        other => {
            let message = other.render_with_formatter(&UserMessageFormatter);
            // For a bound that is exceeded within an alias the parser has no variant, only this
            // text.
            let is_too_large = message.contains("too large or too complex");
            if is_too_large { TOO_LARGE.into() } else { without_place(&message).to_owned().into() }
        }
    }
}

const TOO_LARGE: &str = "too large or nested too deep, its aliases written out";

/// The parser ends its message with the place; the report begins with it.
fn without_place(message: &str) -> &str {
    message.split_once(" at line ").map_or(message, |(head, _)| head)
}

/// A place as people write it: `file:line:column`.
#[must_use]
pub fn place(file: &str, location: Option<Location>) -> String {
    match location {
        Some(at) if at.line() > 0 => format!("{file}:{}:{}", at.line(), at.column()),
        _ => file.to_owned(),
    }
}

/// A key with its value.
pub type Pair = (Spanned<String>, Spanned<Tree>);

/// Any YAML, with the places of its keys and values.
#[derive(Debug)]
pub enum Tree {
    /// A scalar.
    Leaf(Value),
    /// A list.
    List(Vec<Spanned<Tree>>),
    /// A mapping, in the order of the file.
    Map(Vec<Pair>),
}

impl Tree {
    /// The document alone, without the places of its parts.
    #[must_use]
    pub fn value(self) -> Value {
        match self {
            Self::Leaf(value) => value,
            Self::List(items) => {
                items.into_iter().map(|item| item.value.value()).collect::<Vec<_>>().into()
            }
            Self::Map(pairs) => pairs
                .into_iter()
                .map(|(key, tree)| (key.value, tree.value.value()))
                .collect::<Map<_, _>>()
                .into(),
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
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Tree::List(list))
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
    fn errors_are_reported_to_people() {
        assert_eq!(
            wrong("llm:\n  model: a\n  model: b\n"),
            "3:3: duplicate key `model`: it stands above already; keep one of the two"
        );
        assert!(wrong("llm:\n\tmodel: a\n").contains("tab"));
        assert!(
            wrong(&format!("a: {}{}", "[".repeat(99), "]".repeat(99))).contains("nested too deep")
        );
        assert!(wrong("a: [1,\n").starts_with("1:4: "));
    }
}
