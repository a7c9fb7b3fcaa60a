//! Statements, and cells that are found by phrases or summed up, behind the cache. This layer is
//! below the ledger: what the cache answers is charged like any other statement.

use std::sync::Arc;

use async_trait::async_trait;
use serde::Serialize;
use serde::de::DeserializeOwned;
use syrch_cache::{Cache, Key, Kind, Lead};
use syrch_core::encode::{decode, encode};
use syrch_core::ports::{
    Bench, BenchLimits, CellIndex, ColumnStats, Database, DatabaseError, Facts, Match, Plan,
    PortError, Sample, SqlQuery,
};
use syrch_core::{Catalog, Dialect, Hit, Limits, ResultSet, SqlError, SqlErrorKind, blocking};

use super::volatile::{is_volatile, names_a_view};
use super::{Lookup, VERSION, look_up};

/// The first byte of an encoded result.
const RESULT: u8 = b'r';
const ERROR: u8 = b'e';

/// A database whose results, the cells that phrases find and the samples of tables are cached
/// without loss for as long as the data stay the same.
///
/// The identity is read before a statement runs and afterwards. When the two differ, or the engine
/// cannot detect changes, nothing is cached. Neither is a result that could be another one over the
/// same data (the time, chance, a view whose text is unknown), nor an error.
pub struct CachedDatabase {
    inner: Arc<dyn Database>,
    cache: Arc<Cache>,
    /// The caps that shape a result: rows, bytes, bytes of a cell.
    caps: (u64, usize, usize),
}

impl CachedDatabase {
    /// Creates the layer around a database. `limits` are those under which the database runs
    /// statements.
    #[must_use]
    pub fn new(inner: Arc<dyn Database>, cache: Arc<Cache>, limits: &Limits) -> Self {
        let caps = (limits.rows, limits.result_bytes, limits.cell_bytes);
        Self { inner, cache, caps }
    }

    /// The identity of the data and the key of a composed statement; `None` when its result is not
    /// to be cached.
    async fn key(&self, sql: &str) -> Option<(String, Key)> {
        if is_volatile(sql) {
            return None;
        }
        let identity = self.inner.identity().await?;
        let request =
            serde_json::to_vec(&(VERSION, self.inner.dialect().name(), self.caps, sql)).ok()?;
        let key = Key::new(Kind::Sql, &identity, &request);
        Some((identity, key))
    }

    /// Runs the statement, and shares the result with the calls that wait for it, as far as it is
    /// theirs too. Otherwise the next of them runs the statement.
    async fn lead(
        &self,
        lead: Lead<'_>,
        query: &SqlQuery,
        sql: &str,
        identity: &str,
    ) -> Result<ResultSet, SqlError> {
        let result = self.inner.run(query).await;
        if self.inner.identity().await.as_deref() != Some(identity) {
            return result;
        }
        let Some(bytes) = encode_result(&result).await else { return result };
        let is_cached = result.is_ok()
            && self.inner.catalog().await.is_ok_and(|catalog| !names_a_view(sql, &catalog));
        if is_cached {
            lead.store(bytes).await
        } else {
            lead.share(bytes)
        }
        result
    }

    /// Returns the cached answer to a request about cells, or else awaits `made` and stores its
    /// result if it is repeatable.
    async fn cells<T: Serialize + DeserializeOwned>(
        &self,
        request: &impl Serialize,
        made: impl Future<Output = Result<T, PortError>>,
    ) -> Result<T, PortError> {
        let identity = self.inner.identity().await;
        let key = |identity: &str| {
            Some(Key::new(Kind::Sql, identity, &serde_json::to_vec(request).ok()?))
        };
        let Some(key) = identity.as_deref().and_then(key) else { return made.await };
        let lead = match look_up(&self.cache, key, async |bytes| {
            serde_json::from_slice(&bytes).ok()
        })
        .await
        {
            Lookup::Hit(cells) => return Ok(cells),
            Lookup::Miss(lead) => lead,
        };
        let cells = made.await?;
        if let Some(lead) = lead
            && self.inner.is_repeatable()
            && self.inner.identity().await == identity
            && let Ok(bytes) = serde_json::to_vec(&cells)
        {
            lead.store(bytes.into()).await;
        }
        Ok(cells)
    }
}

