//! The shape `sql`: the statements of a reply, and the confidence that the reply states for each.
//!
//! The statements are those of JSON documents; else those of fences and tags; else those in bare
//! text. A reply with several gives all of them in the order in which they are tried: one that is
//! called final or a correction, then those in the order of the reply, then what is called an
//! alternative or a draft; what the reply refuses is none. Each has the numbers of those that may
//! be meant as well: evaluation tools take the last one then, and are wrong where a reply goes on
//! to explain. Text that begins like a query ("With pleasure, …") counts if it parses;
//! a statement that does not parse counts if it cannot be prose, so that its syntax error can be
//! repaired.

mod code;
mod documents;
mod keys;
mod verdict;

use std::ops::Range;

use serde_json::Value;
use syrch_core::ports::{SqlReply, WrittenStatement};
use syrch_core::{Json, Limits};

use super::confidence;
use super::document::{documents, strict};
use super::marks::{Mark, is_confirmed, is_refused};
use super::mend::{plain_blanks, without_brackets};
use super::refusal::is_refused_before;
use super::thinking::without_thinking;
use super::withdrawal::is_taken_back;
use crate::statement::{Reader, Standing, looks_like_query};
use documents::Reading;

/// Statements of a reply that are tried at most.
const MOST: usize = 16;
/// Statements of a reply that are examined at most.
const MAX_FOUND: usize = 64;

/// A statement that was found in a reply.
struct Found {
    sql: String,
    standing: Standing,
    mark: Mark,
    confidence: Option<f64>,
    /// Its place in the text, or that of the code around it.
    place: Range<usize>,
    /// True if its end is marked: by that of its block or document, or by a semicolon.
    ended: bool,
    /// True if the reply does not stand by the statement.
    is_doubted: bool,
}

/// The document [`SqlReply`].
pub(super) fn parse(text: &str, limits: &Limits) -> Option<Json> {
    let text = outside_thinking(text, limits);
    let mut found = Reading::new(limits, false).statements(&text, &mut Reader::new(limits));
    let end = found.iter().map(|found| found.place.end).max().unwrap_or(text.len());
    let start = found.iter().map(|found| found.place.start).min().unwrap_or_default();
    if is_taken_back(text.get(end..).unwrap_or_default())
        || is_refused_before(text.get(..start).unwrap_or_default())
    {
        found.iter_mut().for_each(|one| one.is_doubted = true);
    }
    mark_by_rest(&text, &mut found);
    reply(found).or_else(|| read_request(&text, limits.json_depth))
}

/// Returns true if a reply is a document that says that it has no statement: its last one has
/// nothing under the key of a statement, or says that there is no answer.
pub(super) fn declines(text: &str, limits: &Limits) -> bool {
    let text = outside_thinking(text, limits);
    let last = documents(&text, limits.json_depth).pop();
    last.is_some_and(|(_, value)| documents::has_no_answer(&value))
}

/// The document of a reply that holds a request for metrics in place of a statement, which then
/// stands as JSON where the statement would. Of several requests it is the last.
fn read_request(text: &str, depth: usize) -> Option<Json> {
    let (place, document) = documents(text, depth)
        .into_iter()
        .rfind(|(_, value)| request_of(value, depth).is_some())?;
    let sql = request_of(&document, depth)?.to_string();
    let stated = document.get("confidence").and_then(Value::as_f64);
    let stated = stated.and_then(confidence::scale);
    let confidence = stated.or_else(|| confidence::find_confidence(&leave_out(text, vec![place])));
    let is_doubted = false;
    Some(SqlReply { sql, confidence, statements: Vec::new(), origin: None, is_doubted }.json())
}

/// Marks the statements that the text behind them refuses, or calls the answer.
fn mark_by_rest(text: &str, found: &mut [Found]) {
    let starts: Vec<usize> = found.iter().map(|one| one.place.start).collect();
    for one in found {
        let end = one.place.end;
        let next = starts.iter().copied().filter(|start| *start >= end).min();
        let behind = text.get(end..next.unwrap_or(text.len())).unwrap_or_default();
        if is_refused(behind) {
            one.mark = Mark::Refused;
        } else if one.mark == Mark::Plain && is_confirmed(behind) {
            one.mark = Mark::Final;
        }
    }
}

