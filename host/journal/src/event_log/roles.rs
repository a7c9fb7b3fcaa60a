//! Sequence points of role calls: how they start and end.

use syrch_core::RoleError;
use syrch_core::ports::Ticket;
use syrch_core::roles::Role;

use super::state::State;
use super::{EventLog, Step};
use crate::record::{CallId, Event};

impl EventLog {
    /// Called when a role call starts. Returns its number. `from` is the role call that waits for
    /// it, with the ticket of that wait; `then` runs at the sequence point.
    pub async fn open(
        &self,
        role: Role,
        task: &str,
        from: Option<(CallId, Ticket)>,
        then: impl FnOnce(),
    ) -> CallId {
        self.sequence_point(
            |event| match event {
                Event::Call { role: r, task: t, from: f, .. } => {
                    *r == role && t == task && *f == from
                }
                _ => false,
            },
            |state: &State| {
                from.is_some_and(|(call, ticket)| state.is_over(call, ticket))
                    || (!task.is_empty() && state.closed_tasks.contains(task))
            },
            |state, step| {
                then();
                match step {
                    Step::Replay(event) => match *event {
                        Event::Call { call, .. } => call,
                        _ => 0,
                    },
                    Step::Record => {
                        let call = state.calls.len() as CallId;
                        let at_us = self.now(state);
                        state
                            .record(at_us, Event::Call { call, role, task: task.to_owned(), from });
                        call
                    }
                }
            },
        )
        .await
    }

    /// Called when the guest has returned: the calls that it started and did not await end here.
    pub async fn left(&self, call: CallId) {
        self.record_event(Event::Left { call }, |state| state.is_closed(call)).await;
    }

    /// Called when a role call ends. `then` runs at the sequence point.
    pub async fn end(&self, call: CallId, error: Option<RoleError>, then: impl FnOnce()) {
        self.sequence_point(
            |event: &Event| matches!(event, Event::End { call: other, .. } if *other == call),
            |state| state.is_closed(call),
            |state, step| {
                match step {
                    Step::Replay(event) => {
                        self.compare(state, &*event, &Event::End { call, error })
                    }
                    Step::Record => state.record(self.now(state), Event::End { call, error }),
                }
                then();
            },
        )
        .await;
    }
}
