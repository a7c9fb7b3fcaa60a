//! Port calls that take time, in their order of issue and of completion, and the ledger entries.

use std::collections::HashMap;
use std::sync::Arc;

use syrch_core::Ledger;
use syrch_core::ledger::{Budgets, Entry};
use syrch_core::ports::{Reply, Request, SqlReply, Ticket};

use super::{CallEnd, Cost, ModelNode, PortCall, Saved, What};
use crate::record::{Ask, CallId, Got};

/// The calls of a tree that is being built.
pub(super) struct Calls {
    all: Vec<PortCall>,
    open: HashMap<(CallId, Ticket), (usize, Ask)>,
    completed: u32,
    ledger: Arc<Ledger>,
    in_flight: u32,
    /// Cache hits that belong to no call yet: purpose and tokens.
    hits: Vec<(String, u64)>,
    prompts: bool,
}

impl Calls {
    pub(super) fn new(prompts: bool) -> Self {
        Self {
            all: Vec::new(),
            open: HashMap::new(),
            completed: 0,
            ledger: Ledger::new(Budgets::default()),
            in_flight: 0,
            hits: Vec::new(),
            prompts,
        }
    }

    pub(super) fn issue(&mut self, at_us: u64, call: CallId, ticket: Ticket, ask: &Ask) {
        let issued = u32::try_from(self.all.len()).unwrap_or(u32::MAX).saturating_add(1);
        self.open.insert((call, ticket), (self.all.len(), ask.clone()));
        self.all.push(PortCall {
            call,
            ticket,
            port: ask.name().to_owned(),
            issued,
            completed: None,
            issued_us: at_us,
            done_us: None,
            end: CallEnd::Open,
            error: None,
            what: match ask {
                Ask::Llm(request) => What::Model(self.model(request)),
                Ask::Sql(sql) | Ask::Check(sql) | Ask::Explain(sql) => {
                    What::Statement { sql: sql.clone(), rows: None, error_kind: None }
                }
                _ => What::Other,
            },
        });
    }

    fn model(&self, request: &Request) -> ModelNode {
        ModelNode {
            purpose: request.purpose.name().to_owned(),
            model: request.model.clone(),
            sample: request.sample,
            prompt: if self.prompts { request.messages.clone() } else { Vec::new() },
            ..ModelNode::default()
        }
    }

    fn close(&mut self, at_us: u64, place: usize, end: CallEnd) -> Option<&mut PortCall> {
        self.completed += 1;
        let completed = self.completed;
        let call = self.all.get_mut(place)?;
        call.completed = Some(completed);
        call.done_us = Some(at_us);
        call.end = end;
        Some(call)
    }

    /// Ends a call and returns its request.
    pub(super) fn end_call(
        &mut self,
        at_us: u64,
        call: CallId,
        ticket: Ticket,
        got: &Got,
    ) -> Option<Ask> {
        let (place, ask) = self.open.remove(&(call, ticket))?;
        let error = error(got);
        let end = if error.is_some() { CallEnd::Failed } else { CallEnd::Done };
        let hit = match got {
            Got::Reply(Ok(reply)) => self.hit(place, reply),
            _ => false,
        };
        let prompts = self.prompts;
        let known = self.close(at_us, place, end)?;
        known.error = error;
        match (&mut known.what, got) {
            (What::Model(model), Got::Reply(Ok(reply))) => {
                let usage = &reply.usage;
                model.model = Some(usage.model.clone())
                    .filter(|name| !name.is_empty())
                    .or(model.model.take());
                (model.input_tokens, model.output_tokens) =
                    (usage.input_tokens, usage.output_tokens);
                (model.cost_micros, model.cached) = (usage.cost_micros, hit);
                model.reply = prompts.then(|| reply.text.clone());
                if let Ask::Llm(request) = &ask {
                    let several = SqlReply::with_several(&request.expect, reply)
                        .map(|several| several.remark());
                    let outcome = several.or_else(|| {
                        reply
                            .truncated
                            .then(|| "the reply was cut off at its limit of length".to_owned())
                    });
                    let again = Some(usage.repeats.join("; "))
                        .filter(|reasons| !reasons.is_empty())
                        .map(|reasons| format!("it was sent again: {reasons}"));
                    let remarks: Vec<String> = again.into_iter().chain(outcome).collect();
                    model.remark = Some(remarks.join("; ")).filter(|text| !text.is_empty());
                }
            }
            (What::Statement { rows, .. }, Got::Rows(Ok(stored))) => *rows = Some(stored.rows),
            (
                What::Statement { error_kind, .. },
                Got::Rows(Err(error)) | Got::Facts(Err(error)) | Got::Plan(Err(error)),
            ) => {
                *error_kind = Some(error.kind.name().to_owned());
            }
            _ => {}
        }
        Some(ask)
    }

