//! Functions that could run for minutes on long arguments, in versions that end with the
//! statement's time. The engine checks a deadline between the steps of its programs, and a function
//! is one step.
//!
//! Results are those of the engine's own functions, whose C code the versions here follow line by
//! line.

use std::ffi::{CStr, c_int};

use rusqlite::Connection;
use rusqlite::ffi;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;

use super::call::{Call, Checked, Copied, Function, Outcome, Stop, call, register};
use crate::connect::LENGTH;
use crate::error;

/// The product of the sizes of a document and its patch: the engine compares each key of the one
/// with each of the other.
const PATCHED: usize = 1 << 31;

/// Bytes that the engine takes for each character of the set that is trimmed.
const CHARACTER: usize = 12;

/// Puts the checked versions in the place of the engine's.
pub(super) fn replace(connection: &Connection) -> rusqlite::Result<()> {
    let functions: [(&CStr, c_int, Function); 11] = [
        (c"instr", 2, call::<Instr>),
        (c"replace", 3, call::<Replace>),
        (c"ltrim", 2, call::<Trim<true, false>>),
        (c"rtrim", 2, call::<Trim<false, true>>),
        (c"trim", 2, call::<Trim<true, true>>),
        (c"unhex", 2, call::<Unhex>),
        (c"like", 2, call::<Like>),
        (c"like", 3, call::<Like>),
        (c"glob", 2, call::<Glob>),
        (c"json_patch", 2, call::<Patch<false>>),
        (c"jsonb_patch", 2, call::<Patch<true>>),
    ];
    functions
        .iter()
        .try_for_each(|(name, count, function)| register(connection, name, *count, 0, *function))
}

/// `instr(text, part)`: the place of the part, in characters from 1, or in bytes for two blobs.
struct Instr;

impl Checked for Instr {
    fn run(call: &Call<'_>) -> Outcome {
        let kind = call.kind(0)?;
        let part_kind = call.kind(1)?;
        if kind == ffi::SQLITE_NULL || part_kind == ffi::SQLITE_NULL {
            return Ok(());
        }
        if call.size(1)? == 0 {
            call.give_number(1);
            return Ok(());
        }
        let place = match (kind == ffi::SQLITE_BLOB, part_kind == ffi::SQLITE_BLOB) {
            (true, true) => find(call, call.blob(0)?, call.blob(1)?, false)?,
            (false, false) => find(call, call.text(0)?, call.text(1)?, true)?,
            _ => {
                let whole = Copied::new(call.value(0)?);
                let part = Copied::new(call.value(1)?);
                find(call, whole.text()?, part.text()?, true)?
            }
        };
        call.give_number(place);
        Ok(())
    }
}

/// Behind both texts stands a NUL, which an empty part begins with; a part is empty that a
/// conversion made so.
fn find(call: &Call<'_>, whole: &[u8], part: &[u8], is_text: bool) -> Result<i64, Stop> {
    let first = part.first().copied().unwrap_or(0);
    let mut at = 0;
    let mut place = 1;
    while whole.len() - at >= part.len() {
        if whole.get(at).copied().unwrap_or(0) == first {
            call.work(part.len())?;
            if whole[at..].starts_with(part) {
                return Ok(place);
            }
        }
        place += 1;
        at += 1;
        while is_text && whole.get(at).is_some_and(|byte| byte & 0xc0 == 0x80) {
            at += 1;
        }
    }
    Ok(0)
}

/// The function `replace(text, part, by)`.
struct Replace;

impl Checked for Replace {
    fn run(call: &Call<'_>) -> Outcome {
        let whole = call.text(0)?;
        let part = call.text(1)?;
        let Some(first) = part.first().filter(|first| **first != 0) else {
            call.give_text(whole);
            return Ok(());
        };
        let by = call.text(2)?;
        let limit = call.limit(ffi::SQLITE_LIMIT_LENGTH);
        call.reserve(whole.len() + 1)?;
        let mut made = Vec::with_capacity(whole.len());
        let mut at = 0;
        let mut size = whole.len();
        while whole.len() - at >= part.len() {
            if whole[at] == *first {
                call.work(part.len())?;
                if whole[at..].starts_with(part) {
                    size += by.len().saturating_sub(part.len());
                    if size > limit {
                        return Err(Stop::Code(ffi::SQLITE_TOOBIG));
                    }
                    made.extend_from_slice(by);
                    at += part.len();
                    continue;
                }
            }
            made.push(whole[at]);
            at += 1;
        }
        made.extend_from_slice(&whole[at..]);
        call.give_text(&made);
        Ok(())
    }
}

