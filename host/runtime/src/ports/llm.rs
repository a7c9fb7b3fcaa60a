//! Port `llm`.

use futures::future::join_all;
use syrch_core::ports::{LlmError, Request};
use syrch_core::roles::Call;
use wasmtime::component::Resource;

use crate::bindings::syrch::plugin::llm as wit;
use crate::contract::Port;
use crate::convert::Conv;
use crate::flight::Flight;
use crate::state::{Pending, State};

type WitReply = Result<wit::Reply, wit::LlmError>;

async fn complete(call: Result<Call, String>, request: wit::Request) -> Result<syrch_core::ports::Reply, LlmError> {
    match call {
        Ok(call) => call.ports.llm.complete(Conv::<Request>::conv(request)).await,
        Err(reason) => Err(LlmError::Denied(reason)),
    }
}

impl wit::Host for State {
    async fn models(&mut self) -> wasmtime::Result<Vec<String>> {
        Ok(self.enter(Port::Llm)?.map(|call| call.ports.llm.models()).unwrap_or_default())
    }

    async fn complete(&mut self, request: wit::Request) -> wasmtime::Result<WitReply> {
        let call = self.enter(Port::Llm)?;
        let reply = self.waiting(complete(call, request)).await;
        Ok(reply.conv())
    }

    async fn complete_all(&mut self, requests: Vec<wit::Request>) -> wasmtime::Result<Vec<WitReply>> {
        let mut flights = Vec::with_capacity(requests.len());
        for request in requests {
            flights.push(complete(self.enter(Port::Llm)?, request));
        }
        let replies = self.waiting(join_all(flights)).await;
        Ok(replies.conv())
    }

    async fn start(&mut self, request: wit::Request) -> wasmtime::Result<Resource<Pending>> {
        let call = self.enter(Port::Llm)?;
        let bytes = request.messages.iter().map(|message| message.text.len()).sum();
        self.hold(bytes)?;
        let flight = Flight::start(self.ticket(), complete(call, request));
        self.watch(flight.ticket(), flight.done());
        self.push(Pending(flight, bytes))
    }
}

impl wit::HostPending for State {
    async fn ticket(&mut self, pending: Resource<Pending>) -> wasmtime::Result<u32> {
        self.enter_or_stop(Port::Llm)?;
        Ok(self.table.get(&pending)?.0.ticket())
    }

    async fn cancel(&mut self, pending: Resource<Pending>) -> wasmtime::Result<()> {
        self.enter_or_stop(Port::Llm)?;
        self.table.get(&pending)?.0.cancel(Err(LlmError::Cancelled));
        Ok(())
    }

    async fn get(&mut self, pending: Resource<Pending>) -> wasmtime::Result<Option<WitReply>> {
        self.enter_or_stop(Port::Llm)?;
        Ok(self.table.get(&pending)?.0.get().conv())
    }

    async fn drop(&mut self, pending: Resource<Pending>) -> wasmtime::Result<()> {
        let pending = self.table.delete(pending)?;
        self.forget(pending.0.ticket());
        self.release(pending.1);
        Ok(())
    }
}
