//! The table of model providers. An entry has all that configuration, help, `doctor`, telemetry and
//! the registry need of a provider: a new one is a client in `syrch-llm` and an entry here.

use std::fmt;
#[cfg(feature = "endpoints")]
use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
#[cfg(feature = "endpoints")]
use syrch_core::ports::ModelProvider;
#[cfg(feature = "endpoints")]
use syrch_llm::{
    AnthropicProvider, EmbeddingsProvider, EndpointConfig, EndpointError, ListRequest,
    OpenAiProvider, list_of_models,
};

/// The entry of a provider in the table.
struct Entry {
    /// Its name in flags, files and journals.
    name: &'static str,
    /// Its name by OpenTelemetry's conventions.
    telemetry: &'static str,
    /// A description for the help text.
    summary: &'static str,
    /// Its endpoints; `None` if the provider computes on this machine.
    endpoint: Option<EndpointEntry>,
    /// Its declaration if it is rules in place of a model.
    rules: Option<Rules>,
}

/// The declaration of rules that answer in place of a model: their replies say how sure they are
/// and where a statement comes from, and they know which question they cannot answer.
#[derive(Debug)]
pub(crate) struct Rules {
    /// Returns true if they read a question as one that asks for a change of data.
    pub(crate) asks_for_change: fn(&str) -> bool,
}

/// The endpoints with the protocol of a provider: the defaults of the configuration, and how a
/// client is made.
#[derive(Debug)]
pub struct EndpointEntry {
    /// The environment variable for the key of the vendor's own programs.
    pub key_variable: &'static str,
    /// Scheme and host of the vendor's own endpoint, the only one to which this key is sent.
    pub origin: &'static str,
    /// The base URL if none is configured.
    pub base_url: &'static str,
    /// The model if none is configured.
    pub model: &'static str,
    /// Its clients.
    #[cfg(feature = "endpoints")]
    pub(crate) clients: Clients,
}

/// Makes a client of an endpoint; nothing is sent yet.
#[cfg(feature = "endpoints")]
type Open = fn(EndpointConfig) -> Result<Arc<dyn ModelProvider>, EndpointError>;

/// The clients of the endpoints with the protocol of a provider.
#[cfg(feature = "endpoints")]
#[derive(Debug)]
pub(crate) struct Clients {
    /// Makes the request for the list of an endpoint's models from its base URL and key.
    pub(crate) list: fn(&str, Option<&str>) -> ListRequest,
    pub(crate) open: Open,
    /// Makes a client for embeddings; `None` if the protocol has no embeddings.
    pub(crate) open_embeddings: Option<Open>,
}

impl EndpointEntry {
    /// Makes the request for the list of an endpoint's models from its base URL and key.
    #[cfg(feature = "endpoints")]
    #[must_use]
    pub fn list(&self, base_url: &str, key: Option<&str>) -> ListRequest {
        (self.clients.list)(base_url, key)
    }
}

static TABLE: [Entry; 3] = [
    Entry {
        name: "openai",
        telemetry: "openai",
        summary: "any endpoint that speaks its chat completions",
        endpoint: Some(EndpointEntry {
            key_variable: "OPENAI_API_KEY",
            origin: "https://api.openai.com",
            base_url: "https://api.openai.com/v1",
            model: "gpt-4o",
            #[cfg(feature = "endpoints")]
            clients: Clients {
                list: list_of_models::<syrch_llm::openai::OpenAi>,
                open: |config| Ok(Arc::new(OpenAiProvider::new(config)?)),
                open_embeddings: Some(|config| Ok(Arc::new(EmbeddingsProvider::new(config)?))),
            },
        }),
        rules: None,
    },
    Entry {
        name: "anthropic",
        telemetry: "anthropic",
        summary: "an endpoint that speaks the Messages API",
        endpoint: Some(EndpointEntry {
            key_variable: "ANTHROPIC_API_KEY",
            origin: "https://api.anthropic.com",
            base_url: "https://api.anthropic.com",
            model: "claude-sonnet-4-5",
            #[cfg(feature = "endpoints")]
            clients: Clients {
                list: list_of_models::<syrch_llm::anthropic::Anthropic>,
                open: |config| Ok(Arc::new(AnthropicProvider::new(config)?)),
                open_embeddings: None,
            },
        }),
        rules: None,
    },
    Entry {
        name: "offline",
        telemetry: "syrch.offline",
        summary: "rules without a model",
        endpoint: None,
        rules: Some(Rules { asks_for_change: syrch_offline::asks_for_change }),
    },
];

/// A provider of model calls: one entry of the table.
#[derive(Clone, Copy)]
pub struct Provider(&'static Entry);

impl Provider {
    /// Endpoints with OpenAI's chat completions.
    pub const OPENAI: Self = Self(&TABLE[0]);
    /// Endpoints with Anthropic's Messages API.
    pub const ANTHROPIC: Self = Self(&TABLE[1]);
    /// Rules without a model and without a network.
    pub const OFFLINE: Self = Self(&TABLE[2]);

    /// All providers. If the environment has keys of several, the first of these is used.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(Self)
    }

    /// The provider of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|provider| provider.name() == name)
    }

    /// Its name in flags, files and journals.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Its description for the help text.
    #[must_use]
    pub fn summary(self) -> &'static str {
        self.0.summary
    }

    /// Its endpoints; `None` if it computes on this machine.
    #[must_use]
    pub fn endpoint(self) -> Option<&'static EndpointEntry> {
        self.0.endpoint.as_ref()
    }

    /// Its declaration; `None` unless it is rules in place of a model.
    pub(crate) fn rules(self) -> Option<&'static Rules> {
        self.0.rules.as_ref()
    }

    /// Returns whether its endpoints make embeddings.
    #[cfg(feature = "endpoints")]
    #[must_use]
    pub fn makes_embeddings(self) -> bool {
        self.endpoint().is_some_and(|endpoint| endpoint.clients.open_embeddings.is_some())
    }

    /// Its name by OpenTelemetry's conventions.
    pub(crate) fn telemetry_name(self) -> &'static str {
        self.0.telemetry
    }
}

impl Default for Provider {
    fn default() -> Self {
        Self::OFFLINE
    }
}

impl PartialEq for Provider {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Provider {}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Provider {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Provider {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::from_name(&name)
            .ok_or_else(|| D::Error::custom(format!("there is no provider `{name}`")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_distinguished_and_come_back_by_name() {
        let names: Vec<&str> = Provider::all().map(Provider::name).collect();
        assert_eq!(names, ["openai", "anthropic", "offline"]);
        for provider in Provider::all() {
            let text = serde_json::to_string(&provider).unwrap();
            assert_eq!(serde_json::from_str::<Provider>(&text).unwrap(), provider);
            // The key goes to the vendor's own endpoint, which is the default one.
            if let Some(endpoint) = provider.endpoint() {
                assert!(
                    endpoint.base_url.starts_with(endpoint.origin)
                        && endpoint.origin.starts_with("https://")
                );
            }
        }
        assert!(
            serde_json::from_str::<Provider>(r#""opneai""#)
                .unwrap_err()
                .to_string()
                .contains("`opneai`")
        );
    }
}
