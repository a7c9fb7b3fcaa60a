//! The part of a run's journal that describes the host that wrote it, and checks that a host can
//! read it.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize as _;
use serde_json::Value;
use syrch_core::ledger::Budgets;
use syrch_core::ports::{
    CellIndex, ColumnStats, Database, DatabaseError, Estimate, Facts, LlmError, Match, ModelCall,
    ModelOutcome, ModelProvider, Plan, PortError, Sample, SqlQuery,
};
use syrch_core::result_set::digest64;
use syrch_core::roles::Role;
use syrch_core::{
    Catalog, DatabaseUrl, Dialect, Hit, Problem, ResultSet, SqlError, SqlErrorKind, text,
};
use syrch_journal::{
    FORMAT, Fact, Header, Journal, PluginRecord, Record, RowRetention, RunKind, VERSION,
};
use syrch_layers::{Limiter, Rates, Route, RoutedModel};

use crate::host::Host;
use crate::settings::PluginSource;
use crate::{Error, Outcome, SearchReport, Settings};

/// The first line of a run's journal.
pub(crate) fn header(
    host: &Host,
    run: &str,
    problem: &Problem,
    catalog: Arc<Catalog>,
    database_identity: Option<String>,
    kind: RunKind,
) -> Header {
    let since = std::time::SystemTime::now()
        .duration_since(std::time::SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    Header {
        format: FORMAT.to_owned(),
        version: VERSION,
        run: run.to_owned(),
        began_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
        host: env!("CARGO_PKG_VERSION").to_owned(),
        problem: problem.clone(),
        catalog,
        database_identity,
        models: host.model.models(),
        provider: host.model.name().to_owned(),
        plugins: plugins(host),
        rows: host.settings.journal.rows,
        settings: journal_settings_for(&kind, host),
        kind,
        verified: None,
        defined: syrch_journal::Defined::default(),
    }
}

/// The settings that a journal of this host holds. That of an optimization holds no address: a
/// digest stands for each, which shows whether it has changed.
fn journal_settings_for(kind: &RunKind, host: &Host) -> Arc<Value> {
    if kind.is_search() {
        return Arc::clone(&host.written);
    }
    let mut written = Value::clone(&host.written);
    let digested = |address: &mut Value| {
        if let Value::String(address) = address {
            *address = format!("{:016x}", digest64(&[address]));
        }
    };
    digested(&mut written["database"]);
    if let Some(model) = written.get_mut("model") {
        let of_model = |address: &mut Value| address.get_mut("base_url").map(digested);
        of_model(model);
        let endpoints = model.get_mut("endpoints").and_then(Value::as_object_mut);
        endpoints.into_iter().flatten().for_each(|(_, endpoint)| {
            of_model(endpoint);
        });
    }
    Arc::new(written)
}

/// Settings as a journal holds them. Keys are no part of them; what a URL may hide besides the
/// address is left out, too.
#[must_use]
pub fn journal_settings(settings: &Settings) -> Value {
    let mut written = serde_json::to_value(settings).unwrap_or_default();
    let mut clean = |pointer: &str| {
        if let Some(Value::String(url)) = written.pointer_mut(pointer)
            && url.contains(['@', '?', '#'])
        {
            *url = "***".to_owned();
        }
    };
    clean("/model/base_url");
    let names =
        settings.model.endpoints.keys().map(|name| name.replace('~', "~0").replace('/', "~1"));
    names.for_each(|name| clean(&format!("/model/endpoints/{name}/base_url")));
    written["database"] = DatabaseUrl::parse(&settings.database).to_string().into();
    written
}

fn plugins(host: &Host) -> Vec<PluginRecord> {
    host.plugins
        .with_sources(&host.settings)
        .map(|(source, configured): (Option<&PluginSource>, &syrch_runtime::Configured)| {
            let identity = configured.plugin().identity();
            PluginRecord {
                role: configured.role(),
                source: source.map(ToString::to_string).unwrap_or_default(),
                name: identity.name.clone(),
                version: identity.version.clone(),
                digest: configured.plugin().digest().to_owned(),
                untrusted: host.untrusted.contains(&configured.role()),
            }
        })
        .collect()
}

/// The settings that a run was started with. Keys and folders are not among them.
///
/// # Errors
/// When another host wrote them in a way that this one does not know.
pub fn read_settings(header: &Header) -> Result<Settings, Error> {
    Settings::deserialize(&*header.settings).map_err(|error| {
        Error::Unfit(format!(
            "the run `{}` has settings that this host does not know: {error}",
            header.run
        ))
    })
}

/// Takes from today's settings what a journal, which may be untrusted, does not decide: how much
/// its plugins may use.
pub(crate) fn apply_limits(settings: &mut Settings, today: &Settings) {
    settings.limits.clone_from(&today.limits);
    let Budgets { host_calls, cpu, log_bytes, .. } = today.budgets;
    settings.budgets = Budgets { host_calls, cpu, log_bytes, ..settings.budgets.clone() };
    settings.policy.max_parallel = settings.policy.max_parallel.min(MOST_PARALLEL);
}

/// The limit on the number of tasks under way at once in a run that is repeated.
const MOST_PARALLEL: u32 = 64;

/// Checks that the run's plugins are those of the host.
pub(crate) fn check_plugins(host: &Host, header: &Header) -> Result<(), Error> {
    let present = plugins(host);
    let changed = header.plugins.iter().filter(|recorded| {
        !present.iter().any(|now| now.role == recorded.role && now.digest == recorded.digest)
    });
    let changed: Vec<String> =
        changed.map(|recorded| format!("the {} `{}`", recorded.role, recorded.source)).collect();
    if changed.is_empty() {
        return Ok(());
    }
    Err(Error::Unfit(format!(
        "the run `{}` cannot be repeated: changed since: {}",
        header.run,
        text::few(&changed)
    )))
}

/// The roles whose plugins were not trusted in that run.
pub(crate) fn list_untrusted_roles(header: &Header) -> BTreeSet<Role> {
    header.plugins.iter().filter(|plugin| plugin.untrusted).map(|plugin| plugin.role).collect()
}

/// Settings, as [`journal_settings`] returns them, without those that may change between the parts
/// of a graded run. Each question names its database, and where and for how long journals and
/// cached replies are stored changes no answer.
#[must_use]
pub fn lasting(settings: &Value) -> Value {
    let mut settings = settings.clone();
    if let Some(settings) = settings.as_object_mut() {
        ["database", "journal", "cache"].iter().for_each(|key| drop(settings.shift_remove(*key)));
    }
    settings
}

/// Checks that a run can be resumed with this host. `identity` is the database's; `None` if the
/// caller has compared the content of the database itself: then the settings that [`lasting`]
/// leaves out may differ.
pub(crate) fn check_unchanged(
    host: &Host,
    header: &Header,
    identity: Option<Option<String>>,
) -> Result<(), Error> {
    check_plugins(host, header)?;
    let today = journal_settings_for(&header.kind, host);
    let mut changed: Vec<String> = match &identity {
        Some(_) => differing(&header.settings, &today),
        None => differing(&lasting(&header.settings), &lasting(&today)),
    };
    if identity.is_some_and(|identity| header.database_identity != identity) {
        changed.push("the database's content or place".to_owned());
    }
    if list_untrusted_roles(header) != host.untrusted {
        changed.push("which plugins are trusted".to_owned());
    }
    if header.host != env!("CARGO_PKG_VERSION") {
        changed.push(format!("the host (it was {})", header.host));
    }
    if changed.is_empty() {
        return Ok(());
    }
    Err(Error::Unfit(format!(
        "the run `{}` cannot be resumed: changed since: {}",
        header.run,
        text::few(&changed)
    )))
}

/// The keys whose values differ; nested ones with dots.
fn differing(recorded: &Value, now: &Value) -> Vec<String> {
    match (recorded, now) {
        (Value::Object(recorded), Value::Object(now)) => {
            let keys: std::collections::BTreeSet<&String> =
                recorded.keys().chain(now.keys()).collect();
            let mut all = Vec::new();
            for key in keys {
                let a = recorded.get(key).unwrap_or(&Value::Null);
                let b = now.get(key).unwrap_or(&Value::Null);
                all.extend(differing(a, b).into_iter().map(|inner: String| {
                    if inner.is_empty() { key.clone() } else { format!("{key}.{inner}") }
                }));
            }
            all
        }
        (recorded, now) if recorded == now => Vec::new(),
        _ => vec![String::new()],
    }
}

/// The journal's record of a run's end. `beside` are the report's last warnings, which are not the
/// search's own.
pub(crate) fn end(
    report: &Result<SearchReport, Error>,
    rows: RowRetention,
    beside: Vec<String>,
) -> Fact {
    let report = match report {
        Ok(report) => report,
        Err(error) => {
            return Fact::Failed { message: error.to_string(), class: error.class().to_owned() };
        }
    };
    let mut document = serde_json::to_value(&report.document).unwrap_or_default();
    // The sentence and its steps quote cells, as the rows do.
    if let Some(answer) = document
        .get_mut("answer")
        .and_then(Value::as_object_mut)
        .filter(|_| rows == RowRetention::None)
    {
        answer.insert("rows".to_owned(), Value::Array(Vec::new()));
        answer.insert("basis".to_owned(), Value::Array(Vec::new()));
        answer.insert("text".to_owned(), Value::String(String::new()));
    }
    let outcome = match report.outcome {
        Outcome::Answered => "answered",
        Outcome::Partial => "partial",
        Outcome::NoAnswer => "no-answer",
        Outcome::ClarificationNeeded => "clarification-needed",
    };
    Fact::Answer { document, outcome: outcome.to_owned(), interrupted: report.interrupted, beside }
}

/// Returns the fact with which the run of a journal ended. Only a run that is finished and whose
/// rows were recorded can be repeated.
pub fn read_end(journal: &Journal) -> Result<Fact, Error> {
    let run = &journal.header.run;
    // An optimization needs no rows.
    if journal.header.rows == RowRetention::None && journal.header.kind.is_search() {
        return Err(Error::Unfit(format!(
            "the journal of `{run}` was written without rows (--journal-rows none), so a strict replay cannot give them; \
             replay it without --strict"
        )));
    }
    let ends = journal.records.iter().rev().find_map(|record| match record {
        Record::Fact { fact: fact @ (Fact::Answer { .. } | Fact::Failed { .. }), .. } => {
            Some(fact.clone())
        }
        _ => None,
    });
    ends.ok_or_else(|| {
        Error::Unfit(format!("the run `{run}` is not finished; `search --resume {run}` resumes it"))
    })
}

/// The replayed report with what no replay can measure again taken from the recorded one: then they
/// must be equal.
pub(crate) fn compare(
    replayed: Result<SearchReport, Error>,
    recorded: Fact,
) -> Result<SearchReport, Error> {
    let departs =
        |what: String| Err(Error::Replay(format!("the replay departs from its journal: {what}")));
    let (mut report, recorded, outcome) = match (replayed, recorded) {
        (Err(error @ Error::Replay(_)), _) => return Err(error),
        (Err(error), Fact::Failed { message, .. }) if error.to_string() == message => {
            return Err(error);
        }
        (Err(error), Fact::Failed { message, .. }) => {
            return departs(format!("it failed with `{error}`, not `{message}`"));
        }
        (Err(error), _) => return departs(format!("it failed: {error}")),
        (Ok(_), Fact::Failed { message, .. }) => {
            return departs(format!("it did not fail with `{message}`"));
        }
        (Ok(mut report), Fact::Answer { document, outcome, beside, .. }) => {
            report.document.warnings.extend(beside);
            (report, document, outcome)
        }
        (Ok(_), _) => return departs("it has no end".to_owned()),
    };
    let known: crate::report::AnswerDocument = serde_json::from_value(recorded.clone())
        .map_err(|error| Error::Unfit(format!("the journal's answer cannot be read: {error}")))?;
    report.document.time_ms = known.time_ms;
    // A call that was cancelled may settle before or after the document is written; what it said
    // was charged stands.
    report.document.cost.clone_from(&known.cost);
    for (plugin, known) in report.document.plugins.iter_mut().zip(&known.plugins) {
        (plugin.cpu_ms, plugin.memory_peak) = (known.cpu_ms, known.memory_peak);
    }
    let again = end(&Ok(report.clone()), RowRetention::Full, Vec::new());
    let same = matches!(&again, Fact::Answer { document, outcome: now, .. } if *document == recorded && *now == outcome);
    if same {
        return Ok(report);
    }
    let now = serde_json::to_value(&report.document).unwrap_or_default();
    departs(format!("its answer differs in {}", text::few(differing(&recorded, &now))))
}

/// A stand-in for a database and a model in a replay: whatever reaches it is not in the journal.
pub(crate) struct Nothing {
    catalog: Arc<Catalog>,
    models: Vec<String>,
    provider: String,
}

impl Nothing {
    pub(crate) fn from_header(header: &Header) -> Self {
        Self {
            catalog: Arc::clone(&header.catalog),
            models: header.models.clone(),
            provider: header.provider.clone(),
        }
    }
}

/// The models of a journal, none of which answers.
pub(crate) fn no_model(header: &Header, nothing: &Arc<Nothing>) -> Result<RoutedModel, Error> {
    let limiter = Limiter::new(Rates::default());
    let mut routes = header.models.iter().map(|name: &String| Route {
        name: name.clone(),
        provider: Arc::clone(nothing) as _,
        model: None,
        limiter: Arc::clone(&limiter),
    });
    let default = routes
        .next()
        .ok_or_else(|| Error::Unfit(format!("the journal of `{}` names no model", header.run)))?;
    RoutedModel::new(default, routes.collect(), &Default::default())
        .map_err(|error| Error::Unfit(error.to_string()))
}

const MISSING: &str = "the journal does not hold this";

fn missing<T>() -> Result<T, SqlError> {
    Err(SqlError::new(SqlErrorKind::Unavailable, MISSING))
}

fn missing_port<T>() -> Result<T, PortError> {
    Err(PortError::Unavailable(MISSING.to_owned()))
}

#[async_trait]
impl CellIndex for Nothing {
    async fn samples(&self, _: &str, _: &[String], _: u32) -> Result<Vec<Sample>, PortError> {
        missing_port()
    }

    async fn find(&self, _: &[String], _: Match, _: u32) -> Result<Vec<Vec<Hit>>, PortError> {
        missing_port()
    }
}

#[async_trait]
impl Database for Nothing {
    fn name(&self) -> &str {
        &self.catalog.database
    }

    fn dialect(&self) -> Dialect {
        self.catalog.dialect.clone()
    }

    async fn identity(&self) -> Option<String> {
        None
    }

    async fn catalog(&self) -> Result<Arc<Catalog>, DatabaseError> {
        Ok(Arc::clone(&self.catalog))
    }

    fn compose(&self, _: &SqlQuery) -> Result<String, SqlError> {
        missing()
    }

    async fn check(&self, _: &SqlQuery) -> Result<Facts, SqlError> {
        missing()
    }

    async fn explain(&self, _: &SqlQuery) -> Result<Plan, SqlError> {
        missing()
    }

    async fn run(&self, _: &SqlQuery) -> Result<ResultSet, SqlError> {
        missing()
    }

    async fn column_stats(&self, _: &str, _: &[String]) -> Result<Vec<ColumnStats>, PortError> {
        missing_port()
    }
}

#[async_trait]
impl ModelProvider for Nothing {
    fn name(&self) -> &str {
        &self.provider
    }

    fn models(&self) -> Vec<String> {
        self.models.clone()
    }

    fn estimate(&self, _: &ModelCall) -> Estimate {
        Estimate::default()
    }

    async fn complete(&self, _: &ModelCall) -> ModelOutcome {
        ModelOutcome::unsent(LlmError::Unavailable(MISSING.to_owned()))
    }
}
