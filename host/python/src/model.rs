//! A model that is a function of the program: it gets the messages of a prompt and returns a text.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use syrch::syrch_core::Limits;
use syrch::syrch_core::ports::{
    Estimate, LlmError, Message, ModelCall, ModelOutcome, ModelProvider, Reply, Request, Retry,
    Shape, Speaker, Usage,
};
use syrch::{Error, Settings};
use syrch_replies::shape;
use syrch_replies::size::{output_tokens, prompt_tokens};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::causes::Causes;
use crate::failure;

/// The bytes of a reply that count as one token.
const BYTES_PER_TOKEN: usize = 3;

/// A function of the program as a model provider.
pub(crate) struct PythonModel {
    function: Arc<Py<PyAny>>,
    name: String,
    max_tokens: u32,
    timeout: Duration,
    limits: Limits,
    causes: Causes,
    /// Bounds the calls whose thread has not ended, also after their time was over.
    places: Arc<Semaphore>,
}

impl PythonModel {
    /// Wraps a function, whose name is that of the model. `causes` retains what it raises.
    ///
    /// # Errors
    /// When it cannot be called.
    pub(crate) async fn open(
        function: Py<PyAny>,
        settings: &Settings,
        causes: Causes,
    ) -> Result<Self, Error> {
        let named = tokio::task::spawn_blocking(move || {
            Python::try_attach(|py| {
                let bound = function.bind(py);
                let name = bound.getattr("__name__").and_then(|name| name.extract::<String>());
                (bound.is_callable(), name.unwrap_or_else(|_| "python".to_owned()), function)
            })
        });
        let Ok(Some((true, name, function))) = named.await else {
            let message = "a model is a function of the messages that returns the reply";
            return Err(Error::Config(message.to_owned()));
        };
        let limits = settings.limits.clone();
        Ok(Self {
            function: Arc::new(function),
            name,
            max_tokens: settings.model.max_tokens,
            timeout: settings.model.timeout,
            places: Arc::new(Semaphore::new(limits.llm_in_flight.max(1))),
            limits,
            causes,
        })
    }

    fn admit(&self, request: &Request) -> Result<(), LlmError> {
        if request.prompt_bytes() > self.limits.prompt_bytes {
            return Err(LlmError::TooLarge);
        }
        shape::accept(&request.expect, &self.limits)
    }

    /// The text that the function returns, or why there is none.
    async fn call(&self, request: &Request) -> Result<String, LlmError> {
        let place = Arc::clone(&self.places).acquire_owned().await;
        let place = place.map_err(|error| LlmError::Other(error.to_string()))?;
        let function = Arc::clone(&self.function);
        let messages = messages(request);
        let causes = self.causes.clone();
        let called =
            tokio::task::spawn_blocking(move || call(&function, &messages, place, &causes));
        match tokio::time::timeout(self.timeout, called).await {
            Ok(Ok(reply)) => reply,
            Ok(Err(error)) => Err(LlmError::Unavailable(error.to_string())),
            Err(_) => {
                let seconds = self.timeout.as_secs_f64();
                Err(LlmError::Unavailable(format!("the function did not return in {seconds} s")))
            }
        }
    }
}

/// The messages of a request. Nothing but words tells a function the schema of a document.
fn messages(request: &Request) -> Vec<Message> {
    let mut messages = request.messages.clone();
    if let (Shape::Json(schema), Some(last)) = (&request.expect, messages.last_mut()) {
        last.text.push_str(
            "\n\nReply with one JSON document that matches this JSON schema, and with nothing \
             else:\n",
        );
        last.text.push_str(schema);
    }
    messages
}

/// Calls the function on this thread. The place is free again when it has returned.
fn call(
    function: &Py<PyAny>,
    messages: &[Message],
    place: OwnedSemaphorePermit,
    causes: &Causes,
) -> Result<String, LlmError> {
    let replied = Python::try_attach(|py| {
        let list = PyList::empty(py);
        let called = messages.iter().try_for_each(|message| {
            let dict = PyDict::new(py);
            dict.set_item("role", role(message.speaker))?;
            dict.set_item("content", &message.text)?;
            list.append(dict)
        });
        let replied = called.and_then(|()| function.bind(py).call1((list,)));
        let replied = replied
            .map_err(|error| LlmError::Unavailable(failure::describe(py, &error, causes)))?;
        replied.extract::<String>().map_err(|_| {
            let kind = replied.get_type().name();
            let kind = kind.map(|name| name.to_string()).unwrap_or_default();
            LlmError::Unavailable(format!("the function returned a {kind}, not a str"))
        })
    });
    drop(place);
    replied.unwrap_or(Err(LlmError::Cancelled))
}

fn role(speaker: Speaker) -> &'static str {
    match speaker {
        Speaker::System => "system",
        Speaker::User => "user",
        Speaker::Assistant => "assistant",
    }
}

#[async_trait]
impl ModelProvider for PythonModel {
    fn name(&self) -> &str {
        "python"
    }

    fn models(&self) -> Vec<String> {
        vec![self.name.clone()]
    }

    fn estimate(&self, call: &ModelCall) -> Estimate {
        Estimate {
            input_tokens: prompt_tokens(&call.request),
            output_tokens: u64::from(output_tokens(&call.request, self.max_tokens)),
            cost_micros: None,
        }
    }

    async fn complete(&self, call: &ModelCall) -> ModelOutcome {
        let request = &call.request;
        let admitted = match shape::prepare(&request.expect, &self.limits).await {
            Ok(()) => self.admit(request),
            Err(error) => Err(error),
        };
        if let Err(error) = admitted {
            return ModelOutcome::unsent(error);
        }
        let text = match self.call(request).await {
            Ok(text) => text,
            // The function may have paid for a call of its own.
            Err(error) => return ModelOutcome::sent(Err(error), None).retry(Retry::Yes),
        };
        let usage = Usage {
            input_tokens: u32::try_from(prompt_tokens(request)).unwrap_or(u32::MAX),
            output_tokens: u32::try_from(text.len().div_ceil(BYTES_PER_TOKEN)).unwrap_or(u32::MAX),
            model: self.name.clone(),
            is_estimate: true,
            ..Usage::default()
        };
        if text.len() > self.limits.reply_bytes {
            return ModelOutcome::sent(Err(LlmError::TooLarge), Some(usage));
        }
        let parsed = shape::parse(&text, &request.expect, &self.limits);
        let reply = parsed.map(|parsed| Reply {
            text,
            parsed,
            truncated: false,
            logprob: None,
            usage: usage.clone(),
        });
        ModelOutcome::sent(reply, Some(usage))
    }
}
