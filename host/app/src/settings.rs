//! The settings of a search. A program that embeds the library fills them in; `cli` merges them
//! from flags, environment and files.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use syrch_cache::Place;
use syrch_core::ledger::Budgets;
use syrch_core::ports::{Policy, RowsGrant};
use syrch_core::roles::Role;
use syrch_core::{Json, Limits, StructuredReplies};
use syrch_journal::{Header, RowRetention};
use syrch_runtime::CompileSettings;
use syrch_simulated::SimulatedKnobs;
use syrch_suites::run::Shard;

use crate::Error;
use crate::audit::Audit;
use crate::imports::ImportSettings;
use crate::lock::Lock;
use crate::own::{OwnDatabase, OwnModel};
use crate::providers::{Provider, Rules};
use crate::strategies::FLOW;
use crate::telemetry::SpanSink;

pub use crate::servers::{DriverSettings, ServerSettings};
pub use crate::withheld::Withheld;

/// All settings of a search, with the defaults of the command line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Settings {
    /// The database: a path, or a URL such as `sqlite:shop.sqlite`.
    pub database: String,
    /// A database that the embedding program implements, in place of the one that `database` names.
    /// `tables` does not apply to it.
    #[serde(skip)]
    pub own_database: Option<OwnDatabase>,
    /// The settings of clients of database servers besides the address.
    #[serde(skip)]
    pub servers: ServerSettings,
    /// The settings for reading files of rows, where the database is such files.
    #[serde(default, skip_serializing_if = "ImportSettings::is_default")]
    pub imports: ImportSettings,
    /// The tables that a search may see, as globs. If there are none, it may see all.
    pub tables: Vec<String>,
    /// The amount of cell text that plugins and prompts may see.
    pub rows: RowsGrant,
    /// Component files whose plugins may call the model whatever they know of the data, as the
    /// built-in ones may. It counts where `rows` shows no cells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trust: Vec<PathBuf>,
    /// The third-party plugins that the user has added, with their grants. No journal holds it:
    /// only the user of today may decide it.
    #[serde(skip)]
    pub lock: Arc<Lock>,
    /// The log of what plugins that are not built in use and are denied.
    #[serde(skip)]
    pub audit: Arc<Audit>,
    /// The policy that strategies read.
    pub policy: Policy,
    /// The limits on what a search spends.
    pub budgets: Budgets,
    /// The deadline of a search, without the time in which the user thinks about a question; `None`
    /// leaves only the deadlines of its calls.
    pub deadline: Option<Duration>,
    /// An answer with a lower confidence (0 to 1) does not count as an answer; `None` accepts every
    /// answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_confidence: Option<f64>,
    /// The number of times that the user may be asked in one search; with 0, nobody can answer, and
    /// no model is asked for the words of a question.
    pub max_questions: u32,
    /// The settings of the models, and which one is the default.
    pub model: ModelSettings,
    /// The plugins of the roles, with their settings.
    pub strategy: Strategy,
    /// Further settings by name, which plugins read through the port `run`.
    pub settings: BTreeMap<String, Json>,
    /// The seed of everything random.
    pub seed: u64,
    /// The settings for compiling plugins and caching their code.
    #[serde(skip)]
    pub compile: CompileSettings,
    /// The sources of retrieval besides the catalog.
    #[serde(default)]
    pub retrieval: RetrievalSettings,
    /// The files that define metrics.
    #[serde(default, skip_serializing_if = "SemanticsSettings::is_empty")]
    pub semantics: SemanticsSettings,
    /// The settings of the journals of runs.
    pub journal: JournalSettings,
    /// The settings of the cache of model replies and results.
    pub cache: CacheSettings,
    /// Receives the spans of searches; `None` if nothing collects them.
    #[serde(skip)]
    pub spans: Option<Arc<dyn SpanSink>>,
    /// Limits of single things, such as a result or a prompt.
    pub limits: Limits,
}

impl Settings {
    /// The deadline of a search unless the user sets another one.
    pub const DEADLINE: Duration = Duration::from_secs(600);

