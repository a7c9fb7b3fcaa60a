//! Takes the steps that the state machine of the optimizer asks for, and records their results.

use serde::{Deserialize, Serialize};
use syrch::internal::{RewriterCalls, RewriterRun, RewritingHost};
use syrch::{Error, Host, SearchEvent};
use syrch_core::ports::Level;
use syrch_optimize::{Fed, Iteration, Optimization, Outcome, Proposed, Step};

use crate::bench::LazyBench;
use crate::propose::Proposer;
use crate::{Parts, consent, copies};

/// The progress of an optimization, before each step.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// The step that is about to start.
    pub step: &'a Step,
    /// The proposals that have been judged.
    pub iterations: &'a [Iteration],
    /// The pairs of the final measurement so far.
    pub pairs: usize,
}

/// The result of a step, as the journal has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum StepResult {
    Fed(Fed),
    /// The run was stopped or its deadline passed meanwhile; the text names which.
    Stopped(String),
}

/// An optimization with its settings, before its first step.
pub(super) fn optimization(host: &Host, parts: &Parts) -> Result<Optimization, Error> {
    let copies = copies::count_copies(host.settings(), parts.copies, parts.settings.copies)?;
    let settings = syrch_optimize::Settings { copies, ..parts.settings };
    Optimization::new(parts.sql.clone(), settings).map_err(|error| Error::Config(error.to_string()))
}

/// An optimization whose statement is admitted and explained, without a run of the statement.
///
/// # Errors
/// When the statement is refused, or the database cannot be used.
pub(super) async fn explain_statement(host: &Host, parts: &Parts) -> Result<Optimization, Error> {
    let bench = host.database().bench(parts.limits).await;
    let mut bench = bench.map_err(|error| copies::no_bench(&error))?;
    let admitted = bench.admit(&parts.sql, None).await?;
    bench.snapshot().await?;
    let plan = bench.explain(&admitted).await?;
    let optimization = optimization(host, parts)?;
    Ok(optimization.skip_to_proposal(admitted, plan))
}

/// One optimization under way.
pub(super) struct Driver<'a> {
    host: &'a RewritingHost,
    parts: &'a Parts,
    run: &'a RewriterRun,
    proposer: Proposer,
    /// The role calls, from the first one on.
    calls: Option<RewriterCalls>,
    bench: LazyBench,
}

impl<'a> Driver<'a> {
    pub(super) fn new(
        host: &'a RewritingHost,
        parts: &'a Parts,
        run: &'a RewriterRun,
    ) -> Result<Self, Error> {
        let proposer = Proposer::new(host, parts.rewriter.clone())?;
        let bench = LazyBench::new(host.host(), parts);
        Ok(Self { host, parts, run, proposer, calls: None, bench })
    }

    /// Takes all steps until the optimization is done or stopped.
    ///
    /// # Errors
    /// When there is no bench, no consent, or no model that answers.
    pub(super) async fn drive(
        mut self,
        mut optimization: Optimization,
    ) -> Result<Optimization, Error> {
        loop {
            let step = optimization.step();
            if let Some(progress) = &self.parts.progress {
                let iterations = optimization.iterations();
                let pairs = optimization.pairs();
                progress(&Progress { step: &step, iterations, pairs });
            }
            let came = match step {
                Step::Done => break,
                Step::Propose => self.propose(&optimization).await?,
                step => self.measure(&optimization, &step).await?,
            };
            match came {
                StepResult::Fed(fed) => {
                    optimization.feed(fed).map_err(|error| {
                        Error::Replay(format!("the journal departs from the optimizer: {error}"))
                    })?;
                }
                StepResult::Stopped(why) => optimization.stop(why),
            }
        }
        if let Some(message) = self.bench.copies.warning.take() {
            let call = "optimize".to_owned();
            let level = Level::Warn;
            self.run.report(&SearchEvent::Note { call, level, message });
        }
        self.check_model_reached(optimization)
    }

    /// A model that could not be asked even once is an error of its own.
    fn check_model_reached(&self, optimization: Optimization) -> Result<Optimization, Error> {
        let model_error = self.calls.as_ref().and_then(RewriterCalls::model_error);
        match model_error.filter(|_| optimization.report().outcome == Outcome::NoValidCandidate) {
            Some(error) => Err(error),
            None => Ok(optimization),
        }
    }

    /// A step on the database, or what the journal has of it.
    async fn measure(
        &mut self,
        optimization: &Optimization,
        step: &Step,
    ) -> Result<StepResult, Error> {
        let run = self.run;
        let actual = async {
            let came = tokio::select! {
                biased;
                () = run.wait_until_over() => StepResult::Stopped(stop_reason(run.is_stopped())),
                fed = self.bench.perform(optimization, step) => StepResult::Fed(fed?),
            };
            serde_json::to_value(&came).map_err(|error| Error::Internal(error.to_string()))
        };
        let written =
            serde_json::to_value(step).map_err(|error| Error::Internal(error.to_string()))?;
        let got = run.event_log().bench(&written, actual).await?;
        serde_json::from_value(got).map_err(|error| {
            Error::Unfit(format!("the journal's measurement cannot be read: {error}"))
        })
    }

    async fn propose(&mut self, optimization: &Optimization) -> Result<StepResult, Error> {
        self.run.event_log().no_bench("a proposal").await;
        self.consent(optimization).await?;
        let calls = match &self.calls {
            Some(calls) => calls.clone(),
            None => self.calls.insert(self.proposer.calls(self.run, optimization)?).clone(),
        };
        let proposed = self.proposer.call(&calls, optimization).await;
        if matches!(proposed, Some(Proposed::Failed(_) | Proposed::PromptTooLarge(_)))
            && let Some(denied) = self.run.denial_error()
        {
            return Err(denied);
        }
        match proposed {
            Some(proposed) => Ok(StepResult::Fed(Fed::Proposed(proposed))),
            None => {
                let event_log = self.run.event_log();
                let is_interrupted =
                    event_log.decide_by_time("interrupted", || self.run.is_stopped()).await;
                Ok(StepResult::Stopped(stop_reason(is_interrupted)))
            }
        }
    }

    /// Obtains the user's consent before a call that would send something. The journal holds that
    /// it was given.
    async fn consent(&mut self, optimization: &Optimization) -> Result<(), Error> {
        if !self.run.lacks_consent() {
            return Ok(());
        }
        let event_log = self.run.event_log();
        let is_given = !event_log.is_replaying()
            && consent::obtain(self.host, self.parts, &self.proposer, optimization).await?;
        if event_log.decide_by_time("consent", || is_given).await {
            self.run.give_consent();
        }
        Ok(())
    }
}

fn stop_reason(is_interrupted: bool) -> String {
    if is_interrupted { "it was stopped".to_owned() } else { "its deadline passed".to_owned() }
}
