//! What an endpoint has refused so far, so that it is not asked again: endpoints that speak the protocol differ in what they take.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;
use syrch_core::ports::Shape;

/// How a JSON document is asked for, from most to least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Structured {
    /// By its schema.
    #[default]
    Schema,
    /// As any JSON object, with the schema in the prompt.
    Object,
    /// By the prompt alone.
    Prompt,
}

/// Schemas whose refusal is remembered.
const MAX_SCHEMAS: usize = 256;
/// Statuses by which an endpoint refuses a parameter.
const REFUSALS: [u16; 3] = [400, 404, 422];
/// What an error says when it blames the asked format.
const FORMAT: [&str; 7] =
    ["response_format", "json_schema", "json_object", "json schema", "structured output", "grammar", "guided"];

/// How one model behind one endpoint wants to be asked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Habits {
    /// How a JSON document is asked for.
    pub structured: Structured,
    /// Whether the output limit is called `max_completion_tokens`.
    pub completion_tokens: bool,
    /// Parameters left out.
    pub dropped: BTreeSet<&'static str>,
}

impl Habits {
    /// The name of the output limit.
    #[must_use]
    pub fn limit(&self) -> &'static str {
        if self.completion_tokens { "max_completion_tokens" } else { "max_tokens" }
    }

    /// How to ask again after this refusal of this body; none when asking otherwise would not help. A call can do without the `optional`
    /// parameters.
    pub(super) fn after(&self, status: u16, error: &str, body: &Value, optional: &[&'static str]) -> Option<Self> {
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
            let blamed = *optional.iter().find(|name| body.get(name).is_some() && names(&error, name))?;
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

/// What was learnt, by model; and of schemas that were refused for themselves, by model and schema.
#[derive(Debug, Default)]
pub(super) struct Learnt {
    models: HashMap<String, Habits>,
    schemas: HashMap<(String, String), Habits>,
}

impl Learnt {
    /// How the model wants to be asked for that shape.
    pub(super) fn of(&self, model: &str, shape: &Shape) -> Habits {
        let mut habits = self.models.get(model).cloned().unwrap_or_default();
        if let Shape::Json(schema) = shape
            && let Some(other) = self.schemas.get(&(model.to_owned(), schema.clone()))
        {
            habits.merge(other);
        }
        habits
    }

    /// Remembers what a refusal in these words taught.
    pub(super) fn learn(&mut self, model: &str, shape: &Shape, error: &str, habits: &Habits) {
        if let Shape::Json(schema) = shape
            && is_about_one_schema(error)
        {
            // Guests write schemas: what is forgotten here costs one more refusal.
            if self.schemas.len() >= MAX_SCHEMAS {
                self.schemas.clear();
            }
            self.schemas.entry((model.to_owned(), schema.clone())).or_default().merge(habits);
        } else {
            self.models.entry(model.to_owned()).or_default().merge(habits);
        }
    }
}

/// Whether a refusal is about this one schema rather than about schemas: then others may still be sent.
fn is_about_one_schema(error: &str) -> bool {
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

    const OPTIONAL: &[&str] = &["temperature", "stop"];

    #[test]
    fn refused_formats_go_down_step_by_step() {
        let body = json!({"response_format": {"type": "json_schema"}});
        let first = Habits::default()
            .after(400, "response_format.type `json_schema` is not supported", &body, OPTIONAL)
            .unwrap();
        assert_eq!(first.structured, Structured::Object);
        let second = first.after(422, "Unknown field response_format", &body, OPTIONAL).unwrap();
        assert_eq!(second.structured, Structured::Prompt);
        assert_eq!(second.after(400, "response_format", &json!({}), OPTIONAL), None);
    }

    #[test]
    fn refused_parameters_are_renamed_or_left_out() {
        let body = json!({"max_tokens": 1, "temperature": 0.7, "stop": ["x"]});
        let error = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.";
        assert_eq!(Habits::default().after(400, error, &body, OPTIONAL).unwrap().limit(), "max_completion_tokens");
        let error = "Unsupported value: 'temperature' does not support 0.7 with this model.";
        assert!(Habits::default().after(400, error, &body, OPTIONAL).unwrap().dropped.contains("temperature"));
        assert_eq!(Habits::default().after(400, "the server was stopped", &body, OPTIONAL), None);
        assert_eq!(Habits::default().after(500, error, &body, OPTIONAL), None);
        assert_eq!(Habits::default().after(404, "model `x` not found", &body, OPTIONAL), None);
    }

    #[test]
    fn a_refusal_of_one_schema_is_no_refusal_of_others() {
        let (one, other) = (Shape::Json("{\"a\":1}".into()), Shape::Json("{\"b\":1}".into()));
        let plainer = Habits { structured: Structured::Object, ..Habits::default() };
        let mut learnt = Learnt::default();
        learnt.learn("m", &one, "Invalid schema for response_format 'reply'", &plainer);
        assert_eq!((learnt.of("m", &one), learnt.of("m", &other)), (plainer.clone(), Habits::default()));
        learnt.learn("m", &one, "response_format is not supported", &plainer);
        assert_eq!((learnt.of("m", &other), learnt.of("n", &one)), (plainer.clone(), Habits::default()));
        for number in 0..2_000 {
            learnt.learn("m", &Shape::Json(number.to_string()), "invalid_json_schema", &plainer);
        }
        assert!(learnt.schemas.len() <= MAX_SCHEMAS);
    }
}
