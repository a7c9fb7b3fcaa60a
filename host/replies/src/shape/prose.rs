//! What models write around an answer: reasoning and code fences.

use std::ops::Range;

/// The tags around a model's reasoning.
const THINKING: [&str; 3] = ["think", "thinking", "reasoning"];

/// Fences of one reply that are examined.
const MAX_FENCES: usize = 64;

/// Words after the backticks of a fence that name its language. Any other single word does, too, if it is alone on the line.
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

/// The text without the model's reasoning. A block without an end reaches to the end of the text; a closing tag without an opening one
/// (chat templates often remove the first) ends a block that began with the text.
pub(super) fn without_thinking(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let mut prose = String::new();
    let mut at = 0;
    let mut from = 0;
    while let Some(tag) = lower[at..].find('<').map(|offset| at + offset) {
        let Some((name, closing)) = tag_at(&lower[tag..]) else {
            at = tag + 1;
            continue;
        };
        if closing {
            prose.clear();
            at = tag + name.len() + 3;
        } else {
            prose.push_str(&text[from..tag]);
            let end = format!("</{name}>");
            let Some(offset) = lower[tag..].find(&end) else { return prose };
            at = tag + offset + end.len();
        }
        from = at;
    }
    prose.push_str(&text[from..]);
    prose
}

/// The thinking tag that the text begins with, and whether it closes.
fn tag_at(text: &str) -> Option<(&'static str, bool)> {
    let inner = text.strip_prefix('<')?;
    let (inner, closing) = inner.strip_prefix('/').map_or((inner, false), |rest| (rest, true));
    let name = THINKING.into_iter().find(|name| inner.strip_prefix(name).is_some_and(|rest| rest.starts_with('>')))?;
    Some((name, closing))
}

/// A block between backticks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fence {
    /// The language in lower case; empty if none is named.
    pub(super) language: String,
    /// The place of its content.
    pub(super) body: Range<usize>,
    /// Whether it ends before the text does.
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
    let word: String = inside[..line].chars().take_while(|c| c.is_ascii_alphanumeric() || "_+-".contains(*c)).collect();
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
        fences(text).into_iter().map(|fence| (fence.language, text[fence.body].trim(), fence.closed)).collect()
    }

    #[test]
    fn thinking_is_removed() {
        assert_eq!(without_thinking("a<think>b</think>c"), "ac");
        assert_eq!(without_thinking("b</THINK>c"), "c");
        assert_eq!(without_thinking("a<Thinking>b"), "a");
        assert_eq!(without_thinking("<think>a<think>b</think>c</think>d"), "d");
        assert_eq!(without_thinking("a < b and <i>"), "a < b and <i>");
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
