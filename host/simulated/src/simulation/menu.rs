//! The possible answers to a question: the right statements, and one menu of wrong ones, which all
//! samples share. A menu is made once for each question, at its first call, by running mutants of
//! the expected statement on the database.

use std::sync::Arc;

use syrch_core::ports::{Database, LlmError, SqlQuery};
use syrch_core::{Catalog, SqlError, SqlErrorKind, blocking};
use syrch_memory::MemoryCache;

use super::chance::Chance;
use super::difficulty::features;
use super::mutants::{in_order, parse};
use super::same::{Same, digest};
use super::suite::SimulatedQuestion;

/// Mutants that are run for one menu.
const TRIED: usize = 96;
/// Wrong results with rows that a menu holds.
const ROWS: usize = 12;
/// Statements that fail, and those without rows.
const FAILED: usize = 3;
const EMPTY: usize = 2;
/// If a menu has fewer wrong answers than this, reads of whole tables are added.
const LEAST: usize = 3;
/// Mutants that exceed the database's time limit: after so many no others are tried. Time is not
/// measured here, since the time that a statement waits for its execution differs from run to run.
const SLOW: usize = 6;
/// The probability that a place of the menu gets a statement that fails, if there is one. With it,
/// 12.6 % of the wrong answers fail, as in the recordings.
const FAILED_SHARE: f64 = 0.105;
/// The probability that another place gets a result without rows, if there is one. In the
/// recordings it is 18.3 %, and many statements, such as counts, have no such mutant.
const EMPTY_SHARE: f64 = 0.27;

/// Menus that are cached at most; others are dropped and made again.
const MAX_MENUS: usize = 4_096;

/// The menus of a suite's questions, by their place and their database's state. A menu depends on
/// the question and the content of its database, and not on the seed or the settings.
pub(super) type Menus = MemoryCache<(usize, String), Menu>;

pub(super) fn menus() -> Menus {
    MemoryCache::new(MAX_MENUS)
}

/// The possible answers to a question.
#[derive(Default)]
pub(super) struct Menu {
    /// Statements that are right and run, the suite's own first.
    pub(super) right: Vec<Right>,
    /// Wrong ones, the most frequent first. No two have the same result.
    pub(super) wrong: Vec<String>,
    /// The sum of the features that determine the difficulty.
    pub(super) features: Option<f64>,
    same: Vec<Same>,
}

/// A statement that is right.
pub(super) struct Right {
    pub(super) sql: String,
    /// Tables and columns (`table.column`) that it reads.
    tables: Vec<String>,
    columns: Vec<String>,
}

impl Right {
    /// Returns true if a catalog has all tables and columns that it reads.
    pub(super) fn is_shown(&self, catalog: &Catalog) -> bool {
        self.tables.iter().all(|name| catalog.table(name).is_some())
            && self.columns.iter().all(|name: &String| {
                let Some((table, column)) = name.rsplit_once('.') else { return true };
                catalog.table(table).is_some_and(|table| table.column(column).is_some())
            })
    }
}

impl Menu {
    /// Returns true if a result equals that of an expected statement.
    pub(super) fn is_right(&self, result: &Same) -> bool {
        self.same.contains(result)
    }

    /// Makes the menu of a question. `chance` is that of the question, whatever the seed.
    ///
    /// # Errors
    /// When the database is unavailable. An expected statement that does not run leaves a menu
    /// without a right answer.
    pub(super) async fn make(
        question: &SimulatedQuestion,
        database: &dyn Database,
        chance: &Chance,
    ) -> Result<Self, LlmError> {
        let catalog =
            database.catalog().await.map_err(|error| LlmError::Unavailable(error.to_string()))?;
        let mut menu = Self::default();
        let mut read = None;
        for gold in &question.golds {
            let statement = parse(gold, &catalog.dialect);
            if let Some((right, result)) = run_expected_statement(
                gold,
                statement.as_ref().map(ToString::to_string),
                question.ordered,
                database,
            )
            .await?
            {
                menu.same.push(result);
                menu.right.push(right);
            }
            read = read.or(statement);
        }
        menu.features = read.as_ref().map(|statement| features(statement, &question.question));
        let mutants = match read {
            Some(statement) => {
                let catalog = Arc::clone(&catalog);
                let chance = chance.clone();
                off_thread(move || in_order(&statement, &catalog, &chance)).await?
            }
            None => Vec::new(),
        };
        let mut found =
            Found { ordered: question.ordered, seen: menu.same.clone(), ..Found::default() };
        for sql in mutants.into_iter().take(TRIED) {
            if found.is_full() || found.slow >= SLOW {
                break;
            }
            found.take(sql, database).await?;
        }
        for sql in whole_tables(&catalog) {
            if found.count() >= LEAST || found.slow >= SLOW + LEAST {
                break;
            }
            found.take(sql, database).await?;
        }
        menu.wrong = found.rank(chance);
        Ok(menu)
    }
}

