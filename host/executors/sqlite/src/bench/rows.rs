//! Rows as bytes that are equal for equal rows only: each cell with the type that it has, its
//! length, and its bytes as they are stored.

use rusqlite::Row;
use rusqlite::types::ValueRef;
use syrch_core::ports::{BenchLimits, Compared, ResultSize, TOO_MANY_ROWS};
use syrch_core::{SqlError, SqlErrorKind};

use crate::session::Session;
use crate::value::size;

/// A result that is counted while it is read.
pub(super) struct Counted {
    limits: BenchLimits,
    size: ResultSize,
    rows: Option<Vec<Box<[u8]>>>,
}

/// The rows of a result, encoded so that equal bytes mean equal rows.
pub(super) struct Rows(Vec<Box<[u8]>>);

impl Counted {
    pub(super) fn new(limits: BenchLimits, is_retained: bool) -> Self {
        Self { limits, size: ResultSize::default(), rows: is_retained.then(Vec::new) }
    }

    /// Counts a row.
    ///
    /// # Errors
    /// With the rule [`TOO_MANY_ROWS`] beyond a limit; the engine's own.
    pub(super) fn take(
        &mut self,
        row: &Row<'_>,
        width: usize,
        session: &Session,
    ) -> Result<(), SqlError> {
        self.size.rows += 1;
        let mut line = Vec::new();
        for index in 0..width {
            let cell = row.get_ref(index).map_err(|error| session.step_error(&error))?;
            self.size.bytes += size(&cell) as u64;
            // A cell that is too large is not copied.
            self.check()?;
            if self.rows.is_some() {
                write(&cell, &mut line);
            }
        }
        self.check()?;
        if let Some(rows) = &mut self.rows {
            rows.push(line.into_boxed_slice());
        }
        Ok(())
    }

    fn check(&self) -> Result<(), SqlError> {
        let BenchLimits { rows, bytes, .. } = self.limits;
        if self.size.rows <= rows && self.size.bytes <= bytes {
            return Ok(());
        }
        let message = format!(
            "the result has more than {rows} rows or {bytes} bytes, and larger ones are \
             not compared"
        );
        Err(SqlError::new(SqlErrorKind::TooLarge, message).rule(TOO_MANY_ROWS))
    }

    pub(super) fn size(&self) -> ResultSize {
        self.size
    }

    pub(super) fn rows(self) -> Rows {
        Rows(self.rows.unwrap_or_default())
    }
}

fn write(cell: &ValueRef<'_>, line: &mut Vec<u8>) {
    let mut tagged = |tag: u8, bytes: &[u8]| {
        line.push(tag);
        line.extend((bytes.len() as u64).to_le_bytes());
        line.extend(bytes);
    };
    match cell {
        ValueRef::Null => tagged(0, &[]),
        ValueRef::Integer(number) => tagged(1, &number.to_le_bytes()),
        ValueRef::Real(number) => tagged(2, &number.to_bits().to_le_bytes()),
        ValueRef::Text(bytes) => tagged(3, bytes),
        ValueRef::Blob(bytes) => tagged(4, bytes),
    }
}

impl Rows {
    pub(super) fn compare(mut self, mut found: Self, is_ordered: bool) -> Compared {
        let rows = self.0.len() as u64;
        if self.0 == found.0 {
            return Compared::Equal(rows);
        }
        if self.0.len() != found.0.len() {
            return Compared::Different;
        }
        self.0.sort_unstable();
        found.0.sort_unstable();
        match (self.0 == found.0, is_ordered) {
            (false, _) => Compared::Different,
            (true, true) => Compared::Reordered,
            (true, false) => Compared::Equal(rows),
        }
    }
}
