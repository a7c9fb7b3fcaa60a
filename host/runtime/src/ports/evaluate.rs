//! Serves the interface `evaluate` to guests: calibrated confidences, and verdicts on candidates.

use syrch_core::ports::{Flight as Under, PortError, Ticket};
use syrch_core::roles::Call;
use syrch_core::{Candidate, Limits, Verdict, validate};
use wasmtime::component::Resource;

use crate::bindings::syrch::plugin::evaluate as wit;
use crate::contract::Port;
use crate::convert::Conv;
use crate::flight::Flight;
use crate::state::{Judging, State};

type WitVerdicts = Result<Vec<wit::Verdict>, wit::PortError>;

fn cancel_error() -> PortError {
    PortError::Unavailable("cancelled by the plugin".into())
}

impl State {
    /// Starts one judgement, in the guest's order, and returns its ticket and its future.
    async fn judge(
        &mut self,
        call: Result<Call, String>,
        candidates: Vec<Candidate>,
    ) -> (Ticket, Under<Result<Vec<Verdict>, PortError>>) {
        let ticket = self.ticket();
        let flight = match call {
            Ok(call) => self.waiting(call.ports.evaluate.issue_reward(ticket, candidates)).await,
            Err(reason) => Box::pin(async move { Err(PortError::Denied(reason)) }),
        };
        (ticket, flight)
    }
}

fn check_candidates(
    candidates: Vec<wit::Candidate>,
    limits: &Limits,
) -> wasmtime::Result<Vec<Candidate>> {
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
        let candidates = check_candidates(candidates, &self.limits)?;
        let (_, flight) = self.judge(call, candidates).await;
        let verdicts = self.waiting(flight).await;
        Ok(verdicts.conv())
    }

    async fn start_reward(
        &mut self,
        candidates: Vec<wit::Candidate>,
    ) -> wasmtime::Result<Resource<Judging>> {
        let call = self.enter(Port::Evaluate)?;
        let candidates = check_candidates(candidates, &self.limits)?;
        let bytes = candidates.iter().map(|candidate| candidate.sql.len()).sum();
        self.hold(bytes)?;
        let (ticket, call) = self.judge(call, candidates).await;
        let flight = Flight::start(ticket, call);
        self.watch(flight.ticket(), flight.subscribe_done());
        self.push(Judging(flight, bytes))
    }
}

impl wit::HostJudging for State {
    async fn ticket(&mut self, judging: Resource<Judging>) -> wasmtime::Result<u32> {
        self.enter_or_stop(Port::Evaluate)?;
        Ok(self.table.get(&judging)?.0.ticket())
    }

    async fn cancel(&mut self, judging: Resource<Judging>) -> wasmtime::Result<()> {
        let call = self.enter_or_stop(Port::Evaluate)?;
        let flight = self.table.get(&judging)?.0.clone();
        self.waiting(flight.give_up(call.ports.wait.as_ref(), Err(cancel_error()))).await;
        Ok(())
    }

    async fn get(&mut self, judging: Resource<Judging>) -> wasmtime::Result<Option<WitVerdicts>> {
        let call = self.enter_or_stop(Port::Evaluate)?;
        let flight = self.table.get(&judging)?.0.clone();
        let is_done = self.waiting(flight.is_seen_done(call.ports.wait.as_ref())).await;
        Ok(if is_done { flight.get() } else { None }.conv())
    }

    async fn drop(&mut self, judging: Resource<Judging>) -> wasmtime::Result<()> {
        let Judging(flight, bytes) = self.table.delete(judging)?;
        self.give_up(&flight, Err(cancel_error())).await;
        self.release(bytes);
        Ok(())
    }
}
