//! The state of one optimization, and the step that comes next.

use syrch_core::Column;
use syrch_core::ports::{Admitted, Plan, ResultSize, Timing};
use syrch_core::roles::{Attempt, Proposal};

use crate::confirm::Pairs;
use crate::measure::ratio;
use crate::{Iteration, Outcome, Plans, Probe, Purpose, Report, Round, Settings, Step, Which};

/// One optimization. The caller takes the step that [`step`](Self::step) returns and passes the
/// result to [`feed`](Self::feed), until the step is [`Step::Done`]. The same results lead to the
/// same decisions.
#[derive(Debug, Clone)]
pub struct Optimization {
    pub(crate) settings: Settings,
    pub(crate) given: String,
    pub(crate) phase: Phase,
    pub(crate) original: Option<Admitted>,
    pub(crate) best: Option<Admitted>,
    pub(crate) candidate: Option<Admitted>,
    pub(crate) columns: Vec<Column>,
    /// The version of the data at the start; `None` where the engine cannot detect writes.
    pub(crate) version: Option<String>,
    pub(crate) size: ResultSize,
    pub(crate) baseline: Option<Timing>,
    pub(crate) noise: Vec<Timing>,
    pub(crate) before: Option<Plan>,
    pub(crate) best_plan: Option<Plan>,
    pub(crate) iterations: Vec<Iteration>,
    pub(crate) draft: Option<Iteration>,
    pub(crate) round: Round,
    /// Proposals in a row that count for early stop.
    pub(crate) failures: u32,
    pub(crate) pairs: Pairs,
    pub(crate) ending: Option<(Outcome, String)>,
    pub(crate) interrupted: Option<String>,
}

/// The state of an optimization: the step whose answer it waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Admit,
    FirstVersion,
    FirstSnapshot,
    Columns,
    Size,
    Baseline,
    Noise,
    Explain,
    Propose,
    AdmitCandidate,
    CandidateColumns,
    CandidateSnapshot,
    Compare,
    Copy(u32),
    WarmBest,
    WarmCandidate,
    Round,
    /// Before the verdict on the draft counts.
    Version,
    ExplainBest,
    LastSnapshot,
    LastCompare,
    WarmOriginal,
    WarmLast,
    Pairs,
    LastVersion,
    Done,
}

impl Optimization {
    /// An optimization of the user's text.
    ///
    /// # Errors
    /// When a setting is out of its range.
    pub fn new(text: impl Into<String>, settings: Settings) -> Result<Self, crate::SettingsError> {
        settings.check()?;
        Ok(Self {
            settings,
            given: text.into(),
            phase: Phase::Admit,
            original: None,
            best: None,
            candidate: None,
            columns: Vec::new(),
            version: None,
            size: ResultSize::default(),
            baseline: None,
            noise: Vec::new(),
            before: None,
            best_plan: None,
            iterations: Vec::new(),
            draft: None,
            round: Round::default(),
            failures: 0,
            pairs: Pairs::default(),
            ending: None,
            interrupted: None,
        })
    }

    /// The step that the caller is to take next.
    #[must_use]
    pub fn step(&self) -> Step {
        match self.phase {
            Phase::Admit => Step::AdmitOriginal,
            Phase::FirstVersion | Phase::Version | Phase::LastVersion => Step::Version,
            Phase::FirstSnapshot | Phase::CandidateSnapshot | Phase::LastSnapshot => Step::Snapshot,
            Phase::Columns => Step::Columns(Which::Original),
            Phase::Size => Step::Size,
            Phase::Baseline => Step::Time(Which::Original, Purpose::Probe),
            Phase::Noise => Step::Time(Which::Original, Purpose::Noise),
            Phase::Explain => Step::Explain(Which::Original),
            Phase::Propose => Step::Propose,
            Phase::AdmitCandidate => Step::AdmitCandidate,
            Phase::CandidateColumns => Step::Columns(Which::Candidate),
            Phase::Compare => Step::Compare(Which::Candidate),
            Phase::Copy(number) => Step::CompareOnCopy(number),
            Phase::WarmBest => Step::Time(Which::Best, Purpose::Warm),
            Phase::WarmCandidate => Step::Time(Which::Candidate, Purpose::Warm),
            Phase::Round => {
                Step::Time(self.round.next().unwrap_or(Which::Candidate), Purpose::Round)
            }
            Phase::ExplainBest => Step::Explain(Which::Best),
            Phase::LastCompare => Step::Compare(Which::Best),
            Phase::WarmOriginal => Step::Time(Which::Original, Purpose::Warm),
            Phase::WarmLast => Step::Time(Which::Best, Purpose::Warm),
            Phase::Pairs => {
                Step::Time(self.pairs.next(&self.settings).unwrap_or(Which::Best), Purpose::Final)
            }
            Phase::Done => Step::Done,
        }
    }

    /// The text that the user gave.
    #[must_use]
    pub fn original_sql(&self) -> &str {
        &self.given
    }

