//! The shape `yaml`: a mapping with the requested keys. Other keys are left out.

use serde_json::Value;
use serde_saphyr::{Options, budget, options};
use syrch_core::{Json, Limits};

use super::marks::{Mark, mark};
use super::prose::fences;
use super::thinking::without_thinking;

/// Lines of prose after a bare mapping that are removed at most.
const MAX_TRAILING_LINES: usize = 32;

/// The mapping as JSON: from the last fence that holds it, else from the first line that begins
/// with one of the keys.
pub(super) fn parse(text: &str, keys: &[String], limits: &Limits) -> Option<Json> {
    let text = without_thinking(text);
    let fenced =
        fences(&text).into_iter().rev().find_map(|fence| mapping(&text[fence.body], keys, limits));
    let value = fenced
        .or_else(|| mapping(&text, keys, limits))
        .or_else(|| find_bare_mapping(&text, keys, |yaml| mapping(yaml, keys, limits)))?;
    Some(value.to_string()).filter(|json| json.len() <= limits.json_bytes)
}

/// The mapping of a reply that was cut off: that of its last fence, if it is closed and no other
/// begins or is announced.
pub(super) fn parse_cut(text: &str, keys: &[String], limits: &Limits) -> Option<Json> {
    let text = without_thinking(text);
    let last = fences(&text).pop().filter(|fence| fence.closed)?;
    let value = mapping(&text[last.body.clone()], keys, limits)
        .filter(|_| mark(&text[last.body.end..]) != Mark::Final)?;
    Some(value.to_string()).filter(|json| json.len() <= limits.json_bytes)
}

/// A mapping between prose: from the first line with a key, without the lines after it that are no
/// YAML.
fn find_bare_mapping(
    text: &str,
    keys: &[String],
    read: impl Fn(&str) -> Option<Value>,
) -> Option<Value> {
    let mut at = 0;
    let start = text.split_inclusive('\n').find_map(|line| {
        let here = at;
        at += line.len();
        begins_with_key(line, keys).then_some(here)
    })?;
    let mut rest = text[start..].trim_end();
    for _ in 0..=MAX_TRAILING_LINES {
        if let Some(value) = read(rest) {
            return Some(value);
        }
        let (before, last) = rest.rsplit_once('\n')?;
        if is_entry(last) {
            return None;
        }
        rest = before.trim_end();
    }
    None
}

/// Returns true if a line is an entry of the mapping rather than a remark after it.
fn is_entry(line: &str) -> bool {
    let name = line
        .bytes()
        .take_while(|byte| byte.is_ascii_lowercase() || b"_-0123456789".contains(byte))
        .count();
    name > 0 && line[name..].starts_with(':')
}

fn begins_with_key(line: &str, keys: &[String]) -> bool {
    let line = line.trim_start_matches(['"', '\'']);
    keys.iter().any(|key| {
        line.strip_prefix(key.as_str())
            .is_some_and(|rest| rest.trim_start_matches(['"', '\'']).trim_start().starts_with(':'))
    })
}

/// Returns these keys of the mapping that is the whole text, if it has them all.
fn mapping(yaml: &str, keys: &[String], limits: &Limits) -> Option<Value> {
    if yaml.len() > limits.json_bytes {
        return None;
    }
    let mut value: Value = serde_saphyr::from_str_with_options(yaml, settings(limits)).ok()?;
    let map = value.as_object_mut()?;
    map.retain(|key, _| keys.contains(key));
    keys.iter().all(|key| map.contains_key(key)).then_some(value)
}

/// Options for small documents without aliases and merges, and for errors that do not quote the
/// text.
fn settings(limits: &Limits) -> Options {
    options! {
        budget: budget! {
            max_events: 20_000,
            max_nodes: 10_000,
            max_depth: limits.json_depth,
            max_aliases: 0,
            max_anchors: 0,
            max_documents: 1,
            max_merge_keys: 0,
        },
        strict_booleans: true,
        with_snippet: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Json> {
        parse(text, &["sql".into(), "why".into()], &Limits::default())
    }

    #[test]
    fn mappings_are_found_fenced_and_bare() {
        let expected = "{\"sql\":\"SELECT 1\",\"why\":[\"a\",\"no\"]}";
        for text in [
            "```yaml\nsql: SELECT 1\nwhy: [a, no]\n```",
            "Of course:\n\nsql: SELECT 1\nwhy:\n  - a\n  - no\n\nHope this helps",
            "<think>sql: x</think>sql: SELECT 1\nwhy: [a, no]",
            "{sql: SELECT 1, why: [a, no]}",
        ] {
            assert_eq!(read(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn of_a_reply_that_was_cut_off_only_a_closed_fence_counts() {
        fn cut(text: &str) -> Option<String> {
            parse_cut(text, &["sql".into(), "why".into()], &Limits::default())
        }
        let whole = "```yaml\nsql: SELECT 1\nwhy: a\n```";
        for text in [whole.to_owned(), format!("{whole}\nIt reads the")] {
            assert_eq!(
                cut(&text).as_deref(),
                Some("{\"sql\":\"SELECT 1\",\"why\":\"a\"}"),
                "{text}"
            );
        }
        for text in [
            "why: a\nsql: SELECT 1",
            "```yaml\nwhy: a\nsql: SELECT 1",
            &format!("{whole}\nThat is wrong, since"),
            &format!("{whole}\n```yaml\nsql: "),
        ] {
            assert_eq!(cut(text), None, "{text}");
        }
    }

    #[test]
    fn other_keys_are_left_out() {
        assert_eq!(read("sql: 1\nmore: 3\nwhy: 2").as_deref(), Some("{\"sql\":1,\"why\":2}"));
        let prose = "So:\nthought: it is 1\nsql: 1\nwhy: 2\nmore: [3]\nThat is all";
        assert_eq!(read(prose).as_deref(), Some("{\"sql\":1,\"why\":2}"));
    }

    #[test]
    fn missing_keys_doubles_and_bombs_are_refused() {
        for text in [
            "sql: SELECT 1",
            "sql: 1\nsql: 2\nwhy: 3",
            "sql: &a [x]\nwhy: [*a, *a]",
            "- sql\n- why",
            "",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
        let deep = format!("sql: {}{}\nwhy: 1", "[".repeat(200), "]".repeat(200));
        assert_eq!(read(&deep), None);
    }
}
