//! The code fences and tags that models write around an answer.

use std::ops::Range;

/// Fences of one reply that are examined.
const MAX_FENCES: usize = 64;

/// Words after the backticks of a fence that name its language. Any other single word does, too, if
/// it is alone on the line.
const LANGUAGES: [&str; 16] = [
    "sql",
    "sqlite",
    "sqlite3",
    "postgresql",
    "postgres",
    "psql",
    "mysql",
    "duckdb",
    "tsql",
    "plsql",
    "json",
    "jsonc",
    "yaml",
    "yml",
    "text",
    "plaintext",
];

/// Tags that enclose a statement.
const TAGS: [&str; 12] = [
    "sql_query",
    "sqlquery",
    "sql",
    "query",
    "statement",
    "code",
    "pre",
    "final_answer",
    "final",
    "answer",
    "parameter",
    "arg_value",
];

/// Those of [`TAGS`] that enclose nothing else.
const SQL_TAGS: [&str; 3] = ["sql_query", "sqlquery", "sql"];

/// Bytes of a tag behind its name at most.
const ATTRIBUTES: usize = 128;

/// A block between backticks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fence {
    /// The language in lower case; empty if none is named.
    pub(super) language: String,
    /// The place of its content.
    pub(super) body: Range<usize>,
    /// True if it ends before the text does.
    pub(super) closed: bool,
}

/// The fences of a text, in order.
pub(super) fn fences(text: &str) -> Vec<Fence> {
    let mut found = Vec::new();
    let mut at = 0;
    while found.len() < MAX_FENCES {
        let Some(open) = run(text, at, 3) else { break };
        let close = run(text, open.end, open.len());
        let end = close.as_ref().map_or(text.len(), |close| close.start);
        let (language, start) = language(&text[open.end..end]);
        found.push(Fence { language, body: open.end + start..end, closed: close.is_some() });
        let Some(close) = close else { break };
        at = close.end;
    }
    found
}

/// The fences of a text, and where it has none what stands between tags such as `<sql>` and
/// `</sql>` or lines of tildes, in order. Beside such tags, fences outside of them are no answer.
pub(super) fn blocks(text: &str) -> Vec<Fence> {
    let mut found = fences(text);
    let tagged = blocks_in_tags(text, &found);
    if !tagged.is_empty() {
        return tagged;
    }
    if found.is_empty() {
        found = tag_blocks(text);
    }
    if found.is_empty() {
        found = tildes(text);
    }
    found
}

/// Finds the blocks between whole tags for a statement that stand beside fences; a fence within
/// such a tag is the block.
fn blocks_in_tags(text: &str, fences: &[Fence]) -> Vec<Fence> {
    if fences.is_empty() {
        return Vec::new();
    }
    let tags = tag_blocks(text).into_iter().filter(|tag| {
        tag.closed
            && tag.language == "sql"
            && !fences.iter().any(|fence| fence.body.contains(&tag.body.start))
    });
    let within = tags.flat_map(|tag| {
        let fences = fences.iter().filter(|fence| tag.body.contains(&fence.body.start));
        let inside: Vec<Fence> = fences.cloned().collect();
        if inside.is_empty() { vec![tag] } else { inside }
    });
    within.collect()
}

/// Finds the blocks between tags. A tag without an end reaches to the next one or the end of the
/// text.
fn tag_blocks(text: &str) -> Vec<Fence> {
    let mut found: Vec<Fence> = Vec::new();
    let mut at = 0;
    while found.len() < MAX_FENCES {
        let Some(open) = text[at..].find('<').map(|offset| at + offset) else { break };
        let Some((name, start)) = opening(text, open) else {
            at = open + 1;
            continue;
        };
        let close =
            text[start..].match_indices("</").map(|(offset, _)| start + offset).find(|end| {
                let inside = &text[end + 2..];
                inside.get(..name.len()).is_some_and(|word| word.eq_ignore_ascii_case(name))
            });
        let end = close.unwrap_or(text.len());
        let language = if SQL_TAGS.contains(&name) { "sql" } else { "" };
        found.push(Fence {
            language: language.to_owned(),
            body: start..end,
            closed: close.is_some(),
        });
        at = close.map_or(text.len(), |close| close + 2);
    }
    found
}

/// The name of the tag that opens at a place, and where its content begins.
fn opening(text: &str, at: usize) -> Option<(&'static str, usize)> {
    let inside = &text[at + 1..];
    fn begins_with_name(inside: &str, name: &&str) -> bool {
        inside.get(..name.len()).is_some_and(|word| word.eq_ignore_ascii_case(name))
    }
    let name = TAGS.into_iter().find(|name| {
        fn ends_tag_name(rest: &str) -> bool {
            rest.starts_with(['>', ' ', '='])
        }
        begins_with_name(inside, name) && ends_tag_name(&inside[name.len()..])
    })?;
    let rest = syrch_core::text::clip(&inside[name.len()..], ATTRIBUTES);
    let end = rest.find('>').filter(|end| !rest[..*end].contains('\n'))?;
    Some((name, at + 1 + name.len() + end + 1))
}

/// Finds the blocks between lines of at least three tildes.
fn tildes(text: &str) -> Vec<Fence> {
    let mut found = Vec::new();
    let mut open: Option<(String, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        if bare.starts_with("~~~") && found.len() < MAX_FENCES {
            match open.take() {
                Some((language, start)) => {
                    found.push(Fence { language, body: start..at, closed: true })
                }
                None => {
                    let language = bare.trim_start_matches('~').trim().to_ascii_lowercase();
                    open = Some((language, at + line.len()));
                }
            }
        }
        at += line.len();
    }
    found.extend(open.map(|(language, start)| Fence {
        language,
        body: start..text.len(),
        closed: false,
    }));
    found
}

/// The next run of at least that many backticks.
fn run(text: &str, from: usize, least: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = from;
    loop {
        let start = at + bytes[at..].iter().position(|byte| *byte == b'`')?;
        let size = bytes[start..].iter().take_while(|byte| **byte == b'`').count();
        if size >= least {
            return Some(start..start + size);
        }
        at = start + size;
    }
}

/// The language at the beginning of a fence, and where the content begins.
fn language(inside: &str) -> (String, usize) {
    let line = inside.find('\n').unwrap_or(inside.len());
    let word: String = inside[..line]
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || "_+-".contains(*c))
        .collect();
    let lower = word.to_ascii_lowercase();
    let alone = line < inside.len() && inside[word.len()..line].trim().is_empty();
    let is_query = ["select", "with", "values"].contains(&lower.as_str());
    if word.is_empty() || is_query || !(alone || LANGUAGES.contains(&lower.as_str())) {
        return (String::new(), 0);
    }
    (lower, word.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(text: &str) -> Vec<(String, &str, bool)> {
        fences(text)
            .into_iter()
            .map(|fence| (fence.language, text[fence.body].trim(), fence.closed))
            .collect()
    }

    #[test]
    fn fences_are_found_with_their_language() {
        assert_eq!(blocks("x\n```SQL\nSELECT 1\n```\ny"), [("sql".into(), "SELECT 1", true)]);
        assert_eq!(blocks("```sql SELECT 1```"), [("sql".into(), "SELECT 1", true)]);
        assert_eq!(blocks("```\nSELECT 1"), [(String::new(), "SELECT 1", false)]);
        assert_eq!(blocks("```SELECT\n1```"), [(String::new(), "SELECT\n1", true)]);
        assert_eq!(blocks("````sql\n```\n````"), [("sql".into(), "```", true)]);
        assert_eq!(blocks("`a` and ``b``"), []);
    }
}
