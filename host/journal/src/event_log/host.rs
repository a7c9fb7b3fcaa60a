//! Sequence points of the host and the scheduler: decisions of the scheduler, cancelled tasks,
//! decisions that depend on time, answers of the user.

use serde_json::Value;
use syrch_core::roles::Role;
use syrch_core::{Question, Turn};

use super::{EventLog, Step};
use crate::record::{Event, Fact, Record};

impl EventLog {
    /// Called before each decision of the scheduler. Returns the decision that the journal has
    /// next, as soon as all events before it have been replayed; `None` when nothing is replayed
    /// and the scheduler decides by itself.
    pub async fn next_turn(&self) -> Option<Turn> {
        self.until(|| match &self.state().replay {
            None => Some(None),
            Some(replay) => match replay.event() {
                Some(Event::Turn(turn)) => Some(Some(turn.clone())),
                _ => None,
            },
        })
        .await
    }

    /// Called when the scheduler has made a decision, before anything follows from it.
    pub async fn took(&self, turn: Turn) {
        self.sequence_point(
            |event: &Event| matches!(event, Event::Turn(_)),
            |_| false,
            |state, step| match step {
                Step::Replay(event) => self.compare(state, &*event, &Event::Turn(turn)),
                Step::Record => state.record(self.now(state), Event::Turn(turn)),
            },
        )
        .await;
    }

    /// Called before a task is cancelled. After this returns, no further event of it happens.
    pub async fn close_task(&self, task: &str) {
        self.record_event(Event::Closed { task: task.to_owned() }, |_| false).await;
    }

    /// Called when the host no longer waits for that role. After this returns, no further event of
    /// its calls happens.
    pub async fn close_role(&self, role: Role) {
        self.record_event(Event::Over { place: role.name().to_owned() }, |_| false).await;
    }

    /// Called while the host waits for that role. Resolves when the time for it is over: when the
    /// journal has it, or when `actual` resolves. After that, no further event of the role's calls
    /// happens.
    pub async fn over(&self, role: Role, actual: impl Future<Output = ()>) {
        let place = role.name();
        let is_recorded = self
            .sequence_point(
                |event: &Event| matches!(event, Event::Over { place: other } if other == place),
                |_| false,
                |_, step| matches!(step, Step::Record),
            )
            .await;
        if is_recorded {
            actual.await;
            self.close_role(role).await;
        }
    }

    /// Called for a decision that depends on time. Returns the decision of that name that the
    /// journal has, or else that of `actual`.
    pub async fn decide_by_time(&self, place: &str, actual: impl FnOnce() -> bool) -> bool {
        self.sequence_point(
            |event: &Event| matches!(event, Event::Known { place: other, .. } if other == place),
            |_| false,
            |state, step| match step {
                Step::Replay(event) => matches!(*event, Event::Known { value: true, .. }),
                Step::Record => {
                    let value = actual();
                    state.record(self.now(state), Event::Known { place: place.to_owned(), value });
                    value
                }
            },
        )
        .await
    }

    /// Called where grants may have stopped a search, with nothing else under way. Returns the text
    /// that the journal has of that place, or else that of `actual`, which is recorded if there is
    /// one: a replay knows no grants.
    pub async fn decide_by_grants(
        &self,
        place: &str,
        actual: impl FnOnce() -> Option<String>,
    ) -> Option<String> {
        let place = format!("{place}:");
        let found = {
            let state = self.state();
            match &state.replay {
                None => actual()?,
                Some(replay) => match replay.event() {
                    Some(Event::Known { place: other, .. }) => {
                        other.strip_prefix(&place)?.to_owned()
                    }
                    _ => return None,
                },
            }
        };
        self.decide_by_time(&format!("{place}{found}"), || true).await;
        Some(found)
    }

    /// Called to ask the user. Returns the answer that the journal has, or else that of `actual`.
    pub async fn user(
        &self,
        question: &Question,
        actual: impl Future<Output = Option<String>>,
    ) -> Option<String> {
        let replayed = self
            .sequence_point(
                |event: &Event| matches!(event, Event::User { .. }),
                |_| false,
                |state, step| {
                    let Step::Replay(event) = step else { return None };
                    let Event::User { question: expected, answer } = *event else { return None };
                    self.compare(state, &expected, question);
                    Some(answer)
                },
            )
            .await;
        if let Some(answer) = replayed {
            return answer;
        }
        let answer = actual.await;
        let event = Event::User { question: question.clone(), answer: answer.clone() };
        self.sequence_point(|_| false, |_| false, |state, _| state.record(self.now(state), event))
            .await;
        answer
    }

    /// Called for each step of the optimizer on the database. Returns what came of the step by the
    /// journal, or else what `actual` returns, which is recorded when it has ended: a step that a
    /// killed run had begun is done again. Where the journal has another event, this never returns:
    /// see [`EventLog::wait_for_divergence`].
    ///
    /// # Errors
    /// The error of `actual`, which is not recorded.
    pub async fn bench<E>(
        &self,
        step: &Value,
        actual: impl Future<Output = Result<Value, E>>,
    ) -> Result<Value, E> {
        fn is_bench(event: &Event) -> bool {
            matches!(event, Event::Bench { .. })
        }
        self.only(is_bench, step).await;
        let replayed = self
            .sequence_point(
                is_bench,
                |_| false,
                |state, passed| {
                    let Step::Replay(event) = passed else { return None };
                    let Event::Bench { step: expected, got } = *event else { return None };
                    self.compare(state, &expected, step);
                    Some(got)
                },
            )
            .await;
        if let Some(got) = replayed {
            return Ok(got);
        }
        let got = actual.await?;
        let event = Event::Bench { step: step.clone(), got: got.clone() };
        self.sequence_point(|_| false, |_| false, |state, _| state.record(self.now(state), event))
            .await;
        Ok(got)
    }

    /// Called before the optimizer does something else than a step on the database. Where the
    /// journal has such a step next, this never returns: see [`EventLog::wait_for_divergence`].
    pub async fn no_bench(&self, found: &str) {
        self.only(|event| !matches!(event, Event::Bench { .. }), found).await;
    }

    /// Checks the next event for an actor that acts alone: where the next event of the journal is
    /// not its own, the run diverges at once, and this never returns.
    async fn only(&self, is_mine: impl Fn(&Event) -> bool, found: impl std::fmt::Debug) {
        let is_other = {
            let mut state = self.state();
            let next = state.replay.as_ref().and_then(|replay| replay.event()).cloned();
            next.filter(|event| !is_mine(event))
                .inspect(|event| self.diverge(&mut state, event, found))
                .is_some()
        };
        if is_other {
            self.advanced.notify_waiters();
            std::future::pending::<()>().await;
        }
    }

    /// Called when a search over another wording starts, whose tasks may have the ids of earlier
    /// ones.
    pub fn restart(&self) {
        self.state().closed_tasks.clear();
    }

    /// Records information for people. What a replayed journal holds already is not recorded twice.
    pub fn fact(&self, fact: Fact) {
        let mut state = self.state();
        state.facts += 1;
        if state.facts > state.recorded_facts && state.replay.is_none() && state.writes() {
            let at_us = self.now(&state);
            state.append(at_us, &Record::Fact { at_us, fact });
        }
    }
}
