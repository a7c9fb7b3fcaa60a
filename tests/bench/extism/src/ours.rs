//! Our side: the calibrator as a search calls it.

use std::path::Path;
use std::time::Duration;

use syrch_core::ledger::{Budgets, Ledger};
use syrch_core::roles::{Calibrator, Call, Role};
use syrch_core::{Limits, Signals};
use syrch_runtime::{CompileSettings, Configured, Origin, Runtime, read_component};

use crate::Outcome;
use crate::STEPS;
use crate::ports::nothing;

/// The calibrator, compiled, with what its calls need.
pub(crate) struct Ours {
    executor: tokio::runtime::Runtime,
    calibrator: Configured,
    call: Call,
    /// The engine, whose ticker is behind the CPU limit.
    _runtime: Runtime,
}

impl Ours {
    /// Compiles the component and gives it its settings.
    pub(crate) fn load(file: &Path) -> Outcome<Self> {
        let executor = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let limits = Limits::default();
        let component = read_component(file, &limits)?;
        let runtime = Runtime::new(limits, &CompileSettings::default())?;
        let settings =
            serde_json::Map::from_iter([("steps".to_owned(), serde_json::from_str(STEPS)?)]);
        let calibrator = executor.block_on(async {
            let plugin = runtime.load("steps", component, Origin::ThirdParty, &|| {}).await?;
            plugin.configure(Role::Calibrator, &settings).await
        })?;
        // A budget that the rounds cannot use up.
        let budgets = Budgets { cpu: Duration::from_secs(3_600), ..Budgets::default() };
        let call = Call {
            label: "calibrator".to_owned(),
            ports: nothing(),
            ledger: Ledger::new(budgets),
            memory: None,
            cpu: None,
        };
        Ok(Self { executor, calibrator, call, _runtime: runtime })
    }

    /// One role call: a store, an instance, its settings, the call, and the checks of what it
    /// returned.
    pub(crate) fn calibrate(&self, claims: &[(f64, Signals)]) -> Outcome<Vec<f64>> {
        Ok(self.executor.block_on(self.calibrator.calibrate(self.call.clone(), claims))?)
    }
}
