//! A loaded plugin: its description, and the stores in which its roles are called.

use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::future::BoxFuture;
use syrch_core::roles::{Call, Role};
use syrch_core::{Limits, RoleError, text};
use syrch_schema::{Patterns, Schema};
use tokio::task::JoinSet;

use crate::LoadError;
use crate::isolate::Worker;
use crate::job::{Description, RoleCall, RoleResult, Used};
use crate::process::Probed;
use crate::session::{Caller, Guest, Session, UsedCells, to_load_error};

/// A plugin's description of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Identity {
    /// The plugin's name. It is a label; the digest identifies the plugin.
    pub name: String,
    /// The version that the plugin reports, which may be empty.
    pub version: String,
    /// A description of the plugin in a sentence.
    pub summary: String,
    /// A JSON Schema of the plugin's settings.
    pub config_schema: serde_json::Value,
    /// The schema as the plugin wrote it.
    pub(crate) schema_text: String,
}

/// A plugin that was loaded and compared with the contract. Cheap to clone.
#[derive(Clone)]
pub struct Plugin {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) guest: Arc<Guest>,
    /// The process in which the plugin runs; `None` if it runs in this one.
    pub(crate) worker: Option<Worker>,
    pub(crate) digest: String,
    pub(crate) size: u64,
    pub(crate) imports: Vec<String>,
    /// True if its schema of settings is known to be one and to demand none, as tests show of
    /// plugins that came with the host: then it is compiled only where there are settings to check.
    pub(crate) has_known_schema: bool,
    pub(crate) identity: OnceLock<Identity>,
}

impl Plugin {
    /// Asks the plugin for its description.
    pub(crate) async fn describe(inner: Inner) -> Result<Self, LoadError> {
        beside_others(async move {
            let inner = Arc::new(inner);
            let described = match &inner.worker {
                Some(worker) => worker.describe().await?,
                None => inner.guest.describe().await?,
            };
            let _ = inner.identity.set(identity_of(described, &inner).await?);
            Ok(Self { inner })
        })
        .await
    }

    /// Has the worker process of the plugin try what it must not be able to do; `None` if the
    /// plugin runs in this process.
    ///
    /// # Errors
    /// When the worker cannot be started, or ends.
    pub async fn probe_worker(&self) -> Option<Result<Vec<Probed>, RoleError>> {
        Some(self.inner.worker.as_ref()?.probe().await)
    }

    /// The plugin's description of itself.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        const UNKNOWN: &Identity = &Identity {
            name: String::new(),
            version: String::new(),
            summary: String::new(),
            config_schema: serde_json::Value::Null,
            schema_text: String::new(),
        };
        self.inner.identity.get().unwrap_or(UNKNOWN)
    }

    /// The sha256 of the plugin's bytes, in hex.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.inner.digest
    }

    /// The size of the plugin's file, in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.inner.size
    }

    /// The roles that the plugin implements.
    #[must_use]
    pub fn roles(&self) -> &[Role] {
        &self.inner.guest.roles
    }

    /// The ports that the plugin imports.
    #[must_use]
    pub fn imports(&self) -> &[String] {
        &self.inner.imports
    }

    /// Assigns the plugin a role and settings. The settings are checked against its schema, and the
    /// plugin itself must accept them.
    ///
    /// # Errors
    /// When the plugin does not implement the role, or refuses the settings.
    pub async fn configure(
        &self,
        role: Role,
        config: &serde_json::Map<String, serde_json::Value>,
    ) -> Result<Configured, LoadError> {
        if !self.inner.guest.roles.contains(&role) {
            let implemented = self
                .inner
                .guest
                .roles
                .iter()
                .map(|role| role.name())
                .collect::<Vec<_>>()
                .join(", ");
            return Err(LoadError::WrongRole { wanted: role.name().to_owned(), implemented });
        }
        let is_empty = config.is_empty();
        let config = serde_json::Value::Object(config.clone());
        let plugin = self.clone();
        beside_others(async move {
            if !(plugin.inner.has_known_schema && is_empty) {
                check_config(&plugin.identity().schema_text, &config, &plugin.inner.guest.limits)
                    .await?;
            }
            let config = config.to_string();
            let configured = match &plugin.inner.worker {
                Some(worker) => worker.configure(&config).await,
                None => plugin.inner.guest.configure(&config).await,
            };
            configured.map_err(|error| match error {
                RoleError::Failure { .. } => LoadError::Config(error.to_string()),
                _ => to_load_error(error),
            })?;
            Ok(Configured { plugin, role, config: config.into(), used: Arc::default() })
        })
        .await
    }
}

