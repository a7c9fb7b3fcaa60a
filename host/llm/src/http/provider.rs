//! The provider of one endpoint, whatever its protocol.

use std::fmt;
use std::marker::PhantomData;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use syrch_core::Json;
use syrch_core::ports::{
    Estimate, LlmError, ModelCall, ModelOutcome, ModelProvider, Preview, Reply, Request, Retry,
    Shape, SqlReply, Usage,
};
use syrch_replies::shape;
use syrch_replies::size::{output_tokens, prompt_tokens};

use super::cause::Cause;
use super::endpoint::{Body, Endpoint, Failure};
use super::quirks::Learnt;
use super::status::Said;
use super::values;
use super::{
    Answer, EndpointConfig, EndpointError, Protocol, Quirks, Settings, Stopped, Structured,
    StructuredReplies,
};

/// Tokens that a chat template adds to each message, and once more.
const TEMPLATE_TOKENS: u64 = 8;
/// The fewest output tokens with which a request is worth making again after it did not fit into a
/// context.
const LEAST_OUTPUT: u32 = 64;
/// The output tokens with which it is made again where nothing says how many fit.
const LITTLE_OUTPUT: u32 = 256;

/// The keys that only a reply of the protocol has, be it a broken one.
const PARTS: [&str; 4] = ["choices", "content", "message", "data"];

/// The provider of one endpoint. Each call makes one request. If the endpoint refuses its form, the
/// provider remembers that and returns a delay of zero ([`Retry::After`]), and the next request of
/// the call is made in a simpler form.
pub struct HttpProvider<P> {
    config: EndpointConfig,
    endpoint: Endpoint,
    learnt: Mutex<Learnt>,
    protocol: PhantomData<P>,
}

impl<P: Protocol> fmt::Debug for HttpProvider<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(P::NAME).field("config", &self.config).finish_non_exhaustive()
    }
}

impl<P: Protocol> HttpProvider<P> {
    /// A provider for the endpoint; nothing is sent before the first call.
    ///
    /// # Errors
    /// When no request can succeed with the configuration.
    pub fn new(config: EndpointConfig) -> Result<Self, EndpointError> {
        config.check()?;
        let endpoint = Endpoint::new::<P>(&config)?;
        Ok(Self { config, endpoint, learnt: Mutex::default(), protocol: PhantomData })
    }

    /// The model of a request, or why the request is not sent.
    fn admit<'a>(&'a self, request: &'a Request) -> Result<&'a str, LlmError> {
        let model = request.model.as_deref().unwrap_or(&self.config.model);
        if !self.config.names().iter().any(|name| name == model) {
            return Err(LlmError::Denied(format!("the model `{model}` is not configured")));
        }
        if request.messages.is_empty() {
            return Err(LlmError::Other("the request has no message".into()));
        }
        if request.prompt_bytes() > self.config.limits.prompt_bytes {
            return Err(LlmError::TooLarge);
        }
        P::accept(&request.expect, &self.config.limits)?;
        Ok(model)
    }

    /// The body of a request to that model, without what the endpoint has refused.
    fn body(&self, request: &Request, model: &str, quirks: &Quirks) -> Value {
        let max_tokens = self.output_tokens(request, model, quirks);
        P::body(
            request,
            &Settings { model, temperature: self.config.temperature, max_tokens, quirks },
        )
    }

    /// Output tokens of a request: what it asks for, else what its shape needs, or all that the
    /// user allows for a model that thinks. Never more than the user and the endpoint allow.
    fn output_tokens(&self, request: &Request, model: &str, quirks: &Quirks) -> u32 {
        let most = quirks
            .most_tokens
            .map_or(self.config.max_tokens, |most| most.min(self.config.max_tokens));
        let known = self.lock_learnt().tokens(model, request);
        let tokens = match (request.max_tokens, known) {
            (Some(asked), Some(known)) => asked.min(known),
            (Some(tokens), None) | (None, Some(tokens)) => tokens,
            // Models that call the limit by its newer name think.
            (None, None) if quirks.thinks || quirks.completion_tokens => most,
            (None, None) => output_tokens(request, most),
        };
        tokens.clamp(1, most.max(1))
    }

