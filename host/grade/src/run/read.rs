//! Reads a run for reports: its header, and its answers in the order of the suite.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::RunError;
use super::folder::{RESULTS, read_header};
use super::graded::{Cost, Graded, twice};
use super::header::Header;
use super::line::{Early, Entry, Lines};
use crate::Verdict;

/// The cost of tries that failed and were repeated.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct EarlierTries {
    /// The number of tries.
    pub tries: u64,
    /// Model calls, sent or from a cache.
    pub calls: u64,
    /// Tokens of prompts and replies.
    pub tokens: u64,
    /// Money in dollars; `None` if the price of any is not known.
    pub usd: Option<f64>,
}

impl EarlierTries {
    /// Adds a try of that cost.
    pub(crate) fn and(self, cost: &Cost) -> Self {
        let calls = u64::from(cost.calls) + u64::from(cost.cached);
        let price = cost.usd.or((calls == 0).then_some(0.0));
        let before = if self.tries == 0 { Some(0.0) } else { self.usd };
        Self {
            tries: self.tries + 1,
            calls: self.calls + calls,
            tokens: self
                .tokens
                .saturating_add(cost.input_tokens)
                .saturating_add(cost.output_tokens),
            usd: before.zip(price).map(|(before, price)| before + price),
        }
    }

    /// The sum of both.
    pub(crate) fn with(self, other: Self) -> Self {
        Self {
            tries: self.tries + other.tries,
            calls: self.calls + other.calls,
            tokens: self.tokens.saturating_add(other.tokens),
            usd: self.usd.zip(other.usd).map(|(one, other)| one + other),
        }
    }
}

/// The recorded start and the answers of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRecord {
    /// The recorded start of the run.
    pub header: Header,
    /// The answers, by place, and for each place in the order of the arms; of several tries of one
    /// the last. Those that ran ahead of an early stop are left out.
    pub graded: Vec<Graded>,
    /// The early end of the run, if its comparison was decided before all questions were asked.
    pub stopped: Option<Early>,
    /// Answers that ran ahead of the early stop and are left out.
    pub ahead: u64,
    /// The time of the run, of all its processes together. Not compared between runs.
    pub elapsed: Duration,
    /// The cost of tries that failed and were repeated, by arm. Arms without such tries are
    /// missing.
    pub earlier: BTreeMap<String, EarlierTries>,
}

impl RunRecord {
    /// The number of answers of the complete run, unless it stops early.
    #[must_use]
    pub fn total_answers(&self) -> u64 {
        let questions = self.header.suite.questions;
        let questions = self.header.shard.map_or(questions, |shard| shard.share(questions));
        questions * self.header.arms.len() as u64
    }

    /// Returns true if all answers are there.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let of = self
            .stopped
            .as_ref()
            .map_or(self.total_answers(), |early| (early.at + 1) * self.header.arms.len() as u64);
        self.graded.len() as u64 == of
    }
}

/// Reads a run, also one that is running or was killed: a last line that was cut off is ignored.
///
/// # Errors
/// When it is no run, a line is damaged or not the run's, or a file cannot be read.
pub fn read(folder: &Path) -> Result<RunRecord, RunError> {
    let header = read_header(folder)?;
    let path = folder.join(RESULTS);
    let mut all: BTreeMap<(u64, usize), Graded> = BTreeMap::new();
    let mut earlier: BTreeMap<String, EarlierTries> = BTreeMap::new();
    let mut stopped = None;
    let mut elapsed = Duration::ZERO;
    let file = std::fs::File::open(&path).map_err(|error| RunError::io(&path, error))?;
    let mut lines = Lines::new(file, &path);
    while let Some(line) = lines.next()? {
        elapsed = elapsed.max(line.at);
        match line.entry {
            Entry::Stopped(early) => stopped = early,
            Entry::CutOff(cut) => {
                let tries = earlier.entry(cut.arm).or_default();
                *tries = tries.and(&cut.cost);
            }
            Entry::Graded(graded) => {
                let arm = header.arms.iter().position(|arm| arm.name == graded.arm);
                let arm = arm.ok_or_else(|| {
                    lines.format_error(&format!("the run has no arm `{}`", graded.arm))
                })?;
                let key = (graded.place, arm);
                if !graded.retried && all.contains_key(&key) {
                    return Err(lines.format_error(&twice(&graded)));
                }
                let name = graded.arm.clone();
                if let Some(before) = all.insert(key, *graded) {
                    let tries = earlier.entry(name).or_default();
                    *tries = tries.and(&before.cost);
                }
            }
        }
    }
    settle(&mut all);
    let last = stopped.as_ref().map(|early: &Early| early.at);
    let counted = |graded: &Graded| last.is_none_or(|last| graded.place <= last);
    let lines = all.len();
    let graded: Vec<Graded> = all.into_values().filter(counted).collect();
    Ok(RunRecord {
        header,
        ahead: (lines - graded.len()) as u64,
        graded,
        stopped,
        elapsed,
        earlier,
    })
}

/// Grades the answers that were not graded, such as those of a panic, by the other answers to the
/// same question: where the expected answer is not available or excluded for these, it is for that
/// one as well. So the number of questions that count is the same for all arms.
fn settle(all: &mut BTreeMap<(u64, usize), Graded>) {
    let unjudged: Vec<_> =
        all.iter().filter(|(_, one)| one.is_unjudged()).map(|(key, _)| *key).collect();
    for (place, arm) in unjudged {
        let others = || {
            all.range((place, 0)..=(place, usize::MAX))
                .map(|(_, one)| one)
                .filter(|one| !one.is_unjudged())
        };
        let fault = others()
            .find_map(|one| one.gold_fault.clone())
            .filter(|_| others().all(|one| one.gold_fault.is_some()));
        let judged = others().flat_map(|one| &one.verdicts);
        let excluded: BTreeSet<String> = judged
            .filter(|(_, judged)| judged.verdict == Verdict::Excluded)
            .map(|(rule, _)| rule.clone())
            .collect();
        let Some(one) = all.get_mut(&(place, arm)) else { continue };
        one.gold_fault = fault;
        one.verdicts.retain(|_, _| one.gold_fault.is_none());
        let blank = one.verdicts.iter_mut().filter(|(rule, _)| excluded.contains(*rule));
        blank.for_each(|(_, judged)| judged.verdict = Verdict::Excluded);
    }
}
