//! A database that answers what the test wrote down, statement by statement.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::bindings::inspect::{ColumnStats, Compiled, Facts, Plan};
use crate::bindings::rows::Page;
use crate::bindings::sql::Equality;
use crate::bindings::types::{
    Column, ColumnProfile, Hit, PortError, Profile, SqlError, SqlErrorKind, Value,
};
use crate::handles::{ResultHandle, ResultSet};
use crate::ports::Sample;

/// A result that a test made.
#[derive(Debug, Clone)]
pub struct FakeRows {
    profile: Rc<Profile>,
    rows: Rc<Vec<Vec<Value>>>,
}

impl FakeRows {
    /// A result with these columns and rows; its profile is counted from them.
    #[must_use]
    pub fn new(columns: &[&str], rows: Vec<Vec<Value>>) -> Self {
        let columns = columns
            .iter()
            .enumerate()
            .map(|(index, name): (usize, &&str)| ColumnProfile {
                column: Column { name: (*name).to_owned(), nullable: true, ..Column::default() },
                nulls: rows
                    .iter()
                    .filter(|row| matches!(row.get(index), None | Some(Value::Null)))
                    .count() as u64,
                distinct: None,
            })
            .collect();
        let profile =
            Profile { rows: rows.len() as u64, truncated: false, columns, warnings: Vec::new() };
        Self { profile: Rc::new(profile), rows: Rc::new(rows) }
    }

    /// Returns the same result with that number of rows claimed, for results too long to write
    /// down.
    #[must_use]
    pub fn counted(mut self, rows: u64) -> Self {
        self.profile = Rc::new(Profile { rows, ..(*self.profile).clone() });
        self
    }

    /// Returns the same result with a warning of the host.
    #[must_use]
    pub fn with_warning(mut self, warning: &str) -> Self {
        Rc::make_mut(&mut self.profile).warnings.push(warning.to_owned());
        self
    }

    /// Returns the handle that roles get.
    #[must_use]
    pub fn handle(&self) -> ResultSet {
        ResultSet(ResultHandle::Fake(self.clone()))
    }

    pub(crate) fn profile(&self) -> Profile {
        (*self.profile).clone()
    }

    pub(crate) fn fingerprint(&self, under: &Equality) -> Option<String> {
        let mut rows: Vec<String> = self.rows.iter().map(|row| format!("{row:?}")).collect();
        match under {
            Equality::Ordered => {}
            Equality::Bag => rows.sort(),
            Equality::Set => {
                rows.sort();
                rows.dedup();
            }
            Equality::Other(_) => return None,
        }
        Some(rows.join("\n"))
    }
}

/// A call that has already ended.
#[derive(Debug)]
pub struct FakeCall<T> {
    ticket: u32,
    ended: RefCell<Option<T>>,
}

impl<T> FakeCall<T> {
    pub(super) fn from_value(value: T) -> Self {
        thread_local!(static NEXT: Cell<u32> = const { Cell::new(0) });
        let ticket = NEXT.get();
        NEXT.set(ticket.wrapping_add(1));
        Self { ticket, ended: RefCell::new(Some(value)) }
    }

    pub(crate) fn ticket(&self) -> u32 {
        self.ticket
    }

    // It has ended, so there is nothing to cancel.
    #[expect(clippy::unused_self, reason = "the handles call it")]
    pub(crate) fn cancel(&self) {}

    pub(crate) fn take(&self) -> Option<T> {
        self.ended.borrow_mut().take()
    }
}

impl<T: Clone> FakeCall<T> {
    pub(crate) fn get(&self) -> Option<T> {
        self.ended.borrow().clone()
    }
}

/// Facts about a statement over these tables, with nothing else filled in.
#[must_use]
pub fn facts(text: &str, tables: &[&str]) -> Facts {
    Facts {
        tables: tables.iter().map(|name| (*name).to_owned()).collect(),
        columns: Vec::new(),
        functions: Vec::new(),
        literals: Vec::new(),
        subqueries: Vec::new(),
        tasks: Vec::new(),
        ordered: false,
        normalized: text.to_owned(),
        skeleton: text.to_owned(),
    }
}

/// An error of that kind.
#[must_use]
pub fn sql_error(kind: SqlErrorKind, message: &str) -> SqlError {
    SqlError { kind, message: message.to_owned(), position: None, suggestions: Vec::new() }
}

/// Answers by statement. A statement that nobody scripted fails its check as `syntax` and its run
/// as `other`.
#[derive(Debug)]
pub struct FakeDatabase {
    /// The number of rows of a result that a role may read; `None` if the grant is missing.
    pub granted_rows: Option<u32>,
    /// The answers of `find`, by phrase.
    pub hits: BTreeMap<String, Vec<Hit>>,
    /// The answers of `samples`, by table.
    pub samples: BTreeMap<String, Vec<Sample>>,
    /// The answers of `column_stats`, by table.
    pub stats: BTreeMap<String, Vec<ColumnStats>>,
    /// The answers of `compile_metric`, by request.
    pub metrics: BTreeMap<String, Compiled>,
    /// The answers of `explain`, by statement.
    pub plans: BTreeMap<String, Plan>,
    checks: BTreeMap<String, Result<Facts, SqlError>>,
    runs: BTreeMap<String, Result<FakeRows, SqlError>>,
    log: RefCell<Vec<String>>,
}

