//! The observer that writes what happens in a search into its feed.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};
use syrch::report::{CandidateReport, StepReport, TaskReport};
use syrch::syrch_core::ports::Level;
use syrch::{Observer, SearchEvent};

use super::feed::Feed;
use crate::Program;

/// Writes the events of a search, without secrets.
pub(crate) struct FeedObserver {
    pub(crate) feed: Arc<Feed>,
    pub(crate) program: Arc<dyn Program>,
}

impl FeedObserver {
    fn push(&self, kind: &'static str, mut document: Value) {
        self.program.scrub(&mut document);
        self.feed.push(kind, &document);
    }

    fn push_report(&self, kind: &'static str, report: &impl Serialize) {
        // Reports consist of texts and numbers, which JSON has.
        self.push(kind, serde_json::to_value(report).unwrap_or_default());
    }
}

impl Observer for FeedObserver {
    fn event(&self, event: &SearchEvent) {
        match event {
            SearchEvent::Compiling { plugin } => self.push("compiling", json!({"plugin": plugin})),
            SearchEvent::Linked { selected, of } => {
                self.push("linked", json!({"selected": selected, "of": of}))
            }
            SearchEvent::Planned { tasks } => self.push("planned", json!({"tasks": tasks})),
            SearchEvent::TaskStarted { id, text } => {
                self.push("task-started", json!({"id": id, "text": text}))
            }
            SearchEvent::TaskEnded { id, ending, confidence } => self
                .push("task-ended", json!({"id": id, "ending": ending, "confidence": confidence})),
            SearchEvent::Note { call, level, message } => {
                let level = match level {
                    Level::Debug => return,
                    Level::Info => "info",
                    Level::Warn => "warn",
                };
                self.push("note", json!({"call": call, "level": level, "message": message}));
            }
            SearchEvent::Refined { round } => self.push("refined", json!({"round": round})),
        }
    }

    fn task(&self, task: &TaskReport) {
        self.push_report("task", task);
    }

    fn candidate(&self, candidate: &CandidateReport) {
        self.push_report("candidate", candidate);
    }

    fn step(&self, step: &StepReport) {
        self.push_report("step", step);
    }
}
