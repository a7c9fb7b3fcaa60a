//! The shape `sql`: one statement of a reply, and the confidence that the reply states.
//!
//! The order is: a JSON object with the statement in it, fences, bare text. Of several statements the last query counts, since models write
//! drafts first. Text that begins like a query ("With pleasure, …") counts if it parses; a statement that does not parse counts if it cannot
//! be prose, so that its syntax error can be repaired.

use std::ops::Range;

use serde_json::{Value, json};
use syrch_core::{Json, Limits};

use super::confidence;
use super::document::{documents, strict};
use super::prose::{Fence, fences, without_thinking};
use crate::statement::{Reader, Standing, keyword, looks_like_query};

/// Keys of a JSON reply that may hold the statement.
const SQL_KEYS: [&str; 4] = ["sql", "query", "sql_query", "statement"];
/// Languages of a fence that does not hold SQL.
const NOT_SQL: [&str; 12] =
    ["json", "jsonc", "yaml", "yml", "python", "py", "bash", "sh", "csv", "markdown", "md", "javascript"];

/// `{"sql": …, "confidence": number or null}`.
pub(super) fn parse(text: &str, limits: &Limits) -> Option<Json> {
    let text = without_thinking(text);
    let mut reader = Reader::new(limits);
    let (sql, confidence) =
        from_json(&text, limits, &mut reader).or_else(|| from_fences(&text, &mut reader)).or_else(|| {
            let found = from_prose(&text, &mut reader)?;
            Some((text[found.clone()].to_owned(), confidence::stated(&without(&text, vec![found]))))
        })?;
    let sql = sql.trim().trim_end_matches(|c: char| c == ';' || c.is_whitespace());
    (!sql.is_empty()).then(|| json!({"sql": sql, "confidence": confidence}).to_string())
}

/// The text with those parts left out.
fn without(text: &str, mut parts: Vec<Range<usize>>) -> String {
    parts.sort_by_key(|part| part.start);
    let mut rest = String::new();
    let mut from = 0;
    for part in parts {
        rest.push_str(text.get(from..part.start).unwrap_or_default());
        rest.push('\n');
        from = part.end.max(from);
    }
    rest.push_str(&text[from..]);
    rest
}

/// The last object that holds a statement under one of [`SQL_KEYS`].
fn from_json(text: &str, limits: &Limits, reader: &mut Reader) -> Option<(String, Option<f64>)> {
    let depth = limits.json_depth;
    let mut found = strict(text, depth).map(|value| (0..text.len(), value)).into_iter().collect::<Vec<_>>();
    if found.is_empty() {
        found = fences(text)
            .into_iter()
            .filter_map(|fence| strict(&text[fence.body.clone()], depth).map(|value| (fence.body, value)))
            .collect();
    }
    if found.is_empty() && text.contains("\":") {
        found = documents(text, depth);
    }
    found.into_iter().rev().find_map(|(place, value)| {
        let object = value.as_object()?;
        let entry = |keys: &[&str]| {
            object
                .iter()
                .find(|(key, _)| keys.iter().any(|wanted| key.eq_ignore_ascii_case(wanted)))
                .map(|(_, value)| value)
        };
        let sql = statement_of(entry(&SQL_KEYS)?.as_str()?, reader)?;
        let confidence = match entry(&["confidence"]) {
            Some(Value::Number(number)) => number.as_f64().filter(|value| (0.0..=1.0).contains(value)),
            Some(Value::String(text)) => confidence::value(text),
            _ => confidence::stated(&without(text, vec![place])),
        };
        Some((sql, confidence))
    })
}

/// The statement that a JSON string holds, fenced or bare.
fn statement_of(text: &str, reader: &mut Reader) -> Option<String> {
    if let Some((sql, _)) = from_fences(text, reader) {
        return Some(sql);
    }
    let (place, _) = best_of(text, 0..text.len(), true, reader)?;
    Some(text[place].to_owned())
}

/// The best statement of all fences: one that parses before one that does not, a query before anything else, the last before
/// earlier ones.
fn from_fences(text: &str, reader: &mut Reader) -> Option<(String, Option<f64>)> {
    let blocks: Vec<Fence> =
        fences(text).into_iter().filter(|fence| !NOT_SQL.contains(&fence.language.as_str())).collect();
    let (chosen, place, _) = blocks
        .iter()
        .enumerate()
        .filter_map(|(index, fence)| {
            let labelled = !["", "text", "plaintext", "txt"].contains(&fence.language.as_str());
            let body = fence.body.start..code_end(text, &fence.body);
            best_of(text, body, labelled, reader).map(|(place, standing)| (index, place, standing))
        })
        .max_by_key(|(index, _, standing)| (*standing, *index))?;
    let others = blocks.iter().enumerate().filter(|(index, _)| *index != chosen).map(|(_, fence)| fence.body.clone());
    let hidden = others.chain([place.clone()]).collect();
    Some((text[place].to_owned(), confidence::stated(&without(text, hidden))))
}

