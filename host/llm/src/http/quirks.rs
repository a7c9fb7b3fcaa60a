//! The requests that an endpoint has refused so far, so that they are not sent again: endpoints of
//! the same protocol accept different parameters.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;
use syrch_core::ports::{Request, RequestKey, Shape};

/// The form in which a JSON document is requested, from the strictest to the loosest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Structured {
    /// By its JSON Schema, which the endpoint enforces.
    #[default]
    Schema,
    /// As any JSON object, with the schema in the prompt.
    Object,
    /// By the prompt only.
    Prompt,
}

/// Schemas whose refusal is remembered.
const MAX_SCHEMAS: usize = 256;
/// Requests whose limit of output tokens is remembered.
const MAX_REQUESTS: usize = 1_024;
/// Words of errors that refuse a system prompt.
const SYSTEM: [&str; 9] = [
    "system role not supported",
    "system role is not supported",
    "system message",
    "developer instruction is not enabled",
    "only user and assistant roles",
    "roles must alternate",
    "must start with a user",
    "must begin with a user",
    "first message must be from the user",
];
/// Words that say of a role that it is refused.
const REFUSED: [&str; 7] =
    ["not support", "unsupported", "not allowed", "not accept", "invalid", "must be", "unknown"];
/// Words of errors that refuse a reply in one piece.
const STREAM: [&str; 8] = [
    "stream must be set to true",
    "stream must be true",
    "stream=true",
    "only support stream",
    "only supports stream",
    "non-stream",
    "streaming is required",
    "streaming only",
];
/// Statuses by which an endpoint refuses a parameter.
const REFUSALS: [u16; 3] = [400, 404, 422];
/// Words of errors that refuse the requested format.
const FORMAT: [&str; 7] = [
    "response_format",
    "json_schema",
    "json_object",
    "json schema",
    "structured output",
    "grammar",
    "guided",
];

/// The form of requests that one model of one endpoint accepts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Quirks {
    /// The form in which a JSON document is requested.
    pub structured: Structured,
    /// True if the output limit is called `max_completion_tokens`.
    pub completion_tokens: bool,
    /// The parameters that are left out.
    pub dropped: BTreeSet<&'static str>,
    /// True if the reply is asked for as a stream.
    pub streams: bool,
    /// True if the system prompt stands at the beginning of the user's first message, and roles
    /// alternate.
    pub folds_system: bool,
    /// True if the model thinks before it answers, so that a reply needs all the output tokens that
    /// the user allows.
    pub thinks: bool,
    /// True if a reply of the model was cut off with all the output tokens that the user allows, so
    /// that it is not asked for more again.
    pub rambles: bool,
    /// True if statements are requested as JSON documents.
    pub statements_as_json: bool,
    /// The most output tokens that the endpoint allows.
    pub most_tokens: Option<u32>,
}

impl Quirks {
    /// The name of the parameter that limits output tokens.
    #[must_use]
    pub fn limit(&self) -> &'static str {
        if self.completion_tokens { "max_completion_tokens" } else { "max_tokens" }
    }

    /// The next form after this refusal of this body; `None` if no other form would help. Of the
    /// parameters, only the `optional` ones can be left out.
    pub(super) fn next_form(
        &self,
        status: u16,
        error: &str,
        body: &Value,
        optional: &[&'static str],
    ) -> Option<Self> {
        let error = error.to_lowercase();
        let mut next = self.clone();
        let has = |list: &[&str]| list.iter().any(|word| error.contains(word));
        if status < 400 {
            return None;
        }
        let is_role = error.contains("role") && error.contains("system") && has(&REFUSED);
        // Templates and grammars of local servers fail with other statuses.
        if has(&SYSTEM) || is_role {
            next.folds_system = true;
            return (next != *self).then_some(next);
        }
        let is_refusal = REFUSALS.contains(&status);
        if is_refusal && body.get("stream").is_some() && has(&STREAM) {
            next.streams = true;
        } else if is_refusal
            && body.get("max_tokens").is_some()
            && error.contains("max_completion_tokens")
        {
            next.completion_tokens = true;
        } else if body.get("response_format").is_some() && has(&FORMAT) {
            next.structured = match self.structured {
                Structured::Schema => Structured::Object,
                Structured::Object | Structured::Prompt => Structured::Prompt,
            };
        } else {
            let blamed = optional
                .iter()
                .find(|name| is_refusal && body.get(name).is_some() && names(&error, name))?;
            next.dropped.insert(*blamed);
        }
        (next != *self).then_some(next)
    }

    /// Adds what another call has learnt.
    pub(super) fn merge(&mut self, other: &Self) {
        self.structured = self.structured.max(other.structured);
        self.completion_tokens |= other.completion_tokens;
        self.dropped.extend(&other.dropped);
        self.streams |= other.streams;
        self.folds_system |= other.folds_system;
        self.thinks |= other.thinks;
        self.rambles |= other.rambles;
        self.statements_as_json |= other.statements_as_json;
        self.most_tokens = self.most_tokens.into_iter().chain(other.most_tokens).min();
    }
}

