//! The arms of a comparison with their settings: those of a search with the user's flags, each with
//! its own strategy or plugin.

use std::path::{Path, PathBuf};

use serde_json::json;
use syrch::settings::PluginSource;
use syrch::strategies::{self, StrategyError};
use syrch::syrch_core::roles::Role;
use syrch::{Settings, plugins};
use syrch_grading::{distinct, twins};

use super::CompareArgs;
use super::word::{Who, Word};
use crate::commands::grid::Plugins;
use crate::commands::{Context, PLUGIN};
use crate::config::flags::Flags;
use crate::config::options;
use crate::config::spec::STRATEGY;
use crate::config::{self, Config, Given, Origin};
use crate::console::progress::Watch;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome, alternatives};

/// The arms with the files that they are read from.
pub(super) struct Arms {
    /// The settings of each arm, with its name.
    pub(super) arms: Vec<(String, Settings)>,
    /// Their files, which no report may replace.
    pub(super) files: Vec<(&'static str, PathBuf)>,
}

/// Makes the arms of these words.
pub(super) async fn resolve(
    words: &[String],
    arguments: &CompareArgs,
    context: &Context,
    watch: &Watch,
) -> Outcome<Arms> {
    let words = words.iter().map(|text| Word::read(text)).collect::<Outcome<Vec<Word>>>()?;
    if arguments.flags.entries().any(|(spec, ..)| spec.key == STRATEGY)
        && words.iter().all(|word: &Word| matches!(word.who, Who::Strategy(_)))
    {
        return Err(Failure::usage("--strategy has no effect: every arm names its own").hint(
            "--strategy names the other plugins of an arm that is a plugin, such as solver=refine",
        ));
    }
    let mut plugins = Plugins::new(watch);
    let mut all = Vec::new();
    for word in &words {
        all.push(arm(word, arguments, context, &mut plugins).await.map_err(
            |failure: Failure| Failure {
                message: with_arm_name(word, &failure.message),
                ..failure
            },
        )?);
    }
    let names = distinct(
        &words.iter().map(|word| (word.short_name(), word.text.clone())).collect::<Vec<_>>(),
    );
    let arms: Vec<(String, Settings)> = names.into_iter().zip(all).collect();
    if let Some((one, other)) = twins(&arms) {
        let one = &words[one].text;
        let other = &words[other].text;
        return Err(Failure::usage(format!(
            "a run without difference: the arms `{one}` and `{other}` would do the same"
        ))
        .hint(
            "give one of them another strategy, plugin or setting, such as \
             `decompose:policy.max_attempts=1`",
        ));
    }
    let files = files(&words, &arms);
    Ok(Arms { arms, files })
}

/// Makes arms of strategies alone, for a comparison without settings of its own. `flags` are those
/// of all arms.
pub(super) async fn resolve_strategies(
    names: &[String],
    flags: &Flags<true>,
    context: &Context,
    watch: &Watch,
) -> Outcome<Vec<(String, Settings)>> {
    let mut plugins = Plugins::new(watch);
    let words = names.iter().map(|name| Word::read(name)).collect::<Outcome<Vec<Word>>>()?;
    let mut all = Vec::new();
    for word in &words {
        all.push(configure_arm(word, flags, context, &mut plugins).await?.effective.settings);
    }
    let short: Vec<_> = words.iter().map(|word| (word.short_name(), word.text.clone())).collect();
    let arms: Vec<(String, Settings)> = distinct(&short).into_iter().zip(all).collect();
    match twins(&arms) {
        None => Ok(arms),
        Some((one, other)) => {
            let one = &names[one];
            let other = &names[other];
            Err(Failure::usage(format!("`{one}` and `{other}` would do the same")))
        }
    }
}

/// The message with the arm's name, once.
fn with_arm_name(word: &Word, message: &str) -> String {
    let name = format!("the arm `{}`", word.text);
    if message.starts_with(&name) { message.to_owned() } else { format!("{name}: {message}") }
}

async fn arm(
    word: &Word,
    arguments: &CompareArgs,
    context: &Context,
    plugins: &mut Plugins<'_>,
) -> Outcome<Settings> {
    let config = configure_arm(word, &arguments.flags, context, plugins).await?;
    for warning in
        config.warnings.iter().filter(|warning| !context.config.warnings.contains(warning))
    {
        context.console.warn(&with_arm_name(word, warning));
    }
    let mut settings = config.effective.settings;
    let of_all =
        arguments.parameters.iter().map(|one| (&one.named, &one.name, one.values.first(), "-P "));
    let own = word.settings.iter().map(|(named, name, value)| (named, name, Some(value), ""));
    for (named, name, value, flag) in of_all.chain(own) {
        let Some(value) = value else { continue };
        let knob = match plugins.knob(named, &settings).await {
            Ok(knob) => knob,
            Err(failure) => return Err(not_known(failure, flag, name)),
        };
        let set = knob.check(value).and_then(|()| knob.set(value, &mut settings));
        set.map_err(|why| Failure::usage(format!("{flag}{why}")))?;
    }
    Ok(settings)
}

/// A flag is for all arms; what only some of them know belongs to these.
fn not_known(failure: Failure, flag: &str, name: &str) -> Failure {
    let failure = Failure { message: format!("{flag}{}", failure.message), ..failure };
    if flag.is_empty() {
        return failure;
    }
    let hint = failure.hint.as_ref().map(|hint| format!("{hint}; ")).unwrap_or_default();
    failure.hint(format!("{hint}-P holds for all arms: give it to one by `ARM:{name}=VALUE`"))
}

/// All layers, with the arm's own strategy or plugin as the strongest flag.
async fn configure_arm(
    word: &Word,
    flags: &Flags<true>,
    context: &Context,
    plugins: &mut Plugins<'_>,
) -> Outcome<Config> {
    let mut given = Given { file: context.file.as_deref(), ..Given::new(flags, &[]) };
    let (key, value) = match &word.who {
        Who::Strategy(name) => {
            strategies::find(name).map_err(|error| unknown_strategy(name, error))?;
            (STRATEGY.to_owned(), name)
        }
        Who::Plugin(role, plugin) => {
            let role = role_of(*role, plugin, context, plugins).await?;
            (format!("plugins.{role}"), plugin)
        }
    };
    let spec =
        options::find(&key).ok_or_else(|| Failure::usage(format!("there is no option `{key}`")))?;
    given.flags.retain(|(known, ..)| known.key != spec.key);
    given.flags.push((spec, json!(value), Origin::Flag(format!("the arm `{}`", word.text))));
    config::load(given, &context.environment, Path::new("."))
}

/// A strategy that is not there, with what may have been meant.
fn unknown_strategy(name: &str, error: StrategyError) -> Failure {
    if !matches!(error, StrategyError::Unknown { .. }) {
        return error.into();
    }
    let failure = Failure { exit: Exit::Usage, ..Failure::from(error) };
    if plugins::builtins().iter().any(|plugin| plugin.name == name) {
        return failure
            .hint(format!("`{name}` is a plugin: name it with its role, such as `solver={name}`"));
    }
    failure
}

/// The role of a plugin: the one that is named, or the only one that it implements.
async fn role_of(
    role: Option<Role>,
    plugin: &str,
    context: &Context,
    plugins: &mut Plugins<'_>,
) -> Outcome<Role> {
    let source = PluginSource::parse(plugin);
    let found = match plugins.inspect(&source, &context.config.effective.settings).await {
        Err(failure) if matches!(source, PluginSource::Builtin(_)) => {
            return Err(Failure { exit: Exit::Usage, ..failure });
        }
        found => found?,
    };
    let implemented: Vec<Role> =
        found.roles.into_iter().filter(|role| Role::SEARCH.contains(role)).collect();
    let ways = || {
        let all: Vec<String> = implemented.iter().map(|role| format!("{role}={plugin}")).collect();
        alternatives(&all).unwrap_or_default()
    };
    match (role, implemented.as_slice()) {
        (_, []) => Err(Failure::usage(format!("`{plugin}` implements no role of a search"))),
        (Some(role), roles) if roles.contains(&role) => Ok(role),
        (Some(role), _) => Err(Failure::usage(format!("`{plugin}` does not implement the {role}"))
            .hint(format!("it implements {}", ways()))),
        (None, [role]) => Ok(*role),
        (None, several) => {
            Err(Failure::usage(format!("the plugin implements {} roles", several.len()))
                .hint(format!("say which: {}; a strategy file can name it for several", ways())))
        }
    }
}

fn files(words: &[Word], arms: &[(String, Settings)]) -> Vec<(&'static str, PathBuf)> {
    let strategies = words.iter().filter_map(|word| match &word.who {
        Who::Strategy(file) if strategies::is_file(file) => {
            Some(("a strategy file in use", PathBuf::from(file)))
        }
        _ => None,
    });
    let plugins = arms
        .iter()
        .flat_map(|(_, settings)| settings.strategy.roles.values())
        .filter_map(|source| match source {
            PluginSource::File(path) => Some((PLUGIN, path.clone())),
            PluginSource::Builtin(_) => None,
        });
    strategies.chain(plugins).collect()
}
