//! Equal statements of one search run once: how the host pairs a candidate with its rows without running it again.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::{BoxFuture, Shared, WeakShared};
use syrch_core::ports::{Database, Query};
use syrch_core::{ResultSet, SqlError, SqlErrorKind};

/// Bytes of results that are kept for one search; over it the oldest go, and would run again.
const KEPT_BYTES: usize = 256 << 20;

type Answer = Result<Arc<ResultSet>, SqlError>;
type Flight = Shared<BoxFuture<'static, Answer>>;

/// The results of one search by the statement that gave them. Relations are spliced in before statements are compared, so the same
/// text over another task's result is another statement. A result from here is not charged again.
pub struct Memo {
    database: Arc<dyn Database>,
    kept_bytes: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    entries: HashMap<String, Entry>,
    /// Finished statements with their sizes, the oldest first.
    finished: VecDeque<(String, usize)>,
    bytes: usize,
    flights: u64,
}

enum Entry {
    /// Under way. Held weakly: when all who wait for it are gone, the statement is interrupted.
    Flying(u64, WeakShared<BoxFuture<'static, Answer>>),
    Finished(Answer),
}

enum Found {
    Finished(Answer),
    Flying(u64, Flight),
}

impl Memo {
    /// An empty memo over a database, which is asked for what is not here.
    #[must_use]
    pub fn new(database: Arc<dyn Database>) -> Arc<Self> {
        Arc::new(Self { database, kept_bytes: KEPT_BYTES, state: Mutex::default() })
    }

    /// The database behind it.
    #[must_use]
    pub fn database(&self) -> &Arc<dyn Database> {
        &self.database
    }

