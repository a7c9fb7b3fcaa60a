//! The scripts by which the mock endpoint chooses its replies, and the record that it makes of each
//! request.

mod faults;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use self::faults::Faults;
use crate::Reply;
use crate::reply::anthropic;

/// A request as it arrived.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// The path, such as `/v1/chat/completions`.
    pub path: String,
    /// The headers, with names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body; null when it is not JSON.
    pub body: Value,
}

impl Recorded {
    /// The texts of all messages, or the texts to embed, joined by line breaks, after the system
    /// prompt where that is a field of its own.
    #[must_use]
    pub fn prompt(&self) -> String {
        if let Some(texts) = self.body["input"].as_array() {
            return texts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n");
        }
        let messages = self.body["messages"].as_array().cloned().unwrap_or_default();
        let texts = messages.iter().filter_map(|message| message["content"].as_str());
        self.body["system"].as_str().into_iter().chain(texts).collect::<Vec<_>>().join("\n")
    }

    /// Returns true if the request is one of Anthropic's Messages API rather than of chat
    /// completions.
    #[must_use]
    pub fn is_messages(&self) -> bool {
        self.path.ends_with("/messages")
    }

    /// The value of the `Authorization` header.
    #[must_use]
    pub fn authorization(&self) -> Option<&str> {
        self.headers.get("authorization").map(String::as_str)
    }
}

type Choose = Arc<dyn Fn(&Recorded, usize) -> Option<Reply> + Send + Sync>;

enum Rule {
    /// Applies when all these words occur in the prompt, letter case aside, at most that many
    /// times.
    Words(Vec<String>, Box<Reply>, usize),
    /// Applies when the closure returns a reply.
    Closure(Choose),
}

/// The replies of the endpoint, and the features that it lacks. Rules are tried in the order in
/// which they were added; the first that applies answers. A request that no rule applies to gets
/// status 418 and the prompt's beginning, so that a test shows what is missing.
#[derive(Default)]
pub struct Script {
    rules: Vec<Rule>,
    key: Option<String>,
    without_json_schema: bool,
    without_json_object: bool,
    wants_completion_tokens: bool,
    refused: Vec<String>,
    faults: Faults,
}

impl Script {
    /// A script without rules.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A script that answers every request with this reply.
    #[must_use]
    pub fn always(reply: Reply) -> Self {
        Self::new().on([""], reply)
    }

    /// Answers with this reply when all these words occur in the prompt, letter case aside.
    #[must_use]
    pub fn on<const N: usize>(self, words: [&str; N], reply: Reply) -> Self {
        self.times(usize::MAX, words, reply)
    }

    /// As [`Script::on`], but only for the first such request; later rules apply to the next ones.
    #[must_use]
    pub fn once<const N: usize>(self, words: [&str; N], reply: Reply) -> Self {
        self.times(1, words, reply)
    }

    /// As [`Script::on`], but only for that many requests.
    #[must_use]
    pub fn times<const N: usize>(mut self, most: usize, words: [&str; N], reply: Reply) -> Self {
        let words = words.map(str::to_lowercase).to_vec();
        self.rules.push(Rule::Words(words, Box::new(reply), most));
        self
    }

    /// Calls the closure with the request and the number of requests before it; if it returns
    /// `None`, later rules are tried.
    #[must_use]
    pub fn with(
        mut self,
        choose: impl Fn(&Recorded, usize) -> Option<Reply> + Send + Sync + 'static,
    ) -> Self {
        self.rules.push(Rule::Closure(Arc::new(choose)));
        self
    }

    /// Answers 401 to requests without `Authorization: Bearer KEY` (or `x-api-key: KEY`, where the
    /// protocol wants that); the error quotes the key that was sent, as some endpoints do.
    #[must_use]
    pub fn requires_key(mut self, key: &str) -> Self {
        self.key = Some(key.to_owned());
        self
    }

    /// Answers 400 to a `response_format` of the type `json_schema`.
    #[must_use]
    pub fn without_json_schema(mut self) -> Self {
        self.without_json_schema = true;
        self
    }

    /// Answers 400 to any `response_format`.
    #[must_use]
    pub fn without_response_format(mut self) -> Self {
        self.without_json_object = true;
        self.without_json_schema = true;
        self
    }

