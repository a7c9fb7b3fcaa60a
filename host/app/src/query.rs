//! One question in one call: syrch 0.1.2's `query`, with a method for each of its keywords that still has a meaning.

mod check;
mod result;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;
use syrch_core::Problem;
use syrch_core::ports::RowsGrant;
use syrch_core::roles::Role;
use syrch_scheduler::Stop;

pub use result::{QueryError, QueryResult};

use crate::{Ask, Error, Host, Observer, PluginSource, Provider, Settings, Silent};

/// Answers one question over one database (a path, or a URL such as `sqlite:shop.sqlite`) with the defaults: by rules, without a model and
/// without a network. [`Query`] is the same with all the choices.
///
/// ```
/// # #[tokio::main(flavor = "multi_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = syrch_kit::scratch();
/// # let database = syrch_kit::sqlite(folder.path().join("shop.sqlite"), "
/// #     CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT);
/// #     INSERT INTO customers(name) VALUES ('Anna'), ('Ben'), ('Clara');");
/// let answer = syrch::query("How many customers are there?", &database).await?;
/// assert_eq!(answer.data.rows(0, 1), [[syrch::syrch_core::Value::Integer(3)]]);
/// assert!(answer.sql.starts_with("SELECT"));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// As [`Query::run`].
pub async fn query(question: impl Into<String>, database: impl AsRef<Path>) -> Result<QueryResult, QueryError> {
    Query::new(question, database).run().await
}

/// A question with everything that its search is told. Nothing is read from the environment or from files of settings.
///
/// Each [`Query::run`] opens the database and loads the plugins; for many questions over one database open a [`Host`] once.
///
/// ```
/// use std::time::Duration;
/// use syrch::{Query, QueryError};
///
/// # #[tokio::main(flavor = "multi_thread")]
/// # async fn main() {
/// # let folder = syrch_kit::scratch();
/// # let database = syrch_kit::sqlite(folder.path().join("shop.sqlite"), "CREATE TABLE customers(id INTEGER PRIMARY KEY);");
/// # let endpoint = syrch_kit::MockEndpoint::start(syrch_kit::Script::always(syrch_kit::Reply::status(401, "no such key")));
/// # let url = endpoint.url();
/// let query = Query::new("Which country has the most customers?", &database)
///     .base_url(url) // such as "http://localhost:11434/v1"
///     .model("qwen3")
///     .max_depth(2)
///     .high_confidence(0.9)
///     .token_budget(50_000)
///     .deadline(Duration::from_secs(60));
/// match query.run().await {
///     Ok(found) => println!("{} ({:.2})\n{}", found.answer, found.confidence, found.sql),
///     Err(QueryError::Unclear { question, .. }) => println!("it depends: {question}"),
///     Err(QueryError::NoAnswer(trace)) => println!("none of {} candidates would do", trace.candidates.len()),
///     Err(QueryError::Failed(error)) => println!("{error}"),
/// }
/// # }
/// ```
#[must_use = "a query does nothing before it is run"]
pub struct Query {
    problem: Problem,
    database: PathBuf,
    settings: Settings,
    provider: Option<Provider>,
    model: Option<String>,
    base_url: Option<String>,
    observer: Arc<dyn Observer>,
    ask: Option<Box<dyn Ask>>,
    stop: Stop,
}

impl Query {
    /// A question over a database: a path, or a URL such as `sqlite:shop.sqlite`, whose scheme names the engine.
    pub fn new(question: impl Into<String>, database: impl AsRef<Path>) -> Self {
        Self {
            problem: Problem::new(question),
            database: database.as_ref().to_owned(),
            settings: Settings::default(),
            provider: None,
            model: None,
            base_url: None,
            observer: Arc::new(Silent),
            ask: None,
            stop: Stop::new(),
        }
    }

    /// What explains terms of the question.
    pub fn evidence(mut self, evidence: impl Into<String>) -> Self {
        self.problem.evidence = Some(evidence.into());
        self
    }

    /// Who answers model calls. Without this, a named model, base URL or key means an endpoint that speaks OpenAI's chat completions, and
    /// none of them the offline rules.
    pub fn provider(mut self, provider: Provider) -> Self {
        self.provider = Some(provider);
        self
    }

