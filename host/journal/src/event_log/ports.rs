//! Sequence points of port calls: their requests and their answers.

use std::collections::HashMap;
use std::sync::Arc;

use syrch_core::ports::{LlmError, Reply, Ticket};
use syrch_core::{ResultSet, SqlError};

use super::state::State;
use super::{EventLog, Step};
use crate::record::{Ask, CallId, Event, Got, Record, RowRetention};

impl EventLog {
    /// Called when a port call is made; [`EventLog::end_port_call`], [`EventLog::reply`],
    /// [`EventLog::rows`] or [`EventLog::other`] follows. `then` runs at the sequence point.
    pub async fn issue<T>(
        &self,
        call: CallId,
        ticket: Ticket,
        ask: Ask,
        then: impl FnOnce(&Ask) -> T,
    ) -> T {
        let rows = self.state().rows;
        let ask = ask.for_retention(rows);
        self.sequence_point(
            |event| is_issue(event, call, ticket),
            |state| state.is_over(call, ticket),
            |state, step| {
                let done = then(&ask);
                match step {
                    Step::Replay(event) => {
                        self.compare(state, &*event, &Event::Issue { call, ticket, ask })
                    }
                    Step::Record if !state.writes() => {}
                    Step::Record => {
                        state.record(self.now(state), Event::Issue { call, ticket, ask })
                    }
                }
                done
            },
        )
        .await
    }

    /// The answer of a port call: from the journal, or from `actual`, which is then recorded by
    /// `write`. `read` takes it from the journal's record, and returns `None` for what the journal
    /// does not retain; then the call is made again.
    async fn answer<T>(
        &self,
        call: CallId,
        ticket: Ticket,
        actual: impl Future<Output = T>,
        write: impl FnOnce(&T, &mut State) -> (Got, Option<Record>),
        read: impl FnOnce(&Got, &HashMap<String, Arc<ResultSet>>) -> Option<T>,
    ) -> T {
        // `None`: nothing is replayed. `Some(None)`: the journal has the end of the call, but not
        // its answer.
        let replayed = self
            .sequence_point(
                |event| is_done(event, call, ticket),
                |state: &State| state.is_over(call, ticket),
                |state, step| match step {
                    Step::Record => None,
                    Step::Replay(event) => {
                        let Event::Done { got, .. } = &*event else { return Some(None) };
                        let none = HashMap::new();
                        Some(read(
                            got,
                            state.replay.as_ref().map_or(&none, |replay| &replay.results),
                        ))
                    }
                },
            )
            .await;
        match replayed {
            Some(Some(answer)) => answer,
            Some(None) => actual.await,
            None => {
                let answer = actual.await;
                self.sequence_point(
                    |_| false,
                    |state: &State| state.is_over(call, ticket),
                    |state, _| {
                        if state.writes() {
                            let at_us = self.now(state);
                            let (got, rows) = write(&answer, state);
                            if let Some(rows) = rows {
                                state.append(at_us, &rows);
                            }
                            state.record(at_us, Event::Done { call, ticket, got });
                        }
                    },
                )
                .await;
                answer
            }
        }
    }

    /// The reply of a model call: from the journal, or from `actual`, which is then recorded.
    ///
    /// # Errors
    /// The error of the call.
    pub async fn reply(
        &self,
        call: CallId,
        ticket: Ticket,
        actual: impl Future<Output = Result<Reply, LlmError>>,
    ) -> Result<Reply, LlmError> {
        self.answer(
            call,
            ticket,
            actual,
            |reply: &Result<Reply, LlmError>, _: &mut State| {
                (Got::Reply(reply.clone().map(Box::new)), None)
            },
            |got, _| match got {
                Got::Reply(reply) => Some(reply.clone().map(|reply| *reply)),
                _ => None,
            },
        )
        .await
    }

    /// The rows of a statement: from the journal, or from `actual`, which are then recorded.
    ///
    /// # Errors
    /// The error of the statement.
    pub async fn rows(
        &self,
        call: CallId,
        ticket: Ticket,
        actual: impl Future<Output = Result<Arc<ResultSet>, SqlError>>,
    ) -> Result<Arc<ResultSet>, SqlError> {
        self.answer(
            call,
            ticket,
            actual,
            |rows: &Result<Arc<ResultSet>, SqlError>, state: &mut State| match rows {
                Ok(rows) => {
                    let (stored, record) = state.stored.store(rows, state.rows);
                    (Got::Rows(Ok(stored)), record)
                }
                Err(error) => (Got::Rows(Err(error.clone())), None),
            },
            |got, results| match got {
                Got::Rows(Ok(stored)) => results.get(stored.digest.as_ref()?).cloned().map(Ok),
                Got::Rows(Err(error)) => Some(Err(error.clone())),
                _ => None,
            },
        )
        .await
    }

    /// The answer of another port call that the guest awaits at once: from the journal, by `read`,
    /// or from `actual`, which `write` then records.
    pub async fn other<T>(
        &self,
        call: CallId,
        ticket: Ticket,
        actual: impl Future<Output = T>,
        write: impl FnOnce(&T, RowRetention) -> Got,
        read: impl FnOnce(&Got) -> Option<T>,
    ) -> T {
        self.answer(
            call,
            ticket,
            actual,
            |answer: &T, state: &mut State| (write(answer, state.rows), None),
            |got, _| read(got),
        )
        .await
    }

    /// The end of a port call whose answer a replay computes again.
    pub async fn end_port_call(&self, call: CallId, ticket: Ticket, got: Got) {
        self.sequence_point(
            |event| is_done(event, call, ticket),
            |state| state.is_over(call, ticket),
            |state, step| match step {
                Step::Replay(event) => {
                    self.compare(state, &*event, &Event::Done { call, ticket, got })
                }
                Step::Record => state.record(self.now(state), Event::Done { call, ticket, got }),
            },
        )
        .await;
    }

    /// A port call that is answered at once. `work` gets the answer that the journal has, if one is
    /// replayed, and returns the answer; it runs at the sequence point.
    pub async fn port(
        &self,
        call: CallId,
        ask: Ask,
        work: impl FnOnce(Option<&Got>) -> Got,
    ) -> Got {
        self.sequence_point(
            |event: &Event| matches!(event, Event::Port { call: other, .. } if *other == call),
            |state| state.is_closed(call),
            |state, step| match step {
                Step::Replay(event) => {
                    let Event::Port { ask: expected, got, .. } = &*event else {
                        return Got::Nothing;
                    };
                    self.compare(state, expected, &ask);
                    work(Some(got))
                }
                Step::Record => {
                    let got = work(None);
                    state.record(self.now(state), Event::Port { call, ask, got: got.clone() });
                    got
                }
            },
        )
        .await
    }

    /// The calls that the guest saw as ended when it asked for these; `None` when nothing is
    /// replayed and the actual state counts.
    pub async fn replay_ended(&self, call: CallId, tickets: &[Ticket]) -> Option<Vec<Ticket>> {
        self.sequence_point(
            |event: &Event| matches!(event, Event::Port { call: other, .. } if *other == call),
            |state| state.is_closed(call),
            |state, step| {
                let Step::Replay(event) = step else { return None };
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
}

/// Returns true if the event is that this port call was made.
fn is_issue(event: &Event, call: CallId, ticket: Ticket) -> bool {
    matches!(event, Event::Issue { call: c, ticket: t, .. } if *c == call && *t == ticket)
}

/// Returns true if the event is that this port call ended.
fn is_done(event: &Event, call: CallId, ticket: Ticket) -> bool {
    matches!(event, Event::Done { call: c, ticket: t, .. } if *c == call && *t == ticket)
}
