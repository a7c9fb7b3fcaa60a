//! The shape `sql`: the statements of a reply, and the confidence that the reply states for each.
//!
//! The statements are those of JSON documents; else those of fences and tags; else those in bare
//! text. A reply with several gives all of them in the order in which they are tried: one that is
//! called final or a correction, then those in the order of the reply, then what is called an
//! alternative or a draft. Text that begins like a query ("With pleasure, …") counts if it parses;
//! a statement that does not parse counts if it cannot be prose, so that its syntax error can be
//! repaired.

use std::ops::Range;

use serde_json::{Map, Value};
use syrch_core::ports::{SqlReply, WrittenStatement};
use syrch_core::{Json, Limits};

use super::confidence;
use super::document::{documents, strict};
use super::marks::{Mark, is_taken_back, mark};
use super::mend::{Curly, hides_line, is_damaged, mend, plain_blanks, without_brackets};
use super::prose::{Fence, blocks, fences};
use super::thinking::without_thinking;
use crate::statement::{Reader, Standing, ends_with_separator, keyword, looks_like_query};

/// Keys of a JSON reply that may hold the statement, in lower case and without signs between their
/// words.
const SQL_KEYS: [&str; 8] = [
    "sql",
    "query",
    "sqlquery",
    "statement",
    "sqlstatement",
    "finalsql",
    "finalquery",
    "correctedsql",
];
/// Keys under which a document says that it has no answer.
const DENIALS: [&str; 3] = ["error", "refusal", "cannotanswer"];
/// Words of keys whose values are no answers.
const ASIDES: [&str; 27] = [
    "analysis",
    "attempt",
    "avoid",
    "bad",
    "comment",
    "discarded",
    "draft",
    "example",
    "explanation",
    "failed",
    "incorrect",
    "invalid",
    "note",
    "notes",
    "old",
    "original",
    "previous",
    "question",
    "rationale",
    "reason",
    "reasoning",
    "rejected",
    "step",
    "steps",
    "thinking",
    "thoughts",
    "wrong",
];
/// The confidence at most in one of several statements of which none is called the answer.
const UNCLEAR: f64 = 0.4;
/// Keys under which a call of a tool has its arguments.
const ARGUMENT_KEYS: [&str; 5] = ["arguments", "args", "input", "parameters", "params"];
/// Languages of a fence that does not hold SQL.
const NOT_SQL: [&str; 12] = [
    "json",
    "jsonc",
    "yaml",
    "yml",
    "python",
    "py",
    "bash",
    "sh",
    "csv",
    "markdown",
    "md",
    "javascript",
];
/// Statements of a reply that are tried at most.
const MOST: usize = 16;
/// Statements of a reply that are examined at most.
const MAX_FOUND: usize = 64;
/// Values of a document that are examined at most.
const MAX_VALUES: usize = 256;
/// Documents and texts within each other that are read at most.
const MAX_NESTING: usize = 12;

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
}

/// The document [`SqlReply`].
pub(super) fn parse(text: &str, limits: &Limits) -> Option<Json> {
    let text = outside_thinking(text, limits);
    let mut found = Reading { limits, is_cut: false, nesting: 0, values: 0 }
        .statements(&text, &mut Reader::new(limits));
    let end = found.iter().map(|found| found.place.end).max().unwrap_or(text.len());
    if is_taken_back(text.get(end..).unwrap_or_default()) {
        for one in &mut found {
            one.confidence = Some(one.confidence.unwrap_or(UNCLEAR).min(UNCLEAR));
        }
    }
    reply(found)
}

/// The document [`SqlReply`] of a reply that was cut off; `None` if one of its statements may go
/// on, or another one may follow.
pub(super) fn parse_cut(text: &str, limits: &Limits) -> Option<Json> {
    let text = outside_thinking(text, limits);
    let text = without_cut_confidence(&text);
    let found = Reading { limits, is_cut: true, nesting: 0, values: 0 }
        .statements(text, &mut Reader::new(limits));
    let end = found.iter().map(|found| found.place.end).max()?;
    let is_whole = found.iter().all(|found| found.ended) && !says_more(text, end);
    is_whole.then(|| reply(found))?
}

