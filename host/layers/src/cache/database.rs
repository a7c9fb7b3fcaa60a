//! Statements, and cells found by phrases, behind the cache. Below the ledger: what is found here is charged like any other.

use std::sync::Arc;

use async_trait::async_trait;
use syrch_cache::{Cache, Found, Key, Kind, Lead};
use syrch_core::encode::{decode, encode};
use syrch_core::ports::{
    CellIndex, ColumnStats, Database, DatabaseError, Facts, Match, Plan, PortError, Query, Sample,
};
use syrch_core::{Catalog, Dialect, Hit, Limits, ResultSet, SqlError, SqlErrorKind, outside};

use super::VERSION;
use super::volatile::{is_volatile, names_a_view};

/// Before the bytes of a result, and of an error, which is shared and never kept.
const RESULT: u8 = b'r';
const ERROR: u8 = b'e';

/// A database whose results are kept, exactly as they were, for as long as it stays as it is, and so are the cells that phrases find.
///
/// The identity is read before a statement runs and after: when they differ, or the database cannot tell, nothing is kept. Neither is
/// a result that could be another one over the same data (the time, chance, a view whose text is not known), nor an error.
pub struct CachedDatabase {
    inner: Arc<dyn Database>,
    cache: Arc<Cache>,
    /// The caps that shape a result: rows, bytes, bytes of a cell.
    caps: (u64, usize, usize),
}

impl CachedDatabase {
    /// A database that looks here first. The limits are those that the database runs statements under.
    #[must_use]
    pub fn new(inner: Arc<dyn Database>, cache: Arc<Cache>, limits: &Limits) -> Self {
        let caps = (limits.rows, limits.result_bytes, limits.cell_bytes);
        Self { inner, cache, caps }
    }

    /// The key of a statement with its relations spliced in; none when it is not to be kept.
    async fn key(&self, sql: &str) -> Option<(String, Key)> {
        if is_volatile(sql) {
            return None;
        }
        let identity = self.inner.identity().await?;
        let request = serde_json::to_vec(&(VERSION, self.inner.dialect().name(), self.caps, sql)).ok()?;
        let key = Key::new(Kind::Sql, &identity, &request);
        Some((identity, key))
    }

    /// Runs the statement, and gives the result to who waits for it, as far as it is theirs too. Otherwise the next of them runs it.
    async fn lead(&self, lead: Lead<'_>, query: &Query, sql: &str, identity: &str) -> Result<ResultSet, SqlError> {
        let result = self.inner.run(query).await;
        if self.inner.identity().await.as_deref() != Some(identity) {
            return result;
        }
        let Some(bytes) = landed(&result).await else { return result };
        let is_kept = result.is_ok() && self.inner.catalog().await.is_ok_and(|catalog| !names_a_view(sql, &catalog));
        if is_kept {
            lead.keep(bytes).await
        } else {
            lead.share(bytes)
        }
        result
    }
}

/// A result or an error as bytes; none for an error that only this run met.
async fn landed(result: &Result<ResultSet, SqlError>) -> Option<Arc<[u8]>> {
    match result {
        Ok(results) => {
            let results = results.clone();
            let encoded = tokio::task::spawn_blocking(move || encode(&results).map(|bytes| tagged(RESULT, &bytes)));
            outside::awaited(encoded).await.ok()?.ok()
        }
        Err(error) if matches!(error.kind, SqlErrorKind::Cancelled | SqlErrorKind::Budget) => None,
        Err(error) => serde_json::to_vec(error).ok().map(|bytes| tagged(ERROR, &bytes)),
    }
}

fn tagged(tag: u8, bytes: &[u8]) -> Arc<[u8]> {
    [&[tag], bytes].concat().into()
}

/// What [`landed`] wrote; none when it is something else.
async fn understood(bytes: Arc<[u8]>) -> Option<Result<ResultSet, SqlError>> {
    let read = move || match bytes.split_first()? {
        (&RESULT, results) => decode(results).ok().map(Ok),
        (&ERROR, error) => serde_json::from_slice(error).ok().map(Err),
        _ => None,
    };
    outside::awaited(tokio::task::spawn_blocking(read)).await.ok()?
}

#[async_trait]
impl CellIndex for CachedDatabase {
    async fn samples(&self, table: &str, columns: &[String], limit: u32) -> Result<Vec<Sample>, PortError> {
        self.inner.samples(table, columns, limit).await
    }

    async fn find(&self, phrases: &[String], how: Match, limit: u32) -> Result<Vec<Vec<Hit>>, PortError> {
        let found = |identity: &str| {
            let request = serde_json::to_vec(&(VERSION, "find", phrases, &how, limit)).ok()?;
            Some(Key::new(Kind::Sql, identity, &request))
        };
        let identity = self.inner.identity().await;
        let Some(key) = identity.as_deref().and_then(found) else { return self.inner.find(phrases, how, limit).await };
        let lead = match self.cache.find(key).await {
            Found::Value(bytes) => match serde_json::from_slice(&bytes) {
                Ok(hits) => return Ok(hits),
                Err(_) => {
                    self.cache.forget(key).await;
                    return self.inner.find(phrases, how, limit).await;
                }
            },
            Found::Lead(lead) => lead,
        };
        let hits = self.inner.find(phrases, how, limit).await?;
        if self.inner.is_repeatable()
            && self.inner.identity().await == identity
            && let Ok(bytes) = serde_json::to_vec(&hits)
        {
            lead.keep(bytes.into()).await;
        }
        Ok(hits)
    }

    fn is_repeatable(&self) -> bool {
        self.inner.is_repeatable()
    }
}

#[async_trait]
impl Database for CachedDatabase {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn dialect(&self) -> Dialect {
        self.inner.dialect()
    }

    async fn identity(&self) -> Option<String> {
        self.inner.identity().await
    }

    async fn catalog(&self) -> Result<Arc<Catalog>, DatabaseError> {
        self.inner.catalog().await
    }

    fn layers(&self) -> Vec<&'static str> {
        std::iter::once("cache").chain(self.inner.layers()).collect()
    }

    fn compose(&self, query: &Query) -> Result<String, SqlError> {
        self.inner.compose(query)
    }

    async fn check(&self, query: &Query) -> Result<Facts, SqlError> {
        self.inner.check(query).await
    }

    async fn explain(&self, query: &Query) -> Result<Plan, SqlError> {
        self.inner.explain(query).await
    }

    async fn run(&self, query: &Query) -> Result<ResultSet, SqlError> {
        let sql = self.inner.compose(query)?;
        let Some((identity, key)) = self.key(&sql).await else { return self.inner.run(query).await };
        match self.cache.find(key).await {
            Found::Value(bytes) => match understood(bytes).await {
                Some(result) => result,
                None => {
                    self.cache.forget(key).await;
                    self.inner.run(query).await
                }
            },
            Found::Lead(lead) => self.lead(lead, query, &sql, &identity).await,
        }
    }

    async fn column_stats(&self, table: &str, columns: &[String]) -> Result<Vec<ColumnStats>, PortError> {
        self.inner.column_stats(table, columns).await
    }
}

#[cfg(test)]
mod tests;