/// Where a fence's code ends: before a line that states the confidence.
fn code_end(text: &str, body: &Range<usize>) -> usize {
    let mut at = body.start;
    for line in text[body.clone()].split_inclusive('\n') {
        let bare = line.trim_start_matches(|c: char| c.is_whitespace() || "-#*/_".contains(c)).to_ascii_lowercase();
        if bare.starts_with("confidence") && confidence::stated(line).is_some() {
            return at;
        }
        at += line.len();
    }
    body.end
}

/// The best statement of a place with code; `labelled` is whether it is marked as SQL.
fn best_of(text: &str, place: Range<usize>, labelled: bool, reader: &mut Reader) -> Option<(Range<usize>, Standing)> {
    reader
        .split(text, place)
        .into_iter()
        .filter_map(|part| {
            let sql = &text[part.clone()];
            let standing = match reader.standing(sql) {
                Some(Standing::Other) if !labelled => return None,
                Some(standing) => standing,
                None if looks_like_query(sql) || (labelled && keyword(sql).is_some()) => Standing::Broken,
                None => return None,
            };
            Some((part, standing))
        })
        .max_by_key(|(part, standing)| (*standing, part.start))
}

/// The last statement in prose without a fence: one at the beginning of a line, else one within a line.
fn from_prose(text: &str, reader: &mut Reader) -> Option<Range<usize>> {
    let mut broken = None;
    let mut found = None;
    let mut at = 0;
    for start in starts(text, true) {
        if start < at {
            continue;
        }
        if let Some(end) = reader.longest(text, start) {
            found = Some(start..end);
            at = end;
        } else if looks_like_query(&text[start..]) {
            let end = reader.first_end(text, start);
            broken = Some(start..end);
            at = end;
        }
    }
    if found.is_some() || broken.is_some() {
        return found.or(broken);
    }
    for start in starts(text, false) {
        if start >= at
            && let Some(end) = reader.longest(text, start)
        {
            found = Some(start..end);
            at = end;
        }
    }
    found
}

