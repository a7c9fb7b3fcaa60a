//! The verified optimizer as a state machine: which statement is checked, compared and measured
//! next, when a candidate is accepted, and the outcome of the optimization. It does no I/O, reads
//! no clock and holds no connection: [`Optimization::step`] returns what is to be done, and
//! [`Optimization::feed`] takes the result of it.

mod confirm;
mod evidence;
mod gates;
mod machine;
mod measure;
mod outcome;
mod report;
mod settings;
mod step;
mod transitions;

pub use confirm::{Confirmation, Pair};
pub use evidence::{CONFIRMED, evidence, interval};
pub use gates::{Advice, Gate, Gates, SUPPORT, gates};
pub use machine::Optimization;
pub use measure::{Round, is_faster, median};
pub use outcome::{IterationState, Outcome};
pub use report::{Entry, Iteration, Manifest, Plans, Probe, Report};
pub use settings::{EARLY_STOP, Settings, SettingsError};
pub use step::{Fed, OutOfTurn, Proposed, Purpose, Step, Which};

#[cfg(test)]
mod tests;
