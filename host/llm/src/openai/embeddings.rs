//! Embeddings as OpenAI documents them and Ollama, vLLM, llama.cpp and LM Studio implement them.

use serde_json::{Value, json};
use syrch_core::ports::{LlmError, Request, Shape};
use syrch_core::{Json, Limits, encode};

use super::OpenAi;
use crate::http::{Answer, HttpProvider, Protocol, Settings, values};

/// Numbers of one vector at most.
const DIMENSIONS: usize = 8_192;

/// The provider of one model for embeddings: a vector of length 1 for each message of a request.
pub type EmbeddingsProvider = HttpProvider<Embeddings>;

/// The protocol of embeddings.
#[derive(Debug, Clone, Copy)]
pub struct Embeddings;

impl Protocol for Embeddings {
    const NAME: &'static str = "openai";
    const REPLY: &'static str = "embeddings";
    const OPTIONAL: &'static [&'static str] = &[];

    /// The base URL is that of chat completions.
    fn address(base: &str) -> (String, String) {
        let (_, base) = OpenAi::address(base.trim_end_matches('/').trim_end_matches("/embeddings"));
        (format!("{base}/embeddings"), base)
    }

    fn key(key: &str) -> (&'static str, String) {
        OpenAi::key(key)
    }

    fn accept(expect: &Shape, _: &Limits) -> Result<(), LlmError> {
        match expect {
            Shape::Vectors => Ok(()),
            _ => Err(LlmError::Unsupported("a model for embeddings answers nothing else".into())),
        }
    }

    fn parse(_: &str, _: &Shape, _: &Limits) -> Result<Option<Json>, LlmError> {
        Ok(None)
    }

    fn parse_cut(_: &str, _: &Shape, _: &Limits, _: u32) -> Result<Option<Json>, LlmError> {
        Ok(None)
    }

    fn body(request: &Request, settings: &Settings<'_>) -> Value {
        let texts: Vec<&str> =
            request.messages.iter().map(|message| message.text.as_str()).collect();
        json!({ "model": settings.model, "input": texts, "encoding_format": "float" })
    }

    fn answer(body: &Value, model: &str) -> Option<Answer> {
        let mut data: Vec<(u64, Vec<f32>)> = body
            .get("data")?
            .as_array()?
            .iter()
            .enumerate()
            .map(|(place, each)| {
                let index = each.get("index").and_then(Value::as_u64).unwrap_or(place as u64);
                Some((index, unit(each.get("embedding")?.as_array()?)?))
            })
            .collect::<Option<_>>()?;
        data.sort_by_key(|(index, _)| *index);
        let vectors: Vec<Vec<f32>> = data.into_iter().map(|(_, vector)| vector).collect();
        let length = vectors.first()?.len();
        if vectors.iter().any(|vector| vector.len() != length) {
            return None;
        }
        let tokens =
            body.get("usage").and_then(|usage| usage.get("prompt_tokens")).and_then(values::count);
        let usage = values::usage(body, tokens, None, model);
        Some(Answer { text: encode::vectors(&vectors), usage, ..Answer::default() })
    }
}

/// The vector scaled to length 1; `None` if it is empty, too long, zero or not of numbers.
fn unit(numbers: &[Value]) -> Option<Vec<f32>> {
    if numbers.is_empty() || numbers.len() > DIMENSIONS {
        return None;
    }
    let numbers: Vec<f64> = numbers.iter().map(Value::as_f64).collect::<Option<_>>()?;
    let length = numbers.iter().map(|number| number * number).sum::<f64>().sqrt();
    (length.is_finite() && length > 0.0)
        .then(|| numbers.iter().map(|number| (number / length) as f32).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_in_order_and_of_length_one() {
        let body = json!({
            "data": [{"index": 1, "embedding": [0, 2.0]}, {"index": 0, "embedding": [3.0, 4.0]}],
            "model": "e", "usage": {"prompt_tokens": 7, "total_tokens": 7}
        });
        let answer = Embeddings::answer(&body, "m").unwrap();
        assert_eq!(encode::vectors_of(&answer.text), Some(vec![vec![0.6, 0.8], vec![0.0, 1.0]]));
        assert_eq!(
            answer.usage.map(|usage| (usage.input_tokens, usage.output_tokens)),
            Some((7, 0))
        );
    }

    #[test]
    fn what_is_no_vector_is_no_answer() {
        let wrong = [
            json!({}),
            json!({"data": []}),
            json!({"data": [{"embedding": []}]}),
            json!({"data": [{"embedding": [0.0, 0.0]}]}),
            json!({"data": [{"embedding": ["1"]}]}),
            json!({"data": [{"embedding": [1e308, 1e308]}]}),
            json!({"data": [{"embedding": [1.0]}, {"embedding": [1.0, 2.0]}]}),
            json!({"data": [{"embedding": vec![1.0; DIMENSIONS + 1]}]}),
        ];
        for body in wrong {
            assert_eq!(Embeddings::answer(&body, "m"), None, "{body}");
        }
    }

    #[test]
    fn the_address_stands_beside_that_of_chat_completions() {
        for base in [
            "http://h/v1",
            "http://h/v1/",
            "http://h/v1/chat/completions",
            "http://h/v1/embeddings",
        ] {
            assert_eq!(
                Embeddings::address(base),
                ("http://h/v1/embeddings".to_owned(), "http://h/v1".to_owned())
            );
        }
    }
}
