//! A call of one of the functions here, as the function sees it, and the registration of functions.

use std::cell::Cell;
use std::ffi::{CStr, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use rusqlite::Connection;
use rusqlite::ffi::{self, sqlite3_context, sqlite3_value};

use crate::memory;

/// Bytes that are worked on between two checks of the deadline.
const STRIDE: usize = 1 << 20;

thread_local! {
    /// Bytes that functions worked on since the clock was read.
    static WORKED: Cell<usize> = const { Cell::new(0) };
}

/// The reason why a function returns nothing; the engine's result then holds NULL.
pub(super) enum Stop {
    Null,
    Code(c_int),
    Message(String),
}

pub(super) type Outcome = Result<(), Stop>;

pub(super) type Function =
    unsafe extern "C" fn(*mut sqlite3_context, c_int, *mut *mut sqlite3_value);

/// The flags of all functions here: they are free of side effects, and usable in views of any file.
pub(super) const FLAGS: c_int =
    ffi::SQLITE_UTF8 | ffi::SQLITE_DETERMINISTIC | ffi::SQLITE_INNOCUOUS;

/// Registers a function of one row; a negative `count` takes any number of arguments.
#[allow(unsafe_code)]
pub(super) fn register(
    connection: &Connection,
    name: &CStr,
    count: c_int,
    data: usize,
    function: Function,
) -> rusqlite::Result<()> {
    let flags = FLAGS | ffi::SQLITE_RESULT_SUBTYPE;
    // SAFETY: the name lives for ever, the function fulfils the contract of one, and its data is a
    // number.
    let code = unsafe {
        let db = connection.handle();
        let data = std::ptr::without_provenance_mut::<c_void>(data);
        ffi::sqlite3_create_function_v2(
            db,
            name.as_ptr(),
            count,
            flags,
            data,
            Some(function),
            None,
            None,
            None,
        )
    };
    outcome(code)
}

/// The engine's code as a result.
pub(super) fn outcome(code: c_int) -> rusqlite::Result<()> {
    match code {
        ffi::SQLITE_OK => Ok(()),
        _ => Err(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)),
    }
}

/// A function of one row, as the engine calls it.
pub(super) trait Checked {
    fn run(call: &Call<'_>) -> Outcome;
}

#[allow(unsafe_code)]
pub(super) unsafe extern "C" fn call<F: Checked>(
    context: *mut sqlite3_context,
    count: c_int,
    values: *mut *mut sqlite3_value,
) {
    // SAFETY: the engine passes as many values as it counts.
    let values = unsafe { std::slice::from_raw_parts(values, usize::try_from(count).unwrap_or(0)) };
    let call = Call { context, values };
    let outcome = catch_unwind(AssertUnwindSafe(|| F::run(&call)));
    // SAFETY: the context is the call's own; the engine copies the message.
    unsafe {
        match outcome {
            Ok(Ok(()) | Err(Stop::Null)) => {}
            Ok(Err(Stop::Code(code))) => ffi::sqlite3_result_error_code(context, code),
            Ok(Err(Stop::Message(message))) => {
                let bytes = c_int::try_from(message.len()).unwrap_or(0);
                ffi::sqlite3_result_error(context, message.as_ptr().cast(), bytes);
            }
            Err(_) => ffi::sqlite3_result_error_code(context, ffi::SQLITE_ERROR),
        }
    }
}

/// A call of a function.
pub(super) struct Call<'a> {
    pub(super) context: *mut sqlite3_context,
    pub(super) values: &'a [*mut sqlite3_value],
}

#[allow(unsafe_code)]
impl<'a> Call<'a> {
    pub(super) fn value(&self, at: usize) -> Result<*mut sqlite3_value, Stop> {
        self.values.get(at).copied().ok_or(Stop::Null)
    }

    pub(super) fn kind(&self, at: usize) -> Result<c_int, Stop> {
        // SAFETY: a value of this call.
        Ok(unsafe { ffi::sqlite3_value_type(self.value(at)?) })
    }

    /// The number that the function was registered with.
    pub(super) fn data(&self) -> usize {
        // SAFETY: the context of this call.
        unsafe { ffi::sqlite3_user_data(self.context) }.addr()
    }

    /// The value as a number: a text that reads as one is one. Stops at all else.
    pub(super) fn number(&self, at: usize) -> Result<f64, Stop> {
        let value = self.value(at)?;
        // SAFETY: a value of this call.
        let (kind, number) =
            unsafe { (ffi::sqlite3_value_numeric_type(value), ffi::sqlite3_value_double(value)) };
        if matches!(kind, ffi::SQLITE_INTEGER | ffi::SQLITE_FLOAT) {
            Ok(number)
        } else {
            Err(Stop::Null)
        }
    }

    /// The value as a whole number, where it is one or reads as one.
    pub(super) fn integer(&self, at: usize) -> Result<Option<i64>, Stop> {
        let value = self.value(at)?;
        // SAFETY: a value of this call.
        let (kind, number) =
            unsafe { (ffi::sqlite3_value_numeric_type(value), ffi::sqlite3_value_int64(value)) };
        Ok((kind == ffi::SQLITE_INTEGER).then_some(number))
    }

    /// Bytes of the value as text or blob.
    pub(super) fn size(&self, at: usize) -> Result<usize, Stop> {
        // SAFETY: a value of this call.
        let size = unsafe { ffi::sqlite3_value_bytes(self.value(at)?) };
        Ok(usize::try_from(size).unwrap_or(0))
    }

