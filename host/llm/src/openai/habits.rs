//! What an endpoint has refused so far, so that it is not asked again: endpoints that speak the protocol differ in what they take.

use std::collections::BTreeSet;

use serde_json::Value;

/// How a JSON document is asked for, from most to least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Structured {
    /// By its schema.
    #[default]
    Schema,
    /// As any JSON object, with the schema in the prompt.
    Object,
    /// By the prompt alone.
    Prompt,
}

/// Parameters that a call can do without when an endpoint refuses them by name.
const OPTIONAL: [&str; 5] = ["temperature", "top_p", "seed", "stop", "logprobs"];
/// Statuses by which an endpoint refuses a parameter.
const REFUSALS: [u16; 3] = [400, 404, 422];
/// What an error says when it blames the asked format.
const FORMAT: [&str; 7] =
    ["response_format", "json_schema", "json_object", "json schema", "structured output", "grammar", "guided"];

/// How one model behind one endpoint wants to be asked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Habits {
    /// How a JSON document is asked for.
    pub(super) structured: Structured,
    /// Whether the output limit is called `max_completion_tokens`.
    pub(super) completion_tokens: bool,
    /// Parameters left out.
    pub(super) dropped: BTreeSet<&'static str>,
}

impl Habits {
    /// The name of the output limit.
    pub(super) fn limit(&self) -> &'static str {
        if self.completion_tokens { "max_completion_tokens" } else { "max_tokens" }
    }

    /// How to ask again after this refusal of this body; none when asking otherwise would not help.
    pub(super) fn after(&self, status: u16, error: &str, body: &Value) -> Option<Self> {
        if !REFUSALS.contains(&status) {
            return None;
        }
        let error = error.to_lowercase();
        let mut next = self.clone();
        if body.get("max_tokens").is_some() && error.contains("max_completion_tokens") {
            next.completion_tokens = true;
        } else if body.get("response_format").is_some() && FORMAT.iter().any(|word| error.contains(word)) {
            next.structured = match self.structured {
                Structured::Schema => Structured::Object,
                Structured::Object | Structured::Prompt => Structured::Prompt,
            };
        } else {
            let blamed = OPTIONAL.into_iter().find(|name| body.get(name).is_some() && names(&error, name))?;
            next.dropped.insert(blamed);
        }
        (next != *self).then_some(next)
    }

    /// What two calls learnt apart, together.
    pub(super) fn merge(&mut self, other: &Self) {
        self.structured = self.structured.max(other.structured);
        self.completion_tokens |= other.completion_tokens;
        self.dropped.extend(&other.dropped);
    }
}

/// Whether a refusal is about this one schema rather than about schemas: then others may still be sent.
pub(super) fn is_about_one_schema(error: &str) -> bool {
    let error = error.to_lowercase();
    error.contains("invalid schema") || error.contains("invalid_json_schema")
}

/// Whether the name stands in the text as a word of its own.
fn names(text: &str, name: &str) -> bool {
    let part_of = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name)
        .any(|(at, _)| !text[..at].ends_with(part_of) && !text[at + name.len()..].starts_with(part_of))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn refused_formats_go_down_step_by_step() {
        let body = json!({"response_format": {"type": "json_schema"}});
        let first = Habits::default().after(400, "response_format.type `json_schema` is not supported", &body).unwrap();
        assert_eq!(first.structured, Structured::Object);
        let second = first.after(422, "Unknown field response_format", &body).unwrap();
        assert_eq!(second.structured, Structured::Prompt);
        assert_eq!(second.after(400, "response_format", &json!({})), None);
    }

    #[test]
    fn refused_parameters_are_renamed_or_left_out() {
        let body = json!({"max_tokens": 1, "temperature": 0.7, "stop": ["x"]});
        let error = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.";
        assert_eq!(Habits::default().after(400, error, &body).unwrap().limit(), "max_completion_tokens");
        let error = "Unsupported value: 'temperature' does not support 0.7 with this model.";
        assert!(Habits::default().after(400, error, &body).unwrap().dropped.contains("temperature"));
        assert_eq!(Habits::default().after(400, "the server was stopped", &body), None);
        assert_eq!(Habits::default().after(500, error, &body), None);
        assert_eq!(Habits::default().after(404, "model `x` not found", &body), None);
    }
}
