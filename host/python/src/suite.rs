//! Graded runs: the questions of a suite under one strategy or several.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pyo3::prelude::*;
use serde::Deserialize;
use syrch::syrch_core::DatabaseUrl;
use syrch::{Error, Observer, Settings, Silent, Stop};
use syrch_grading::grade::report::{CompareOptions, RunReport, all_failed};
use syrch_grading::grade::rules::Rule;
use syrch_grading::grade::run::{self, Graded, Progress, RunBudgets, Stopped, UsedUp};
use syrch_grading::{Beginning, SuiteOptions, SuiteOutcome, SuiteRun, Traces};
use tokio::runtime::Handle;

use crate::causes::Causes;
use crate::model::PythonModel;
use crate::options::{self, HostOptions};
use crate::outcome::Ended;
use crate::task::Task;
use crate::watch::{self, Lines};

/// The options of a run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunOptions {
    suite: PathBuf,
    database: Option<String>,
    /// The arms by name, in order.
    arms: Vec<(String, HostOptions)>,
    rule: Option<String>,
    workers: usize,
    seeds: u32,
    runs: PathBuf,
    resume: Option<String>,
    retry_failed: bool,
    stop_early: bool,
    max_outages: u32,
    total_calls: Option<u64>,
    total_tokens: Option<u64>,
    total_usd: Option<f64>,
    total_time: Option<f64>,
}

/// Starts a run, whose options are JSON. `models` has a function, or `None`, for each arm. The
/// document is the report.
#[pyfunction]
#[pyo3(signature = (options, models, watch=None))]
pub(crate) fn run_suite(
    options: &str,
    models: Vec<Option<Py<PyAny>>>,
    watch: Option<Py<PyAny>>,
) -> PyResult<Task> {
    let options: RunOptions = options::read(options)?;
    let stop = Stop::new();
    let handle = stop.clone();
    let watch = Watch(watch::lines(watch)?);
    let work = async move {
        let dropped = Stop::new();
        let guard = Guard(dropped.clone());
        // The run's future stays on one thread.
        let runtime = Handle::current();
        let causes = Causes::default();
        let ended = tokio::task::spawn_blocking(move || {
            runtime.block_on(async {
                tokio::select! {
                    biased;
                    () = dropped.wait_until_triggered() => Ended::from_cancel(),
                    ended = carry_out(options, models, &watch, &handle, &causes) => {
                        ended.unwrap_or_else(Ended::from).with_causes([causes.clone()])
                    }
                }
            })
        });
        let ended = ended.await;
        drop(guard);
        ended.unwrap_or_else(|_| Ended::from_panic())
    };
    Task::start(work, stop)
}

/// Drops the run on its thread when it is dropped itself.
struct Guard(Stop);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.trigger();
    }
}

async fn carry_out(
    options: RunOptions,
    models: Vec<Option<Py<PyAny>>>,
    watch: &Watch,
    stop: &Stop,
    causes: &Causes,
) -> Result<Ended, Error> {
    let rule = options.rule()?;
    let suite = options.suite_options(rule)?;
    let mut arms = Vec::new();
    for ((name, arm), model) in options.arms.into_iter().zip(models) {
        arms.push((name, arm_settings(&arm, model, causes).await?));
    }
    let observer: Arc<dyn Observer> = Arc::new(Silent);
    let run = SuiteRun::open(arms, suite, &observer).await?;
    let before = run.warnings().to_vec();
    let mut outcome = run.carry_out(watch, stop).await?;
    let mut report = RunReport::new(&outcome.record, rule.name(), &CompareOptions::default());
    let stopped = describe_stop(&mut outcome);
    let basis = report.basis_mut();
    basis.warnings.extend(before.into_iter().chain(std::mem::take(&mut outcome.warnings)));
    if let Some((_, why)) = &stopped {
        basis.because(why);
    }
    Ok(Ended::from_report(&report, stopped))
}