    fn lock_learnt(&self) -> MutexGuard<'_, Learnt> {
        self.learnt.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The form of a request, from what the endpoint has refused and what the user wants.
    fn request_form(&self, request: &Request, model: &str) -> Quirks {
        let mut quirks = self.lock_learnt().quirks(model, &request.expect);
        match self.config.structured {
            StructuredReplies::Auto => {}
            StructuredReplies::Always => quirks.statements_as_json = true,
            StructuredReplies::Never => quirks.structured = Structured::Prompt,
        }
        quirks.statements_as_json &= P::ENFORCES && quirks.structured != Structured::Prompt;
        quirks
    }

    /// The outcome of an error. The call used nothing; if there is another form, it may be made
    /// again at once.
    fn refusal_outcome(&self, sent: &Sent<'_>, said: &Said) -> ModelOutcome {
        let retry = if self.learn_from_refusal(sent, said) {
            let reason = self.endpoint.quote(&said.text);
            let model = sent.model;
            let base = self.endpoint.base();
            let status = said.status;
            tracing::warn!(
                model, base, %status, %reason, "the request is made again in another form"
            );
            Retry::After(Duration::ZERO)
        } else {
            said.retry
        };
        let nothing =
            Usage { cost_micros: Some(0), model: sent.model.to_owned(), ..Usage::default() };
        ModelOutcome::sent(Err(self.endpoint.refusal_error(said, sent.model)), Some(nothing))
            .retry(retry)
    }

    /// Finds another form of a request that was refused, and remembers it; returns false if there
    /// is none.
    fn learn_from_refusal(&self, sent: &Sent<'_>, said: &Said) -> bool {
        let Sent { request, model, quirks, max_tokens, .. } = sent;
        let fewer = match said.cause {
            Cause::Context(Some(tokens)) => Some(tokens).filter(|tokens| *tokens >= LEAST_OUTPUT),
            Cause::Context(None) => Some(LITTLE_OUTPUT),
            _ => None,
        };
        if let Some(fewer) = fewer.filter(|fewer| fewer < max_tokens) {
            self.lock_learnt().set_tokens(model, request, fewer);
            return true;
        }
        let is_of_form = matches!(
            said.cause,
            Cause::Unloadable | Cause::Loading | Cause::Model | Cause::Busy | Cause::Other
        );
        if !is_of_form {
            return false;
        }
        if let Some(allowed) = said.token_limit(*max_tokens) {
            self.lock_learnt()
                .set(model, &Quirks { most_tokens: Some(allowed), ..Quirks::default() });
            return true;
        }
        let simpler = quirks.next_form(said.status.as_u16(), &said.words, &sent.body, P::OPTIONAL);
        if let Some(quirks) = &simpler {
            self.lock_learnt().learn_refusal(model, &request.expect, &said.words, quirks);
            return true;
        }
        let is_halved = said.refuses_tokens() && *max_tokens > LEAST_OUTPUT;
        if is_halved {
            let half = Some((max_tokens / 2).max(LEAST_OUTPUT));
            self.lock_learnt().set(model, &Quirks { most_tokens: half, ..Quirks::default() });
        }
        is_halved
    }

