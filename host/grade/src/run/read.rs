//! A run as reports read it: what it was begun with, and its answers in the order of the suite, whatever ended first.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::engine::twice;
use super::error::RunError;
use super::folder::{RESULTS, read_header};
use super::graded::{Cost, Graded};
use super::header::Header;
use super::line::{Early, Entry, Lines};
use crate::Verdict;

/// What tries cost that failed and were made again.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct EarlierTries {
    /// How many.
    pub tries: u64,
    /// Model calls, sent or from a cache.
    pub calls: u64,
    /// Tokens of prompts and replies.
    pub tokens: u64,
    /// Money in dollars; none when the price of any is not known.
    pub usd: Option<f64>,
}

impl EarlierTries {
    /// With one more, of that cost.
    fn and(self, cost: &Cost) -> Self {
        let calls = u64::from(cost.calls) + u64::from(cost.cached);
        let price = cost.usd.or((calls == 0).then_some(0.0));
        let before = if self.tries == 0 { Some(0.0) } else { self.usd };
        Self {
            tries: self.tries + 1,
            calls: self.calls + calls,
            tokens: self.tokens.saturating_add(cost.input_tokens).saturating_add(cost.output_tokens),
            usd: before.zip(price).map(|(before, price)| before + price),
        }
    }

    /// Both together.
    pub(crate) fn with(self, other: Self) -> Self {
        Self {
            tries: self.tries + other.tries,
            calls: self.calls + other.calls,
            tokens: self.tokens.saturating_add(other.tokens),
            usd: self.usd.zip(other.usd).map(|(one, other)| one + other),
        }
    }
}

/// A run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRecord {
    /// What it was begun with.
    pub header: Header,
    /// The answers, by place, and for each place in the order of the arms; of several tries of one the last. Those that ran ahead of an
    /// early stop are left out.
    pub graded: Vec<Graded>,
    /// Where it stopped before its end, because it was decided.
    pub stopped: Option<Early>,
    /// Answers that ran ahead of the early stop and are left out.
    pub ahead: u64,
    /// For how long it has gone on: all processes that worked on it together. Not compared between runs.
    pub elapsed: Duration,
    /// What tries cost that failed and were made again, by arm; arms without any are not there.
    pub earlier: BTreeMap<String, EarlierTries>,
}

impl RunRecord {
    /// Answers that it will have when it is done, where it does not stop early.
    #[must_use]
    pub fn of(&self) -> u64 {
        let questions = self.header.suite.questions;
        let questions = self.header.shard.map_or(questions, |shard| shard.share(questions));
        questions * self.header.arms.len() as u64
    }

    /// Whether all is done that there is to do.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let of = self.stopped.as_ref().map_or(self.of(), |early| (early.at + 1) * self.header.arms.len() as u64);
        self.graded.len() as u64 == of
    }
}

/// Reads a run, also one that is going on or was killed: a last line that was cut off is none.
///
/// # Errors
/// When it is no run, a line is damaged or not the run's, or a file cannot be read.
pub fn read(folder: &Path) -> Result<RunRecord, RunError> {
    let header = read_header(folder)?;
    let path = folder.join(RESULTS);
    let mut all: BTreeMap<(u64, usize), Graded> = BTreeMap::new();
    let mut earlier: BTreeMap<String, EarlierTries> = BTreeMap::new();
    let (mut stopped, mut elapsed) = (None, Duration::ZERO);
    let file = std::fs::File::open(&path).map_err(|error| RunError::io(&path, error))?;
    let mut lines = Lines::new(file, &path);
    while let Some(line) = lines.next()? {
        elapsed = elapsed.max(line.at);
        match line.entry {
            Entry::Stopped(early) => stopped = early,
            Entry::Graded(graded) => {
                let arm = header.arms.iter().position(|arm| arm.name == graded.arm);
                let arm = arm.ok_or_else(|| lines.malformed(&format!("the run has no arm `{}`", graded.arm)))?;
                let key = (graded.place, arm);
                if !graded.retried && all.contains_key(&key) {
                    return Err(lines.malformed(&twice(&graded)));
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
    Ok(RunRecord { header, ahead: (lines - graded.len()) as u64, graded, stopped, elapsed, earlier })
}

/// What the other answers to a question tell of its expected one holds for an answer that nobody came to judge, too: where that counts for
/// nobody, so does this one. Who answers does not change how many questions count.
fn settle(all: &mut BTreeMap<(u64, usize), Graded>) {
    let unjudged: Vec<_> = all.iter().filter(|(_, one)| one.is_unjudged()).map(|(key, _)| *key).collect();
    for (place, arm) in unjudged {
        let others =
            || all.range((place, 0)..=(place, usize::MAX)).map(|(_, one)| one).filter(|one| !one.is_unjudged());
        let fault =
            others().find_map(|one| one.gold_fault.clone()).filter(|_| others().all(|one| one.gold_fault.is_some()));
        let judged = others().flat_map(|one| &one.verdicts);
        let excluded: BTreeSet<String> =
            judged.filter(|(_, judged)| judged.verdict == Verdict::Excluded).map(|(rule, _)| rule.clone()).collect();
        let Some(one) = all.get_mut(&(place, arm)) else { continue };
        one.gold_fault = fault;
        one.verdicts.retain(|_, _| one.gold_fault.is_none());
        let blank = one.verdicts.iter_mut().filter(|(rule, _)| excluded.contains(*rule));
        blank.for_each(|(_, judged)| judged.verdict = Verdict::Excluded);
    }
}