/// A result or an error as bytes; `None` for an error that concerns this run alone.
async fn encode_result(result: &Result<ResultSet, SqlError>) -> Option<Arc<[u8]>> {
    match result {
        Ok(results) => {
            let results = results.clone();
            let work = tokio::task::spawn_blocking(move || {
                encode(&results).map(|bytes| tag_bytes(RESULT, &bytes))
            });
            blocking::await_work(work).await.ok()?.ok()
        }
        Err(error) if matches!(error.kind, SqlErrorKind::Cancelled | SqlErrorKind::Budget) => None,
        Err(error) => serde_json::to_vec(error).ok().map(|bytes| tag_bytes(ERROR, &bytes)),
    }
}

fn tag_bytes(tag: u8, bytes: &[u8]) -> Arc<[u8]> {
    [&[tag], bytes].concat().into()
}

/// Decodes what [`encode_result`] returned; `None` when the bytes are something else.
async fn decode_result(bytes: Arc<[u8]>) -> Option<Result<ResultSet, SqlError>> {
    blocking::await_work(tokio::task::spawn_blocking(move || match bytes.split_first()? {
        (&RESULT, results) => decode(results).ok().map(Ok),
        (&ERROR, error) => serde_json::from_slice(error).ok().map(Err),
        _ => None,
    }))
    .await
    .ok()?
}

#[async_trait]
impl CellIndex for CachedDatabase {
    async fn samples(
        &self,
        table: &str,
        columns: &[String],
        limit: u32,
    ) -> Result<Vec<Sample>, PortError> {
        // What a view shows may change while the data do not.
        let made = self.inner.samples(table, columns, limit);
        if !self.inner.catalog().await.is_ok_and(|catalog: Arc<Catalog>| {
            catalog.table(table).is_some_and(|table| !table.is_view())
        }) {
            return made.await;
        }
        self.cells(&(VERSION, "samples", table, columns, limit), made).await
    }

    async fn find(
        &self,
        phrases: &[String],
        how: Match,
        limit: u32,
    ) -> Result<Vec<Vec<Hit>>, PortError> {
        let made = self.inner.find(phrases, how.clone(), limit);
        self.cells(&(VERSION, "find", phrases, &how, limit), made).await
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

    fn compose(&self, query: &SqlQuery) -> Result<String, SqlError> {
        self.inner.compose(query)
    }

    async fn check(&self, query: &SqlQuery) -> Result<Facts, SqlError> {
        self.inner.check(query).await
    }

    async fn explain(&self, query: &SqlQuery) -> Result<Plan, SqlError> {
        self.inner.explain(query).await
    }

    async fn run(&self, query: &SqlQuery) -> Result<ResultSet, SqlError> {
        let sql = query.key(self.inner.as_ref())?;
        let Some((identity, key)) = self.key(&sql).await else {
            return self.inner.run(query).await;
        };
        match look_up(&self.cache, key, decode_result).await {
            Lookup::Hit(result) => result,
            Lookup::Miss(Some(lead)) => self.lead(lead, query, &sql, &identity).await,
            Lookup::Miss(None) => self.inner.run(query).await,
        }
    }

    async fn column_stats(
        &self,
        table: &str,
        columns: &[String],
    ) -> Result<Vec<ColumnStats>, PortError> {
        self.inner.column_stats(table, columns).await
    }

    // What is measured must reach the engine.
    async fn bench(&self, limits: BenchLimits) -> Result<Box<dyn Bench>, PortError> {
        self.inner.bench(limits).await
    }
}

#[cfg(test)]
mod tests;