    /// Reads the body of a reply.
    fn read(&self, sent: &Sent<'_>, body: &Body) -> ModelOutcome {
        if let Body::Events(events) = body
            && let Some(said) = events.all.iter().find_map(Said::in_reply)
        {
            return self.refusal_outcome(sent, &said);
        }
        let whole;
        let reply = match body {
            Body::Json(reply) => reply,
            Body::Events(events) => {
                if let Some(said) = events.all.iter().find_map(Said::in_reply) {
                    return self.refusal_outcome(sent, &said);
                }
                let joined = P::join_events(&events.all, events.is_ended);
                match joined.filter(|_| !events.is_broken) {
                    Some(body) => {
                        whole = body;
                        &whole
                    }
                    None => {
                        let what = match events.is_broken {
                            true => "its stream of events is damaged",
                            false => "its stream of events has no end",
                        };
                        let error = self.endpoint.cut_short(what);
                        return ModelOutcome::sent(Err(error), None).retry(Retry::Yes);
                    }
                }
            }
        };
        if let Some(said) = Said::in_reply(reply) {
            return self.refusal_outcome(sent, &said);
        }
        let Some(mut answer) = P::answer(reply, sent.model) else {
            let text = self.endpoint.quote(&values::error_text(reply.to_string().as_bytes()));
            let what = format!("it says `{text}`");
            let is_known = PARTS.iter().any(|part| reply.get(part).is_some());
            let error = match is_known {
                true => self.endpoint.protocol_error(&what),
                false => self.endpoint.foreign_reply_error(&what),
            };
            return ModelOutcome::sent(Err(error), None);
        };
        // Some endpoints say that a reply is complete, however it ends.
        let is_full =
            answer.usage.as_ref().is_some_and(|usage| usage.output_tokens >= sent.max_tokens);
        if is_full && answer.stopped == Stopped::Complete {
            answer.stopped = Stopped::Length;
        }
        if sent.request.expect != Shape::Vectors {
            let texts =
                [&mut answer.text, &mut answer.thinking].into_iter().chain(&mut answer.tool_calls);
            texts.for_each(|text| self.endpoint.without_key(text));
        }
        let reported = answer.usage.take().filter(|usage| is_credible(sent, usage));
        let mut usage = reported.unwrap_or_else(|| estimate(sent, &answer));
        // The name of the model is stored and shown, so it must not contain the key.
        usage.model = self.endpoint.scrub(&usage.model);
        let thinks = answer.thought
            || !answer.thinking.trim().is_empty()
            || shape::has_thinking(&answer.text);
        if thinks && !sent.quirks.thinks && sent.request.expect != Shape::Vectors {
            self.lock_learnt().set(sent.model, &Quirks { thinks, ..Quirks::default() });
        }
        let result = match self.reply(sent, &answer, usage.clone()) {
            Err(LlmError::Cut { .. }) if answer.stopped == Stopped::Context => {
                Err(self.endpoint.full_context_error())
            }
            result => result,
        };
        let is_sent_again = !matches!(answer.stopped, Stopped::Broken(_))
            && (self.gets_more(sent, &answer, &result) || self.gets_format(sent, &answer, &result));
        let is_failure = result.is_err()
            && matches!(&answer.stopped, Stopped::Broken(reason)
                if values::is_failure(reason) || values::is_interruption(reason));
        let retry = match is_sent_again {
            true => Retry::After(Duration::ZERO),
            false if is_failure => Retry::Yes,
            false => Retry::No,
        };
        ModelOutcome::sent(result, Some(usage)).retry(retry)
    }

    /// Returns true if a reply that was cut off is asked for once more with all the output tokens
    /// that the user allows: if it was cut off before its answer or in it, rather than in prose. A
    /// limit that a request sets itself stays.
    fn gets_more(
        &self,
        sent: &Sent<'_>,
        answer: &Answer,
        result: &Result<Reply, LlmError>,
    ) -> bool {
        let Sent { request, model, quirks, max_tokens, .. } = sent;
        let most = quirks
            .most_tokens
            .map_or(self.config.max_tokens, |most| most.min(self.config.max_tokens));
        if !matches!(result, Err(LlmError::Cut { .. })) || request.max_tokens.is_some() {
            return false;
        }
        if *max_tokens >= most {
            self.lock_learnt().set(model, &Quirks { rambles: true, ..Quirks::default() });
            return false;
        }
        // A limit that is known came from an earlier try.
        if quirks.rambles || self.lock_learnt().tokens(model, request).is_some() {
            return false;
        }
        let gets_more = !is_prose(answer) && !is_looping(&answer.text);
        if gets_more {
            self.lock_learnt().set_tokens(model, request, most);
        }
        gets_more
    }

