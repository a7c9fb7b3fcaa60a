//! The tape: every actor of a run (role calls, port calls under way, the scheduler, the host itself) comes here before it does something
//! whose order matters.
//!
//! Live, the tape notes what happens, in the order in which it happens. Playing, it lets each actor go on only when the journal says that
//! it is its turn, and hands it what the journal holds: so a run repeats exactly, whatever is quicker this time. A killed run plays to the
//! end of its journal and is live from there.

mod host;
mod ports;
mod roles;
mod state;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use syrch_core::Ledger;
use tokio::sync::Notify;

use self::state::{Playing, State};
use crate::file::Writer;
use crate::read::Journal;
use crate::record::{CallId, Event, Kept, Record};
use crate::stored::Stored;

/// How a tape begins.
#[derive(Debug)]
pub enum Mode {
    /// Notes what happens; without a writer, nothing is kept.
    Live(Option<Writer>, Kept),
    /// Plays a journal and never goes beyond it.
    Strict(Journal),
    /// Plays a journal and then goes on where it ends.
    Resume(Writer, Journal),
}

/// A run does not do what its journal says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the run departs from its journal at record {record}: {found}, where the journal has {expected}")]
pub struct Divergence {
    /// Which record of the journal, from 1.
    pub record: usize,
    /// What the journal holds there.
    pub expected: String,
    /// What the run did.
    pub found: String,
}

type Listener = Box<dyn Fn(u64, &Record) + Send + Sync>;

/// The tape of one run.
pub struct Tape {
    ledger: Arc<Ledger>,
    began: Instant,
    state: Mutex<State>,
    moved: Notify,
}

/// What an actor finds when it comes to the tape.
enum Moment {
    /// The run is live: it may go on, and says what it does.
    Live,
    /// The journal has this event here, and it is the actor's.
    Played(Box<Event>),
}

impl Tape {
    /// A tape for a run with this ledger, whose books go on the tape, or come from it.
    #[must_use]
    pub fn new(mode: Mode, ledger: Arc<Ledger>, listener: Option<Listener>) -> Arc<Self> {
        let mut state = State {
            playing: None,
            writer: None,
            listener,
            kept: Kept::Full,
            stored: Stored::default(),
            calls: Vec::new(),
            given_up: HashSet::new(),
            closed_tasks: HashSet::new(),
            facts: 0,
            facts_on_tape: 0,
            failed: None,
            offset_us: 0,
        };
        let playing = match mode {
            Mode::Live(writer, kept) => {
                (state.writer, state.kept) = (writer, kept);
                None
            }
            Mode::Strict(journal) => Some((journal, true)),
            Mode::Resume(writer, journal) => {
                state.writer = Some(writer);
                Some((journal, false))
            }
        };
        if let Some((journal, is_strict)) = playing {
            let results = journal.results();
            state.kept = journal.header.kept;
            state.stored = Stored::holding(results.keys());
            state.facts_on_tape = journal.records.iter().filter(|record| matches!(record, Record::Fact { .. })).count();
            state.offset_us = journal.records.iter().rev().find_map(at_us).unwrap_or(0);
            let mut playing = Playing { records: journal.records, results, cursor: 0, is_strict };
            playing.settle(&ledger);
            state.playing = Some(playing);
        }
        let tape = Arc::new(Self {
            ledger: Arc::clone(&ledger),
            began: Instant::now(),
            state: Mutex::new(state),
            moved: Notify::new(),
        });
        tape.live_if_over(&mut tape.state());
        let books = Arc::downgrade(&tape);
        ledger.listen(move |entry| {
            let Some(tape) = books.upgrade() else { return };
            let mut state = tape.state();
            if state.playing.is_none() && state.writes() {
                let at_us = tape.now(&state);
                state.append(at_us, &Record::Books { entry: entry.clone() });
            }
        });
        tape
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self, state: &State) -> u64 {
        let passed = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        state.offset_us.saturating_add(passed)
    }

    /// Goes live when a journal that is resumed has been played to its end.
    fn live_if_over(&self, state: &mut State) {
        if state.playing.as_ref().is_some_and(|playing| !playing.is_strict && playing.event().is_none()) {
            state.playing = None;
            let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            let at_unix_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
            state.append(0, &Record::Resumed { at_unix_ms });
        }
    }

    /// Whether the journal still says what happens.
    #[must_use]
    pub fn is_playing(&self) -> bool {
        self.state().playing.is_some()
    }