    /// Answers 400 to `max_tokens`, as newer models do.
    #[must_use]
    pub fn wants_completion_tokens(mut self) -> Self {
        self.wants_completion_tokens = true;
        self
    }

    /// Answers 400 to requests with this parameter.
    #[must_use]
    pub fn refuses(mut self, parameter: &str) -> Self {
        self.refused.push(parameter.to_owned());
        self
    }

    /// Refuses prompts that have, at four bytes a token and with the output tokens that are asked
    /// for, more tokens than this, as vLLM does.
    #[must_use]
    pub fn context(mut self, tokens: u64) -> Self {
        self.faults.context = Some(tokens);
        self
    }

    /// Refuses prompts of more tokens than this, as llama.cpp does.
    #[must_use]
    pub fn context_of_llama(mut self, tokens: u64) -> Self {
        self.faults.context_of_llama = true;
        self.context(tokens)
    }

    /// Answers 400 to requests for more output tokens.
    #[must_use]
    pub fn allows_tokens(mut self, most: u64) -> Self {
        self.faults.most_tokens = Some(most);
        self
    }

    /// Answers 400 to requests without `stream`, and others by streams.
    #[must_use]
    pub fn only_streams(mut self) -> Self {
        self.faults.only_streams = true;
        self
    }

    /// Answers 500 to system prompts, as templates of some models do.
    #[must_use]
    pub fn without_system_role(mut self) -> Self {
        self.faults.without_system = true;
        self
    }

    /// Answers 503 to that many requests, since its model is not loaded yet.
    #[must_use]
    pub fn loads_for(mut self, requests: usize) -> Self {
        self.faults.loading = requests;
        self
    }

    /// The error for a feature that the endpoint lacks.
    fn objection(&mut self, request: &Recorded) -> Option<Reply> {
        if let Some(key) = &self.key {
            let (header, expected) = if request.is_messages() {
                ("x-api-key", key.clone())
            } else {
                ("authorization", format!("Bearer {key}"))
            };
            let sent = request.headers.get(header).map_or("nothing", String::as_str);
            if sent != expected {
                return Some(Reply::status(401, &format!("Incorrect API key provided: {sent}")));
            }
        }
        if let Some(objection) = anthropic::objection(request) {
            return Some(Reply::status(400, &objection));
        }
        fn has(request: &Recorded, name: &str) -> bool {
            request.body.get(name).is_some()
        }
        let format = request.body["response_format"]["type"].as_str().unwrap_or_default();
        if self.without_json_schema && format == "json_schema" {
            return Some(Reply::status(
                400,
                "'response_format.type' must be 'json_object' or 'text'",
            ));
        }
        if self.without_json_object && has(request, "response_format") {
            return Some(Reply::status(
                400,
                "Unrecognized request argument supplied: response_format",
            ));
        }
        if self.wants_completion_tokens && has(request, "max_tokens") {
            let text = "Unsupported parameter: 'max_tokens' is not supported with this model. \
                        Use 'max_completion_tokens' instead.";
            return Some(Reply::status(400, text));
        }
        let Some(refused) = self.refused.iter().find(|name| has(request, name)) else {
            return self.faults.objection(request);
        };
        Some(Reply::status(
            400,
            &format!("Unsupported value: '{refused}' is not supported with this model."),
        ))
    }

    /// The reply to a request after `before` others.
    pub(crate) fn answer(&mut self, request: &Recorded, before: usize) -> Reply {
        if let Some(objection) = self.objection(request) {
            return objection;
        }
        let prompt = request.prompt();
        let lower = prompt.to_lowercase();
        let fits = |rule: &mut Rule| match rule {
            Rule::Words(_, _, 0) => None,
            Rule::Words(words, reply, left) => {
                words.iter().all(|word| lower.contains(word.as_str())).then(|| {
                    *left = left.saturating_sub(1);
                    reply.as_ref().clone()
                })
            }
            Rule::Closure(choose) => choose(request, before),
        };
        let begins: String = prompt.chars().take(300).collect();
        let reply = self.rules.iter_mut().find_map(fits);
        let reply = reply.unwrap_or_else(|| Reply::status(418, &format!("no rule fits: {begins}")));
        if self.faults.only_streams { reply.into_stream() } else { reply }
    }
}
