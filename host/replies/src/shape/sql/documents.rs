//! The statements of JSON documents: those under the keys of statements, or in the values below.

use serde_json::{Map, Number, Value};
use syrch_core::Limits;

use super::code::{from_blocks, from_code, from_prose};
use super::keys::{
    ARGUMENT_KEYS, CONFIDENCE_KEYS, is_alternative, is_aside, is_choice, is_final, is_last,
    is_named, is_reject, is_steps, names_statement, plain_key,
};
use super::verdict::{Verdict, is_chosen, says_something, verdict};
use super::{Found, MAX_FOUND, leave_out};
use crate::shape::confidence;
use crate::shape::document::{documents, strict, unclosed, with_brackets};
use crate::shape::marks::{Mark, mark_at};
use crate::shape::prose::fences;
use crate::shape::thinking::without_thinking;
use crate::statement::{Reader, Standing, first_keyword, looks_like_query};

/// Values of a document that are examined at most.
const MAX_VALUES: usize = 256;
/// Documents and texts within each other that are read at most.
const MAX_NESTING: usize = 12;

/// Reads one reply, with a bound on what lies within each other.
pub(super) struct Reading<'a> {
    limits: &'a Limits,
    /// True if the reply was cut off.
    is_cut: bool,
    nesting: usize,
    values: usize,
}

impl<'a> Reading<'a> {
    /// The reading of a reply; `is_cut` if it was cut off.
    pub(super) fn new(limits: &'a Limits, is_cut: bool) -> Self {
        Self { limits, is_cut, nesting: 0, values: 0 }
    }

