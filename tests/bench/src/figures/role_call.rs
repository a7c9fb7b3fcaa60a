//! Measures the cost of a role call: a store, an instance, its settings, and the call.

use std::time::Instant;

use syrch_core::ledger::{Budgets, Ledger};
use syrch_core::roles::{Calibrator, Call, Role};
use syrch_core::{Limits, Signals};
use syrch_runtime::{CompileSettings, Origin, Runtime, read_component};

use crate::Outcome;
use crate::figure::Figure;
use crate::ports::nothing;
use crate::samples::median;
use crate::world::World;

const WARM_UP: usize = 200;
const CALLS: usize = 2_000;

/// Role calls of the built-in calibrator, which reaches no port: nothing is measured but the call.
pub(crate) fn measure(world: &World) -> Outcome<Vec<Figure>> {
    let cache = world.place("cache")?;
    let times = world.runtime.block_on(async {
        let limits = Limits::default();
        let component =
            read_component(&syrch_kit::repository().join("plugins/signals.wasm"), &limits)?;
        let runtime = Runtime::new(limits, &CompileSettings::in_folder(&cache))?;
        let plugin = runtime.load("signals", component, Origin::BuiltIn, &|| {}).await?;
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
        Outcome::Ok(times)
    })?;
    let figure =
        Figure::new("role call of a Rust guest: instantiate, configure, call", median(times), "µs");
    Ok(vec![figure.at_most(100.0).note(format!("median of {CALLS}"))])
}
