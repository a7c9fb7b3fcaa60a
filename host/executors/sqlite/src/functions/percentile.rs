//! `median` and the percentiles of the engine, which are not part of its bundled build: aggregates
//! over numbers, also in windows. Results and errors are those of its own `percentile.c`; their
//! memory is the engine's, so that it counts as the statement's.

use std::ffi::{CStr, c_int};
use std::marker::PhantomData;

use rusqlite::Connection;
use rusqlite::ffi::{self, sqlite3_context, sqlite3_value};

use super::call::{FLAGS, outcome};

/// One of the functions.
trait Kind {
    const NAME: &'static str;
    /// The largest value of the fraction argument; `None` if the function has no such argument.
    const MOST: Option<f64> = Some(1.0);
    /// True if the result is one of the numbers, rather than a value between two of them.
    const IS_DISCRETE: bool = false;
}

struct Median;
struct Percentile;
struct Continuous;
struct Discrete;

impl Kind for Median {
    const NAME: &'static str = "median";
    const MOST: Option<f64> = None;
}

impl Kind for Percentile {
    const NAME: &'static str = "percentile";
    const MOST: Option<f64> = Some(100.0);
}

impl Kind for Continuous {
    const NAME: &'static str = "percentile_cont";
}

impl Kind for Discrete {
    const NAME: &'static str = "percentile_disc";
    const IS_DISCRETE: bool = true;
}

pub(super) fn add(connection: &Connection) -> rusqlite::Result<()> {
    register::<Median>(connection, c"median", 1)?;
    register::<Percentile>(connection, c"percentile", 2)?;
    register::<Continuous>(connection, c"percentile_cont", 2)?;
    register::<Discrete>(connection, c"percentile_disc", 2)
}

#[allow(unsafe_code)]
fn register<K: Kind>(connection: &Connection, name: &CStr, count: c_int) -> rusqlite::Result<()> {
    // SAFETY: the name lives for ever, and the functions fulfil the contract of an aggregate's.
    outcome(unsafe {
        ffi::sqlite3_create_window_function(
            connection.handle(),
            name.as_ptr(),
            count,
            FLAGS,
            std::ptr::null_mut(),
            Some(step::<K>),
            Some(finish::<K>),
            Some(value::<K>),
            Some(inverse::<K>),
            None,
        )
    })
}

/// The numbers of one group. All zero at first, which is how the engine hands it over.
#[repr(C)]
struct Group {
    list: *mut f64,
    count: usize,
    capacity: usize,
    fraction: f64,
    has_fraction: bool,
    is_sorted: bool,
}

/// The group of a call.
struct Call<K> {
    context: *mut sqlite3_context,
    kind: PhantomData<K>,
}

#[allow(unsafe_code)]
impl<K: Kind> Call<K> {
    fn new(context: *mut sqlite3_context) -> Self {
        Self { context, kind: PhantomData }
    }

    /// The group; `None` where there is none yet and none may be made, or no memory for it.
    fn group<'g>(&mut self, may_make: bool) -> Option<&'g mut Group> {
        let bytes = if may_make { size_of::<Group>() } else { 0 };
        // SAFETY: the engine retains the group until the aggregate ends, zero at first, aligned to
        // eight bytes; each call asks for it once.
        unsafe {
            ffi::sqlite3_aggregate_context(self.context, c_int::try_from(bytes).ok()?)
                .cast::<Group>()
                .as_mut()
        }
    }

    fn fail(&self, message: &str) {
        // SAFETY: the context of this call; the engine copies the message.
        unsafe {
            let bytes = c_int::try_from(message.len()).unwrap_or(0);
            ffi::sqlite3_result_error(self.context, message.as_ptr().cast(), bytes);
        }
    }

    /// Returns the fraction, from 0 to 1. Reports an error and returns `None` if it is anything
    /// else.
    fn fraction(&self, arguments: &[*mut sqlite3_value]) -> Option<f64> {
        let (Some(most), Some(argument)) = (K::MOST, arguments.get(1)) else { return Some(0.5) };
        // SAFETY: a value of this call.
        let (kind, number) = unsafe {
            (ffi::sqlite3_value_numeric_type(*argument), ffi::sqlite3_value_double(*argument))
        };
        let fraction = number / most;
        if matches!(kind, ffi::SQLITE_INTEGER | ffi::SQLITE_FLOAT)
            && (0.0..=1.0).contains(&fraction)
        {
            return Some(fraction);
        }
        self.fail(&format!(
            "the fraction argument to {}() is not between 0.0 and {most:.1}",
            K::NAME
        ));
        None
    }

