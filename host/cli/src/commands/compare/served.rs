//! A comparison that a client of `serve` begins: strategies by name over the database of the
//! server, in a folder that is resumed if it is there.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use syrch::syrch_core::DatabaseUrl;
use syrch::{Observer, Silent, Stop};
use syrch_grading::grade::report::CompareOptions;
use syrch_grading::grade::rules::Rule;
use syrch_grading::grade::run::{self, Graded, Progress, Resumed, RunBudgets};
use syrch_grading::{Beginning, SuiteOptions, SuiteRun, Traces};
use syrch_serve::Compared;

use super::terms::Terms;
use super::{arm, sharing_obstacle};
use crate::commands::graded::find_failure;
use crate::commands::{Context, asking};
use crate::config::flags::Flags;
use crate::console::progress::Watch;
use crate::failure::{Failure, Outcome};

/// The number of searches that fail by the endpoint, one after the other, after which the run
/// stops.
const OUTAGES: u32 = 10;

/// Carries out a comparison. `flags` are those of the server.
///
/// # Errors
/// When something is wrong with it, or it was stopped before its end.
pub(crate) async fn compare(
    context: &Context,
    flags: &Flags<true>,
    compared: &Compared,
    observer: &dyn run::Observer,
    stop: &Stop,
) -> Outcome<()> {
    let watch = Watch::new(Arc::clone(&context.console));
    let asked = &compared.comparison;
    let arms = arm::resolve_strategies(&asked.arms, flags, context, &watch).await?;
    let terms = Terms::new(CompareOptions::default().resamples, sharing_obstacle(&arms));
    let settings = context.config.effective.settings.clone();
    let time = asked.seconds.map(Duration::try_from_secs_f64).transpose();
    let budgets = RunBudgets {
        calls: Some(compared.calls),
        tokens: None,
        usd: asked.usd,
        time: time.map_err(|error| Failure::usage(error.to_string()))?,
    };
    let options = SuiteOptions {
        suite: PathBuf::from(&asked.suite),
        databases: Some(DatabaseUrl::parse(&settings.database)),
        rule: Rule::default(),
        workers: compared.workers,
        shard: None,
        runs: compared.runs.clone(),
        resume: None,
        folder: Some(compared.folder.clone()),
        wave: None,
        retry_failed: false,
        budgets,
        max_outages: OUTAGES,
        traces: Traces::All,
        stop_early: false,
        seeds: 1,
        asks_ungraded: false,
        answers: Vec::new(),
        fuzz: None,
        timed: 0,
    };
    let silent: Arc<dyn Observer> = Arc::new(Silent);
    let run = match SuiteRun::open(arms, options, &silent).await {
        Ok(run) => run,
        Err(error) => return Err(asking::explain_error(error, &settings, context, &watch).await),
    };
    let relay = Relay { observer, terms };
    let outcome = run.carry_out(&relay, stop).await?;
    find_failure(outcome).map_or(Ok(()), Err)
}

/// Passes the progress on, and saves the terms of the comparison.
struct Relay<'a> {
    observer: &'a dyn run::Observer,
    terms: Terms,
}

impl run::Observer for Relay<'_> {
    fn on_resume(&self, resumed: &Resumed) {
        self.observer.on_resume(resumed);
    }

    fn progress(&self, progress: &Progress, last: &Graded) {
        self.observer.progress(progress, last);
    }

    fn on_cost(&self, progress: &Progress) {
        self.observer.on_cost(progress);
    }
}

impl Beginning for Relay<'_> {
    fn on_start(&self, _: &str, folder: &Path) {
        // Without them the report is made by the default terms, which are the same.
        drop(self.terms.going_on(folder).write(folder));
    }
}
