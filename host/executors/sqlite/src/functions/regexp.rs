//! `text REGEXP pattern`, for which the engine leaves the function to the program. Patterns are
//! those of the crate `regex`, whose time is in proportion to the product of the sizes of the
//! program and of the text.

use std::cell::RefCell;

use regex::bytes::{Regex, RegexBuilder};
use rusqlite::Connection;

use super::call::{Call, Checked, Outcome, Stop, call, register};

/// Bytes of a pattern: as many as `LIKE` takes.
const PATTERN: usize = 200;
/// Bytes that a compiled pattern may have, tried in turn.
const PROGRAMS: [usize; 3] = [16 << 10, 64 << 10, 256 << 10];
/// The product of the bytes of a program and of a text: about two seconds where each part of the
/// program could match at each place.
const MATCHED: usize = 6 << 30;
/// Compiled patterns that are kept.
const KEPT: usize = 8;

pub(super) fn add(connection: &Connection) -> rusqlite::Result<()> {
    register(connection, c"regexp", 2, 0, call::<Regexp>)
}

/// A compiled pattern, and the bytes that its program has at most.
type Compiled = (Regex, usize);

thread_local! {
    /// The last patterns: as a rule those of the next row, of which a statement may have several.
    static KNOWN: RefCell<Vec<(Vec<u8>, Compiled)>> = const { RefCell::new(Vec::new()) };
}

/// The function `regexp(pattern, text)`, and with it the operator `REGEXP`.
struct Regexp;

impl Checked for Regexp {
    fn run(call: &Call<'_>) -> Outcome {
        let pattern = call.text(0)?;
        let text = call.text(1)?;
        let is_match = KNOWN.with_borrow_mut(|known| {
            let place = match known
                .iter()
                .position(|(one, _): &(Vec<u8>, Compiled)| one.as_slice() == pattern)
            {
                Some(place) => place,
                None => {
                    let compiled = compile(pattern)?;
                    if known.len() == KEPT {
                        known.remove(0);
                    }
                    known.push((pattern.to_owned(), compiled));
                    known.len() - 1
                }
            };
            let (_, (regex, bytes)) = &known[place];
            if text.len().saturating_mul(*bytes) > MATCHED {
                let message = format!(
                    "a text of {} bytes is too long for this pattern of REGEXP",
                    text.len()
                );
                return Err(Stop::Message(message));
            }
            // In the worst case each part of the program is looked at for each byte.
            call.work(text.len().saturating_mul(*bytes >> 10))?;
            Ok(regex.is_match(text))
        })?;
        call.give_number(is_match.into());
        Ok(())
    }
}

fn compile(pattern: &[u8]) -> Result<Compiled, Stop> {
    let refused = |reason: &str| Stop::Message(format!("the pattern of REGEXP {reason}"));
    if pattern.len() > PATTERN {
        return Err(refused(&format!("is longer than {PATTERN} bytes")));
    }
    let text = std::str::from_utf8(pattern).map_err(|_| refused("is not UTF-8"))?;
    for bytes in PROGRAMS {
        match RegexBuilder::new(text).size_limit(bytes).dfa_size_limit(4 * bytes).build() {
            Ok(regex) => return Ok((regex, bytes)),
            Err(regex::Error::CompiledTooBig(_)) => {}
            Err(_) => return Err(refused("is not a regular expression")),
        }
    }
    Err(refused("is too large once compiled"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(sql: &str) -> Result<Option<bool>, String> {
        let connection = Connection::open_in_memory().unwrap();
        add(&connection).unwrap();
        connection.query_row(sql, [], |row| row.get(0)).map_err(|error| error.to_string())
    }

    #[test]
    fn texts_match() {
        for (sql, expected) in [
            ("SELECT 'Vienna' REGEXP '^V.*a$'", Some(true)),
            ("SELECT 'Graz' REGEXP '^V'", Some(false)),
            ("SELECT 'Graz' NOT REGEXP '^V'", Some(true)),
            ("SELECT 2024 REGEXP '^20[0-9]{2}$'", Some(true)),
            ("SELECT 'Köln' REGEXP '^K\\wln$'", Some(true)),
            ("SELECT NULL REGEXP 'a'", None),
            ("SELECT 'a' REGEXP NULL", None),
        ] {
            assert_eq!(ask(sql), Ok(expected), "{sql}");
        }
    }

    #[test]
    fn the_patterns_of_a_statement_are_compiled_once() {
        let known = || {
            KNOWN.with_borrow(|known| {
                known.iter().map(|(pattern, _)| pattern.clone()).collect::<Vec<_>>()
            })
        };
        let rows = "(VALUES ('a'), ('b')) WHERE column1 REGEXP 'a' OR column1 REGEXP 'b'";
        assert_eq!(ask(&format!("SELECT count(*) = 2 FROM {rows}")), Ok(Some(true)));
        assert_eq!(known(), [b"a".to_vec(), b"b".to_vec()]);
        for number in 0..2 * KEPT {
            assert_eq!(ask(&format!("SELECT 'x' REGEXP '^{number}$'")), Ok(Some(false)));
        }
        assert_eq!(known().len(), KEPT);
    }

    #[test]
    fn patterns_are_bounded() {
        for (sql, message) in [
            ("SELECT 'a' REGEXP '('".to_owned(), "is not a regular expression"),
            (format!("SELECT 'a' REGEXP '{}'", "a".repeat(201)), "is longer than 200 bytes"),
            ("SELECT 'a' REGEXP '(\\p{L}{16}7){64}'".to_owned(), "is too large once compiled"),
            (
                "SELECT hex(zeroblob(900000)) REGEXP '\\p{L}{4}7'".to_owned(),
                "is too long for this pattern",
            ),
        ] {
            assert!(ask(&sql).is_err_and(|error| error.contains(message)), "{sql}");
        }
    }
}
