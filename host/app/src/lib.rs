//! Answers questions over databases by search, with sandboxed strategies: the embeddable library, and the only crate that names backends.
//!
//! # One call
//! [`query`] answers a question with the defaults: by rules, without a model, a key or a network.
//!
//! ```
//! # #[tokio::main(flavor = "multi_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = syrch_kit::scratch();
//! # let shop = syrch_kit::sqlite(folder.path().join("shop.sqlite"), "
//! #     CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, country TEXT);
//! #     INSERT INTO customers(name, country) VALUES ('Anna', 'Spain'), ('Ben', 'Spain'), ('Clara', 'Italy');");
//! let found = syrch::query("How many customers are there in each country?", &shop).await?;
//! println!("{} (confidence {:.2})", found.answer, found.confidence);
//! println!("{}", found.sql);
//! assert_eq!(found.tables, ["customers"]);
//! assert_eq!(found.data.row_count(), 2);
//! # Ok(())
//! # }
//! ```
//!
//! # With a model
//! [`Query`] has a method for everything that a search is told: the model and where it is, depth, attempts and confidence, budgets and deadline,
//! plugins and their settings, the cache, a journal. Programs without an async runtime call [`Query::run_blocking`].
//!
//! ```no_run
//! use syrch::Query;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let found = Query::new("Which country has the most customers?", "shop.sqlite")
//!     .base_url("http://localhost:11434/v1")
//!     .model("qwen3")
//!     .max_attempts(5)
//!     .record("exchanges.jsonl")
//!     .run_blocking()?;
//! for batch in found.data.batches() {
//!     println!("{} rows of {}", batch.num_rows(), batch.schema());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! What was recorded answers again with `.replay("exchanges.jsonl")` in place of the endpoint: a test of a program that asks a model needs none.
//!
//! # When there is no answer
//! No answer is better than a wrong one, so a query ends well only with an acceptable one. [`QueryError`] tells a question that must be made
//! clear, and a search that found nothing acceptable, from a failure, which is an [`Error`] with a variant for each class.
//!
//! # Many questions
//! A [`Host`] opens the database and loads the plugins once; its searches may run side by side, report events as they happen, are resumed
//! and replayed.
//!
//! ```
//! use std::sync::Arc;
//! use syrch::{Host, Outcome, Settings, Silent, Stop, syrch_core::Problem};
//!
//! # #[tokio::main(flavor = "multi_thread")]
//! # async fn main() -> Result<(), syrch::Error> {
//! # let folder = syrch_kit::scratch();
//! # let shop = syrch_kit::sqlite(folder.path().join("shop.sqlite"), "
//! #     CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT);
//! #     CREATE TABLE orders(id INTEGER PRIMARY KEY, total REAL);
//! #     INSERT INTO customers(name) VALUES ('Anna'); INSERT INTO orders(total) VALUES (20.0), (5.5);");
//! let settings = Settings { database: shop.display().to_string(), ..Settings::default() };
//! let host = Host::open(settings, &Silent).await?;
//! for question in ["How many customers are there?", "How many orders are there?"] {
//!     let report = host.search(Problem::new(question), Arc::new(Silent), None, &Stop::new()).await?;
//!     assert_eq!(report.outcome, Outcome::Answered);
//! }
//! # Ok(())
//! # }
//! ```

mod answer;
pub mod batch;
mod build_index;
mod builtin;
mod clock;
mod context;
mod error;
mod evaluate;
mod given_up;
pub mod grading;
mod ground;
mod host;
mod kept;
mod knowledge;
mod models;
mod noted;
mod open;
pub mod plugins;
mod preview;
mod providers;
mod query;
mod record;
mod recordings;
mod report;
mod rests_on;
mod retrieval;
mod run_of_call;
mod runner;
mod search;
mod settings;
mod shared;
mod simulation;
pub mod strategies;
pub mod telemetry;
mod trace;
mod withheld;
pub mod yaml;

pub use build_index::IndexReport;
pub use error::Error;
pub use host::Host;
pub use knowledge::check_retrieval;
pub use open::{open_cache, open_database};
pub use plugins::Inspection;
pub use providers::{EndpointEntry, Provider};
pub use query::{Query, QueryError, QueryResult, query};
pub use record::recorded_settings;
pub use recordings::recorded_models;
pub use report::{
    ANSWER_SCHEMA, AnswerBody, AnswerDocument, Ask, CandidateReport, CandidateStatus, ClarifyReport, Confidence,
    CostReport, Observer, Outcome, PluginReport, RestsOn, SavedReport, SearchEvent, SearchReport, Silent, TimeReport,
};
pub use settings::{
    CacheSettings, EndpointSettings, JournalSettings, ModelSettings, PluginSource, PriceSettings, RateSettings,
    RetrievalSettings, RouteSettings, Settings, SimulatedSettings, Strategy,
};
pub use simulation::simulated_questions;
pub use withheld::Withheld;

pub use answer::json_value;
pub use shared::Shared;

pub use arrow_array;
pub use arrow_schema;
pub use secrecy;
pub use syrch_cache as cache;
pub use syrch_core;
pub use syrch_core::ResultSet;
pub use syrch_core::ports::Preview;
pub use syrch_grade as grade;
pub use syrch_journal as journal;
pub use syrch_llm::{SimulatedKnobs, is_exposed, is_loopback, kept_local};
pub use syrch_runtime::{
    CodeCache, CompileFailure, CompileProcess, CompileSettings, LoadError, Toolchain, compile_component,
};
pub use syrch_scheduler::Stop;
