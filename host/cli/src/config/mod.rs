//! The layers of configuration: flag > environment > file > strategy > default, each value with
//! where it came from.

mod document;
pub(crate) mod earlier;
mod entry;
pub(crate) mod file;
pub(crate) mod flags;
pub(crate) mod kind;
pub(crate) mod mapping;
pub(crate) mod options;
pub(crate) mod parameter;
pub(crate) mod provider;
pub(crate) mod spec;
mod strategy;
mod value;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use syrch::audit::Audit;
use syrch::cache::Place;
use syrch::databases::Executor;
use syrch::lock::{self, Lock};
use syrch::models::SimulatedKnobs;
use syrch::plugins;
use syrch::settings::{DriverSettings, PluginSource, ServerSettings};
use syrch::syrch_core::DatabaseUrl;
use syrch::syrch_core::roles::Role;
use syrch::syrch_core::text::{few, nearest};
use syrch::{Settings, strategies};
use syrch_grading::Knob;

use crate::environment::scheduler::{SHARD, SHARDS};
use crate::environment::{Environment, MCP_TOKEN, os_user};
use crate::failure::{Failure, Outcome, alternatives};
use entry::Entry;
use file::Trust;
use flags::Flags;
use options::SPECS;
use parameter::{Parameter, Target};
use spec::{CALIBRATION, DATABASE, EXECUTOR, LOCK, STRATEGY, Spec, TRUST, WhenFound};

/// The values in force.
#[derive(Debug, Clone)]
pub(crate) struct Effective {
    /// The settings of the library.
    pub(crate) settings: Settings,
    /// The strategy, as it was named: a built-in's name, or a path.
    pub(crate) strategy: String,
    /// The kind that the database has to be of.
    pub(crate) executor: Option<String>,
    /// Addresses of databases by the names that the user gave them.
    pub(crate) databases: BTreeMap<String, String>,
    /// ADBC drivers by the names that the user gave them.
    pub(crate) drivers: BTreeMap<String, DriverSettings>,
    /// True if the user may be asked.
    pub(crate) interactive: bool,
    /// True if the program logs, as `-v` asks for.
    pub(crate) verbose: bool,
    /// True if a run has a journal.
    pub(crate) journal: bool,
    /// True if answers are cached.
    pub(crate) cache: bool,
    /// The place of a cache that several hosts share, also where nothing is cached.
    pub(crate) shared_cache: Option<Place>,
    /// The file of added plugins; `None` means that of the user's own folder.
    pub(crate) lock: Option<PathBuf>,
    /// The processes in which plugins that are not built in run.
    pub(crate) isolate: Isolate,
    /// True if confidence is calibrated.
    pub(crate) calibration: bool,
    /// True if any layer names a model provider.
    pub(crate) is_provider_named: bool,
    /// The settings of the simulated model, also where another provider is used.
    pub(crate) simulated: SimulatedKnobs,
    /// The collector that gets the spans of searches.
    #[cfg(feature = "otel")]
    pub(crate) telemetry: crate::telemetry::Telemetry,
}

impl Effective {
    /// The address of a database that is given by its name in the configuration, or by its address.
    pub(crate) fn address(&self, given: &str) -> String {
        self.databases.get(given.trim()).map_or_else(|| given.to_owned(), String::clone)
    }
}

impl Default for Effective {
    fn default() -> Self {
        Self {
            settings: Settings::default(),
            strategy: strategies::DEFAULT.to_owned(),
            executor: None,
            databases: BTreeMap::new(),
            drivers: BTreeMap::new(),
            interactive: false,
            verbose: false,
            journal: true,
            cache: true,
            shared_cache: None,
            lock: None,
            isolate: Isolate::default(),
            calibration: true,
            is_provider_named: false,
            simulated: SimulatedKnobs::default(),
            #[cfg(feature = "otel")]
            telemetry: crate::telemetry::Telemetry::default(),
        }
    }
}

