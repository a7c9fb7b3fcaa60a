//! The verified optimizer: a faster statement, accepted only when it gives exactly the same rows
//! and is measurably faster.
//!
//! ```
//! use syrch::Host;
//! use syrch_optimizing::Optimizes;
//!
//! # #[tokio::main(flavor = "multi_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = syrch_kit::scratch();
//! # let shop = syrch_kit::sqlite(folder.path().join("shop.sqlite"), "
//! #     CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT);
//! #     INSERT INTO customers(name) VALUES ('Anna'), ('Ben');");
//! let statement = "SELECT name FROM customers";
//! let found = Host::builder().database(&shop).optimize(statement).iterations(1).run().await?;
//! println!("{}", found.report.best);
//! # Ok(())
//! # }
//! ```

mod bench;
mod consent;
mod copies;
pub mod corpus;
mod driver;
mod propose;
mod runs;

use std::path::PathBuf;
use std::sync::Arc;

use syrch::internal::RewritingHost;
use syrch::own::DatabaseSource;
use syrch::{Error, Host, HostBuilder, Observer, Silent, Stop};
use syrch_core::ports::BenchLimits;
use syrch_core::roles::Rewriter;

pub use consent::AskConsent;
pub use driver::Progress;
pub use runs::{OPTIMIZE_SCHEMA, Optimized};
pub use syrch_optimize::{
    Advice, CONFIRMED, Confirmation, EARLY_STOP, Entry, Gate, Gates, Iteration, IterationState,
    Manifest, Outcome, Pair, Plans, Probe, Purpose, Report, Round, SUPPORT, Settings, Step, Which,
    gates, is_faster, median,
};

/// The built-in rewriter of a host whose strategy names none. It needs no model.
pub const DEFAULT_REWRITER: &str = "rewrite-rules";

/// Looks for a faster form of a statement over a database (a path, a URL, or the program's own) by
/// rules alone, without a model. What it returns gives exactly the same rows, on the database as it
/// is and on changed copies of it. [`Optimizes::optimize`] offers all the choices.
///
/// # Errors
/// As [`Optimize::run`].
pub async fn optimize(
    sql: impl Into<String>,
    database: impl Into<DatabaseSource>,
) -> Result<Optimized, Error> {
    Host::builder().database(database).optimize(sql).run().await
}

/// A statement that a host is to make faster, from [`Optimizes::optimize`], with what applies to it
/// alone.
#[must_use = "nothing is optimized before it is run"]
pub struct Optimize {
    host: OptimizingHost,
    pub(crate) parts: Parts,
}

/// The host of an optimization: opened by [`Optimize::run`], or open already.
enum OptimizingHost {
    Unopened(Box<HostBuilder>),
    Open(Box<Host>),
}

