//! Models: the providers, what an address of an endpoint exposes, and what recorded and simulated
//! models answer for.

pub use syrch_llm::{StructuredReplies, is_exposed, is_loopback, kept_local};
pub use syrch_simulated::SimulatedKnobs;

pub use crate::probe::{Probe, SchemaSupport, probe_endpoint};
pub use crate::providers::{EndpointEntry, Provider};
pub use crate::recordings::recorded_models;
pub use crate::simulation::simulated_questions;
