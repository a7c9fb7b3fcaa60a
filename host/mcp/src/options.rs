//! The settings of a server beside those of its host.

use std::sync::Arc;

use serde_json::Value;

use crate::queue::Queue;
use crate::spending::Spending;

/// Takes secrets out of everything that goes to a client.
pub trait Scrub: Send + Sync {
    /// Called with each value before it is sent.
    fn scrub(&self, value: &mut Value);
}

/// The settings of a server beside those of its host.
#[derive(Clone)]
pub struct Options {
    /// The slots of searches and statements, which others of the process may use as well.
    pub queue: Queue,
    /// The budget of all calls, which others of the process may spend as well. A limit on it needs
    /// one for each call, which is reserved before the call begins.
    pub spending: Spending,
    /// Takes secrets out of everything that goes to a client.
    pub scrub: Arc<dyn Scrub>,
}