    /// Returns true if a reply without the statement that it should hold is asked for once more as
    /// a JSON document, as are all statements of that model from then on.
    fn gets_format(
        &self,
        sent: &Sent<'_>,
        answer: &Answer,
        result: &Result<Reply, LlmError>,
    ) -> bool {
        let Sent { request, model, quirks, .. } = sent;
        let is_shapeless = match result {
            Err(LlmError::Malformed(_)) => true,
            Err(LlmError::Cut { .. }) => is_prose(answer),
            _ => false,
        };
        let can_change = P::ENFORCES
            && self.config.structured == StructuredReplies::Auto
            && quirks.structured != Structured::Prompt
            && !quirks.statements_as_json;
        if !is_shapeless || !can_change || !values::holds_statement(&request.expect) {
            return false;
        }
        tracing::info!(
            model,
            "a reply held no statement that is clearly its answer: statements are requested as \
             JSON documents from now on"
        );
        self.lock_learnt().set(model, &Quirks { statements_as_json: true, ..Quirks::default() });
        true
    }

    /// The answer, checked against the expected shape.
    fn reply(&self, sent: &Sent<'_>, answer: &Answer, usage: Usage) -> Result<Reply, LlmError> {
        let Sent { request, max_tokens, .. } = sent;
        if let Stopped::Refused(reason) = &answer.stopped {
            return Err(LlmError::Refused(self.endpoint.quote(reason)));
        }
        if let Stopped::Broken(reason) = &answer.stopped {
            let is_failure = values::is_failure(reason);
            let whole = self.whole_statement(sent, answer).filter(|_| !is_failure);
            if let Some(parsed) = whole {
                return Ok(Reply {
                    text: answer.text.clone(),
                    parsed: Some(parsed),
                    truncated: false,
                    logprob: answer.logprob,
                    usage,
                });
            }
            let what = format!("its reply ended with `{}`", self.endpoint.quote(reason));
            return Err(match is_failure || values::is_interruption(reason) {
                true => self.endpoint.cut_short(&what),
                false => LlmError::Malformed(format!("(the endpoint broke it off: {what})")),
            });
        }
        let truncated = matches!(answer.stopped, Stopped::Length | Stopped::Context);
        let limits = &self.config.limits;
        let parse = |text: &str| {
            let parsed = match truncated {
                true => P::parse_cut(text, &request.expect, limits, *max_tokens),
                false => P::parse(text, &request.expect, limits),
            };
            parsed.map_err(|error| match error {
                LlmError::TooLarge => self.too_long(&request.expect),
                error => error,
            })
        };
        let from_text = if answer.text.trim().is_empty() {
            Err(self.without_text(answer, *max_tokens))
        } else {
            parse(&answer.text).map(|parsed| (answer.text.clone(), parsed))
        };
        // A model that wants to run the statement itself calls a tool with it.
        let called = answer.tool_calls.join("\n");
        fn lacks_parsed_text(error: &LlmError) -> bool {
            matches!(error, LlmError::Malformed(_) | LlmError::Cut { .. })
        }
        let (text, parsed) = match from_text {
            Err(why)
                if request.expect != Shape::Text
                    && lacks_parsed_text(&why)
                    && !called.trim().is_empty() =>
            {
                let parsed = parse(&called).map_err(|_| why)?;
                (called, parsed)
            }
            Err(why) if lacks_parsed_text(&why) && answer.text.trim().is_empty() && !truncated => {
                let parsed = P::parse(&answer.thinking, &request.expect, limits).ok().flatten();
                let parsed = parsed
                    .filter(|parsed| is_alone(parsed, &answer.thinking, &request.expect))
                    .ok_or(why)?;
                (answer.thinking.clone(), Some(parsed))
            }
            other => other?,
        };
        Ok(Reply { text, parsed, truncated, logprob: answer.logprob, usage })
    }