    /// The statements of a text, in its order.
    pub(super) fn statements(&mut self, text: &str, reader: &mut Reader) -> Vec<Found> {
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
            let mark = mark_at(text, from, place.start);
            from = place.end;
            let mut inside = Vec::new();
            self.read_value(&value, false, reader, &mut inside);
            inside.truncate(MAX_FOUND.saturating_sub(found.len()));
            found.extend(inside.into_iter().map(|one| {
                Found {
                    mark: if one.mark < Mark::Plain { one.mark } else { one.mark.max(mark) }
                        .min(if mark < Mark::Plain { mark } else { Mark::Final }),
                    confidence: if is_silent(&value) {
                        one.confidence.or_else(|| {
                            confidence::find_confidence(&leave_out(text, vec![place.clone()]))
                        })
                    } else {
                        one.confidence
                    },
                    place: place.clone(),
                    ended: true,
                    ..one
                }
            }));
        }
        let best = found.iter().map(|one| one.mark).max();
        let mut rivals = found.iter().filter(|one| Some(one.mark) == best);
        let is_one = rivals.next().is_none_or(|first| rivals.all(|one| one.sql == first.sql));
        if !is_one {
            // A document answers with one statement: which of several is meant, it does not say.
            found.iter_mut().for_each(|one| one.is_doubted = true);
        }
        found
    }

    /// The statements in a value: those under the keys of statements, else those in the values
    /// below it. `is_call`: it has the arguments of a tool.
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
            Value::Array(list) => match join_lines(list, reader) {
                Some(lines) => self.read_value(&lines.into(), true, reader, found),
                None => {
                    list.iter().for_each(|value| self.read_value(value, is_call, reader, found));
                }
            },
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
        let verdict = verdict(object);
        if verdict == Verdict::Denied {
            return;
        }
        let before = found.len();
        let mut named = object.iter().filter(|(key, _)| is_named(key)).map(|(_, value)| value);
        let lines = named.clone().find_map(Value::as_array);
        let lines = lines.and_then(|list| join_lines(list, reader)).map(Value::from);
        let sql = named.find(|sql| !sql.is_array() && !sql.is_object()).or(lines.as_ref());
        let mut plain = match sql {
            Some(Value::String(text)) => self.read_statements(&without_thinking(text), reader),
            _ => Vec::new(),
        };
        let is_answered = sql.is_some_and(|sql| !sql.is_string()) || !plain.is_empty();
        let mut last = Vec::new();
        if let Some(chosen) = find_choice(object) {
            self.read_value(chosen, is_call, reader, &mut last);
            last.iter_mut().for_each(|one| one.mark = Mark::Final);
        }
        let mut steps = Vec::new();
        let mut is_open = false;
        for (key, value) in object {
            if is_steps(key) && value.is_array() {
                self.read_steps(value, reader, &mut steps);
                continue;
            }
            let is_final = is_final(key);
            let is_only_final = is_answered || is_aside(key);
            if is_only_final && !is_final && (is_reject(key) || value.is_string()) {
                continue;
            }
            let mut inside = Vec::new();
            match value.as_str().filter(|_| is_final && names_statement(key)) {
                Some(text) => {
                    inside = self.read_statements(&without_thinking(text), reader);
                    is_open |= inside.is_empty() && says_something(value);
                }
                None => {
                    let is_call = is_call
                        || is_final
                        || is_named(key)
                        || ARGUMENT_KEYS.contains(&plain_key(key).as_str());
                    self.read_value(value, is_call, reader, &mut inside);
                }
            }
            if is_final {
                inside.iter_mut().for_each(|one| one.mark = Mark::Final);
            } else if is_alternative(key) {
                inside.iter_mut().for_each(|one| one.mark = one.mark.min(Mark::Alternative));
            }
            let (finals, others): (Vec<Found>, Vec<Found>) =
                inside.into_iter().partition(|one| one.mark == Mark::Final);
            match is_last(key) {
                true => last.extend(finals),
                false => found.extend(finals),
            }
            plain.extend(others.into_iter().filter(|_| !is_only_final));
        }
        // A correction says that there is another statement.
        let is_correction = found.len() > before && last.is_empty();
        // One that is called final replaces corrections, and both what they correct.
        if !last.is_empty() {
            found.truncate(before);
            found.extend(last);
        }
        let is_corrected = found.len() > before;
        let is_about_other = is_correction || !plain.is_empty() || object.iter().any(is_draft);
        if !is_corrected {
            found.extend(plain);
        }
        if !is_answered && found.len() == before {
            found.extend(steps);
        }
        if !is_corrected || !is_about_other {
            if verdict == Verdict::Refused {
                found.truncate(before);
            }
            let is_doubted = verdict == Verdict::Doubted || is_open;
            found[before..].iter_mut().for_each(|one| one.is_doubted |= is_doubted);
        }
        if is_chosen(object) {
            found[before..].iter_mut().for_each(|one| one.mark = Mark::Final);
        }
        let confidence = match entry(object, &CONFIDENCE_KEYS) {
            Some(Value::Number(number)) => number.as_f64().and_then(confidence::scale),
            Some(Value::String(text)) => confidence::value(text),
            _ => None,
        };
        found[before..].iter_mut().for_each(|one| one.confidence = confidence.or(one.confidence));
    }

    /// The statements of the last of several steps: one that is called final, else the last one.
    fn read_steps(&mut self, steps: &Value, reader: &mut Reader, found: &mut Vec<Found>) {
        for step in steps.as_array().into_iter().flatten() {
            let mut inside = Vec::new();
            self.read_value(step, false, reader, &mut inside);
            let is_final = found.iter().any(|one| one.mark == Mark::Final);
            if !inside.is_empty() && (!is_final || inside.iter().any(|one| one.mark == Mark::Final))
            {
                *found = inside;
            }
        }
    }

    /// The statements that the value of a key of a statement holds, fenced or bare.
    fn read_statements(&mut self, text: &str, reader: &mut Reader) -> Vec<Found> {
        let found = from_blocks(text, reader);
        if !found.is_empty() {
            return found.into_iter().map(|one: Found| Found { confidence: None, ..one }).collect();
        }
        from_code(text, 0..text.len(), 0, true, reader)
    }
}