/// Returns the text without thinking. The texts of a document are data: [`Reading`] removes what
/// stands in one of them.
fn outside_thinking(text: &str, limits: &Limits) -> String {
    match strict(text, limits.json_depth) {
        Some(_) => text.to_owned(),
        None => without_thinking(text),
    }
}

/// The text without a last line that states a confidence whose last digits may be missing.
fn without_cut_confidence(text: &str) -> &str {
    let (before, last) = text.rsplit_once('\n').unwrap_or(("", text));
    let is_open = !last.trim_end().ends_with(['}', '`', ';']);
    if is_open && confidence::stated(last).is_some() { before } else { text }
}

/// Returns true if a text that was cut off says more behind that place than a confidence: what it
/// went on to say may have taken the statement back.
fn says_more(text: &str, end: usize) -> bool {
    let is_mark = |c: char| c.is_whitespace() || ";`~".contains(c);
    let rest = text.get(end..).unwrap_or_default().trim_start_matches(is_mark);
    let rest = rest
        .strip_prefix("</")
        .map_or(rest, |tag| tag.split_once('>').map_or("", |(_, rest)| rest));
    rest.lines()
        .any(|line| !line.trim_matches(is_mark).is_empty() && confidence::stated(line).is_none())
}

/// The document of these statements.
fn reply(mut found: Vec<Found>) -> Option<Json> {
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
    let reply = SqlReply { sql, confidence, statements: Vec::new() };
    Some(if statements.len() > 1 { SqlReply { statements, ..reply } } else { reply }.json())
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
                tried.push((
                    mark,
                    standing,
                    WrittenStatement { sql: sql.to_owned(), confidence, number },
                ));
            }
        }
    }
    tried.sort_by_key(|(mark, _, statement)| {
        // A correction replaces those before it, and a draft those drafts.
        let place = isize::try_from(statement.number).unwrap_or(isize::MAX);
        (
            std::cmp::Reverse(*mark),
            if matches!(mark, Mark::Final | Mark::Draft) { -place } else { place },
        )
    });
    tried.truncate(MOST);
    tried.into_iter().map(|(_, standing, statement)| (standing, statement)).collect()
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

/// Reads one reply, with a bound on what lies within each other.
struct Reading<'a> {
    limits: &'a Limits,
    /// Whether the reply was cut off.
    is_cut: bool,
    nesting: usize,
    values: usize,
}

