//! Port `inspect`.

use syrch_core::ports::PortError;
use syrch_core::{SqlError, SqlErrorKind};

use crate::bindings::syrch::plugin::inspect as wit;
use crate::contract::Port;
use crate::convert::Conv;
use crate::state::State;

impl wit::Host for State {
    async fn check(&mut self, text: String) -> wasmtime::Result<Result<wit::Facts, wit::SqlError>> {
        let facts = match self.enter(Port::Inspect)? {
            Ok(call) => call.ports.inspect.check(&text).await,
            Err(reason) => Err(SqlError::new(SqlErrorKind::Denied, reason)),
        };
        self.resume();
        Ok(facts.conv())
    }

    async fn explain(&mut self, text: String) -> wasmtime::Result<Result<wit::Plan, wit::SqlError>> {
        let plan = match self.enter(Port::Inspect)? {
            Ok(call) => call.ports.inspect.explain(&text).await,
            Err(reason) => Err(SqlError::new(SqlErrorKind::Denied, reason)),
        };
        self.resume();
        Ok(plan.conv())
    }

    async fn column_stats_of(
        &mut self,
        table: String,
        columns: Vec<String>,
    ) -> wasmtime::Result<Result<Vec<wit::ColumnStats>, wit::PortError>> {
        let stats = match self.enter(Port::Inspect)? {
            Ok(call) => call.ports.inspect.column_stats(&table, &columns).await,
            Err(reason) => Err(PortError::Denied(reason)),
        };
        self.resume();
        Ok(stats.conv())
    }
}
