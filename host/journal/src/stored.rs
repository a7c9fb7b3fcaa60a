//! Results in a journal: each is stored once, however many events name it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use syrch_core::ResultSet;
use syrch_core::encode::{decode, encode};

use crate::record::{Record, RowRetention, StoredRows};

/// The sha256 of bytes, as `sha256:` and hex.
pub(crate) fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", syrch_core::text::hex(Sha256::digest(bytes)))
}

/// The results that the file holds already.
#[derive(Default)]
pub(crate) struct Stored {
    written: HashSet<String>,
    /// The digests of results that are still in memory, by their address.
    known: HashMap<usize, (Weak<ResultSet>, String)>,
}

impl Stored {
    /// The state for a journal that holds these results.
    pub(crate) fn holding<'a>(digests: impl IntoIterator<Item = &'a String>) -> Self {
        Self { written: digests.into_iter().cloned().collect(), known: HashMap::new() }
    }

    /// The result as an event holds it, and the record that must precede the event when the file
    /// lacks the rows. A result that cannot be encoded is stored without rows.
    pub(crate) fn store(
        &mut self,
        results: &Arc<ResultSet>,
        rows: RowRetention,
    ) -> (StoredRows, Option<Record>) {
        let mut stored = StoredRows {
            rows: results.row_count(),
            columns: results.schema().fields().iter().map(|field| field.name().clone()).collect(),
            truncated: results.is_truncated(),
            sql: results.sql.clone(),
            digest: None,
        };
        if rows == RowRetention::None {
            return (stored, None);
        }
        let address = Arc::as_ptr(results) as usize;
        if let Some((weak, digest)) = self.known.get(&address)
            && weak.upgrade().is_some_and(|known| Arc::ptr_eq(&known, results))
        {
            stored.digest = Some(digest.clone());
            return (stored, None);
        }
        let Ok(bytes) = encode(results) else { return (stored, None) };
        let digest = digest(&bytes);
        self.known.insert(address, (Arc::downgrade(results), digest.clone()));
        stored.digest = Some(digest.clone());
        let is_new = self.written.insert(digest.clone());
        (stored, is_new.then(|| Record::Rows { digest, bytes: STANDARD.encode(bytes) }))
    }
}

/// The result of a [`Record::Rows`]; `None` when it is damaged.
pub(crate) fn restore(expected: &str, bytes: &str) -> Option<Arc<ResultSet>> {
    let bytes = STANDARD.decode(bytes).ok()?;
    if digest(&bytes) != expected {
        return None;
    }
    // A journal may come from anybody, and Arrow's reader panics on some bytes.
    std::panic::catch_unwind(|| decode(&bytes).ok()).ok()?.map(Arc::new)
}
