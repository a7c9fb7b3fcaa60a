//! The declaration of an option: its key in files, its flag, its environment variables, its bounds
//! and its field.

use serde_json::Value;
use syrch::Provider;
use syrch::databases::Executor;
use syrch::models::EndpointEntry;
use syrch::syrch_core::roles::Role;
use syrch::syrch_core::text::either;

use super::Effective;
use super::kind::Kind;
pub(crate) use super::value::{AMBIGUITY, SUMMARISE};

/// The permission of an untrusted file, found in a folder, on an option. An option that declares
/// nothing is out of its reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WhenFound {
    /// Only lower it: it is a limit, a budget or a time.
    Lowers,
    /// Name a built-in plugin, no path.
    NamesBuiltin,
    /// Set it while the plugin of this role is a built-in one, whose setting it is.
    SetsOfBuiltin(Role),
    /// Say what holds by default.
    KeepsDefault,
    /// Nothing, such as an endpoint, a key, a database, a grant, or what decides how sure an answer
    /// is.
    Never,
}

/// The declaration of an option.
pub(crate) struct Spec {
    /// Section and name in a file, such as `llm.model`; a name alone stands in no section.
    pub(crate) key: &'static str,
    /// The flag without dashes and the name of its value.
    pub(crate) flag: Option<(&'static str, &'static str)>,
    /// Further keys in files: what the Python package calls it.
    pub(crate) earlier: &'static [&'static str],
    /// Environment variables, the first wins.
    pub(crate) env: &'static [&'static str],
    /// The kind of its values.
    pub(crate) kind: Kind,
    /// The permission of a file found in a folder.
    pub(crate) when_found: WhenFound,
    /// True if commands that only open a database take its flag, too.
    pub(crate) database: bool,
    /// A sentence for the help; what stands in braces is filled in by [`Self::help`].
    help: &'static str,
    get: fn(&Effective) -> Value,
    set: fn(&mut Effective, &Value),
}

/// Declares the options, each as: its help as a document, in whose braces [`Spec::help`] fills in
/// what it knows; its key and the kind of its values; how the value in force is read, and how one
/// is put in force; then what else is declared of it, by the methods of [`Spec`].
macro_rules! options {
    ($(
        $(#[doc = $help:literal])+
        $(#[cfg($($feature:tt)+)])?
        key($key:expr) => $kind:expr, $get:expr, $set:expr $(, $method:ident($($value:tt)*))*;
    )+) => {
        /// All options, in the order of the help and of `config`.
        pub(crate) static SPECS: &[Spec] = &[$(
            $(#[cfg($($feature)+)])?
            Spec::new($key, $kind, concat!($($help),+).trim_ascii_start(), $get, $set)
                $(.$method($($value)*))*,
        )+];
    };
}

pub(super) use options;

impl Spec {
    /// The sentence with what the tables of engines and providers fill in.
    pub(crate) fn help(&self) -> String {
        if !self.help.contains('{') {
            return self.help.to_owned();
        }
        let executors =
            |what: fn(Executor) -> &'static str| Executor::all().map(what).collect::<Vec<_>>();
        let each = |text: &dyn Fn(Provider, &EndpointEntry) -> String| {
            let texts =
                Provider::all().filter_map(|provider| Some(text(provider, provider.endpoint()?)));
            texts.collect::<Vec<_>>().join(", ")
        };
        let embedders =
            Provider::all().filter(|provider| provider.makes_embeddings()).map(Provider::name);
        let providers =
            Provider::all().map(|provider| format!("{} ({})", provider.name(), provider.summary()));
        self.help
            .replace("{databases}", &either(&executors(Executor::summary)))
            .replace("{executors}", &executors(Executor::name).join(", "))
            .replace("{embedders}", &either(&embedders.collect::<Vec<_>>()))
            .replace("{providers}", &providers.collect::<Vec<_>>().join(", "))
            .replace(
                "{models}",
                &each(&|provider, endpoint| format!("{} of {}", endpoint.model, provider.name())),
            )
            .replace(
                "{keys}",
                &each(&|_, endpoint| {
                    format!("{} serves {}", endpoint.key_variable, endpoint.origin)
                }),
            )
    }

    pub(super) const fn new(
        key: &'static str,
        kind: Kind,
        help: &'static str,
        get: fn(&Effective) -> Value,
        set: fn(&mut Effective, &Value),
    ) -> Self {
        Self {
            key,
            flag: None,
            earlier: &[],
            env: &[],
            kind,
            when_found: WhenFound::Never,
            database: false,
            help,
            get,
            set,
        }
    }

    pub(super) const fn flag(mut self, name: &'static str, value: &'static str) -> Self {
        self.flag = Some((name, value));
        self
    }

    pub(super) const fn earlier_keys(mut self, keys: &'static [&'static str]) -> Self {
        self.earlier = keys;
        self
    }

    pub(super) const fn env(mut self, names: &'static [&'static str]) -> Self {
        self.env = names;
        self
    }

    pub(super) const fn when_found(mut self, may: WhenFound) -> Self {
        self.when_found = may;
        self
    }

    pub(super) const fn database(mut self) -> Self {
        self.database = true;
        self
    }

    /// The value that is in force; null if there is none.
    pub(crate) fn get(&self, effective: &Effective) -> Value {
        (self.get)(effective)
    }

    /// Puts a checked value in force.
    pub(crate) fn set(&self, effective: &mut Effective, value: &Value) {
        (self.set)(effective, value);
    }
}

/// The option that names the database.
pub(crate) const DATABASE: &str = "execution.db_path";

/// The option that says what the database has to be.
pub(crate) const EXECUTOR: &str = "execution.executor_type";

/// The option that names databases; it stands in no section.
pub(crate) const DATABASES: &str = "databases";

/// The option that names ADBC drivers; it stands in no section.
pub(crate) const DRIVERS: &str = "drivers";

/// The option that names a strategy; it stands in no section.
pub(crate) const STRATEGY: &str = "strategy";

/// The option that names trusted plugins.
pub(crate) const TRUST: &str = "execution.trust";
/// The key of the file of added plugins.
pub(crate) const LOCK: &str = "execution.lock";

/// The option that stands for a setting of a role's plugin.
pub(crate) fn find_short(role: Role, setting: &str) -> Option<&'static str> {
    match (role, setting) {
        (Role::Clarifier, setting) if setting == AMBIGUITY.1 => Some(AMBIGUITY.0),
        (Role::Aggregator, setting) if setting == SUMMARISE.1 => Some(SUMMARISE.0),
        _ => None,
    }
}

/// The role and the setting that an option stands for.
pub(crate) fn find_setting(key: &str) -> Option<(Role, &'static str)> {
    match key {
        key if key == AMBIGUITY.0 => Some((Role::Clarifier, AMBIGUITY.1)),
        key if key == SUMMARISE.0 => Some((Role::Aggregator, SUMMARISE.1)),
        _ => None,
    }
}

/// The option that leaves out the calibrator.
pub(crate) const CALIBRATION: &str = "execution.calibration_enabled";