/// A function that is called before each step.
type OnProgress = dyn Fn(&Progress<'_>) + Send + Sync;

/// The settings of one optimization.
#[derive(Clone)]
pub(crate) struct Parts {
    pub(crate) sql: String,
    pub(crate) settings: Settings,
    /// `None` for the number of the settings where the engine can make copies, and for none
    /// elsewhere.
    pub(crate) copies: Option<u32>,
    pub(crate) copies_folder: Option<PathBuf>,
    pub(crate) limits: BenchLimits,
    pub(crate) rewriter: Option<Arc<dyn Rewriter>>,
    pub(crate) is_accepted: bool,
    pub(crate) ask: Option<Arc<dyn AskConsent>>,
    pub(crate) observer: Arc<dyn Observer>,
    pub(crate) progress: Option<Arc<OnProgress>>,
    pub(crate) stop: Stop,
}

/// Opens optimizations of statements: a host, and a builder of one.
pub trait Optimizes {
    /// A statement that is to become faster; [`Optimize::run`] opens the host of a builder for it.
    fn optimize(self, sql: impl Into<String>) -> Optimize;
}

impl Optimizes for &Host {
    fn optimize(self, sql: impl Into<String>) -> Optimize {
        Optimize::new(OptimizingHost::Open(Box::new(self.clone())), sql.into())
    }
}

impl Optimizes for HostBuilder {
    fn optimize(self, sql: impl Into<String>) -> Optimize {
        Optimize::new(OptimizingHost::Unopened(Box::new(self)), sql.into())
    }
}

impl Optimize {
    fn new(host: OptimizingHost, sql: String) -> Self {
        let parts = Parts {
            sql,
            settings: Settings::default(),
            copies: None,
            copies_folder: None,
            limits: BenchLimits::default(),
            rewriter: None,
            is_accepted: false,
            ask: None,
            observer: Arc::new(Silent),
            progress: None,
            stop: Stop::new(),
        };
        Self { host, parts }
    }

    fn with(mut self, change: impl FnOnce(&mut Parts)) -> Self {
        change(&mut self.parts);
        self
    }

    /// Replaces all settings of the loop: iterations, acceptance rule, early stop, pairs, copies,
    /// seed. The number of copies counts only where the engine can make copies;
    /// [`Optimize::copies`] insists on one.
    pub fn settings(self, settings: Settings) -> Self {
        self.with(|parts| parts.settings = settings)
    }

    /// The most proposals of the rewriter; 5 by default.
    pub fn iterations(self, iterations: u32) -> Self {
        self.with(|parts| parts.settings.iterations = iterations)
    }

    /// Sets on how many changed copies of the database a statement must be equal, too; 6 by default
    /// where the engine can make copies, else 0.
    pub fn copies(self, copies: u32) -> Self {
        self.with(|parts| parts.copies = Some(copies))
    }

    /// The folder in which copies are made, which must exist; by default that of the system for
    /// temporary files. They are removed in the end.
    pub fn copies_folder(self, folder: impl Into<PathBuf>) -> Self {
        self.with(|parts| parts.copies_folder = Some(folder.into()))
    }

    /// Sets the bounds of comparing and measuring, by default [`BenchLimits::default`].
    pub fn limits(self, limits: BenchLimits) -> Self {
        self.with(|parts| parts.limits = limits)
    }

    /// Sets a rewriter of the program's own, in place of the plugin of the host's strategy. Its run
    /// can be resumed with it, and not be replayed.
    pub fn rewriter(self, rewriter: Arc<dyn Rewriter>) -> Self {
        self.with(|parts| parts.rewriter = Some(rewriter))
    }

    /// Sets whether the user agrees that the statement, its tables and its plan are sent to a
    /// model. Without that, and without [`Optimize::consent`], a run that would send something ends
    /// with [`Error::Consent`].
    pub fn accept_data_sent(self, is_accepted: bool) -> Self {
        self.with(|parts| parts.is_accepted = is_accepted)
    }

    /// Sets the function that asks the user before something is sent to a model for the first time.
    /// It is not called when nothing would be sent.
    pub fn consent(self, ask: impl AskConsent + 'static) -> Self {
        self.with(|parts| parts.ask = Some(Arc::new(ask)))
    }

    /// Sets the observer that receives the events of the run.
    pub fn observer(self, observer: Arc<dyn Observer>) -> Self {
        self.with(|parts| parts.observer = observer)
    }

    /// Sets a function that is called before each step.
    pub fn progress(self, progress: impl Fn(&Progress<'_>) + Send + Sync + 'static) -> Self {
        self.with(|parts| parts.progress = Some(Arc::new(progress)))
    }

    /// Sets a handle that ends the optimization early, with what was verified until then.
    pub fn stop(self, stop: Stop) -> Self {
        self.with(|parts| parts.stop = stop)
    }

    /// The host, with a rewriter.
    pub(crate) async fn open_host(self) -> Result<(RewritingHost, Parts), Error> {
        let Self { host, parts } = self;
        parts.settings.check().map_err(|error| Error::Config(error.to_string()))?;
        let observer = Arc::clone(&parts.observer);
        let plugin = parts.rewriter.is_none().then_some(DEFAULT_REWRITER);
        let host = match host {
            OptimizingHost::Unopened(builder) => {
                RewritingHost::open(*builder, plugin, observer.as_ref()).await?
            }
            OptimizingHost::Open(host) => {
                RewritingHost::from_host(*host, plugin, observer.as_ref()).await?
            }
        };
        Ok((host, parts))
    }
}