/// The quirks that were learnt, by model; and for schemas that were refused themselves, by model
/// and schema.
#[derive(Debug, Default)]
pub(super) struct Learnt {
    models: HashMap<String, Quirks>,
    schemas: HashMap<(String, String), Quirks>,
    /// The output tokens of requests whose reply was cut off, or which did not fit into a context
    /// with more.
    tokens: HashMap<u64, u32>,
}

impl Learnt {
    /// The form of requests to a model for a shape.
    pub(super) fn quirks(&self, model: &str, shape: &Shape) -> Quirks {
        let mut quirks = self.models.get(model).cloned().unwrap_or_default();
        if let Shape::Json(schema) = shape
            && let Some(other) = self.schemas.get(&(model.to_owned(), schema.clone()))
        {
            quirks.merge(other);
        }
        quirks
    }

    /// The output tokens that are known to suit this request; `None` if it has not been made yet.
    pub(super) fn tokens(&self, model: &str, request: &Request) -> Option<u32> {
        if self.tokens.is_empty() {
            None
        } else {
            self.tokens.get(&identity(model, request)).copied()
        }
    }

    /// Remembers the output tokens of this request.
    pub(super) fn set_tokens(&mut self, model: &str, request: &Request, tokens: u32) {
        if self.tokens.len() >= MAX_REQUESTS {
            self.tokens.clear();
        }
        self.tokens.insert(identity(model, request), tokens);
    }

    /// Remembers something about a model.
    pub(super) fn set(&mut self, model: &str, quirks: &Quirks) {
        self.models.entry(model.to_owned()).or_default().merge(quirks);
    }

    /// Remembers the form that follows from a refusal with this text.
    pub(super) fn learn_refusal(
        &mut self,
        model: &str,
        shape: &Shape,
        error: &str,
        quirks: &Quirks,
    ) {
        if let Shape::Json(schema) = shape
            && is_about_one_schema(error)
        {
            // Guests write schemas, so the number is bounded. A forgotten one costs one more
            // refusal.
            if self.schemas.len() >= MAX_SCHEMAS {
                self.schemas.clear();
            }
            self.schemas.entry((model.to_owned(), schema.clone())).or_default().merge(quirks);
        } else {
            self.set(model, quirks);
        }
    }
}

/// A digest of what a reply depends on, apart from the limit of output tokens.
fn identity(model: &str, request: &Request) -> u64 {
    let key = RequestKey { max_tokens: None, ..request.key() };
    let mut hasher = DefaultHasher::new();
    (model, serde_json::to_string(&key).unwrap_or_default()).hash(&mut hasher);
    hasher.finish()
}

/// Returns true if a refusal is about this schema rather than about all, so that others may still
/// be sent.
fn is_about_one_schema(error: &str) -> bool {
    let error = error.to_lowercase();
    error.contains("invalid schema") || error.contains("invalid_json_schema")
}

