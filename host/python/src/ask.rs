//! The user, whom a function of the program asks.

use std::sync::Arc;

use async_trait::async_trait;
use pyo3::prelude::*;
use syrch::Ask;
use syrch::syrch_core::Question;

/// Puts a question to a Python function, with the text and the choices. It returns the answer, or
/// `None`.
pub(crate) struct Asked(pub(crate) Arc<Py<PyAny>>);

#[async_trait]
impl Ask for Asked {
    async fn ask(&self, question: &Question) -> Option<String> {
        let function = Arc::clone(&self.0);
        let text = question.text.clone();
        let choices = question.choices.clone();
        let asked = tokio::task::spawn_blocking(move || {
            Python::try_attach(|py| {
                let answer = function.bind(py).call1((text, choices));
                match answer.and_then(|answer| answer.extract::<Option<String>>()) {
                    Ok(answer) => answer,
                    Err(error) => {
                        error.write_unraisable(py, Some(function.bind(py)));
                        None
                    }
                }
            })
        });
        asked.await.ok()??
    }
}