/// The places of words that begin a query, at the beginning of lines (after a label or a bullet) or anywhere.
fn starts(text: &str, lines: bool) -> Vec<usize> {
    const MOST: usize = 64;
    let head = |at: usize| {
        let near = (at.saturating_sub(64)..=at).find(|near| text.is_char_boundary(*near)).unwrap_or(at);
        let Some(line) = text[near..at].rfind('\n').map(|newline| near + newline + 1).or((near == 0).then_some(0))
        else {
            return false;
        };
        let before = text[line..at].trim();
        before.is_empty() || before.ends_with(':') && before.len() <= 24 || before.chars().all(|c| "-*>(#`".contains(c))
    };
    let mut from = 0;
    let mut found = Vec::new();
    for word in text.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
        if keyword(word).is_some() && (!lines || head(from)) && found.len() < MOST {
            // A union may begin with its first part in brackets.
            found.push(text[..from].trim_end_matches('(').len());
        }
        from += word.len();
        from += text[from..].chars().next().map_or(0, char::len_utf8);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(String, Option<f64>)> {
        let json: Value = serde_json::from_str(&parse(text, &Limits::default())?).unwrap();
        Some((json["sql"].as_str().unwrap().to_owned(), json["confidence"].as_f64()))
    }

    fn sql(text: &str) -> Option<String> {
        read(text).map(|(sql, _)| sql)
    }

    #[test]
    fn a_fence_with_its_confidence_is_read() {
        let reply = "Sure.\n```sql\nSELECT name\nFROM t\nWHERE confidence = 0.1;\n```\n**Confidence:** 95%";
        assert_eq!(read(reply), Some(("SELECT name\nFROM t\nWHERE confidence = 0.1".into(), Some(0.95))));
        assert_eq!(read("```\nSELECT 1\nConfidence: 0.8\n```"), Some(("SELECT 1".into(), Some(0.8))));
        assert_eq!(
            read("```sql\n-- the count\nSELECT 1;\n-- Confidence: 0.4\n```"),
            Some(("SELECT 1".into(), Some(0.4)))
        );
        assert_eq!(read("```sql\nSELECT 1\n```\nConfidence: 7"), Some(("SELECT 1".into(), None)));
    }

    #[test]
    fn of_several_fences_the_last_query_counts() {
        assert_eq!(sql("```sql\nSELECT 1\n```\nbetter:\n```sql\nSELECT 2\n```").as_deref(), Some("SELECT 2"));
        assert_eq!(sql("```sql\nSELECT 1\n```\n```sql\nCREATE INDEX i ON t (a)\n```").as_deref(), Some("SELECT 1"));
        assert_eq!(sql("```sql\nSELECT 1\n```\nshows\n```\n| n |\n| 1 |\n```").as_deref(), Some("SELECT 1"));
        assert_eq!(sql("```sql\nSELECT 1;\nSELECT 2;\n```").as_deref(), Some("SELECT 2"));
        assert_eq!(sql("```python\nprint(1)\n```\n```sql\nSELECT 1\n```").as_deref(), Some("SELECT 1"));
    }

    #[test]
    fn a_broken_statement_is_taken_only_where_it_is_no_prose() {
        assert_eq!(sql("```sql\nSELECT a FROM t WHERE = 1\n```").as_deref(), Some("SELECT a FROM t WHERE = 1"));
        assert_eq!(sql("```sql\nSELECT 'a FROM t\n```").as_deref(), Some("SELECT 'a FROM t"));
        assert_eq!(sql("```sql\nSELECT a FROM").as_deref(), Some("SELECT a FROM"));
        assert_eq!(sql("SELECT a\nFROM t\nWHERE x = = 1").as_deref(), Some("SELECT a\nFROM t\nWHERE x = = 1"));
        assert_eq!(
            sql("WITH a AS (SELECT 1 1 1)\nSELECT * FROM a").as_deref(),
            Some("WITH a AS (SELECT 1 1 1)\nSELECT * FROM a")
        );
        assert_eq!(sql("```\nWith this you get five rows;\n```"), None);
    }

    #[test]
    fn other_statements_are_left_to_the_guard() {
        assert_eq!(sql("```sql\nDELETE FROM t;\n```").as_deref(), Some("DELETE FROM t"));
        assert_eq!(sql("WITH x AS (SELECT 1) DELETE FROM t"), Some("WITH x AS (SELECT 1) DELETE FROM t".into()));
    }

    #[test]
    fn prose_that_begins_with_with() {
        assert_eq!(sql("With two tables, I would join them; that is all."), None);
        assert_eq!(sql("With pleasure.\n\nSELECT 1").as_deref(), Some("SELECT 1"));
        assert_eq!(sql("Select whichever you like; values differ."), None);
    }

    #[test]
    fn sql_within_reasoning_is_skipped() {
        assert_eq!(sql("<think>maybe select a from b;</think>\nSELECT 2").as_deref(), Some("SELECT 2"));
        assert_eq!(sql("<think>maybe select a from b;"), None);
        assert_eq!(sql("select a from b;</think>```sql\nSELECT 2\n```").as_deref(), Some("SELECT 2"));
    }

    #[test]
    fn json_replies_are_read() {
        assert_eq!(read("{\"sql\": \"SELECT 1;\", \"confidence\": 0.9}"), Some(("SELECT 1".into(), Some(0.9))));
        assert_eq!(
            read("Here: {\"SQL\": \"SELECT 1\", \"confidence\": \"95%\"}"),
            Some(("SELECT 1".into(), Some(0.95)))
        );
        assert_eq!(
            read("```json\n{\"query\": \"SELECT 1\"}\n```\nConfidence: .5"),
            Some(("SELECT 1".into(), Some(0.5)))
        );
        assert_eq!(read("{\"sql\": \"```sql\\nSELECT 1\\n```\", \"confidence\": 95}"), Some(("SELECT 1".into(), None)));
        assert_eq!(read("{\"sql\": \"I cannot\", \"confidence\": 0.9}"), None);
        assert_eq!(read("{\"sql\": null}"), None);
    }

    #[test]
    fn many_lines_without_a_fence_are_read() {
        let statement = "WITH a AS (\n  SELECT 1 AS n\n)\n\nSELECT n\nFROM a\nWHERE n > 0";
        assert_eq!(sql(statement).as_deref(), Some(statement));
        let reply = format!("The statement:\n\n{statement}\n\nThis doesn't read more than it must.\nConfidence = 0.7");
        assert_eq!(read(&reply), Some((statement.into(), Some(0.7))));
    }

    #[test]
    fn spellings_of_confidence_are_read() {
        for (line, expected) in [
            ("Confidence: .5", Some(0.5)),
            ("Confidence: 95%", Some(0.95)),
            ("**Confidence:** 0.7", Some(0.7)),
            ("Confidence = 0.7", Some(0.7)),
            ("Confidence: 1.4", None),
            ("", None),
        ] {
            assert_eq!(read(&format!("SELECT 1\n{line}")), Some(("SELECT 1".into(), expected)), "{line}");
        }
    }

    #[test]
    fn trailing_prose_is_cut_and_inline_statements_are_found() {
        for text in [
            "SELECT 'a;b' FROM t; That's it.",
            "The query is SELECT 'a;b' FROM t. It doesn't do more.",
            "Use `SELECT 'a;b' FROM t` for this.",
            "SQL: SELECT 'a;b' FROM t\nIt isn't slow.",
            "- SELECT 'a;b' FROM t\n- a second point, isn't it",
        ] {
            assert_eq!(sql(text).as_deref(), Some("SELECT 'a;b' FROM t"), "{text}");
        }
        assert_eq!(sql("No idea."), None);
    }

    #[test]
    fn hostile_replies_do_no_harm() {
        for text in [
            format!("SELECT {}1", "(".repeat(30_000)),
            format!("```sql\nSELECT 1{}\n```", "+1".repeat(60_000)),
            "SELECT a. ".repeat(10_000),
            "SELECT '".repeat(10_000),
            "```sql\n".repeat(10_000),
            "{\"sql\":".repeat(10_000),
            "WITH a AS (\n".repeat(5_000),
        ] {
            let json = parse(&text, &Limits::default());
            assert!(json.is_none_or(|json| serde_json::from_str::<Value>(&json).is_ok()));
        }
    }
}
