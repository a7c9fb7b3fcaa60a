//! Measures the cost of a role call: a store, an instance, its settings, and the call.

use std::time::Instant;

use syrch_core::ledger::{Budgets, Ledger};
use syrch_core::roles::{Calibrator, Call, Role};
use syrch_core::{Limits, Signals};
use syrch_runtime::{CompileSettings, Origin, Runtime, WorkerProcess, read_component};

use crate::Outcome;
use crate::figure::Figure;
use crate::ports::nothing;
use crate::samples::median;
use crate::world::World;

const WARM_UP: usize = 200;
const CALLS: usize = 2_000;

/// Role calls of the built-in calibrator, which reaches no port: nothing is measured but the call,
/// in this process and in a worker.
pub(crate) fn measure(world: &World) -> Outcome<Vec<Figure>> {
    let (_, here) = time_calls(world, None)?;
    let figure = Figure::new("role call of a Rust guest: instantiate, configure, call", here, "µs");
    let mut figures = vec![figure.at_most(100.0).note(format!("median of {CALLS}"))];
    if let Some(worker) = world.worker() {
        let (started, isolated) = time_calls(world, Some(worker))?;
        figures.extend([
            Figure::new("the same in a worker process, beyond that", isolated - here, "µs")
                .at_most(60.0)
                .note(format!("median of {CALLS}")),
            Figure::new("a worker process from its start to the first description", started, "ms")
                .at_most(50.0)
                .note("one start, with the code compiled"),
        ]);
    }
    Ok(figures)
}

/// Returns the milliseconds in which the compiled plugin is loaded, and the microseconds of a call.
fn time_calls(world: &World, worker: Option<WorkerProcess>) -> Outcome<(f64, f64)> {
    let cache = world.place("cache")?;
    // Searches are tasks of the pool, and so is this.
    let timed = world.runtime.spawn(async move {
        let limits = Limits::default();
        let component =
            read_component(&syrch_kit::repository().join("plugins/signals.wasm"), &limits)?;
        let compile = CompileSettings { worker, ..CompileSettings::in_folder(&cache) };
        let runtime = Runtime::new(limits, &compile)?;
        runtime.load("signals", component.clone(), Origin::ThirdParty, &|| {}).await?;
        let begin = Instant::now();
        let plugin = runtime.load("signals", component, Origin::ThirdParty, &|| {}).await?;
        let loaded = begin.elapsed().as_secs_f64() * 1e3;
        let calibrator = plugin.configure(Role::Calibrator, &serde_json::Map::new()).await?;
        // A budget that the warm-up cannot use up.
        let budgets = Budgets { cpu: std::time::Duration::from_secs(3_600), ..Budgets::default() };
        let call = Call {
            label: "calibrator".to_owned(),
            ports: nothing(),
            ledger: Ledger::new(budgets),
            memory: None,
            cpu: None,
        };
        let claims = [(0.9, Signals { attempts: 1, max_attempts: 3, ..Signals::default() })];
        let mut times = Vec::with_capacity(CALLS);
        for round in 0..WARM_UP + CALLS {
            let begin = Instant::now();
            let calibrated = calibrator.calibrate(call.clone(), &claims).await?;
            let taken = begin.elapsed().as_secs_f64() * 1e6;
            if calibrated != [0.9] {
                return Err(format!("the calibrator said {calibrated:?}").into());
            }
            if round >= WARM_UP {
                times.push(taken);
            }
        }
        Outcome::Ok((loaded, median(times)))
    });
    world.runtime.block_on(timed)?
}
