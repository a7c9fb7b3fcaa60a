//! Statements, charged to the search's ledger.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use syrch_core::ledger::Exhausted;
use syrch_core::ports::{
    Bench, BenchLimits, CellIndex, ColumnStats, Database, DatabaseError, Facts, Match, NO_SEARCH,
    OVERRUN, Plan, PortError, Sample, SqlQuery, in_search,
};
use syrch_core::{Catalog, Dialect, Hit, Ledger, Limits, ResultSet, SqlError, SqlErrorKind};
use tokio::sync::{Semaphore, SemaphorePermit};

/// The message for a search whose statement overran its deadline.
const STOPPED: &str =
    "this search runs no more statements: one of its own still ran after its deadline";

/// The number of the next search.
static SEARCHES: AtomicU64 = AtomicU64::new(NO_SEARCH + 1);

/// A database that charges each statement that it runs or explains, with as many in flight as the
/// limits allow. Catalog, checks, statistics and the index are no statements of the guest's and are
/// not charged; port calls as such are counted elsewhere. After anything of this still ran at its
/// deadline, the search gets nothing more but the catalog.
pub struct BudgetedDatabase {
    inner: Arc<dyn Database>,
    ledger: Arc<Ledger>,
    slots: Semaphore,
    /// The search's number in this process.
    search: u64,
}

impl BudgetedDatabase {
    /// Creates the layer around a database.
    #[must_use]
    pub fn new(inner: Arc<dyn Database>, ledger: Arc<Ledger>, limits: &Limits) -> Self {
        let slots = Semaphore::new(limits.sql_in_flight.clamp(1, Semaphore::MAX_PERMITS));
        let search = SEARCHES.fetch_add(1, Ordering::Relaxed);
        Self { inner, ledger, slots, search }
    }

    /// Waits for a slot, then charges the statement. A statement that is cancelled while it waits
    /// is not charged.
    async fn charge(&self) -> Result<SemaphorePermit<'_>, SqlError> {
        let slot = self
            .slots
            .acquire()
            .await
            .map_err(|_| SqlError::new(SqlErrorKind::Cancelled, "cancelled"))?;
        self.ledger.charge_sql_run().map_err(|which| match which {
            Exhausted::Overrun => stop_error(),
            _ => {
                let most = self.ledger.budgets().sql_runs;
                SqlError::new(
                    SqlErrorKind::Budget,
                    format!("this search has run all of its {most} statements"),
                )
                .rule("sql-runs")
            }
        })?;
        Ok(slot)
    }

    /// Returns the result, and stops the search if its statement overran its deadline.
    fn note_overrun_of<T>(&self, result: Result<T, SqlError>) -> Result<T, SqlError> {
        if result.as_ref().is_err_and(|error| error.rule.as_deref() == Some(OVERRUN)) {
            self.ledger.note_overrun();
        }
        result
    }

    /// Returns the result, and stops the search if its call overran its deadline; for calls whose
    /// errors carry no rule.
    fn note_overrun_of_call<T>(&self, result: Result<T, PortError>) -> Result<T, PortError> {
        if matches!(result, Err(PortError::Budget)) {
            self.ledger.note_overrun();
        }
        result
    }

    fn has_overrun(&self) -> bool {
        self.ledger.spending().exhausted.contains(&Exhausted::Overrun)
    }

    async fn slot(&self) -> Result<SemaphorePermit<'_>, PortError> {
        let slot =
            self.slots.acquire().await.map_err(|_| PortError::Unavailable("cancelled".into()))?;
        if self.has_overrun() { Err(PortError::Budget) } else { Ok(slot) }
    }
}

fn stop_error() -> SqlError {
    SqlError::new(SqlErrorKind::Budget, STOPPED).rule(OVERRUN)
}

#[async_trait]
impl CellIndex for BudgetedDatabase {
    async fn samples(
        &self,
        table: &str,
        columns: &[String],
        limit: u32,
    ) -> Result<Vec<Sample>, PortError> {
        let _slot = self.slot().await?;
        self.note_overrun_of_call(
            in_search(self.search, self.inner.samples(table, columns, limit)).await,
        )
    }

    async fn find(
        &self,
        phrases: &[String],
        how: Match,
        limit: u32,
    ) -> Result<Vec<Vec<Hit>>, PortError> {
        let _slot = self.slot().await?;
        self.note_overrun_of_call(
            in_search(self.search, self.inner.find(phrases, how, limit)).await,
        )
    }

    fn is_repeatable(&self) -> bool {
        self.inner.is_repeatable()
    }
}

