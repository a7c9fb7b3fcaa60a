//! Keywords from a model, as CHESS asks for them first: what a question is about in words that a
//! schema may use.

use serde_json::{Value, json};
use syrch_plugin::failure::llm_words;
use syrch_plugin::prelude::*;
use syrch_plugin::prompt;
use syrch_plugin::text::line;

/// The most keywords that are used.
const KEYWORDS: usize = 16;

/// The keywords of a question; empty if the model has none to give. An unavailable model is logged
/// and there are no keywords: narrowing works without one.
pub(crate) fn ask(host: &impl LinkerHost, problem: &Problem) -> Result<Vec<String>, Failure> {
    match host.complete(&request(problem)) {
        Ok(reply) => Ok(read(&reply)),
        Err(LlmError::Cancelled) => Err(llm_failure(&LlmError::Cancelled)),
        Err(error) => {
            host.note(Level::Info, &format!("no keywords from the model: {}", llm_words(&error)));
            Ok(Vec::new())
        }
    }
}

fn request(problem: &Problem) -> Request {
    let instructions = format!(
        "You name what a question over an SQL database is about, so that its tables and columns \
         can be looked up.\n\
         - Give at most {KEYWORDS} keywords and key phrases: things, properties of theirs, and \
         names or values that may stand in cells.\n\
         - Where the question uses everyday words, add the words that a schema would likely use.\n\
         Answer with JSON alone: {{\"keywords\":[\"…\"]}}"
    );
    // The temperature is that of CHESS.
    Ask::new(Purpose::Link)
        .system(instructions)
        .user(prompt::problem(problem))
        .temperature(0.2)
        .json(&schema())
}

fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "narrow-keywords",
        "type": "object",
        "properties": { "keywords": { "type": "array", "items": { "type": "string" } } },
        "required": ["keywords"]
    })
}

fn read(reply: &Reply) -> Vec<String> {
    let parsed = reply.parsed.as_deref().unwrap_or(&reply.text);
    let Ok(document) = serde_json::from_str::<Value>(parsed) else { return Vec::new() };
    let words = document["keywords"].as_array().into_iter().flatten().filter_map(Value::as_str);
    words.map(|word| line(word, 80)).filter(|word| !word.is_empty()).take(KEYWORDS).collect()
}