    /// The model's name at its endpoint.
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.model = Some(name.into());
        self
    }

    /// Where the endpoint is, up to and including `/v1`; by default the provider's own.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// The endpoint's key. It is sent there and nowhere else, and is never shown.
    pub fn api_key(mut self, key: impl Into<SecretString>) -> Self {
        self.settings.model.api_key = Some(key.into());
        self
    }

    /// 0 to 2, where a plugin asks for none; 0.7 by default.
    pub fn temperature(self, temperature: f32) -> Self {
        self.configure(|settings| settings.model.temperature = temperature)
    }

    /// Output tokens of one call at most; 4,096 by default.
    pub fn max_tokens(self, tokens: u32) -> Self {
        self.configure(|settings| settings.model.max_tokens = tokens)
    }

    /// How long one model call may take; 120 s by default.
    pub fn timeout(self, timeout: Duration) -> Self {
        self.configure(|settings| settings.model.timeout = timeout)
    }

    /// Levels of decomposition, 1 to 16; 3 by default.
    pub fn max_depth(self, levels: u32) -> Self {
        self.configure(|settings| settings.policy.max_depth = levels)
    }

    /// Statements tried for one task, 1 to 100; 3 by default.
    pub fn max_attempts(self, attempts: u32) -> Self {
        self.configure(|settings| settings.policy.max_attempts = attempts)
    }

    /// Stop trying at or above this confidence, 0 to 1; 0.85 by default.
    pub fn high_confidence(self, confidence: f64) -> Self {
        self.configure(|settings| settings.policy.high_confidence = confidence)
    }

    /// Tasks under way at once, 1 to 64; 5 by default.
    pub fn max_concurrency(self, tasks: u32) -> Self {
        self.configure(|settings| settings.policy.max_parallel = tasks)
    }

    /// Tokens that the search may spend, input and output together; 100,000 by default.
    pub fn token_budget(self, tokens: u64) -> Self {
        self.configure(|settings| settings.budgets.tokens = tokens)
    }

    /// How long the search may take, 600 s by default; with `None` as long as its calls do.
    pub fn deadline(self, deadline: impl Into<Option<Duration>>) -> Self {
        self.configure(|settings| settings.deadline = deadline.into())
    }

    /// Ambiguity above which the built-in clarifier asks, 0 to 1; 0.35 by default.
    pub fn ambiguity_threshold(self, threshold: f64) -> Self {
        self.option(Role::Clarifier, "threshold", threshold)
    }

    /// Who answers when the question is unclear; without one, that is [`QueryError::Unclear`].
    pub fn interactive(mut self, ask: impl Ask + 'static) -> Self {
        self.ask = Some(Box::new(ask));
        self
    }

    /// Who watches the search.
    pub fn observer(mut self, observer: impl Observer + 'static) -> Self {
        self.observer = Arc::new(observer);
        self
    }

    /// What ends the search early, with the best answer so far.
    pub fn stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// Tables that the search may see, as globs; by default all.
    pub fn tables(self, globs: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.configure(|settings| settings.tables = globs.into_iter().map(Into::into).collect())
    }

    /// How much cell text plugins and prompts may see; by default three rows of a result.
    pub fn rows(self, grant: RowsGrant) -> Self {
        self.configure(|settings| settings.rows = grant)
    }

    /// Keeps model replies and results in this folder, and answers from it. By default nothing is kept.
    pub fn cache(self, folder: impl Into<PathBuf>) -> Self {
        self.configure(|settings| settings.cache.folder = Some(folder.into()))
    }

    /// How long what is kept is good; 24 h by default.
    pub fn cache_ttl(self, ttl: Duration) -> Self {
        self.configure(|settings| settings.cache.ttl = ttl)
    }

    /// Keeps a journal of the run in this folder. By default there is none.
    pub fn journal(self, folder: impl Into<PathBuf>) -> Self {
        self.configure(|settings| settings.journal.folder = Some(folder.into()))
    }

    /// Answers model calls from this recording or journal, and asks no model.
    pub fn replay(self, file: impl Into<PathBuf>) -> Self {
        self.configure(|settings| settings.model.replay = Some(file.into()))
    }

    /// Notes every exchange with the model in this file, for [`Query::replay`].
    pub fn record(self, file: impl Into<PathBuf>) -> Self {
        self.configure(|settings| settings.model.record = Some(file.into()))
    }

    /// Who plays a role: a built-in's name, or the path of a component.
    pub fn plugin(self, role: Role, plugin: &str) -> Self {
        self.configure(|settings| drop(settings.strategy.roles.insert(role, PluginSource::parse(plugin))))
    }

    /// A setting of the plugin that plays a role.
    pub fn option(self, role: Role, name: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
        self.configure(|settings| {
            settings.strategy.config.entry(role).or_default().insert(name.into(), value.into());
        })
    }

    /// Anything else of the settings. The database and what [`Query::provider`], [`Query::model`] and [`Query::base_url`] say come after it.
    pub fn configure(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self
    }

    /// Searches for the answer.
    ///
    /// # Errors
    /// [`QueryError::NoAnswer`] when nothing acceptable was found, [`QueryError::Unclear`] when the question must be made clear first, and
    /// [`QueryError::Failed`] when a setting is out of its range or the search failed.
    pub async fn run(mut self) -> Result<QueryResult, QueryError> {
        let (problem, observer, stop) = (self.problem.clone(), Arc::clone(&self.observer), self.stop.clone());
        let ask = self.ask.take();
        let host = Host::open(self.into_settings()?, observer.as_ref()).await?;
        let report = host.search(problem, observer, ask.as_deref(), &stop).await?;
        QueryResult::of(&host, report).await
    }

    /// [`Query::run`] for programs without an async runtime.
    ///
    /// # Errors
    /// As [`Query::run`], and within an async runtime, where it would block others.
    pub fn run_blocking(self) -> Result<QueryResult, QueryError> {
        if tokio::runtime::Handle::try_current().is_ok() {
            return Err(Error::Config("within an async runtime, `run` is to be awaited".to_owned()).into());
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        runtime.map_err(|error| Error::Internal(error.to_string()))?.block_on(self.run())
    }

    fn into_settings(self) -> Result<Settings, Error> {
        let mut settings = self.settings;
        let wrong = || Error::Config(format!("the path {} is no UTF-8 text", self.database.display()));
        self.database.to_str().ok_or_else(wrong)?.clone_into(&mut settings.database);
        let model = &mut settings.model;
        let names_one = self.model.is_some() || self.base_url.is_some() || model.api_key.is_some();
        match self.provider {
            Some(provider) => model.provider = provider,
            None if names_one && model.provider == Provider::OFFLINE => model.provider = Provider::OPENAI,
            None => {}
        }
        if let Some(endpoint) = self.provider.and_then(Provider::endpoint) {
            endpoint.model.clone_into(&mut model.model);
            endpoint.base_url.clone_into(&mut model.base_url);
        }
        model.model = self.model.unwrap_or(std::mem::take(&mut model.model));
        model.base_url = self.base_url.unwrap_or(std::mem::take(&mut model.base_url));
        check::check(&settings)?;
        Ok(settings)
    }
}
