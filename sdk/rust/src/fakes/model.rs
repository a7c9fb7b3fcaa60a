//! A model with the replies of a test's script.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

use crate::bindings::llm::{LlmError, Purpose, Reply, Request, Usage};

/// Replies by purpose, each used once and in order; a purpose without a reply left is
/// `unsupported`, as of a provider without a model.
#[derive(Debug, Default)]
pub struct FakeModel {
    /// The names that `models` returns.
    pub names: Vec<String>,
    script: RefCell<BTreeMap<String, VecDeque<Result<Reply, LlmError>>>>,
    asked: RefCell<Vec<Request>>,
}

/// A reply with that text and that parsed document, of ten tokens.
#[must_use]
pub fn reply(text: &str, parsed: Option<&Value>) -> Reply {
    Reply {
        text: text.to_owned(),
        parsed: parsed.map(Value::to_string),
        truncated: false,
        logprob: None,
        usage: Usage {
            input_tokens: 6,
            output_tokens: 4,
            cost_micros: None,
            model: "fake".to_owned(),
        },
    }
}

impl FakeModel {
    /// The next answer for that purpose.
    pub fn script(&mut self, purpose: &Purpose, answer: Result<Reply, LlmError>) -> &mut Self {
        self.script.get_mut().entry(name(purpose)).or_default().push_back(answer);
        self
    }

    /// The next reply to `plan`.
    pub fn reply_plan(&mut self, plan: &Value) -> &mut Self {
        self.script(&Purpose::Plan, Ok(reply(&plan.to_string(), Some(plan))))
    }

    /// The next statement: the first for `generate`, all later ones for `repair`, as refining
    /// solvers ask.
    pub fn reply_sql(&mut self, sql: &str, confidence: Option<f64>) -> &mut Self {
        let answer = reply(sql, Some(&json!({ "sql": sql, "confidence": confidence })));
        let first = !self.script.get_mut().contains_key(&name(&Purpose::Generate));
        self.script(if first { &Purpose::Generate } else { &Purpose::Repair }, Ok(answer))
    }

    /// The next reply in plain text.
    pub fn reply_text(&mut self, purpose: &Purpose, text: &str) -> &mut Self {
        self.script(purpose, Ok(reply(text, None)))
    }

    /// The requests so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.asked.borrow().clone()
    }

    /// The whole text of one request's messages.
    #[must_use]
    pub fn prompt(&self, index: usize) -> String {
        let asked = self.asked.borrow();
        asked.get(index).map_or_else(String::new, |request| {
            request
                .messages
                .iter()
                .map(|message| message.text.as_str())
                .collect::<Vec<_>>()
                .join("\n")
        })
    }

    pub(super) fn answer(&self, request: &Request) -> Result<Reply, LlmError> {
        self.asked.borrow_mut().push(request.clone());
        let next =
            self.script.borrow_mut().get_mut(&name(&request.purpose)).and_then(VecDeque::pop_front);
        next.unwrap_or_else(|| Err(LlmError::Unsupported("nothing scripted".to_owned())))
    }
}

fn name(purpose: &Purpose) -> String {
    format!("{purpose:?}")
}
