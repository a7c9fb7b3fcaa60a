//! Carries out a run over a suite: checks everything, asks the questions, and reports the end.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use syrch::{Observer, Settings, Stop};
use syrch_grading::grade::report::{AllFailed, CompareOptions, RunReport, all_failed};
use syrch_grading::grade::rules::Rule;
use syrch_grading::grade::run::{Dropped, Graded, Stopped, UsedUp};
use syrch_grading::{FUZZ_FILE, SuiteOptions, SuiteOutcome, SuiteRun};

use super::Document;
use super::progress::RunWatch;
use crate::commands::{Context, asking};
use crate::console::progress::Watch;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

/// A run that has ended, or was stopped.
pub(crate) struct Ended {
    /// The graded answers, and how the run ended.
    pub(crate) outcome: SuiteOutcome,
    /// The reason of missing answers, for the report. `None` if the run is finished.
    pub(crate) why: Option<String>,
    exit: Exit,
    failure: Option<Failure>,
}

/// Files that a run reads, with what they are.
pub(crate) type Inputs = [(&'static str, PathBuf)];

/// The steps of a command at the start of its run.
pub(crate) struct Occasions<'a> {
    /// Called when all checks have passed and nothing is asked yet. Refuses an output that would
    /// replace an input of the run.
    pub(crate) accepted: &'a (dyn Fn(&Inputs) -> Outcome<()> + Sync),
    /// Called when the run has its folder.
    pub(crate) started: &'a (dyn Fn(&Path) + Sync),
}

/// Checks the suite, the databases, the plugins and the model, then asks the arms. `arms` have
/// names and settings; call `asking::prepare` before they are made. Ctrl-C ends the run, and its
/// finished answers are saved.
///
/// # Errors
/// When a check fails, before the first question is asked.
pub(crate) async fn carry_out(
    context: &Context,
    arms: Vec<(String, Settings)>,
    options: SuiteOptions,
    occasions: Occasions<'_>,
) -> Outcome<Ended> {
    let asks = options.answers.is_empty();
    let is_in_folder = options.folder.is_some();
    let resumes = options.resume.is_some() || is_in_folder;
    let wave = options.wave;
    let fuzz = options.fuzz.clone();
    let watch = Arc::new(Watch::new(Arc::clone(&context.console)));
    let settings = arms.first().map(|(_, settings)| settings.clone()).unwrap_or_default();
    let observer = Arc::clone(&watch) as Arc<dyn Observer>;
    let opened = tokio::select! {
        opened = SuiteRun::open(arms, options, &observer) => opened,
        () = context.interrupt.wait() => return Err(
            Failure::new(Exit::Interrupted, "interrupted: nothing was asked yet")
        ),
    };
    let run = match opened {
        Ok(run) => run,
        Err(error) if fuzz.is_some_and(|folder| !folder.join(FUZZ_FILE).is_file()) => {
            return Err(Failure::from(error)
                .hint("`syrch-host suite fuzz SUITE -o FOLDER` makes a fuzzed suite"));
        }
        Err(error) => return Err(asking::explain_error(error, &settings, context, &watch).await),
    };
    let inputs = inputs(context, &run);
    context.output.refuse_to_replace(&inputs)?;
    (occasions.accepted)(&inputs)?;
    run.warnings().iter().for_each(|warning| context.console.warn(warning));
    let stop = Stop::new();
    let listener = tokio::spawn(stop_at_interrupt(context, &stop));
    let watch = RunWatch {
        console: Arc::clone(&context.console),
        started: occasions.started,
        is_in_folder,
    };
    let outcome = run.carry_out(&watch, &stop).await;
    listener.abort();
    context.console.clear();
    match outcome {
        Ok(outcome) => {
            outcome.warnings.iter().for_each(|warning| context.console.warn(warning));
            let on = continuation(&outcome.record.header.id, is_in_folder);
            if let (Some(Stopped::Wave), Some(wave)) = (&outcome.finished.stopped, wave) {
                context.console.note(&format!("wave {wave} of the run is done"));
            }
            Ok(Ended::from_outcome(outcome, asks, &on))
        }
        Err(error @ syrch::Error::Unfit(_)) if resumes => Err(Failure::from(error).hint(
            "the command that began it is needed, with the same flags; `syrch-host report RUN \
             --rule NAME` reports under another rule without asking",
        )),
        Err(error) => Err(error.into()),
    }
}

/// Says how a run that was cut short continues.
pub(super) fn continuation(run: &str, is_in_folder: bool) -> String {
    match is_in_folder {
        true => "the same command continues".to_owned(),
        false => format!("the same command with `--resume {run}` continues"),
    }
}

/// The files that the run reads, and the config files in use.
fn inputs(context: &Context, run: &SuiteRun) -> Vec<(&'static str, PathBuf)> {
    let config = context.config.files.iter().map(|path| ("the config file in use", path.clone()));
    run.inputs().into_iter().chain(config).collect()
}

/// Stops the work at Ctrl-C; the second one ends the program.
pub(crate) fn stop_at_interrupt(
    context: &Context,
    stop: &Stop,
) -> impl Future<Output = ()> + Send + 'static {
    let stop = stop.clone();
    let interrupt = context.interrupt.clone();
    let console = Arc::clone(&context.console);
    async move {
        interrupt.wait().await;
        console.note("stopping; what is done is saved; Ctrl-C again ends at once");
        stop.trigger();
    }
}

