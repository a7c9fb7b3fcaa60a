//! The event log: a sequence point at which every actor of a run (role calls, port calls in flight,
//! the scheduler, the host itself) stops before it does something whose order matters.
//!
//! While a run is recorded, the log appends events in the order in which they happen. During a
//! replay it lets each actor continue only when the journal has that actor's event next, and
//! returns what the journal holds. So a run repeats exactly, whichever actor is faster this time. A
//! killed run is replayed to the end of its journal and recorded from there on.

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

use self::state::{Replay, State};
use crate::file::Writer;
use crate::read::Journal;
use crate::record::{CallId, Event, Record, RowRetention};
use crate::stored::Stored;

/// The mode in which an event log starts.
#[derive(Debug)]
pub enum Mode {
    /// Records events, in a file if there is a writer.
    Record(Option<Writer>, RowRetention),
    /// Replays a journal. Nothing may happen that the journal does not hold.
    Replay(Journal),
    /// Replays a journal, and records from its end on.
    Resume(Writer, Journal),
}

/// A run does something else than its journal holds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the run diverges from its journal at record {record}: {found}, where the journal \
     has {expected}"
)]
pub struct Divergence {
    /// The record of the journal, from 1.
    pub record: usize,
    /// The event that the journal holds there.
    pub expected: String,
    /// The event of the run.
    pub found: String,
}

/// Receives the records of an event log as they happen, each with its time in microseconds since
/// the run started.
pub type Listener = Box<dyn Fn(u64, &Record) + Send + Sync>;

/// The event log of one run.
pub struct EventLog {
    ledger: Arc<Ledger>,
    began: Instant,
    state: Mutex<State>,
    advanced: Notify,
}

/// The step of an actor at its sequence point.
enum Step {
    /// It acts and records its event.
    Record,
    /// It replays this event, which is its own.
    Replay(Box<Event>),
}

impl EventLog {
    /// Creates the event log of a run. Entries of its ledger are recorded too; a replay restores
    /// them in the ledger. The listener is called with each record and its time in microseconds
    /// since the run started.
    #[must_use]
    pub fn new(mode: Mode, ledger: Arc<Ledger>, listener: Option<Listener>) -> Arc<Self> {
        let mut state = State {
            replay: None,
            writer: None,
            listener,
            rows: RowRetention::Full,
            stored: Stored::default(),
            calls: Vec::new(),
            cancelled: HashSet::new(),
            closed_tasks: HashSet::new(),
            facts: 0,
            recorded_facts: 0,
            failed: None,
            offset_us: 0,
        };
        let source = match mode {
            Mode::Record(writer, rows) => {
                (state.writer, state.rows) = (writer, rows);
                None
            }
            Mode::Replay(journal) => Some((journal, true)),
            Mode::Resume(writer, journal) => {
                state.writer = Some(writer);
                Some((journal, false))
            }
        };
        if let Some((journal, is_strict)) = source {
            let results = journal.results();
            state.rows = journal.header.rows;
            state.stored = Stored::holding(results.keys());
            state.recorded_facts = journal
                .records
                .iter()
                .filter(|record| matches!(record, Record::Fact { .. }))
                .count();
            state.offset_us = journal.records.iter().rev().find_map(at_us).unwrap_or(0);
            let mut replay = Replay { records: journal.records, results, cursor: 0, is_strict };
            replay.skip_to_event(&ledger);
            state.replay = Some(replay);
        }
        let event_log = Arc::new(Self {
            ledger: Arc::clone(&ledger),
            began: Instant::now(),
            state: Mutex::new(state),
            advanced: Notify::new(),
        });
        event_log.record_if_at_end(&mut event_log.state());
        let weak = Arc::downgrade(&event_log);
        ledger.listen(move |entry| {
            let Some(event_log) = weak.upgrade() else { return };
            let mut state = event_log.state();
            if state.replay.is_none() && state.writes() {
                let at_us = event_log.now(&state);
                state.append(at_us, &Record::Ledger { entry: entry.clone() });
            }
        });
        event_log
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self, state: &State) -> u64 {
        let passed = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        state.offset_us.saturating_add(passed)
    }

    /// Starts to record when a journal that is resumed has been replayed to its end.
    fn record_if_at_end(&self, state: &mut State) {
        if state.replay.as_ref().is_some_and(|replay| !replay.is_strict && replay.event().is_none())
        {
            state.replay = None;
            let since =
                SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            let at_unix_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
            state.append(0, &Record::Resumed { at_unix_ms });
        }
    }

    /// Returns whether a journal is being replayed.
    #[must_use]
    pub fn is_replaying(&self) -> bool {
        self.state().replay.is_some()
    }

