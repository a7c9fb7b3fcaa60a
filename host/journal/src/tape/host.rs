//! What the host itself does on the tape: what the scheduler takes, what is closed, where time decides, what the user says.

use syrch_core::roles::Role;
use syrch_core::{Question, Turn};

use super::{Moment, Tape};
use crate::record::{Event, Fact, Record};

impl Tape {
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
            let at_us = self.now(&state);
            state.append(at_us, &Record::Fact { at_us, fact });
        }
    }
}
