//! The runs of the optimizer: from the start, from the journal of a killed run, and repeated from a journal alone.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use syrch_core::Problem;
use syrch_core::ports::BenchLimits;
use syrch_journal::{Fact, Folder, Journal, JournalError, Mode, Record, Writer};
use syrch_layers::Consent;
use syrch_optimize::{Optimization, Report, Settings};

use super::driver::{self, Driver};
use super::{Optimize, Parts};
use crate::answer::cost;
use crate::context::RunState;
use crate::report::CostReport;
use crate::search::run_id;
use crate::{Error, Host, record, telemetry};

/// The result of an optimization.
#[derive(Debug, Clone)]
pub struct Optimized {
    /// The id of the run, by which its journal is found.
    pub run: String,
    /// What was found out about the statement.
    pub report: Report,
    /// What the rewriter's model calls cost.
    pub cost: CostReport,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// What a journal holds of an optimization besides its statement.
#[derive(Serialize, Deserialize)]
struct Written {
    settings: Settings,
    limits: BenchLimits,
}

impl Optimize {
    /// Looks for a faster form of the statement.
    ///
    /// # Errors
    /// When the engine cannot compare statements exactly, a setting is wrong, something would be sent without consent, or the model cannot be
    /// reached. A statement that is refused, and a database that fails meanwhile, are outcomes of the report.
    pub async fn run(self) -> Result<Optimized, Error> {
        let (host, parts) = self.opened().await?;
        let _slot = host.searches.acquire().await;
        let id = run_id(&parts.sql);
        let place = host.settings.journal.folder.as_ref().map(|folder| Folder::new(folder.clone()).place(&id));
        let optimized = start(&host, parts, &id, place).await;
        host.prune();
        optimized
    }

    /// [`Optimize::run`] under an id and with a journal that the caller chooses; `None` for no journal. For programs that optimize many
    /// statements. The number of runs at once is the caller's to limit, and more than one disturb each other's measurements.
    ///
    /// # Errors
    /// As [`Optimize::run`].
    pub async fn run_as(self, id: &str, journal: Option<PathBuf>) -> Result<Optimized, Error> {
        let (host, parts) = self.opened().await?;
        start(&host, parts, id, journal.map(Ok)).await
    }

    /// Continues a run that was killed: the statement and the settings of the loop are the journal's. What the journal holds is not done again; a
    /// measurement that was under way is. A journal of a finished run gives its result again.
    ///
    /// # Errors
    /// As [`Optimize::run`], and when the journal is of a run that is still going on or of no optimization, or the database, the plugins or the
    /// settings of the host changed since.
    pub async fn resume(self, journal: &Path) -> Result<Optimized, Error> {
        let (host, mut parts) = self.opened().await?;
        let _slot = host.searches.acquire().await;
        let (writer, journal) = Writer::resume(journal)?;
        if let Some(optimized) = Optimized::of_journal(&journal)? {
            return Ok(optimized);
        }
        let optimization = of_journal(&mut parts, &journal)?;
        record::check_unchanged(&host, &journal.header, Some(host.database.identity().await))?;
        let (id, catalog) = (journal.header.run.clone(), host.database.catalog().await?);
        let mode = Mode::Resume(writer, journal);
        let listener = telemetry::listener(&host, &id, &catalog, &mode);
        let run = host.run_state(&id, mode, catalog, &parts.observer, &parts.stop, listener);
        carry_out(&host, &parts, run, optimization).await
    }

