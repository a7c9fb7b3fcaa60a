//! Language models: the providers that answer a role's prompts, and the check of what they answer.
//!
//! Each provider implements [`syrch_core::ports::ModelProvider`]; policy (budgets, grants, caches, rate limits, other tries) stands around
//! it in `syrch-layers` and is not repeated here.

pub mod anthropic;
mod asked;
pub mod http;
pub mod offline;
pub mod openai;
pub mod recorded;
pub mod replay;
pub mod shape;
pub mod simulated;
mod statement;
mod written;

pub use anthropic::{ANTHROPIC_BASE_URL, AnthropicProvider};
pub use http::{EndpointConfig, EndpointError, ListRequest, is_exposed, is_loopback, kept_local, list_of_models};
pub use offline::{OfflineConfig, OfflineProvider, asks_for_change};
pub use openai::{EmbeddingsProvider, OpenAiConfig, OpenAiProvider};
pub use recorded::{RecordedAnswers, RecordedConfig, RecordedError, RecordedProvider};
pub use replay::{Exchange, ReplayConfig, ReplayProvider};
pub use simulated::{SimulatedConfig, SimulatedKnobs, SimulatedProvider, SimulatedQuestion, SimulatedSuite};