/// The document [`SqlReply`] of a reply that was cut off; `None` if one of its statements may go
/// on, or another one may follow.
pub(super) fn parse_cut(text: &str, limits: &Limits) -> Option<Json> {
    let text = outside_thinking(text, limits);
    let text = without_cut_confidence(&text);
    let found = Reading::new(limits, true).statements(text, &mut Reader::new(limits));
    let end = found.iter().map(|found| found.place.end).max()?;
    let is_whole = found.iter().all(|found| found.ended) && !says_more(text, end);
    is_whole.then(|| reply(found))?
}

/// Returns the text without thinking. The texts of a document are data: [`Reading`] removes what
/// stands in one of them.
fn outside_thinking(text: &str, limits: &Limits) -> String {
    match strict(text, limits.json_depth) {
        Some(_) => text.to_owned(),
        None => open_box(without_thinking(text)),
    }
}

/// The text with the last statement in a box, in which models of mathematics put their answer, as a
/// final one in a fence.
fn open_box(text: String) -> String {
    const OPEN: &str = "\\boxed{";
    let Some(start) = text.rfind(OPEN) else { return text };
    let inside = &text[start + OPEN.len()..];
    let mut open = 1_usize;
    let end = inside.bytes().position(|byte| {
        match byte {
            b'{' => open += 1,
            b'}' => open -= 1,
            _ => {}
        }
        open == 0
    });
    let Some(end) = end else { return text };
    let mut sql = inside[..end].trim();
    for command in ["\\text{", "\\texttt{", "\\mathrm{"] {
        sql = sql.strip_prefix(command).and_then(|sql| sql.strip_suffix('}')).unwrap_or(sql).trim();
    }
    if !looks_like_query(sql) {
        return text;
    }
    let sql = sql.replace("\\_", "_").replace("\\%", "%");
    let rest = inside[end + 1..].trim_start_matches('$');
    let before = text[..start].trim_end_matches('$');
    format!("{before}\n\nFinal answer:\n```sql\n{sql}\n```\n{rest}")
}

/// The text without a last line that states a confidence whose last digits may be missing.
fn without_cut_confidence(text: &str) -> &str {
    let (before, last) = text.rsplit_once('\n').unwrap_or(("", text));
    let is_open = !last.trim_end().ends_with(['}', '`', ';']);
    if is_open && confidence::find_confidence(last).is_some() { before } else { text }
}

/// Returns true if a text that was cut off says more behind that place than a confidence: what it
/// went on to say may have taken the statement back.
fn says_more(text: &str, end: usize) -> bool {
    fn is_space_or_mark(c: char) -> bool {
        c.is_whitespace() || ";`~".contains(c)
    }
    let rest = text.get(end..).unwrap_or_default().trim_start_matches(is_space_or_mark);
    let rest = rest
        .strip_prefix("</")
        .map_or(rest, |tag| tag.split_once('>').map_or("", |(_, rest)| rest));
    rest.lines().any(|line| {
        !line.trim_matches(is_space_or_mark).is_empty()
            && confidence::find_confidence(line).is_none()
    })
}

/// The document of these statements, without those that the reply refuses.
fn reply(mut found: Vec<Found>) -> Option<Json> {
    found.retain(|found| found.mark != Mark::Refused);
    let is_doubted = found.iter().any(|found| found.is_doubted);
    if found.iter().any(|found| found.standing != Standing::Other) {
        found.retain(|found| found.standing != Standing::Other);
    }
    let statements = in_order(found);
    // Of statements that all fail, one that parses fails for a better reason.
    let best = statements
        .iter()
        .find(|(standing, _)| *standing == Standing::Query)
        .or(statements.first())?
        .1
        .clone();
    let statements: Vec<_> = statements.into_iter().map(|(_, statement)| statement).collect();
    let WrittenStatement { sql, confidence, .. } = best;
    let statements = if statements.len() > 1 { statements } else { Vec::new() };
    let reply = SqlReply { sql, confidence, statements, origin: None, is_doubted: false };
    Some(if is_doubted { reply.into_doubted() } else { reply }.json())
}