    /// Returns the reason why the journal is incomplete; `None` when it is complete.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        self.state().writer.as_ref().and_then(Writer::broken).map(str::to_owned)
    }

    /// Waits for the actor's sequence point. `is_mine` recognises the actor's event in a replay,
    /// and `is_over` says that no event of the actor may happen any more: then this never returns.
    /// `work` runs under the lock of the log, so that its effects have the order of the events.
    async fn sequence_point<T>(
        &self,
        is_mine: impl Fn(&Event) -> bool,
        is_over: impl Fn(&State) -> bool,
        work: impl FnOnce(&mut State, Step) -> T,
    ) -> T {
        let mut work = Some(work);
        self.until(move || self.try_pass(&is_mine, &is_over, &mut work)).await
    }

    /// Waits until `ready` returns a value. It is called now, and whenever the replay has advanced.
    async fn until<T>(&self, mut ready: impl FnMut() -> Option<T>) -> T {
        loop {
            let advanced = self.advanced.notified();
            tokio::pin!(advanced);
            // From here on no advance goes unnoticed.
            advanced.as_mut().enable();
            if let Some(result) = ready() {
                return result;
            }
            advanced.await;
        }
    }

    fn try_pass<T, W: FnOnce(&mut State, Step) -> T>(
        &self,
        is_mine: &impl Fn(&Event) -> bool,
        is_over: &impl Fn(&State) -> bool,
        work: &mut Option<W>,
    ) -> Option<T> {
        let mut state = self.state();
        if state.failed.is_some() || is_over(&state) {
            return None;
        }
        let Some(replay) = &mut state.replay else {
            return work.take().map(|work| work(&mut state, Step::Record));
        };
        let event = replay.event().filter(|event| is_mine(event))?.clone();
        if let Some(wrong) = find_misplaced(&event, state.calls.len() as CallId) {
            self.diverge(&mut state, &event, wrong);
            drop(state);
            self.advanced.notify_waiters();
            return None;
        }
        let replay = state.replay.as_mut()?;
        replay.cursor += 1;
        replay.skip_to_event(&self.ledger);
        state.apply(&event);
        let result = work.take().map(|work| work(&mut state, Step::Replay(Box::new(event))));
        self.record_if_at_end(&mut state);
        drop(state);
        self.advanced.notify_waiters();
        result
    }

    fn diverge(
        &self,
        state: &mut State,
        expected: impl std::fmt::Debug,
        found: impl std::fmt::Debug,
    ) {
        fn clip(text: String) -> String {
            syrch_core::text::clip(&text, 600).to_owned()
        }
        let record = state.replay.as_ref().map_or(0, |replay| replay.cursor + 1);
        let expected = clip(format!("{expected:?}"));
        let found = clip(format!("{found:?}"));
        state.failed.get_or_insert(Divergence { record, expected, found });
    }

    /// Compares an actor's event with the one of the journal; a difference ends the replay.
    fn compare<T: PartialEq + std::fmt::Debug>(&self, state: &mut State, expected: &T, found: &T) {
        if expected != found {
            self.diverge(state, expected, found);
        }
    }

    /// Resolves when the run diverges from its journal, which it never does while it is recorded.
    pub async fn wait_for_divergence(&self) -> Divergence {
        // A divergence is found at a sequence point, whose end wakes all waiting actors.
        self.until(|| self.state().failed.clone()).await
    }

    /// Resolves when a replay has not advanced for that long: the run does not produce the next
    /// event of the journal.
    pub async fn wait_for_stall(&self, limit: Duration) -> Divergence {
        let mut last = None;
        loop {
            let Some((cursor, expected)) = self.place() else {
                return std::future::pending().await;
            };
            if last == Some(cursor) {
                let expected = expected.unwrap_or_else(|| "its end".to_owned());
                let expected = syrch_core::text::clip(&expected, 600).to_owned();
                return Divergence {
                    record: cursor + 1,
                    expected,
                    found: "nothing more happens".to_owned(),
                };
            }
            last = Some(cursor);
            tokio::time::sleep(limit).await;
        }
    }

    /// The position in the journal and the event there; `None` when nothing is replayed.
    fn place(&self) -> Option<(usize, Option<String>)> {
        let state = self.state();
        let replay = state.replay.as_ref()?;
        Some((replay.cursor, replay.event().map(|event| format!("{event:?}"))))
    }

    /// The sequence point of an event without an answer.
    async fn record_event(&self, event: Event, is_over: impl Fn(&State) -> bool) {
        let wanted = event.clone();
        self.sequence_point(
            |other| *other == wanted,
            is_over,
            |state, step| {
                if matches!(step, Step::Record) {
                    state.record(self.now(state), event);
                }
            },
        )
        .await;
    }
}

/// Checks the numbers of a role call: they count from 0, and a call that waits has started before.
/// A journal may come from anybody. Returns a description of the error; `None` if there is none.
fn find_misplaced(event: &Event, next: CallId) -> Option<&'static str> {
    match event {
        Event::Call { call, from, .. }
            if *call != next || from.is_some_and(|(parent, _)| parent >= next) =>
        {
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