/// `trim(text, characters)`, at the beginning, the end, or both.
struct Trim<const BEGIN: bool, const END: bool>;

impl<const BEGIN: bool, const END: bool> Checked for Trim<BEGIN, END> {
    fn run(call: &Call<'_>) -> Outcome {
        let mut text = call.text(0)?;
        let set = until_nul(call.text(1)?);
        let mut characters = Vec::new();
        let mut at = 0;
        while at < set.len() {
            let start = at;
            skip(set, &mut at);
            characters.push(&set[start..at]);
        }
        call.reserve(characters.len() * CHARACTER)?;
        while BEGIN && !text.is_empty() {
            call.work(characters.len())?;
            let Some(found) = characters.iter().find(|character| text.starts_with(character))
            else {
                break;
            };
            text = &text[found.len()..];
        }
        while END && !text.is_empty() {
            call.work(characters.len())?;
            let Some(found) = characters.iter().find(|character| text.ends_with(character)) else {
                break;
            };
            text = &text[..text.len() - found.len()];
        }
        call.give_text(text);
        Ok(())
    }
}

/// The function `unhex(digits, ignored)`.
struct Unhex;

impl Checked for Unhex {
    fn run(call: &Call<'_>) -> Outcome {
        let digits = until_nul(call.text(0)?);
        let ignored = call.text(1)?;
        let mut made = Vec::with_capacity(digits.len() / 2);
        let mut at = 0;
        let digit = |at: usize| digits.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        while at < digits.len() {
            if digit(at).is_none() {
                call.work(ignored.len())?;
                let wanted = character(digits, &mut at);
                let mut place = 0;
                let mut others = std::iter::from_fn(|| {
                    (place < ignored.len()).then(|| character(ignored, &mut place))
                });
                if !others.any(|other| other == wanted) {
                    return Ok(());
                }
                continue;
            }
            let (Some(high), Some(low)) = (digit(at), digit(at + 1)) else { return Ok(()) };
            made.push((high << 4 | low) as u8);
            at += 2;
        }
        call.give_blob(&made);
        Ok(())
    }
}

/// `like(pattern, text)` and `like(pattern, text, escape)`.
struct Like;

#[allow(unsafe_code)]
impl Checked for Like {
    fn run(call: &Call<'_>) -> Outcome {
        // The pattern's size comes before everything else, as it does in the engine.
        let sized = call.pattern();
        if matches!(sized, Err(Stop::Message(_) | Stop::Code(_))) {
            return sized.map(drop);
        }
        let escape = if call.values.len() == 3 {
            let escape = until_nul(call.text(2)?);
            let mut at = 0;
            let escape = (character(escape, &mut at), escape.len());
            if at == 0 || at < escape.1 {
                return Err(Stop::Message(
                    "ESCAPE expression must be a single character".to_owned(),
                ));
            }
            escape.0
        } else {
            0
        };
        let (pattern, text) = sized?;
        let wildcard = u8::try_from(escape).ok().filter(|escape| matches!(escape, b'%' | b'_'));
        let is_match = match wildcard {
            // SAFETY: a NUL stands behind both texts.
            None => unsafe {
                ffi::sqlite3_strlike(pattern.as_ptr().cast(), text.as_ptr().cast(), escape) == 0
            },
            Some(wildcard) => {
                // The engine's function that others may call lets wildcards be no escapes: another
                // byte, which the pattern lacks, takes its place.
                let pattern = until_nul(pattern);
                let other = (1..b' ').find(|byte| !pattern.contains(byte)).unwrap_or(1);
                let mut pattern: Vec<u8> = pattern
                    .iter()
                    .map(|byte| if *byte == wildcard { other } else { *byte })
                    .collect();
                // An escaped escape is itself.
                let mut at = 0;
                while at + 1 < pattern.len() {
                    if pattern[at] == other {
                        at += 1;
                        if pattern[at] == other {
                            pattern[at] = wildcard;
                        }
                    }
                    at += 1;
                }
                pattern.push(0);
                // SAFETY: as above.
                unsafe {
                    ffi::sqlite3_strlike(
                        pattern.as_ptr().cast(),
                        text.as_ptr().cast(),
                        other.into(),
                    ) == 0
                }
            }
        };
        call.matches(is_match);
        Ok(())
    }
}

/// The function `glob(pattern, text)`, and with it the operator `GLOB`.
struct Glob;

#[allow(unsafe_code)]
impl Checked for Glob {
    fn run(call: &Call<'_>) -> Outcome {
        let (pattern, text) = call.pattern()?;
        // SAFETY: a NUL stands behind both texts.
        let is_match =
            unsafe { ffi::sqlite3_strglob(pattern.as_ptr().cast(), text.as_ptr().cast()) == 0 };
        call.matches(is_match);
        Ok(())
    }
}

