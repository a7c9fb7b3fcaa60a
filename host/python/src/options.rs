//! The options of hosts and of questions, which Python passes as JSON.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use syrch::audit::Audit;
use syrch::databases::Executor;
use syrch::lock::Lock;
use syrch::plugins::{CompileProcess, CompileSettings, WorkerProcess};
use syrch::settings::PriceSettings;
use syrch::syrch_core::DatabaseUrl;
use syrch::syrch_core::ports::RowsGrant;
use syrch::syrch_core::roles::Role;
use syrch::{Error, Host, HostBuilder, Provider, Query, Settings};

/// The microunits of a dollar.
const MICROS: f64 = 1e6;

/// The options of a host. What is missing keeps the library's default.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct HostOptions {
    pub(crate) database: Option<String>,
    pub(crate) executor_type: Option<String>,
    pub(crate) tables: Vec<String>,
    model: Option<String>,
    provider: Option<String>,
    base_url: Option<String>,
    api_key: Option<String>,
    insecure_endpoint: bool,
    temperature: Option<f32>,
    pub(crate) max_tokens: Option<u32>,
    pub(crate) timeout: Option<f64>,
    prices: BTreeMap<String, PriceSettings>,
    strategy: Option<String>,
    plugins: BTreeMap<Role, String>,
    params: BTreeMap<Role, Map<String, Value>>,
    trust: Vec<PathBuf>,
    isolate: Option<String>,
    rows: Option<String>,
    semantics: Vec<PathBuf>,
    notes: Option<PathBuf>,
    examples: Option<PathBuf>,
    cache: Option<PathBuf>,
    cache_ttl: Option<f64>,
    journal: Option<PathBuf>,
    lock: Option<PathBuf>,
    audit: Option<PathBuf>,
    record: Option<PathBuf>,
    replay: Option<PathBuf>,
    seed: Option<u64>,
    ambiguity_threshold: Option<f64>,
    max_questions: Option<u32>,
    sql_timeout: Option<f64>,
    max_rows: Option<u64>,
    max_calls: Option<u32>,
    max_sql_runs: Option<u32>,
    max_usd: Option<f64>,
    environment: BTreeMap<String, String>,
    compiler: Option<PathBuf>,
    search: SearchOptions,
}

/// The options of one question.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SearchOptions {
    evidence: Option<String>,
    max_depth: Option<u32>,
    max_attempts: Option<u32>,
    high_confidence: Option<f64>,
    min_confidence: Option<f64>,
    max_concurrency: Option<u32>,
    token_budget: Option<u64>,
    deadline: Option<f64>,
    has_no_deadline: bool,
}

/// Reads options.
///
/// # Errors
/// `ValueError` with what is wrong in them.
pub(crate) fn read<T: DeserializeOwned>(json: &str) -> PyResult<T> {
    serde_json::from_str(json).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// A duration in seconds, of the option of that name.
pub(crate) fn seconds(name: &str, seconds: f64) -> Result<Duration, Error> {
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|time| !time.is_zero())
        .ok_or_else(|| Error::Config(format!("`{name}` is {seconds}; it is a number of seconds")))
}

impl HostOptions {
    /// The settings of a host, but for its database and its own model.
    ///
    /// # Errors
    /// When an option has a value that it cannot have.
    pub(crate) fn builder(&self) -> Result<HostBuilder, Error> {
        self.check_executor()?;
        let mut builder = Host::builder();
        if let Some(strategy) = &self.strategy {
            builder = builder.strategy(strategy);
        }
        for (role, plugin) in &self.plugins {
            builder = builder.plugin(*role, plugin);
        }
        for (role, params) in self.params.clone() {
            for (name, value) in params {
                builder = builder.option(role, name, value);
            }
        }
        if let Some(threshold) = self.ambiguity_threshold {
            builder = builder.ambiguity_threshold(threshold);
        }
        if let Some(provider) = &self.provider {
            builder = builder.provider(find_provider(provider)?);
        }
        if let Some(model) = self.model.clone() {
            builder = builder.model(model);
        }
        if let Some(url) = self.base_url.clone() {
            builder = builder.base_url(url);
        }
        let mut configured = Ok(());
        builder = builder.configure(|settings| configured = self.configure(settings));
        configured.map(|()| builder)
    }

    /// Sets what no method of the builder sets.
    ///
    /// # Errors
    /// When an option has a value that it cannot have.
    pub(crate) fn configure(&self, settings: &mut Settings) -> Result<(), Error> {
        settings.tables.clone_from(&self.tables);
        settings.trust.clone_from(&self.trust);
        settings.semantics.files.clone_from(&self.semantics);
        settings.retrieval.notes.clone_from(&self.notes);
        settings.retrieval.examples.clone_from(&self.examples);
        settings.servers.variables.clone_from(&self.environment);
        settings.servers.home = self.environment.get("HOME").map(PathBuf::from);
        settings.servers.named.clone_from(&self.database);
        if let Some(rows) = &self.rows {
            settings.rows = rows.parse::<RowsGrant>().map_err(Error::Config)?;
        }
        self.search.configure(settings)?;
        settings.seed = self.seed.unwrap_or(settings.seed);
        settings.max_questions = self.max_questions.unwrap_or(settings.max_questions);
        self.configure_model(settings)?;
        self.configure_limits(settings)?;
        self.configure_folders(settings)
    }

    fn configure_model(&self, settings: &mut Settings) -> Result<(), Error> {
        let model = &mut settings.model;
        model.api_key = self.api_key.clone().map(Into::into);
        model.insecure_endpoint = self.insecure_endpoint;
        model.temperature = self.temperature.unwrap_or(model.temperature);
        model.max_tokens = self.max_tokens.unwrap_or(model.max_tokens);
        model.prices.clone_from(&self.prices);
        model.record.clone_from(&self.record);
        model.replay.clone_from(&self.replay);
        if let Some(timeout) = self.timeout {
            model.timeout = seconds("timeout", timeout)?;
        }
        Ok(())
    }