impl Ended {
    /// `asks`: whether there were searches, and not only answers to be graded. `on`: how the run
    /// continues.
    fn from_outcome(mut outcome: SuiteOutcome, asks: bool, on: &str) -> Self {
        let run = outcome.record.header.id.clone();
        if !asks {
            outcome.finished.dropped = Dropped::default();
        }
        let on = format!("what is done is saved; {on}");
        let done = outcome.finished.progress.done;
        let of = outcome.finished.progress.of;
        let (exit, why, failure) = match outcome.finished.stopped.take() {
            None | Some(Stopped::Early(_)) => {
                let failure = failure(&outcome.record.graded, &run).map(|failure| match asks {
                    true => failure,
                    false => Failure { hint: None, ..failure },
                });
                (failure.as_ref().map_or(Exit::Answered, |failure| failure.exit), None, failure)
            }
            Some(Stopped::Wave) => {
                (Exit::Answered, Some("later waves are not asked yet".to_owned()), None)
            }
            Some(Stopped::Interrupted) => {
                let failure = Failure::new(
                    Exit::Interrupted,
                    format!("interrupted: {}", describe_done(done, of)),
                );
                (Exit::Interrupted, Some("it was interrupted".to_owned()), Some(failure.hint(on)))
            }
            Some(Stopped::Budget(budget)) => {
                let (what, flag) = budget_of(budget);
                let why = format!("the {what} of the whole run were used up");
                let failure = Failure::new(
                    Exit::Budget,
                    format!("{why} ({flag}): {}", describe_done(done, of)),
                );
                (Exit::Budget, Some(why), Some(failure.hint(format!("{on}, with a higher {flag}"))))
            }
            Some(Stopped::Outage { items, message }) => {
                let times = if items == 1 {
                    "once".to_owned()
                } else {
                    format!("{items} times, one after the other")
                };
                let why = format!("the model's endpoint failed {times}: {message}");
                let failure = Failure::new(Exit::Model, format!("the run stopped: {why}"));
                let hint =
                    "what is done is saved; when the endpoint answers again, the same command with";
                let failure =
                    failure.hint(format!("{hint} `--resume {run} --retry-failed` continues"));
                (Exit::Model, Some(why), Some(failure))
            }
            Some(Stopped::Fatal(error)) => {
                let why = error.to_string();
                let failure = Failure::from(error);
                let hint = failure
                    .hint
                    .as_ref()
                    .map_or_else(|| on.clone(), |hint| format!("{hint}; {on}"));
                (failure.exit, Some(why), Some(failure.hint(hint)))
            }
        };
        Self { outcome, why, exit, failure }
    }

