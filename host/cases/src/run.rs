//! Runs a case: opens what it needs, calls the role, and writes down what came of it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value, json};
use syrch::own::{OwnDatabase, OwnModel};
use syrch::role_call::{RoleCall, Started, Surroundings};
use syrch::settings::{ModelSettings, PluginSource};
use syrch::{Observer, Settings, Shared};
use syrch_core::RoleError;
use syrch_core::ports::{ModelProvider, RowsGrant};
use syrch_core::roles::{
    Aggregator, Calibrator, Clarifier, Linker, Planner, Reward, Rewriter, Solver,
};

use crate::arguments::{Arguments, Input};
use crate::calls::Calls;
use crate::case::CaseDatabase;
use crate::evaluate::ScriptedEvaluate;
use crate::model::{NAME, ScriptedModel};
use crate::{Case, RunError, canonical};

/// The host's name of a case's database, which plugins see.
const DATABASE: &str = "case";
/// The time that a call may take in all, and before it the statements of its input. Its CPU time
/// and what it waits for are bounded apart from this.
const DEADLINE: Duration = Duration::from_secs(300);

/// The part of the user's settings that cases use. Nothing else of them counts, so that a case is
/// the same for every user.
pub struct Base {
    /// The settings: their limits, how plugins are compiled, and which plugins are trusted.
    pub settings: Settings,
    /// True if the database of the settings takes the place of the case's own. Then the grant of
    /// the settings takes that of the case's: who wrote the case does not decide about the user's
    /// data.
    pub with_database: bool,
    /// The grant of rows in the place of the case's and of the settings'.
    pub rows: Option<RowsGrant>,
    /// The state that the cases of one process share: loaded plugins.
    pub shared: Arc<Shared>,
}

/// The result of a case.
#[derive(Debug, Clone)]
pub struct Ran {
    /// The result of the call: `output`, `failure` or `error`, then `calls` and `log`.
    pub document: Value,
    /// The names of the ports that the plugin used.
    pub used: BTreeSet<String>,
    /// The error of the call, if it failed.
    pub error: Option<RoleError>,
}

/// Calls the role of a case once.
///
/// # Errors
/// When the plugin is refused, or the case has no such form or no such database. How the call
/// itself ended is part of what it gives.
pub async fn run(
    case: &Case,
    plugin: &PluginSource,
    base: &Base,
    observer: Arc<dyn Observer>,
) -> Result<Ran, RunError> {
    let input = Input::read(case.role, case.input.clone())?;
    let settings = settings(case, plugin, base).await?;
    let calls = Arc::new(Calls::default());
    let records = Arc::clone(&calls);
    let surroundings = Surroundings {
        problem: input.problem.clone(),
        catalog: input.catalog.clone(),
        evaluate: Arc::new(ScriptedEvaluate::new(&case.confidences, &case.verdicts)),
        records: Box::new(move |_, record| records.record(record)),
        observer,
    };
    let call = RoleCall::open(settings, case.role, &base.shared, surroundings).await?;
    let arguments = input.arguments(call.database().as_ref());
    let arguments = tokio::time::timeout(DEADLINE, arguments).await.unwrap_or_else(|_| {
        let message = format!("its statements take longer than {} s", DEADLINE.as_secs());
        Err(RunError::Input { role: case.role.name(), message })
    })?;
    let ended = run_call(&call, &arguments).await;
    let (made, log, mut used) = calls.take();
    used.extend(call.list_used_ports().into_iter().map(str::to_owned));
    let (mut document, error) = match ended {
        Ok(output) => (json!({ "output": output }), None),
        Err(error) => (failure_document(&error), Some(error)),
    };
    document["calls"] = made.into();
    document["log"] = log.into();
    let Value::Object(members) = document else { return Ok(Ran { document, used, error }) };
    Ok(Ran { document: canonical::sort_members(members), used, error })
}