/// An expected statement with its result; `None` if it does not run. If its result stays the same,
/// it is written in the form of the mutants, so that its style does not reveal that it is right.
async fn run_expected_statement(
    gold: &str,
    rewritten: Option<String>,
    ordered: bool,
    database: &dyn Database,
) -> Result<Option<(Right, Same)>, LlmError> {
    let Ok(result) = run(gold, ordered, database).await? else { return Ok(None) };
    let result = result.same;
    let mut sql = gold.to_owned();
    if let Some(rewritten) = rewritten
        && let Ok(other) = run(&rewritten, ordered, database).await?
        && other.same == result
    {
        sql = rewritten;
    }
    let facts = database.check(&SqlQuery::new(&sql)).await.unwrap_or_default();
    Ok(Some((Right { sql, tables: facts.tables, columns: facts.columns }, result)))
}

/// The outcome of a statement that ran.
pub(super) struct Ran {
    pub(super) same: Same,
    is_empty: bool,
}

/// Runs a statement within the database's time limit. The outer error is one of the database, such
/// as a queue that is full: it says nothing about the statement.
pub(super) async fn run(
    sql: &str,
    ordered: bool,
    database: &dyn Database,
) -> Result<Result<Ran, SqlError>, LlmError> {
    match database.run(&SqlQuery::new(sql)).await {
        Ok(result) => {
            let is_empty = result.row_count() == 0;
            let same = off_thread(move || digest(&result, ordered)).await?;
            Ok(Ok(Ran { same, is_empty }))
        }
        Err(error) if matches!(error.kind, SqlErrorKind::Unavailable | SqlErrorKind::Cancelled) => {
            Err(LlmError::Unavailable("the database did not answer".to_owned()))
        }
        Err(error) => Ok(Err(error)),
    }
}

/// Computes on a thread that may block.
async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, LlmError> {
    blocking::await_work(tokio::task::spawn_blocking(work))
        .await
        .map_err(|_| LlmError::Other("a thread of the simulated model failed".to_owned()))
}

/// Wrong answers by their kind.
#[derive(Default)]
struct Found {
    ordered: bool,
    seen: Vec<Same>,
    rows: Vec<String>,
    empty: Vec<String>,
    failed: Vec<String>,
    /// The number of mutants that exceeded the time limit.
    slow: usize,
}

impl Found {
    fn count(&self) -> usize {
        self.rows.len() + self.empty.len() + self.failed.len()
    }

    fn is_full(&self) -> bool {
        self.rows.len() >= ROWS && self.empty.len() >= EMPTY && self.failed.len() >= FAILED
    }

    /// Runs a mutant and adds it if its result is wrong and new.
    async fn take(&mut self, sql: String, database: &dyn Database) -> Result<(), LlmError> {
        match run(&sql, self.ordered, database).await? {
            Ok(Ran { same, is_empty }) => {
                let (list, most) =
                    if is_empty { (&mut self.empty, EMPTY) } else { (&mut self.rows, ROWS) };
                if list.len() < most && !self.seen.contains(&same) {
                    self.seen.push(same);
                    list.push(sql);
                }
            }
            // A statement that the guard or a limit stops is no mistake of a model.
            Err(error) if is_mistake(error.kind) && self.failed.len() < FAILED => {
                self.failed.push(sql)
            }
            Err(error) => self.slow += usize::from(error.kind == SqlErrorKind::Timeout),
        }
        Ok(())
    }

