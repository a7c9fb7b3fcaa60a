//! What a tape knows: where the journal is, which calls there are, and of which of them nothing may happen any more.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use syrch_core::ports::Ticket;
use syrch_core::roles::Role;
use syrch_core::{Ledger, ResultSet, TaskId};

use super::{Divergence, Listener};
use crate::file::Writer;
use crate::record::{Ask, CallId, Event, Fact, Kept, Record};
use crate::stored::Stored;

pub(super) struct State {
    pub(super) playing: Option<Playing>,
    pub(super) writer: Option<Writer>,
    pub(super) listener: Option<Listener>,
    pub(super) kept: Kept,
    pub(super) stored: Stored,
    pub(super) calls: Vec<CallState>,
    /// Calls under way that were given up.
    pub(super) given_up: HashSet<(CallId, Ticket)>,
    pub(super) closed_tasks: HashSet<TaskId>,
    /// Facts of this process and of the journal, which are the same ones up to where it ends.
    pub(super) facts: usize,
    pub(super) facts_on_tape: usize,
    pub(super) failed: Option<Divergence>,
    pub(super) offset_us: u64,
}

pub(super) struct Playing {
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
        let Some(state) = usize::try_from(call).ok().and_then(|place| self.calls.get(place)) else { return false };
        state.is_closed
            || (!state.task.is_empty() && self.closed_tasks.contains(&state.task))
            || state.from.is_some_and(|(parent, ticket)| self.is_over(parent, ticket))
    }

    /// Whether nothing of a port call may happen any more.
    pub(super) fn is_over(&self, call: CallId, ticket: Ticket) -> bool {
        let has_left = usize::try_from(call).ok().and_then(|place| self.calls.get(place)).is_some_and(|c| c.has_left);
        (has_left && ticket > 0) || self.given_up.contains(&(call, ticket)) || self.is_closed(call)
    }

    pub(super) fn call(&mut self, call: CallId) -> Option<&mut CallState> {
        usize::try_from(call).ok().and_then(|place| self.calls.get_mut(place))
    }

    /// What follows from an event, live or played.
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

    pub(super) fn append(&mut self, at_us: u64, record: &Record) {
        if let Some(listener) = &self.listener {
            listener(at_us, record);
        }
        if let Some(writer) = &mut self.writer {
            writer.append(record);
        }
    }

    /// Notes an event and what follows from it.
    pub(super) fn note(&mut self, at_us: u64, event: Event) {
        self.apply(&event);
        if self.writes() {
            self.append(at_us, &Record::Event { at_us, event });
        }
    }
}

impl Playing {
    /// Moves on to the next event. The books on the way are booked, whatever actor comes next.
    pub(super) fn settle(&mut self, ledger: &Ledger) {
        while let Some(record) = self.records.get(self.cursor) {
            match record {
                Record::Event { .. } | Record::Fact { fact: Fact::Answer { .. } | Fact::Failed { .. }, .. } => return,
                Record::Books { entry } => ledger.restore(entry),
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
