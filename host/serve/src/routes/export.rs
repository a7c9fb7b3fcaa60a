//! Results as files: CSV and Parquet.

use std::sync::Arc;

use axum::http::header;
use axum::response::{IntoResponse, Response};
use parquet::arrow::ArrowWriter;
use parquet::errors::ParquetError;
use syrch::syrch_core::ResultSet;

use super::Served;
use crate::problem::Problem;

/// A format of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Export {
    Csv,
    Parquet,
}

impl Export {
    /// The media type by which clients ask for it.
    pub(super) fn media_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv",
            Self::Parquet => "application/vnd.apache.parquet",
        }
    }

    /// The header that names the file. The name says where a limit cut the rows.
    fn disposition(self, result: &ResultSet) -> String {
        let ending = match self {
            Self::Csv => "csv",
            Self::Parquet => "parquet",
        };
        let cut = match result.is_truncated() {
            true => format!("-cut-after-{}", result.row_count()),
            false => String::new(),
        };
        format!("attachment; filename=\"rows{cut}.{ending}\"")
    }
}

/// The rows as a file.
pub(super) async fn file(
    served: &Arc<Served>,
    result: ResultSet,
    export: Export,
) -> Result<Response, Problem> {
    let program = Arc::clone(&served.program);
    let disposition = export.disposition(&result);
    let written = tokio::task::spawn_blocking(move || match export {
        Export::Csv => Ok(program.csv(&result).into_bytes()),
        Export::Parquet => parquet(&result),
    });
    let bytes = written
        .await
        .map_err(|error| Problem::from_class("unexpected", error.to_string()))?
        .map_err(|error| Problem::from_class("unexpected", format!("no Parquet file: {error}")))?;
    let kind = match export {
        Export::Csv => "text/csv; charset=utf-8",
        Export::Parquet => export.media_type(),
    };
    let kind = [(header::CONTENT_TYPE, kind)];
    Ok((kind, [(header::CONTENT_DISPOSITION, disposition)], bytes).into_response())
}

/// The result as a Parquet file. Its columns have the types that the host reads them with.
fn parquet(result: &ResultSet) -> Result<Vec<u8>, ParquetError> {
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, Arc::clone(result.schema()), None)?;
    for batch in result.batches() {
        writer.write(batch)?;
    }
    writer.close()?;
    Ok(bytes)
}
