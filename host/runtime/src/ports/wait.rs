//! Serves the interface `wait` to guests: waiting for any of several calls in flight, and for time
//! to pass.

use std::time::Duration;

use futures::future::select_all;

use crate::bindings::syrch::plugin::wait::Host;
use crate::contract::Port;
use crate::state::{State, hit};

impl Host for State {
    async fn any(&mut self, tickets: Vec<u32>) -> wasmtime::Result<Vec<u32>> {
        let wait = self.enter_or_stop(Port::Wait)?.ports.wait;
        if tickets.len() > self.limits.handles {
            return hit("handles", format!("{} tickets at once", self.limits.handles));
        }
        if let Some(ended) = self.waiting(wait.replay_ended(&tickets)).await {
            let waits: Vec<_> = ended.iter().filter_map(|ticket| self.watcher(*ticket)).collect();
            for mut done in waits {
                // A sender that is gone counts as done.
                self.waiting(async move { drop(done.wait_for(|done| *done).await) }).await;
            }
            return Ok(ended);
        }
        let ready = |state: &Self| -> Vec<u32> {
            tickets
                .iter()
                .copied()
                .filter(|ticket: &u32| state.watcher(*ticket).is_none_or(|done| *done.borrow()))
                .collect()
        };
        let now = ready(self);
        if !now.is_empty() || tickets.is_empty() {
            self.waiting(wait.record_ended(&tickets, &now)).await;
            return Ok(now);
        }
        let waits = tickets.iter().filter_map(|ticket| self.watcher(*ticket)).map(|mut done| {
            Box::pin(async move {
                // A sender that is gone counts as done.
                let _ = done.wait_for(|done| *done).await;
            })
        });
        let waits: Vec<_> = waits.collect();
        self.waiting(select_all(waits)).await;
        let now = ready(self);
        self.waiting(wait.record_ended(&tickets, &now)).await;
        Ok(now)
    }

    async fn pause(&mut self, milliseconds: u32) -> wasmtime::Result<()> {
        let wait = self.enter_or_stop(Port::Wait)?.ports.wait;
        if !wait.is_replaying() {
            let length = Duration::from_millis(milliseconds.into())
                .min(self.limits.pause)
                .min(self.pauses_left);
            self.pauses_left -= length;
            self.waiting(tokio::time::sleep(length)).await;
        }
        Ok(())
    }
}
