//! Port `sql`.

use std::sync::Arc;

use futures::future::join_all;
use syrch_core::roles::Call;
use syrch_core::{ResultSet, SqlError, SqlErrorKind};
use wasmtime::component::Resource;

use crate::bindings::syrch::plugin::sql as wit;
use crate::bindings::syrch::plugin::types;
use crate::contract::Port;
use crate::convert::Conv;
use crate::flight::Flight;
use crate::state::{Rows, Running, State, bytes_of};

type WitResult = Result<Resource<Rows>, types::SqlError>;

async fn run(call: Result<Call, String>, text: String) -> Result<Arc<ResultSet>, SqlError> {
    match call {
        Ok(call) => call.ports.sql.run(&text).await,
        Err(reason) => Err(SqlError::new(SqlErrorKind::Denied, reason)),
    }
}

impl State {
    fn hand_over(&mut self, result: Result<Arc<ResultSet>, SqlError>) -> wasmtime::Result<WitResult> {
        Ok(match result {
            Ok(rows) => Ok(self.push_rows(rows)?),
            Err(error) => Err(error.conv()),
        })
    }
}

impl wit::Host for State {
    async fn run(&mut self, text: String) -> wasmtime::Result<WitResult> {
        let call = self.enter(Port::Sql)?;
        let result = self.waiting(run(call, text)).await;
        self.hand_over(result)
    }

    async fn run_all(&mut self, texts: Vec<String>) -> wasmtime::Result<Vec<WitResult>> {
        let mut flights = Vec::with_capacity(texts.len());
        for text in texts {
            flights.push(run(self.enter(Port::Sql)?, text));
        }
        let results = self.waiting(join_all(flights)).await;
        results.into_iter().map(|result| self.hand_over(result)).collect()
    }

    async fn start(&mut self, text: String) -> wasmtime::Result<Resource<Running>> {
        let call = self.enter(Port::Sql)?;
        let bytes = text.len();
        self.hold(bytes)?;
        let flight = Flight::start(self.ticket(), run(call, text));
        self.watch(flight.ticket(), flight.done());
        self.push(Running(flight, bytes))
    }
}

impl wit::HostResultSet for State {
    async fn profile(&mut self, rows: Resource<Rows>) -> wasmtime::Result<types::Profile> {
        self.enter_or_stop(Port::Sql)?;
        Ok(self.table.get(&rows)?.0.profile().conv())
    }

    async fn fingerprint(&mut self, rows: Resource<Rows>, under: wit::Equality) -> wasmtime::Result<Option<String>> {
        let call = self.enter_or_stop(Port::Sql)?;
        Ok(self.table.get(&rows)?.0.fingerprint(&under.conv(), call.ports.sql.salt()))
    }

    async fn drop(&mut self, rows: Resource<Rows>) -> wasmtime::Result<()> {
        let rows = self.table.delete(rows)?;
        self.release(bytes_of(&rows.0));
        Ok(())
    }
}

impl wit::HostRunning for State {
    async fn ticket(&mut self, running: Resource<Running>) -> wasmtime::Result<u32> {
        self.enter_or_stop(Port::Sql)?;
        Ok(self.table.get(&running)?.0.ticket())
    }

    async fn cancel(&mut self, running: Resource<Running>) -> wasmtime::Result<()> {
        self.enter_or_stop(Port::Sql)?;
        self.table.get(&running)?.0.cancel(Err(SqlError::new(SqlErrorKind::Cancelled, "cancelled by the plugin")));
        Ok(())
    }

    async fn take(&mut self, running: Resource<Running>) -> wasmtime::Result<Option<WitResult>> {
        self.enter_or_stop(Port::Sql)?;
        let flight = &self.table.get(&running)?.0;
        let (ticket, taken) = (flight.ticket(), flight.take());
        match taken {
            Some(result) => {
                self.forget(ticket);
                self.hand_over(result).map(Some)
            }
            None => Ok(None),
        }
    }

    async fn drop(&mut self, running: Resource<Running>) -> wasmtime::Result<()> {
        let running = self.table.delete(running)?;
        self.forget(running.0.ticket());
        self.release(running.1);
        Ok(())
    }
}