    /// Settings that open another database under the same limits, with all of its tables.
    #[must_use]
    pub fn for_database(&self, database: impl Into<String>) -> Self {
        let limits = self.limits.clone();
        let servers = self.servers.clone();
        let imports = self.imports.clone();
        Self { database: database.into(), servers, imports, limits, ..Self::default() }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            database: String::new(),
            own_database: None,
            servers: ServerSettings::default(),
            imports: ImportSettings::default(),
            tables: Vec::new(),
            rows: RowsGrant::default(),
            trust: Vec::new(),
            lock: Arc::default(),
            audit: Arc::default(),
            policy: Policy::default(),
            budgets: Budgets::default(),
            deadline: Some(Self::DEADLINE),
            min_confidence: None,
            max_questions: 2,
            model: ModelSettings::default(),
            strategy: Strategy::default(),
            settings: BTreeMap::new(),
            seed: 0,
            compile: CompileSettings::default(),
            retrieval: RetrievalSettings::default(),
            semantics: SemanticsSettings::default(),
            journal: JournalSettings::default(),
            cache: CacheSettings::default(),
            spans: None,
            limits: Limits::default(),
        }
    }
}

/// The settings that a run was started with. Keys and folders are not among them. From `today` they
/// have what a journal, which may be somebody else's, does not decide: the plugins that the user
/// has added or trusts, the audit log, and how plugins are compiled and isolated. A component that
/// the journal names is refused where it is loaded, unless it was added or is trusted today.
///
/// # Errors
/// When another host wrote them in a way that this one does not know.
pub fn read_settings(header: &Header, today: &Settings) -> Result<Settings, Error> {
    let run = &header.run;
    let recorded = Settings::deserialize(&*header.settings).map_err(|error| {
        Error::Unfit(format!("the run `{run}` has settings that this host does not know: {error}"))
    })?;
    let mut settings = Settings {
        trust: today.trust.clone(),
        lock: Arc::clone(&today.lock),
        audit: Arc::clone(&today.audit),
        compile: today.compile.clone(),
        ..recorded
    };
    settings.strategy.note_document(&format!("the journal of the run `{run}`"));
    Ok(settings)
}

/// The sources of retrieval besides the catalog.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RetrievalSettings {
    /// Notes: a line each, plain text or a JSON object with `note` and perhaps `table` and
    /// `column`.
    pub notes: Option<PathBuf>,
    /// Solved examples: a JSON object a line, with `question` and `sql`.
    pub examples: Option<PathBuf>,
    /// The folder of indexes of business terms; `None` if none is used.
    #[serde(skip)]
    pub folder: Option<PathBuf>,
    /// Solved examples and notes are left out in which a question that is graded, or a statement
    /// that is expected of it, stands.
    #[serde(skip)]
    pub withheld: Arc<Withheld>,
    /// A digest of the knowledge that a run was started with; the host fills it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// The files that define metrics.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SemanticsSettings {
    /// The files, which are one whole.
    pub files: Vec<PathBuf>,
    /// A digest of the files when a run was started; the host fills it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

impl SemanticsSettings {
    /// Returns true if nothing is defined.
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

/// The settings of the journals of runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JournalSettings {
    /// The folder of journals; `None` if runs leave none.
    #[serde(skip)]
    pub folder: Option<PathBuf>,
    /// The part of rows that journals hold.
    pub rows: RowRetention,
    /// The most journals in the folder; when a run ends, the oldest ones beyond it are removed.
    pub keep: usize,
    /// The age at which a journal is removed.
    pub age: Duration,
    /// The most bytes of all journals together.
    pub bytes: u64,
}

impl Default for JournalSettings {
    fn default() -> Self {
        const DAY: u64 = 24 * 60 * 60;
        Self {
            folder: None,
            rows: RowRetention::Full,
            keep: 200,
            age: Duration::from_secs(30 * DAY),
            bytes: 1 << 30,
        }
    }
}