    fn configure_limits(&self, settings: &mut Settings) -> Result<(), Error> {
        let Settings { limits, budgets, .. } = settings;
        if let Some(timeout) = self.sql_timeout {
            limits.sql_deadline = seconds("sql_timeout", timeout)?;
        }
        limits.rows = self.max_rows.unwrap_or(limits.rows);
        budgets.llm_calls = self.max_calls.unwrap_or(budgets.llm_calls);
        budgets.sql_runs = self.max_sql_runs.unwrap_or(budgets.sql_runs);
        if let Some(usd) = self.max_usd {
            if !(usd.is_finite() && usd > 0.0) {
                return Err(Error::Config(format!("`max_usd` is {usd}; it is more than 0")));
            }
            budgets.cost_micros = Some((usd * MICROS).round() as u64);
        }
        Ok(())
    }

    fn configure_folders(&self, settings: &mut Settings) -> Result<(), Error> {
        settings.cache.folder.clone_from(&self.cache);
        if let Some(ttl) = self.cache_ttl {
            settings.cache.ttl = seconds("cache_ttl", ttl)?;
        }
        settings.journal.folder.clone_from(&self.journal);
        if let Some(file) = &self.lock {
            settings.lock = Arc::new(Lock::read(file)?);
        }
        if let Some(folder) = &self.audit {
            settings.audit = Arc::new(Audit::in_folder(folder));
        }
        if let Some(folder) = &self.cache {
            settings.compile = CompileSettings::in_folder(folder);
        }
        let program = self.compiler.clone().filter(|_| CompileProcess::IS_SUPPORTED);
        settings.compile.process = program.map(|program| CompileProcess {
            program,
            arguments: vec![CompileProcess::COMMAND.into()],
        });
        settings.compile.worker = self.choose_worker()?;
        Ok(())
    }

    /// Returns the command of plugins' workers; `None` if plugins run in this process.
    fn choose_worker(&self) -> Result<Option<WorkerProcess>, Error> {
        let program = self.compiler.clone().filter(|_| WorkerProcess::is_supported());
        match (self.isolate.as_deref().unwrap_or("auto"), program) {
            ("auto" | "process", Some(program)) => Ok(Some(WorkerProcess {
                program,
                arguments: vec![WorkerProcess::COMMAND.into()],
            })),
            ("auto", None) | ("none", _) => Ok(None),
            ("process", None) => Err(Error::Config(
                "`isolate` is process, which takes Linux 5.13 with Landlock and seccomp, or later, \
                 and the program of this package"
                    .to_owned(),
            )),
            (other, _) => Err(Error::Config(format!(
                "`isolate` is {other}; it is one of auto, none, process"
            ))),
        }
    }

    /// Checks that the address is of the kind of engine that was asked for.
    fn check_executor(&self) -> Result<(), Error> {
        let (Some(wanted), Some(database)) = (&self.executor_type, &self.database) else {
            return Ok(());
        };
        let url = DatabaseUrl::parse(database);
        let executor = Executor::for_url(&url)?;
        if Executor::from_name(wanted) == Some(executor) {
            return Ok(());
        }
        let name = executor.name();
        Err(Error::Config(format!("the database `{url}` is one of {name}, not of {wanted}")))
    }
}

impl SearchOptions {
    /// Applies the options to the settings of a host.
    fn configure(&self, settings: &mut Settings) -> Result<(), Error> {
        let policy = &mut settings.policy;
        policy.max_depth = self.max_depth.unwrap_or(policy.max_depth);
        policy.max_attempts = self.max_attempts.unwrap_or(policy.max_attempts);
        policy.high_confidence = self.high_confidence.unwrap_or(policy.high_confidence);
        policy.max_parallel = self.max_concurrency.unwrap_or(policy.max_parallel);
        settings.min_confidence = self.min_confidence;
        settings.budgets.tokens = self.token_budget.unwrap_or(settings.budgets.tokens);
        if self.has_no_deadline {
            settings.deadline = None;
        } else if let Some(deadline) = self.deadline {
            settings.deadline = Some(seconds("deadline", deadline)?);
        }
        Ok(())
    }

    /// Applies the options to one question of a host.
    ///
    /// # Errors
    /// When an option has a value that it cannot have.
    pub(crate) fn apply(self, mut query: Query) -> Result<Query, Error> {
        if let Some(evidence) = self.evidence {
            query = query.evidence(evidence);
        }
        if let Some(levels) = self.max_depth {
            query = query.max_depth(levels);
        }
        if let Some(attempts) = self.max_attempts {
            query = query.max_attempts(attempts);
        }
        if let Some(confidence) = self.high_confidence {
            query = query.high_confidence(confidence);
        }
        if let Some(confidence) = self.min_confidence {
            query = query.min_confidence(confidence);
        }
        if let Some(tasks) = self.max_concurrency {
            query = query.max_concurrency(tasks);
        }
        if let Some(tokens) = self.token_budget {
            query = query.token_budget(tokens);
        }
        if self.has_no_deadline {
            query = query.deadline(None);
        } else if let Some(deadline) = self.deadline {
            query = query.deadline(seconds("deadline", deadline)?);
        }
        Ok(query)
    }
}

fn find_provider(name: &str) -> Result<Provider, Error> {
    Provider::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = Provider::all().map(Provider::name).collect();
        Error::Config(format!("there is no provider `{name}`; it is one of {}", known.join(", ")))
    })
}
