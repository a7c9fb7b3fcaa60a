//! The tape: every actor of a run (role calls, port calls under way, the scheduler, the host itself) comes here before it does something
//! whose order matters.
//!
//! Live, the tape notes what happens, in the order in which it happens. Playing, it lets each actor go on only when the journal says that
//! it is its turn, and hands it what the journal holds: so a run repeats exactly, whatever is quicker this time. A killed run plays to the
//! end of its journal and is live from there.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use syrch_core::ports::{LlmError, Reply, Ticket};
use syrch_core::roles::Role;
use syrch_core::{Ledger, Question, ResultSet, RoleError, SqlError, TaskId, Turn};
use tokio::sync::Notify;

use crate::file::Writer;
use crate::read::Journal;
use crate::record::{Ask, CallId, Event, Fact, Got, Kept, Record};
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

struct State {
    playing: Option<Playing>,
    writer: Option<Writer>,
    listener: Option<Listener>,
    kept: Kept,
    stored: Stored,
    calls: Vec<CallState>,
    /// Calls under way that were given up.
    given_up: HashSet<(CallId, Ticket)>,
    closed_tasks: HashSet<TaskId>,
    /// Facts of this process and of the journal, which are the same ones up to where it ends.
    facts: usize,
    facts_on_tape: usize,
    failed: Option<Divergence>,
    offset_ms: u64,
}

struct Playing {
    records: Vec<Record>,
    results: HashMap<String, Arc<ResultSet>>,
    cursor: usize,
    is_strict: bool,
}

struct CallState {
    role: Role,
    task: TaskId,
    from: Option<(CallId, Ticket)>,
    has_left: bool,
    has_ended: bool,
    is_closed: bool,
}

impl State {
    fn writes(&self) -> bool {
        self.writer.is_some() || self.listener.is_some()
    }

    fn is_closed(&self, call: CallId) -> bool {
        let Some(state) = usize::try_from(call).ok().and_then(|place| self.calls.get(place)) else { return false };
        state.is_closed
            || (!state.task.is_empty() && self.closed_tasks.contains(&state.task))
            || state.from.is_some_and(|(parent, ticket)| self.is_over(parent, ticket))
    }

    /// Whether nothing of a port call may happen any more.
    fn is_over(&self, call: CallId, ticket: Ticket) -> bool {
        let has_left = usize::try_from(call).ok().and_then(|place| self.calls.get(place)).is_some_and(|c| c.has_left);
        (has_left && ticket > 0) || self.given_up.contains(&(call, ticket)) || self.is_closed(call)
    }

    fn call(&mut self, call: CallId) -> Option<&mut CallState> {
        usize::try_from(call).ok().and_then(|place| self.calls.get_mut(place))
    }

    /// What follows from an event, live or played.
    fn apply(&mut self, event: &Event) {
        match event {
            Event::Call { role, task, from, .. } => self.calls.push(CallState {
                role: *role,
                task: task.clone(),
                from: *from,
                has_left: false,
                has_ended: false,
                is_closed: false,
            }),
            Event::Port { call, ask: Ask::GiveUp(ticket), .. } => drop(self.given_up.insert((*call, *ticket))),
            Event::Left { call } => {
                if let Some(call) = self.call(*call) {
                    call.has_left = true;
                }
            }
            Event::End { call, .. } => {
                if let Some(call) = self.call(*call) {
                    call.has_ended = true;
                }
            }
            Event::Closed { task } => drop(self.closed_tasks.insert(task.clone())),
            Event::Over { place } => {
                for call in self.calls.iter_mut().filter(|call| !call.has_ended && call.role.name() == place) {
                    call.is_closed = true;
                }
            }
            _ => {}
        }
    }

    fn append(&mut self, at_ms: u64, record: &Record) {
        if let Some(listener) = &self.listener {
            listener(at_ms, record);
        }
        if let Some(writer) = &mut self.writer {
            writer.append(record);
        }
    }

    /// Notes an event and what follows from it.
    fn note(&mut self, at_ms: u64, event: Event) {
        self.apply(&event);
        if self.writes() {
            self.append(at_ms, &Record::Event { at_ms, event });
        }
    }
}

