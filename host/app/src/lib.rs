//! Answers questions over databases by search, with sandboxed strategies: the embeddable library, and the only room that names backends.
//!
//! ```no_run
//! use std::sync::Arc;
//! use syrch::{Host, Settings, Silent, Stop, syrch_core::Problem};
//!
//! # async fn ask() -> Result<(), syrch::Error> {
//! let settings = Settings { database: "examples/shop.sqlite".into(), ..Settings::default() };
//! let host = Host::open(settings, &Silent).await?;
//! let report = host.search(Problem::new("How many customers are there?"), Arc::new(Silent), None, &Stop::new()).await?;
//! if let Some(answer) = report.document.answer {
//!     println!("{}", answer.text);
//! }
//! # Ok(())
//! # }
//! ```

mod answer;
mod builtin;
mod context;
mod error;
mod evaluate;
mod ground;
mod host;
mod open;
mod record;
pub mod plugins;
mod report;
mod runner;
mod search;
mod settings;
mod trace;

pub use error::Error;
pub use host::Host;
pub use open::{open_cache, open_database};
pub use plugins::Inspection;
pub use record::recorded_settings;
pub use report::{
    ANSWER_SCHEMA, AnswerBody, AnswerDocument, Ask, CandidateReport, CandidateStatus, ClarifyReport, Confidence,
    CostReport, Observer, Outcome, PluginReport, SearchEvent, SearchReport, Silent, TimeReport,
};
pub use settings::{
    CacheSettings, EndpointSettings, JournalSettings, ModelSettings, PluginSource, PriceSettings, Provider, RateSettings, RouteSettings,
    Settings, Strategy,
};

pub use answer::json_value;
pub use secrecy;
pub use syrch_cache as cache;
pub use syrch_core;
pub use syrch_journal as journal;
pub use syrch_runtime::LoadError;
pub use syrch_scheduler::Stop;
