//! The result of a statement: its chunks one after the other, as they come in replies or from
//! links, into a sink.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_schema::Schema;
use syrch_arrow_engine::BatchSink;

use crate::api::Api;
use crate::error::Failure;
use crate::link::Download;
use crate::statement::{Request, Statement};
use crate::value;
use crate::wire::{ColumnInfo, DataArray};

/// Runs a statement and hands its result to `sink`. Returns whether a limit of the request cut it
/// at the server.
///
/// # Errors
/// When the statement or the sink fails, or the result does not come by the deadline.
pub(crate) async fn run(
    api: &Arc<Api>,
    request: &Request<'_>,
    sink: &mut BatchSink,
) -> Result<bool, Failure> {
    let (statement, manifest, mut chunk) = Statement::run(api, request).await?;
    let mut rows = Rows { sink, columns: manifest.columns(), is_begun: false };
    loop {
        if let Some(array) = chunk.data_array.take() {
            let schema = Arc::new(value::schema(rows.columns));
            rows.begin(&schema)?;
            if rows.sink.push(&value::batch(&schema, &array)?)?.is_break() {
                return Ok(false);
            }
        }
        let next = chunk.next();
        for link in chunk.external_links.into_iter().flatten() {
            let download = Download { api, statement: &statement, request };
            if download.fetch(link, &mut rows).await?.is_break() {
                return Ok(false);
            }
        }
        match statement.chunk(next, request).await? {
            Some(next) => chunk = next,
            None => break,
        }
    }
    if !rows.is_begun {
        rows.begin(&value::schema(rows.columns))?;
    }
    Ok(manifest.is_truncated())
}

/// The rows of a statement that the host itself writes, as texts, and whether the result was cut.
///
/// # Errors
/// As [`run`].
pub(crate) async fn texts(
    api: &Arc<Api>,
    request: &Request<'_>,
) -> Result<(DataArray, bool), Failure> {
    let (statement, manifest, mut chunk) = Statement::run(api, request).await?;
    let columns = manifest.columns().len();
    let mut rows = Vec::new();
    let mut bytes = 0;
    loop {
        let array = chunk.data_array.take().unwrap_or_default();
        if array.iter().any(|row| row.len() != columns) || chunk.external_links.is_some() {
            return Err(Failure::Unavailable(
                "the rows of its reply are not those that were asked for".to_owned(),
            ));
        }
        bytes += array.iter().flatten().flatten().map(String::len).sum::<usize>();
        rows.extend(array);
        if rows.len() as u64 > request.rows || bytes > request.reply {
            return Ok((rows, true));
        }
        match statement.chunk(chunk.next(), request).await? {
            Some(next) => chunk = next,
            None => return Ok((rows, manifest.is_truncated())),
        }
    }
}

/// The sink of a result, and what its columns were declared as.
pub(crate) struct Rows<'a> {
    sink: &'a mut BatchSink,
    columns: &'a [ColumnInfo],
    is_begun: bool,
}

impl Rows<'_> {
    fn begin(&mut self, schema: &Schema) -> Result<(), Failure> {
        if !self.is_begun {
            self.is_begun = true;
            self.sink.begin(schema)?;
        }
        Ok(())
    }

    /// Takes a batch of a stream.
    ///
    /// # Errors
    /// Those of the sink.
    pub(crate) fn push(&mut self, batch: &RecordBatch) -> Result<ControlFlow<()>, Failure> {
        self.begin(&value::with_declared_types(batch.schema_ref(), self.columns))?;
        Ok(self.sink.push(batch)?)
    }
}

/// A stream of batches, read piece by piece.
#[derive(Default)]
pub(crate) struct Stream {
    decoder: StreamDecoder,
    /// Bytes since the last batch.
    pending: usize,
}

impl Stream {
    /// Takes a piece of the stream, and hands over the batches that it completes. `most` is the
    /// size of a batch at most.
    ///
    /// # Errors
    /// When the bytes are no stream of batches, a batch is too large, or `each` fails.
    pub(crate) fn take(
        &mut self,
        piece: impl Into<Buffer>,
        most: usize,
        mut each: impl FnMut(&RecordBatch) -> Result<ControlFlow<()>, Failure>,
    ) -> Result<ControlFlow<()>, Failure> {
        let mut piece = piece.into();
        self.pending = self.pending.saturating_add(piece.len());
        if self.pending > most {
            return Err(Failure::TooLarge(format!(
                "a batch of the result has more than {most} bytes"
            )));
        }
        while !piece.is_empty() {
            // Bytes from elsewhere: the decoder may also panic on them.
            let decoded = catch_unwind(AssertUnwindSafe(|| self.decoder.decode(&mut piece)));
            let batch = decoded.ok().and_then(Result::ok).ok_or_else(stream_error)?;
            let Some(batch) = batch else { continue };
            self.pending = piece.len();
            if each(&batch)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// # Errors
    /// When the stream has ended before its end.
    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        self.decoder.finish().map_err(|_| stream_error())
    }
}

fn stream_error() -> Failure {
    Failure::Unavailable("a chunk of the result is no Arrow stream that can be read".to_owned())
}
