//! The limitations of model servers, each in the words of one that exists.

use serde_json::{Value, json};

use crate::{Recorded, Reply};

/// The faults of an endpoint.
#[derive(Debug, Default)]
pub(super) struct Faults {
    /// Tokens of prompt and reply together.
    pub(super) context: Option<u64>,
    /// True if an error names the tokens of the prompt, as vLLM's does and llama.cpp's with its own
    /// fields.
    pub(super) context_of_llama: bool,
    /// Output tokens at most.
    pub(super) most_tokens: Option<u64>,
    /// True if it answers in streams alone.
    pub(super) only_streams: bool,
    /// True if its template has no system prompt.
    pub(super) without_system: bool,
    /// Requests until its model is loaded.
    pub(super) loading: usize,
}

impl Faults {
    /// The error for a request.
    pub(super) fn objection(&mut self, request: &Recorded) -> Option<Reply> {
        if self.loading > 0 {
            self.loading -= 1;
            let error = json!({
                "error": {"message": "Loading model", "type": "unavailable_error", "code": 503}
            });
            return Some(Reply::raw(503, error.to_string()));
        }
        let body = &request.body;
        if self.only_streams && body["stream"] != true {
            return Some(Reply::status(400, "Stream must be set to true for this model"));
        }
        if self.without_system
            && body["messages"].as_array().is_some_and(|messages| {
                messages.iter().any(|message: &Value| message["role"] == "system")
            })
        {
            return Some(Reply::status(
                500,
                "Error rendering the template: System role not supported",
            ));
        }
        let sent = ["max_tokens", "max_completion_tokens"]
            .iter()
            .find_map(|name| body[*name].as_u64())
            .unwrap_or(0);
        if let Some(most) = self.most_tokens.filter(|most| sent > *most) {
            return Some(Reply::status(
                400,
                &format!("max_tokens must be at most {most}, and is {sent}"),
            ));
        }
        let prompt = request.prompt().len().div_ceil(4) as u64;
        let context = self.context.filter(|context| prompt + sent > *context)?;
        if self.context_of_llama {
            // It counts the prompt alone, and cuts the reply off.
            let error = json!({"error": {
                "code": 400, "message": "the request exceeds the available context size, try \
                                         increasing it",
                "type": "exceed_context_size_error", "n_prompt_tokens": prompt, "n_ctx": context
            }});
            return (prompt > context).then(|| Reply::raw(400, error.to_string()));
        }
        let text = format!(
            "This model's maximum context length is {context} tokens. However, you requested {} \
             tokens ({prompt} in the messages, {sent} in the completion). Please reduce the length \
             of the messages or completion.",
            prompt + sent
        );
        Some(Reply::status(400, &text))
    }
}
