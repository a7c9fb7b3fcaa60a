//! Functions that the engines share which open databases.

use std::sync::Arc;

use syrch_core::DatabaseUrl;
use syrch_core::ports::{Database, DatabaseError};

use crate::settings::ServerSettings;

pub(super) type Opened = Result<Arc<dyn Database>, DatabaseError>;

/// Opens a database by work that blocks.
pub(super) async fn open_blocking<D: Database + 'static>(
    url: &DatabaseUrl,
    open: impl FnOnce() -> Result<D, DatabaseError> + Send + 'static,
) -> Opened {
    let opened = tokio::task::spawn_blocking(open).await;
    Ok(Arc::new(opened.unwrap_or_else(|_| {
        let reason = "the thread that opens it failed".to_owned();
        Err(DatabaseError::Unavailable { path: url.to_string(), reason })
    })?))
}

/// Returns whether the address is the one that the user named. Only such an address gets
/// credentials of the environment.
pub(super) fn is_named(url: &DatabaseUrl, servers: &ServerSettings) -> bool {
    servers.named.as_deref().map(DatabaseUrl::parse).as_ref() == Some(url)
}