impl Reading<'_> {
    /// The statements of a text, in its order.
    fn statements(&mut self, text: &str, reader: &mut Reader) -> Vec<Found> {
        if self.nesting >= MAX_NESTING {
            return Vec::new();
        }
        self.nesting += 1;
        let mut found = self.read_documents(text, reader);
        if found.is_empty() && !is_answered_by_document(text, self.limits.json_depth) {
            // What stands in a document that has no end may go on.
            let text = &text[..unclosed(text).unwrap_or(text.len())];
            found = from_blocks(text, reader);
            if found.is_empty() {
                found = from_prose(text, reader);
            }
        }
        self.nesting -= 1;
        found
    }

    /// The statements in the JSON documents of a text.
    fn read_documents(&mut self, text: &str, reader: &mut Reader) -> Vec<Found> {
        let depth = self.limits.json_depth;
        let whole = strict(text, depth).or_else(|| {
            let closed = (!self.is_cut).then(|| with_brackets(text)).flatten()?;
            strict(&closed, depth)
        });
        let mut read = whole.map(|value| (0..text.len(), value)).into_iter().collect::<Vec<_>>();
        if read.is_empty() {
            read = fences(text)
                .into_iter()
                .filter_map(|fence| {
                    strict(&text[fence.body.clone()], depth).map(|value| (fence.body, value))
                })
                .collect();
        }
        if read.is_empty() && (text.contains("\":") || text.contains("\" :")) {
            read = documents(text, depth);
        }
        let mut found = Vec::new();
        let mut from = 0;
        for (place, value) in read {
            let mark = mark(text.get(from..place.start).unwrap_or_default());
            from = place.end;
            let mut inside = Vec::new();
            self.read_value(&value, false, reader, &mut inside);
            inside.truncate(MAX_FOUND.saturating_sub(found.len()));
            let stated = || confidence::stated(&without(text, vec![place.clone()]));
            found.extend(inside.into_iter().map(|one| Found {
                mark: one.mark.max(mark).min(if mark < Mark::Plain { mark } else { Mark::Final }),
                confidence: if is_silent(&value) {
                    one.confidence.or_else(stated)
                } else {
                    one.confidence
                },
                place: place.clone(),
                ended: true,
                ..one
            }));
        }
        let best = found.iter().map(|one| one.mark).max();
        let mut rivals = found.iter().filter(|one| Some(one.mark) == best);
        let is_one = rivals.next().is_none_or(|first| rivals.all(|one| one.sql == first.sql));
        if !is_one {
            // A document answers with one statement: which of several is meant, it does not say.
            for one in &mut found {
                one.confidence = Some(one.confidence.unwrap_or(UNCLEAR).min(UNCLEAR));
            }
        }
        found
    }

    /// The statements in a value: those under [`SQL_KEYS`], else those in the values below it.
    /// `is_call`: it has the arguments of a tool.
    fn read_value(
        &mut self,
        value: &Value,
        is_call: bool,
        reader: &mut Reader,
        found: &mut Vec<Found>,
    ) {
        self.values += 1;
        if self.values > MAX_VALUES || self.nesting >= MAX_NESTING {
            return;
        }
        self.nesting += 1;
        match value {
            Value::Object(object) => self.read_object(object, is_call, reader, found),
            Value::Array(list) => {
                list.iter().for_each(|value| self.read_value(value, is_call, reader, found))
            }
            // A text that is only a text of the document: a whole query, or a fence.
            Value::String(text) if is_call || text.contains("```") || looks_like_query(text) => {
                found.extend(
                    self.statements(&without_thinking(text), reader)
                        .into_iter()
                        .filter(|one| one.standing == Standing::Query),
                );
            }
            Value::String(text) if self.nesting == 2 => {
                found.extend(self.statements(&without_thinking(text), reader));
            }
            _ => {}
        }
        self.nesting -= 1;
    }

    fn read_object(
        &mut self,
        object: &Map<String, Value>,
        is_call: bool,
        reader: &mut Reader,
        found: &mut Vec<Found>,
    ) {
        let before = found.len();
        let is_denied = entry(object, &DENIALS)
            .and_then(Value::as_str)
            .is_some_and(|why| !["", "none", "null", "no"].contains(&plain_key(why).as_str()));
        if is_denied {
            return;
        }
        match entry(object, &SQL_KEYS) {
            Some(Value::String(text)) => {
                found.extend(self.read_statements(&without_thinking(text), reader));
            }
            Some(Value::Array(_) | Value::Object(_)) | None => {}
            Some(_) => return,
        }
        if found.len() == before {
            for (key, value) in object.iter().filter(|(key, _)| !is_aside(key)) {
                self.read_value(
                    value,
                    is_call
                        || [ARGUMENT_KEYS.as_slice(), &SQL_KEYS]
                            .iter()
                            .any(|keys| keys.contains(&plain_key(key).as_str())),
                    reader,
                    found,
                );
            }
        }
        let confidence = match entry(object, &["confidence"]) {
            Some(Value::Number(number)) => {
                number.as_f64().filter(|value| (0.0..=1.0).contains(value))
            }
            Some(Value::String(text)) => confidence::value(text),
            _ => None,
        };
        found[before..].iter_mut().for_each(|one| one.confidence = confidence.or(one.confidence));
    }

    /// The statements that the value of a key of [`SQL_KEYS`] holds, fenced or bare.
    fn read_statements(&mut self, text: &str, reader: &mut Reader) -> Vec<Found> {
        let found = from_blocks(text, reader);
        let silent = |one: Found| Found { confidence: None, ..one };
        if !found.is_empty() {
            return found.into_iter().map(silent).collect();
        }
        from_code(text, 0..text.len(), 0, true, reader)
    }
}

/// Returns true if a document decides alone what the reply answers: one that is all of the text, or
/// one that names a key twice or has nothing under a key of a statement.
fn is_answered_by_document(text: &str, depth: usize) -> bool {
    let bare = text.trim();
    if !bare.contains('{') {
        return false;
    }
    let is_unclear = |document: &str| match strict(document, depth) {
        Some(value) => declines(&value),
        // The same key twice.
        None => serde_json::from_str::<Value>(document).is_ok(),
    };
    if bare.starts_with(['{', '[']) && serde_json::from_str::<Value>(bare).is_ok() {
        return true;
    }
    fences(text).into_iter().any(|fence| {
        let body = text[fence.body].trim();
        body.starts_with('{') && is_unclear(body)
    }) || documents(text, depth).iter().any(|(_, value)| declines(value))
}

