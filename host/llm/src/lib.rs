//! Clients for the endpoints of language models: `openai`, for every endpoint that speaks its
//! protocol, and `anthropic`.
//!
//! Each implements [`syrch_core::ports::ModelProvider`]; policy (budgets, grants, caches, rate
//! limits, retries) is in `syrch-layers` and is not repeated here.

pub mod anthropic;
pub mod http;
pub mod openai;

pub use anthropic::{ANTHROPIC_BASE_URL, AnthropicProvider};
pub use http::{
    EndpointConfig, EndpointError, ListRequest, StructuredReplies, is_exposed, is_loopback,
    is_secret, list_of_models, resolve_locally,
};
pub use openai::{EmbeddingsProvider, OpenAiConfig, OpenAiProvider};
