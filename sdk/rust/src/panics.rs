//! Reports a panic in a component to its author: one line with its place and its message.
//!
//! On `wasm32-wasip2` a panic aborts, so that no failure can be returned. The hook writes the line
//! to the standard error output, whose last line the host shows in the error of the role call.

use std::cell::Cell;
use std::io::Write;
use std::panic::{PanicHookInfo, set_hook};
use std::sync::Once;

use crate::bindings::trace;
use crate::text::line;

// The most characters of a message. The host drops lines of more than 2 KiB.
const MESSAGE: usize = 500;

static HOOK: Once = Once::new();

thread_local! {
    static NOTE: Cell<Option<fn(&str)>> = const { Cell::new(None) };
}

/// Reports panics from now on. `note` passes the line on to the log of the search; `None` during
/// calls that may not reach it.
pub fn report(note: Option<fn(&str)>) {
    NOTE.set(note);
    HOOK.call_once(|| set_hook(Box::new(report_panic)));
}

/// Writes a line into the log of the search. Only roles whose world has the port `trace` may use
/// it.
pub fn note(text: &str) {
    trace::note(trace::Level::Debug, text);
}

fn report_panic(info: &PanicHookInfo<'_>) {
    let text = describe_panic(
        info.payload_as_str(),
        info.location().map(|place| (place.file(), place.line())),
    );
    // Without a place to write to, the note is all there is.
    let _ = writeln!(std::io::stderr(), "{text}");
    // A panic within the note would call this again.
    if let Some(note) = NOTE.take() {
        note(&text);
    }
}

fn describe_panic(message: Option<&str>, place: Option<(&str, u32)>) -> String {
    let message = line(message.unwrap_or("a value that is no text"), MESSAGE);
    match place {
        Some((file, number)) => format!("panicked at {file}:{number}: {message}"),
        None => format!("panicked: {message}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_one_line_with_its_place() {
        assert_eq!(
            describe_panic(Some("no\nrows"), Some(("src/lib.rs", 7))),
            "panicked at src/lib.rs:7: no rows"
        );
        assert_eq!(describe_panic(None, None), "panicked: a value that is no text");
        assert_eq!(describe_panic(Some(&"x".repeat(600)), None).chars().count(), 510);
    }
}
