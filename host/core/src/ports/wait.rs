//! The calls of a role call that have ended, as far as it depends on the order of events and must
//! be recorded.

use async_trait::async_trait;

use super::Ticket;

/// The port `wait` of one role call. The runtime knows which calls have ended and reports here what
/// the guest sees of it. While a journal is replayed, the port returns what the guest saw when the
/// journal was recorded, whichever call ends first this time.
#[async_trait]
pub trait WaitPort: Send + Sync {
    /// Called before the guest gets the state of these calls. Returns those that the guest saw as
    /// ended when this was recorded; `None` when nothing is replayed, and the actual state counts.
    async fn replay_ended(&self, tickets: &[Ticket]) -> Option<Vec<Ticket>>;
    /// Called when [`replay_ended`](Self::replay_ended) returned `None`: the guest asked for the
    /// state of these calls, and saw that `ended` have ended.
    async fn record_ended(&self, asked: &[Ticket], ended: &[Ticket]);
    /// Called when the guest cancels a call or drops its handle. After this returns, no further
    /// event of the call happens. Returns whether its result was there already: `is_done`, or what
    /// a replayed journal has.
    async fn give_up(&self, ticket: Ticket, is_done: bool) -> bool;
    /// Returns whether a journal is replayed, so that there is no time to let pass.
    fn is_replaying(&self) -> bool;
    /// Called when the guest has returned or trapped. After this returns, no further event of the
    /// calls that it started and did not await happens.
    async fn left(&self);
}

/// A port of calls that no journal records.
pub struct Unrecorded;

#[async_trait]
impl WaitPort for Unrecorded {
    async fn replay_ended(&self, _: &[Ticket]) -> Option<Vec<Ticket>> {
        None
    }

    async fn record_ended(&self, _: &[Ticket], _: &[Ticket]) {}

    async fn give_up(&self, _: Ticket, is_done: bool) -> bool {
        is_done
    }

    fn is_replaying(&self) -> bool {
        false
    }

    async fn left(&self) {}
}
