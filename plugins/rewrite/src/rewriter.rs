//! One request, and what its reply proposes.

use serde_json::Value;
use syrch_plugin::failure::llm_failure;
use syrch_plugin::prelude::*;
use syrch_plugin::text::clip;

use crate::ModelRewriter;
use crate::prompts::{Matter, request};

/// The kind of failure by which the optimizer recognises that the statement does not fit into a
/// prompt.
const PROMPT_TOO_LARGE: &str = "prompt-too-large";

/// Bytes of the reason that is shown.
const REASON: usize = 2_000;

impl RewriterRole for ModelRewriter {
    fn rewrite(
        &self,
        host: &impl RewriterHost,
        _original: &str,
        best: &str,
        plan: &Plan,
        catalog: &Catalog,
        history: &[Attempt],
    ) -> Result<Option<Proposal>, Failure> {
        let matter = Matter { best, plan, catalog, history };
        let request = request(host, &self.settings, &matter);
        let bytes: usize = request.messages.iter().map(|message| message.text.len()).sum();
        if bytes as u64 > self.settings.prompt_bytes {
            let message = format!(
                "the prompt has {bytes} bytes, and may have {}",
                self.settings.prompt_bytes
            );
            return Err(failure(FailureKind::Other(PROMPT_TOO_LARGE.to_owned()), message));
        }
        match host.complete(&request) {
            Ok(reply) => proposal(&reply),
            Err(LlmError::TooLarge) => {
                let message = "the prompt is over the host's limit";
                Err(failure(FailureKind::Other(PROMPT_TOO_LARGE.to_owned()), message))
            }
            Err(error) => Err(llm_failure(&error)),
        }
    }
}

/// Reads the proposal of a reply; `None` if the model leaves the statement as it is.
fn proposal(reply: &Reply) -> Result<Option<Proposal>, Failure> {
    let document: Option<Value> =
        reply.parsed.as_deref().and_then(|text| serde_json::from_str(text).ok());
    let Some(document) = document else {
        return Err(failure(
            FailureKind::Model,
            "the reply is no JSON document of the form that was asked for",
        ));
    };
    if document["unchanged"] == true {
        return Ok(None);
    }
    let text = |key: &str| document[key].as_str().map(str::trim).filter(|text| !text.is_empty());
    let Some(sql) = text("optimized_sql") else {
        return Err(failure(
            FailureKind::Model,
            "the reply has no statement and not `\"unchanged\": true`",
        ));
    };
    Ok(Some(Proposal {
        sql: sql.trim_end_matches(';').trim_end().to_owned(),
        family: "model".to_owned(),
        reason: clip(text("explanation").unwrap_or("the model gave no reason"), REASON).to_owned(),
    }))
}