impl Default for FakeDatabase {
    fn default() -> Self {
        Self {
            granted_rows: Some(3),
            hits: BTreeMap::new(),
            samples: BTreeMap::new(),
            stats: BTreeMap::new(),
            metrics: BTreeMap::new(),
            plans: BTreeMap::new(),
            checks: BTreeMap::new(),
            runs: BTreeMap::new(),
            log: RefCell::new(Vec::new()),
        }
    }
}

impl FakeDatabase {
    /// This statement passes its check and gives these rows.
    pub fn answer(&mut self, sql: &str, rows: FakeRows) -> &mut Self {
        self.checks.insert(sql.to_owned(), Ok(facts(sql, &[])));
        self.runs.insert(sql.to_owned(), Ok(rows));
        self
    }

    /// This statement passes its check with these facts, and gives these rows.
    pub fn answer_with(&mut self, sql: &str, facts: Facts, rows: FakeRows) -> &mut Self {
        self.answer(sql, rows);
        self.checks.insert(sql.to_owned(), Ok(facts));
        self
    }

    /// This statement fails its check.
    pub fn fail_check(&mut self, sql: &str, error: SqlError) -> &mut Self {
        self.checks.insert(sql.to_owned(), Err(error));
        self
    }

    /// This statement passes its check and fails when run.
    pub fn fail_run(&mut self, sql: &str, error: SqlError) -> &mut Self {
        self.checks.insert(sql.to_owned(), Ok(facts(sql, &[])));
        self.runs.insert(sql.to_owned(), Err(error));
        self
    }

    /// The statements that were run, in order.
    #[must_use]
    pub fn log(&self) -> Vec<String> {
        self.log.borrow().clone()
    }

    pub(super) fn check(&self, sql: &str) -> Result<Facts, SqlError> {
        self.checks.get(sql).cloned().unwrap_or_else(|| {
            Err(sql_error(SqlErrorKind::Syntax, "nothing scripted for this statement"))
        })
    }

    pub(super) fn explain(&self, sql: &str) -> Result<Plan, SqlError> {
        self.plans
            .get(sql)
            .cloned()
            .ok_or_else(|| sql_error(SqlErrorKind::Other, "no plan scripted for this statement"))
    }

    pub(super) fn statistics(
        &self,
        table: &str,
        columns: &[String],
    ) -> Result<Vec<ColumnStats>, PortError> {
        let all = self.stats.get(table).ok_or_else(|| PortError::UnknownName(table.to_owned()))?;
        Ok(all.iter().filter(|stats| columns.contains(&stats.column)).cloned().collect())
    }

    pub(super) fn ran(&self, sql: &str) -> Result<FakeRows, SqlError> {
        self.log.borrow_mut().push(sql.to_owned());
        self.runs.get(sql).cloned().unwrap_or_else(|| {
            Err(sql_error(SqlErrorKind::Other, "nothing scripted for this statement"))
        })
    }

    pub(super) fn page(&self, rows: &FakeRows, offset: u64, limit: u32) -> Result<Page, PortError> {
        let granted = self
            .granted_rows
            .ok_or_else(|| PortError::Denied("rows are not granted".to_owned()))?;
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(rows.rows.len());
        let most = rows.rows.len().min(granted as usize).saturating_sub(start);
        let shown = most.min(limit as usize);
        Ok(Page {
            columns: rows.profile.columns.iter().map(|column| column.column.name.clone()).collect(),
            rows: rows.rows[start..start + shown].to_vec(),
            clipped: most < (rows.rows.len() - start).min(limit as usize),
        })
    }

    pub(super) fn sample(
        &self,
        table: &str,
        columns: &[String],
        limit: u32,
    ) -> Result<Vec<Sample>, PortError> {
        self.granted_rows.ok_or_else(|| PortError::Denied("rows are not granted".to_owned()))?;
        let all =
            self.samples.get(table).ok_or_else(|| PortError::UnknownName(table.to_owned()))?;
        let mut samples: Vec<Sample> =
            all.iter().filter(|sample| columns.contains(&sample.column)).cloned().collect();
        for sample in &mut samples {
            sample.frequent.truncate(limit as usize);
        }
        Ok(samples)
    }

    pub(super) fn find(&self, phrases: &[String], limit: u32) -> Result<Vec<Vec<Hit>>, PortError> {
        self.granted_rows.ok_or_else(|| PortError::Denied("rows are not granted".to_owned()))?;
        Ok(phrases
            .iter()
            .map(|phrase: &String| {
                self.hits
                    .get(phrase)
                    .map(|hits| hits.iter().take(limit as usize).cloned().collect())
                    .unwrap_or_default()
            })
            .collect())
    }
}
