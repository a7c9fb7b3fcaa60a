//! Serves the interface `inspect` to guests: checks, plans and statistics, without running a
//! statement.

use syrch_core::ports::PortError;
use syrch_core::{SqlError, SqlErrorKind};

use crate::bindings::syrch::plugin::inspect as wit;
use crate::contract::Port;
use crate::convert::Conv;
use crate::state::State;

impl wit::Host for State {
    async fn check(&mut self, text: String) -> wasmtime::Result<Result<wit::Facts, wit::SqlError>> {
        let entered = self.enter(Port::Inspect)?;
        let facts = self
            .waiting(async {
                match entered {
                    Ok(call) => call.ports.inspect.check(&text).await,
                    Err(reason) => Err(SqlError::new(SqlErrorKind::Denied, reason)),
                }
            })
            .await;
        Ok(facts.conv())
    }

    async fn explain(
        &mut self,
        text: String,
    ) -> wasmtime::Result<Result<wit::Plan, wit::SqlError>> {
        let entered = self.enter(Port::Inspect)?;
        let plan = self
            .waiting(async {
                match entered {
                    Ok(call) => call.ports.inspect.explain(&text).await,
                    Err(reason) => Err(SqlError::new(SqlErrorKind::Denied, reason)),
                }
            })
            .await;
        Ok(plan.conv())
    }

    async fn column_stats_of(
        &mut self,
        table: String,
        columns: Vec<String>,
    ) -> wasmtime::Result<Result<Vec<wit::ColumnStats>, wit::PortError>> {
        let entered = self.enter(Port::Inspect)?;
        let stats = self
            .waiting(async {
                match entered {
                    Ok(call) => call.ports.inspect.column_stats(&table, &columns).await,
                    Err(reason) => Err(PortError::Denied(reason)),
                }
            })
            .await;
        Ok(stats.conv())
    }

    async fn compile_metric(
        &mut self,
        request: String,
    ) -> wasmtime::Result<Result<wit::Compiled, wit::PortError>> {
        let entered = self.enter(Port::Inspect)?;
        let compiled = self
            .waiting(async {
                match entered {
                    Ok(call) => call.ports.inspect.compile_metric(&request).await,
                    Err(reason) => Err(PortError::Denied(reason)),
                }
            })
            .await;
        Ok(compiled.conv())
    }
}
