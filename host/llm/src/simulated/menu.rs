//! What a question can be answered with: the statements that are right, and one menu of wrong ones, which all samples share. It is made
//! once a question, when it is first asked, by running the mutants of the expected statement on the database.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use syrch_core::ports::{Database, LlmError, Query};
use syrch_core::{Catalog, SqlError, SqlErrorKind, outside};
use tokio::sync::OnceCell;

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
/// Fewer wrong answers than this are filled up with whole tables.
const LEAST: usize = 3;
/// Mutants that the database ends for the time that they take: after so many no others are tried. Their time is the database's own, which
/// it counts from where a statement begins, and never from here: how long it waits for its turn differs from run to run.
const SLOW: usize = 6;
/// How often a place of the menu goes to a statement that fails, where there is one. It comes to the 12.6 % of the recorded wrong answers
/// that failed: where nothing else is wrong with a statement, there is no other place for it.
const FAILED_SHARE: f64 = 0.105;
/// How often one of the others goes to a result without rows, where there is one. It is 18.3 % of those that were recorded, and many
/// statements, such as counts, have no such mutant.
const EMPTY_SHARE: f64 = 0.27;

/// Menus that are kept at once; those over it make place for the next and are made again.
const KEPT: usize = 4_096;

/// A menu, perhaps still to be made.
type Cell = Arc<OnceCell<Menu>>;

/// The menus of a suite's questions, by their database's state and their place. A menu follows from the question and from what its database holds, and from neither seed nor knobs.
#[derive(Default)]
pub(super) struct Menus(Mutex<BTreeMap<(String, usize), Cell>>);

impl Menus {
    /// The menu of the question at that place, over a database in that state; perhaps still to be made.
    pub(super) fn cell(&self, state: &str, place: usize) -> Cell {
        let mut menus = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (state.to_owned(), place);
        if menus.len() >= KEPT && !menus.contains_key(&key) {
            menus.pop_first();
        }
        Arc::clone(menus.entry(key).or_default())
    }
}

/// What a question can be answered with.
#[derive(Default)]
pub(super) struct Menu {
    /// Statements that are right and run, the suite's own first.
    pub(super) right: Vec<Right>,
    /// Wrong ones, the most frequent first. No two have the same result.
    pub(super) wrong: Vec<String>,
    /// What the difficulty follows.
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
    /// Whether a catalog shows all that it reads.
    pub(super) fn is_shown(&self, catalog: &Catalog) -> bool {
        let has_column = |name: &String| {
            let Some((table, column)) = name.rsplit_once('.') else { return true };
            catalog.table(table).is_some_and(|table| table.column(column).is_some())
        };
        self.tables.iter().all(|name| catalog.table(name).is_some()) && self.columns.iter().all(has_column)
    }
}

impl Menu {
    /// Whether a result is that of an expected statement.
    pub(super) fn is_right(&self, result: &Same) -> bool {
        self.same.contains(result)
    }

    /// Makes the menu of a question. `chance` is that of the question, whatever the seed.
    ///
    /// # Errors
    /// When the database is not there. An expected statement that does not run leaves a menu without a right answer.
    pub(super) async fn make(
        question: &SimulatedQuestion,
        database: &dyn Database,
        chance: &Chance,
    ) -> Result<Self, LlmError> {
        let catalog = database.catalog().await.map_err(|error| LlmError::Unavailable(error.to_string()))?;
        let mut menu = Self::default();
        let mut read = None;
        for gold in &question.golds {
            let statement = parse(gold);
            if let Some((right, result)) =
                right(gold, statement.as_ref().map(ToString::to_string), question.ordered, database).await?
            {
                menu.same.push(result);
                menu.right.push(right);
            }
            read = read.or(statement);
        }
        menu.features = read.as_ref().map(|statement| features(statement, &question.question));
        let mutants = match read {
            Some(statement) => {
                let (catalog, chance) = (Arc::clone(&catalog), chance.clone());
                aside(move || in_order(&statement, &catalog, &chance)).await?
            }
            None => Vec::new(),
        };
        let mut found = Found { ordered: question.ordered, seen: menu.same.clone(), ..Found::default() };
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
        menu.wrong = found.ranked(chance);
        Ok(menu)
    }
}

/// An expected statement with its result; none: it does not run. It is given as the mutants are written, so that its looks tell nothing,
/// should it come to the same so.
async fn right(
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
    let facts = database.check(&Query::new(&sql)).await.unwrap_or_default();
    Ok(Some((Right { sql, tables: facts.tables, columns: facts.columns }, result)))
}

/// What a statement came to.
pub(super) struct Came {
    pub(super) same: Same,
    is_empty: bool,
}

/// Runs a statement, for as long as the database lets it run. The outer error is the database's own, such as that no turn came: nothing can
/// be said of the statement.
pub(super) async fn run(sql: &str, ordered: bool, database: &dyn Database) -> Result<Result<Came, SqlError>, LlmError> {
    match database.run(&Query::new(sql)).await {
        Ok(result) => {
            let is_empty = result.row_count() == 0;
            let same = aside(move || digest(&result, ordered)).await?;
            Ok(Ok(Came { same, is_empty }))
        }
        Err(error) if matches!(error.kind, SqlErrorKind::Unavailable | SqlErrorKind::Cancelled) => {
            Err(LlmError::Unavailable("the database did not answer".to_owned()))
        }
        Err(error) => Ok(Err(error)),
    }
}