    /// The statement that is whole in a reply that broke off, with a doubt: what the endpoint did
    /// not send may have changed it.
    fn whole_statement(&self, sent: &Sent<'_>, answer: &Answer) -> Option<Json> {
        let Sent { request, max_tokens, .. } = sent;
        let limits = &self.config.limits;
        let is_sql = request.expect == Shape::Sql;
        let parsed = P::parse_cut(&answer.text, &request.expect, limits, *max_tokens).ok()?;
        let reply = serde_json::from_str::<SqlReply>(&parsed.filter(|_| is_sql)?).ok()?;
        Some(reply.into_doubted().json())
    }

    /// The outcome of a reply that is too long to be read, of which so many bytes were. It used as
    /// many tokens as it was allowed at most, since an endpoint can count no more.
    fn overflow_outcome(&self, sent: &Sent<'_>, bytes: usize) -> ModelOutcome {
        let is_text = sent.request.expect != Shape::Vectors;
        let tokens = u32::try_from(bytes.div_ceil(3)).unwrap_or(u32::MAX).min(sent.max_tokens);
        let usage = Usage {
            output_tokens: if is_text { tokens } else { 0 },
            ..estimate(sent, &Answer::default())
        };
        ModelOutcome::sent(Err(self.too_long(&sent.request.expect)), Some(usage))
    }

    /// The error for a reply over the limit of bytes. A shorter prompt is of no use to it.
    fn too_long(&self, expect: &Shape) -> LlmError {
        match expect {
            Shape::Vectors => LlmError::TooLarge,
            _ => LlmError::Malformed(format!(
                "(the reply is over the limit of {} bytes: reply with less)",
                self.config.limits.reply_bytes
            )),
        }
    }

    /// The error for a reply without text.
    fn without_text(&self, answer: &Answer, tokens: u32) -> LlmError {
        let thought = answer.thinking.trim().len();
        if matches!(answer.stopped, Stopped::Length | Stopped::Context) {
            return LlmError::Cut {
                tokens,
                begins: "(no text: it reached the limit before it answered)".into(),
            };
        }
        LlmError::Malformed(match (answer.tool_calls.is_empty(), thought) {
            (false, _) => "(no text: the model called a tool, and none was offered)".into(),
            (true, 0) => "(empty)".into(),
            (true, bytes) => {
                format!(
                    "(no text: the reply has {bytes} bytes of reasoning alone, and no answer \
                     apart from it)"
                )
            }
        })
    }
}

/// Returns true if a reply that was cut off had neither begun its answer nor thought before it.
fn is_prose(answer: &Answer) -> bool {
    let text = answer.text.to_lowercase();
    let is_begun = ["```", "{", "select"].iter().any(|sign| text.contains(sign));
    let is_thought = answer.thought || text.trim().is_empty() || shape::has_thinking(&text);
    !is_begun && !is_thought
}

/// Returns true if a reply repeats its end again and again, as small models do: with more tokens it
/// would be longer, and not whole.
fn is_looping(text: &str) -> bool {
    /// Bytes of the end that is looked for.
    const END: usize = 60;
    /// The number of times that it stands in the reply.
    const TIMES: usize = 4;
    let text = text.trim_end();
    let from = (text.len().saturating_sub(END)..text.len()).find(|at| text.is_char_boundary(*at));
    let end = from.map_or("", |from| &text[from..]);
    end.len() >= END / 2 && text.matches(end).count() >= TIMES
}

/// The usage of a reply whose endpoint does not report it: a token for every three bytes.
fn estimate(sent: &Sent<'_>, answer: &Answer) -> Usage {
    let bytes = answer.text.len()
        + answer.thinking.len()
        + answer.tool_calls.iter().map(String::len).sum::<usize>();
    let is_text = sent.request.expect != Shape::Vectors;
    Usage {
        input_tokens: u32::try_from(prompt_tokens(sent.request)).unwrap_or(u32::MAX),
        output_tokens: if is_text {
            u32::try_from(bytes.div_ceil(3)).unwrap_or(u32::MAX)
        } else {
            0
        },
        model: sent.model.to_owned(),
        is_estimate: true,
        ..Usage::default()
    }
}