    /// The report on what is graded; `options` are for several arms.
    pub(crate) fn document(&self, rule: Rule, options: &CompareOptions) -> Document {
        let mut document = Document(RunReport::new(&self.outcome.record, rule.name(), options));
        if let Some(why) = &self.why {
            document.0.basis_mut().because(why);
        }
        document.0.basis_mut().warn_of_dropped(&self.outcome.finished.dropped);
        document.with_timings(self.outcome.timings.as_ref(), &self.outcome.record);
        document
    }

    /// Reports what stopped the run. Called when its report is printed. Returns the exit code.
    pub(crate) fn report(&self, context: &Context) -> Exit {
        if let Some(failure) = &self.failure {
            context.console.error(failure);
        }
        self.exit
    }
}

/// The failure of a run without a console; `None` if it has reached its end.
pub(crate) fn find_failure(outcome: SuiteOutcome) -> Option<Failure> {
    Ended::from_outcome(outcome, true, "").failure
}

fn describe_done(done: u64, of: u64) -> String {
    format!("{done} of {of} {} done", if of == 1 { "is" } else { "are" })
}

/// The failure of a run whose searches all failed, as a report of it says so: without a hint to ask
/// again.
pub(crate) fn all_failed_failure(graded: &[Graded]) -> Option<Failure> {
    failure(graded, "").map(|failure| Failure { hint: None, ..failure })
}

/// The failure of a run whose searches all failed, with the exit code of the most frequent error.
/// `None` if a search ended otherwise.
fn failure(graded: &[Graded], run: &str) -> Option<Failure> {
    let AllFailed { class, count, message } = all_failed(graded)?;
    let exit = Exit::from_class(class).unwrap_or(Exit::Unexpected);
    let message = message.unwrap_or("no reason was given");
    let searches = match (graded.len() as u64, count) {
        (1, _) => "the only search failed".to_owned(),
        (all, count) if all == count => format!("all {all} searches failed"),
        (all, count) => format!("all {all} searches failed, {count} of them like this"),
    };
    let hint = format!(
        "once that is put right, the same command with `--resume {run} --retry-failed` asks again"
    );
    Some(Failure::new(exit, format!("{searches}: {message}")).hint(hint))
}

fn budget_of(budget: UsedUp) -> (&'static str, &'static str) {
    match budget {
        UsedUp::Calls => ("model calls", "--total-calls"),
        UsedUp::Tokens => ("tokens", "--total-tokens"),
        UsedUp::Usd => ("dollars", "--total-usd"),
        UsedUp::Time => ("seconds", "--total-time"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn make_answers(ends: &[(&str, &str)]) -> Vec<Graded> {
        let one = |(end, class): &(&str, &str)| {
            json!({
                "arm": "a", "id": "q", "place": 0, "db": "d", "question": "?", "fields": {},
                "end": end,
                "fault": {"class": class, "message": format!("{class} failed")}, "sql": null,
                "gold_sql": null, "verdicts": {},
                "soft_f1": null, "rows": null, "gold_rows": null, "confidence": null,
                "time_ms": 0.0,
                "cost": {
                    "calls": 0, "cached": 0, "input_tokens": 0, "output_tokens": 0, "usd": null,
                    "sql_runs": 0
                }
            })
        };
        ends.iter().map(|end| serde_json::from_value(one(end)).unwrap()).collect()
    }

    #[test]
    fn a_run_of_failures_ends_like_the_most_of_them() {
        let failure_of = |ends: &[(&str, &str)]| failure(&make_answers(ends), "r");
        let failed =
            failure_of(&[("failed", "budget"), ("failed", "model"), ("failed", "model")]).unwrap();
        assert_eq!(failed.exit, Exit::Model);
        assert_eq!(failed.message, "all 3 searches failed, 2 of them like this: model failed");
        // Of equally frequent errors the first by name, as in the report of each arm.
        assert_eq!(
            failure_of(&[("failed", "model"), ("failed", "database")]).unwrap().exit,
            Exit::Database
        );
        assert_eq!(failure_of(&[("failed", "replay-miss")]).unwrap().exit, Exit::ReplayMiss);
        assert_eq!(failure_of(&[("failed", "nonsense")]).unwrap().exit, Exit::Unexpected);
        assert_eq!(failure_of(&[("failed", "model"), ("no-answer", "model")]), None);
        assert_eq!(failure_of(&[]), None);
    }
}