    /// The result of a statement: kept, or shared with who else waits for it, or run. Dropping the last future that waits for a
    /// statement interrupts it. Errors that another time may mend (a timeout, an outage, a cancellation, a spent budget) are not
    /// kept.
    ///
    /// # Errors
    /// What the database has against it.
    pub async fn run(&self, query: &Query) -> Result<Arc<ResultSet>, SqlError> {
        let key = self.database.compose(query)?;
        match self.find(&key, query) {
            Found::Finished(answer) => answer,
            Found::Flying(flight, shared) => {
                let answer = shared.await;
                self.keep(key, flight, &answer);
                answer
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, key: &str, query: &Query) -> Found {
        let mut state = self.state();
        match state.entries.get(key) {
            Some(Entry::Finished(answer)) => return Found::Finished(answer.clone()),
            Some(Entry::Flying(flight, weak)) => {
                if let Some(shared) = weak.upgrade() {
                    return Found::Flying(*flight, shared);
                }
            }
            None => {}
        }
        let (database, query) = (Arc::clone(&self.database), query.clone());
        let shared = async move { database.run(&query).await.map(Arc::new) }.boxed().shared();
        state.flights += 1;
        let flight = state.flights;
        if let Some(weak) = shared.downgrade() {
            state.entries.insert(key.to_owned(), Entry::Flying(flight, weak));
        }
        Found::Flying(flight, shared)
    }

    /// Puts an answer in place of its own flight; a later flight of the same statement is left alone.
    fn keep(&self, key: String, flight: u64, answer: &Answer) {
        let mut state = self.state();
        if !matches!(state.entries.get(&key), Some(Entry::Flying(own, _)) if *own == flight) {
            return;
        }
        if !is_lasting(answer) {
            state.entries.remove(&key);
            return;
        }
        let size = key.len() + answer.as_ref().map_or(0, |results| bytes(results));
        state.entries.insert(key.clone(), Entry::Finished(answer.clone()));
        state.finished.push_back((key, size));
        state.bytes += size;
        while state.bytes > self.kept_bytes && state.finished.len() > 1 {
            let Some((oldest, size)) = state.finished.pop_front() else { break };
            state.entries.remove(&oldest);
            state.bytes -= size;
        }
    }
}

fn is_lasting(answer: &Answer) -> bool {
    !answer.as_ref().is_err_and(|error| {
        matches!(
            error.kind,
            SqlErrorKind::Timeout | SqlErrorKind::Cancelled | SqlErrorKind::Unavailable | SqlErrorKind::Budget
        )
    })
}

fn bytes(results: &ResultSet) -> usize {
    results.batches().iter().map(|batch| batch.get_array_memory_size()).sum()
}

#[cfg(test)]
mod tests {
    use futures::future::join_all;
    use syrch_core::Ledger;
    use syrch_core::Limits;
    use syrch_core::ledger::Budgets;
    use syrch_core::ports::Relation;

    use super::*;
    use crate::BudgetedDatabase;
    use crate::fakes::FakeDatabase;

    fn over(database: FakeDatabase) -> (Arc<FakeDatabase>, Arc<Memo>) {
        let database = Arc::new(database);
        (Arc::clone(&database), Memo::new(database))
    }

    #[tokio::test]
    async fn equal_statements_fly_once() {
        let (database, memo) = over(FakeDatabase::default());
        let query = Query::new("SELECT 7");
        let results = join_all((0..20).map(|_| memo.run(&query))).await;
        let first = results[0].as_ref().unwrap();
        assert!(results.iter().all(|result| Arc::ptr_eq(result.as_ref().unwrap(), first)));
        assert!(Arc::ptr_eq(&memo.run(&query).await.unwrap(), first));
        assert_eq!(database.runs(), 1);
    }

    #[tokio::test]
    async fn the_same_text_over_another_relation_is_another_statement() {
        let (database, memo) = over(FakeDatabase::default());
        let over = |sql: &str| Query {
            text: "SELECT n FROM task_a".into(),
            relations: vec![Relation { name: "task_a".into(), sql: sql.into(), columns: Vec::new() }],
        };
        for sql in ["SELECT 1 AS n", "SELECT 2 AS n", "SELECT 1 AS n"] {
            memo.run(&over(sql)).await.unwrap();
        }
        assert_eq!(database.runs(), 2);
    }

    #[tokio::test]
    async fn only_lasting_errors_are_kept() {
        for (kind, runs) in [
            (SqlErrorKind::Syntax, 1),
            (SqlErrorKind::Denied, 1),
            (SqlErrorKind::Timeout, 2),
            (SqlErrorKind::Cancelled, 2),
            (SqlErrorKind::Unavailable, 2),
            (SqlErrorKind::Budget, 2),
        ] {
            let (database, memo) = over(FakeDatabase::failing(kind));
            for _ in 0..2 {
                assert_eq!(memo.run(&Query::new("SELECT 1")).await.unwrap_err().kind, kind);
            }
            assert_eq!(database.runs(), runs, "{kind:?}");
        }
    }

    #[tokio::test]
    async fn a_statement_that_nobody_waits_for_is_interrupted() {
        let (database, memo) = over(FakeDatabase::hanging());
        let query = Query::new("SELECT 1");
        {
            let mut one = Box::pin(memo.run(&query));
            let mut two = Box::pin(memo.run(&query));
            assert!(futures::poll!(one.as_mut()).is_pending() && futures::poll!(two.as_mut()).is_pending());
            drop(one);
            assert!(futures::poll!(two.as_mut()).is_pending());
            assert_eq!((database.runs(), database.under_way()), (1, 1));
        }
        assert_eq!(database.under_way(), 0);
        let mut again = Box::pin(memo.run(&query));
        assert!(futures::poll!(again.as_mut()).is_pending());
        assert_eq!(database.runs(), 2);
    }

    #[tokio::test]
    async fn results_from_the_memo_are_not_charged_again() {
        let ledger = Ledger::new(Budgets { sql_runs: 1, ..Budgets::default() });
        let database =
            BudgetedDatabase::new(Arc::new(FakeDatabase::default()), Arc::clone(&ledger), &Limits::default());
        let memo = Memo::new(Arc::new(database));
        assert!(memo.run(&Query::new("SELECT 1")).await.is_ok() && memo.run(&Query::new("SELECT 1")).await.is_ok());
        assert_eq!(memo.run(&Query::new("SELECT 2")).await.unwrap_err().kind, SqlErrorKind::Budget);
        assert!(memo.run(&Query::new("SELECT 1")).await.is_ok());
        assert_eq!(ledger.spent().sql_runs, 1);
    }

    #[tokio::test]
    async fn the_oldest_results_go_when_there_are_too_many() {
        let database = Arc::new(FakeDatabase::default());
        let memo = Memo { database: Arc::clone(&database) as _, kept_bytes: 1, state: Mutex::default() };
        for text in ["SELECT 1", "SELECT 2", "SELECT 2", "SELECT 1"] {
            memo.run(&Query::new(text)).await.unwrap();
        }
        assert_eq!(database.runs(), 3);
        assert_eq!(memo.state().entries.len(), 1);
    }
}
