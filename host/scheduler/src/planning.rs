//! The planner's part of a run: which observations it has got, and its call in flight.

use std::sync::Arc;

use futures::future::BoxFuture;
use syrch_core::{Graph, Observation, RoleError, Step};

use crate::Replanner;

/// The observations so far, and the planner that gets them.
pub(crate) struct Planning<'a> {
    replanner: Option<&'a dyn Replanner>,
    /// Shared with the call in flight, which holds its arguments.
    seen: Arc<Vec<Observation>>,
    /// The number of observations in `seen` that the planner has got.
    reported: usize,
    rounds: u32,
    call: Option<BoxFuture<'a, Result<Step, RoleError>>>,
    errors: Vec<RoleError>,
}

impl<'a> Planning<'a> {
    pub(crate) fn new(replanner: Option<&'a dyn Replanner>, rounds: u32) -> Self {
        Self {
            replanner,
            seen: Arc::default(),
            reported: 0,
            rounds,
            call: None,
            errors: Vec::new(),
        }
    }

    pub(crate) fn record(&mut self, observation: Observation) {
        Arc::make_mut(&mut self.seen).push(observation);
    }

    /// Returns whether the planner may still change the graph because of observations that it has
    /// not answered.
    pub(crate) fn is_pending(&self) -> bool {
        self.call.is_some() || (self.may_call() && self.reported < self.seen.len())
    }

    fn may_call(&self) -> bool {
        self.replanner.is_some() && self.rounds > 0 && self.errors.is_empty()
    }

    /// Calls the planner with the new observations, unless a call is in flight.
    pub(crate) fn call(&mut self, graph: &Arc<Graph>) {
        let Some(replanner) = self.replanner else { return };
        if self.call.is_some() || !self.is_pending() {
            return;
        }
        let graph = Arc::clone(graph);
        let seen = Arc::clone(&self.seen);
        let fresh = self.reported;
        self.reported = self.seen.len();
        self.call = Some(Box::pin(async move { replanner.next(&graph, &seen, fresh).await }));
    }

    /// Returns whether a call of the planner is in flight.
    pub(crate) fn is_thinking(&self) -> bool {
        self.call.is_some()
    }

    /// Waits for the planner's step, for ever when there is no call. `None` when the planner
    /// failed; it is not called again.
    pub(crate) async fn step(&mut self) -> Option<Step> {
        let Some(call) = &mut self.call else { return std::future::pending().await };
        let answer = call.await;
        self.call = None;
        answer.map_err(|error| self.errors.push(error)).ok()
    }

    /// Counts a step that changed the graph.
    pub(crate) fn count(&mut self) {
        self.rounds = self.rounds.saturating_sub(1);
    }

    /// All observations, and the planner's errors. A call in flight is dropped.
    pub(crate) fn close(self) -> (Vec<Observation>, Vec<RoleError>) {
        drop(self.call);
        (Arc::unwrap_or_clone(self.seen), self.errors)
    }
}