    /// Repeats an optimization from its journal alone, without a database and a model: the decisions follow from the recorded verdicts and times, and
    /// the statement and the settings are the journal's. The report is the recorded one, or there is an error. [`Host::of_journal`] makes the host
    /// for it.
    ///
    /// # Errors
    /// [`Error::Replay`] when the run departs from the journal, [`Error::Unfit`] when the journal is of no finished optimization, and the error
    /// that the run itself ended with.
    pub async fn replay(self, journal: Journal) -> Result<Optimized, Error> {
        let recorded = record::recorded_end(&journal)?;
        let (host, mut parts) = self.opened().await?;
        let optimization = of_journal(&mut parts, &journal)?;
        let (id, catalog) = (journal.header.run.clone(), Arc::clone(&journal.header.catalog));
        let run = host.run_state(&id, Mode::Replay(journal), catalog, &parts.observer, &parts.stop, None);
        let run = Arc::new(RunState { consent: Some(Consent::default()), ..run });
        let driven = Driver::new(&host, &parts, &run)?.drive(optimization);
        let report = run.unless_departed(driven).await.map(|optimization| optimization.report());
        let again = end(&report, Vec::new());
        let departs = |what: &str| Error::Replay(format!("the replay departs from its journal: {what}"));
        match (report, recorded, again) {
            (Err(error @ Error::Replay(_)), ..) => Err(error),
            (Ok(report), Fact::Answer { document, beside, .. }, Fact::Answer { document: now, .. }) => {
                if document != now {
                    return Err(departs("its report differs"));
                }
                Ok(Optimized { run: id, report, cost: cost(&run.ledger.spent()), warnings: beside })
            }
            (Err(error), Fact::Failed { message, .. }, _) if error.to_string() == message => Err(error),
            (Err(error), ..) => Err(departs(&format!("it failed: {error}"))),
            (Ok(_), ..) => Err(departs("it did not fail")),
        }
    }
}

/// The optimization of a journal, before its first step.
fn of_journal(parts: &mut Parts, journal: &Journal) -> Result<Optimization, Error> {
    let Written { settings, limits } = written(journal)?;
    (parts.settings, parts.limits) = (settings, limits);
    parts.sql.clone_from(&journal.header.problem.question);
    Optimization::new(parts.sql.clone(), settings).map_err(|error| Error::Unfit(error.to_string()))
}

impl Optimized {
    /// The result of a finished run by its journal; `None` when it is not finished.
    ///
    /// # Errors
    /// When the journal is of no optimization, or the run ended with an error.
    pub fn of_journal(journal: &Journal) -> Result<Option<Self>, Error> {
        written(journal)?;
        let run = journal.header.run.clone();
        for record in journal.records.iter().rev() {
            match record {
                Record::Fact { fact: Fact::Answer { document, beside, .. }, .. } => {
                    let unfit = |error| Error::Unfit(format!("the report of the run `{run}` cannot be read: {error}"));
                    let report = Report::deserialize(document).map_err(unfit)?;
                    let cost = recorded_cost(journal);
                    return Ok(Some(Self { run, report, cost, warnings: beside.clone() }));
                }
                Record::Fact { fact: Fact::Failed { message, .. }, .. } => {
                    return Err(Error::Unfit(format!("the run `{run}` ended with an error: {message}")));
                }
                _ => {}
            }
        }
        Ok(None)
    }
}

/// What the ledger entries of a journal add up to.
fn recorded_cost(journal: &Journal) -> CostReport {
    let ledger = syrch_core::Ledger::new(syrch_core::ledger::Budgets::default());
    for record in &journal.records {
        if let Record::Ledger { entry } = record {
            ledger.restore(entry);
        }
    }
    cost(&ledger.spent())
}

fn written(journal: &Journal) -> Result<Written, Error> {
    let run = &journal.header.run;
    let none = || Error::Unfit(format!("the run `{run}` is a search, and no optimization"));
    let written = journal.header.optimize.as_ref().ok_or_else(none)?;
    Written::deserialize(written)
        .map_err(|error| Error::Unfit(format!("the run `{run}` has settings that this host does not know: {error}")))
}

async fn start(
    host: &Host,
    parts: Parts,
    id: &str,
    journal: Option<Result<PathBuf, JournalError>>,
) -> Result<Optimized, Error> {
    if parts.sql.trim().is_empty() {
        return Err(Error::Config("the statement is empty".to_owned()));
    }
    let optimization = driver::optimization(host, &parts)?;
    let written = Written { settings: *optimization.settings(), limits: parts.limits };
    let written = serde_json::to_value(&written).map_err(|error| Error::Internal(error.to_string()))?;
    let problem = Problem::new(parts.sql.clone());
    let run = host.start(id, &problem, Some(written), journal, &parts.observer, &parts.stop).await?;
    carry_out(host, &parts, run, optimization).await
}

async fn carry_out(host: &Host, parts: &Parts, run: RunState, optimization: Optimization) -> Result<Optimized, Error> {
    let run = Arc::new(RunState { consent: Some(Consent::default()), ..run });
    let driven = Driver::new(host, parts, &run)?.drive(optimization);
    let report = run.unless_departed(driven).await.map(|optimization| optimization.report());
    let warnings = host.warnings_beside(&run);
    run.event_log.fact(end(&report, warnings.clone()));
    let cost = cost(&run.ledger.spent());
    report.map(|report| Optimized { run: run.id.clone(), report, cost, warnings })
}

/// The journal's record of an optimization's end.
fn end(report: &Result<Report, Error>, beside: Vec<String>) -> Fact {
    match report {
        Ok(report) => Fact::Answer {
            document: serde_json::to_value(report).unwrap_or(Value::Null),
            outcome: report.outcome.name().to_owned(),
            interrupted: report.interrupted.is_some(),
            beside,
        },
        Err(error) => Fact::Failed { message: error.to_string(), class: error.class().to_owned() },
    }
}
