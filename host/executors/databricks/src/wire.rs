//! The documents of the Statement Execution API, as far as they are read. Unknown members are
//! ignored, and members that a server leaves out are missing here as well.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The reply to a new statement, and to a request for its state.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct StatementResponse {
    pub(crate) statement_id: Option<String>,
    pub(crate) status: Status,
    pub(crate) manifest: Option<Manifest>,
    pub(crate) result: Option<ResultData>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Status {
    /// `PENDING`, `RUNNING`, `SUCCEEDED`, `FAILED`, `CANCELED` or `CLOSED`.
    pub(crate) state: String,
    pub(crate) error: Option<ServiceError>,
    pub(crate) sql_state: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ServiceError {
    pub(crate) error_code: Option<String>,
    pub(crate) message: Option<String>,
}

/// The description of a result.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Manifest {
    schema: Option<ResultSchema>,
    truncated: Option<bool>,
}

impl Manifest {
    pub(crate) fn columns(&self) -> &[ColumnInfo] {
        self.schema.as_ref().and_then(|schema| schema.columns.as_deref()).unwrap_or_default()
    }

    /// Returns true if a limit of the request cut the result.
    pub(crate) fn is_truncated(&self) -> bool {
        self.truncated.unwrap_or_default()
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ResultSchema {
    columns: Option<Vec<ColumnInfo>>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ColumnInfo {
    pub(crate) name: Option<String>,
    /// The base type, such as `LONG`.
    pub(crate) type_name: Option<String>,
    /// The whole type, such as `DECIMAL(10,2)`.
    pub(crate) type_text: Option<String>,
    pub(crate) type_precision: Option<i64>,
    pub(crate) type_scale: Option<i64>,
}

/// Rows as they are sent in a reply.
pub(crate) type DataArray = Vec<Vec<Option<String>>>;

/// A chunk of a result: its rows, or links to them.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ResultData {
    pub(crate) data_array: Option<DataArray>,
    pub(crate) external_links: Option<Vec<ExternalLink>>,
    next_chunk_index: Option<u64>,
    next_chunk_internal_link: Option<String>,
}

/// A link to a chunk, which holds a credential.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct ExternalLink {
    pub(crate) external_link: Option<String>,
    /// The time at which the link stops working, in the form of RFC 3339.
    pub(crate) expiration: Option<String>,
    pub(crate) chunk_index: Option<u64>,
    pub(crate) http_headers: Option<BTreeMap<String, String>>,
    pub(crate) next_chunk_index: Option<u64>,
    pub(crate) next_chunk_internal_link: Option<String>,
}

impl std::fmt::Debug for ExternalLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExternalLink")
            .field("chunk_index", &self.chunk_index)
            .finish_non_exhaustive()
    }
}

/// The place of the next chunk.
#[derive(Debug)]
pub(crate) enum Next {
    /// A path of the server.
    Path(String),
    /// A place of the result.
    Index(u64),
}

impl ResultData {
    /// Returns the place of the chunk after this one; `None` after the last.
    pub(crate) fn next(&self) -> Option<Next> {
        let link = self.external_links.as_ref().and_then(|links| links.last());
        let path = self
            .next_chunk_internal_link
            .clone()
            .or_else(|| link?.next_chunk_internal_link.clone());
        let index = self.next_chunk_index.or_else(|| link?.next_chunk_index);
        path.map(Next::Path).or(index.map(Next::Index))
    }
}

/// The body of a reply that refuses a request. The members are those of Databricks, and of OAuth.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Refusal {
    /// A name, or the number of the status.
    pub(crate) error_code: serde_json::Value,
    pub(crate) message: Option<String>,
    pub(crate) error: Option<String>,
    pub(crate) error_description: Option<String>,
}

/// The reply to a request for a token.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct TokenReply {
    pub(crate) access_token: String,
    /// The lifetime of the token, in seconds; `None` if the server does not say.
    pub(crate) expires_in: Option<f64>,
}
