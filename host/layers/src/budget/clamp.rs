//! Bounds of a guest's request before it reaches a provider: texts within the limits, numbers
//! within their range, models by name.

use syrch_core::Limits;
use syrch_core::ports::{LlmError, Purpose, Request};
use syrch_core::text::clip;

/// The most stop sequences of one request; endpoints take no more.
const MAX_STOPS: usize = 4;
/// Bytes of one stop sequence. A longer one is dropped, since a shorter one would stop earlier.
const STOP_BYTES: usize = 256;
/// The most messages of one prompt.
const MAX_MESSAGES: usize = 1_024;

/// Refuses a request that may not be sent.
///
/// # Errors
/// [`LlmError::TooLarge`] over a limit of size, [`LlmError::Denied`] for a model that is not among
/// `models`.
pub(super) fn check(request: &Request, models: &[String], limits: &Limits) -> Result<(), LlmError> {
    let subjects: usize = request.subjects.iter().map(String::len).sum();
    if request.prompt_bytes() > limits.prompt_bytes
        || subjects > limits.prompt_bytes
        || request.messages.len() > MAX_MESSAGES
    {
        return Err(LlmError::TooLarge);
    }
    if let Some(name) = request.model.as_ref().filter(|name| !models.contains(name)) {
        return Err(LlmError::Denied(format!(
            "the model `{}` is not configured",
            clip(name, limits.id_bytes)
        )));
    }
    Ok(())
}

/// Brings the numbers and stop sequences of a request within their range. Applied to its own
/// result, it changes nothing.
pub fn clamp(request: &mut Request, limits: &Limits) {
    if let Purpose::Other(name) = &mut request.purpose {
        *name = clip(name, limits.id_bytes).to_owned();
    }
    request.temperature = clamp_to(request.temperature, 2.0);
    request.top_p = clamp_to(request.top_p, 1.0);
    request.max_tokens = request.max_tokens.map(|tokens| tokens.max(1));
    request.stop.retain(|stop| !stop.is_empty() && stop.len() <= STOP_BYTES);
    request.stop.truncate(MAX_STOPS);
}

fn clamp_to(value: Option<f32>, most: f32) -> Option<f32> {
    value.filter(|value| !value.is_nan()).map(|value| value.clamp(0.0, most))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use syrch_core::ports::Shape;

    use super::*;
    use crate::fakes::request;

    #[test]
    fn sizes_and_names_are_checked() {
        let limits = Limits { prompt_bytes: 10, ..Limits::default() };
        let models = ["a".to_owned()];
        assert_eq!(check(&request(&"x".repeat(11)), &models, &limits), Err(LlmError::TooLarge));
        assert_eq!(check(&request(&"x".repeat(10)), &models, &limits), Ok(()));
        let mut schema = request("x");
        schema.expect = Shape::Json("x".repeat(10));
        assert_eq!(check(&schema, &models, &limits), Err(LlmError::TooLarge));
        let mut subjects = request("x");
        subjects.subjects = vec!["x".repeat(11)];
        assert_eq!(check(&subjects, &models, &limits), Err(LlmError::TooLarge));
        let mut named = request("x");
        named.model = Some("b".into());
        assert!(matches!(check(&named, &models, &limits), Err(LlmError::Denied(_))));
        named.model = Some("a".into());
        assert_eq!(check(&named, &models, &limits), Ok(()));
    }

    proptest! {
        #[test]
        fn numbers_end_in_their_range(
            temperature: f32, top_p: f32, tokens: u32,
            stops in prop::collection::vec(".{0,300}", 0..9)
        ) {
            let mut request = request("x");
            request.temperature = Some(temperature);
            request.top_p = Some(top_p);
            request.max_tokens = Some(tokens);
            request.stop = stops;
            request.purpose = Purpose::Other("p".repeat(900));
            clamp(&mut request, &Limits::default());
            prop_assert!(request.temperature.is_none_or(|value| (0.0..=2.0).contains(&value)));
            prop_assert!(request.top_p.is_none_or(|value| (0.0..=1.0).contains(&value)));
            prop_assert!(request.max_tokens.is_some_and(|tokens| tokens > 0));
            prop_assert!(
                request.stop
                    .len() <= 4 && request.stop
                    .iter()
                    .all(|stop| !stop.is_empty() && stop.len() <= 256)
            );
            prop_assert_eq!(request.purpose.name().len(), 64);
        }
    }
}
