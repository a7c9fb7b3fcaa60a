//! Doubts about the result of a statement that ran: arithmetic over texts, a day against times, a
//! column that any row of a group may give. [`asked`] holds the result beside the question that it
//! answers.
//!
//! The facts of a statement say what may be wrong with it. The data decide, so this layer counts
//! them by statements of its own. Those are bounded in time and number, and are not charged: a
//! search's statements are those that it ran itself. One that fails gives no doubt.

mod absent;
pub(crate) mod asked;
mod joins;
mod kinds;
mod least;
mod outline;
mod probe;
#[cfg(test)]
mod tests;
mod ties;
mod words;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use syrch_core::ports::{
    Bench, BenchLimits, CellIndex, ColumnStats, Database, DatabaseError, Facts, Match, Outline,
    Plan, PortError, RowsGrant, Sample, SqlQuery, Use,
};
use syrch_core::{Catalog, Dialect, Doubt, Hit, ResultSet, SqlError, Value};

use crate::pivot::check_columns;

/// The longest time of the statements that count for one statement, all together.
const TIME: Duration = Duration::from_secs(3);
/// Statements that count for one statement.
const PROBES: usize = 16;
/// Rows of a result that are searched for spellings.
const SHOWN: u64 = 10_000;
/// Doubts about one statement.
const DOUBTS: usize = 8;
/// Statements whose uses are remembered, and counts.
const REMEMBERED: usize = 1_000;

/// The author of a search's statements. Doubts that would mark more right than wrong statements of
/// models are raised only for those of the rules and of definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// The offline rules.
    Rules,
    /// A model or a person.
    Other,
}

/// A database whose results carry the doubts about them.
pub struct DoubtingDatabase {
    inner: Arc<dyn Database>,
    /// The database that counts: the one below the budget.
    counting: Arc<dyn Database>,
    grant: RowsGrant,
    author: Author,
    shows_cells: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The facts of the statements that were checked last, by their composed text.
    read: Remembered<Arc<Read>>,
    /// The first row of each statement that counted.
    counts: Remembered<Counted>,
}

/// The facts of a statement.
struct Read {
    uses: Vec<Use>,
    outline: Option<Outline>,
    /// The comparisons of columns with blank texts, which are none of the uses.
    blanks: Vec<Use>,
    /// The statement in canonical spelling.
    normalized: String,
}

impl Read {
    fn new(facts: &Facts) -> Self {
        Self {
            uses: facts.uses.clone(),
            outline: facts.outline.clone(),
            blanks: absent::blanks(&facts.literals),
            normalized: facts.normalized.clone(),
        }
    }
}

/// The result of a statement that counts.
#[derive(Debug, Clone, PartialEq)]
enum Counted {
    Rows(Arc<Vec<Vec<Value>>>),
    /// The limit on its time was reached.
    Late,
    /// The engine refused it.
    Failed,
}

struct Remembered<T> {
    values: HashMap<String, T>,
    order: VecDeque<String>,
}

impl<T> Default for Remembered<T> {
    fn default() -> Self {
        Self { values: HashMap::new(), order: VecDeque::new() }
    }
}

impl<T: Clone> Remembered<T> {
    fn get(&self, key: &str) -> Option<T> {
        self.values.get(key).cloned()
    }

    fn insert(&mut self, key: String, value: T) {
        if self.values.insert(key.clone(), value).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.values.remove(&oldest);
        }
    }
}