/// The origin of a value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Origin {
    /// No layer sets it.
    #[default]
    Default,
    /// It follows from other values.
    Derived(&'static str),
    /// The strategy of this name or file.
    Strategy(String),
    /// A line of a config file.
    File {
        /// The path of the file, relative where it lies in the current folder.
        path: String,
        /// The line of the value, from 1.
        line: u64,
    },
    /// A variable of the environment.
    Environment(String),
    /// A flag of the command line, with its dashes.
    Flag(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Derived(why) => f.write_str(why),
            Self::Strategy(word) => write!(f, "strategy {word}"),
            Self::File { path, line } => write!(f, "{path}:{line}"),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Flag(name) => f.write_str(name),
        }
    }
}

/// The merged configuration: values, and where each came from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Config {
    /// The values in force.
    pub(crate) effective: Effective,
    /// The origin of each option; the others are defaults.
    pub(crate) origins: BTreeMap<&'static str, Origin>,
    /// The variable that holds the key of a further endpoint. The other keys are in files, or there
    /// is none.
    pub(crate) keys: BTreeMap<String, Origin>,
    /// The origin of each plugin's own setting.
    pub(crate) parameters: BTreeMap<(Target, String), Origin>,
    /// `-P KEY=VALUE` whose plugin is not yet known.
    pub(crate) open: Vec<Parameter>,
    /// The files that were read.
    pub(crate) files: Vec<PathBuf>,
    /// Warnings for the user.
    pub(crate) warnings: Vec<String>,
    /// The folder of journals. `None` if the user has no home.
    pub(crate) runs: Option<PathBuf>,
    /// The folder of cached answers. `None` if the user has no home.
    pub(crate) answers: Option<PathBuf>,
    /// The folder of databases that files of rows were read into. `None` if the user has no home.
    pub(crate) tables: Option<PathBuf>,
}

/// The part of the command line that concerns the configuration.
#[derive(Clone, Default)]
pub(crate) struct Given<'a> {
    /// The file of `--config`, which replaces all others.
    pub(crate) file: Option<&'a Path>,
    /// The flags that set options.
    pub(crate) flags: Vec<(&'static Spec, Value, Origin)>,
    /// The settings of plugins that `-P` gives.
    pub(crate) parameters: &'a [Parameter],
    /// True if the strategy that is configured does not matter, and may be wrong.
    pub(crate) any_strategy: bool,
    /// The rewriter of a command that calls one. `None` if it calls none.
    pub(crate) rewriter: Option<GivenRewriter>,
}

/// The rewriter that a command names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GivenRewriter {
    /// The rewriter that `--rewriter` names.
    Flag(PluginSource),
    /// The one that is used where the configuration names none.
    Default(PluginSource),
}

impl<'a> Given<'a> {
    /// The flags of one command.
    pub(crate) fn new<const SEARCH: bool>(
        flags: &Flags<SEARCH>,
        parameters: &'a [Parameter],
    ) -> Self {
        let flags =
            flags.entries().map(|(spec, value, origin)| (spec, value.clone(), origin)).collect();
        Self { flags, parameters, ..Self::default() }
    }
}

/// Returns true if a name is that of a built-in plugin, and not of an added one.
fn is_builtin(name: &str) -> bool {
    plugins::builtins().iter().any(|known| known.name == name)
}

/// The processes in which plugins that are not built in run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Isolate {
    /// Processes of their own where this system can bound them, otherwise that of the host.
    #[default]
    Auto,
    /// The process of the host.
    None,
    /// Processes of their own.
    Process,
}

impl Isolate {
    /// Returns the command of plugins' workers; `None` if plugins run in the host's process.
    fn choose_worker(self, is_supported: bool) -> Outcome<Option<plugins::WorkerProcess>> {
        match self {
            Self::Auto | Self::Process if is_supported => Ok(Some(Environment::worker())),
            Self::Auto | Self::None => Ok(None),
            Self::Process => {
                let message = "--isolate process: this system cannot bound the processes of \
                               plugins, which takes Linux 5.13 with Landlock and seccomp, or later";
                Err(Failure::config(message).hint(
                    "leave it out: plugins run in the host's process then, each call in a sandbox \
                     of its own",
                ))
            }
        }
    }
}

