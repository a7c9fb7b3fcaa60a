//! The model of a case: its replies stand in the case, and each call takes the next one.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::Value;
use syrch_core::Limits;
use syrch_core::ports::{Estimate, LlmError, ModelCall, ModelOutcome, ModelProvider, Reply, Usage};
use syrch_replies::{shape, size, written};

/// The name of the model and of its provider.
pub(crate) const NAME: &str = "scripted";

/// A reply of a case.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ScriptedReply {
    /// A statement, written in the shape that the request expects.
    sql: Option<String>,
    /// The confidence beside the statement.
    confidence: Option<f64>,
    /// The raw text of the model, read by the shape that the request expects.
    text: Option<String>,
    /// The raw text as a JSON document.
    json: Option<Value>,
    /// The reason why there is no reply.
    error: Option<Value>,
    truncated: bool,
    logprob: Option<f64>,
}

impl ScriptedReply {
    /// Checks that the reply is one of the three kinds.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub(crate) fn check(&self) -> Result<(), String> {
        let given =
            [self.sql.is_some(), self.text.is_some(), self.json.is_some(), self.error.is_some()];
        if given.into_iter().filter(|given| *given).count() != 1 {
            return Err("a reply has one of `sql`, `text`, `json` and `error`".to_owned());
        }
        self.error().transpose().map(|_| ())
    }

    fn error(&self) -> Option<Result<LlmError, String>> {
        let error = self.error.clone()?;
        // The contract's name of the one case of two words.
        let error = if error == "too-large" { Value::from("toolarge") } else { error };
        Some(serde_json::from_value(error).map_err(|error| format!("`error`: {error}")))
    }

    async fn reply(&self, call: &ModelCall, limits: &Limits) -> Result<Reply, LlmError> {
        if let Some(Ok(error)) = self.error() {
            return Err(error);
        }
        let expect = &call.request.expect;
        let text = self
            .text
            .clone()
            .or_else(|| self.json.as_ref().map(Value::to_string))
            .unwrap_or_default();
        let usage = |text: &str| Usage {
            input_tokens: u32::try_from(size::prompt_tokens(&call.request)).unwrap_or(u32::MAX),
            output_tokens: u32::try_from(text.len().div_ceil(4)).unwrap_or(u32::MAX),
            cost_micros: Some(0),
            model: NAME.to_owned(),
            ..Usage::default()
        };
        let reply = match &self.sql {
            Some(sql) => {
                let written = written::statement(sql, self.confidence, expect, limits)?;
                let usage = usage(&written.text);
                written.reply(usage)
            }
            None => {
                let parsed = shape::parse(&text, expect, limits)?;
                Reply { usage: usage(&text), text, parsed, truncated: false, logprob: None }
            }
        };
        Ok(Reply {
            truncated: self.truncated,
            logprob: self.logprob.filter(|_| call.request.logprobs),
            ..reply
        })
    }
}

/// A provider whose replies stand in a case. When they are used up it refuses.
pub(crate) struct ScriptedModel {
    replies: Mutex<VecDeque<ScriptedReply>>,
    limits: Limits,
}

impl ScriptedModel {
    pub(crate) fn new(replies: &[ScriptedReply], limits: Limits) -> Self {
        Self { replies: Mutex::new(replies.to_vec().into()), limits }
    }
}

#[async_trait]
impl ModelProvider for ScriptedModel {
    fn name(&self) -> &str {
        NAME
    }

    fn models(&self) -> Vec<String> {
        vec![NAME.to_owned()]
    }

    fn estimate(&self, call: &ModelCall) -> Estimate {
        let output_tokens = u64::from(call.request.max_tokens.unwrap_or(0));
        Estimate {
            input_tokens: size::prompt_tokens(&call.request),
            output_tokens,
            cost_micros: Some(0),
        }
    }

    async fn complete(&self, call: &ModelCall) -> ModelOutcome {
        let expect = &call.request.expect;
        // As a provider does before it sends a request.
        let checked = match shape::prepare(expect, &self.limits).await {
            Ok(()) => shape::accept(expect, &self.limits),
            Err(error) => Err(error),
        };
        if let Err(error) = checked {
            return ModelOutcome::unsent(error);
        }
        let next = self.replies.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let Some(next) = next else {
            let reason = "the case has no further reply of the model".to_owned();
            return ModelOutcome::sent(Err(LlmError::Refused(reason)), None);
        };
        let result = next.reply(call, &self.limits).await;
        let usage = result.as_ref().ok().map(|reply| reply.usage.clone());
        ModelOutcome::sent(result, usage)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn wrong(reply: Value) -> String {
        serde_json::from_value::<ScriptedReply>(reply).unwrap().check().err().unwrap_or_default()
    }

    #[test]
    fn a_reply_is_of_one_kind() {
        assert_eq!(wrong(json!({ "sql": "SELECT 1", "confidence": 0.5 })), "");
        assert_eq!(wrong(json!({ "error": "too-large" })), "");
        assert_eq!(wrong(json!({ "error": { "unavailable": "no network" } })), "");
        assert!(wrong(json!({})).contains("one of"));
        assert!(wrong(json!({ "sql": "SELECT 1", "text": "x" })).contains("one of"));
        assert!(wrong(json!({ "error": "tired" })).contains("`error`"));
    }
}
