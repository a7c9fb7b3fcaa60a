//! What a call used, as far as its report can be believed.

use syrch_core::ports::{LlmError, ModelOutcome, Request, Shape, Usage};

use super::clamp::prompt_bytes;

/// Bytes to one token at most: no tokenizer in use packs English, SQL or JSON denser, so a report below it is not true.
const DENSEST: usize = 8;
/// Bytes to one token as providers reserve them; what an unreported call is charged by.
const USUAL: usize = 3;

/// What the call used; none: nobody knows.
///
/// Reported usage counts where it is at least a token for every eight bytes that were exchanged; a call that reports none used a token
/// for every three bytes; of one that failed after it was sent, without a report, nobody knows. A failed call that reports no tokens was
/// turned away and used none. What is free (a provider whose estimate is no tokens) stays so. Asked again of its own answer, it says
/// the same.
pub(crate) fn believable(request: &Request, outcome: &ModelOutcome, is_free: bool) -> Option<Usage> {
    let input = prompt_bytes(request);
    let output = match &outcome.result {
        // Vectors are no tokens.
        Ok(_) if request.expect == Shape::Vectors => 0,
        Ok(reply) => reply.text.len(),
        Err(LlmError::Malformed(beginning)) => beginning.len(),
        Err(_) => 0,
    };
    let bound = |bytes: usize, density: usize| u32::try_from((bytes / density) as u64).unwrap_or(u32::MAX);
    match (&outcome.usage, &outcome.result) {
        (Some(usage), _) if is_free => Some(usage.clone()),
        (Some(usage), Err(_)) if usage.input_tokens == 0 && usage.output_tokens == 0 => Some(usage.clone()),
        (Some(usage), _) => Some(Usage {
            input_tokens: usage.input_tokens.max(bound(input, DENSEST)),
            output_tokens: usage.output_tokens.max(bound(output, DENSEST)),
            ..usage.clone()
        }),
        (None, Ok(reply)) if is_free => Some(reply.usage.clone()),
        (None, Ok(reply)) => Some(Usage {
            input_tokens: bound(input, USUAL),
            output_tokens: bound(output, USUAL),
            ..reply.usage.clone()
        }),
        (None, Err(_)) => None,
    }
}
