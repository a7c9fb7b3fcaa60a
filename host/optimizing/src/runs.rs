//! The runs of the optimizer: from the start, from the journal of a killed run, and repeated from a
//! journal alone.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use syrch::Error;
use syrch::internal::{RewriterRun, RewritingHost, read_end, run_id};
use syrch::report::CostReport;
use syrch_core::Problem;
use syrch_core::ports::BenchLimits;
use syrch_journal::{Fact, Folder, Journal, JournalError, Record, RunKind, Writer};
use syrch_optimize::{Optimization, Report, Settings};

use crate::driver::{self, Driver};
use crate::{Optimize, Parts};

/// The name of the format in [`Optimized::schema`].
pub const OPTIMIZE_SCHEMA: &str = "syrch.optimize/1";

/// The result of an optimization: the document `syrch.optimize/1`, as `optimize --format json`
/// prints it, journals record it, and lines of a run over a corpus hold it. The members of the
/// report stand beside the others. It holds no row and no value of the database, and no address.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Optimized {
    /// The name of the document's format, always [`OPTIMIZE_SCHEMA`].
    pub schema: String,
    /// The id of the run, by which its journal is found.
    pub run: String,
    /// The version of the host.
    pub host: String,
    /// The name of the database.
    pub database: String,
    /// The rewriter: the name of the plugin and the digest of its component, or that it is the
    /// program's own.
    pub rewriter: String,
    /// The findings about the statement.
    #[serde(flatten)]
    pub report: Report,
    /// The cost of the rewriter's model calls.
    pub cost: CostReport,
    /// Warnings for the reader about the measurement and the run.
    pub warnings: Vec<String>,
}

/// The settings of an optimization that a journal holds besides its statement.
#[derive(Serialize, Deserialize)]
struct Written {
    settings: Settings,
    limits: BenchLimits,
}

impl Optimize {
    /// Looks for a faster form of the statement.
    ///
    /// # Errors
    /// When the engine cannot compare statements exactly, a setting is wrong, something would be
    /// sent without consent, or the model cannot be reached. A statement that is refused, and a
    /// database that fails meanwhile, are outcomes of the report.
    pub async fn run(self) -> Result<Optimized, Error> {
        let (host, parts) = self.open_host().await?;
        let _slot = host.acquire_slot().await;
        let id = run_id(&parts.sql);
        let place = host
            .host()
            .settings()
            .journal
            .folder
            .as_ref()
            .map(|folder| Folder::new(folder.clone()).place(&id));
        let optimized = start(&host, parts, &id, place).await;
        host.prune().await;
        optimized
    }

    /// [`Optimize::run`] under an id and with a journal that the caller chooses; `None` for no
    /// journal. For programs that optimize many statements. The number of runs at once is the
    /// caller's to limit, and more than one disturb each other's measurements.
    ///
    /// # Errors
    /// As [`Optimize::run`].
    pub async fn run_as(self, id: &str, journal: Option<PathBuf>) -> Result<Optimized, Error> {
        let (host, parts) = self.open_host().await?;
        start(&host, parts, id, journal.map(Ok)).await
    }

    /// Continues a run that was killed: the statement and the settings of the loop are the
    /// journal's. What the journal holds is not done again; a measurement that was under way is. A
    /// journal of a finished run gives its result again.
    ///
    /// # Errors
    /// As [`Optimize::run`], and when the journal is of a run that is still going on or of no
    /// optimization, or the database, the plugins, the settings of the host or the
    /// [`Optimize::limits`] changed since.
    pub async fn resume(self, journal: &Path) -> Result<Optimized, Error> {
        let (host, mut parts) = self.open_host().await?;
        let _slot = host.acquire_slot().await;
        let (writer, journal) = Writer::resume(journal)?;
        if let Some(optimized) = Optimized::from_journal(&journal)? {
            return Ok(optimized);
        }
        let limits = parts.limits;
        let optimization = restore_optimization(&mut parts, &journal)?;
        // A journal, which somebody else may have written, grants nobody more memory and time.
        if parts.limits != limits {
            let run = &journal.header.run;
            return Err(Error::Unfit(format!(
                "the run `{run}` cannot be resumed: the bounds of comparing and measuring are \
                 others now"
            )));
        }
        let run = host.resume(writer, journal, &parts.observer, &parts.stop).await?;
        carry_out(&host, &parts, run, optimization).await
    }

