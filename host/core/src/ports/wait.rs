//! What the order of events could change within one role call.

use async_trait::async_trait;

use super::Ticket;

/// The port `wait` of one role call. The runtime itself knows which calls have ended; this port is told of what the guest saw of it, and
/// where a journal already knows, says so instead: then the guest sees what it saw before, however fast things go now.
#[async_trait]
pub trait WaitPort: Send + Sync {
    /// What the guest saw when it asked this before: those of `tickets` that had ended. None: look.
    async fn recorded(&self, tickets: &[Ticket]) -> Option<Vec<Ticket>>;
    /// The guest asked this and saw that `ended` have ended.
    async fn found(&self, asked: &[Ticket], ended: &[Ticket]);
    /// The guest gives up a call. Whatever of it has not happened by now, never happens. True: its result was there already, which
    /// `is_done` tells unless a journal knows better.
    async fn give_up(&self, ticket: Ticket, is_done: bool) -> bool;
    /// The guest has returned or trapped: whatever it started and did not wait for never happens from here on.
    async fn left(&self);
}

/// Nothing is recorded.
pub struct Unrecorded;

#[async_trait]
impl WaitPort for Unrecorded {
    async fn recorded(&self, _: &[Ticket]) -> Option<Vec<Ticket>> {
        None
    }

    async fn found(&self, _: &[Ticket], _: &[Ticket]) {}

    async fn give_up(&self, _: Ticket, is_done: bool) -> bool {
        is_done
    }

    async fn left(&self) {}
}