/// Returns true if the name occurs in the text as a whole word.
fn names(text: &str, name: &str) -> bool {
    fn is_word_char(c: char) -> bool {
        c.is_alphanumeric() || c == '_'
    }
    text.match_indices(name).any(|(at, _)| {
        !text[..at].ends_with(is_word_char) && !text[at + name.len()..].starts_with(is_word_char)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use syrch_core::ports::{Message, Purpose, Speaker};

    use super::*;

    const OPTIONAL: &[&str] = &["temperature", "stop"];

    #[test]
    fn refused_formats_go_down_step_by_step() {
        let body = json!({"response_format": {"type": "json_schema"}});
        let first = Quirks::default()
            .next_form(400, "response_format.type `json_schema` is not supported", &body, OPTIONAL)
            .unwrap();
        assert_eq!(first.structured, Structured::Object);
        let second =
            first.next_form(422, "Unknown field response_format", &body, OPTIONAL).unwrap();
        assert_eq!(second.structured, Structured::Prompt);
        assert_eq!(second.next_form(400, "response_format", &json!({}), OPTIONAL), None);
        let failed = first.next_form(500, "failed to initialize sampler: grammar", &body, OPTIONAL);
        assert_eq!(failed.unwrap().structured, Structured::Prompt);
        assert_eq!(first.next_form(500, "out of memory", &body, OPTIONAL), None);
    }

    #[test]
    fn refused_parameters_are_renamed_or_left_out() {
        let body = json!({"max_tokens": 1, "temperature": 0.7, "stop": ["x"]});
        let error = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.";
        assert_eq!(
            Quirks::default().next_form(400, error, &body, OPTIONAL).unwrap().limit(),
            "max_completion_tokens"
        );
        let error = "Unsupported value: 'temperature' does not support 0.7 with this model.";
        assert!(
            Quirks::default()
                .next_form(400, error, &body, OPTIONAL)
                .unwrap()
                .dropped
                .contains("temperature")
        );
        assert_eq!(
            Quirks::default().next_form(400, "the server was stopped", &body, OPTIONAL),
            None
        );
        assert_eq!(Quirks::default().next_form(500, error, &body, OPTIONAL), None);
        assert_eq!(Quirks::default().next_form(404, "model `x` not found", &body, OPTIONAL), None);
    }

    #[test]
    fn streams_and_system_prompts_are_known_by_their_words() {
        let body = json!({"stream": false});
        let after = |status, error| Quirks::default().next_form(status, error, &body, OPTIONAL);
        assert!(after(400, "Stream must be set to true").unwrap().streams);
        assert!(after(422, "this model only supports streaming").unwrap().streams);
        assert!(after(500, "jinja: System role not supported").unwrap().folds_system);
        assert!(
            after(400, "Developer instruction is not enabled for models/gemma-3")
                .unwrap()
                .folds_system
        );
        assert!(
            after(400, "Conversation roles must alternate user/assistant/user")
                .unwrap()
                .folds_system
        );
        for error in [
            "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
            "messages[0].role must be one of user, assistant, and is system",
            "Invalid role: system",
            "A conversation must start with a user message.",
        ] {
            assert!(after(400, error).unwrap().folds_system, "{error}");
        }
        assert_eq!(after(400, "the stream broke"), None);
        let folded = Quirks { folds_system: true, ..Quirks::default() };
        assert_eq!(folded.next_form(400, "system role not supported", &body, OPTIONAL), None);
    }

    #[test]
    fn a_limit_belongs_to_one_request() {
        fn request(text: &str) -> Request {
            let message = Message { speaker: Speaker::User, text: text.to_owned() };
            Request::new(Purpose::Generate, vec![message], Shape::Sql)
        }
        let mut learnt = Learnt::default();
        learnt.set_tokens("m", &request("a"), 7);
        let limited = Request { max_tokens: Some(9), ..request("a") };
        assert_eq!(
            (learnt.tokens("m", &limited), learnt.tokens("m", &request("b"))),
            (Some(7), None)
        );
        assert_eq!(learnt.tokens("n", &request("a")), None);
        for number in 0..3_000 {
            learnt.set_tokens("m", &request(&number.to_string()), 1);
        }
        assert!(learnt.tokens.len() <= MAX_REQUESTS);
    }

    #[test]
    fn a_refusal_of_one_schema_is_no_refusal_of_others() {
        let one = Shape::Json("{\"a\":1}".into());
        let other = Shape::Json("{\"b\":1}".into());
        let plainer = Quirks { structured: Structured::Object, ..Quirks::default() };
        let mut learnt = Learnt::default();
        learnt.learn_refusal("m", &one, "Invalid schema for response_format 'reply'", &plainer);
        assert_eq!(
            (learnt.quirks("m", &one), learnt.quirks("m", &other)),
            (plainer.clone(), Quirks::default())
        );
        learnt.learn_refusal("m", &one, "response_format is not supported", &plainer);
        assert_eq!(
            (learnt.quirks("m", &other), learnt.quirks("n", &one)),
            (plainer.clone(), Quirks::default())
        );
        for number in 0..2_000 {
            learnt.learn_refusal(
                "m",
                &Shape::Json(number.to_string()),
                "invalid_json_schema",
                &plainer,
            );
        }
        assert!(learnt.schemas.len() <= MAX_SCHEMAS);
    }
}