async fn settings(case: &Case, plugin: &PluginSource, base: &Base) -> Result<Settings, RunError> {
    let user = &base.settings;
    let limits = user.limits.clone();
    let model: Arc<dyn ModelProvider> = Arc::new(ScriptedModel::new(&case.model, limits.clone()));
    let mut settings = match (base.with_database, &case.database) {
        (true, _) => {
            Settings { tables: user.tables.clone(), ..user.for_database(user.database.clone()) }
        }
        (false, CaseDatabase::File(address)) => user.for_database(address.as_str()),
        (false, CaseDatabase::Script(script)) => {
            let own =
                syrch::databases::database_of_script(script.as_str(), DATABASE, limits.clone())
                    .await?;
            Settings { own_database: Some(OwnDatabase(own)), limits, ..Settings::default() }
        }
    };
    settings.rows = base.rows.unwrap_or(if base.with_database { user.rows } else { case.rows });
    settings.trust.clone_from(&user.trust);
    settings.lock.clone_from(&user.lock);
    settings.compile = user.compile.clone();
    settings.policy = case.policy.clone();
    settings.budgets = case.budgets.clone();
    settings.settings = case.run_settings.clone();
    settings.model = ModelSettings {
        own: Some(OwnModel::new(model)),
        model: NAME.to_owned(),
        attempts: 1,
        ..ModelSettings::default()
    };
    settings.strategy.roles.insert(case.role, plugin.clone());
    settings.strategy.config.insert(case.role, case.settings.clone());
    Ok(settings)
}

async fn run_call(call: &RoleCall, arguments: &Arguments) -> Result<Value, RoleError> {
    let (task, relations) = match arguments {
        Arguments::Solve { task, relations, .. } => (Some(task), relations.clone()),
        Arguments::Judge { task, .. } => (Some(task), Vec::new()),
        _ => (None, Vec::new()),
    };
    let started = call.start(task, relations).await;
    let output = tokio::time::timeout(DEADLINE, output(call, &started, arguments)).await;
    let output = output.unwrap_or(Err(RoleError::Deadline));
    started.end(output.as_ref().err().cloned()).await;
    output
}

async fn output(
    call: &RoleCall,
    started: &Started,
    arguments: &Arguments,
) -> Result<Value, RoleError> {
    let plugin = call.plugin();
    let problem = call.problem();
    let catalog = call.catalog();
    let made = started.call();
    Ok(match arguments {
        Arguments::Link => canonical_value(&plugin.link(made, problem, catalog).await?),
        Arguments::Plan => canonical_value(&plugin.plan(made, problem, catalog).await?),
        Arguments::Next { graph, seen, fresh } => {
            canonical_value(&plugin.next(made, problem, catalog, graph, seen, *fresh).await?)
        }
        Arguments::Solve { task, parents, .. } => {
            canonical_value(&plugin.solve(made, problem, catalog, task, parents).await?)
        }
        Arguments::Calibrate(claims) => canonical_value(&plugin.calibrate(made, claims).await?),
        Arguments::Judge { task, rivals } => {
            canonical_value(&plugin.judge(made, problem, catalog, task, rivals).await?)
        }
        Arguments::Assess { graph, seen } => {
            canonical_value(&plugin.assess(made, problem, catalog, graph, seen).await?)
        }
        Arguments::Aggregate { graph, finished, seen } => {
            canonical_value(&plugin.aggregate(made, problem, graph, finished, seen).await?)
        }
        Arguments::Rewrite { original, best, plan, history } => {
            canonical_value(&plugin.rewrite(made, original, best, plan, catalog, history).await?)
        }
    })
}

fn canonical_value(output: &impl Serialize) -> Value {
    canonical::value(serde_json::to_value(output).unwrap_or_default())
}

/// A call that failed: the plugin's own failure, or the error of a trap, a limit or a wrong value.
/// The plugin's place does not stand in it.
fn failure_document(error: &RoleError) -> Value {
    let mut document = Map::new();
    match error {
        RoleError::Failure { failure, .. } => {
            drop(document.insert("failure".to_owned(), canonical_value(failure)))
        }
        error => {
            drop(document.insert("error".to_owned(), without_plugin_name(error).to_string().into()))
        }
    }
    Value::Object(document)
}

/// The same error of "the plugin", wherever it lies.
fn without_plugin_name(error: &RoleError) -> RoleError {
    let mut error = error.clone();
    match &mut error {
        RoleError::Failure { plugin, .. }
        | RoleError::Trap { plugin, .. }
        | RoleError::Limit { plugin, .. }
        | RoleError::Invalid { plugin, .. }
        | RoleError::Unavailable { plugin, .. } => "the plugin".clone_into(plugin),
        RoleError::Deadline | RoleError::Cancelled => {}
    }
    error
}
