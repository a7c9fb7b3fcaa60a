//! The part of a run's journal that describes the host that wrote it, and checks that a host can
//! read it.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;
use syrch_core::ports::ModelProvider;
use syrch_core::result_set::digest64;
use syrch_core::roles::Role;
use syrch_core::{Catalog, Problem, text};
use syrch_journal::{
    FORMAT, Fact, Header, Journal, PluginRecord, Record, RowRetention, RunKind, VERSION,
};

use crate::host::{Host, StrategyPlugins};
use crate::journal_settings::{apply_limits, lasting_settings};
use crate::nothing::{Nothing, no_model};
use crate::settings::{PluginSource, read_settings};
use crate::{Error, Observer, Outcome, SearchReport, Settings, Shared};

impl Host {
    /// A host that has nothing but a journal: no database, no model. It needs the run's plugins,
    /// byte for byte. From `today` it has what a journal, which may be untrusted, does not decide:
    /// the limits, and what [`read_settings`] takes from there.
    ///
    /// # Errors
    /// When the journal was written by a run that cannot be repeated from it, or a plugin is
    /// missing, refused or another one, or was neither added nor is trusted today.
    pub async fn of_journal(
        header: &Header,
        today: &Settings,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let mut settings = read_settings(header, today)?;
        apply_limits(&mut settings, today);
        settings.journal.folder = None;
        let nothing = Arc::new(Nothing::from_header(header));
        let model = Arc::new(no_model(header, &nothing)?);
        let shared = Shared::new();
        let plugins = Box::pin(StrategyPlugins::load(&settings, &shared, observer)).await?;
        let mut host = Self::from_parts(settings, nothing, model, plugins, &shared);
        if header.plugins.iter().any(|plugin| plugin.role == Role::Rewriter) {
            host = host.with_rewriter(observer).await?;
        }
        check_plugins(&host, header)?;
        host.untrusted = list_untrusted_roles(header);
        Ok(host)
    }

    /// Returns this host with those plugins untrusted as well that were so in a run, whoever trusts
    /// them now.
    #[must_use]
    pub fn as_in_run(&self, header: &Header) -> Self {
        Self { untrusted: &self.untrusted | &list_untrusted_roles(header), ..self.clone() }
    }
}

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
        model.get_mut("base_url").into_iter().for_each(digested);
        let endpoints = model.get_mut("endpoints").and_then(Value::as_object_mut);
        endpoints.into_iter().flatten().for_each(|(_, endpoint)| {
            endpoint.get_mut("base_url").into_iter().for_each(digested);
        });
    }
    Arc::new(written)
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

/// The check that a run is resumed over the database that it began with.
pub enum DatabaseCheck {
    /// The identity of the database as it is now must be that of the journal.
    Identity(Option<String>),
    /// The caller has compared the content of the database itself.
    ByCaller,
}

/// Checks that a run can be resumed with this host, in which the plugins that were untrusted stay
/// so ([`Host::as_in_run`]). Where the caller has checked the database, the
/// settings that [`lasting_settings`] leaves out may differ.
pub(crate) fn check_unchanged(
    host: &Host,
    header: &Header,
    database: &DatabaseCheck,
) -> Result<(), Error> {
    check_plugins(host, header)?;
    let today = journal_settings_for(&header.kind, host);
    let mut changed = match database {
        DatabaseCheck::Identity(_) => differing_keys(&header.settings, &today),
        DatabaseCheck::ByCaller => {
            differing_keys(&lasting_settings(&header.settings), &lasting_settings(&today))
        }
    };
    // What it decides is compared below.
    changed.retain(|key| key != "trust");
    if let DatabaseCheck::Identity(identity) = database
        && header.database_identity != *identity
    {
        changed.push("the database's content or place".to_owned());
    }
    if !list_untrusted_roles(header).is_superset(&host.untrusted) {
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
fn differing_keys(recorded: &Value, now: &Value) -> Vec<String> {
    match (recorded, now) {
        (Value::Object(recorded), Value::Object(now)) => {
            let keys: std::collections::BTreeSet<&String> =
                recorded.keys().chain(now.keys()).collect();
            let mut all = Vec::new();
            for key in keys {
                let a = recorded.get(key).unwrap_or(&Value::Null);
                let b = now.get(key).unwrap_or(&Value::Null);
                all.extend(differing_keys(a, b).into_iter().map(|inner: String| {
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
            "the journal of `{run}` was written without rows (--journal-rows none), so a strict \
             replay cannot give them; replay it without --strict"
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
    let same = matches!(
        &again, Fact::Answer {
            document, outcome: now, ..
        } if *document == recorded && *now == outcome
    );
    if same {
        return Ok(report);
    }
    let now = serde_json::to_value(&report.document).unwrap_or_default();
    departs(format!("its answer differs in {}", text::few(differing_keys(&recorded, &now))))
}
