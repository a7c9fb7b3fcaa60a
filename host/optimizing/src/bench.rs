//! The steps of an optimization on the bench of the database, which is opened by the first step
//! that a journal does not hold.

use std::sync::Arc;

use syrch_core::SqlError;
use syrch_core::ports::{Admitted, Bench, BenchLimits, Database};
use syrch_core::result_set::digest64;
use syrch_optimize::{Fed, Optimization, Purpose, Step, Which};

use crate::Parts;
use crate::copies::{Copies, no_bench};
use syrch::{Error, Host};

/// The bench of one optimization.
pub(super) struct LazyBench {
    database: Arc<dyn Database>,
    limits: BenchLimits,
    bench: Option<Box<dyn Bench>>,
    /// The bench's text of the data's version when it was opened, and the digest that stands for it
    /// in the journal.
    version: Option<(Option<String>, Option<String>)>,
    pub(super) copies: Copies,
}

impl LazyBench {
    pub(super) fn new(host: &Host, parts: &Parts) -> Self {
        let copies = Copies::new(host.settings(), parts.limits, parts.copies_folder.clone());
        let database = Arc::clone(host.database());
        Self { database, limits: parts.limits, bench: None, version: None, copies }
    }

    /// Does a step. An error of the engine is a result of the step.
    ///
    /// # Errors
    /// When there is no bench, or the data are not those of the run that is resumed.
    pub(super) async fn perform(
        &mut self,
        optimization: &Optimization,
        step: &Step,
    ) -> Result<Fed, Error> {
        if self.bench.is_none() {
            self.open_bench(optimization, step).await?;
        }
        let Self { bench: Some(bench), copies, version, .. } = self else {
            return Err(Error::Internal("there is no bench".to_owned()));
        };
        let of = |which| optimization.statement(which).ok_or_else(|| missing_statement(which));
        let original = optimization.statement(Which::Original);
        let within = original.map(|original| original.tables.as_slice());
        Ok(match step {
            Step::AdmitOriginal => {
                Fed::Admitted(bench.admit(optimization.original_sql(), None).await)
            }
            Step::AdmitCandidate => {
                Fed::Admitted(bench.admit(optimization.proposal(), within).await)
            }
            Step::Version => {
                Fed::Version(bench.version().await.map(|text| version_for_journal(version, text)))
            }
            Step::Snapshot => Fed::Snapshot(bench.snapshot().await),
            Step::Columns(which) => Fed::Columns(bench.columns(of(*which)?).await),
            Step::Size => Fed::Size(bench.size(of(Which::Original)?).await),
            Step::Time(which, _) => Fed::Time(bench.time(of(*which)?).await),
            Step::Explain(which) => Fed::Plan(bench.explain(of(*which)?).await),
            Step::Compare(which) => {
                Fed::Compared(bench.compare(of(Which::Original)?, of(*which)?).await)
            }
            Step::CompareOnCopy(number) => {
                let seed = optimization.settings().seed;
                let original = of(Which::Original)?;
                let candidate = of(Which::Candidate)?;
                Fed::OnCopy(copies.compare(*number, seed, original, candidate).await)
            }
            Step::Propose | Step::Done => {
                return Err(Error::Internal("this is no step of a bench".to_owned()));
            }
        })
    }

    /// Opens the bench. When the first steps were those of a journal, the statements are checked
    /// again (whoever can write a journal could have put others there), and the bench is brought to
    /// where it would be.
    async fn open_bench(&mut self, optimization: &Optimization, step: &Step) -> Result<(), Error> {
        let mut bench = self.database.bench(self.limits).await.map_err(|error| no_bench(&error))?;
        if let Some(original) = optimization.statement(Which::Original) {
            readmit(bench.as_mut(), optimization, original).await?;
            self.version =
                Some(self.resolve_version(bench.as_mut(), optimization.version()).await?);
            bench.snapshot().await?;
            for which in warm_up_statements(step) {
                if let Some(statement) = optimization.statement(*which) {
                    bench.time(statement).await?;
                }
            }
        }
        self.bench = Some(bench);
        Ok(())
    }

    /// The present version of the data, which stands for the one of the journal. Whether the data
    /// are still the same is known by the identity of the database, which was compared before, or
    /// else by the version's digest.
    async fn resolve_version(
        &mut self,
        bench: &mut dyn Bench,
        recorded: Option<&str>,
    ) -> Result<(Option<String>, Option<String>), Error> {
        let text = bench.version().await?;
        let Some(recorded) = recorded else {
            return Ok((text.clone(), text.as_deref().map(digest)));
        };
        if self.database.identity().await.is_none()
            && text.as_deref().map(digest).as_deref() != Some(recorded)
        {
            return Err(Error::Unfit(
                "the run cannot be resumed: the data may have changed since".to_owned(),
            ));
        }
        Ok((text, Some(recorded.to_owned())))
    }
}

/// The digest of a version, which stands for it in the journal: a version may hold the path of the
/// data.
fn digest(version: &str) -> String {
    format!("{:016x}", digest64(&["version", version]))
}

/// The text that the journal records for that version.
fn version_for_journal(
    first: &mut Option<(Option<String>, Option<String>)>,
    text: Option<String>,
) -> Option<String> {
    let (then, recorded) = first.get_or_insert_with(|| (text.clone(), text.as_deref().map(digest)));
    if *then == text { recorded.clone() } else { text.as_deref().map(digest) }
}

/// The statements that are run once before a measurement continues on a new connection.
fn warm_up_statements(step: &Step) -> &'static [Which] {
    match step {
        Step::Time(_, Purpose::Round) => &[Which::Best, Which::Candidate],
        Step::Time(_, Purpose::Final) => &[Which::Original, Which::Best],
        Step::Time(_, Purpose::Noise) => &[Which::Original],
        _ => &[],
    }
}

async fn readmit(
    bench: &mut dyn Bench,
    optimization: &Optimization,
    original: &Admitted,
) -> Result<(), Error> {
    for which in [Which::Original, Which::Best, Which::Candidate] {
        let Some(statement) = optimization.statement(which) else { continue };
        let within = (which != Which::Original).then_some(original.tables.as_slice());
        // As it was written again, every column of it has a name.
        let admitted = Admitted {
            unnamed: statement.unnamed.clone(),
            ..bench.admit(&statement.sql, within).await?
        };
        if admitted != *statement {
            let message = "the run cannot be resumed: a statement of its journal is checked with \
                           another result now";
            return Err(Error::Unfit(message.to_owned()));
        }
    }
    Ok(())
}

fn missing_statement(which: Which) -> SqlError {
    SqlError::new(syrch_core::SqlErrorKind::Other, format!("there is no statement {which:?}"))
}
