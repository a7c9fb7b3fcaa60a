//! One question in one call.

pub(crate) mod check;
mod result;

use std::sync::Arc;
use std::time::Duration;

use syrch_core::Problem;
use syrch_scheduler::Stop;

pub use result::{QueryError, QueryResult};

use crate::own::DatabaseSource;
use crate::{Ask, Error, Host, HostBuilder, Observer, Settings, Silent};

/// Answers one question over one database (a path, a URL such as `sqlite:shop.sqlite`, or the
/// program's own) with the defaults: by rules, without a model and without a network.
/// [`Host::builder`] offers all the choices.
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
pub async fn query(
    question: impl Into<String>,
    database: impl Into<DatabaseSource>,
) -> Result<QueryResult, QueryError> {
    Host::builder().database(database).query(question).run().await
}

/// A question to a host, from [`Host::query`] or [`HostBuilder::query`], with what applies to it
/// alone.
///
/// ```
/// use std::time::Duration;
/// use syrch::{Host, QueryError};
///
/// # #[tokio::main(flavor = "multi_thread")]
/// # async fn main() -> Result<(), syrch::Error> {
/// # let folder = syrch_kit::scratch();
/// # let script = "CREATE TABLE customers(id INTEGER PRIMARY KEY);";
/// # let database = syrch_kit::sqlite(folder.path().join("shop.sqlite"), script);
/// # let refusal = syrch_kit::Reply::status(401, "no such key");
/// # let endpoint = syrch_kit::MockEndpoint::start(syrch_kit::Script::always(refusal));
/// # let url = endpoint.url();
/// let host = Host::builder()
///     .database(&database)
///     .base_url(url) // such as "http://localhost:11434/v1"
///     .model("qwen3")
///     .open()
///     .await?;
/// let query = host
///     .query("Which country has the most customers?")
///     .max_depth(2)
///     .high_confidence(0.9)
///     .token_budget(50_000)
///     .deadline(Duration::from_secs(60));
/// match query.run().await {
///     Ok(found) => println!("{} ({:.2})\n{}", found.answer, found.confidence, found.sql),
///     Err(QueryError::Unclear { question, .. }) => println!("it depends: {question}"),
///     Err(QueryError::NoAnswer(trace)) => {
///         println!("none of {} candidates is acceptable", trace.candidates.len());
///     }
///     Err(QueryError::Failed(error)) => println!("{error}"),
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "a query does nothing before it is run"]
pub struct Query {
    host: QueriedHost,
    problem: Problem,
    observer: Arc<dyn Observer>,
    ask: Option<Box<dyn Ask>>,
    stop: Stop,
}

/// The host of a query: opened by [`Query::run`], or open already.
enum QueriedHost {
    Unopened(Box<HostBuilder>),
    /// A copy, whose settings are the query's own.
    Open(Box<Host>),
}

impl Query {
    pub(crate) fn with_builder(builder: HostBuilder, question: String) -> Self {
        Self::new(QueriedHost::Unopened(Box::new(builder)), question)
    }

    pub(crate) fn for_host(host: &Host, question: String) -> Self {
        Self::new(QueriedHost::Open(Box::new(host.clone())), question)
    }

    fn new(host: QueriedHost, question: String) -> Self {
        let problem = Problem::new(question);
        Self { host, problem, observer: Arc::new(Silent), ask: None, stop: Stop::new() }
    }

    fn configure(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(match &mut self.host {
            QueriedHost::Unopened(builder) => builder.settings(),
            QueriedHost::Open(host) => Arc::make_mut(&mut host.settings),
        });
        self
    }

    /// Text that explains terms of the question.
    pub fn evidence(mut self, evidence: impl Into<String>) -> Self {
        self.problem.evidence = Some(evidence.into());
        self
    }

    /// Levels of decomposition, 1 to 16; 3 by default.
    pub fn max_depth(self, levels: u32) -> Self {
        self.configure(|settings| settings.policy.max_depth = levels)
    }

    /// Statements tried for one task, 1 to 100; 3 by default.
    pub fn max_attempts(self, attempts: u32) -> Self {
        self.configure(|settings| settings.policy.max_attempts = attempts)
    }

    /// The confidence at or above which no further candidate is tried, 0 to 1; 0.85 by default.
    pub fn high_confidence(self, confidence: f64) -> Self {
        self.configure(|settings| settings.policy.high_confidence = confidence)
    }

    /// The confidence below which an answer becomes [`QueryError::NoAnswer`], 0 to 1; by default
    /// every acceptable answer is returned.
    pub fn min_confidence(self, confidence: f64) -> Self {
        self.configure(|settings| settings.min_confidence = Some(confidence))
    }

    /// Tasks in flight at once, 1 to 64; 5 by default.
    pub fn max_concurrency(self, tasks: u32) -> Self {
        self.configure(|settings| settings.policy.max_parallel = tasks)
    }

    /// Tokens that the search may spend, input and output together; 100,000 by default.
    pub fn token_budget(self, tokens: u64) -> Self {
        self.configure(|settings| settings.budgets.tokens = tokens)
    }

    /// Sets how long the search may take, 600 s by default; with `None` as long as its calls do.
    pub fn deadline(self, deadline: impl Into<Option<Duration>>) -> Self {
        self.configure(|settings| settings.deadline = deadline.into())
    }

    /// Sets the function that answers the search's questions to the user; without it, an unclear
    /// question is [`QueryError::Unclear`].
    pub fn interactive(mut self, ask: impl Ask + 'static) -> Self {
        self.ask = Some(Box::new(ask));
        self
    }

    /// Sets the observer that receives the events of the search while it runs.
    pub fn observer(mut self, observer: impl Observer + 'static) -> Self {
        self.observer = Arc::new(observer);
        self
    }

    /// A handle that ends the search early, with the best answer so far.
    pub fn stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// Searches for the answer.
    ///
    /// # Errors
    /// [`QueryError::NoAnswer`] when nothing acceptable was found, [`QueryError::Unclear`] when the
    /// question must be made clear first, and [`QueryError::Failed`] when a setting is out of its
    /// range or the search failed.
    pub async fn run(self) -> Result<QueryResult, QueryError> {
        let Self { host, problem, observer, ask, stop } = self;
        let host = match host {
            QueriedHost::Unopened(builder) => builder.open_with(observer.as_ref()).await?,
            QueriedHost::Open(host) => host.reconfigure()?,
        };
        let report = host.search(problem, observer, ask.as_deref(), &stop).await?;
        QueryResult::from_report(&host, report).await
    }

    /// [`Query::run`] for programs without an async runtime.
    ///
    /// # Errors
    /// As [`Query::run`], and within an async runtime, where it would block others.
    pub fn run_blocking(self) -> Result<QueryResult, QueryError> {
        if tokio::runtime::Handle::try_current().is_ok() {
            return Err(Error::Config(
                "within an async runtime, `run` is to be awaited".to_owned(),
            )
            .into());
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        runtime.map_err(|error| Error::Internal(error.to_string()))?.block_on(self.run())
    }
}
