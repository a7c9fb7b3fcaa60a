//! Port calls on the tape: what is asked, and what comes back.

use std::collections::HashMap;
use std::sync::Arc;

use syrch_core::ports::{LlmError, Reply, Ticket};
use syrch_core::{ResultSet, SqlError};

use super::state::State;
use super::{Moment, Tape};
use crate::record::{Ask, CallId, Event, Got, Kept, Record};

impl Tape {
    /// A port call is made; [`Tape::done`] or one of its like follows. `then` runs in its turn.
    pub async fn issue<T>(&self, call: CallId, ticket: Ticket, ask: Ask, then: impl FnOnce(&Ask) -> T) -> T {
        let kept = self.state().kept;
        let ask = ask.kept(kept);
        let is_mine =
            |event: &Event| matches!(event, Event::Issue { call: c, ticket: t, .. } if *c == call && *t == ticket);
        self.turn(
            is_mine,
            |state| state.is_over(call, ticket),
            |state, moment| {
                let done = then(&ask);
                match moment {
                    Moment::Played(event) => self.compare(state, &*event, &Event::Issue { call, ticket, ask }),
                    Moment::Live if !state.writes() => {}
                    Moment::Live => state.note(self.now(state), Event::Issue { call, ticket, ask }),
                }
                done
            },
        )
        .await
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
                            let at_us = self.now(state);
                            let (got, rows) = write(&answer, state);
                            if let Some(rows) = rows {
                                state.append(at_us, &rows);
                            }
                            state.note(at_us, Event::Done { call, ticket, got });
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
}