/// Merges all layers, the weakest first.
pub(crate) fn load(given: Given<'_>, environment: &Environment, folder: &Path) -> Outcome<Config> {
    let mut config = Config::default();
    let mut found = None;
    let mut entries = Vec::new();
    for (path, trust) in files(given.file, environment, folder, &mut config.warnings) {
        let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
        let read = file::read(&path, &name, trust)?;
        config.files.push(path);
        match trust {
            Trust::Untrusted => found = Some((name, read)),
            Trust::User => entries.extend(read),
        }
    }
    let chosen = strategy::choose_strategy(&entries, environment, &given.flags);
    config.use_strategy(chosen.filter(|_| !given.any_strategy))?;
    if let Some((name, read)) = found {
        config.take_found(&name, read);
    }
    entries.into_iter().for_each(|entry| config.take(entry));
    let endpoints: Vec<String> = config
        .effective
        .settings
        .model
        .endpoints
        .keys()
        .map(|name| mapping::variable(name))
        .collect();
    for (spec, value, origin) in variables(environment, &endpoints, &mut config.warnings)? {
        config.set(spec, &value, origin);
    }
    for (spec, value, origin) in given.flags {
        let value =
            spec.kind.check(value).map_err(|why| Failure::usage(format!("{origin}: {why}")))?;
        config.set(spec, &value, origin);
    }
    for parameter in given.parameters {
        let Parameter { target, key, value } = parameter.clone();
        match target {
            Target::Any => config.open.push(parameter.clone()),
            _ => config.parameter(target, key, value, Origin::Flag("-P".to_owned())),
        }
    }
    config.put_rewriter(given.rewriter);
    config.leave_named();
    config.check_trust()?;
    config.read_lock(environment)?;
    config.leave_claims()?;
    config.warn_of_unused();
    #[cfg(feature = "otel")]
    config.choose_collector(environment);
    config.choose_provider(environment);
    config.settle_strategy();
    config.give_keys(environment)?;
    let named = config.effective.address(&config.effective.settings.database);
    let is_by_name = named != config.effective.settings.database;
    config.effective.settings.database = named;
    config.check_executor()?;
    config.effective.settings.servers = ServerSettings {
        variables: environment.servers.clone(),
        os_user: Some(Arc::new(os_user)),
        home: environment.home.clone(),
        is_on_command_line: matches!(config.origin(DATABASE), Origin::Flag(_)) && !is_by_name,
        named: Some(config.effective.settings.database.clone()),
        drivers: config.effective.drivers.clone(),
    };
    config.answers = environment.cache_dir().map(|folder| folder.join("answers"));
    config.effective.settings.cache.folder =
        config.answers.clone().filter(|_| config.effective.cache);
    config.effective.settings.cache.shared =
        config.effective.shared_cache.clone().filter(|_| config.effective.cache);
    config.tables = environment.cache_dir().map(|folder| folder.join("tables"));
    let retained = config.effective.settings.cache.ttl;
    let retained_bytes = config.effective.settings.cache.bytes;
    let imports = &mut config.effective.settings.imports;
    (imports.retained, imports.retained_bytes) = (retained, retained_bytes);
    config.effective.settings.imports.folder =
        config.tables.clone().filter(|_| config.effective.cache);
    config.effective.settings.compile = environment.compile();
    config.effective.settings.compile.worker =
        config.effective.isolate.choose_worker(plugins::WorkerProcess::is_supported())?;
    config.runs = environment.state_dir().map(|folder| folder.join("runs"));
    if let Some(folder) = environment.state_dir() {
        config.effective.settings.audit = Arc::new(Audit::in_folder(&folder));
    }
    config.effective.settings.retrieval.folder =
        environment.state_dir().map(|folder| folder.join("index"));
    config.effective.settings.journal.folder =
        config.runs.clone().filter(|_| config.effective.journal);
    Ok(config)
}

