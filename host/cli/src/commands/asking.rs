//! The flags of a search, and the parts of a search that several commands share.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use syrch::conversation::Turn;
use syrch::plugins::LoadError;
use syrch::settings::{PluginSource, Strategy};
use syrch::syrch_core::Problem;
use syrch::syrch_core::roles::Role;
use syrch::syrch_core::text::nearest;
use syrch::{Ask, Host, Provider, SearchReport, Settings, Stop, plugins, strategies};

use super::Context;
use crate::config::flags::Flags;
use crate::config::parameter::{Parameter, Target, flag_of};
use crate::config::spec::SUMMARISE;
use crate::config::{Config, Origin};
use crate::console::progress::Watch;
use crate::failure::{Failure, Outcome, advise_price, alternatives};
use crate::sink::Format;

// Flags of a search.
#[derive(Args, Default)]
pub(crate) struct SearchArgs {
    /// The question
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) question: Option<String>,
    /// An explanation of terms of the question
    #[arg(long, value_name = "TEXT")]
    pub(crate) evidence: Option<String>,
    /// Continue a run that was killed: its id, the beginning of it, or `last`. Its settings are
    /// those of its start
    #[arg(long, value_name = "RUN", conflicts_with_all = ["question", "evidence"])]
    pub(crate) resume: Option<String>,
    /// Print the exact requests that would be sent to a model next, and send nothing
    #[arg(long, conflicts_with = "resume")]
    pub(crate) dry_run: bool,
    /// Look for a faster form of the answer's statement that has exactly the same rows, as
    /// `optimize` does by its defaults
    #[arg(long, conflicts_with_all = ["resume", "dry_run"])]
    pub(crate) optimize: bool,
    /// A plugin's own setting; VALUE is JSON or text. KEY alone will do when one plugin knows it;
    /// settings.NAME is for all plugins
    #[arg(short = 'P', long = "param", value_name = "ROLE.KEY=VALUE")]
    pub(crate) parameters: Vec<Parameter>,
    #[command(flatten)]
    pub(crate) flags: Flags<true>,
}

/// The start of a search.
pub(super) enum Start {
    /// A new search for this problem.
    Problem(Problem),
    /// A question of a conversation.
    Turn(Box<Turn>),
    /// The journal of a run that was killed.
    Journal(PathBuf),
}

/// The default confidence below which an answer by rules alone, without a model, is not accepted:
/// it would be wrong more often than right.
const LEAST_WITHOUT_A_MODEL: f64 = 0.4;

/// Sets the least confidence of an answer where the user has not.
pub(super) fn accept(context: &mut Context) {
    let settings = &mut context.config.effective.settings;
    if settings.model.is_by_rules() && settings.min_confidence.is_none() {
        settings.min_confidence = Some(LEAST_WITHOUT_A_MODEL);
    }
}

/// The built-in aggregator that can let a model write the answer's sentence.
const SUMMARISING: &str = "evidence";

/// Lets the model in use write the sentence of an answer that a person reads on a terminal, where
/// the user has not decided it.
pub(super) fn summarise(context: &mut Context) {
    let is_read = context.output.is_terminal()
        && matches!(context.format, Format::Auto | Format::Table | Format::Markdown);
    let config = &mut context.config;
    let settings = &config.effective.settings;
    let Strategy { roles, config: set, .. } = &settings.strategy;
    let is_known = matches!(
        roles.get(&Role::Aggregator),
        Some(PluginSource::Builtin(name)) if name == SUMMARISING
    );
    let is_decided =
        set.get(&Role::Aggregator).is_some_and(|config| config.contains_key(SUMMARISE.1));
    let model = &settings.model;
    let has_model = !model.is_by_rules() && model.replay.is_none() && model.simulated.is_none();
    if is_read && is_known && has_model && !is_decided {
        let target = Target::Role(Role::Aggregator);
        config.parameter(target, SUMMARISE.1.to_owned(), true.into(), Origin::Default);
    }
}

/// Opens what a search needs, with the plugins' settings of the command line.
pub(super) async fn open(context: &mut Context, watch: &Watch) -> Outcome<Host> {
    prepare(context, watch).await?;
    // The searches of this command run one after the other.
    context.config.effective.settings.limits.searches = 1;
    let settings = &context.config.effective.settings;
    match Host::open(settings.clone(), watch).await {
        Ok(host) => Ok(host),
        Err(error) => Err(explain_error(error, settings, context, watch).await),
    }
}

