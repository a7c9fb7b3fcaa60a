//! Calls in flight that end in the order in which the guest makes them, so that the same guest does
//! the same each time: for calls of a role that are compared with earlier ones.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use futures::future::ready;
use syrch_core::ports::{
    Budget, EvaluatePort, Flight, LlmError, LlmPort, Policy, PortError, Ports, Reply, Request,
    RunPort, SqlPort, Ticket, WaitPort,
};
use syrch_core::{Candidate, Json, ResultSet, Signals, SqlError, Verdict};

/// The progress of the ports of a role call.
#[derive(Default)]
struct Progress {
    /// The calls that the guest has made.
    made: BTreeSet<Ticket>,
    /// The calls of which the guest knows that they have ended.
    seen: BTreeSet<Ticket>,
    /// The ports that the guest has used, of `run` and `wait`.
    used: BTreeSet<&'static str>,
}

/// The ports of a role call whose calls in flight end in order. A clone shares what it knows.
#[derive(Clone, Default)]
pub struct InOrder(Arc<Mutex<Progress>>);

impl InOrder {
    /// Puts the ports in order. Each call is made and answered when the guest starts it. The guest
    /// learns of one more end each time it waits or asks, the first that it started before the
    /// others; a call that it cancels before it has learned of its end is cancelled.
    #[must_use]
    pub fn wrap_ports(&self, ports: Ports) -> Ports {
        Ports {
            run: Arc::new(Ordered { inner: ports.run, order: self.clone() }),
            llm: Arc::new(Ordered { inner: ports.llm, order: self.clone() }),
            sql: Arc::new(Ordered { inner: ports.sql, order: self.clone() }),
            evaluate: Arc::new(Ordered { inner: ports.evaluate, order: self.clone() }),
            wait: Arc::new(Ordered { inner: ports.wait, order: self.clone() }),
            ..ports
        }
    }

    /// Returns the ports that the guest has used, of `run` and `wait`, which no event log shows.
    #[must_use]
    pub fn list_used_ports(&self) -> Vec<&'static str> {
        self.lock().used.iter().copied().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note_call(&self, ticket: Ticket) {
        self.lock().made.insert(ticket);
    }

    fn note_port(&self, port: &'static str) {
        self.lock().used.insert(port);
    }

    /// Returns the calls that the guest is to see as ended. A call that is not known counts as
    /// ended.
    fn next(&self, asked: &[Ticket]) -> Vec<Ticket> {
        let mut progress = self.lock();
        if let Some(first) = asked
            .iter()
            .filter(|ticket: &&Ticket| {
                progress.made.contains(*ticket) && !progress.seen.contains(*ticket)
            })
            .min()
            .copied()
        {
            progress.seen.insert(first);
        }
        asked
            .iter()
            .copied()
            .filter(|ticket: &Ticket| {
                !progress.made.contains(ticket) || progress.seen.contains(ticket)
            })
            .collect()
    }

    /// The guest gives a call up; whether it knew that the call had ended. From here on it does.
    fn give_up(&self, ticket: Ticket) -> bool {
        !self.lock().seen.insert(ticket)
    }
}

struct Ordered<P: ?Sized> {
    inner: Arc<P>,
    order: InOrder,
}

#[async_trait]
impl RunPort for Ordered<dyn RunPort> {
    fn policy(&self) -> Policy {
        self.order.note_port("run");
        self.inner.policy()
    }

    fn setting(&self, name: &str) -> Option<Json> {
        self.order.note_port("run");
        self.inner.setting(name)
    }

    async fn remaining(&self) -> Budget {
        self.order.note_port("run");
        self.inner.remaining().await
    }

    /// The host itself reads it, too.
    fn seed(&self) -> u64 {
        self.inner.seed()
    }
}

#[async_trait]
impl LlmPort for Ordered<dyn LlmPort> {
    fn models(&self) -> Vec<String> {
        self.inner.models()
    }

    async fn issue(&self, ticket: Ticket, request: Request) -> Flight<Result<Reply, LlmError>> {
        self.order.note_call(ticket);
        let reply = self.inner.issue(ticket, request).await.await;
        Box::pin(ready(reply))
    }
}

#[async_trait]
impl SqlPort for Ordered<dyn SqlPort> {
    async fn issue(
        &self,
        ticket: Ticket,
        text: String,
    ) -> Flight<Result<Arc<ResultSet>, SqlError>> {
        self.order.note_call(ticket);
        let results = self.inner.issue(ticket, text).await.await;
        Box::pin(ready(results))
    }

    fn salt(&self) -> u64 {
        self.inner.salt()
    }
}

#[async_trait]
impl EvaluatePort for Ordered<dyn EvaluatePort> {
    async fn calibrate(&self, claims: Vec<(f64, Signals)>) -> Result<Vec<f64>, PortError> {
        self.inner.calibrate(claims).await
    }

    async fn issue_reward(
        &self,
        ticket: Ticket,
        candidates: Vec<Candidate>,
    ) -> Flight<Result<Vec<Verdict>, PortError>> {
        self.order.note_call(ticket);
        let verdicts = self.inner.issue_reward(ticket, candidates).await.await;
        Box::pin(ready(verdicts))
    }
}

#[async_trait]
impl WaitPort for Ordered<dyn WaitPort> {
    async fn replay_ended(&self, tickets: &[Ticket]) -> Option<Vec<Ticket>> {
        self.order.note_port("wait");
        let ended = self.order.next(tickets);
        self.inner.record_ended(tickets, &ended).await;
        Some(ended)
    }

    /// Never called, since [`Self::replay_ended`] always decides.
    async fn record_ended(&self, asked: &[Ticket], ended: &[Ticket]) {
        self.inner.record_ended(asked, ended).await;
    }

    async fn give_up(&self, ticket: Ticket, _: bool) -> bool {
        let has_ended = self.order.give_up(ticket);
        self.inner.give_up(ticket, has_ended).await
    }

    fn is_replaying(&self) -> bool {
        self.inner.is_replaying()
    }

    async fn left(&self) {
        self.inner.left().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guest_learns_of_one_more_end_each_time() {
        let order = InOrder::default();
        [2, 3, 4].into_iter().for_each(|ticket| order.note_call(ticket));
        assert_eq!(order.next(&[4, 3, 2]), [2]);
        assert_eq!(order.next(&[4, 3, 2]), [3, 2]);
        assert_eq!(order.next(&[4]), [4]);
        assert_eq!(order.next(&[9]), [9], "nobody waits for ever");
        assert!(order.next(&[]).is_empty());
    }

    #[test]
    fn what_the_guest_has_not_seen_it_can_cancel_once() {
        let order = InOrder::default();
        [2, 3].into_iter().for_each(|ticket| order.note_call(ticket));
        assert_eq!(order.next(&[2]), [2]);
        assert!(order.give_up(2));
        assert!(!order.give_up(3) && order.give_up(3));
    }
}