/// The files to read, the weakest first.
fn files(
    named: Option<&Path>,
    environment: &Environment,
    folder: &Path,
    warnings: &mut Vec<String>,
) -> Vec<(PathBuf, Trust)> {
    if let Some(path) = named {
        return vec![(path.to_owned(), Trust::User)];
    }
    let mut first = |candidates: [PathBuf; 2]| {
        let [yml, yaml] = candidates;
        if yml.exists() && yaml.exists() {
            warnings.push(format!("`{}` is ignored beside `{}`", yaml.display(), yml.display()));
        }
        [yml, yaml].into_iter().find(|path| path.exists())
    };
    let found = ["syrch.yml", "syrch.yaml"].map(|name| folder.join(name));
    let untrusted = first(found).map(|path| (path, Trust::Untrusted));
    let home = environment.home.as_ref().map(|home| home.join(".syrch"));
    let own = home.and_then(|home| first([home.join("config.yml"), home.join("config.yaml")]));
    untrusted.into_iter().chain(own.map(|path| (path, Trust::User))).collect()
}

/// The variables that name no option.
const OWN: [&str; 5] = ["SYRCH_CACHE_DIR", "SYRCH_STATE_DIR", MCP_TOKEN, SHARD, SHARDS];

/// The options that the environment sets. The error names every wrong variable.
fn variables(
    environment: &Environment,
    endpoints: &[String],
    warnings: &mut Vec<String>,
) -> Outcome<Vec<(&'static Spec, Value, Origin)>> {
    let mut found = Vec::new();
    let mut problems = Vec::new();
    for spec in SPECS {
        // The first name wins, so it is applied last.
        for name in spec.env.iter().rev() {
            match environment.syrch.get(*name) {
                None => {}
                Some(None) => {
                    problems.push(format!("environment variable {name}: the value is not UTF-8"))
                }
                Some(Some(word)) => match spec.kind.parse(word) {
                    Ok(value) => found.push((spec, value, Origin::Environment((*name).to_owned()))),
                    Err(why) => problems.push(format!("environment variable {name}: {why}")),
                },
            }
        }
    }
    let known = SPECS.iter().flat_map(|spec| spec.env).copied().chain(OWN);
    let known: Vec<&str> = known.chain(endpoints.iter().map(String::as_str)).collect();
    for name in environment.syrch.keys().filter(|name| !known.contains(&name.as_str())) {
        let similar =
            nearest(name, known.iter().copied().filter(|known| has_similar_name(known, name)));
        let hint = match (earlier::variable(name), alternatives(&similar)) {
            (Some(instead), _) => format!(": {instead}"),
            (None, Some(names)) => format!("; did you mean {names}?"),
            (None, None) => String::new(),
        };
        warnings.push(format!("environment variable {name} is unknown and has no effect{hint}"));
    }
    if problems.is_empty() {
        return Ok(found);
    }
    Err(Failure::config(problems.join("\n"))
        .hint("correct the value, or unset the variable; an empty one counts as unset"))
}

/// Returns true if two variables have similar names, the common prefix left out.
fn has_similar_name(known: &str, name: &str) -> bool {
    let bare = |text: &str| text.trim_start_matches("SYRCH_").to_owned();
    !nearest(&bare(name), [bare(known).as_str()]).is_empty()
}

impl Config {
    fn put_rewriter(&mut self, given: Option<GivenRewriter>) {
        let strategy = &mut self.effective.settings.strategy;
        let roles = &mut strategy.roles;
        match given {
            Some(GivenRewriter::Flag(source)) => {
                strategy.named_by.retain(|path, _| source != PluginSource::File(path.clone()));
                roles.insert(Role::Rewriter, source);
            }
            Some(GivenRewriter::Default(source)) => {
                _ = roles.entry(Role::Rewriter).or_insert(source)
            }
            None => {}
        }
    }

    fn take(&mut self, entry: Entry) {
        match entry {
            Entry::Option(spec, value, origin) => self.set(spec, &value, origin),
            Entry::Parameter(target, key, value, origin) => {
                self.parameter(target, key, value, origin)
            }
            Entry::Replaced(key, instead, origin) => {
                self.warnings.push(format!("{origin}: {key} has no effect here: {instead}"));
            }
        }
    }