/// Completes the settings: checks the base URLs, and finds the plugins that `-P` is for.
pub(super) async fn prepare(context: &mut Context, watch: &Watch) -> Outcome<()> {
    check_base_urls(&context.config)?;
    settle_parameters(context, watch).await
}

/// The failure to open a search with these settings, with the place in the strategy file and
/// similar names where there are any.
pub(super) async fn explain_error(
    error: syrch::Error,
    settings: &Settings,
    context: &Context,
    watch: &Watch,
) -> Failure {
    match in_strategy_file(&error, context, watch).await {
        Some(failure) => failure,
        None => with_near_setting(error, settings, watch).await,
    }
}

/// The failure with its place in the strategy file, when a plugin refused a setting of that file.
async fn in_strategy_file(
    error: &syrch::Error,
    context: &Context,
    watch: &Watch,
) -> Option<Failure> {
    let word = &context.config.effective.strategy;
    if !matches!(error, syrch::Error::PluginRejected { .. }) || !strategies::is_file(word) {
        return None;
    }
    let found = strategies::find(word).ok()?;
    strategies::check(&found, &context.config.effective.settings, watch)
        .await
        .err()
        .map(Failure::from)
}

/// Searches until the end, or until Ctrl-C asks for the best so far.
pub(super) async fn search(
    context: &Context,
    host: &Host,
    start: Start,
    watch: Arc<Watch>,
    ask: Option<&dyn Ask>,
) -> Outcome<SearchReport> {
    let stop = Stop::new();
    let listener = tokio::spawn({
        let stop = stop.clone();
        let interrupt = context.interrupt.clone();
        let console = Arc::clone(&context.console);
        async move {
            interrupt.wait().await;
            console.note("stopping with the best so far; Ctrl-C again ends at once");
            stop.trigger();
        }
    });
    context.console.progress("planning");
    let report = match start {
        Start::Problem(problem) => host.search(problem, watch, ask, &stop).await,
        Start::Turn(turn) => host.search(*turn, watch, ask, &stop).await,
        Start::Journal(path) => host.resume(&path, watch, ask, &stop).await,
    };
    listener.abort();
    Ok(report?)
}

/// Refuses a base URL without a scheme. One that may hold a secret is left to the library, which
/// never shows it.
fn check_base_urls(config: &Config) -> Outcome<()> {
    let model = &config.effective.settings.model;
    let default = (model.provider != Provider::OFFLINE).then_some((
        "llm.base_url",
        String::new(),
        &model.base_url,
    ));
    let further = model
        .endpoints
        .iter()
        .map(|(name, one)| ("llm.endpoints", format!(" of `{name}`"), &one.base_url));
    for (key, of, url) in default.into_iter().chain(further) {
        let url = url.trim();
        let is_http = ["http://", "https://"].iter().any(|scheme| {
            url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        });
        if !is_http && !url.contains(['@', '?', '#']) {
            let origin = config.origin(key);
            let message = format!(
                "the base URL{of} `{url}` ({origin}) does not begin with http:// or https://"
            );
            return Err(Failure::config(message).hint(
                "give it as in http://localhost:11434/v1; `syrch-host config --origin` shows where \
                 each setting comes from",
            ));
        }
    }
    Ok(())
}

/// The failure; when money is limited and a model has no price, with where prices stand.
fn with_price(error: syrch::Error, settings: &Settings) -> Failure {
    let syrch::Error::Unpriced { model } = &error else { return error.into() };
    // Without a limit for each search it is that of a whole run.
    let flag = if settings.budgets.cost_micros.is_some() { "--max-usd" } else { "--total-usd" };
    let advice = advise_price(model, flag);
    Failure::from(error).hint(advice)
}

