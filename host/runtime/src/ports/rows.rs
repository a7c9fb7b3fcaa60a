//! Serves the interface `rows` to guests: the cells of a result, as far as the user grants them.

use std::sync::Arc;

use syrch_core::ports::PortError;
use wasmtime::component::Resource;

use crate::bindings::syrch::plugin::rows as wit;
use crate::contract::Port;
use crate::convert::Conv;
use crate::state::{Rows, State};

impl wit::Host for State {
    async fn read(
        &mut self,
        results: Resource<Rows>,
        offset: u64,
        limit: u32,
    ) -> wasmtime::Result<Result<wit::Page, wit::PortError>> {
        let page = match self.enter(Port::Rows)? {
            Ok(call) => {
                let results = Arc::clone(&self.table.get(&results)?.0);
                self.waiting(call.ports.rows.read(&results, offset, limit)).await
            }
            Err(reason) => Err(PortError::Denied(reason)),
        };
        Ok(page.conv())
    }
}
