//! Statements in the database: each text is checked and run once.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::literals::find_absent;
use super::{DOUBTFUL, doubts, record_error, warnings};
use crate::prelude::*;
use crate::text::line;

/// A statement that ran.
#[derive(Debug)]
pub struct Ran {
    /// The names and literals of the statement.
    pub facts: Facts,
    /// The handle of the rows.
    pub results: ResultSet,
    /// The shape of the rows.
    pub profile: Profile,
    /// The signs that the answer is not a good one, a sentence each.
    pub doubts: Vec<String>,
    /// The doubts that call for a repair of the statement whatever its rows are: warnings of the
    /// host, and texts that their columns lack although they have similar ones.
    pub faults: Vec<String>,
    /// Equal for results with the same multiset of rows, whatever the names of their columns. If
    /// the host has no fingerprints, each text has its own.
    pub fingerprint: String,
}

impl Ran {
    /// Reads the shape of a result into `signals`. More rows than `overflow_rows` are a doubt. If
    /// the result says nothing, the texts of the statement are looked up in their columns, as far
    /// as cells are granted.
    pub fn new(
        host: &(impl Rows + Cells),
        facts: Facts,
        results: ResultSet,
        overflow_rows: u64,
        signals: &mut Signals,
    ) -> Self {
        let profile = results.profile();
        let mut doubts = doubts(overflow_rows, &profile, signals);
        let mut faults: Vec<String> =
            warnings(&profile).iter().map(|warning| line(warning, 400)).collect();
        let absent = find_absent(host, &facts, &results, &profile);
        doubts.retain(|doubt| !absent.has_said(doubt));
        faults.retain(|fault| !absent.has_said(fault));
        doubts.extend(absent.misspelled.iter().cloned().chain(absent.unlike));
        faults.extend(absent.misspelled);
        let fingerprint =
            results.fingerprint(&Equality::Bag).unwrap_or_else(|| facts.normalized.clone());
        Self { facts, results, profile, doubts, faults, fingerprint }
    }

    /// The reason to repair the statement although it ran: its faults, and, unless `empty` says
    /// that it counts, that it has no rows.
    #[must_use]
    pub fn to_repair(&self, empty: bool) -> Option<String> {
        let is_sound = self.faults.is_empty() && (empty || self.profile.rows > 0);
        (!is_sound).then(|| self.doubts.join("; "))
    }

    /// The confidence in the result: at most 0.5 where it has faults, as the host has it for those
    /// that it warns of.
    #[must_use]
    pub fn limit(&self, confidence: f64) -> f64 {
        if self.faults.is_empty() { confidence } else { confidence.min(DOUBTFUL) }
    }
}

/// The end of a statement: its result or its error.
#[derive(Debug, Clone)]
pub enum Ended {
    /// It ran. Equal texts share the result.
    Ran(Rc<Ran>),
    /// It failed its check or its run, or was rejected; the text explains it to a model.
    Failed(String),
}

impl Ended {
    /// The result, if the statement ran.
    #[must_use]
    pub fn ran(&self) -> Option<&Ran> {
        match self {
            Self::Ran(ran) => Some(ran),
            Self::Failed(_) => None,
        }
    }

    /// Returns the error, in words for a model, if the statement failed.
    #[must_use]
    pub fn wrong(&self) -> Option<&str> {
        match self {
            Self::Ran(_) => None,
            Self::Failed(wrong) => Some(wrong),
        }
    }
}

/// A statement that was checked and run once.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The result or the error.
    pub ended: Ended,
    /// Its own counts: at most one error, and the shape of its result.
    pub signals: Signals,
    /// The failure after which no statement can run any more, if that is why this one failed.
    pub stopped: Option<Failure>,
}

impl Trial {
    fn from_failure(failure: Failure) -> Self {
        let ended = Ended::Failed(failure.message.clone());
        Self { ended, signals: Signals::default(), stopped: Some(failure) }
    }
}

/// The statements that were tested so far, by their texts.
#[derive(Debug, Default)]
pub struct Trials {
    overflow_rows: u64,
    known: BTreeMap<String, Trial>,
}

impl Trials {
    /// Creates a store without statements. More rows than `overflow_rows` are a doubt.
    #[must_use]
    pub fn new(overflow_rows: u64) -> Self {
        Self { overflow_rows, known: BTreeMap::new() }
    }

    /// The trial of a text; `None` before [`Trials::run`] was called with it.
    #[must_use]
    pub fn get(&self, sql: &str) -> Option<&Trial> {
        self.known.get(sql)
    }

    /// Checks the texts that are not known yet, and runs those that pass concurrently.
    ///
    /// # Errors
    /// The first failure after which no statement can run any more (a used-up budget, an
    /// unavailable database). Every text has a trial then too.
    pub fn run<'t>(
        &mut self,
        host: &(impl Inspect + Sql + Rows + Cells),
        texts: impl IntoIterator<Item = &'t str>,
    ) -> Result<(), Failure> {
        let mut stopped: Result<(), Failure> = Ok(());
        let mut texts_to_run: Vec<String> = Vec::new();
        let mut facts: Vec<Facts> = Vec::new();
        for sql in texts {
            if self.known.contains_key(sql) || texts_to_run.iter().any(|known| known == sql) {
                continue;
            }
            if let Err(failure) = &stopped {
                self.known.insert(sql.to_owned(), Trial::from_failure(failure.clone()));
                continue;
            }
            match host.check(sql) {
                Ok(found) => {
                    texts_to_run.push(sql.to_owned());
                    facts.push(found);
                }
                Err(error) => stopped = stopped.and(self.fail(sql.to_owned(), &error)),
            }
        }
        let results =
            if texts_to_run.is_empty() { Vec::new() } else { host.run_all(&texts_to_run) };
        for ((sql, facts), result) in texts_to_run.into_iter().zip(facts).zip(results) {
            match result {
                Ok(results) => {
                    let mut signals = Signals::default();
                    let ran = Ran::new(host, facts, results, self.overflow_rows, &mut signals);
                    self.known.insert(
                        sql,
                        Trial { ended: Ended::Ran(Rc::new(ran)), signals, stopped: None },
                    );
                }
                Err(error) => stopped = stopped.and(self.fail(sql, &error)),
            }
        }
        stopped
    }

    fn fail(&mut self, sql: String, error: &SqlError) -> Result<(), Failure> {
        let mut signals = Signals::default();
        match record_error(error, &mut signals) {
            Ok(wrong) => {
                self.known
                    .insert(sql, Trial { ended: Ended::Failed(wrong), signals, stopped: None });
                Ok(())
            }
            Err(failure) => {
                self.known.insert(sql, Trial::from_failure(failure.clone()));
                Err(failure)
            }
        }
    }
}