    /// Applies the entries of a file that was found in the current folder, the weakest of all
    /// files. Entries that do not fit the chosen strategy are left out with a warning, and one
    /// warning names the others.
    fn take_found(&mut self, name: &str, entries: Vec<Entry>) {
        let mut keys = Vec::new();
        for entry in entries {
            match self.objection(&entry) {
                Some(why) => self.warnings.push(format!(
                    "{}: {} is not used: {why}",
                    entry.origin(),
                    entry.key()
                )),
                None if matches!(entry, Entry::Replaced(..)) => self.take(entry),
                None => {
                    keys.push(entry.key());
                    self.take(entry);
                }
            }
        }
        if !keys.is_empty() {
            self.warnings.push(format!("`{name}` in this folder sets {}", few(keys)));
        }
    }

    /// The reason why an entry of a found file is left out, although such a file may set it in
    /// general.
    fn objection(&self, entry: &Entry) -> Option<String> {
        let role = match entry {
            Entry::Option(spec, value, _) => match spec.when_found {
                WhenFound::Lowers if !file::is_at_most(value, &spec.get(&self.effective)) => {
                    return Some(format!(
                        "the strategy `{}` sets a lower value",
                        self.effective.strategy
                    ));
                }
                WhenFound::SetsOfBuiltin(role) => role,
                _ => return None,
            },
            Entry::Parameter(Target::Role(role), ..) => *role,
            Entry::Parameter(..) | Entry::Replaced(..) => return None,
        };
        let source = self.effective.settings.strategy.roles.get(&role);
        let is_builtin = match source {
            Some(PluginSource::Builtin(name)) => is_builtin(name),
            Some(PluginSource::File(_)) => false,
            None => true,
        };
        (!is_builtin).then(|| format!("the {role} is no built-in plugin"))
    }

    fn set(&mut self, spec: &'static Spec, value: &Value, origin: Origin) {
        // The strategy was chosen before, since it is weaker than all layers that may name one.
        if spec.key == STRATEGY {
            return;
        }
        let before = spec.get(&self.effective);
        spec.set(&mut self.effective, value);
        let was = self.origins.insert(spec.key, origin.clone()).unwrap_or_default();
        let role = Role::ALL.into_iter().find(|role| spec.key == format!("plugins.{role}"));
        if let Some(role) = role.filter(|_| before != spec.get(&self.effective)) {
            self.forget(role, spec.key);
            self.warn_of_replaced(role, &before, &was, &origin);
        }
        if let Some((role, setting)) = spec::find_setting(spec.key) {
            let parameter = self.parameters.get_mut(&(Target::Role(role), setting.to_owned()));
            parameter.into_iter().for_each(|from| *from = origin.clone());
        }
    }

    /// Without calibration, uses a calibrator that leaves claimed confidences unchanged.
    fn leave_claims(&mut self) -> Outcome<()> {
        if self.effective.calibration {
            return Ok(());
        }
        let set = Knob::Calibration.set(&Value::Bool(false), &mut self.effective.settings);
        set.map_err(Failure::config)?;
        let origin = self.origin(CALIBRATION);
        if let Some(calibrator) = options::find("plugins.calibrator") {
            self.origins.insert(calibrator.key, origin);
        }
        Ok(())
    }

    /// Checks that the database is of the kind that was asked for. A file or a variable asks for
    /// nothing of a database that a flag names.
    fn check_executor(&mut self) -> Outcome<()> {
        if self.effective.executor.as_deref() == Some(earlier::JDBC.0) {
            self.warnings.push(earlier::JDBC.1.to_owned());
            return Ok(());
        }
        let url = DatabaseUrl::parse(&self.effective.settings.database);
        let is_flag = |key: &str| matches!(self.origin(key), Origin::Flag(_));
        let is_asked = !url.is_empty() && (is_flag(EXECUTOR) || !is_flag(DATABASE));
        let Some(wanted) = self.effective.executor.as_deref().filter(|_| is_asked) else {
            return Ok(());
        };
        match Executor::for_url(&url) {
            Ok(executor) if Executor::from_name(wanted) != Some(executor) => {
                let origin = self.origin(EXECUTOR);
                Err(Failure::config(format!(
                    "{origin}: the database `{url}` is one of {}, not of {wanted}",
                    executor.name()
                ))
                .hint(
                    "leave the kind out: the address decides; `files:PATH` and `sqlite:PATH` say \
                     what a path is",
                ))
            }
            // An address that no engine takes is an error of its own.
            _ => Ok(()),
        }
    }

