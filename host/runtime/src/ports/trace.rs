//! Port `trace`. What a role may not trace is dropped, and so is what exceeds the log quota.

use syrch_core::roles::Call;
use syrch_core::{Candidate, text, validate};

use crate::bindings::syrch::plugin::trace as wit;
use crate::contract::Port;
use crate::convert::Conv;
use crate::state::State;

impl State {
    /// The call, if it may trace and the quota has that many bytes left.
    fn tracer(&mut self, bytes: usize) -> wasmtime::Result<Option<Call>> {
        Ok(self.enter(Port::Trace)?.ok().filter(|call| call.ledger.charge_log(bytes)))
    }

    fn line<'a>(&self, text: &'a str) -> &'a str {
        text::clip(text, self.limits.log_line)
    }
}

impl wit::Host for State {
    async fn note(&mut self, level: wit::Level, message: String) -> wasmtime::Result<()> {
        if let Some(call) = self.tracer(message.len())? {
            let line = self.line(&message).to_owned();
            self.waiting(call.ports.trace.note(level.conv(), &line)).await;
        }
        Ok(())
    }

    async fn propose(&mut self, candidate: wit::Candidate) -> wasmtime::Result<()> {
        let candidate: Candidate = candidate.conv();
        validate::candidates(std::slice::from_ref(&candidate), &self.limits)?;
        // A candidate is a fact of the search, not a remark: it does not count against the log.
        if let Some(call) = self.tracer(0)? {
            self.waiting(call.ports.trace.propose(&candidate)).await;
        }
        Ok(())
    }

    async fn keep(&mut self, candidate: String, reason: String) -> wasmtime::Result<()> {
        if let Some(call) = self.tracer(reason.len())? {
            let line = self.line(&reason).to_owned();
            self.waiting(call.ports.trace.keep(&candidate, &line)).await;
        }
        Ok(())
    }

    async fn discard(&mut self, candidate: String, reason: String) -> wasmtime::Result<()> {
        if let Some(call) = self.tracer(reason.len())? {
            let line = self.line(&reason).to_owned();
            self.waiting(call.ports.trace.discard(&candidate, &line)).await;
        }
        Ok(())
    }

    async fn event(
        &mut self,
        candidate: Option<String>,
        name: String,
        data: String,
    ) -> wasmtime::Result<()> {
        let bytes = name.len() + data.len() + candidate.as_ref().map_or(0, String::len);
        if let Some(call) = self.tracer(bytes)? {
            let name = self.line(&name).to_owned();
            let data = self.line(&data).to_owned();
            let candidate = candidate.as_deref().map(|id| text::clip(id, self.limits.id_bytes));
            self.waiting(call.ports.trace.event(candidate, &name, &data)).await;
        }
        Ok(())
    }
}
