//! Models: the providers, what an address of an endpoint exposes, and what recorded and simulated
//! models answer for.

pub use syrch_core::StructuredReplies;
#[cfg(feature = "endpoints")]
pub use syrch_llm::{is_exposed, is_loopback, is_secret, resolve_locally};
pub use syrch_simulated::SimulatedKnobs;

pub use crate::open::check_prices;
#[cfg(feature = "endpoints")]
pub use crate::probe::{Probe, SchemaSupport, probe_endpoint};
pub use crate::providers::{EndpointEntry, Provider};
pub use crate::recordings::recording_models;
pub use crate::simulation::count_simulated_questions;
