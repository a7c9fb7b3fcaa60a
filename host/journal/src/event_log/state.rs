//! The state of an event log: the position in a journal, the role calls, and which of them may have
//! no further events.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use syrch_core::ports::Ticket;
use syrch_core::roles::Role;
use syrch_core::{Ledger, ResultSet, TaskId};

use super::{Divergence, Listener};
use crate::file::Writer;
use crate::record::{Ask, CallId, Event, Fact, Record, RowRetention};
use crate::stored::Stored;

pub(super) struct State {
    pub(super) replay: Option<Replay>,
    pub(super) writer: Option<Writer>,
    pub(super) listener: Option<Listener>,
    pub(super) rows: RowRetention,
    pub(super) stored: Stored,
    pub(super) calls: Vec<CallState>,
    /// Calls that the guest has cancelled.
    pub(super) cancelled: HashSet<(CallId, Ticket)>,
    pub(super) closed_tasks: HashSet<TaskId>,
    /// Facts of this process so far, and facts of the replayed journal: the first of this process
    /// are the same ones.
    pub(super) facts: usize,
    pub(super) recorded_facts: usize,
    pub(super) failed: Option<Divergence>,
    pub(super) offset_us: u64,
}

pub(super) struct Replay {
    pub(super) records: Vec<Record>,
    pub(super) results: HashMap<String, Arc<ResultSet>>,
    pub(super) cursor: usize,
    pub(super) is_strict: bool,
}

pub(super) struct CallState {
    pub(super) role: Role,
    pub(super) task: TaskId,
    pub(super) from: Option<(CallId, Ticket)>,
    pub(super) has_left: bool,
    pub(super) has_ended: bool,
    pub(super) is_closed: bool,
}

impl State {
    pub(super) fn writes(&self) -> bool {
        self.writer.is_some() || self.listener.is_some()
    }

    pub(super) fn is_closed(&self, call: CallId) -> bool {
        let Some(state) = self.call(call) else { return false };
        state.is_closed
            || (!state.task.is_empty() && self.closed_tasks.contains(&state.task))
            || state.from.is_some_and(|(parent, ticket)| self.is_over(parent, ticket))
    }

    /// Returns whether a port call may have no further events.
    pub(super) fn is_over(&self, call: CallId, ticket: Ticket) -> bool {
        let has_left = self.call(call).is_some_and(|call| call.has_left);
        (has_left && ticket > 0) || self.cancelled.contains(&(call, ticket)) || self.is_closed(call)
    }

    fn call(&self, call: CallId) -> Option<&CallState> {
        self.calls.get(usize::try_from(call).ok()?)
    }

    fn call_mut(&mut self, call: CallId) -> Option<&mut CallState> {
        self.calls.get_mut(usize::try_from(call).ok()?)
    }

    /// Applies the consequences of an event, recorded or replayed.
    pub(super) fn apply(&mut self, event: &Event) {
        match event {
            Event::Call { role, task, from, .. } => self.calls.push(CallState {
                role: *role,
                task: task.clone(),
                from: *from,
                has_left: false,
                has_ended: false,
                is_closed: false,
            }),
            Event::Port { call, ask: Ask::GiveUp(ticket), .. } => {
                self.cancelled.insert((*call, *ticket));
            }
            Event::Left { call } => {
                if let Some(call) = self.call_mut(*call) {
                    call.has_left = true;
                }
            }
            Event::End { call, .. } => {
                if let Some(call) = self.call_mut(*call) {
                    call.has_ended = true;
                }
            }
            Event::Closed { task } => drop(self.closed_tasks.insert(task.clone())),
            Event::Over { place } => {
                for call in self
                    .calls
                    .iter_mut()
                    .filter(|call| !call.has_ended && call.role.name() == place)
                {
                    call.is_closed = true;
                }
            }
            _ => {}
        }
    }

    pub(super) fn append(&mut self, at_us: u64, record: &Record) {
        if let Some(listener) = &self.listener {
            listener(at_us, record);
        }
        if let Some(writer) = &mut self.writer {
            writer.append(record);
        }
    }

    /// Records an event and applies its consequences.
    pub(super) fn record(&mut self, at_us: u64, event: Event) {
        self.apply(&event);
        if self.writes() {
            self.append(at_us, &Record::Event { at_us, event });
        }
    }
}

impl Replay {
    /// Moves to the next event, and restores the ledger entries in between.
    pub(super) fn skip_to_event(&mut self, ledger: &Ledger) {
        while let Some(record) = self.records.get(self.cursor) {
            match record {
                Record::Event { .. }
                | Record::Fact { fact: Fact::Answer { .. } | Fact::Failed { .. }, .. } => return,
                Record::Ledger { entry } => ledger.restore(entry),
                Record::Fact { .. } | Record::Rows { .. } | Record::Resumed { .. } => {}
            }
            self.cursor += 1;
        }
    }

    pub(super) fn event(&self) -> Option<&Event> {
        match self.records.get(self.cursor)? {
            Record::Event { event, .. } => Some(event),
            _ => None,
        }
    }
}