/// The settings of an arm.
async fn arm_settings(
    arm: &HostOptions,
    model: Option<Py<PyAny>>,
    causes: &Causes,
) -> Result<Settings, Error> {
    let mut builder = arm.builder()?;
    if let Some(function) = model {
        let mut settings = Settings::default();
        arm.configure(&mut settings)?;
        builder =
            builder.model(Arc::new(PythonModel::open(function, &settings, causes.clone()).await?));
    }
    builder.into_settings()
}

/// The reason why a run stopped, as the class of an error and a message; `None` if nothing did.
fn describe_stop(outcome: &mut SuiteOutcome) -> Option<(&'static str, String)> {
    match outcome.finished.stopped.take() {
        None | Some(Stopped::Early(_) | Stopped::Wave) => {
            let failed = all_failed(&outcome.record.graded)?;
            let message = failed.message.unwrap_or("no reason was given");
            Some((find_class(failed.class), format!("all searches failed: {message}")))
        }
        Some(Stopped::Interrupted) => Some(("interrupted", "it was interrupted".to_owned())),
        Some(Stopped::Budget(budget)) => {
            let what = match budget {
                UsedUp::Calls => "model calls",
                UsedUp::Tokens => "tokens",
                UsedUp::Usd => "dollars",
                UsedUp::Time => "seconds",
            };
            Some(("budget", format!("the {what} of the whole run were used up")))
        }
        Some(Stopped::Outage { message, .. }) => {
            Some(("model", format!("the model failed again and again: {message}")))
        }
        Some(Stopped::Fatal(error)) => Some((error.class(), error.to_string())),
    }
}

/// The class of errors of that name.
fn find_class(class: &str) -> &'static str {
    let known = [
        "budget",
        "configuration",
        "database",
        "denied",
        "interrupted",
        "model",
        "no-answer",
        "plugin-failed",
        "plugin-rejected",
        "replay-miss",
    ];
    known.into_iter().find(|known| *known == class).unwrap_or("unexpected")
}

impl RunOptions {
    fn rule(&self) -> Result<Rule, Error> {
        let Some(name) = &self.rule else { return Ok(Rule::BAG_V1) };
        Rule::all().iter().copied().find(|rule| rule.name() == name).ok_or_else(|| {
            let known: Vec<&str> = Rule::all().iter().map(|rule| rule.name()).collect();
            Error::Config(format!("there is no rule `{name}`; it is one of {}", known.join(", ")))
        })
    }

    fn suite_options(&self, rule: Rule) -> Result<SuiteOptions, Error> {
        let time = self.total_time.map(|time| options::seconds("total_time", time));
        let time: Option<Duration> = time.transpose()?;
        Ok(SuiteOptions {
            suite: self.suite.clone(),
            databases: self.database.as_deref().map(DatabaseUrl::parse),
            rule,
            workers: self.workers.max(1),
            shard: None,
            runs: self.runs.clone(),
            resume: self.resume.clone(),
            folder: None,
            wave: None,
            retry_failed: self.retry_failed,
            budgets: RunBudgets {
                calls: self.total_calls,
                tokens: self.total_tokens,
                usd: self.total_usd,
                time,
            },
            max_outages: self.max_outages,
            traces: Traces::None,
            stop_early: self.stop_early,
            seeds: self.seeds.max(1),
            asks_ungraded: false,
            answers: Vec::new(),
            fuzz: None,
            timed: 0,
        })
    }
}

/// Reports after each answer how many of how many are done.
struct Watch(Option<Lines>);

impl run::Observer for Watch {
    fn progress(&self, progress: &Progress, _: &Graded) {
        if let Some(lines) = &self.0 {
            let line = format!("{} of {} answers", progress.done, progress.of);
            drop(lines.try_send(line));
        }
    }
}

impl Beginning for Watch {
    fn on_start(&self, _: &str, _: &Path) {}
}
