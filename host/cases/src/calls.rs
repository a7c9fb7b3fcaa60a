//! The port calls of one role call, as its event log reports them: each with its request and its
//! reply, in the order in which the plugin made them.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde_json::{Map, Value, json};
use syrch_core::ports::{HOST, Level, LlmError, Request, Shape, Ticket};
use syrch_journal::{Ask, Event, Got, Record};

use crate::canonical;

/// Bytes of requests and replies that are retained of one role call; further calls are only
/// counted.
const RETAINED: usize = 8 << 20;
/// Bytes of remarks that are retained.
const REMARKS: usize = 256 << 10;

/// A call of a port that the role made, with its reply once there is one.
struct PortCall {
    ticket: Ticket,
    function: &'static str,
    request: Value,
    /// The reply, or the error.
    reply: Option<Result<Value, Value>>,
}

#[derive(Default)]
struct Made {
    calls: Vec<PortCall>,
    log: Vec<Value>,
    used: BTreeSet<String>,
    bytes: usize,
    remark_bytes: usize,
    left_out: u64,
}

/// Collects the port calls of the first role call of an event log.
#[derive(Default)]
pub(crate) struct Calls(Mutex<Made>);

impl Calls {
    fn lock(&self) -> MutexGuard<'_, Made> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a record of the event log.
    pub(crate) fn record(&self, record: &Record) {
        let Record::Event { event, .. } = record else { return };
        let mut made = self.lock();
        match event {
            Event::Issue { call: 0, ticket, ask } => made.issue(*ticket, ask),
            Event::Done { call: 0, ticket, got } => made.complete(*ticket, got),
            Event::Port { call: 0, ask, got } => made.port(ask, got),
            _ => {}
        }
    }

    /// The port calls, the remarks, and the names of the ports that were used.
    pub(crate) fn take(&self) -> (Vec<Value>, Vec<Value>, BTreeSet<String>) {
        let Made { calls, log, used, left_out, .. } = std::mem::take(&mut *self.lock());
        let mut calls: Vec<Value> = calls.into_iter().map(PortCall::document).collect();
        if left_out > 0 {
            calls.push(json!({ "left_out": left_out }));
        }
        (calls, log, used)
    }
}

impl Made {
    fn issue(&mut self, ticket: Ticket, ask: &Ask) {
        let function = ask.name();
        let request = request(ask);
        self.used.insert(port_of(function).to_owned());
        if !self.has_space(&request) {
            self.left_out += 1;
            return;
        }
        self.calls.push(PortCall { ticket, function, request, reply: None });
    }

    fn has_space(&mut self, value: &Value) -> bool {
        self.bytes = self.bytes.saturating_add(value.to_string().len() + 64);
        self.bytes <= RETAINED
    }

    fn complete(&mut self, ticket: Ticket, got: &Got) {
        let reply = reply(got);
        if !self.has_space(reply.as_ref().unwrap_or_else(|error| error)) {
            return;
        }
        let open =
            self.calls.iter_mut().rev().find(|call| call.ticket == ticket && call.reply.is_none());
        if let Some(call) = open {
            call.reply = Some(reply);
        }
    }

    fn port(&mut self, ask: &Ask, got: &Got) {
        match (ask, got) {
            // How a plugin waits, and when it drops a handle, is not what it does.
            (Ask::Wait(_), _) => {}
            (Ask::GiveUp(ticket), Got::GaveUp(false)) => {
                let given_up =
                    self.calls.iter_mut().find(|call| call.ticket == *ticket && *ticket != HOST);
                if let Some(call) = given_up {
                    call.reply = Some(Err("cancelled".into()));
                }
            }
            (Ask::GiveUp(_), _) => {}
            (Ask::Note(level, message), _) => {
                self.used.insert("trace".to_owned());
                self.remark(*level, message);
            }
            (ask, got) => {
                self.issue(HOST, ask);
                if *got != Got::Nothing {
                    self.complete(HOST, got);
                }
            }
        }
    }

    /// Retains a remark, unless it is one for finding errors: those hold what is the language's
    /// own, such as a stack.
    fn remark(&mut self, level: Level, message: &str) {
        self.remark_bytes = self.remark_bytes.saturating_add(message.len());
        if level == Level::Debug || self.remark_bytes > REMARKS {
            return;
        }
        self.log.push(json!({ "level": level, "message": message }));
    }
}

impl PortCall {
    fn document(self) -> Value {
        let (port, function) = self.function.split_once('.').unwrap_or((self.function, ""));
        let mut members = Map::new();
        match self.reply {
            Some(Ok(reply)) => drop(members.insert("reply".to_owned(), reply)),
            Some(Err(error)) => drop(members.insert("error".to_owned(), error)),
            None => {}
        }
        members.insert("function".to_owned(), function.into());
        members.insert("port".to_owned(), port.into());
        if !self.request.is_null() {
            members.insert("request".to_owned(), self.request);
        }
        canonical::sort_members(members)
    }
}