impl DoubtingDatabase {
    /// Creates the layer around a database. `counting` is the same database below what charges
    /// statements; `author` is that of the statements. Doubts hold cell text as far as `grant`
    /// shows it.
    #[must_use]
    pub fn new(
        inner: Arc<dyn Database>,
        counting: Arc<dyn Database>,
        grant: RowsGrant,
        author: Author,
    ) -> Self {
        let shows_cells = matches!(grant, RowsGrant::Sample(_) | RowsGrant::Full);
        Self { inner, counting, grant, author, shows_cells, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a statement with all that its relations are made of.
    async fn read(&self, query: &SqlQuery) -> Option<Arc<Read>> {
        let sql = query.key(self.counting.as_ref()).ok()?;
        if let Some(known) = self.state().read.get(&sql) {
            return Some(known);
        }
        let check = SqlQuery::new(sql.clone());
        let read = Arc::new(Read::new(&self.counting.check(&check).await.ok()?));
        self.state().read.insert(sql, Arc::clone(&read));
        Some(read)
    }

    async fn doubts(&self, query: &SqlQuery, results: &ResultSet) -> Vec<Doubt> {
        let started = Instant::now();
        let read = async {
            let read = self
                .read(query)
                .await
                .filter(|read| !read.uses.is_empty() || read.outline.is_some())?;
            Some((read, self.counting.catalog().await.ok()?))
        };
        let Ok(Some((read, catalog))) = tokio::time::timeout(TIME, read).await else {
            return Vec::new();
        };
        let dialect = &catalog.dialect;
        let uses = read.uses.as_slice();
        let results = Seen(results);
        let is_cut = read.outline.as_ref().is_some_and(|outline| outline.limit.is_some());
        let mut judge = Judge {
            layer: self,
            catalog: &catalog,
            dialect,
            uses,
            results,
            outline: read.outline.as_ref(),
            defined: Some(query.text.as_str()).filter(|sql| sql.starts_with(ties::DEFINED)),
            author: self.author,
            is_cut,
            started,
            left: PROBES,
        };
        let mut doubts: Vec<Doubt> = Vec::new();
        for one in uses {
            // One reason is enough for one column.
            let mut doubt = judge.doubt(one).await;
            if doubt.is_none() {
                doubt = judge.doubt_absent(one, &read.normalized).await;
            }
            if doubt.is_none() {
                doubt = judge.absent_day(one).await;
            }
            doubts.extend(doubt.filter(|doubt| !doubts.contains(doubt)));
        }
        for one in &read.blanks {
            doubts.extend(judge.doubt_absent(one, &read.normalized).await);
        }
        if let Some(outline) = &read.outline {
            doubts.extend(judge.outline(outline).await);
            doubts.extend(judge.tie(outline).await);
            for wanted in &outline.all_of {
                doubts.extend(judge.doubt_absent_like(wanted).await);
            }
        }
        doubts.extend(judge.tie_in_group().await);
        doubts.extend(judge.doubt_least().await);
        doubts.truncate(DOUBTS);
        doubts
    }
}

/// The checks of the result itself, for which no statement has to count.
#[derive(Clone, Copy)]
struct Seen<'r>(&'r ResultSet);

impl Seen<'_> {
    /// Returns whether the result says nothing: it has no rows, or one of zeros and NULL.
    fn is_void(self) -> bool {
        match self.0.rows(0, 2).as_slice() {
            [] => true,
            [only] => only.iter().all(|value: &Value| {
                matches!(value, Value::Null | Value::Integer(0)) || *value == Value::Real(0.0)
            }),
            _ => false,
        }
    }

    /// Returns whether two of its rows are equal, where they are not too many to tell.
    fn repeats_rows(self) -> bool {
        let rows = self.0.rows(0, SHOWN + 1);
        let mut known: HashSet<String> = HashSet::new();
        rows.len() as u64 <= SHOWN && rows.iter().any(|row| !known.insert(format!("{row:?}")))
    }

    /// Returns whether two texts of one column differ in letter case or in blanks around them
    /// alone, or the rows are too few or too many to tell.
    fn may_have_spellings(self) -> bool {
        let rows = self.0.rows(0, SHOWN + 1);
        if rows.len() < 2 || rows.len() as u64 > SHOWN {
            return true;
        }
        let mut known: HashMap<(usize, String), &str> = HashMap::new();
        rows.iter().flat_map(|row| row.iter().enumerate()).any(|(column, value)| {
            let Value::Text(text) = value else { return false };
            *known.entry((column, text.trim().to_lowercase())).or_insert(text) != text.as_str()
        })
    }
}

