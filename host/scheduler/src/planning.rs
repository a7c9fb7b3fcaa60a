//! The planner's seat in a run: who has been told what, and the one call that may be under way.

use std::sync::Arc;

use futures::future::BoxFuture;
use syrch_core::{Graph, Observation, RoleError, Step};

use crate::Replanner;

/// The observations so far, and the planner that hears of them.
pub(crate) struct Planning<'a> {
    replanner: Option<&'a dyn Replanner>,
    /// Shared with the call under way, which keeps what it was told.
    seen: Arc<Vec<Observation>>,
    /// How many of `seen` the planner has been told of.
    told: usize,
    rounds: u32,
    call: Option<BoxFuture<'a, Result<Step, RoleError>>>,
    errors: Vec<RoleError>,
}

impl<'a> Planning<'a> {
    pub(crate) fn new(replanner: Option<&'a dyn Replanner>, rounds: u32) -> Self {
        Self { replanner, seen: Arc::default(), told: 0, rounds, call: None, errors: Vec::new() }
    }

    pub(crate) fn record(&mut self, observation: Observation) {
        Arc::make_mut(&mut self.seen).push(observation);
    }

    /// Whether the planner may still change the graph because of what it has not answered to yet.
    pub(crate) fn is_pending(&self) -> bool {
        self.call.is_some() || (self.is_live() && self.told < self.seen.len())
    }

    fn is_live(&self) -> bool {
        self.replanner.is_some() && self.rounds > 0 && self.errors.is_empty()
    }

    /// Tells the planner of what is new, unless it is still thinking.
    pub(crate) fn call(&mut self, graph: &Arc<Graph>) {
        let Some(replanner) = self.replanner else { return };
        if self.call.is_some() || !self.is_pending() {
            return;
        }
        let (graph, seen, fresh) = (Arc::clone(graph), Arc::clone(&self.seen), self.told);
        self.told = self.seen.len();
        self.call = Some(Box::pin(async move { replanner.next(&graph, &seen, fresh).await }));
    }

    /// Whether its call is under way.
    pub(crate) fn is_thinking(&self) -> bool {
        self.call.is_some()
    }

    /// Waits for the planner's step; for ever when it was not asked. None: it failed, and is not asked again.
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

    /// All observations, and the planner's errors. A call under way ends.
    pub(crate) fn close(self) -> (Vec<Observation>, Vec<RoleError>) {
        drop(self.call);
        (Arc::unwrap_or_clone(self.seen), self.errors)
    }
}
