//! Opens the endpoints of models over HTTP.

use std::sync::Arc;

use syrch_core::ports::ModelProvider;
use syrch_core::text::either;
use syrch_llm::{EndpointConfig, EndpointError};

use crate::settings::EndpointSettings;
use crate::{Error, Provider, Settings};

/// A client of an endpoint for the model of that name, which makes texts or embeddings.
///
/// # Errors
/// When its settings are wrong, or its provider makes no embeddings.
pub(crate) fn open_endpoint(
    settings: &Settings,
    endpoint: &EndpointSettings,
    name: &str,
    embeds: bool,
) -> Result<Arc<dyn ModelProvider>, Error> {
    let known = endpoint.provider.endpoint();
    let open = match known {
        Some(known) if embeds => known.clients.open_embeddings,
        Some(known) => Some(known.clients.open),
        None => None,
    };
    let open = open.ok_or_else(|| {
        let able: Vec<&str> =
            Provider::all().filter(|known| known.makes_embeddings()).map(Provider::name).collect();
        Error::Config(format!(
            "the model `{name}` cannot make embeddings: the provider of its endpoint must be {}; \
             name one in llm.endpoints",
            either(&able)
        ))
    })?;
    let model = &settings.model;
    let config = EndpointConfig {
        api_key: endpoint.api_key.clone(),
        insecure: model.insecure_endpoint,
        temperature: Some(model.temperature),
        max_tokens: model.max_tokens,
        structured: model.structured,
        timeout: endpoint.timeout.unwrap_or(model.timeout),
        limits: settings.limits.clone(),
        ..EndpointConfig::new(&endpoint.base_url, name)
    };
    open(config).map_err(|error| match error {
        EndpointError::Exposed { .. } => Error::Exposed(error.to_string()),
        error => Error::Config(error.to_string()),
    })
}