/// Returns true if an endpoint can have counted so many tokens for the prompt: each has a byte or
/// more, and what its template adds is not known.
fn is_credible(sent: &Sent<'_>, usage: &Usage) -> bool {
    /// Tokens that an endpoint may add of its own.
    const ADDED: usize = 32_768;
    usage.input_tokens as usize <= 4 * sent.request.prompt_bytes() + ADDED
}

/// Returns true if what was found in a model's thinking can be nothing but its answer: one
/// statement alone, a document that is all of the text, or a word that is.
fn is_alone(parsed: &str, thinking: &str, expect: &Shape) -> bool {
    /// Bytes of a text that holds a word and nothing else.
    const WORD: usize = 64;
    match expect {
        Shape::Sql => serde_json::from_str::<SqlReply>(parsed).is_ok_and(|reply| {
            reply.statements.len() <= 1 && shape::is_statement_alone(thinking, &reply.sql)
        }),
        Shape::Json(_) | Shape::Yaml(_) => thinking.trim_start().starts_with(['{', '[', '`']),
        Shape::Choice(_) => thinking.trim().len() <= WORD,
        _ => false,
    }
}

/// A request as it was sent.
struct Sent<'a> {
    request: &'a Request,
    model: &'a str,
    quirks: Quirks,
    max_tokens: u32,
    body: Value,
}

#[async_trait]
impl<P: Protocol> ModelProvider for HttpProvider<P> {
    fn name(&self) -> &str {
        P::NAME
    }

    fn models(&self) -> Vec<String> {
        self.config.names()
    }

    fn identity(&self, call: &ModelCall) -> Option<String> {
        let model = call.request.model.as_deref().unwrap_or(&self.config.model);
        // The configuration sets what a request leaves open.
        let temperature = self.config.temperature;
        let most = self.config.max_tokens;
        let identity =
            format!("{} {} {model} {temperature:?} {most}", P::NAME, self.endpoint.base());
        // By default the endpoint's replies decide about the format, as they do about other parts
        // of a request's form.
        Some(match self.config.structured {
            StructuredReplies::Auto => identity,
            wanted => format!("{identity} {}", wanted.name()),
        })
    }

    fn preview(&self, call: &ModelCall) -> Option<Preview> {
        let model = self.admit(&call.request).ok()?;
        let quirks = self.request_form(&call.request, model);
        Some(self.endpoint.preview(self.body(&call.request, model, &quirks)))
    }

    /// A token for every three bytes of the prompt, the tokens of the chat template, and all output
    /// tokens that the call may use.
    fn estimate(&self, call: &ModelCall) -> Estimate {
        let request = &call.request;
        let template = TEMPLATE_TOKENS * (request.messages.len() as u64 + 1);
        let model = request.model.as_deref().unwrap_or(&self.config.model);
        let output_tokens =
            u64::from(self.output_tokens(request, model, &self.request_form(request, model)));
        Estimate {
            input_tokens: prompt_tokens(request) + template,
            output_tokens,
            cost_micros: None,
        }
    }

    async fn complete(&self, call: &ModelCall) -> ModelOutcome {
        let request = &call.request;
        if let Err(error) = shape::prepare(&request.expect, &self.config.limits).await {
            return ModelOutcome::unsent(error);
        }
        let model = match self.admit(request) {
            Ok(model) => model,
            Err(error) => return ModelOutcome::unsent(error),
        };
        let quirks = self.request_form(request, model);
        let max_tokens = self.output_tokens(request, model, &quirks);
        let body = self.body(request, model, &quirks);
        let sent = Sent { body, max_tokens, request, model, quirks };
        match self.endpoint.post(&sent.body).await {
            Ok(reply) => self.read(&sent, &reply),
            Err(Failure::Unsent(error, retry)) => ModelOutcome::unsent(error).retry(retry),
            Err(Failure::Sent(error, retry)) => ModelOutcome::sent(Err(error), None).retry(retry),
            Err(Failure::Refused(said)) => self.refusal_outcome(&sent, &said),
            Err(Failure::TooLong(bytes)) => self.overflow_outcome(&sent, bytes),
        }
    }
}