/// Returns true if a document has a key for a statement, and no statement under it.
fn declines(value: &Value) -> bool {
    let sql = value.as_object().and_then(|object| entry(object, &SQL_KEYS));
    sql.is_some_and(|sql| sql.is_null() || sql.as_str().is_some_and(|text| text.trim().is_empty()))
}

/// Returns where a document begins that the text does not close: one that ends within a text, or
/// before its last bracket.
fn unclosed(text: &str) -> Option<usize> {
    let bare = text.trim_end_matches(|c: char| c.is_whitespace() || c == '`');
    let start = bare.find("{\"").or_else(|| bare.find("{ \"")).or_else(|| bare.find("{\n"))?;
    let is_closed = bare.ends_with(['}', ']']) || with_brackets(&bare[start..]).is_none();
    (!is_closed && bare[start..].contains("\":")).then_some(start)
}

/// Returns a document with the brackets that are missing at its end; the same if it ends within a
/// text, and `None` if none are missing.
fn with_brackets(text: &str) -> Option<String> {
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

/// Returns true for a key of what a document says besides its answer: a draft, what is wrong, why.
fn is_aside(key: &str) -> bool {
    let words = key.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words.into_iter().any(|word| ASIDES.contains(&word.as_str()))
}

/// Whether no object of a document states a confidence.
fn is_silent(value: &Value) -> bool {
    value.as_object().is_none_or(|object| entry(object, &["confidence"]).is_none_or(Value::is_null))
}

/// The value under the first of the object's keys that is one of these.
fn entry<'a>(object: &'a Map<String, Value>, keys: &[&str]) -> Option<&'a Value> {
    object.iter().find(|(key, _)| keys.contains(&plain_key(key).as_str())).map(|(_, value)| value)
}

