//! Results while they stream: drained, counted, or collected for a comparison; never beyond the
//! limits.

use std::pin::pin;

use futures::TryStreamExt;
use syrch_core::ports::{BenchLimits, Compared, ResultSize, TOO_MANY_ROWS, UNSUPPORTED_TYPE};
use syrch_core::{SqlError, SqlErrorKind};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error, Row};

use super::canonical;
use crate::value::{Raw, name};

/// The bytes that a cell counts for besides its contents: its length, or that it is NULL.
const CELL: usize = 4;

/// The reason why a stream was not read to its end.
pub(super) enum Ended {
    /// The server ended the statement, or the connection is lost.
    Server(Error),
    /// A limit is passed, or a value cannot be compared; the server may still send rows.
    Here(SqlError),
}

impl From<Error> for Ended {
    fn from(error: Error) -> Self {
        Self::Server(error)
    }
}

/// Runs a statement and hands each row on; returns how many there were.
pub(super) async fn each(
    client: &Client,
    sql: &str,
    mut take: impl FnMut(&Row) -> Result<(), SqlError>,
) -> Result<u64, Ended> {
    let no_parameters: [(&str, Type); 0] = [];
    let mut rows = pin!(client.query_typed_raw(sql, no_parameters).await?);
    let mut count = 0;
    while let Some(row) = rows.try_next().await? {
        take(&row).map_err(Ended::Here)?;
        count += 1;
    }
    Ok(count)
}

/// A result whose rows are counted, and retained where they are to be compared.
pub(super) struct Counted {
    limits: BenchLimits,
    size: ResultSize,
    retained: Option<Rows>,
}

/// Rows as canonical bytes, one behind the other.
#[derive(Default)]
pub(super) struct Rows {
    types: Vec<u32>,
    bytes: Vec<u8>,
    /// The end of each row in `bytes`.
    ends: Vec<usize>,
}

impl Counted {
    pub(super) fn new(limits: BenchLimits, is_retained: bool) -> Self {
        Self { limits, size: ResultSize::default(), retained: is_retained.then(Rows::default) }
    }

    /// Takes a row.
    ///
    /// # Errors
    /// With the rule [`TOO_MANY_ROWS`] when it is more than the limits allow; [`UNSUPPORTED_TYPE`]
    /// for a value that is not compared.
    pub(super) fn take(&mut self, row: &Row) -> Result<(), SqlError> {
        let mut bytes = 0;
        for index in 0..row.len() {
            bytes += CELL + raw(row, index)?.map_or(0, <[u8]>::len);
        }
        self.size.rows += 1;
        self.size.bytes += u64::try_from(bytes).unwrap_or(u64::MAX);
        if self.size.rows > self.limits.rows || self.size.bytes > self.limits.bytes {
            return Err(too_large(&self.limits));
        }
        match &mut self.retained {
            Some(rows) => rows.push(row),
            None => Ok(()),
        }
    }

    pub(super) fn size(&self) -> ResultSize {
        self.size
    }

    pub(super) fn rows(self) -> Rows {
        self.retained.unwrap_or_default()
    }
}

pub(super) fn too_large(limits: &BenchLimits) -> SqlError {
    let message =
        format!("the result has more than {} rows or {} bytes", limits.rows, limits.bytes);
    SqlError::new(SqlErrorKind::TooLarge, message).rule(TOO_MANY_ROWS)
}

pub(super) fn type_error(of: &Type) -> SqlError {
    let message = format!("values of type `{}` are not compared exactly", name(of));
    SqlError::new(SqlErrorKind::Denied, message).rule(UNSUPPORTED_TYPE)
}

fn raw(row: &Row, index: usize) -> Result<Option<&[u8]>, SqlError> {
    Ok(row
        .try_get::<_, Option<Raw<'_>>>(index)
        .map_err(|_| {
            SqlError::new(SqlErrorKind::Other, "the server sent a row that cannot be read")
        })?
        .map(|raw| raw.0))
}

impl Rows {
    fn push(&mut self, row: &Row) -> Result<(), SqlError> {
        if self.ends.is_empty() {
            self.types = row.columns().iter().map(|column| column.type_().oid()).collect();
        }
        for (index, column) in row.columns().iter().enumerate() {
            let start = self.bytes.len();
            self.bytes.extend([u8::MAX; CELL]);
            let Some(value) = raw(row, index)? else { continue };
            let of = column.type_();
            canonical::cell(of, value, &mut self.bytes).ok_or_else(|| type_error(of))?;
            let length = u32::try_from(self.bytes.len() - start - CELL).unwrap_or(u32::MAX - 1);
            self.bytes[start..start + CELL].copy_from_slice(&length.to_be_bytes());
        }
        self.ends.push(self.bytes.len());
        Ok(())
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.bytes[start..*end])
    }

    /// Compares the rows of a candidate with these.
    pub(super) fn compare(&self, candidate: &Self, is_ordered: bool) -> Compared {
        let count = self.ends.len();
        if count != candidate.ends.len() || self.types != candidate.types {
            return Compared::Different;
        }
        if self.ends == candidate.ends && self.bytes == candidate.bytes {
            return Compared::Equal(u64::try_from(count).unwrap_or(u64::MAX));
        }
        let (mut left, mut right): (Vec<&[u8]>, Vec<&[u8]>) =
            (self.iter().collect(), candidate.iter().collect());
        left.sort_unstable();
        right.sort_unstable();
        match (left == right, is_ordered) {
            (true, true) => Compared::Reordered,
            (true, false) => Compared::Equal(u64::try_from(count).unwrap_or(u64::MAX)),
            (false, _) => Compared::Different,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(cells: &[&str]) -> Rows {
        let mut rows = Rows { types: vec![25], ..Rows::default() };
        for cell in cells {
            rows.bytes.extend(cell.as_bytes());
            rows.ends.push(rows.bytes.len());
        }
        rows
    }

    #[test]
    fn rows_are_compared_as_bags_or_in_their_order() {
        let original = rows(&["a", "b", "b"]);
        for (cells, bag, ordered) in [
            (&["a", "b", "b"][..], Compared::Equal(3), Compared::Equal(3)),
            (&["b", "a", "b"], Compared::Equal(3), Compared::Reordered),
            (&["a", "a", "b"], Compared::Different, Compared::Different),
            (&["a", "b"], Compared::Different, Compared::Different),
            (&["ab", "", "b"], Compared::Different, Compared::Different),
        ] {
            let candidate = rows(cells);
            assert_eq!(
                (original.compare(&candidate, false), original.compare(&candidate, true)),
                (bag, ordered),
                "{cells:?}"
            );
        }
        let of_another_type = Rows { types: vec![1043], ..rows(&["a", "b", "b"]) };
        assert_eq!(original.compare(&of_another_type, false), Compared::Different);
    }
}
