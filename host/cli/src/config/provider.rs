//! Chooses the model provider where none is named, and the key of each endpoint.

use syrch::Provider;
use syrch::cache::Place;
use syrch::models::EndpointEntry;
use syrch::secrecy::SecretString;
use syrch::settings::ModelSettings;
use syrch::syrch_core::DatabaseUrl;

use super::kind::Kind;
use super::{Config, Origin, mapping};
use crate::environment::Environment;
use crate::failure::{Failure, Outcome};

/// The key of a vendor in the environment, with its variable. It is for the vendor's own endpoint
/// only.
pub(crate) fn vendor_key(
    environment: &Environment,
    provider: Provider,
    base_url: &str,
) -> Option<(&'static str, SecretString)> {
    let endpoint = provider.endpoint().filter(|endpoint| is_at(base_url, endpoint.origin))?;
    let key = environment.vendor_keys.get(endpoint.key_variable)?;
    Some((endpoint.key_variable, SecretString::from(key.clone())))
}

/// Returns true if a URL is below an address. An address that only begins with the same characters
/// is another one.
fn is_at(url: &str, address: &str) -> bool {
    url.trim().strip_prefix(address).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl Config {
    /// Chooses the provider where none is named: a key or a base URL chooses an endpoint, and
    /// nothing chooses the offline rules.
    pub(super) fn choose_provider(&mut self, environment: &Environment) {
        let has_url = self.is_set("llm.base_url");
        let is_named = self.effective.is_provider_named;
        let model = &mut self.effective.settings.model;
        if !is_named
            && model.replay.is_none()
            && model.simulated.is_none()
            && let Some((provider, reason)) = infer_provider(model, has_url, environment)
        {
            model.provider = provider;
            self.origins.entry("llm.provider").or_insert(Origin::Derived(reason));
        }
        match model.provider.endpoint() {
            // An explicit choice of no model holds for the further endpoints of a file, too.
            None if is_named => {
                model.endpoints.clear();
                model.models.clear();
                model.purposes.clear();
            }
            None => {}
            Some(endpoint) => {
                if !has_url && model.base_url != endpoint.base_url {
                    endpoint.base_url.clone_into(&mut model.base_url);
                    self.origins.insert("llm.base_url", Origin::Derived("the provider's address"));
                }
                if !self.origins.contains_key("llm.model") && model.model != endpoint.model {
                    endpoint.model.clone_into(&mut model.model);
                    self.origins.insert("llm.model", Origin::Derived("the provider's default"));
                }
            }
        }
    }

    /// Gives each endpoint its key: its own, else its vendor's.
    pub(super) fn give_keys(&mut self, environment: &Environment) -> Outcome<()> {
        let model = &mut self.effective.settings.model;
        if model.api_key.is_none()
            && let Some((variable, key)) = vendor_key(environment, model.provider, &model.base_url)
        {
            model.api_key = Some(key);
            self.origins.insert("llm.api_key", Origin::Environment(variable.to_owned()));
        }
        let mut problems = Vec::new();
        for (name, endpoint) in &mut model.endpoints {
            let variable = mapping::variable(name);
            let own = match environment.syrch.get(&variable) {
                None => None,
                Some(None) => Some(Err("the value is not UTF-8".to_owned())),
                Some(Some(key)) => {
                    Some(Kind::Secret.parse(key).map(|_| SecretString::from(key.clone())))
                }
            };
            let (variable, key) = match own {
                Some(Err(why)) => {
                    problems.push(format!("environment variable {variable}: {why}"));
                    continue;
                }
                Some(Ok(key)) => (variable, key),
                None if endpoint.api_key.is_some() => continue,
                None => match vendor_key(environment, endpoint.provider, &endpoint.base_url) {
                    Some((variable, key)) => (variable.to_owned(), key),
                    None => continue,
                },
            };
            endpoint.api_key = Some(key);
            self.keys.insert(name.clone(), Origin::Environment(variable));
        }
        if problems.is_empty() {
            Ok(())
        } else {
            Err(Failure::config(problems.join("\n"))
                .hint("correct the value, or unset the variable"))
        }
    }

    /// All secrets of the configuration and the environment, also those that no provider gets.
    pub(crate) fn secrets(&self, environment: &Environment) -> Vec<SecretString> {
        let model = &self.effective.settings.model;
        let databases =
            self.effective.databases.values().chain([&self.effective.settings.database]);
        let passwords =
            databases.flat_map(|url| DatabaseUrl::parse(url).secrets()).map(SecretString::from);
        let passwords: Vec<SecretString> = passwords.collect();
        let endpoints = model.endpoints.values().filter_map(|endpoint| endpoint.api_key.clone());
        let cache = self.effective.shared_cache.as_ref().and_then(|place| match place {
            Place::Redis(address) => address.password().map(SecretString::from),
            Place::Local(_) | Place::Shared(_) => None,
        });
        model
            .api_key
            .clone()
            .into_iter()
            .chain(cache)
            .chain(endpoints)
            .chain(passwords)
            .chain(environment.keys())
            .collect()
    }
}

/// The provider that follows from keys and URLs, with the reason. `None` if there is neither.
fn infer_provider(
    model: &ModelSettings,
    has_url: bool,
    environment: &Environment,
) -> Option<(Provider, &'static str)> {
    const KEY: &str = "a key is configured";
    fn has_endpoint(provider: &Provider, is: &dyn Fn(&EndpointEntry) -> bool) -> bool {
        provider.endpoint().is_some_and(is)
    }
    let by_url = Provider::all()
        .find(|one| has_endpoint(one, &|endpoint| is_at(&model.base_url, endpoint.origin)));
    let by_url = by_url.unwrap_or(Provider::OPENAI);
    if model.api_key.is_some() {
        Some((by_url, KEY))
    } else if has_url {
        Some((by_url, "a base URL is configured"))
    } else {
        Provider::all()
            .find(|one| {
                has_endpoint(one, &|endpoint: &EndpointEntry| {
                    environment.vendor_keys.contains_key(endpoint.key_variable)
                })
            })
            .map(|provider| (provider, KEY))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vendors_key_goes_to_the_vendor_only() {
        let environment = Environment {
            vendor_keys: [
                ("OPENAI_API_KEY", "sk-o".to_owned()),
                ("ANTHROPIC_API_KEY", "sk-a".to_owned()),
            ]
            .into(),
            ..Environment::default()
        };
        let variable = |provider, url: &str| {
            vendor_key(&environment, provider, url).map(|(variable, _)| variable)
        };
        let openai = Provider::OPENAI;
        let anthropic = Provider::ANTHROPIC;
        assert_eq!(variable(openai, " https://api.openai.com/v1"), Some("OPENAI_API_KEY"));
        assert_eq!(variable(anthropic, "https://api.anthropic.com"), Some("ANTHROPIC_API_KEY"));
        for (provider, url) in [
            (openai, "https://api.anthropic.com/v1"),
            (anthropic, "https://api.openai.com/v1"),
            (openai, "https://api.openai.com.example.org/v1"),
            (anthropic, "https://api.anthropic.com@example.org"),
            (openai, "http://api.openai.com/v1"),
            (openai, "http://localhost:11434/v1"),
            (Provider::OFFLINE, "https://api.openai.com/v1"),
        ] {
            assert_eq!(variable(provider, url), None, "{url}");
        }
    }
}