/// A key in lower case and without signs.
fn plain_key(key: &str) -> String {
    syrch_core::text::clip(key, 64)
        .chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// The statements in fences and between tags.
fn from_blocks(text: &str, reader: &mut Reader) -> Vec<Found> {
    let blocks: Vec<Fence> = blocks(text)
        .into_iter()
        .filter(|fence| !NOT_SQL.contains(&fence.language.as_str()))
        .collect();
    let mut found: Vec<Found> = Vec::new();
    for block in &blocks {
        let is_labelled = !["", "text", "plaintext", "txt"].contains(&block.language.as_str());
        let body = block.body.start..code_end(text, &block.body);
        let from = found.last().map_or(0, |found| found.place.end);
        let code = from_code(text, body, from, is_labelled, reader);
        found.extend(
            code.into_iter()
                .map(|one| Found { ended: block.closed || is_ended(text, &one.place), ..one }),
        );
    }
    found.truncate(MAX_FOUND);
    let places: Vec<Range<usize>> = found.iter().map(|found| found.place.clone()).collect();
    for (index, one) in found.iter_mut().enumerate() {
        // What the reply says of this statement stands before the next one; else the reply may say
        // it of all.
        let others = blocks
            .iter()
            .map(|block| block.body.clone())
            .filter(|body| !body.contains(&one.place.start));
        let hidden: Vec<Range<usize>> = others.chain([one.place.clone()]).collect();
        let until = places
            .get(index + 1..)
            .and_then(|later| later.iter().find(|later| later.start >= one.place.end));
        let near = until.and_then(|next| {
            let inside = hidden
                .iter()
                .filter(|part| part.start >= one.place.start && part.end <= next.start);
            let parts = inside
                .map(|part| part.start - one.place.start..part.end - one.place.start)
                .collect();
            confidence::stated(&without(&text[one.place.start..next.start], parts))
        });
        one.confidence = near.or_else(|| confidence::stated(&without(text, hidden)));
    }
    found
}

/// Returns true if a semicolon outside of texts and comments ends what stands at that place, with
/// nothing behind it on its line.
fn is_ended(text: &str, place: &Range<usize>) -> bool {
    let behind = text[place.end..].trim_start_matches([' ', '\t']);
    let more = if behind.starts_with(';') { text.len() - behind.len() + 1 - place.end } else { 0 };
    let end = place.end + more;
    let rest = text[end..].lines().next().unwrap_or_default();
    rest.trim_matches(|c: char| c.is_whitespace() || "`;".contains(c)).is_empty()
        && ends_with_separator(&text[place.start..end])
}

/// Returns the place where a fence's code ends: before a line that states the confidence.
fn code_end(text: &str, body: &Range<usize>) -> usize {
    let mut at = body.start;
    for line in text[body.clone()].split_inclusive('\n') {
        let bare = line
            .trim_start_matches(|c: char| c.is_whitespace() || "-#*/_".contains(c))
            .to_ascii_lowercase();
        if bare.starts_with("confidence") && confidence::stated(line).is_some() {
            return at;
        }
        at += line.len();
    }
    body.end
}

/// The statements of a place with code, as they are written or, if none of them is a query or they
/// are damaged, as they are mended. `from` is where the statement before it ends; `is_labelled`: it
/// is marked as SQL.
fn from_code(
    text: &str,
    place: Range<usize>,
    from: usize,
    is_labelled: bool,
    reader: &mut Reader,
) -> Vec<Found> {
    let code = &text[place.clone()];
    let before = text.get(from..place.start).unwrap_or_default();
    let mut found = examine(code, before, is_labelled, reader);
    for one in &mut found {
        one.place = place.start + one.place.start..place.start + one.place.end;
    }
    let is_query = |found: &Found| found.standing == Standing::Query;
    let is_damaged = is_damaged(code);
    if found.iter().any(is_query) && !is_damaged && !hides_line(code, true) {
        return found;
    }
    let mended = [Curly::Names, Curly::Texts]
        .into_iter()
        .filter_map(|curly| mend(unquoted(code).as_ref(), curly));
    let read: Vec<Found> =
        mended.flat_map(|code| examine(&code, before, is_labelled, reader)).collect();
    let (mut instead, broken): (Vec<Found>, Vec<Found>) = read.into_iter().partition(is_query);
    if instead.is_empty() && is_damaged {
        // What parses in spite of its damage is a part of the statement, or another one.
        instead = broken;
    }
    if instead.is_empty() && code.trim_start().starts_with('>') {
        instead = examine(unquoted(code).as_ref(), before, is_labelled, reader)
            .into_iter()
            .filter(is_query)
            .collect();
    }
    if instead.is_empty() {
        return found;
    }
    instead.into_iter().map(|one| Found { place: place.clone(), ..one }).collect()
}

/// The code without the marks of a quotation before each of its lines.
fn unquoted(code: &str) -> std::borrow::Cow<'_, str> {
    let lines = || code.lines().filter(|line| !line.trim().is_empty());
    if lines().next().is_none() || !lines().all(|line| line.trim_start().starts_with('>')) {
        return code.into();
    }
    let bare = |line: &str| line.trim_start().trim_start_matches('>').to_owned() + "\n";
    code.lines().map(bare).collect::<String>().into()
}

/// The statements of code, each at its place in it. `before` is the text before the code.
fn examine(code: &str, before: &str, is_labelled: bool, reader: &mut Reader) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for part in reader.split(code, 0..code.len()) {
        let sql = &code[part.clone()];
        let standing = match reader.standing(sql) {
            Some(Standing::Other) if !is_labelled => continue,
            Some(standing) => standing,
            None if looks_like_query(sql) || (is_labelled && keyword(sql).is_some()) => {
                Standing::Broken
            }
            None => continue,
        };
        let mark = match found.last() {
            Some(last) => mark(&code[last.place.end..part.start]),
            None => mark(&format!("{before}{}", &code[..part.start])),
        };
        let ended = is_ended(code, &part);
        found.push(Found {
            sql: sql.to_owned(),
            standing,
            mark,
            confidence: None,
            place: part,
            ended,
        });
    }
    found
}