/// Works off the threads that others wait on.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, LlmError> {
    let failed = |_| LlmError::Other("a thread of the simulated model failed".to_owned());
    outside::awaited(tokio::task::spawn_blocking(work)).await.map_err(failed)
}

/// Wrong answers by what they come to.
#[derive(Default)]
struct Found {
    ordered: bool,
    seen: Vec<Same>,
    rows: Vec<String>,
    empty: Vec<String>,
    failed: Vec<String>,
    /// Those that the database ended.
    slow: usize,
}

impl Found {
    fn count(&self) -> usize {
        self.rows.len() + self.empty.len() + self.failed.len()
    }

    fn is_full(&self) -> bool {
        self.rows.len() >= ROWS && self.empty.len() >= EMPTY && self.failed.len() >= FAILED
    }

    /// Runs a mutant and keeps it where it is wrong in a way that is new.
    async fn take(&mut self, sql: String, database: &dyn Database) -> Result<(), LlmError> {
        match run(&sql, self.ordered, database).await? {
            Ok(Came { same, is_empty }) => {
                let (kept, most) = if is_empty { (&mut self.empty, EMPTY) } else { (&mut self.rows, ROWS) };
                if kept.len() < most && !self.seen.contains(&same) {
                    self.seen.push(same);
                    kept.push(sql);
                }
            }
            // What the guard or a limit stops is no mistake of a model.
            Err(error) if is_mistake(error.kind) && self.failed.len() < FAILED => self.failed.push(sql),
            Err(error) => self.slow += usize::from(error.kind == SqlErrorKind::Timeout),
        }
        Ok(())
    }

    /// All of them in the order of their frequency: what kind comes at each place is drawn, so that the kinds have their shares of all
    /// wrong answers.
    fn ranked(self, chance: &Chance) -> Vec<String> {
        let empty = (1.0 - FAILED_SHARE) * EMPTY_SHARE;
        let shares = [1.0 - FAILED_SHARE - empty, empty, FAILED_SHARE];
        let mut kinds = [self.rows.into_iter(), self.empty.into_iter(), self.failed.into_iter()];
        let mut ranked = Vec::new();
        for place in 0.. {
            let left = [0, 1, 2].map(|kind: usize| if kinds[kind].len() > 0 { shares[kind] } else { 0.0 });
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

/// Statements that have nothing to do with the question.
fn whole_tables(catalog: &Catalog) -> Vec<String> {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let of = |table: &syrch_core::Table| {
        let name = quoted(&table.name);
        [format!("SELECT COUNT(*) FROM {name}"), format!("SELECT * FROM {name}")]
    };
    catalog.tables.iter().take(LEAST * 2).flat_map(of).collect()
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
        Menu::make(&question(), database, &Chance::of([b"q1".as_slice()])).await
    }

    /// What a statement waits for, its turn or the engine, leaves nothing out.
    #[tokio::test(start_paused = true)]
    async fn a_menu_is_the_same_however_long_its_statements_wait() {
        let quick = menu(&Scripted::new(|_| Ok(Duration::ZERO))).await.unwrap();
        let slow = menu(&Scripted::new(|run| Ok(Duration::from_secs(run as u64 % 25)))).await.unwrap();
        assert_eq!((quick.wrong.len(), quick.right.len()), (ROWS, 1));
        assert_eq!(slow.wrong, quick.wrong);
    }

    #[tokio::test]
    async fn without_a_database_there_is_no_menu() {
        // Its turn never came for the fifth mutant.
        let busy = Scripted::new(|run| match run {
            6 => Err(SqlErrorKind::Unavailable),
            _ => Ok(Duration::ZERO),
        });
        assert!(matches!(menu(&busy).await, Err(LlmError::Unavailable(_))));
        assert_eq!(busy.runs(), 7);
    }

    #[tokio::test]
    async fn a_question_whose_mutants_do_not_end_is_given_up_early() {
        let endless = Scripted::new(|run| if run < 2 { Ok(Duration::ZERO) } else { Err(SqlErrorKind::Timeout) });
        let menu = menu(&endless).await.unwrap();
        // The expected statement runs as it is and as it is rewritten; whole tables come last.
        assert!(menu.wrong.is_empty() && menu.right.len() == 1);
        assert_eq!(endless.runs(), 2 + SLOW + LEAST);
    }

    #[test]
    fn menus_are_kept_by_question_and_state() {
        let menus = Menus::default();
        let first = menus.cell("a", 1);
        assert!(Arc::ptr_eq(&first, &menus.cell("a", 1)));
        assert!(!Arc::ptr_eq(&first, &menus.cell("a", 2)) && !Arc::ptr_eq(&first, &menus.cell("b", 1)));
        for place in 0..KEPT {
            menus.cell("c", place);
        }
        assert_eq!(menus.0.lock().unwrap().len(), KEPT);
    }
}