/// The request that a document is, or that stands as a text where a document has its statement.
fn request_of(document: &Value, depth: usize) -> Option<Value> {
    let within = document.get("sql").and_then(Value::as_str);
    let request = match within {
        Some(text) => strict(text.trim(), depth)?,
        None => document.clone(),
    };
    let metrics = request.get("metrics").and_then(Value::as_array)?;
    (!metrics.is_empty() && metrics.iter().all(Value::is_string)).then_some(request)
}

/// The statements in the order in which they are tried, each text once.
fn in_order(found: Vec<Found>) -> Vec<(Standing, WrittenStatement)> {
    let mut tried: Vec<(Mark, Standing, WrittenStatement)> = Vec::new();
    for Found { sql, standing, mark, confidence, .. } in found {
        let sql = plain_blanks(&sql);
        let sql = sql.trim().trim_end_matches(|c: char| c == ';' || c.is_whitespace());
        let sql = without_brackets(sql);
        if sql.is_empty() {
            continue;
        }
        match tried.iter_mut().find(|(.., known)| known.sql == sql) {
            Some((known, ..)) => *known = mark.max(*known),
            None => {
                let number = tried.len() + 1;
                let rivals = Vec::new();
                tried.push((
                    mark,
                    standing,
                    WrittenStatement { sql: sql.to_owned(), confidence, number, rivals },
                ));
            }
        }
    }
    let marks: Vec<Mark> = tried.iter().map(|(mark, ..)| *mark).collect();
    let texts: Vec<String> =
        tried.iter().map(|(.., statement)| comparable_text(&statement.sql)).collect();
    for (mark, _, statement) in &mut tried {
        statement.rivals = list_rivals(*mark, statement.number, &marks);
        // The next step of a statement that it only adds to replaces it.
        if *mark == Mark::Next {
            let text = comparable_text(&statement.sql);
            statement.rivals.retain(|rival| !text.starts_with(&texts[rival - 1]));
        }
    }
    tried.sort_by_key(|(mark, _, statement)| {
        // A correction and a next step replace those before them, and a draft those drafts.
        let place = isize::try_from(statement.number).unwrap_or(isize::MAX);
        (
            std::cmp::Reverse(*mark),
            if matches!(mark, Mark::Final | Mark::Next | Mark::Draft) { -place } else { place },
        )
    });
    tried.truncate(MOST);
    tried.into_iter().map(|(_, standing, statement)| (standing, statement)).collect()
}