/// `json_patch(document, patch)` and `jsonb_patch`: the engine's own functions, called on a
/// separate connection where they are not replaced, for documents that they merge in about a
/// second.
struct Patch<const BINARY: bool>;

#[allow(unsafe_code)]
impl<const BINARY: bool> Checked for Patch<BINARY> {
    fn run(call: &Call<'_>) -> Outcome {
        let document = argument(call, 0)?;
        let patch = argument(call, 1)?;
        let size =
            |value: &ValueRef<'_>| value.as_bytes_or_null().ok().flatten().map_or(0, <[u8]>::len);
        if size(&document).saturating_mul(size(&patch)) > PATCHED {
            return Err(Stop::Code(ffi::SQLITE_TOOBIG));
        }
        // As if the time had passed that merging the longest documents takes.
        call.work(size(&document).saturating_mul(size(&patch)) / 1_000)?;
        let merged = merge(BINARY, document, patch, |merged| match merged {
            ValueRef::Text(text) => {
                call.give_text(text);
                // SAFETY: the context of this call. The engine marks JSON by this letter.
                unsafe { ffi::sqlite3_result_subtype(call.context, u32::from(b'J')) };
            }
            ValueRef::Blob(blob) => call.give_blob(blob),
            _ => {}
        });
        merged.map_err(|error| Stop::Message(error::message(&error)))
    }
}

fn merge(
    is_binary: bool,
    document: ValueRef<'_>,
    patch: ValueRef<'_>,
    give: impl FnOnce(ValueRef<'_>),
) -> rusqlite::Result<()> {
    thread_local! {
        static ENGINE: std::cell::OnceCell<Connection> = const { std::cell::OnceCell::new() };
    }
    ENGINE.with(|engine| {
        if engine.get().is_none() {
            let opened = Connection::open_in_memory()?;
            opened.set_limit(Limit::SQLITE_LIMIT_LENGTH, LENGTH)?;
            let _ = engine.set(opened);
        }
        let Some(engine) = engine.get() else { return Ok(()) };
        let name = if is_binary { "jsonb_patch" } else { "json_patch" };
        let mut statement = engine.prepare_cached(&format!("SELECT {name}(?1, ?2)"))?;
        let arguments = [document, patch].map(rusqlite::types::ToSqlOutput::Borrowed);
        statement.query_row(arguments, |row| row.get_ref(0).map(give))
    })
}

#[allow(unsafe_code)]
fn argument<'a>(call: &Call<'a>, at: usize) -> Result<ValueRef<'a>, Stop> {
    let value = call.value(at)?;
    Ok(match call.kind(at)? {
        // SAFETY: a value of this call, of that type.
        ffi::SQLITE_INTEGER => ValueRef::Integer(unsafe { ffi::sqlite3_value_int64(value) }),
        // SAFETY: as above.
        ffi::SQLITE_FLOAT => ValueRef::Real(unsafe { ffi::sqlite3_value_double(value) }),
        ffi::SQLITE_TEXT => ValueRef::Text(call.text(at)?),
        ffi::SQLITE_BLOB => ValueRef::Blob(call.blob(at)?),
        _ => ValueRef::Null,
    })
}