    /// Repeats an optimization from its journal alone, without a database and a model: the
    /// decisions follow from the recorded verdicts and times, and the statement and the settings
    /// are the journal's. The report is the recorded one, or there is an error.
    /// [`syrch::Host::of_journal`] makes the host for it.
    ///
    /// # Errors
    /// [`Error::Replay`] when the run departs from the journal, [`Error::Unfit`] when the journal
    /// is of no finished optimization, and the error that the run itself ended with.
    pub async fn replay(self, journal: Journal) -> Result<Optimized, Error> {
        let recorded = read_end(&journal)?;
        let (host, mut parts) = self.open_host().await?;
        let optimization = restore_optimization(&mut parts, &journal)?;
        let id = journal.header.run.clone();
        let run = host.replay(journal, &parts.observer, &parts.stop);
        let driven = Driver::new(&host, &parts, &run)?.drive(optimization);
        let report = run.unless_departed(driven).await.map(|optimization| optimization.report());
        let departs =
            |what: &str| Error::Replay(format!("the replay departs from its journal: {what}"));
        match (report, recorded) {
            (Err(error @ Error::Replay(_)), _) => Err(error),
            (Ok(report), Fact::Answer { document, .. }) => match Optimized::read(&document, &id)? {
                recorded if recorded.report == report => Ok(recorded),
                _ => Err(departs("its report differs")),
            },
            (Err(error), Fact::Failed { message, .. }) if error.to_string() == message => {
                Err(error)
            }
            (Err(error), _) => Err(departs(&format!("it failed: {error}"))),
            (Ok(_), _) => Err(departs("it did not fail")),
        }
    }
}

/// The optimization of a journal, before its first step.
fn restore_optimization(parts: &mut Parts, journal: &Journal) -> Result<Optimization, Error> {
    let Written { settings, limits } = read_written(journal)?;
    (parts.settings, parts.limits) = (settings, limits);
    parts.sql.clone_from(&journal.header.problem.question);
    Optimization::new(parts.sql.clone(), settings).map_err(|error| Error::Unfit(error.to_string()))
}

impl Optimized {
    /// The result of a finished run by its journal; `None` when it is not finished.
    ///
    /// # Errors
    /// When the journal is of no optimization, or the run ended with an error.
    pub fn from_journal(journal: &Journal) -> Result<Option<Self>, Error> {
        read_written(journal)?;
        let run = journal.header.run.clone();
        for record in journal.records.iter().rev() {
            match record {
                Record::Fact { fact: Fact::Answer { document, .. }, .. } => {
                    return Self::read(document, &run).map(Some);
                }
                Record::Fact { fact: Fact::Failed { message, .. }, .. } => {
                    return Err(Error::Unfit(format!(
                        "the run `{run}` ended with an error: {message}"
                    )));
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// The document of a run's journal.
    fn read(document: &Value, run: &str) -> Result<Self, Error> {
        Self::deserialize(document).map_err(|error| {
            Error::Unfit(format!("the report of the run `{run}` cannot be read: {error}"))
        })
    }

    fn new(
        host: &RewritingHost,
        parts: &Parts,
        run: &RewriterRun,
        report: Report,
        beside: &[String],
    ) -> Self {
        let plugin = host.rewriter_name().filter(|_| parts.rewriter.is_none());
        Self {
            schema: OPTIMIZE_SCHEMA.to_owned(),
            run: run.id().to_owned(),
            host: env!("CARGO_PKG_VERSION").to_owned(),
            database: run.catalog().database.clone(),
            rewriter: plugin.unwrap_or_else(|| "the program's own".to_owned()),
            cost: run.cost(),
            warnings: report.warnings().into_iter().chain(beside.iter().cloned()).collect(),
            report,
        }
    }
}

fn read_written(journal: &Journal) -> Result<Written, Error> {
    let run = &journal.header.run;
    let RunKind::Optimization(written) = &journal.header.kind else {
        return Err(Error::Unfit(format!("the run `{run}` is a search, and no optimization")));
    };
    Written::deserialize(written).map_err(|error| {
        Error::Unfit(format!("the run `{run}` has settings that this host does not know: {error}"))
    })
}

async fn start(
    host: &RewritingHost,
    parts: Parts,
    id: &str,
    journal: Option<Result<PathBuf, JournalError>>,
) -> Result<Optimized, Error> {
    if parts.sql.trim().is_empty() {
        return Err(Error::Config("the statement is empty".to_owned()));
    }
    let optimization = driver::optimization(host.host(), &parts)?;
    let written = Written { settings: *optimization.settings(), limits: parts.limits };
    let written =
        serde_json::to_value(&written).map_err(|error| Error::Internal(error.to_string()))?;
    let problem = Problem::new(parts.sql.clone());
    let run = host.start(id, &problem, written, journal, &parts.observer, &parts.stop).await?;
    carry_out(host, &parts, run, optimization).await
}

async fn carry_out(
    host: &RewritingHost,
    parts: &Parts,
    run: RewriterRun,
    optimization: Optimization,
) -> Result<Optimized, Error> {
    let driven = Driver::new(host, parts, &run)?.drive(optimization);
    let report = run.unless_departed(driven).await.map(|optimization| optimization.report());
    run.end_audit();
    let beside = run.warnings();
    let optimized = report.map(|report| Optimized::new(host, parts, &run, report, &beside));
    run.event_log().fact(end(&optimized, beside));
    optimized
}

/// The journal's record of an optimization's end.
fn end(optimized: &Result<Optimized, Error>, beside: Vec<String>) -> Fact {
    match optimized {
        Ok(optimized) => Fact::Answer {
            document: serde_json::to_value(optimized).unwrap_or(Value::Null),
            outcome: optimized.report.outcome.name().to_owned(),
            interrupted: optimized.report.interrupted.is_some(),
            beside,
        },
        Err(error) => Fact::Failed { message: error.to_string(), class: error.class().to_owned() },
    }
}
