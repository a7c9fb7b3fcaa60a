//! The usage of a call, as far as the endpoint's report is credible.

use syrch_core::ports::{LlmError, ModelOutcome, Request, Shape, Usage};

/// The most bytes of one token: no tokenizer in use packs English, SQL or JSON denser, so a report
/// below that is false.
const DENSEST: usize = 8;
/// Bytes of one token as providers reserve them; calls without a report are charged by it.
const USUAL: usize = 3;

/// The usage of a call, or `None` when it is unknown.
///
/// A reported usage counts where it is at least one token for every eight bytes that were
/// exchanged. A successful call without a report used one token for every three bytes. The usage of
/// a call that failed after it was sent and reported nothing is unknown. A failed call that reports
/// no tokens was rejected by the endpoint and used none. Calls of a free provider, whose estimate
/// is no tokens, stay free. Applied to its own result, the function returns the same.
pub(crate) fn believable_usage(
    request: &Request,
    outcome: &ModelOutcome,
    is_free: bool,
) -> Option<Usage> {
    let input = request.prompt_bytes();
    let output = match &outcome.result {
        // Vectors are no tokens.
        Ok(_) if request.expect == Shape::Vectors => 0,
        Ok(reply) => reply.text.len(),
        Err(LlmError::Malformed(begins) | LlmError::Cut { begins, .. }) => begins.len(),
        Err(_) => 0,
    };
    let bound =
        |bytes: usize, density: usize| u32::try_from((bytes / density) as u64).unwrap_or(u32::MAX);
    match (&outcome.usage, &outcome.result) {
        (Some(usage), _) if is_free => Some(usage.clone()),
        (Some(usage), Err(_)) if usage.input_tokens == 0 && usage.output_tokens == 0 => {
            Some(usage.clone())
        }
        (Some(usage), _) => Some(Usage {
            input_tokens: usage.input_tokens.max(bound(input, DENSEST)),
            output_tokens: usage.output_tokens.max(bound(output, DENSEST)),
            ..usage.clone()
        }),
        (None, Ok(reply)) if is_free => Some(reply.usage.clone()),
        (None, Ok(reply)) => Some(Usage {
            input_tokens: bound(input, USUAL),
            output_tokens: bound(output, USUAL),
            is_estimate: true,
            ..reply.usage.clone()
        }),
        (None, Err(_)) => None,
    }
}