/// Returns a text as C sees it: up to its first NUL.
fn until_nul(text: &[u8]) -> &[u8] {
    text.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// Goes behind a character: a byte, and all that follow and only continue it.
fn skip(text: &[u8], at: &mut usize) {
    let first = text.get(*at).copied().unwrap_or(0);
    *at += 1;
    while first >= 0xc0 && text.get(*at).is_some_and(|byte| byte & 0xc0 == 0x80) {
        *at += 1;
    }
}

/// The character at a place, as the engine decodes it, valid or not; goes behind it.
fn character(text: &[u8], at: &mut usize) -> u32 {
    let start = *at;
    if start >= text.len() {
        return 0;
    }
    skip(text, at);
    let first = u32::from(text[start]);
    if first < 0xc0 {
        return first;
    }
    let lead = match first {
        0xc0..0xe0 => first & 0x1f,
        0xe0..0xf0 => first & 0x0f,
        0xf0..0xf8 => first & 0x07,
        0xf8..=0xfb => first & 0x03,
        0xfd => 1,
        _ => 0,
    };
    let code = text[start + 1..*at]
        .iter()
        .fold(lead, |code, byte| (code << 6).wrapping_add(u32::from(byte & 0x3f)));
    let is_valid = code >= 0x80 && code & 0xffff_f800 != 0xd800;
    if is_valid { code } else { 0xfffd }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::RecvTimeoutError;
    use std::time::{Duration, Instant};

    use proptest::prelude::*;
    use rusqlite::types::{ToSqlOutput, Value};

    use super::*;
    use crate::memory;

    /// The engine with its own functions, and with the checked ones.
    fn both(encoding: &str) -> [Connection; 2] {
        memory::count_memory();
        fn open(encoding: &str) -> Connection {
            let connection = Connection::open_in_memory().unwrap();
            connection
                .execute_batch(&format!("PRAGMA encoding = '{encoding}'; CREATE TABLE t(a)"))
                .unwrap();
            connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, 3_000).unwrap();
            connection.set_limit(Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 20).unwrap();
            connection
        }
        let pair = [open(encoding), open(encoding)];
        replace(&pair[1]).unwrap();
        pair
    }

    /// The result with its type, or the error's words.
    fn result(connection: &Connection, sql: &str, arguments: &[Value]) -> Result<Value, String> {
        let text = |bytes: &[u8]| Value::Blob([b"text:", bytes].concat());
        let mut statement =
            connection.prepare_cached(sql).map_err(|error| error::message(&error))?;
        // A text of any bytes stands in a blob that begins so.
        let arguments = arguments.iter().map(|value| match value {
            Value::Blob(bytes) => match bytes.strip_prefix(b"text:") {
                Some(text) => ToSqlOutput::Borrowed(ValueRef::Text(text)),
                None => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
            },
            other => ToSqlOutput::Borrowed(other.into()),
        });
        let found = statement.query_row(rusqlite::params_from_iter(arguments), |row| {
            row.get_ref(0).map(|value: ValueRef<'_>| match value {
                ValueRef::Text(bytes) => text(bytes),
                ValueRef::Null => Value::Null,
                ValueRef::Integer(number) => Value::Integer(number),
                ValueRef::Real(number) => Value::Real(number),
                ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
            })
        });
        found.map_err(|error| error::message(&error))
    }

    /// Values of few different bytes, so that they are found in each other.
    fn value() -> impl Strategy<Value = Value> {
        let parts = prop::sample::select(vec![
            &b"a"[..],
            b"b",
            b"A",
            b"%",
            b"_",
            b"*",
            b"?",
            b"[",
            b"]",
            b"^",
            b"-",
            b"1",
            b"0f",
            b" ",
            b"\0",
            b"\x01",
            b"\xff",
            b"\xc3",
            b"\xa9",
            b"\xa9\xa9",
            b"\xf0\x9f",
            "\u{e9}".as_bytes(),
            "\u{1f600}".as_bytes(),
            "\u{fffd}".as_bytes(),
        ]);
        let bytes = || prop::collection::vec(parts.clone(), 0..9).prop_map(|parts| parts.concat());
        prop_oneof![
            1 => Just(Value::Null),
            1 => (-20_i64..200).prop_map(Value::Integer),
            1 => (-8_i64..80).prop_map(|eighths| Value::Real(eighths as f64 / 8.0)),
            9 => bytes().prop_map(|bytes| Value::Blob([b"text:", &bytes[..]].concat())),
            2 => bytes().prop_map(Value::Blob),
        ]
    }

    const CALLS: [(&str, usize); 11] = [
        ("SELECT instr(?1, ?2)", 2),
        ("SELECT replace(?1, ?2, ?3)", 3),
        ("SELECT ltrim(?1, ?2)", 2),
        ("SELECT rtrim(?1, ?2)", 2),
        ("SELECT trim(?1, ?2)", 2),
        ("SELECT unhex(?1, ?2)", 2),
        ("SELECT ?1 LIKE ?2", 2),
        ("SELECT ?1 LIKE ?2 ESCAPE ?3", 3),
        ("SELECT ?1 GLOB ?2", 2),
        ("SELECT json_patch(?1, ?2)", 2),
        ("SELECT jsonb_patch(?1, ?2)", 2),
    ];

    /// Returns true for a blob that may hold the text of a document.
    fn is_document_in_blob(value: &Value) -> bool {
        matches!(value, Value::Blob(bytes) if !bytes.starts_with(b"text:"))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn results_are_those_of_the_engine(
            values in prop::collection::vec(value(), 3), repeat in prop::option::of(1_usize..400)
        ) {
            thread_local! {
                static ENGINES: [[Connection; 2]; 2] = [both("UTF-8"), both("UTF-16le")];
            }
            let mut values = values;
            // Results at and over the length limit.
            if let (Some(repeat), Value::Blob(bytes)) =
                (repeat, &mut values[0]) && bytes.starts_with(b"text:") {
                *bytes = [b"text:", bytes[5..].repeat(repeat).as_slice()].concat();
            }
            ENGINES.with(|engines| {
                for (encoding, [engine, checked]) in engines.iter().enumerate() {
                    for (sql, count) in CALLS {
                        let arguments = &values[..count];
                        // Documents are merged by an engine in UTF-8. Of a blob that holds the text
                        // of a document, which SQLite takes for the sake of old programs, the
                        // encoding of the database decides its result.
                        let is_merged = encoding > 0 && sql.contains("_patch");
                        if is_merged && arguments.iter().any(is_document_in_blob) {
                            continue;
                        }
                        let expected = result(engine, sql, arguments);
                        prop_assert_eq!(
                            result(checked, sql, arguments), expected, "{}: {:?}", sql, arguments
                        );
                    }
                }
                Ok(())
            })?;
        }
    }

    #[test]
    fn patches_are_merged_and_marked_as_json() {
        let engines = both("UTF-8");
        for sql in [
            "SELECT json_patch('{\"a\":1,\"b\":[1]}', '{\"a\":null,\"c\":{\"d\":2}}')",
            "SELECT json_array(json_patch('{\"a\":1}', '{\"b\":1.50}'))",
            "SELECT json(jsonb_patch('{\"a\":1}', jsonb('{a:2}')))",
            "SELECT json_patch('{', '{}')",
            "SELECT json_patch(1, 2.5)",
        ] {
            let [expected, found] = [0, 1].map(|at| result(&engines[at], sql, &[]));
            assert_eq!(found, expected, "{sql}");
        }
    }

    #[test]
    fn functions_end_with_the_time_of_their_statement() {
        let [_, checked] = both("UTF-8");
        checked.set_limit(Limit::SQLITE_LIMIT_LENGTH, LENGTH).unwrap();
        checked.set_limit(Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200).unwrap();
        let long = Value::Text("a".repeat(1_900_000));
        let half = Value::Text("a".repeat(900_000) + "b");
        let other = Value::Text("c".repeat(160_000));
        let short = Value::Text("a".repeat(190) + "b");
        let late = |sql: &str, arguments: &[Value]| {
            memory::begin(usize::MAX, Instant::now());
            let result = result(&checked, sql, arguments);
            memory::end();
            result.unwrap_err()
        };
        let likes = format!("SELECT {}", vec!["?1 LIKE '%' || ?2"; 100].join(" + "));
        for (sql, arguments) in [
            ("SELECT instr(?1, ?2)", [&long, &half]),
            ("SELECT replace(?1, ?2, 'x')", [&long, &half]),
            ("SELECT trim(?1, ?2 || 'a')", [&long, &other]),
            ("SELECT rtrim(?1, ?2 || 'a')", [&long, &other]),
            ("SELECT unhex(replace(substr(?1, 1, 900), 'a', 'z'), ?2 || 'z')", [&long, &other]),
            (&likes, [&long, &short]),
            (&likes.replace("LIKE '%'", "GLOB '*'"), [&long, &short]),
        ] {
            let error = late(sql, &arguments.map(Clone::clone));
            assert!(error == "interrupted" || error == "out of memory", "{sql}: {error}");
        }
        // Nor do they outlive a connection that somebody else interrupts.
        let handle = checked.get_interrupt_handle();
        memory::begin(usize::MAX, Instant::now() + Duration::from_secs(3_600));
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let interrupting = std::thread::spawn(move || {
            while ended
                .recv_timeout(Duration::from_millis(20))
                .is_err_and(|error| error == RecvTimeoutError::Timeout)
            {
                handle.interrupt();
            }
        });
        let interrupted = result(&checked, "SELECT instr(?1, ?2)", &[long, half]);
        memory::end();
        drop(end);
        interrupting.join().unwrap();
        assert_eq!(interrupted, Err("interrupted".to_owned()));
    }

    #[test]
    fn documents_that_take_long_to_merge_are_refused() {
        let [_, checked] = both("UTF-8");
        checked.set_limit(Limit::SQLITE_LIMIT_LENGTH, LENGTH).unwrap();
        fn object(from: u32) -> String {
            (from..from + 20_000).map(|key| format!("\"{key}\":1")).collect::<Vec<_>>().join(",")
        }
        let documents = [0, 1_000_000].map(|from| Value::Text(format!("{{{}}}", object(from))));
        assert_eq!(
            result(&checked, "SELECT json_patch(?1, ?2)", &documents),
            Err("string or blob too big".to_owned())
        );
    }
}