fn port_of(function: &str) -> &str {
    function.split_once('.').map_or(function, |(port, _)| port)
}

fn canonical_value(value: &impl Serialize) -> Value {
    canonical::value(serde_json::to_value(value).unwrap_or_default())
}

fn request(ask: &Ask) -> Value {
    match ask {
        Ask::Llm(request) => model_request(request),
        Ask::Sql(text) | Ask::Check(text) | Ask::Explain(text) | Ask::CompileMetric(text) => {
            text.as_str().into()
        }
        Ask::Stats(table, columns) => json!({ "columns": columns, "table": table }),
        Ask::Samples(table, columns, limit) => {
            json!({ "columns": columns, "limit": limit, "table": table })
        }
        Ask::Find(phrases, how, limit) => json!({ "how": how, "limit": limit, "phrases": phrases }),
        Ask::Retrieval(queries) => canonical_value(queries),
        Ask::Embed(texts) => json!(texts),
        Ask::Rows(offset, limit) => json!({ "limit": limit, "offset": offset }),
        Ask::Calibrate(claims) => {
            claims.iter().map(|(raw, signals)| json!([raw, nonzero_signals(signals)])).collect()
        }
        Ask::Reward(candidates) => canonical_value(candidates),
        Ask::Propose(candidate) => canonical_value(candidate),
        Ask::Keep(candidate, reason) | Ask::Discard(candidate, reason) => {
            json!({ "candidate": candidate, "reason": reason })
        }
        Ask::Step(candidate, name, data) => {
            let data = canonical::document(data);
            match candidate {
                Some(candidate) => json!({ "candidate": candidate, "data": data, "name": name }),
                None => json!({ "data": data, "name": name }),
            }
        }
        Ask::Remaining | Ask::Wait(_) | Ask::GiveUp(_) | Ask::Note(..) => Value::Null,
    }
}

/// Signals without those that are zero.
fn nonzero_signals(signals: &impl Serialize) -> Value {
    let mut held =
        canonical_value(&json!({ "signals": serde_json::to_value(signals).unwrap_or_default() }));
    match held.get_mut("signals") {
        Some(signals) => signals.take(),
        None => json!({}),
    }
}

fn model_request(request: &Request) -> Value {
    let mut document = serde_json::to_value(request).unwrap_or_default();
    document["temperature"] = canonical::short(request.temperature);
    document["top_p"] = canonical::short(request.top_p);
    if let Shape::Json(schema) = &request.expect {
        document["expect"] = json!({ "json": canonical::document(schema) });
    }
    if !request.logprobs {
        document["logprobs"] = Value::Null;
    }
    canonical::value(document)
}

fn reply(got: &Got) -> Result<Value, Value> {
    fn canonicalize<T: Serialize, E: Serialize>(result: &Result<T, E>) -> Result<Value, Value> {
        result.as_ref().map(canonical_value).map_err(canonical_value)
    }
    match got {
        Got::Nothing => Ok(Value::Null),
        Got::Reply(Ok(reply)) => {
            let mut document = canonical_value(reply);
            // What it cost follows from the request and the text.
            if let Value::Object(members) = &mut document {
                members.shift_remove("usage");
                members.retain(|_, value| *value != false);
            }
            Ok(document)
        }
        Got::Reply(Err(LlmError::TooLarge | LlmError::Overflow(_))) => Err("too-large".into()),
        Got::Reply(Err(LlmError::Declined { message, .. })) => {
            Err(canonical_value(&LlmError::Unavailable(message.clone())))
        }
        Got::Reply(Err(error)) => Err(canonical_value(error)),
        Got::Rows(Ok(rows)) => {
            Ok(json!({ "columns": rows.columns, "rows": rows.rows, "truncated": rows.truncated }))
        }
        Got::Rows(Err(error)) => Err(canonical_value(error)),
        Got::Facts(result) => canonicalize(result),
        Got::Plan(result) => canonicalize(result),
        Got::Stats(result) => canonicalize(result),
        Got::Compiled(result) => canonicalize(result),
        Got::Samples(result) => result.as_ref().map_or(Ok(Value::Null), canonicalize),
        Got::Hits(result) => result.as_ref().map_or(Ok(Value::Null), canonicalize),
        Got::Found(found) => Ok(found
            .iter()
            .map(|found| match canonicalize(found) {
                Ok(hits) => hits,
                Err(error) => json!({ "error": error }),
            })
            .collect()),
        Got::Vectors(result) => canonicalize(result),
        Got::Page(Ok(rows)) => Ok(json!({ "rows": rows })),
        Got::Page(Err(error)) => Err(canonical_value(error)),
        Got::Calibrated(result) => canonicalize(result),
        Got::Verdicts(result) => canonicalize(result),
        Got::Budget(budget) => Ok(canonical_value(budget)),
        Got::Ended(_) | Got::GaveUp(_) => Ok(Value::Null),
    }
}