/// A statement in lower case with single blanks.
fn comparable_text(sql: &str) -> String {
    sql.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// The numbers of the statements that the reply may as well mean as the one with this mark and
/// number. `marks`: those of all, from number 1.
fn list_rivals(mark: Mark, number: usize, marks: &[Mark]) -> Vec<usize> {
    let others = (1..).zip(marks).filter(|(other, _)| *other != number);
    let rivals = others.filter(|(other, theirs)| match mark {
        Mark::Refused | Mark::Draft | Mark::Final => false,
        Mark::Alternative => **theirs == mark,
        Mark::Plain | Mark::Next => matches!(theirs, Mark::Plain | Mark::Named | Mark::Next),
        // What stands before the name of the answer is no answer.
        Mark::Named => {
            **theirs == mark || matches!(theirs, Mark::Plain | Mark::Next) && *other > number
        }
    });
    rivals.map(|(other, _)| other).collect()
}

/// The text with those parts left out.
fn leave_out(text: &str, mut parts: Vec<Range<usize>>) -> String {
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
    fn a_query_within_another_statement_is_not_the_answer() {
        for whole in [
            "UPDATE customers SET country = (SELECT country FROM suppliers LIMIT 1)",
            "DELETE FROM customers\nWHERE id IN\n(SELECT id FROM customers)",
            "INSERT INTO customers SELECT * FROM customers",
            "CREATE TABLE x AS SELECT COUNT(*) FROM customers",
            "CREATE VIEW v AS\nSELECT COUNT(*) FROM customers",
        ] {
            for reply in [
                whole.to_owned(),
                format!("{whole};"),
                format!("Here it is:\n{whole}"),
                format!("```\n{whole}\n```\nConfidence: 0.9"),
                format!("```sql\n{whole}\n```"),
            ] {
                assert_eq!(sql(&reply).as_deref(), Some(whole), "{reply}");
            }
        }
        for (reply, found) in [
            ("Update: the count is\nSELECT COUNT(*) FROM t", "SELECT COUNT(*) FROM t"),
            ("Delete nothing; use SELECT a FROM t", "SELECT a FROM t"),
            ("Create a list of names with SELECT name FROM t", "SELECT name FROM t"),
        ] {
            assert_eq!(sql(reply).as_deref(), Some(found), "{reply}");
        }
    }

    #[test]
    fn a_request_for_metrics_stands_in_place_of_a_statement() {
        let request = r#"{"metrics":["revenue"],"by":["category"],"where":"country = 'France'"}"#;
        for reply in [
            request.to_owned(),
            format!("Here it is.\n```json\n{request}\n```\nConfidence: 0.8"),
            format!("<think>or {{\"metrics\": [\"orders\"]}}?</think>\n{request}"),
        ] {
            let read: Value = serde_json::from_str(&sql(&reply).unwrap()).unwrap();
            assert_eq!(read, serde_json::from_str::<Value>(request).unwrap(), "{reply}");
        }
        let reply = format!("```json\n{request}\n```\nConfidence: 0.8");
        assert_eq!(read(&reply).unwrap().1, Some(0.8));
        let within = serde_json::json!({"sql": request, "confidence": 0.7}).to_string();
        let (sql_within, confidence) = read(&within).unwrap();
        let inner: Value = serde_json::from_str(&sql_within).unwrap();
        assert_eq!((inner["by"][0].as_str(), confidence), (Some("category"), Some(0.7)));
        let both = format!("{request}\n```sql\nSELECT 1\n```");
        assert_eq!(sql(&both).as_deref(), Some("SELECT 1"));
        for other in [r#"{"metrics": []}"#, r#"{"metrics": "revenue"}"#, r#"{"metrics": [1]}"#] {
            assert_eq!(sql(other), None, "{other}");
        }
    }

    #[test]
    fn a_fence_with_its_confidence_is_read() {
        let reply =
            "Sure.\n```sql\nSELECT name\nFROM t\nWHERE confidence = 0.1;\n```\n**Confidence:** 95%";
        assert_eq!(
            read(reply),
            Some(("SELECT name\nFROM t\nWHERE confidence = 0.1".into(), Some(0.95)))
        );
        assert_eq!(
            read("```\nSELECT 1\nConfidence: 0.8\n```"),
            Some(("SELECT 1".into(), Some(0.8)))
        );
        assert_eq!(
            read("```sql\n-- the count\nSELECT 1;\n-- Confidence: 0.4\n```"),
            Some(("SELECT 1".into(), Some(0.4)))
        );
        assert_eq!(read("```sql\nSELECT 1\n```\nConfidence: 700"), Some(("SELECT 1".into(), None)));
    }

    #[test]
    fn of_several_fences_the_first_query_counts_unless_a_later_one_corrects_it() {
        assert_eq!(
            sql("```sql\nSELECT 1\n```\nbetter:\n```sql\nSELECT 2\n```").as_deref(),
            Some("SELECT 2")
        );
        assert_eq!(
            sql("```sql\nSELECT 1\n```\n```sql\nCREATE INDEX i ON t (a)\n```").as_deref(),
            Some("SELECT 1")
        );
        assert_eq!(
            sql("```sql\nSELECT 1\n```\nshows\n```\n| n |\n| 1 |\n```").as_deref(),
            Some("SELECT 1")
        );
        assert_eq!(sql("```sql\nSELECT 1;\nSELECT 2;\n```").as_deref(), Some("SELECT 1"));
        assert_eq!(
            sql("```python\nprint(1)\n```\n```sql\nSELECT 1\n```").as_deref(),
            Some("SELECT 1")
        );
    }

    #[test]
    fn a_broken_statement_is_taken_only_where_it_is_no_prose() {
        assert_eq!(
            sql("```sql\nSELECT a FROM t WHERE = 1\n```").as_deref(),
            Some("SELECT a FROM t WHERE = 1")
        );
        assert_eq!(sql("```sql\nSELECT 'a FROM t\n```").as_deref(), Some("SELECT 'a FROM t"));
        assert_eq!(sql("```sql\nSELECT a FROM").as_deref(), Some("SELECT a FROM"));
        assert_eq!(
            sql("SELECT a\nFROM t\nWHERE x = = 1").as_deref(),
            Some("SELECT a\nFROM t\nWHERE x = = 1")
        );
        assert_eq!(
            sql("WITH a AS (SELECT 1 1 1)\nSELECT * FROM a").as_deref(),
            Some("WITH a AS (SELECT 1 1 1)\nSELECT * FROM a")
        );
        assert_eq!(sql("```\nWith this you get five rows;\n```"), None);
    }

    #[test]
    fn other_statements_are_left_to_the_guard() {
        assert_eq!(sql("```sql\nDELETE FROM t;\n```").as_deref(), Some("DELETE FROM t"));
        assert_eq!(
            sql("WITH x AS (SELECT 1) DELETE FROM t"),
            Some("WITH x AS (SELECT 1) DELETE FROM t".into())
        );
    }

    #[test]
    fn prose_that_begins_with_with() {
        assert_eq!(sql("With two tables, I would join them; that is all."), None);
        assert_eq!(sql("With pleasure.\n\nSELECT 1").as_deref(), Some("SELECT 1"));
        assert_eq!(sql("Select whichever you like; values differ."), None);
    }

    #[test]
    fn sql_within_reasoning_is_skipped() {
        assert_eq!(
            sql("<think>maybe select a from b;</think>\nSELECT 2").as_deref(),
            Some("SELECT 2")
        );
        assert_eq!(sql("<think>maybe select a from b;"), None);
        assert_eq!(
            sql("select a from b;</think>```sql\nSELECT 2\n```").as_deref(),
            Some("SELECT 2")
        );
    }

    #[test]
    fn json_replies_are_read() {
        assert_eq!(
            read("{\"sql\": \"SELECT 1;\", \"confidence\": 0.9}"),
            Some(("SELECT 1".into(), Some(0.9)))
        );
        assert_eq!(
            read("Here: {\"SQL\": \"SELECT 1\", \"confidence\": \"95%\"}"),
            Some(("SELECT 1".into(), Some(0.95)))
        );
        assert_eq!(
            read("```json\n{\"query\": \"SELECT 1\"}\n```\nConfidence: .5"),
            Some(("SELECT 1".into(), Some(0.5)))
        );
        assert_eq!(
            read("{\"sql\": \"```sql\\nSELECT 1\\n```\", \"confidence\": 95}"),
            Some(("SELECT 1".into(), Some(0.95)))
        );
        assert_eq!(read("{\"sql\": \"I cannot\", \"confidence\": 0.9}"), None);
        assert_eq!(read("{\"sql\": null}"), None);
    }

    #[test]
    fn many_lines_without_a_fence_are_read() {
        let statement = "WITH a AS (\n  SELECT 1 AS n\n)\n\nSELECT n\nFROM a\nWHERE n > 0";
        assert_eq!(sql(statement).as_deref(), Some(statement));
        let reply = format!(
            "The statement:\n\n{statement}\n\nThis doesn't read more than it must.\n\
             Confidence = 0.7"
        );
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
            assert_eq!(
                read(&format!("SELECT 1\n{line}")),
                Some(("SELECT 1".into(), expected)),
                "{line}"
            );
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
