//! Serves the interface `run` to guests: the policy, settings, budget and seed of the run.

use crate::bindings::syrch::plugin::run::{Budget, Host, Policy};
use crate::contract::Port;
use crate::convert::Conv;
use crate::state::State;

impl Host for State {
    async fn current_policy(&mut self) -> wasmtime::Result<Policy> {
        Ok(self.enter_or_stop(Port::Run)?.ports.run.policy().conv())
    }

    async fn setting(&mut self, name: String) -> wasmtime::Result<Option<String>> {
        Ok(self.enter_or_stop(Port::Run)?.ports.run.setting(&name))
    }

    async fn remaining(&mut self) -> wasmtime::Result<Budget> {
        let call = self.enter_or_stop(Port::Run)?;
        Ok(self.waiting(call.ports.run.remaining()).await.conv())
    }

    async fn seed(&mut self) -> wasmtime::Result<u64> {
        Ok(self.enter_or_stop(Port::Run)?.ports.run.seed())
    }
}