    /// Returns the number of a row: `None` for NULL, and for other values, which are reported as an
    /// error.
    fn number(&self, arguments: &[*mut sqlite3_value]) -> Option<f64> {
        let argument = *arguments.first()?;
        // SAFETY: a value of this call.
        let (kind, number) =
            unsafe { (ffi::sqlite3_value_type(argument), ffi::sqlite3_value_double(argument)) };
        match kind {
            ffi::SQLITE_NULL => None,
            ffi::SQLITE_INTEGER | ffi::SQLITE_FLOAT if number.is_finite() => Some(number),
            ffi::SQLITE_INTEGER | ffi::SQLITE_FLOAT => {
                self.fail(&format!("Inf input to {}()", K::NAME));
                None
            }
            _ => {
                self.fail(&format!("input to {}() is not numeric", K::NAME));
                None
            }
        }
    }

    fn give(&self, group: &mut Group) {
        if let Some(number) = group.at_fraction(K::IS_DISCRETE) {
            // SAFETY: the context of this call.
            unsafe { ffi::sqlite3_result_double(self.context, number) }
        }
    }
}

#[allow(unsafe_code)]
impl Group {
    fn numbers(&mut self) -> &mut [f64] {
        if self.list.is_null() {
            return &mut [];
        }
        // SAFETY: `push` wrote so many numbers to memory that the engine gave for them.
        unsafe { std::slice::from_raw_parts_mut(self.list, self.count) }
    }

    /// Adds a number, and returns whether there was memory for it.
    fn push(&mut self, number: f64) -> bool {
        if self.count == self.capacity {
            let capacity = self.capacity * 2 + 250;
            // SAFETY: the group's own memory, or null.
            let list = unsafe {
                ffi::sqlite3_realloc64(self.list.cast(), (capacity * size_of::<f64>()) as u64)
            };
            if list.is_null() {
                return false;
            }
            (self.list, self.capacity) = (list.cast(), capacity);
        }
        let at = if self.is_sorted {
            self.numbers().partition_point(|other| *other <= number)
        } else {
            self.count
        };
        self.count += 1;
        let last = self.count - 1;
        // SAFETY: the capacity is above the count.
        unsafe { self.list.add(last).write(number) };
        self.numbers()[at..].rotate_right(1);
        true
    }

    fn remove(&mut self, number: f64) {
        self.sort();
        let at = self.numbers().partition_point(|other| *other < number);
        if self.numbers().get(at) == Some(&number) {
            self.numbers()[at..].rotate_left(1);
            self.count -= 1;
        }
    }

    fn sort(&mut self) {
        if !self.is_sorted {
            self.numbers().sort_unstable_by(f64::total_cmp);
            self.is_sorted = true;
        }
    }

    /// The number at the fraction of the way from the least to the greatest.
    fn at_fraction(&mut self, is_discrete: bool) -> Option<f64> {
        self.sort();
        let place = self.fraction * self.count.checked_sub(1)? as f64;
        let at = place as usize;
        let low = *self.numbers().get(at)?;
        let between = place - at as f64;
        let high = if between == 0.0 || is_discrete {
            low
        } else {
            *self.numbers().get(at + 1).unwrap_or(&low)
        };
        Some(low + (high - low) * between)
    }

    fn free(&mut self) {
        // SAFETY: the group's own memory, or null.
        unsafe { ffi::sqlite3_free(self.list.cast()) }
        (self.list, self.count, self.capacity) = (std::ptr::null_mut(), 0, 0);
    }
}

#[allow(unsafe_code)]
unsafe extern "C" fn step<K: Kind>(
    context: *mut sqlite3_context,
    count: c_int,
    values: *mut *mut sqlite3_value,
) {
    // SAFETY: the engine passes as many values as it counts.
    let arguments =
        unsafe { std::slice::from_raw_parts(values, usize::try_from(count).unwrap_or(0)) };
    let mut call = Call::<K>::new(context);
    let Some(fraction) = call.fraction(arguments) else { return };
    let Some(group) = call.group(true) else { return };
    if !group.has_fraction {
        (group.fraction, group.has_fraction) = (fraction, true);
    } else if (group.fraction - fraction).abs() > 0.001 {
        return call.fail(&format!(
            "the fraction argument to {}() is not the same for all input rows",
            K::NAME
        ));
    }
    let Some(number) = call.number(arguments) else { return };
    if !group.push(number) {
        // SAFETY: the context of this call.
        unsafe { ffi::sqlite3_result_error_nomem(context) }
    }
}