#[async_trait]
impl Database for BudgetedDatabase {
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
        std::iter::once("budget").chain(self.inner.layers()).collect()
    }

    fn compose(&self, query: &SqlQuery) -> Result<String, SqlError> {
        self.inner.compose(query)
    }

    async fn check(&self, query: &SqlQuery) -> Result<Facts, SqlError> {
        if self.has_overrun() {
            return Err(stop_error());
        }
        self.note_overrun_of(in_search(self.search, self.inner.check(query)).await)
    }

    async fn explain(&self, query: &SqlQuery) -> Result<Plan, SqlError> {
        let _slot = self.charge().await?;
        self.note_overrun_of(in_search(self.search, self.inner.explain(query)).await)
    }

    async fn run(&self, query: &SqlQuery) -> Result<ResultSet, SqlError> {
        let _slot = self.charge().await?;
        self.note_overrun_of(in_search(self.search, self.inner.run(query)).await)
    }

    async fn column_stats(
        &self,
        table: &str,
        columns: &[String],
    ) -> Result<Vec<ColumnStats>, PortError> {
        let _slot = self.slot().await?;
        self.note_overrun_of_call(
            in_search(self.search, self.inner.column_stats(table, columns)).await,
        )
    }

    // What is measured must reach the engine.
    async fn bench(&self, limits: BenchLimits) -> Result<Box<dyn Bench>, PortError> {
        self.inner.bench(limits).await
    }
}

#[cfg(test)]
mod tests {
    use futures::future::join_all;
    use syrch_core::ledger::Budgets;

    use super::*;
    use crate::fakes::FakeDatabase;

    #[tokio::test]
    async fn statements_end_with_their_budget() {
        let ledger = Ledger::new(Budgets { sql_runs: 5, ..Budgets::default() });
        let inner = Arc::new(FakeDatabase::default());
        let limits = Limits { sql_in_flight: 2, ..Limits::default() };
        let database = BudgetedDatabase::new(Arc::clone(&inner) as _, Arc::clone(&ledger), &limits);
        assert!(database.explain(&SqlQuery::new("SELECT 0")).await.is_ok());
        let queries: Vec<SqlQuery> = (0..9).map(|n| SqlQuery::new(format!("SELECT {n}"))).collect();
        let results = join_all(queries.iter().map(|query| database.run(query))).await;
        let refused: Vec<&SqlError> =
            results.iter().filter_map(|result| result.as_ref().err()).collect();
        assert_eq!(refused.len(), 5);
        assert!(
            refused.iter().all(|error| error.kind == SqlErrorKind::Budget
                && error.rule.as_deref() == Some("sql-runs"))
        );
        assert_eq!((inner.runs(), inner.peak(), ledger.spending().sql_runs), (4, 2, 5));
        assert!(database.check(&queries[0]).await.is_ok() && database.catalog().await.is_ok());
    }

    #[tokio::test]
    async fn a_search_whose_statement_does_not_end_runs_no_more() {
        let ledger = Ledger::new(Budgets::default());
        let inner = Arc::new(FakeDatabase::overrunning());
        let database =
            BudgetedDatabase::new(Arc::clone(&inner) as _, Arc::clone(&ledger), &Limits::default());
        let query = SqlQuery::new("SELECT 1");
        assert_eq!(database.run(&query).await.unwrap_err().kind, SqlErrorKind::Timeout);
        for refused in [
            database.run(&query).await.err(),
            database.explain(&query).await.err(),
            database.check(&query).await.err(),
        ] {
            let refused = refused.unwrap();
            assert_eq!(
                (refused.kind, refused.rule.as_deref()),
                (SqlErrorKind::Budget, Some(OVERRUN))
            );
            assert!(refused.message.contains("still ran after its deadline"), "{refused:?}");
        }
        assert_eq!((inner.runs(), ledger.spending().exhausted), (1, vec![Exhausted::Overrun]));
    }

    #[tokio::test]
    async fn a_call_that_does_not_end_stops_the_search_like_a_statement() {
        for first in 0..4 {
            let ledger = Ledger::new(Budgets::default());
            let inner = Arc::new(FakeDatabase::overrunning());
            let database = BudgetedDatabase::new(
                Arc::clone(&inner) as _,
                Arc::clone(&ledger),
                &Limits::default(),
            );
            // Every call reaches the database or is refused, and is an error both ways.
            for call in (0..4).cycle().skip(first).take(5) {
                let query = SqlQuery::new("SELECT 1");
                let is_refused = match call {
                    0 => database.check(&query).await.is_err(),
                    1 => database.column_stats("t", &[]).await == Err(PortError::Budget),
                    2 => database.samples("t", &[], 1).await == Err(PortError::Budget),
                    _ => database.find(&[], Match::Exact, 1).await == Err(PortError::Budget),
                };
                assert!(is_refused, "{call} after {first}");
            }
            assert_eq!(
                (inner.runs(), ledger.spending().exhausted),
                (1, vec![Exhausted::Overrun]),
                "{first}"
            );
        }
    }
}