    /// All wrong answers in the order of their frequency. The kind at each place is drawn, so that
    /// each kind has its share of all wrong answers.
    fn rank(self, chance: &Chance) -> Vec<String> {
        let empty = (1.0 - FAILED_SHARE) * EMPTY_SHARE;
        let shares = [1.0 - FAILED_SHARE - empty, empty, FAILED_SHARE];
        let mut kinds = [self.rows.into_iter(), self.empty.into_iter(), self.failed.into_iter()];
        let mut ranked = Vec::new();
        for place in 0.. {
            let left =
                [0, 1, 2].map(|kind: usize| if kinds[kind].len() > 0 { shares[kind] } else { 0.0 });
            let Some(kind) = chance.pick(&format!("kind {place}"), &left) else { break };
            ranked.extend(kinds[kind].next());
        }
        ranked
    }
}

fn is_mistake(kind: SqlErrorKind) -> bool {
    use SqlErrorKind::{AmbiguousName, Other, Syntax, TypeMismatch, UnknownColumn, UnknownTable};
    matches!(kind, AmbiguousName | Other | Syntax | TypeMismatch | UnknownColumn | UnknownTable)
}

/// Statements that read whole tables, whatever the question.
fn whole_tables(catalog: &Catalog) -> Vec<String> {
    catalog
        .tables
        .iter()
        .take(LEAST * 2)
        .flat_map(|table: &syrch_core::Table| {
            let name = catalog.dialect.quote(&table.name);
            let schema =
                table.schema_name.as_ref().filter(|_| catalog.table_name(table) != table.name);
            let name = schema.map_or_else(
                || name.clone(),
                |schema| format!("{}.{name}", catalog.dialect.quote(schema)),
            );
            [format!("SELECT COUNT(*) FROM {name}"), format!("SELECT * FROM {name}")]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::fixture::Scripted;
    use super::*;

    fn question() -> SimulatedQuestion {
        SimulatedQuestion {
            id: "q1".to_owned(),
            db: "library".to_owned(),
            question: "Which books have more than 300 pages?".to_owned(),
            golds: vec!["SELECT title FROM book WHERE pages > 300".to_owned()],
            ordered: true,
        }
    }

    async fn menu(database: &Scripted) -> Result<Menu, LlmError> {
        Menu::make(&question(), database, &Chance::from_parts([b"q1".as_slice()])).await
    }

    /// A menu is complete however long its statements wait for their turn or for the engine.
    #[tokio::test(start_paused = true)]
    async fn a_menu_is_the_same_however_long_its_statements_wait() {
        let quick = menu(&Scripted::new(|_| Ok(Duration::ZERO))).await.unwrap();
        let slow =
            menu(&Scripted::new(|run| Ok(Duration::from_secs(run as u64 % 25)))).await.unwrap();
        assert_eq!((quick.wrong.len(), quick.right.len()), (ROWS, 1));
        assert_eq!(slow.wrong, quick.wrong);
    }

    #[tokio::test]
    async fn without_a_database_there_is_no_menu() {
        // The fifth mutant is not executed.
        let busy = Scripted::new(|run| match run {
            6 => Err(SqlErrorKind::Unavailable),
            _ => Ok(Duration::ZERO),
        });
        assert!(matches!(menu(&busy).await, Err(LlmError::Unavailable(_))));
        assert_eq!(busy.runs(), 7);
    }

    #[tokio::test]
    async fn a_question_whose_mutants_do_not_end_is_given_up_early() {
        let endless =
            Scripted::new(
                |run| if run < 2 { Ok(Duration::ZERO) } else { Err(SqlErrorKind::Timeout) },
            );
        let menu = menu(&endless).await.unwrap();
        // The expected statement runs as it is and as it is rewritten; whole tables come last.
        assert!(menu.wrong.is_empty() && menu.right.len() == 1);
        assert_eq!(endless.runs(), 2 + SLOW + LEAST);
    }
}
