//! Recalculation: what the executed sub-tasks say about the confidence in those that are left.

use serde_json::{Map, Value, json};
use syrch_plugin::failure::llm_words;
use syrch_plugin::prelude::*;
use syrch_plugin::text::clamp01;

use super::{STEP_CALLS, Solve};
use crate::settings::model_name;
use crate::solver::branch::{Branch, Status};

const INSTRUCTIONS: &str = "An SQL statement is built step by step, the most certain step first. \
    Some steps are executed. State anew how likely each of the remaining steps is right as it is \
    worded, from 0 to 1, in the light of what the executed ones gave.\n\
    Answer with JSON alone, in this form: {\"updated_confidences\":{\"3\":0.9}}, with the numbers \
    of all remaining steps.";

impl<H: SolverHost> Solve<'_, H> {
    /// Recalculates when enough was executed since the last time, and also before a sub-task below
    /// the threshold: one at or above it need not wait.
    pub(super) fn refresh(&mut self, branch: &mut Branch) {
        let Some(next) = self.next(branch) else { return };
        let is_sure = branch.states[next].confidence >= self.settings.high_confidence_threshold;
        let is_due = branch.since >= self.settings.recalculate_every || !is_sure;
        if !self.recalculates || branch.since == 0 || !is_due {
            return;
        }
        if self.host.remaining().llm_calls <= STEP_CALLS {
            self.host.note(
                Level::Info,
                &format!("{}: no calls are left for a recalculation", self.task.id),
            );
            return;
        }
        branch.since = 0;
        match self.host.complete(&self.recalculation(branch)) {
            Ok(reply) => self.apply(branch, &reply),
            Err(error) => {
                let again = match error {
                    LlmError::Unsupported(_) | LlmError::Refused(_) | LlmError::Denied(_) => {
                        self.recalculates = false;
                        ", and will not be recalculated"
                    }
                    _ => "",
                };
                self.warn(&format!(
                    "the confidences stay as they are{again}: {}",
                    llm_words(&error)
                ));
            }
        }
    }

    fn recalculation(&self, branch: &Branch) -> Request {
        let mut user =
            format!("{}{}\nRemaining steps:\n", self.brief.setting(), self.progress(branch));
        for (subtask, state) in self.subtasks.iter().zip(&branch.states) {
            if state.status == Status::Waiting {
                user +=
                    &format!("{}. [{:.2}] {}\n", subtask.id, state.confidence, subtask.operation);
            }
        }
        Ask::new(Purpose::Calibrate)
            .system(INSTRUCTIONS)
            .user(user)
            .model(model_name(&self.settings.model_subtasks))
            .temperature(self.settings.confidence_temperature)
            .max_tokens(self.settings.recalculation_max_tokens)
            .json(&schema())
    }

    fn apply(&self, branch: &mut Branch, reply: &Reply) {
        let parsed: Option<Value> =
            reply.parsed.as_deref().and_then(|parsed| serde_json::from_str(parsed).ok());
        let updated =
            parsed.as_ref().and_then(|parsed| parsed.get("updated_confidences")?.as_object());
        let mut changes = Map::new();
        for (subtask, state) in self.subtasks.iter().zip(&mut branch.states) {
            let stated =
                updated.and_then(|updated| updated.get(&subtask.id)?.as_f64()).map(clamp01);
            if let Some(confidence) = stated.filter(|_| state.status == Status::Waiting) {
                changes.insert(subtask.id.clone(), json!([state.confidence, confidence]));
                state.confidence = confidence;
            }
        }
        if changes.is_empty() {
            self.warn("the confidences stay as they are: the reply names no remaining sub-task");
        }
        let about = branch.last.as_ref().map(|made| made.candidate.id.as_str());
        self.host.event(
            about,
            "recalculated",
            &json!({ "branch": branch.id, "confidences": changes }),
        );
    }
}

fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "syrch-progressive-confidences",
        "type": "object",
        "properties": { "updated_confidences": { "type": "object" } },
        "required": ["updated_confidences"],
    })
}
