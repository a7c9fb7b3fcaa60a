//! Role calls on the tape: how they begin and end.

use syrch_core::RoleError;
use syrch_core::ports::Ticket;
use syrch_core::roles::Role;

use super::state::State;
use super::{Moment, Tape};
use crate::record::{CallId, Event};

impl Tape {
    /// A role call begins; its number. `then` runs in its turn.
    pub async fn open(&self, role: Role, task: &str, from: Option<(CallId, Ticket)>, then: impl FnOnce()) -> CallId {
        let is_mine = |event: &Event| matches!(event, Event::Call { role: r, task: t, from: f, .. } if *r == role && t == task && *f == from);
        let is_over = |state: &State| {
            from.is_some_and(|(call, ticket)| state.is_over(call, ticket))
                || (!task.is_empty() && state.closed_tasks.contains(task))
        };
        self.turn(is_mine, is_over, |state, moment| {
            then();
            match moment {
                Moment::Played(event) => match *event {
                    Event::Call { call, .. } => call,
                    _ => 0,
                },
                Moment::Live => {
                    let call = state.calls.len() as CallId;
                    let at_us = self.now(state);
                    state.note(at_us, Event::Call { call, role, task: task.to_owned(), from });
                    call
                }
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
}