/// Judges the uses of one statement.
struct Judge<'j> {
    layer: &'j DoubtingDatabase,
    catalog: &'j Catalog,
    dialect: &'j Dialect,
    uses: &'j [Use],
    results: Seen<'j>,
    outline: Option<&'j Outline>,
    /// The text of a statement that definitions gave.
    defined: Option<&'j str>,
    author: Author,
    /// True if the statement has a LIMIT.
    is_cut: bool,
    started: Instant,
    /// Statements that may still count.
    left: usize,
}

impl Judge<'_> {
    /// The rows of a statement that counts; within `most` and what is left of the time of all.
    async fn count(&mut self, sql: String, most: Duration) -> Counted {
        if let Some(known) = self.layer.state().counts.get(&sql) {
            return known;
        }
        let left = TIME.saturating_sub(self.started.elapsed()).min(most);
        if self.left == 0 || left.is_zero() {
            return Counted::Late;
        }
        self.left -= 1;
        let query = SqlQuery::new(sql.clone());
        let counted = match tokio::time::timeout(left, self.layer.counting.run(&query)).await {
            Ok(Ok(results)) => Counted::Rows(Arc::new(results.rows(0, probe::ROWS))),
            Ok(Err(error)) if error.kind == syrch_core::SqlErrorKind::Timeout => Counted::Late,
            Ok(Err(error)) => {
                tracing::debug!(sql, %error, "a statement that counts failed");
                Counted::Failed
            }
            Err(_) => Counted::Late,
        };
        // One that was late may be in time when less else is running.
        if counted != Counted::Late {
            self.layer.state().counts.insert(sql, counted.clone());
        }
        counted
    }
}

#[async_trait]
impl CellIndex for DoubtingDatabase {
    async fn samples(
        &self,
        table: &str,
        columns: &[String],
        limit: u32,
    ) -> Result<Vec<Sample>, PortError> {
        self.inner.samples(table, columns, limit).await
    }

    async fn find(
        &self,
        phrases: &[String],
        how: Match,
        limit: u32,
    ) -> Result<Vec<Vec<Hit>>, PortError> {
        self.inner.find(phrases, how, limit).await
    }

    fn is_repeatable(&self) -> bool {
        self.inner.is_repeatable()
    }
}

#[async_trait]
impl Database for DoubtingDatabase {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn dialect(&self) -> Dialect {
        self.inner.dialect()
    }

    fn warnings(&self) -> Vec<String> {
        self.inner.warnings()
    }

    async fn identity(&self) -> Option<String> {
        self.inner.identity().await
    }

    async fn catalog(&self) -> Result<Arc<Catalog>, DatabaseError> {
        self.inner.catalog().await
    }

    fn layers(&self) -> Vec<&'static str> {
        std::iter::once("doubts").chain(self.inner.layers()).collect()
    }

    fn compose(&self, query: &SqlQuery) -> Result<String, SqlError> {
        self.inner.compose(query)
    }

    async fn check(&self, query: &SqlQuery) -> Result<Facts, SqlError> {
        let facts = self.inner.check(query).await?;
        // What is checked is run next as a rule. The facts of one that names finished tasks are not
        // those of all of it.
        if query.relations.is_empty()
            && let Ok(sql) = query.key(self.inner.as_ref())
        {
            self.state().read.insert(sql, Arc::new(Read::new(&facts)));
        }
        Ok(facts)
    }

    async fn explain(&self, query: &SqlQuery) -> Result<Plan, SqlError> {
        self.inner.explain(query).await
    }

    async fn run(&self, query: &SqlQuery) -> Result<ResultSet, SqlError> {
        check_columns(query, self.grant)?;
        let results = self.inner.run(query).await?;
        Ok(match self.doubts(query, &results).await {
            none if none.is_empty() => results,
            doubts => results.with_doubts(doubts),
        })
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