    /// The value as text, converted by the engine; a NUL stands behind it. Stops at NULL.
    pub(super) fn text(&self, at: usize) -> Result<&'a [u8], Stop> {
        // SAFETY: a value of this call, which outlives it; it is asked for in one form only.
        unsafe { text_of(self.value(at)?) }.ok_or(Stop::Null)
    }

    pub(super) fn blob(&self, at: usize) -> Result<&'a [u8], Stop> {
        let value = self.value(at)?;
        // SAFETY: as for `text`.
        unsafe {
            let start = ffi::sqlite3_value_blob(value);
            let bytes = ffi::sqlite3_value_bytes(value);
            Ok(slice(start.cast(), bytes).unwrap_or_default())
        }
    }

    /// Counts work, and stops once the statement is over.
    pub(super) fn work(&self, bytes: usize) -> Outcome {
        let worked = WORKED.get().saturating_add(bytes);
        WORKED.set(if worked < STRIDE { worked } else { 0 });
        // SAFETY: the connection of this call.
        let is_over = || unsafe {
            ffi::sqlite3_is_interrupted(ffi::sqlite3_context_db_handle(self.context)) != 0
                || memory::is_late()
        };
        if worked >= STRIDE && is_over() { Err(Stop::Code(ffi::SQLITE_INTERRUPT)) } else { Ok(()) }
    }

    pub(super) fn limit(&self, limit: c_int) -> usize {
        // SAFETY: the connection of this call; a negative value only asks.
        let value =
            unsafe { ffi::sqlite3_limit(ffi::sqlite3_context_db_handle(self.context), limit, -1) };
        usize::try_from(value).unwrap_or(0)
    }

    /// Stops where the engine would not take so many bytes for its own work.
    pub(super) fn reserve(&self, bytes: usize) -> Outcome {
        if bytes > self.limit(ffi::SQLITE_LIMIT_LENGTH) {
            Err(Stop::Code(ffi::SQLITE_TOOBIG))
        } else {
            Ok(())
        }
    }

    pub(super) fn give_real(&self, number: f64) {
        // SAFETY: the context of this call; what is not a number becomes NULL.
        unsafe { ffi::sqlite3_result_double(self.context, number) }
    }

    pub(super) fn give_number(&self, number: i64) {
        // SAFETY: the context of this call.
        unsafe { ffi::sqlite3_result_int64(self.context, number) }
    }

    pub(super) fn give_text(&self, text: &[u8]) {
        let start = text.as_ptr().cast();
        let bytes = text.len() as u64;
        // SAFETY: the engine copies the bytes.
        unsafe {
            ffi::sqlite3_result_text64(
                self.context,
                start,
                bytes,
                ffi::SQLITE_TRANSIENT(),
                ffi::SQLITE_UTF8 as u8,
            );
        }
    }

    pub(super) fn give_blob(&self, blob: &[u8]) {
        // SAFETY: the engine copies the bytes; an empty slice's pointer is not null.
        unsafe {
            ffi::sqlite3_result_blob64(
                self.context,
                blob.as_ptr().cast(),
                blob.len() as u64,
                ffi::SQLITE_TRANSIENT(),
            );
        }
    }

    pub(super) fn matches(&self, is_match: bool) {
        self.give_number(is_match.into());
    }

    /// The pattern and the text. The engine's comparison takes a time in proportion to the product
    /// of their sizes, a second at most.
    pub(super) fn pattern(&self) -> Result<(&'a [u8], &'a [u8]), Stop> {
        if self.size(0)? > self.limit(ffi::SQLITE_LIMIT_LIKE_PATTERN_LENGTH) {
            return Err(Stop::Message("LIKE or GLOB pattern too complex".to_owned()));
        }
        let pattern = self.text(0)?;
        let text = self.text(1)?;
        self.work(text.len().saturating_mul(pattern.len().max(1)))?;
        Ok((pattern, text))
    }
}

#[allow(unsafe_code)]
unsafe fn slice<'a>(start: *const u8, bytes: c_int) -> Option<&'a [u8]> {
    if start.is_null() {
        return None;
    }
    // SAFETY: the caller got both from the engine for one value.
    Some(unsafe { std::slice::from_raw_parts(start, usize::try_from(bytes).unwrap_or(0)) })
}

#[allow(unsafe_code)]
unsafe fn text_of<'a>(value: *mut sqlite3_value) -> Option<&'a [u8]> {
    // SAFETY: the caller's value; the size is that of the form asked for last.
    unsafe {
        let start = ffi::sqlite3_value_text(value);
        slice(start, ffi::sqlite3_value_bytes(value))
    }
}

/// A copy of a value, to be converted while the original stays what it is.
pub(super) struct Copied(*mut sqlite3_value);

#[allow(unsafe_code)]
impl Copied {
    pub(super) fn new(value: *mut sqlite3_value) -> Self {
        // SAFETY: a value of the call; null when there is no memory.
        Self(unsafe { ffi::sqlite3_value_dup(value) })
    }

    pub(super) fn text(&self) -> Result<&[u8], Stop> {
        let none = Stop::Code(ffi::SQLITE_NOMEM);
        if self.0.is_null() {
            return Err(none);
        }
        // SAFETY: the copy lives as long as `self`.
        unsafe { text_of(self.0) }.ok_or(none)
    }
}

#[allow(unsafe_code)]
impl Drop for Copied {
    fn drop(&mut self) {
        // SAFETY: made by the engine and freed once; null is allowed.
        unsafe { ffi::sqlite3_value_free(self.0) }
    }
}
