//! One turn: who decides, what becomes of a stream that is refused, and its log.

use syrch_plugin::failure::llm_words;
use syrch_plugin::prelude::*;
use syrch_plugin::serde_json::json;
use syrch_plugin::text::line;

use crate::planner::decision::{Decision, read};
use crate::planner::refusal::Refusal;
use crate::planner::replay::{Replayed, replay};
use crate::planner::state::{State, StopReason};
use crate::planner::{View, heuristic};
use crate::{Turns, prompts};

/// The outcome of a request to the model.
enum Asked {
    Decided(Vec<Decision>, Box<Replayed>),
    /// The model cannot do this, for this reason.
    Unable(String),
    /// The model cannot be reached or paid.
    Lost(Failure),
}

impl Turns {
    /// Takes the next turn: by the model while it can, else by the heuristic. `None` if there is
    /// nothing sound to be done now.
    ///
    /// # Errors
    /// An outage or a spent budget before anything was done; later the search continues without the
    /// model.
    pub(crate) fn turn(
        &self,
        host: &impl PlannerHost,
        view: &View,
        state: &mut State,
    ) -> Result<Option<Replayed>, Failure> {
        if state.by_model {
            match self.ask_model(host, view, state) {
                Asked::Decided(decisions, replayed) => {
                    return Ok(Some(
                        self.log_decisions(host, view, "model", &decisions, *replayed),
                    ));
                }
                Asked::Lost(failure) if state.nodes.is_empty() => return Err(failure),
                Asked::Lost(Failure { message: why, .. }) | Asked::Unable(why) => {
                    host.note(Level::Info, &format!("{why}: deciding by rule from here on"));
                    state.by_model = false;
                }
            }
        }
        if state.running().next().is_some() {
            return Ok(None);
        }
        let decisions = heuristic::decide(view, state, self.settings.actions_per_turn);
        match self.replay_turn(view, state, &decisions) {
            Ok(replayed) => Ok(Some(self.log_decisions(host, view, "rule", &decisions, replayed))),
            Err(refusal) => {
                host.note(Level::Warn, &format!("no further step: {refusal}"));
                Ok(None)
            }
        }
    }

    /// The model's decisions. A refused stream is sent back to the model once, with the reason.
    fn ask_model(&self, host: &impl PlannerHost, view: &View, state: &State) -> Asked {
        let mut wrong: Option<(String, String)> = None;
        for _ in 0..2 {
            let request = prompts::request(view, state, &self.settings, wrong.as_ref());
            let (said, why) = match host.complete(&request) {
                Ok(reply) => match self.check_reply(view, state, &reply) {
                    Ok((decisions, replayed)) => {
                        return Asked::Decided(decisions, Box::new(replayed));
                    }
                    Err(why) => (reply.text, why),
                },
                Err(LlmError::Malformed(start)) => {
                    (start, "they have another shape than asked for".to_owned())
                }
                Err(
                    error @ (LlmError::Refused(_) | LlmError::Unsupported(_) | LlmError::TooLarge),
                ) => {
                    return Asked::Unable(llm_words(&error));
                }
                Err(error) => return Asked::Lost(llm_failure(&error)),
            };
            host.note(
                Level::Warn,
                &format!("the model's decisions cannot be used: {}", line(&why, 300)),
            );
            wrong = Some((said, why));
        }
        Asked::Unable("the model decided wrong twice".to_owned())
    }

    fn check_reply(
        &self,
        view: &View,
        state: &State,
        reply: &Reply,
    ) -> Result<(Vec<Decision>, Replayed), String> {
        let decisions = read(reply)?;
        let replayed =
            self.replay_turn(view, state, &decisions).map_err(|refusal| refusal.to_string())?;
        Ok((decisions, replayed))
    }

    fn replay_turn(
        &self,
        view: &View,
        state: &State,
        decisions: &[Decision],
    ) -> Result<Replayed, Refusal> {
        let mut replayed = replay(state, view.taken, decisions, self.bounds())?;
        replayed.state.turn += 1;
        if replayed.state.stopped.is_none() && replayed.state.turn >= view.limit {
            replayed
                .attempt(heuristic::free_id("t", 1, view, &replayed.state), &view.problem.question);
        }
        Ok(replayed)
    }

    /// Logs the decisions of the turn, and returns `replayed` as it is.
    fn log_decisions(
        &self,
        host: &impl PlannerHost,
        view: &View,
        by: &str,
        decisions: &[Decision],
        replayed: Replayed,
    ) -> Replayed {
        let turn = replayed.state.turn;
        for decision in decisions {
            let about = decision
                .target_node
                .as_deref()
                .or(decision.node.as_deref())
                .or(decision.branch.as_deref());
            let about = about.map(|id| format!(" {}", line(id, 32))).unwrap_or_default();
            let why = decision
                .rationale
                .as_deref()
                .map(|why| format!(": {}", line(why, 200)))
                .unwrap_or_default();
            host.note(
                Level::Info,
                &format!("turn {turn} of {}: {}{about}{why}", view.limit, decision.action.name()),
            );
        }
        let actions: Vec<&str> = decisions.iter().map(|decision| decision.action.name()).collect();
        let state = &replayed.state;
        let branches: Vec<_> =
            state.branches.iter().map(|branch| json!([branch.id, branch.state.name()])).collect();
        host.event(
            None,
            "turn",
            &json!({ "turn": turn, "by": by, "actions": actions, "branches": branches }),
        );
        if let Some(reason) = state.stopped {
            log_end(host, reason, replayed.answer.as_deref());
        }
        replayed
    }
}

/// Logs why the search is over.
pub(crate) fn log_end(host: &impl PlannerHost, reason: StopReason, answer: Option<&str>) {
    let from = answer.map(|id| format!(", answering from {id}")).unwrap_or_default();
    host.note(Level::Info, &format!("stopped: {}{from}", reason.name()));
}