/// The settings of the models.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelSettings {
    /// The provider of model calls.
    pub provider: Provider,
    /// A model provider that the embedding program implements, in place of `provider` and its
    /// endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<OwnModel>,
    /// The model's name at the endpoint.
    pub model: String,
    /// The URL of the endpoint, up to and including `/v1`.
    pub base_url: String,
    /// The key; `None` if there is none, as for local endpoints.
    #[serde(skip)]
    pub api_key: Option<SecretString>,
    /// True if keys may go over plain HTTP to other machines. Journals do not hold it: only the
    /// user of today may decide it.
    #[serde(skip)]
    pub insecure_endpoint: bool,
    /// The temperature where a plugin asks for none, 0 to 2.
    pub temperature: f32,
    /// The limit on the output tokens of one call.
    pub max_tokens: u32,
    /// The setting for requesting replies in a format that the endpoint enforces.
    #[serde(default)]
    pub structured: StructuredReplies,
    /// The limit on the time of one call.
    pub timeout: Duration,
    /// The confidence below which the offline rules abstain.
    pub offline_threshold: Option<f64>,
    /// The limits on the rate of requests to the endpoint.
    pub rates: RateSettings,
    /// The shard that this process works on: of all rates it uses its part. `None` means that it
    /// uses all. It is no part of what a run records.
    #[serde(skip)]
    pub shard: Option<Shard>,
    /// The limit on the number of tries of one call.
    pub attempts: u32,
    /// The longest wait that an endpoint may ask for before calls give up.
    pub max_retry_wait: Duration,
    /// Further endpoints by name, for [`ModelSettings::models`].
    pub endpoints: BTreeMap<String, EndpointSettings>,
    /// Further models by the name that requests and purposes use.
    pub models: BTreeMap<String, RouteSettings>,
    /// The models that answer calls of a purpose, by name; the default answers the others.
    pub purposes: BTreeMap<String, String>,
    /// The model for embeddings: one of `models`, or its name at the default endpoint; `None` if
    /// there are no vectors.
    #[serde(default)]
    pub embeddings: Option<String>,
    /// The prefixes of texts that are embedded.
    #[serde(default, skip_serializing_if = "EmbeddingPrefixes::is_empty")]
    pub embedding_prefixes: EmbeddingPrefixes,
    /// Prices by the model's name at its endpoint; `*` stands for any characters, and the longest
    /// pattern counts.
    pub prices: BTreeMap<String, PriceSettings>,
    /// Answer from this recording, and ask no model.
    pub replay: Option<PathBuf>,
    /// Note every exchange with the model in this file.
    pub record: Option<PathBuf>,
    /// Answer from the expected statements of a suite, rightly or not, and ask no model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated: Option<SimulatedSettings>,
}

impl ModelSettings {
    /// Returns whether rules answer model calls, rather than a model, a recording or a simulation.
    #[must_use]
    pub fn is_by_rules(&self) -> bool {
        self.rules().is_some()
    }

    /// The declaration of the rules that answer model calls; `None` if a model, a recording or a
    /// simulation does.
    pub(crate) fn rules(&self) -> Option<&'static Rules> {
        let is_asked = self.own.is_none() && self.replay.is_none() && self.simulated.is_none();
        self.provider.rules().filter(|_| is_asked)
    }

    /// Returns whether the default model is computed on this machine by a provider of ours.
    pub(crate) fn is_offline(&self) -> bool {
        self.provider.endpoint().is_none() && self.own.is_none()
    }
}

/// A simulated model: its figures stand for no model, and are to be shown with its label.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SimulatedSettings {
    /// The suite whose questions it answers.
    pub suite: PathBuf,
    /// The settings of its skill, its speed and its cost.
    #[serde(default)]
    pub knobs: SimulatedKnobs,
}

impl SimulatedSettings {
    /// Makes the settings of a simulation of that suite, with the knobs as they were measured.
    #[must_use]
    pub fn new(suite: impl Into<PathBuf>) -> Self {
        Self { suite: suite.into(), knobs: SimulatedKnobs::default() }
    }

    /// Returns the label of figures under that seed: `simulated, skill 0, seed 7`, and `simulated,
    /// naive` for the negative control.
    #[must_use]
    pub fn label(&self, seed: u64) -> String {
        self.knobs.label(seed)
    }
}

/// The limits on the rate of requests to an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RateSettings {
    /// The most requests that are sent within a minute; `None` if there is no limit.
    pub requests_per_minute: Option<u32>,
    /// The most tokens within a minute, input and output together; `None` if there is no limit.
    pub tokens_per_minute: Option<u64>,
    /// Requests in flight at once.
    pub in_flight: Option<usize>,
}

impl RateSettings {
    /// The part of a shard: the parts of all shards sum to these limits. The error names a limit
    /// that leaves nothing for the shard.
    pub(crate) fn part(self, shard: Shard) -> Result<Self, Error> {
        let own = Self {
            requests_per_minute: part(self.requests_per_minute.map(u64::from), shard)
                .map_err(|most| too_many_shards("requests_per_minute", most, shard))?
                .and_then(|own| u32::try_from(own).ok()),
            tokens_per_minute: part(self.tokens_per_minute, shard)
                .map_err(|most| too_many_shards("tokens_per_minute", most, shard))?,
            in_flight: part(self.in_flight.map(|most| most as u64), shard)
                .map_err(|most| too_many_shards("in_flight", most, shard))?
                .and_then(|own| usize::try_from(own).ok()),
        };
        Ok(own)
    }
}