/// Runs a part of loading as a task of its own, which ends with the future: a search loads several
/// plugins at once.
fn beside_others<T: Send + 'static>(
    part: impl Future<Output = Result<T, LoadError>> + Send + 'static,
) -> BoxFuture<'static, Result<T, LoadError>> {
    let mut task = JoinSet::new();
    task.spawn(part);
    Box::pin(async move {
        match task.join_next().await {
            Some(Ok(loaded)) => loaded,
            Some(Err(error)) => Err(LoadError::Engine(error.to_string())),
            None => Err(LoadError::Engine("the task that loads it is gone".to_owned())),
        }
    })
}

async fn identity_of(described: Description, inner: &Inner) -> Result<Identity, LoadError> {
    let limits = &inner.guest.limits;
    fn description_error(what: String) -> LoadError {
        LoadError::About(format!("its description is unusable: {what}"))
    }
    let Description { name, version, summary, config_schema } = described;
    if name.is_empty() || name.len() > limits.id_bytes || version.len() > limits.id_bytes {
        return Err(description_error(format!(
            "name and version are 1 to {} bytes",
            limits.id_bytes
        )));
    }
    if !inner.has_known_schema {
        Schema::prepare(&config_schema, Patterns::Refused, limits)
            .await
            .map_err(|error| description_error(format!("`config-schema`: {error}")))?;
    }
    let schema_text = config_schema;
    let config_schema =
        serde_json::from_str(&schema_text).map_err(|error| description_error(error.to_string()))?;
    let summary = text::clip(&summary, limits.log_line).to_owned();
    Ok(Identity { name, version, summary, config_schema, schema_text })
}

/// Checks settings against the plugin's schema.
async fn check_config(
    schema: &str,
    config: &serde_json::Value,
    limits: &Limits,
) -> Result<(), LoadError> {
    const SHOWN: usize = 8;
    let schema = Schema::prepare(schema, Patterns::Refused, limits)
        .await
        .map_err(|error| LoadError::Config(error.to_string()))?;
    let errors = schema.errors(config, SHOWN);
    if errors.is_empty() { Ok(()) } else { Err(LoadError::Config(errors.join("; "))) }
}

/// A plugin with a role and settings. It implements the traits of `core`. Cheap to clone; clones
/// count what they use together.
#[derive(Clone)]
pub struct Configured {
    plugin: Plugin,
    role: Role,
    config: Arc<str>,
    used: Arc<UsedCells>,
}

impl Configured {
    /// The plugin without its role.
    #[must_use]
    pub fn plugin(&self) -> &Plugin {
        &self.plugin
    }

    /// The role that the plugin was assigned.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// Returns the CPU time and the memory that the plugin has used so far.
    #[must_use]
    pub fn usage(&self) -> Used {
        Used {
            cpu: Duration::from_micros(self.used.cpu_micros.load(Ordering::Relaxed)),
            memory_peak: self.used.memory_peak.load(Ordering::Relaxed),
        }
    }

    /// The plugin with the same role and settings for another user; what it uses is counted from
    /// zero.
    #[must_use]
    pub fn anew(&self) -> Self {
        Self { used: Arc::default(), ..self.clone() }
    }

    /// Calls the role in a new store, with the settings already applied, or in the worker process
    /// of the plugin. The result fits the call.
    pub(crate) async fn run(
        &self,
        call: Call,
        made: &RoleCall<'_>,
    ) -> Result<RoleResult, RoleError> {
        if let Some(worker) = &self.plugin.inner.worker {
            let (result, used) = worker.run(self.role, call, &self.config, made).await?;
            self.used.add(used);
            return Ok(result);
        }
        let mut session =
            Session::open(&self.plugin.inner.guest, Caller::Here(self.role, call)).await?;
        session.used = Some(Arc::clone(&self.used));
        session.configure(&self.config).await?;
        session.run(made).await
    }

    /// The error for a result of another role.
    pub(crate) fn other_result(&self, export: &str) -> RoleError {
        RoleError::Invalid {
            plugin: self.plugin.inner.guest.label.clone(),
            export: export.to_owned(),
            detail: "a result of another role".to_owned(),
        }
    }
}