/// The statements in prose without a fence: those at the beginnings of lines, else those within
/// lines.
fn from_prose(text: &str, reader: &mut Reader) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    let mut at = 0;
    let mut take = |found: &mut Vec<Found>, at: &mut usize, start: usize, is_head: bool| {
        if start < *at {
            return;
        }
        let read = query_at(text, start, reader)
            .map(|(sql, end)| (sql, end, Standing::Query))
            .or_else(|| {
                let is_broken = is_head && looks_like_query(&text[start..]);
                let end = is_broken.then(|| reader.first_end(text, start))?;
                Some((vec![text[start..end].to_owned()], end, Standing::Broken))
            });
        if let Some((statements, end, standing)) = read {
            let mark = mark(&text[*at..start]);
            let place = start..end;
            let ended = is_ended(text, &place);
            let with =
                |sql| Found { sql, standing, mark, confidence: None, place: place.clone(), ended };
            found.extend(statements.into_iter().map(with));
            *at = end;
        }
    };
    starts(text, true).into_iter().for_each(|start| take(&mut found, &mut at, start, true));
    if found.is_empty() {
        starts(text, false).into_iter().for_each(|start| take(&mut found, &mut at, start, false));
    }
    let places: Vec<Range<usize>> = found.iter().map(|found| found.place.clone()).collect();
    for one in &mut found {
        let next = places
            .iter()
            .find(|later| later.start >= one.place.end)
            .map_or(text.len(), |later| later.start);
        let near = confidence::stated(&text[one.place.end..next]);
        one.confidence = near.or_else(|| confidence::stated(&without(text, places.clone())));
    }
    found
}

/// The query that begins at a place of prose, as it is written or as it is mended in one of several
/// ways, and where it ends.
fn query_at(text: &str, start: usize, reader: &mut Reader) -> Option<(Vec<String>, usize)> {
    let rest = reader.take(&text[start..])?;
    let paragraph = reader.first_end(text, start);
    // A paragraph ends at a semicolon, with which a character reference ends too.
    let near = text.get(start..=paragraph).unwrap_or(&text[start..paragraph]);
    let is_damaged = is_damaged(near) || hides_line(near, true);
    if !is_damaged && let Some(end) = reader.longest(text, start) {
        return Some((vec![text[start..end].to_owned()], end));
    }
    let mended = [Curly::Names, Curly::Texts].into_iter().filter_map(|curly| mend(rest, curly));
    let mut queries: Vec<String> = mended
        .filter_map(|mended| reader.longest(&mended, 0).map(|end| mended[..end].to_owned()))
        .collect();
    queries.dedup();
    if !queries.is_empty() {
        return Some((queries, paragraph));
    }
    let end = reader.longest(text, start).filter(|_| is_damaged)?;
    Some((vec![text[start..end].to_owned()], end))
}

/// The places of words that begin a query, at the beginning of lines (after a label or a bullet) or
/// anywhere.
fn starts(text: &str, lines: bool) -> Vec<usize> {
    const MOST: usize = 64;
    let head = |at: usize| {
        let near =
            (at.saturating_sub(64)..=at).find(|near| text.is_char_boundary(*near)).unwrap_or(at);
        let Some(line) = text[near..at]
            .rfind('\n')
            .map(|newline| near + newline + 1)
            .or((near == 0).then_some(0))
        else {
            return false;
        };
        let before = text[line..at].trim();
        let is_label = before.ends_with([':', '：']) && before.len() <= 24;
        before.is_empty()
            || is_label
            || before.ends_with("\\n")
            || before.chars().all(|c| "-*>(#`".contains(c))
    };
    let mut from = 0;
    let mut found = Vec::new();
    for word in text.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
        // A line break that is written as `\n` belongs to no word.
        let is_broken = word.starts_with('n') && text[..from].ends_with('\\');
        let start = from + usize::from(is_broken);
        if keyword(&word[start - from..]).is_some() && (!lines || head(start)) && found.len() < MOST
        {
            // A union may begin with its first part in brackets.
            found.push(text[..start].trim_end_matches('(').len());
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
        assert_eq!(read("```sql\nSELECT 1\n```\nConfidence: 7"), Some(("SELECT 1".into(), None)));
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
            Some(("SELECT 1".into(), None))
        );
        assert_eq!(read("{\"sql\": \"I cannot\", \"confidence\": 0.9}"), None);
        assert_eq!(read("{\"sql\": null}"), None);
    }

    #[test]
    fn many_lines_without_a_fence_are_read() {
        let statement = "WITH a AS (\n  SELECT 1 AS n\n)\n\nSELECT n\nFROM a\nWHERE n > 0";
        assert_eq!(sql(statement).as_deref(), Some(statement));
        let reply = format!(
            "The statement:\n\n{statement}\n\nThis doesn't read more than it must.\nConfidence = 0.7"
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