    /// Reads the added plugins. They are those of the user's own folder, or of a file that the user
    /// names: one that lies in a project grants nothing.
    fn read_lock(&mut self, environment: &Environment) -> Outcome<()> {
        let own = || Some(environment.home.as_ref()?.join(".syrch").join(lock::FILE));
        let Some(path) = self.effective.lock.clone().or_else(own) else { return Ok(()) };
        if path.is_relative() {
            let origin = self.origin(LOCK);
            let shown = path.display();
            return Err(Failure::config(format!("{origin}: `{shown}` is no absolute path"))
                .hint("name the file of added plugins from the root on"));
        }
        self.effective.settings.lock = Arc::new(Lock::read(&path)?);
        Ok(())
    }

    /// Checks the paths of trusted plugins. In a file or the environment a relative one would name
    /// another file in each folder, which may be somebody else's.
    fn check_trust(&mut self) -> Outcome<()> {
        let origin = self.origin(TRUST);
        for path in &self.effective.settings.trust {
            let shown = path.display();
            if path.is_relative() && !matches!(origin, Origin::Flag(_)) {
                return Err(Failure::config(format!("{origin}: `{shown}` is no absolute path"))
                    .hint(
                        "name the file of a trusted plugin from the root on, or by --trust on the \
                         command line",
                    ));
            }
            if !path.is_file() {
                self.warnings.push(format!(
                    "{origin}: there is no file `{shown}`, so no plugin is trusted by it"
                ));
            }
        }
        Ok(())
    }

    /// Without a collector of its own, uses that of `OTEL_EXPORTER_OTLP_ENDPOINT`.
    #[cfg(feature = "otel")]
    fn choose_collector(&mut self, environment: &Environment) {
        let known = self.effective.telemetry.endpoint.is_some();
        if let (false, Some(endpoint)) = (known, &environment.otlp_endpoint) {
            self.effective.telemetry.endpoint = Some(endpoint.clone());
            let origin = Origin::Environment(crate::environment::OTLP_ENDPOINT.to_owned());
            self.origins.insert("telemetry.otlp_endpoint", origin);
        }
    }

    /// Removes the settings of a plugin that a stronger layer replaces.
    fn forget(&mut self, role: Role, key: &str) {
        let known: Vec<_> = self
            .parameters
            .keys()
            .filter(|(target, _)| *target == Target::Role(role))
            .cloned()
            .collect();
        let mut by_hand = false;
        for parameter in known {
            let from = self.parameters.remove(&parameter).unwrap_or_default();
            by_hand |= !matches!(from, Origin::Default | Origin::Strategy(_));
            if let Some(config) = self.effective.settings.strategy.config.get_mut(&role) {
                config.shift_remove(&parameter.1);
            }
            if let Some(option) = spec::find_short(role, &parameter.1) {
                self.origins.remove(option);
            }
        }
        self.effective.settings.strategy.config.retain(|_, config| !config.is_empty());
        if by_hand {
            self.warnings.push(format!(
                "the config of the {role} in a file is not used, since {key} is another plugin"
            ));
        }
    }

    /// Puts a plugin's own setting in force.
    pub(crate) fn parameter(&mut self, target: Target, key: String, value: Value, origin: Origin) {
        let settings = &mut self.effective.settings;
        match target {
            Target::Role(role) => {
                drop(settings.strategy.config.entry(role).or_default().insert(key.clone(), value))
            }
            Target::Setting => drop(settings.settings.insert(key.clone(), value.to_string())),
            Target::Any => return,
        }
        if let Target::Role(role) = target
            && let Some(option) = spec::find_short(role, &key)
        {
            self.origins.insert(option, origin.clone());
        }
        self.parameters.insert((target, key), origin);
    }

    /// The origin of an option; the default for one that no layer sets.
    pub(crate) fn origin(&self, key: &str) -> Origin {
        self.origins.get(key).cloned().unwrap_or_default()
    }

    /// Returns true if a layer sets this option.
    pub(crate) fn is_set(&self, key: &str) -> bool {
        self.origins.contains_key(key)
    }
}

#[cfg(test)]
mod tests;
