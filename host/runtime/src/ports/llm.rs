//! Serves the interface `llm` to guests: calls of language models, waited for or in flight.

use futures::future::join_all;
use syrch_core::ports::{Flight as Under, LlmError, Request, Ticket};
use wasmtime::component::Resource;

use crate::bindings::syrch::plugin::llm as wit;
use crate::contract::Port;
use crate::convert::Conv;
use crate::flight::Flight;
use crate::state::{Pending, State};

type WitReply = Result<wit::Reply, wit::LlmError>;

type Reply = Result<syrch_core::ports::Reply, LlmError>;

impl State {
    /// Makes one call, in the guest's order, and returns its ticket and its future.
    async fn issue(&mut self, request: wit::Request) -> wasmtime::Result<(Ticket, Under<Reply>)> {
        let call = self.enter(Port::Llm)?;
        let ticket = self.ticket();
        let flight = match call {
            Ok(call) => {
                self.waiting(call.ports.llm.issue(ticket, Conv::<Request>::conv(request))).await
            }
            Err(reason) => Box::pin(async move { Err(LlmError::Denied(reason)) }),
        };
        Ok((ticket, flight))
    }
}

impl wit::Host for State {
    async fn models(&mut self) -> wasmtime::Result<Vec<String>> {
        Ok(self.enter(Port::Llm)?.map(|call| call.ports.llm.models()).unwrap_or_default())
    }

    async fn complete(&mut self, request: wit::Request) -> wasmtime::Result<WitReply> {
        let (_, flight) = self.issue(request).await?;
        let reply = self.waiting(flight).await;
        Ok(reply.conv())
    }

    async fn complete_all(
        &mut self,
        requests: Vec<wit::Request>,
    ) -> wasmtime::Result<Vec<WitReply>> {
        let mut flights = Vec::with_capacity(requests.len());
        for request in requests {
            flights.push(self.issue(request).await?.1);
        }
        let replies = self.waiting(join_all(flights)).await;
        Ok(replies.conv())
    }

    async fn start(&mut self, request: wit::Request) -> wasmtime::Result<Resource<Pending>> {
        let bytes = request.messages.iter().map(|message| message.text.len()).sum();
        self.hold(bytes)?;
        let (ticket, call) = self.issue(request).await?;
        let flight = Flight::start(ticket, call);
        self.watch(flight.ticket(), flight.subscribe_done());
        self.push(Pending(flight, bytes))
    }
}

impl wit::HostPending for State {
    async fn ticket(&mut self, pending: Resource<Pending>) -> wasmtime::Result<u32> {
        self.enter_or_stop(Port::Llm)?;
        Ok(self.table.get(&pending)?.0.ticket())
    }

    async fn cancel(&mut self, pending: Resource<Pending>) -> wasmtime::Result<()> {
        let call = self.enter_or_stop(Port::Llm)?;
        let flight = self.table.get(&pending)?.0.clone();
        self.waiting(flight.give_up(call.ports.wait.as_ref(), Err(LlmError::Cancelled))).await;
        Ok(())
    }

    async fn get(&mut self, pending: Resource<Pending>) -> wasmtime::Result<Option<WitReply>> {
        let call = self.enter_or_stop(Port::Llm)?;
        let flight = self.table.get(&pending)?.0.clone();
        let is_done = self.waiting(flight.is_seen_done(call.ports.wait.as_ref())).await;
        Ok(if is_done { flight.get() } else { None }.conv())
    }

    async fn drop(&mut self, pending: Resource<Pending>) -> wasmtime::Result<()> {
        let Pending(flight, bytes) = self.table.delete(pending)?;
        self.give_up(&flight, Err(LlmError::Cancelled)).await;
        self.release(bytes);
        Ok(())
    }
}