    /// The settings of the optimization.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// A statement that passed the checks; `None` before that.
    #[must_use]
    pub fn statement(&self, which: Which) -> Option<&Admitted> {
        match which {
            Which::Original => self.original.as_ref(),
            Which::Best => self.best.as_ref(),
            Which::Candidate => self.candidate.as_ref(),
        }
    }

    /// The statement that [`Step::AdmitCandidate`] is about; empty at other times.
    #[must_use]
    pub fn proposal(&self) -> &str {
        self.draft.as_ref().map_or("", |draft| draft.sql.as_str())
    }

    /// The version of the data at the start; `None` before it is known, and where the engine cannot
    /// detect writes.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// The plan of the best statement, for [`Step::Propose`].
    #[must_use]
    pub fn plan(&self) -> Option<&Plan> {
        self.best_plan.as_ref()
    }

    /// Returns what is reported to the rewriter about its proposals so far.
    #[must_use]
    pub fn history(&self) -> Vec<Attempt> {
        self.iterations.iter().map(Iteration::attempt).collect()
    }

    /// The proposals that have been judged, in order.
    #[must_use]
    pub fn iterations(&self) -> &[Iteration] {
        &self.iterations
    }

    /// The number of pairs of the final measurement so far.
    #[must_use]
    pub fn pairs(&self) -> usize {
        self.pairs.count()
    }

    /// An optimization that is about to make its first proposal, though its statement was not run:
    /// for showing what a rewriter would be given.
    #[must_use]
    pub fn skip_to_proposal(mut self, original: Admitted, plan: Plan) -> Self {
        self.best = Some(original.clone());
        self.original = Some(original);
        self.before = Some(plan.clone());
        self.best_plan = Some(plan);
        self.phase = Phase::Propose;
        self
    }

    /// Ends the optimization early, on the user's request or at the deadline. What was verified
    /// until then is reported; a proposal or a pair under way is not.
    pub fn stop(&mut self, why: impl Into<String>) {
        if self.phase == Phase::Done {
            return;
        }
        let why = why.into();
        if self.best_plan.is_none() {
            self.ending = Some((Outcome::Error, why.clone()));
        }
        self.interrupted = Some(why);
        self.phase = Phase::Done;
    }

    /// The report: complete when the step is [`Step::Done`].
    #[must_use]
    pub fn report(&self) -> Report {
        let (outcome, reason) = match &self.ending {
            Some((outcome, reason)) => (*outcome, Some(reason.clone())),
            None => (Outcome::from_iterations(&self.iterations), None),
        };
        let confirmation = self.pairs.clone().result().filter(|_| outcome == Outcome::Optimized);
        // What was faster in its round and is slower in the end is nothing to use.
        let slower = confirmation.as_ref().filter(|last| last.is_slower());
        let (outcome, reason) = match slower {
            Some(last) => {
                let why = format!(
                    "the last measurement found the accepted statement slower, at {:.2} \
                     times the speed",
                    last.ratio
                );
                (Outcome::Unchanged, Some(why))
            }
            None => (outcome, reason),
        };
        let is_optimized = outcome == Outcome::Optimized;
        let original =
            self.original.as_ref().map_or(self.given.as_str(), |original| original.sql.as_str());
        let best =
            self.best.as_ref().filter(|_| is_optimized).map_or(original, |best| best.sql.as_str());
        let after = self.best_plan.clone().filter(|_| is_optimized);
        Report {
            outcome,
            reason,
            interrupted: self.interrupted.clone(),
            given: self.given.clone(),
            original: original.to_owned(),
            best: best.to_owned(),
            tables: self
                .original
                .as_ref()
                .map(|original| original.tables.clone())
                .unwrap_or_default(),
            columns: self.columns.clone(),
            is_ordered: self.original.as_ref().is_some_and(|original| original.is_ordered),
            probe: self.probe(),
            iterations: self.iterations.clone(),
            confirmation,
            plans: self.before.clone().map(|before| Plans { before, after }),
            settings: self.settings,
        }
    }

    fn probe(&self) -> Option<Probe> {
        let [first, second] = self.noise.as_slice() else { return None };
        let slow = first.wall_ns.max(second.wall_ns);
        let fast = first.wall_ns.min(second.wall_ns);
        Some(Probe { size: self.size, baseline: self.baseline?, noise: ratio(slow, fast) - 1.0 })
    }

    /// Starts the record of a proposal.
    pub(crate) fn begin(&mut self, proposal: Proposal) -> &mut Iteration {
        self.candidate = None;
        self.round = Round::default();
        self.draft.insert(Iteration {
            n: u32::try_from(self.iterations.len()).unwrap_or(u32::MAX).saturating_add(1),
            family: proposal.family,
            reason: proposal.reason,
            sql: proposal.sql,
            state: crate::IterationState::CandidateError,
            detail: None,
            is_statement: false,
            rows: None,
            copies: 0,
            round: None,
            trial: syrch_core::roles::Trial::Failed(String::new()),
        })
    }
}
