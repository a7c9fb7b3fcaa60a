//! The user, whom a function of the program asks.

use std::sync::Arc;

use async_trait::async_trait;
use pyo3::prelude::*;
use syrch::Ask;
use syrch::syrch_core::Question;

use crate::causes::Causes;

/// Puts a question to a Python function, with the text and the choices. It returns the answer, or
/// `None`; what it raises counts as `None`, and is the cause of the error that follows.
pub(crate) struct AskFunction {
    pub(crate) function: Arc<Py<PyAny>>,
    pub(crate) causes: Causes,
}

#[async_trait]
impl Ask for AskFunction {
    async fn ask(&self, question: &Question) -> Option<String> {
        let function = Arc::clone(&self.function);
        let causes = self.causes.clone();
        let text = question.text.clone();
        let choices = question.choices.clone();
        let asked = tokio::task::spawn_blocking(move || {
            Python::try_attach(|py| {
                let answer = function.bind(py).call1((text, choices));
                match answer.and_then(|answer| answer.extract::<Option<String>>()) {
                    Ok(answer) => answer,
                    Err(error) => {
                        causes.retain(py, "", &error);
                        None
                    }
                }
            })
        });
        asked.await.ok()??
    }
}