/// The share of a shard in a limit. The error is a limit that leaves nothing for it.
fn part(most: Option<u64>, shard: Shard) -> Result<Option<u64>, u64> {
    match most.map(|most| (most, shard.share(most))) {
        Some((most, 0)) => Err(most),
        own => Ok(own.map(|(_, own)| own)),
    }
}

fn too_many_shards(limit: &str, most: u64, shard: Shard) -> Error {
    Error::Config(format!(
        "`{limit}` of {most} leaves nothing for shard {shard}: the shards share it, so give at \
         least {} or use fewer shards",
        shard.of
    ))
}

/// An endpoint beside the default one, which models refer to by its name.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EndpointSettings {
    /// The provider whose protocol it speaks; never the offline rules.
    pub provider: Provider,
    /// The base URL, up to and including `/v1`.
    pub base_url: String,
    /// The endpoint's key; `None` if there is none, as for local endpoints.
    #[serde(skip)]
    pub api_key: Option<SecretString>,
    /// The limit on the time of one call; `None` means the limit of the default endpoint.
    pub timeout: Option<Duration>,
    /// The limits on the rate of its requests.
    pub rates: RateSettings,
}

/// The prefixes that a model for embeddings expects before texts, such as `query: ` and `passage: `
/// of E5; most expect none.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EmbeddingPrefixes {
    /// The prefix of a question, and of the texts that a plugin has embedded.
    pub query: String,
    /// The prefix of what is searched: names, comments, terms, notes and solved examples.
    pub document: String,
}

impl EmbeddingPrefixes {
    /// Returns whether both prefixes are empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.query.is_empty() && self.document.is_empty()
    }

    /// Returns the key of the vectors of what is searched: the model, and the prefix if there is
    /// one.
    pub(crate) fn vectors_key(&self, model: &str) -> String {
        if self.document.is_empty() {
            model.to_owned()
        } else {
            format!("{model} with `{}`", self.document)
        }
    }
}

/// A model with a name of its own, and the endpoint that serves it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteSettings {
    /// The endpoint's name; `None` means the default endpoint.
    pub endpoint: Option<String>,
    /// The model's name at that endpoint.
    pub model: String,
}

/// The prices of a model, in dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PriceSettings {
    /// The price of tokens of prompts.
    pub input: f64,
    /// The price of tokens of replies.
    pub output: f64,
    /// The price of tokens of prompts that the endpoint had in its own prompt cache; `None` if they
    /// cost as much as the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<f64>,
}

/// The settings of the cache of answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheSettings {
    /// The folder of the cache on this machine; `None` if it has none.
    #[serde(skip)]
    pub folder: Option<PathBuf>,
    /// The place of a cache that several hosts share, which is used instead of `folder`. `None` if
    /// there is none.
    #[serde(skip)]
    pub shared: Option<Place>,
    /// The time for which an answer is used.
    pub ttl: Duration,
    /// The most bytes that the entries take; the oldest are removed first.
    pub bytes: u64,
}

impl CacheSettings {
    /// The place of the cache; `None` if nothing is cached.
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        self.shared.clone().or_else(|| self.folder.clone().map(Place::Local))
    }

    /// The settings without a cache.
    #[must_use]
    pub fn without_place(self) -> Self {
        Self { folder: None, shared: None, ..self }
    }
}

impl Default for CacheSettings {
    fn default() -> Self {
        let syrch_cache::Options { ttl, bytes, .. } = syrch_cache::Options::default();
        Self { folder: None, shared: None, ttl, bytes }
    }
}

