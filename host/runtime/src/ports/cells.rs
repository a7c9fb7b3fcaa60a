//! Serves the interface `cells` to guests: samples and searches of cells.

use syrch_core::ports::PortError;

use crate::bindings::syrch::plugin::cells as wit;
use crate::contract::Port;
use crate::convert::Conv;
use crate::state::State;

impl wit::Host for State {
    async fn samples(
        &mut self,
        table: String,
        columns: Vec<String>,
        limit: u32,
    ) -> wasmtime::Result<Result<Vec<wit::Sample>, wit::PortError>> {
        let entered = self.enter(Port::Cells)?;
        let samples = self
            .waiting(async {
                match entered {
                    Ok(call) => call.ports.cells.samples(&table, &columns, limit).await,
                    Err(reason) => Err(PortError::Denied(reason)),
                }
            })
            .await;
        Ok(samples.conv())
    }

    async fn find(
        &mut self,
        phrases: Vec<String>,
        how: wit::Match,
        limit: u32,
    ) -> wasmtime::Result<Result<Vec<Vec<wit::Hit>>, wit::PortError>> {
        let entered = self.enter(Port::Cells)?;
        let hits = self
            .waiting(async {
                match entered {
                    Ok(call) => call.ports.cells.find(&phrases, how.conv(), limit).await,
                    Err(reason) => Err(PortError::Denied(reason)),
                }
            })
            .await;
        Ok(hits.conv())
    }
}
