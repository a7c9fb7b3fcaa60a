//! Attributes of the spans of a run: its database, its models and its plugins.

use std::collections::BTreeMap;

use syrch_core::Catalog;
use syrch_core::result_set::digest64;
use syrch_core::roles::Role;

use super::Value;
use super::names;
use crate::Provider;
use crate::executors::telemetry_name;
use crate::host::Host;
use crate::settings::ModelSettings;

/// The facts of a run that are known before anything happens in it.
pub(super) struct About {
    pub(super) run: String,
    pub(super) database: String,
    pub(super) system: &'static str,
    pub(super) plugins: BTreeMap<Role, String>,
    /// The temperature of calls whose plugin asks for none.
    pub(super) temperature: Option<f32>,
    pub(super) max_tokens: Option<u32>,
    pub(super) models: Models,
}

/// A model as its endpoint knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Model {
    pub(super) name: String,
    pub(super) provider: String,
    /// True if the model is rules in this process.
    pub(super) is_here: bool,
}

/// The models that answer the calls.
pub(super) struct Models {
    pub(super) default: Model,
    pub(super) named: BTreeMap<String, Model>,
    pub(super) purposes: BTreeMap<String, String>,
}

impl About {
    pub(super) fn new(host: &Host, run: &str, catalog: &Catalog) -> Self {
        let settings = &host.settings;
        Self {
            run: run.to_owned(),
            database: catalog.database.clone(),
            system: telemetry_name(&catalog.dialect),
            plugins: host
                .plugins
                .all()
                .map(|configured: &syrch_runtime::Configured| {
                    (configured.role(), configured.plugin().identity().name.clone())
                })
                .collect(),
            temperature: Some(settings.model.temperature),
            max_tokens: Some(settings.model.max_tokens),
            models: Models::from_settings(&settings.model),
        }
    }

    /// The name of the run's trace.
    pub(super) fn trace(&self) -> [u8; 16] {
        let half = |which: &str| u128::from(digest64(&[&self.run, "trace", which]));
        ((half("first") << 64) | half("second")).max(1).to_be_bytes()
    }

    /// The attributes that name the database and its engine.
    pub(super) fn database(&self) -> [(&'static str, Value); 2] {
        [
            (names::DATABASE_SYSTEM, self.system.into()),
            (names::DATABASE, self.database.as_str().into()),
        ]
    }

    /// The model that answers a call of that purpose, whose plugin names that model, or none.
    pub(super) fn model(&self, purpose: &str, named: Option<&str>) -> &Model {
        let Models { default, named: all, purposes } = &self.models;
        named
            .or(purposes.get(purpose).map(String::as_str))
            .and_then(|name| all.get(name))
            .unwrap_or(default)
    }
}

impl Models {
    fn from_settings(settings: &ModelSettings) -> Self {
        let model = |name: &str, provider: Provider| Model {
            name: provider.endpoint().map_or(provider.name(), |_| name).to_owned(),
            provider: provider.telemetry_name().to_owned(),
            is_here: provider.endpoint().is_none(),
        };
        let named = settings.models.iter().map(|(name, route)| {
            let endpoint =
                route.endpoint.as_ref().and_then(|endpoint| settings.endpoints.get(endpoint));
            let provider = endpoint.map_or(settings.provider, |endpoint| endpoint.provider);
            (name.clone(), model(&route.model, provider))
        });
        let own = settings.own.as_ref().map(|own| Model {
            name: settings.model.clone(),
            provider: own.name().to_owned(),
            is_here: false,
        });
        Self {
            default: own.unwrap_or_else(|| model(&settings.model, settings.provider)),
            named: named.collect(),
            purposes: settings.purposes.clone(),
        }
    }
}