impl Default for ModelSettings {
    fn default() -> Self {
        let (model, base_url) =
            Provider::OPENAI.endpoint().map_or(("", ""), |known| (known.model, known.base_url));
        Self {
            provider: Provider::default(),
            own: None,
            model: model.to_owned(),
            base_url: base_url.to_owned(),
            api_key: None,
            insecure_endpoint: false,
            temperature: 0.7,
            max_tokens: 4_096,
            structured: StructuredReplies::default(),
            timeout: Duration::from_secs(120),
            offline_threshold: None,
            rates: RateSettings::default(),
            shard: None,
            attempts: 3,
            max_retry_wait: Duration::from_secs(60),
            endpoints: BTreeMap::new(),
            models: BTreeMap::new(),
            purposes: BTreeMap::new(),
            embeddings: None,
            embedding_prefixes: EmbeddingPrefixes::default(),
            prices: BTreeMap::new(),
            replay: None,
            record: None,
            simulated: None,
        }
    }
}

/// The source of a plugin.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PluginSource {
    /// One that travels inside the binary.
    Builtin(String),
    /// The path of a component.
    File(PathBuf),
}

impl PluginSource {
    /// Reads a flag: what looks like a path (a separator, or the ending `.wasm`) is a file, the
    /// rest a built-in's name.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        if text.contains(['/', '\\']) || text.to_ascii_lowercase().ends_with(".wasm") {
            Self::File(PathBuf::from(text))
        } else {
            Self::Builtin(text.to_owned())
        }
    }
}

impl std::fmt::Display for PluginSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Builtin(name) => f.write_str(name),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

/// A plugin for each role, with its config. The default is that of [`crate::strategies::DEFAULT`];
/// [`crate::HostBuilder`] and the command line choose another one [if there is a
/// model](crate::strategies::settle).
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Strategy {
    /// The name of the strategy before a part of it was changed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The plugin of each role. The linker may be missing, in which case roles see the whole
    /// catalog.
    pub roles: BTreeMap<Role, PluginSource>,
    /// The plugins' own settings by role, as JSON objects.
    pub config: BTreeMap<Role, serde_json::Map<String, serde_json::Value>>,
    /// The file that it was read from, which nothing may be written over; `None` if it is built in,
    /// or of no file.
    #[serde(skip)]
    pub file: Option<PathBuf>,
    /// The components that a document names, a strategy file or a journal, each with the document
    /// in words. It may be somebody else's: a component that the user has neither added nor named
    /// is refused.
    #[serde(skip)]
    pub named_by: BTreeMap<PathBuf, String>,
    /// True if nobody named the strategy, so that the model decides which one it is.
    #[serde(skip)]
    pub is_default: bool,
}

impl Strategy {
    /// Notes that a document, in words, names all components of the strategy.
    pub(crate) fn note_document(&mut self, document: &str) {
        let solvers = self.solvers().into_values().map(|(source, _)| source);
        let sources = self.roles.values().cloned().chain(solvers);
        self.named_by = sources
            .filter_map(|source| match source {
                PluginSource::File(path) => Some((path, document.to_owned())),
                PluginSource::Builtin(_) => None,
            })
            .collect();
    }

    /// The plugins to which the nodes of its flow hand tasks, each with its settings, by the names
    /// of the nodes. A flow that cannot be read has none: the solver that runs it says why.
    #[must_use]
    pub fn solvers(
        &self,
    ) -> BTreeMap<String, (PluginSource, serde_json::Map<String, serde_json::Value>)> {
        let source = PluginSource::Builtin(FLOW.to_owned());
        let is_flow = self.roles.get(&Role::Solver) == Some(&source);
        let config = self.config.get(&Role::Solver).filter(|_| is_flow);
        let flow = config
            .and_then(|config| config.get(FLOW))
            .and_then(|flow| syrch_flows::read(flow).ok());
        let solvers = flow.map(|flow| flow.solvers()).unwrap_or_default().into_iter();
        solvers
            .map(|solver| (solver.name, (PluginSource::parse(&solver.plugin), solver.config)))
            .collect()
    }
}

/// Equal strategies do the same, wherever they were read from.
impl PartialEq for Strategy {
    fn eq(&self, other: &Self) -> bool {
        let Self { name, roles, config, file: _, named_by: _, is_default: _ } = self;
        (name, roles, config) == (&other.name, &other.roles, &other.config)
    }
}

impl Eq for Strategy {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_distinguished_from_a_name() {
        for path in ["plugins/chase.wasm", "chase.wasm", "./chase", "CHASE.WASM"] {
            assert_eq!(PluginSource::parse(path), PluginSource::File(path.into()));
        }
        assert_eq!(PluginSource::parse("chase"), PluginSource::Builtin("chase".into()));
    }
}