#[allow(unsafe_code)]
unsafe extern "C" fn inverse<K: Kind>(
    context: *mut sqlite3_context,
    count: c_int,
    values: *mut *mut sqlite3_value,
) {
    // SAFETY: the engine passes as many values as it counts.
    let arguments =
        unsafe { std::slice::from_raw_parts(values, usize::try_from(count).unwrap_or(0)) };
    let mut call = Call::<K>::new(context);
    if let (Some(number), Some(group)) = (call.number(arguments), call.group(false)) {
        group.remove(number);
    }
}

#[allow(unsafe_code)]
unsafe extern "C" fn value<K: Kind>(context: *mut sqlite3_context) {
    let mut call = Call::<K>::new(context);
    if let Some(group) = call.group(false) {
        call.give(group);
    }
}

#[allow(unsafe_code)]
unsafe extern "C" fn finish<K: Kind>(context: *mut sqlite3_context) {
    let mut call = Call::<K>::new(context);
    if let Some(group) = call.group(false) {
        call.give(group);
        group.free();
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::types::Value;

    use super::*;

    fn ask(sql: &str) -> Result<Vec<Value>, String> {
        let connection = Connection::open_in_memory().unwrap();
        add(&connection).unwrap();
        let mut statement = connection.prepare(sql).map_err(|error| error.to_string())?;
        let rows = statement
            .query_map([], |row| row.get(0))
            .and_then(Iterator::collect::<rusqlite::Result<Vec<_>>>);
        rows.map_err(|error| error.to_string())
    }

    #[test]
    fn what_lies_between_two_numbers_is_in_proportion() {
        let of = "FROM (SELECT 4 AS x UNION ALL SELECT 1 UNION ALL SELECT NULL UNION ALL \
                  SELECT 2.0 UNION ALL SELECT 10)";
        for (call, expected) in [
            ("median(x)", 3.0),
            ("percentile(x, 50)", 3.0),
            ("percentile(x, 0)", 1.0),
            ("percentile(x, 100)", 10.0),
            ("percentile_cont(x, 0.25)", 1.75),
            ("percentile_disc(x, 0.25)", 1.0),
            ("percentile_disc(x, '0.75')", 4.0),
        ] {
            assert_eq!(
                ask(&format!("SELECT {call} {of}")),
                Ok(vec![Value::Real(expected)]),
                "{call}"
            );
        }
        assert_eq!(ask("SELECT median(x) FROM (SELECT NULL AS x)"), Ok(vec![Value::Null]));
        assert_eq!(ask("SELECT median(x) FROM (SELECT 1 AS x) WHERE x > 1"), Ok(vec![Value::Null]));
    }

    #[test]
    fn windows_move() {
        let sql = "WITH t(n, x) AS (VALUES (1, 5), (2, 1), (3, 9), (4, 3), (5, 3)) \
                   SELECT median(x) OVER (ORDER BY n ROWS BETWEEN 2 PRECEDING \
                   AND CURRENT ROW) FROM t";
        assert_eq!(ask(sql), Ok([5.0, 3.0, 5.0, 3.0, 3.0].map(Value::Real).into()));
    }

    #[test]
    fn other_input_is_refused() {
        for (sql, message) in [
            (
                "SELECT percentile(1, 101)",
                "the fraction argument to percentile() is not between 0.0 and 100.0",
            ),
            (
                "SELECT percentile_cont(1, 'half')",
                "the fraction argument to percentile_cont() is not between 0.0 and 1.0",
            ),
            (
                "SELECT percentile_disc(x, x) FROM (SELECT 0 AS x UNION ALL SELECT 1)",
                "is not the same for all input rows",
            ),
            ("SELECT median('a')", "input to median() is not numeric"),
            ("SELECT median(9e999)", "Inf input to median()"),
        ] {
            assert!(ask(sql).is_err_and(|error| error.contains(message)), "{sql}");
        }
    }
}
