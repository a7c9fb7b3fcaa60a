//! Port `evaluate`.

use syrch_core::ports::PortError;
use syrch_core::roles::Call;
use syrch_core::{Candidate, Limits, Verdict, validate};
use wasmtime::component::Resource;

use crate::bindings::syrch::plugin::evaluate as wit;
use crate::contract::Port;
use crate::convert::Conv;
use crate::flight::Flight;
use crate::state::{Judging, State};

type WitVerdicts = Result<Vec<wit::Verdict>, wit::PortError>;

async fn reward(call: Result<Call, String>, candidates: Vec<Candidate>) -> Result<Vec<Verdict>, PortError> {
    match call {
        Ok(call) => call.ports.evaluate.reward(candidates).await,
        Err(reason) => Err(PortError::Denied(reason)),
    }
}

fn checked(candidates: Vec<wit::Candidate>, limits: &Limits) -> wasmtime::Result<Vec<Candidate>> {
    let candidates: Vec<Candidate> = candidates.conv();
    validate::candidates(&candidates, limits)?;
    Ok(candidates)
}

impl wit::Host for State {
    async fn calibrate(
        &mut self,
        claims: Vec<(f64, wit::Signals)>,
    ) -> wasmtime::Result<Result<Vec<f64>, wit::PortError>> {
        let call = self.enter(Port::Evaluate)?;
        let claims: Vec<(f64, syrch_core::Signals)> = claims.conv();
        validate::claims(&claims, &self.limits)?;
        let calibrated = self
            .waiting(async {
                match call {
                    Ok(call) => call.ports.evaluate.calibrate(claims).await,
                    Err(reason) => Err(PortError::Denied(reason)),
                }
            })
            .await;
        Ok(calibrated.conv())
    }

    async fn reward(&mut self, candidates: Vec<wit::Candidate>) -> wasmtime::Result<WitVerdicts> {
        let call = self.enter(Port::Evaluate)?;
        let candidates = checked(candidates, &self.limits)?;
        let verdicts = self.waiting(reward(call, candidates)).await;
        Ok(verdicts.conv())
    }

    async fn start_reward(&mut self, candidates: Vec<wit::Candidate>) -> wasmtime::Result<Resource<Judging>> {
        let call = self.enter(Port::Evaluate)?;
        let candidates = checked(candidates, &self.limits)?;
        let bytes = candidates.iter().map(|candidate| candidate.sql.len()).sum();
        self.hold(bytes)?;
        let flight = Flight::start(self.ticket(), reward(call, candidates));
        self.watch(flight.ticket(), flight.done());
        self.push(Judging(flight, bytes))
    }
}

impl wit::HostJudging for State {
    async fn ticket(&mut self, judging: Resource<Judging>) -> wasmtime::Result<u32> {
        self.enter_or_stop(Port::Evaluate)?;
        Ok(self.table.get(&judging)?.0.ticket())
    }

    async fn cancel(&mut self, judging: Resource<Judging>) -> wasmtime::Result<()> {
        self.enter_or_stop(Port::Evaluate)?;
        self.table.get(&judging)?.0.cancel(Err(PortError::Unavailable("cancelled by the plugin".into())));
        Ok(())
    }

    async fn get(&mut self, judging: Resource<Judging>) -> wasmtime::Result<Option<WitVerdicts>> {
        self.enter_or_stop(Port::Evaluate)?;
        Ok(self.table.get(&judging)?.0.get().conv())
    }

    async fn drop(&mut self, judging: Resource<Judging>) -> wasmtime::Result<()> {
        let judging = self.table.delete(judging)?;
        self.forget(judging.0.ticket());
        self.release(judging.1);
        Ok(())
    }
}
