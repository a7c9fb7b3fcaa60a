//! Runs equal statements of one search once, so that the host can pair a candidate with its rows
//! without running it again.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::{BoxFuture, Shared, WeakShared};
use syrch_core::ports::{Database, SqlQuery};
use syrch_core::{ResultSet, SqlError, SqlErrorKind};

/// Bytes of results that one search retains. Beyond that the oldest are dropped, and would run
/// again.
const RETAINED_BYTES: usize = 256 << 20;

type Answer = Result<Arc<ResultSet>, SqlError>;
type SharedRun = Shared<BoxFuture<'static, Answer>>;

/// The results of one search by the key of their statement. A result from the memo is not charged
/// again.
pub struct Memo {
    database: Arc<dyn Database>,
    retained_bytes: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    entries: HashMap<String, Entry>,
    /// Finished statements with their sizes, the oldest first.
    finished: VecDeque<(String, usize)>,
    bytes: usize,
    runs: u64,
}

enum Entry {
    /// The statement is in run. The reference is weak: when all callers that wait for it are gone,
    /// the statement is interrupted.
    InFlight(u64, WeakShared<BoxFuture<'static, Answer>>),
    Finished(Answer),
}

enum Found {
    Finished(Answer),
    InFlight(u64, SharedRun),
}

impl Memo {
    /// Creates an empty memo over a database.
    #[must_use]
    pub fn new(database: Arc<dyn Database>) -> Arc<Self> {
        Arc::new(Self { database, retained_bytes: RETAINED_BYTES, state: Mutex::default() })
    }

    /// The database under the memo.
    #[must_use]
    pub fn database(&self) -> &Arc<dyn Database> {
        &self.database
    }

    /// The result of a statement: a retained one, or that of an equal statement in run, or else the
    /// statement runs. Dropping the last future that waits for a statement interrupts it. Errors
    /// that may not occur again (a timeout, an outage, a cancellation, a used-up budget) are not
    /// retained.
    ///
    /// # Errors
    /// The error of the database.
    pub async fn run(&self, query: &SqlQuery) -> Result<Arc<ResultSet>, SqlError> {
        let key = query.key(self.database.as_ref())?;
        match self.find(&key, query) {
            Found::Finished(answer) => answer,
            Found::InFlight(run, shared) => {
                let answer = shared.await;
                self.complete(key, run, &answer);
                answer
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, key: &str, query: &SqlQuery) -> Found {
        let mut state = self.state();
        match state.entries.get(key) {
            Some(Entry::Finished(answer)) => return Found::Finished(answer.clone()),
            Some(Entry::InFlight(run, weak)) => {
                if let Some(shared) = weak.upgrade() {
                    return Found::InFlight(*run, shared);
                }
            }
            None => {}
        }
        let database = Arc::clone(&self.database);
        let query = query.clone();
        let shared = async move { database.run(&query).await.map(Arc::new) }.boxed().shared();
        state.runs += 1;
        let run = state.runs;
        if let Some(weak) = shared.downgrade() {
            state.entries.insert(key.to_owned(), Entry::InFlight(run, weak));
        }
        Found::InFlight(run, shared)
    }

    /// Replaces a statement in run by its answer; a later run of the same statement is left alone.
    fn complete(&self, key: String, run: u64, answer: &Answer) {
        let mut state = self.state();
        if !matches!(state.entries.get(&key), Some(Entry::InFlight(own, _)) if *own == run) {
            return;
        }
        if !is_lasting(answer) {
            state.entries.remove(&key);
            return;
        }
        let size = key.len() + answer.as_ref().map_or(0, |results| results.size());
        state.entries.insert(key.clone(), Entry::Finished(answer.clone()));
        state.finished.push_back((key, size));
        state.bytes += size;
        while state.bytes > self.retained_bytes && state.finished.len() > 1 {
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
            SqlErrorKind::Timeout
                | SqlErrorKind::Cancelled
                | SqlErrorKind::Unavailable
                | SqlErrorKind::Budget
        )
    })
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
    async fn equal_statements_run_once() {
        let (database, memo) = over(FakeDatabase::default());
        let query = SqlQuery::new("SELECT 7");
        let results = join_all((0..20).map(|_| memo.run(&query))).await;
        let first = results[0].as_ref().unwrap();
        assert!(results.iter().all(|result| Arc::ptr_eq(result.as_ref().unwrap(), first)));
        assert!(Arc::ptr_eq(&memo.run(&query).await.unwrap(), first));
        assert_eq!(database.runs(), 1);
    }

    #[tokio::test]
    async fn the_same_text_over_another_relation_is_another_statement() {
        let (database, memo) = over(FakeDatabase::default());
        let over = |sql: &str| SqlQuery {
            text: "SELECT n FROM task_a".into(),
            relations: vec![Relation {
                name: "task_a".into(),
                sql: sql.into(),
                columns: Vec::new(),
            }],
        };
        for sql in ["SELECT 1 AS n", "SELECT 2 AS n", "SELECT 1 AS n"] {
            memo.run(&over(sql)).await.unwrap();
        }
        assert_eq!(database.runs(), 2);
    }

    #[tokio::test]
    async fn only_lasting_errors_are_retained() {
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
                assert_eq!(memo.run(&SqlQuery::new("SELECT 1")).await.unwrap_err().kind, kind);
            }
            assert_eq!(database.runs(), runs, "{kind:?}");
        }
    }

    #[tokio::test]
    async fn a_statement_that_nobody_waits_for_is_interrupted() {
        let (database, memo) = over(FakeDatabase::hanging());
        let query = SqlQuery::new("SELECT 1");
        {
            let mut one = Box::pin(memo.run(&query));
            let mut two = Box::pin(memo.run(&query));
            assert!(
                futures::poll!(one.as_mut()).is_pending()
                    && futures::poll!(two.as_mut()).is_pending()
            );
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
        let database = BudgetedDatabase::new(
            Arc::new(FakeDatabase::default()),
            Arc::clone(&ledger),
            &Limits::default(),
        );
        let memo = Memo::new(Arc::new(database));
        assert!(
            memo.run(&SqlQuery::new("SELECT 1")).await.is_ok()
                && memo.run(&SqlQuery::new("SELECT 1")).await.is_ok()
        );
        assert_eq!(
            memo.run(&SqlQuery::new("SELECT 2")).await.unwrap_err().kind,
            SqlErrorKind::Budget
        );
        assert!(memo.run(&SqlQuery::new("SELECT 1")).await.is_ok());
        assert_eq!(ledger.spending().sql_runs, 1);
    }

    #[tokio::test]
    async fn the_oldest_results_go_when_there_are_too_many() {
        let database = Arc::new(FakeDatabase::default());
        let memo = Memo {
            database: Arc::clone(&database) as _,
            retained_bytes: 1,
            state: Mutex::default(),
        };
        for text in ["SELECT 1", "SELECT 2", "SELECT 2", "SELECT 1"] {
            memo.run(&SqlQuery::new(text)).await.unwrap();
        }
        assert_eq!(database.runs(), 3);
        assert_eq!(memo.state().entries.len(), 1);
    }
}
