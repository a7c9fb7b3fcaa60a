//! Serves the interface `sql` to guests: statements, waited for or in flight, and the shapes of
//! their results.

use std::sync::Arc;

use futures::future::join_all;
use syrch_core::ports::{Flight as Under, Ticket};
use syrch_core::{ResultSet, SqlError, SqlErrorKind};
use wasmtime::component::Resource;

use crate::bindings::syrch::plugin::sql as wit;
use crate::bindings::syrch::plugin::types;
use crate::contract::Port;
use crate::convert::Conv;
use crate::flight::Flight;
use crate::state::{Rows, Running, State};

type WitResult = Result<Resource<Rows>, types::SqlError>;

fn cancel_error() -> SqlError {
    SqlError::new(SqlErrorKind::Cancelled, "cancelled by the plugin")
}

impl State {
    /// Starts one statement, in the guest's order, and returns its ticket and its future.
    async fn begin(
        &mut self,
        text: String,
    ) -> wasmtime::Result<(Ticket, Under<Result<Arc<ResultSet>, SqlError>>)> {
        let call = self.enter(Port::Sql)?;
        let ticket = self.ticket();
        let flight = match call {
            Ok(call) => self.waiting(call.ports.sql.issue(ticket, text)).await,
            Err(reason) => {
                Box::pin(async move { Err(SqlError::new(SqlErrorKind::Denied, reason)) })
            }
        };
        Ok((ticket, flight))
    }

    fn hand_over(
        &mut self,
        result: Result<Arc<ResultSet>, SqlError>,
    ) -> wasmtime::Result<WitResult> {
        Ok(match result {
            Ok(rows) => Ok(self.push_rows(rows)?),
            Err(error) => Err(error.conv()),
        })
    }
}

impl wit::Host for State {
    async fn run(&mut self, text: String) -> wasmtime::Result<WitResult> {
        let (_, flight) = self.begin(text).await?;
        let result = self.waiting(flight).await;
        self.hand_over(result)
    }

    async fn run_all(&mut self, texts: Vec<String>) -> wasmtime::Result<Vec<WitResult>> {
        let mut flights = Vec::with_capacity(texts.len());
        for text in texts {
            flights.push(self.begin(text).await?.1);
        }
        let results = self.waiting(join_all(flights)).await;
        results.into_iter().map(|result| self.hand_over(result)).collect()
    }

    async fn start(&mut self, text: String) -> wasmtime::Result<Resource<Running>> {
        let bytes = text.len();
        self.hold(bytes)?;
        let (ticket, call) = self.begin(text).await?;
        let flight = Flight::start(ticket, call);
        self.watch(flight.ticket(), flight.subscribe_done());
        self.push(Running(flight, bytes))
    }
}

impl wit::HostResultSet for State {
    async fn profile(&mut self, rows: Resource<Rows>) -> wasmtime::Result<types::Profile> {
        self.enter_or_stop(Port::Sql)?;
        Ok(self.table.get(&rows)?.0.profile().conv())
    }

    async fn fingerprint(
        &mut self,
        rows: Resource<Rows>,
        under: wit::Equality,
    ) -> wasmtime::Result<Option<String>> {
        let call = self.enter_or_stop(Port::Sql)?;
        Ok(self.table.get(&rows)?.0.fingerprint(&under.conv(), call.ports.sql.salt()))
    }

    async fn drop(&mut self, rows: Resource<Rows>) -> wasmtime::Result<()> {
        let rows = self.table.delete(rows)?;
        self.release(rows.0.size());
        Ok(())
    }
}

impl wit::HostRunning for State {
    async fn ticket(&mut self, running: Resource<Running>) -> wasmtime::Result<u32> {
        self.enter_or_stop(Port::Sql)?;
        Ok(self.table.get(&running)?.0.ticket())
    }

    async fn cancel(&mut self, running: Resource<Running>) -> wasmtime::Result<()> {
        let call = self.enter_or_stop(Port::Sql)?;
        let flight = self.table.get(&running)?.0.clone();
        self.waiting(flight.give_up(call.ports.wait.as_ref(), Err(cancel_error()))).await;
        Ok(())
    }

    async fn take(&mut self, running: Resource<Running>) -> wasmtime::Result<Option<WitResult>> {
        let call = self.enter_or_stop(Port::Sql)?;
        let flight = self.table.get(&running)?.0.clone();
        let ticket = flight.ticket();
        let is_done = self.waiting(flight.is_seen_done(call.ports.wait.as_ref())).await;
        match is_done.then(|| flight.take()).flatten() {
            Some(result) => {
                self.forget(ticket);
                self.hand_over(result).map(Some)
            }
            None => Ok(None),
        }
    }

    async fn drop(&mut self, running: Resource<Running>) -> wasmtime::Result<()> {
        let Running(flight, bytes) = self.table.delete(running)?;
        self.give_up(&flight, Err(cancel_error())).await;
        self.release(bytes);
        Ok(())
    }
}
