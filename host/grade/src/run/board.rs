//! The state of a run: which items are done, the totals, and whether a comparison is decided. The
//! log and finished items update it in the same way, so a resumed run has the state of the killed
//! one.

use crate::Verdict;

use super::graded::{Cost, End, Graded};
use super::line::Early;
use super::options::StopEarly;
use super::plan::Plan;
use super::progress::{ArmProgress, Progress};

/// The state of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Slot {
    /// The item is not done.
    #[default]
    Open,
    /// The item failed and is to be repeated.
    Again,
    /// The item is done.
    Done { mark: Mark, failed: bool },
}

/// The mark of an answer: right, wrong or not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Right,
    Wrong,
    /// The rule excludes the question, or the expected answer is not available.
    Uncounted,
}

/// The state of a run.
pub(crate) struct Board {
    slots: Vec<Slot>,
    rule: String,
    pub(crate) progress: Progress,
    race: Option<Race>,
}

/// A comparison that may stop early. Questions count in the order of the suite, whatever ended
/// first, so that it always stops at the same one.
struct Race {
    when: StopEarly,
    /// Questions that have been counted: all before it are done by both arms.
    counted: usize,
    b: u64,
    c: u64,
    decided: Option<Early>,
}

impl Board {
    pub(crate) fn new(plan: &Plan, rule: &str, early: Option<StopEarly>) -> Self {
        let arms = plan
            .arms
            .iter()
            .map(|arm| ArmProgress { arm: arm.to_string(), ..ArmProgress::default() });
        let progress = Progress { of: plan.items(), arms: arms.collect(), ..Progress::default() };
        let race = early.map(|when| Race { when, counted: 0, b: 0, c: 0, decided: None });
        Self { slots: vec![Slot::Open; plan.slots()], rule: rule.to_owned(), progress, race }
    }

    /// Adds an item that ended. Its cost counts, also when it is repeated.
    pub(crate) fn note(&mut self, slot: usize, graded: &Graded) {
        self.spend(&graded.cost);
        let mark = match graded.verdict(&self.rule) {
            Some(Verdict::Right) => Mark::Right,
            Some(Verdict::Wrong) => Mark::Wrong,
            Some(Verdict::Excluded) | None => Mark::Uncounted,
        };
        self.set(slot, Slot::Done { mark, failed: graded.end == End::Failed });
    }

    /// Adds a cost to the totals.
    pub(crate) fn spend(&mut self, cost: &Cost) {
        let progress = &mut self.progress;
        progress.calls += u64::from(cost.calls) + u64::from(cost.cached);
        progress.tokens += cost.input_tokens + cost.output_tokens;
        if let Some(usd) = cost.usd {
            progress.usd = Some(progress.usd.unwrap_or(0.0) + usd);
        }
    }

    /// Returns true if the log may hold a line for the item: it is not done, or this is a repeated
    /// try.
    pub(crate) fn may_take(&self, slot: usize, retried: bool) -> bool {
        retried || !matches!(self.slots.get(slot), Some(Slot::Done { .. }))
    }

    /// Opens the items that failed. Returns their number.
    pub(crate) fn reopen(&mut self) -> u64 {
        let slots: Vec<usize> = (0..self.slots.len())
            .filter(|at| {
                self.slots
                    .get(*at)
                    .is_some_and(|slot: &Slot| matches!(slot, Slot::Done { failed: true, .. }))
            })
            .collect();
        slots.iter().for_each(|slot| self.set(*slot, Slot::Again));
        slots.len() as u64
    }

    /// Counts the questions that both arms have ended, in the order of the suite, until the
    /// comparison is decided. Returns the decision, if there is one.
    pub(crate) fn decide(&mut self, plan: &Plan) -> Option<&Early> {
        let slots = &self.slots;
        let rule = &self.rule;
        let race = self.race.as_mut()?;
        let arms = plan.arms.len();
        while race.decided.is_none() {
            let Some((at, _)) = plan.questions.get(race.counted) else { break };
            let first = slots.get(race.counted * arms + race.when.first).copied();
            let second = slots.get(race.counted * arms + race.when.second).copied();
            let (Some(Slot::Done { mark: first, .. }), Some(Slot::Done { mark: second, .. })) =
                (first, second)
            else {
                break;
            };
            race.counted += 1;
            race.b += u64::from((first, second) == (Mark::Right, Mark::Wrong));
            race.c += u64::from((first, second) == (Mark::Wrong, Mark::Right));
            if (race.when.decides)(race.b, race.c) {
                fn arm_name(plan: &Plan, arm: usize) -> String {
                    plan.arms.get(arm).map(ToString::to_string).unwrap_or_default()
                }
                let first = arm_name(plan, race.when.first);
                let second = arm_name(plan, race.when.second);
                race.decided = Some(Early {
                    at: *at,
                    first,
                    second,
                    rule: rule.clone(),
                    b: race.b,
                    c: race.c,
                });
            }
        }
        race.decided.as_ref()
    }

    /// The next item from `slot` on that is not done, and whether it is a repeated one.
    pub(crate) fn open_from(&self, slot: usize) -> Option<(usize, bool)> {
        let rest = self.slots.iter().enumerate().take(self.limit()).skip(slot);
        rest.filter(|(_, slot)| matches!(slot, Slot::Open | Slot::Again))
            .map(|(at, slot)| (at, *slot == Slot::Again))
            .next()
    }

    /// Slots that are to be done: all, or those of the questions that count once a comparison is
    /// decided.
    pub(crate) fn limit(&self) -> usize {
        let decided = self.race.as_ref().filter(|race| race.decided.is_some());
        decided.map_or(self.slots.len(), |race| race.counted * self.progress.arms.len())
    }

    /// Items that are to be done and are not.
    pub(crate) fn open(&self) -> u64 {
        if self.race.as_ref().is_none_or(|race| race.decided.is_none()) {
            return self.progress.of - self.progress.done;
        }
        self.slots
            .iter()
            .take(self.limit())
            .filter(|slot: &&Slot| !matches!(slot, Slot::Done { .. }))
            .count() as u64
    }

    /// Sets the state of an item, and updates the totals.
    fn set(&mut self, at: usize, new: Slot) {
        let arms = self.progress.arms.len().max(1);
        let (Some(slot), Some(arm)) =
            (self.slots.get_mut(at), self.progress.arms.get_mut(at % arms))
        else {
            return;
        };
        let old = std::mem::replace(slot, new);
        fn count_right(slot: Slot) -> u64 {
            u64::from(matches!(slot, Slot::Done { mark: Mark::Right, .. }))
        }
        fn count_decided(slot: Slot) -> u64 {
            u64::from(matches!(slot, Slot::Done { mark: Mark::Right | Mark::Wrong, .. }))
        }
        let failed = |slot| u64::from(matches!(slot, Slot::Done { failed: true, .. }));
        arm.right = arm.right + count_right(new) - count_right(old);
        arm.of = arm.of + count_decided(new) - count_decided(old);
        self.progress.failed = self.progress.failed + failed(new) - failed(old);
        self.progress.done = self.progress.done + u64::from(matches!(new, Slot::Done { .. }))
            - u64::from(matches!(old, Slot::Done { .. }));
    }
}
