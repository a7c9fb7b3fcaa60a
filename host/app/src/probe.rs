//! Measures a model endpoint by a few short calls: its speed, how many calls it serves at once, and
//! whether it obeys a JSON schema.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::join_all;
use serde_json::json;
use syrch_core::ports::{
    LlmError, Message, ModelCall, ModelProvider, Purpose, Request, Shape, Speaker,
};
use syrch_core::{Catalog, Dialect, Problem};
use syrch_layers::{RetriedModel, Retries};
use syrch_llm::EndpointConfig;

use crate::error::Outage;
use crate::{Error, Settings};

/// Output tokens of a measured call.
const TOKENS: u32 = 64;
/// The calls that are sent at once.
const AT_ONCE: u32 = 4;

/// The measurements of an endpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    /// Tokens of a reply in a second, the time for the prompt included; `None` if the replies were
    /// empty.
    pub tokens_per_second: Option<f64>,
    /// The time of one measured call.
    pub call: Duration,
    /// The number of calls that are served at once, of the four that were tried: 1 to 4.
    pub slots: u32,
    /// The endpoint's support for JSON schemas.
    pub schema: SchemaSupport,
}

/// An endpoint's support for a JSON schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaSupport {
    /// Its replies match the schema, whatever the prompt asks for.
    Obeyed,
    /// It takes the schema, and its replies do not match it.
    Ignored,
    /// It does not take one: the host describes the schema in the prompt.
    Refused,
    /// Its reply was cut off before it could be seen, as that of a model which thinks.
    Unknown,
}

/// Measures the default endpoint of the settings by seven calls of at most 64 tokens each.
///
/// # Errors
/// When there is no endpoint, or it does not answer.
pub async fn probe_endpoint(settings: &Settings) -> Result<Probe, Error> {
    let model = &settings.model;
    let known = model.provider.endpoint();
    let known = known.ok_or_else(|| {
        Error::Config("the offline rules answer: there is no endpoint to probe".to_owned())
    })?;
    let config = EndpointConfig {
        api_key: model.api_key.clone(),
        insecure: model.insecure_endpoint,
        temperature: Some(0.0),
        max_tokens: TOKENS,
        timeout: model.timeout,
        limits: settings.limits.clone(),
        ..EndpointConfig::new(&model.base_url, &model.model)
    };
    let client = (known.clients.open)(config).map_err(|error| Error::Config(error.to_string()))?;
    let retries =
        Retries { attempts: model.attempts, patience: model.max_retry_wait, ..Retries::default() };
    let client: Arc<dyn ModelProvider> = Arc::new(RetriedModel::new(client, retries));
    measure(client.as_ref())
        .await
        .map_err(|error| Outage::from_error(&error).into_error(&model.model))
}

async fn measure(client: &dyn ModelProvider) -> Result<Probe, LlmError> {
    // The first call may wait until the model is loaded.
    count(client, 1).await?;
    let began = Instant::now();
    let tokens = count(client, 2).await?;
    let call = began.elapsed();
    let began = Instant::now();
    let ended = join_all((0..AT_ONCE).map(|at| count(client, 3 + at))).await;
    let all = began.elapsed();
    let seconds = call.as_secs_f64().max(1e-6);
    let served = f64::from(AT_ONCE) * seconds / all.as_secs_f64().max(1e-6);
    let slots = if ended.iter().all(Result::is_ok) {
        served.round().clamp(1.0, f64::from(AT_ONCE)) as u32
    } else {
        1
    };
    Ok(Probe {
        tokens_per_second: (tokens > 0).then(|| f64::from(tokens) / seconds),
        call,
        slots,
        schema: obey(client).await?,
    })
}

/// Lets the model count from a number on. Returns the tokens of its reply.
async fn count(client: &dyn ModelProvider, from: u32) -> Result<u32, LlmError> {
    let prompt = format!(
        "Count from {from} to 200. Write the numbers with commas between them and nothing else."
    );
    let outcome = client.complete(&call(prompt, Shape::Text)).await;
    match outcome.result {
        // What a model thinks takes the time of its tokens, too.
        Ok(_) | Err(LlmError::Malformed(_) | LlmError::Cut { .. }) => {
            Ok(outcome.usage.map_or(0, |usage| usage.output_tokens))
        }
        Err(error) => Err(error),
    }
}

/// Asks for something that the schema does not allow.
async fn obey(client: &dyn ModelProvider) -> Result<SchemaSupport, LlmError> {
    let schema = json!({
        "type": "object",
        "required": ["colour"],
        "additionalProperties": false,
        "properties": {"colour": {"type": "string", "enum": ["teal"]}},
    });
    let call = call(
        "What is the colour of snow? Answer in one word.".to_owned(),
        Shape::Json(schema.to_string()),
    );
    let outcome = client.complete(&call).await;
    let format =
        client.preview(&call).map(|preview| preview.body["response_format"]["type"].clone());
    let is_taken = format.is_some_and(|format| format == "json_schema");
    match outcome.result {
        _ if !is_taken => Ok(SchemaSupport::Refused),
        Ok(_) => Ok(SchemaSupport::Obeyed),
        Err(LlmError::Malformed(_)) => Ok(SchemaSupport::Ignored),
        Err(LlmError::Cut { .. }) => Ok(SchemaSupport::Unknown),
        Err(error) => Err(error),
    }
}

fn call(prompt: String, expect: Shape) -> ModelCall {
    let messages = vec![Message { speaker: Speaker::User, text: prompt }];
    let request = Request {
        max_tokens: Some(TOKENS),
        ..Request::new(Purpose::Other("probe".to_owned()), messages, expect)
    };
    let catalog = Catalog { database: String::new(), dialect: Dialect::Sqlite, tables: Vec::new() };
    ModelCall {
        request,
        problem: Arc::new(Problem::default()),
        task: None,
        catalog: Arc::new(catalog),
    }
}