/// The failure; when a plugin does not know one of its settings, with similar ones.
async fn with_near_setting(error: syrch::Error, settings: &Settings, watch: &Watch) -> Failure {
    let plugin = match &error {
        syrch::Error::PluginRejected { plugin, source: LoadError::Config(_), .. } => plugin.clone(),
        _ => return with_price(error, settings),
    };
    let mut failure = Failure::from(error);
    let mut near = Vec::new();
    for (role, source) in
        settings.strategy.roles.iter().filter(|(_, source)| source.to_string() == plugin)
    {
        let Some(given) = settings.strategy.config.get(role) else { continue };
        let Ok(known) = keys(source, settings, watch).await else { continue };
        let unknown = given.keys().filter(|key| !known.contains(key));
        near.extend(
            unknown
                .flat_map(|key| nearest(key, known.iter().map(String::as_str)))
                .map(|key| format!("{role}.{key}")),
        );
    }
    if let Some(names) = alternatives(&near) {
        let rest = failure.hint.take().unwrap_or_default();
        failure = failure.hint(format!("did you mean {names}? {rest}"));
    }
    failure
}

/// The settings that a plugin knows.
async fn keys(source: &PluginSource, settings: &Settings, watch: &Watch) -> Outcome<Vec<String>> {
    let inspection = plugins::inspect(source, settings, watch).await?;
    let keys = inspection.config_schema.get("properties").and_then(|keys| keys.as_object());
    Ok(keys.into_iter().flat_map(|keys| keys.keys().cloned()).collect())
}

/// Finds the plugin that each `-P KEY=VALUE` is for: the one of the strategy whose config has that
/// key.
async fn settle_parameters(context: &mut Context, watch: &Watch) -> Outcome<()> {
    let open = std::mem::take(&mut context.config.open);
    if open.is_empty() {
        return Ok(());
    }
    let settings = context.config.effective.settings.clone();
    let mut known = Vec::new();
    for (role, source) in
        settings.strategy.roles.iter().filter(|(role, _)| Role::SEARCH.contains(role))
    {
        known.push((Target::Role(*role), keys(source, &settings, watch).await?));
    }
    for parameter in open {
        let target = owner(&parameter, &known)?;
        context.config.parameter(
            target,
            parameter.key,
            parameter.value,
            Origin::Flag("-P".to_owned()),
        );
    }
    Ok(())
}

fn owner(parameter: &Parameter, known: &[(Target, Vec<String>)]) -> Outcome<Target> {
    let key = &parameter.key;
    let owners: Vec<Target> =
        known.iter().filter(|(_, keys)| keys.contains(key)).map(|(target, _)| *target).collect();
    fn full_name((target, key): (Target, &String)) -> String {
        format!("{target}.{key}")
    }
    match owners.as_slice() {
        [one] => Ok(*one),
        [] => {
            let all: Vec<(Target, &String)> = known
                .iter()
                .flat_map(|(target, keys)| keys.iter().map(|key| (*target, key)))
                .collect();
            let similar = nearest(key, all.iter().map(|(_, key)| key.as_str()));
            let near: Vec<String> =
                all.into_iter().filter(|(_, key)| similar.contains(key)).map(full_name).collect();
            let failure = Failure::usage(format!(
                "-P {key}: no plugin of the strategy has the setting `{key}`"
            ));
            if let Some(flag) = flag_of(key) {
                return Err(failure.hint(format!("it is a value of the policy: use --{flag}")));
            }
            Err(match alternatives(&near) {
                Some(names) => failure.hint(format!("did you mean {names}?")),
                None => failure.hint("`syrch-host plugin inspect NAME` shows a plugin's settings"),
            })
        }
        several => {
            let names: Vec<String> =
                several.iter().map(|target| full_name((*target, key))).collect();
            let names = alternatives(&names).unwrap_or_default();
            Err(Failure::usage(format!("-P {key}: several plugins have the setting `{key}`"))
                .hint(format!("say which: {names}")))
        }
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn a_bare_key_belongs_to_the_one_plugin_that_has_it() {
        let planner = Target::Role(Role::Planner);
        let solver = Target::Role(Role::Solver);
        let keys = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>();
        let known = [(planner, keys(&["width", "seed"])), (solver, keys(&["rounds", "seed"]))];
        assert_eq!(owner(&"rounds=1".parse().unwrap(), &known), Ok(solver));
        let ambiguous = owner(&"seed=1".parse().unwrap(), &known).unwrap_err();
        assert_eq!(ambiguous.hint.as_deref(), Some("say which: `planner.seed` or `solver.seed`"));
        assert_eq!(
            owner(&"widht=1".parse().unwrap(), &known).unwrap_err().hint.as_deref(),
            Some("did you mean `planner.width`?")
        );
    }
}
