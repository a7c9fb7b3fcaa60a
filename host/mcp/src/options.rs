//! The settings of a server beside those of its host.

use std::sync::Arc;

use serde_json::Value;

use crate::queue::Queue;

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
    /// The limit on the cost of all calls of this server, in millionths of a dollar. It needs a
    /// limit for each call, which is reserved before the call begins.
    pub total_micros: Option<u64>,
    /// Takes secrets out of everything that goes to a client.
    pub scrub: Arc<dyn Scrub>,
}