    /// Why the journal is incomplete, if it is.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        self.state().writer.as_ref().and_then(Writer::broken).map(str::to_owned)
    }

    /// Waits until the actor may go on. `work` runs under the tape's lock, so that its effects have the order of the events. For an actor of
    /// whom nothing may happen any more, this never ends.
    async fn turn<T>(
        &self,
        is_mine: impl Fn(&Event) -> bool,
        is_over: impl Fn(&State) -> bool,
        work: impl FnOnce(&mut State, Moment) -> T,
    ) -> T {
        let mut work = Some(work);
        loop {
            let moved = self.moved.notified();
            tokio::pin!(moved);
            // From here on no move goes unnoticed.
            moved.as_mut().enable();
            if let Some(result) = self.try_turn(&is_mine, &is_over, &mut work) {
                return result;
            }
            moved.await;
        }
    }

    fn try_turn<T, W: FnOnce(&mut State, Moment) -> T>(
        &self,
        is_mine: &impl Fn(&Event) -> bool,
        is_over: &impl Fn(&State) -> bool,
        work: &mut Option<W>,
    ) -> Option<T> {
        let mut state = self.state();
        if state.failed.is_some() || is_over(&state) {
            return None;
        }
        let Some(playing) = &mut state.playing else {
            return work.take().map(|work| work(&mut state, Moment::Live));
        };
        let event = playing.event().filter(|event| is_mine(event))?.clone();
        if let Some(wrong) = misplaced(&event, state.calls.len() as CallId) {
            self.depart(&mut state, &event, wrong);
            drop(state);
            self.moved.notify_waiters();
            return None;
        }
        let playing = state.playing.as_mut()?;
        playing.cursor += 1;
        playing.settle(&self.ledger);
        state.apply(&event);
        let result = work.take().map(|work| work(&mut state, Moment::Played(Box::new(event))));
        self.live_if_over(&mut state);
        drop(state);
        self.moved.notify_waiters();
        result
    }

    fn depart(&self, state: &mut State, expected: impl std::fmt::Debug, found: impl std::fmt::Debug) {
        let clip = |text: String| syrch_core::text::clip(&text, 600).to_owned();
        let record = state.playing.as_ref().map_or(0, |playing| playing.cursor + 1);
        let (expected, found) = (clip(format!("{expected:?}")), clip(format!("{found:?}")));
        state.failed.get_or_insert(Divergence { record, expected, found });
    }

    /// Compares what an actor does with what the journal says it did; a difference ends the replay.
    fn compare<T: PartialEq + std::fmt::Debug>(&self, state: &mut State, expected: &T, found: &T) {
        if expected != found {
            self.depart(state, expected, found);
        }
    }

    /// Ends when the run departs from its journal, which it never does live.
    pub async fn departed(&self) -> Divergence {
        loop {
            let moved = self.moved.notified();
            tokio::pin!(moved);
            moved.as_mut().enable();
            if let Some(failed) = self.state().failed.clone() {
                return failed;
            }
            // A departure is noticed under the lock of a turn, whose end wakes all who wait.
            moved.await;
        }
    }

    /// Ends when a replay has not moved for that long: the run does not do what the journal says comes next.
    pub async fn stalled(&self, patience: Duration) -> Divergence {
        let mut last = None;
        loop {
            let Some((cursor, expected)) = self.place() else { return std::future::pending().await };
            if last == Some(cursor) {
                let expected = expected.unwrap_or_else(|| "its end".to_owned());
                let expected = syrch_core::text::clip(&expected, 600).to_owned();
                return Divergence { record: cursor + 1, expected, found: "nothing more happens".to_owned() };
            }
            last = Some(cursor);
            tokio::time::sleep(patience).await;
        }
    }

    /// Where the journal is, and what it has there; none when the run is live.
    fn place(&self) -> Option<(usize, Option<String>)> {
        let state = self.state();
        let playing = state.playing.as_ref()?;
        Some((playing.cursor, playing.event().map(|event| format!("{event:?}"))))
    }

    /// An event that stands for itself.
    async fn simple(&self, event: Event, is_over: impl Fn(&State) -> bool) {
        let wanted = event.clone();
        self.turn(
            |other| *other == wanted,
            is_over,
            |state, moment| {
                if matches!(moment, Moment::Live) {
                    state.note(self.now(state), event);
                }
            },
        )
        .await;
    }
}

/// What is wrong with the numbers of a role call: they count from 0, and who waits was there before. A journal may be a stranger's.
fn misplaced(event: &Event, next: CallId) -> Option<&'static str> {
    match event {
        Event::Call { call, from, .. } if *call != next || from.is_some_and(|(parent, _)| parent >= next) => {
            Some("a role call of another number")
        }
        _ => None,
    }
}

fn at_us(record: &Record) -> Option<u64> {
    match record {
        Record::Event { at_us, .. } | Record::Fact { at_us, .. } => Some(*at_us),
        _ => None,
    }
}