/// The lines of one statement, of which a list holds each as a text; `None` for a list of whole
/// statements or of anything else.
fn join_lines(list: &[Value], reader: &mut Reader) -> Option<String> {
    let lines = list.iter().map(Value::as_str).collect::<Option<Vec<&str>>>()?;
    let is_begun = lines.iter().any(|line| first_keyword(line).is_some());
    let is_list = lines.len() < 2
        || !is_begun
        || lines.iter().all(|line| line.contains("```") || reader.classify(line).is_some());
    (!is_list).then(|| lines.join("\n"))
}

/// The part of an object that it names as its choice: `"best": 2` for the one of a list with that
/// number, `"selected": "b"` for the entry `b`.
fn find_choice(object: &Map<String, Value>) -> Option<&Value> {
    let choices = object.iter().filter(|(key, _)| is_choice(key)).map(|(_, value)| value);
    let mut names = choices.filter_map(|value| match value {
        Value::String(name) if !name.trim().is_empty() => Some(name.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    });
    names.find_map(|name| part_of_name(object, &name))
}

/// The part of an object that has this name: its entry, the one of a list with that number, or one
/// of an object below.
fn part_of_name<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    fn is_named(part: &Value, name: &str) -> bool {
        const IDS: [&str; 8] =
            ["id", "number", "name", "label", "index", "option", "candidate", "key"];
        let mut ids = IDS.iter().filter_map(|key| part.get(key));
        ids.any(|id| match id {
            Value::String(id) => id == name,
            Value::Number(id) => name.parse().is_ok_and(|name: Number| name == *id),
            _ => false,
        })
    }
    let mut listed = object.values().filter_map(Value::as_array).flatten();
    let mut below = object.values().filter_map(Value::as_object);
    object
        .get(name)
        .or_else(|| listed.find(|part| is_named(part, name)))
        .or_else(|| below.find_map(|part| part.get(name)))
}

/// Returns true if a document decides alone what the reply answers: one that is all of the text, or
/// one that names a key twice or has nothing under a key of a statement.
fn is_answered_by_document(text: &str, depth: usize) -> bool {
    let bare = text.trim();
    if !bare.contains('{') {
        return false;
    }
    fn is_unclear(depth: usize, document: &str) -> bool {
        match strict(document, depth) {
            Some(value) => declines(&value),
            // The same key twice.
            None => serde_json::from_str::<Value>(document).is_ok(),
        }
    }
    if bare.starts_with(['{', '[']) && serde_json::from_str::<Value>(bare).is_ok() {
        return true;
    }
    fences(text).into_iter().any(|fence| {
        let body = text[fence.body].trim();
        body.starts_with('{') && is_unclear(depth, body)
    }) || documents(text, depth).iter().any(|(_, value)| declines(value))
}

/// Returns true if a document has a key for a statement and no statement under it, or takes it
/// back.
fn declines(value: &Value) -> bool {
    let Some(object) = value.as_object() else { return false };
    has_no_answer(value)
        || object.keys().any(|key| is_named(key)) && verdict(object) >= Verdict::Refused
}

/// Returns true if a document has nothing under a key for a statement, or says that there is no
/// answer.
pub(super) fn has_no_answer(value: &Value) -> bool {
    let Some(object) = value.as_object() else { return false };
    object.iter().find(|(key, _)| is_named(key)).is_some_and(|(_, sql)| {
        sql.is_null()
            || sql.as_str().is_some_and(|text| text.trim().is_empty())
            || verdict(object) == Verdict::Denied
    })
}

/// Returns true for an entry with a statement that is no answer, such as a draft.
fn is_draft((key, value): (&String, &Value)) -> bool {
    is_aside(key)
        && value.as_str().is_some_and(|text| text.contains("```") || looks_like_query(text))
}

/// Returns true if no object of a document states a confidence.
fn is_silent(value: &Value) -> bool {
    value
        .as_object()
        .is_none_or(|object| entry(object, &CONFIDENCE_KEYS).is_none_or(Value::is_null))
}

/// The value under the first of the object's keys that is one of these.
fn entry<'a>(object: &'a Map<String, Value>, keys: &[&str]) -> Option<&'a Value> {
    object.iter().find(|(key, _)| keys.contains(&plain_key(key).as_str())).map(|(_, value)| value)
}