    /// Returns whether a cache answered: there is a hit for this purpose and these tokens, each
    /// used once.
    fn hit(&mut self, place: usize, reply: &Reply) -> bool {
        let Some(What::Model(model)) = self.all.get(place).map(|call| &call.what) else {
            return false;
        };
        let tokens = u64::from(reply.usage.input_tokens) + u64::from(reply.usage.output_tokens);
        let found =
            self.hits.iter().position(|(purpose, sum)| *purpose == model.purpose && *sum == tokens);
        found.map(|place| self.hits.swap_remove(place)).is_some()
    }

    pub(super) fn give_up(&mut self, at_us: u64, call: CallId, ticket: Ticket) {
        if let Some((place, _)) = self.open.remove(&(call, ticket)) {
            self.close(at_us, place, CallEnd::GivenUp);
        }
    }

    /// The guest has returned: the calls that it started end.
    pub(super) fn left(&mut self, at_us: u64, call: CallId) {
        self.end_all(at_us, |(whose, ticket)| whose == call && ticket > 0);
    }

    /// The calls that the host made within a role call end, too.
    pub(super) fn left_host(&mut self, at_us: u64, call: CallId) {
        self.end_all(at_us, |(whose, ticket)| whose == call && ticket == 0);
    }

    fn end_all(&mut self, at_us: u64, ends: impl Fn((CallId, Ticket)) -> bool) {
        let mut keys: Vec<_> = self.open.keys().copied().filter(|key| ends(*key)).collect();
        keys.sort_unstable();
        keys.into_iter().for_each(|(call, ticket)| self.give_up(at_us, call, ticket));
    }

    /// The run was resumed after it was killed: calls in flight at the kill are made again under
    /// the same number, and stay charged.
    pub(super) fn resume(&mut self) {
        self.hits.clear();
    }

    pub(super) fn apply(&mut self, entry: &Entry) {
        self.ledger.restore(entry);
        match entry {
            Entry::Reserved { .. } => self.in_flight += 1,
            Entry::Settled { .. } | Entry::Released { .. } => {
                self.in_flight = self.in_flight.saturating_sub(1)
            }
            Entry::Hit { purpose, tokens, .. } => self.hits.push((purpose.clone(), *tokens)),
            Entry::SqlRun | Entry::Refused(_) => {}
        }
    }

    /// The calls, and the cost from the ledger entries.
    pub(super) fn finish(self) -> (Vec<PortCall>, Cost) {
        let spent = self.ledger.spending();
        fn dollars(micros: u64) -> f64 {
            micros as f64 / 1e6
        }
        let cost = Cost {
            saved: Saved {
                input_tokens: spent.saved_input_tokens,
                output_tokens: spent.saved_output_tokens,
                usd: spent.saved_micros.map(dollars),
            },
            calls: spent.calls,
            cached: spent.cached,
            in_flight: self.in_flight,
            input_tokens: spent.input_tokens,
            output_tokens: spent.output_tokens,
            tokens_charged: spent.tokens_charged,
            sql_runs: spent.sql_runs,
            usd: spent.cost_micros.map(dollars),
            by_purpose: spent.by_purpose,
            refused: spent.exhausted.iter().map(ToString::to_string).collect(),
        };
        (self.all, cost)
    }
}

/// Returns the reason why a call failed; `None` when it did not.
fn error(got: &Got) -> Option<String> {
    match got {
        Got::Reply(Err(error)) => Some(error.to_string()),
        Got::Rows(Err(error)) => Some(error.to_string()),
        Got::Facts(Err(error)) => Some(error.to_string()),
        Got::Plan(Err(error)) => Some(error.to_string()),
        Got::Stats(Err(error))
        | Got::Compiled(Err(error))
        | Got::Samples(Some(Err(error)))
        | Got::Hits(Some(Err(error)))
        | Got::Vectors(Err(error))
        | Got::Page(Err(error))
        | Got::Calibrated(Err(error))
        | Got::Verdicts(Err(error)) => Some(error.to_string()),
        _ => None,
    }
}