impl Playing {
    /// Moves on to the next event. The books on the way are booked, whatever actor comes next.
    fn settle(&mut self, ledger: &Ledger) {
        while let Some(record) = self.records.get(self.cursor) {
            match record {
                Record::Event { .. } => return,
                Record::Books { entry } => ledger.restore(entry),
                Record::Fact { .. } | Record::Rows { .. } | Record::Resumed { .. } => {}
            }
            self.cursor += 1;
        }
    }

    fn event(&self) -> Option<&Event> {
        match self.records.get(self.cursor)? {
            Record::Event { event, .. } => Some(event),
            _ => None,
        }
    }
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
            offset_ms: 0,
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
            state.offset_ms = journal.records.iter().rev().find_map(at_ms).unwrap_or(0);
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
                let at_ms = tape.now(&state);
                state.append(at_ms, &Record::Books { entry: entry.clone() });
            }
        });
        tape
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self, state: &State) -> u64 {
        let passed = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        state.offset_ms.saturating_add(passed)
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

    /// A role call begins; its number.
    pub async fn open(&self, role: Role, task: &str, from: Option<(CallId, Ticket)>) -> CallId {
        let is_mine = |event: &Event| matches!(event, Event::Call { role: r, task: t, from: f, .. } if *r == role && t == task && *f == from);
        let is_over = |state: &State| {
            from.is_some_and(|(call, ticket)| state.is_over(call, ticket))
                || (!task.is_empty() && state.closed_tasks.contains(task))
        };
        self.turn(is_mine, is_over, |state, moment| match moment {
            Moment::Played(event) => match *event {
                Event::Call { call, .. } => call,
                _ => 0,
            },
            Moment::Live => {
                let call = state.calls.len() as CallId;
                let at_ms = self.now(state);
                state.note(at_ms, Event::Call { call, role, task: task.to_owned(), from });
                call
            }
        })
        .await
    }

    /// The guest has returned: what it started and did not wait for ends here.
    pub async fn left(&self, call: CallId) {
        self.simple(Event::Left { call }, |state| state.is_closed(call)).await;
    }

    /// A role call ends. `then` runs in its turn.
    pub async fn end(&self, call: CallId, error: Option<RoleError>, then: impl FnOnce()) {
        let is_mine = |event: &Event| matches!(event, Event::End { call: other, .. } if *other == call);
        self.turn(
            is_mine,
            |state| state.is_closed(call),
            |state, moment| {
                match moment {
                    Moment::Played(event) => self.compare(state, &*event, &Event::End { call, error }),
                    Moment::Live => state.note(self.now(state), Event::End { call, error }),
                }
                then();
            },
        )
        .await;
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

    /// A port call is made; [`Tape::done`] or one of its like follows.
    pub async fn issue(&self, call: CallId, ticket: Ticket, ask: Ask) {
        let kept = self.state().kept;
        let ask = ask.kept(kept);
        let is_mine =
            |event: &Event| matches!(event, Event::Issue { call: c, ticket: t, .. } if *c == call && *t == ticket);
        self.turn(
            is_mine,
            |state| state.is_over(call, ticket),
            |state, moment| match moment {
                Moment::Played(event) => self.compare(state, &*event, &Event::Issue { call, ticket, ask }),
                Moment::Live if !state.writes() => {}
                Moment::Live => state.note(self.now(state), Event::Issue { call, ticket, ask }),
            },
        )
        .await;
    }

    /// What a port call gives: from the journal, or from `live`, which is then noted. `read` takes it out of what the journal has, and gives
    /// none for what was left out.
    async fn answer<T>(
        &self,
        call: CallId,
        ticket: Ticket,
        live: impl Future<Output = T>,
        write: impl FnOnce(&T, &mut State) -> (Got, Option<Record>),
        read: impl FnOnce(&Got, &HashMap<String, Arc<ResultSet>>) -> Option<T>,
    ) -> T {
        let is_mine =
            |event: &Event| matches!(event, Event::Done { call: c, ticket: t, .. } if *c == call && *t == ticket);
        let is_over = |state: &State| state.is_over(call, ticket);
        // None: live. Some(None): the journal knows that it ended, and has not kept how.
        let played = self
            .turn(is_mine, is_over, |state, moment| match moment {
                Moment::Live => None,
                Moment::Played(event) => {
                    let Event::Done { got, .. } = &*event else { return Some(None) };
                    let none = HashMap::new();
                    Some(read(got, state.playing.as_ref().map_or(&none, |playing| &playing.results)))
                }
            })
            .await;
        match played {
            Some(Some(answer)) => answer,
            Some(None) => live.await,
            None => {
                let answer = live.await;
                self.turn(
                    |_| false,
                    is_over,
                    |state, _| {
                        if state.writes() {
                            let at_ms = self.now(state);
                            let (got, rows) = write(&answer, state);
                            if let Some(rows) = rows {
                                state.append(at_ms, &rows);
                            }
                            state.note(at_ms, Event::Done { call, ticket, got });
                        }
                    },
                )
                .await;
                answer
            }
        }
    }

    /// What a model call gives.
    ///
    /// # Errors
    /// Those of the call.
    pub async fn reply(
        &self,
        call: CallId,
        ticket: Ticket,
        live: impl Future<Output = Result<Reply, LlmError>>,
    ) -> Result<Reply, LlmError> {
        let write = |reply: &Result<Reply, LlmError>, _: &mut State| (Got::Reply(reply.clone().map(Box::new)), None);
        self.answer(call, ticket, live, write, |got, _| match got {
            Got::Reply(reply) => Some(reply.clone().map(|reply| *reply)),
            _ => None,
        })
        .await
    }

    /// What a statement gives.
    ///
    /// # Errors
    /// Those of the statement.
    pub async fn rows(
        &self,
        call: CallId,
        ticket: Ticket,
        live: impl Future<Output = Result<Arc<ResultSet>, SqlError>>,
    ) -> Result<Arc<ResultSet>, SqlError> {
        let write = |rows: &Result<Arc<ResultSet>, SqlError>, state: &mut State| match rows {
            Ok(rows) => {
                let (stored, record) = state.stored.store(rows, state.kept);
                (Got::Rows(Ok(stored)), record)
            }
            Err(error) => (Got::Rows(Err(error.clone())), None),
        };
        self.answer(call, ticket, live, write, |got, results| match got {
            Got::Rows(Ok(stored)) => results.get(stored.digest.as_ref()?).cloned().map(Ok),
            Got::Rows(Err(error)) => Some(Err(error.clone())),
            _ => None,
        })
        .await
    }

    /// What any other port call gives that the host waits for; `read` takes it out of what the journal has.
    pub async fn other<T>(
        &self,
        call: CallId,
        ticket: Ticket,
        live: impl Future<Output = T>,
        write: impl FnOnce(&T, Kept) -> Got,
        read: impl FnOnce(&Got) -> Option<T>,
    ) -> T {
        let write = |answer: &T, state: &mut State| (write(answer, state.kept), None);
        self.answer(call, ticket, live, write, |got, _| read(got)).await
    }

    /// The end of a port call that is worked out again in a replay.
    pub async fn done(&self, call: CallId, ticket: Ticket, got: Got) {
        let is_mine =
            |event: &Event| matches!(event, Event::Done { call: c, ticket: t, .. } if *c == call && *t == ticket);
        self.turn(
            is_mine,
            |state| state.is_over(call, ticket),
            |state, moment| match moment {
                Moment::Played(event) => self.compare(state, &*event, &Event::Done { call, ticket, got }),
                Moment::Live => state.note(self.now(state), Event::Done { call, ticket, got }),
            },
        )
        .await;
    }

    /// A port call that is answered at once. `work` gets what the journal has for it, and gives the answer; it runs in its turn.
    pub async fn port(&self, call: CallId, ask: Ask, work: impl FnOnce(Option<&Got>) -> Got) -> Got {
        let is_mine = |event: &Event| matches!(event, Event::Port { call: other, .. } if *other == call);
        self.turn(
            is_mine,
            |state| state.is_closed(call),
            |state, moment| match moment {
                Moment::Played(event) => {
                    let Event::Port { ask: expected, got, .. } = &*event else { return Got::Nothing };
                    self.compare(state, expected, &ask);
                    work(Some(got))
                }
                Moment::Live => {
                    let got = work(None);
                    state.note(self.now(state), Event::Port { call, ask, got: got.clone() });
                    got
                }
            },
        )
        .await
    }

    /// What the guest saw when it asked which of its calls had ended; none: it is live and must look.
    pub async fn ended(&self, call: CallId, tickets: &[Ticket]) -> Option<Vec<Ticket>> {
        let is_mine = |event: &Event| matches!(event, Event::Port { call: other, .. } if *other == call);
        self.turn(
            is_mine,
            |state| state.is_closed(call),
            |state, moment| {
                let Moment::Played(event) = moment else { return None };
                let Event::Port { ask, got, .. } = &*event else { return None };
                self.compare(state, ask, &Ask::Wait(tickets.to_vec()));
                match got {
                    Got::Ended(ended) => Some(ended.clone()),
                    _ => None,
                }
            },
        )
        .await
    }

    /// What the scheduler took next; none: it is live and must see.
    pub async fn next_turn(&self) -> Option<Turn> {
        loop {
            let moved = self.moved.notified();
            tokio::pin!(moved);
            moved.as_mut().enable();
            {
                let state = self.state();
                match &state.playing {
                    None => return None,
                    Some(playing) => {
                        if let Some(Event::Turn(turn)) = playing.event() {
                            return Some(turn.clone());
                        }
                    }
                }
            }
            moved.await;
        }
    }

    /// The scheduler takes something.
    pub async fn took(&self, turn: Turn) {
        let is_mine = |event: &Event| matches!(event, Event::Turn(_));
        self.turn(
            is_mine,
            |_| false,
            |state, moment| match moment {
                Moment::Played(event) => self.compare(state, &*event, &Event::Turn(turn)),
                Moment::Live => state.note(self.now(state), Event::Turn(turn)),
            },
        )
        .await;
    }

    /// A task is cancelled: nothing of it happens after this.
    pub async fn close_task(&self, task: &str) {
        self.simple(Event::Closed { task: task.to_owned() }, |_| false).await;
    }

    /// The host no longer waits for that role: nothing of its calls happens after this.
    pub async fn close_role(&self, role: Role) {
        self.simple(Event::Over { place: role.name().to_owned() }, |_| false).await;
    }

    /// Ends when the time is over for what the host waits for: as the journal says, or when `live` ends. Nothing of that role's calls happens
    /// after this.
    pub async fn over(&self, role: Role, live: impl Future<Output = ()>) {
        let place = role.name();
        let is_mine = |event: &Event| matches!(event, Event::Over { place: other } if other == place);
        let is_live = self.turn(is_mine, |_| false, |_, moment| matches!(moment, Moment::Live)).await;
        if is_live {
            live.await;
            self.close_role(role).await;
        }
    }

    /// What the host finds out at a place where time decides.
    pub async fn known(&self, place: &str, live: impl FnOnce() -> bool) -> bool {
        let is_mine = |event: &Event| matches!(event, Event::Known { place: other, .. } if other == place);
        self.turn(
            is_mine,
            |_| false,
            |state, moment| match moment {
                Moment::Played(event) => matches!(*event, Event::Known { value: true, .. }),
                Moment::Live => {
                    let value = live();
                    state.note(self.now(state), Event::Known { place: place.to_owned(), value });
                    value
                }
            },
        )
        .await
    }

    /// What the user answers; `live` asks.
    pub async fn user(&self, question: &Question, live: impl Future<Output = Option<String>>) -> Option<String> {
        let is_mine = |event: &Event| matches!(event, Event::User { .. });
        let played = self
            .turn(
                is_mine,
                |_| false,
                |state, moment| {
                    let Moment::Played(event) = moment else { return None };
                    let Event::User { question: expected, answer } = *event else { return None };
                    self.compare(state, &expected, question);
                    Some(answer)
                },
            )
            .await;
        if let Some(answer) = played {
            return answer;
        }
        let answer = live.await;
        let event = Event::User { question: question.clone(), answer: answer.clone() };
        self.turn(|_| false, |_| false, |state, _| state.note(self.now(state), event)).await;
        answer
    }

    /// A new search over another wording begins: its tasks may have the ids of earlier ones.
    pub fn restart(&self) {
        self.state().closed_tasks.clear();
    }

    /// Notes what people want to know. What the journal has already is not noted twice.
    pub fn fact(&self, fact: Fact) {
        let mut state = self.state();
        state.facts += 1;
        if state.facts > state.facts_on_tape && state.playing.is_none() && state.writes() {
            let at_ms = self.now(&state);
            state.append(at_ms, &Record::Fact { at_ms, fact });
        }
    }
}

fn at_ms(record: &Record) -> Option<u64> {
    match record {
        Record::Event { at_ms, .. } | Record::Fact { at_ms, .. } => Some(*at_ms),
        _ => None,
    }
}
