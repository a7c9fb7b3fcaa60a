//! Answers questions over databases by search, with sandboxed strategies: the embeddable library,
//! and the only crate that names backends.
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
//! #     INSERT INTO customers(name, country)
//! #     VALUES ('Anna', 'Spain'), ('Ben', 'Spain'), ('Clara', 'Italy');");
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
//! [`Host::builder`] has a method for each choice that outlives a question (database, model,
//! strategy, plugins, cache, journal), and [`Query`] one for each that does not (attempts, budgets,
//! deadline). Programs without an async runtime call [`Query::run_blocking`].
//!
//! ```no_run
//! use syrch::Host;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let found = Host::builder()
//!     .database("shop.sqlite")
//!     .base_url("http://localhost:11434/v1")
//!     .model("qwen3")
//!     .record("exchanges.jsonl")
//!     .query("Which country has the most customers?")
//!     .max_attempts(5)
//!     .run_blocking()?;
//! for batch in found.data.batches() {
//!     println!("{} rows of {}", batch.num_rows(), batch.schema());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! A recording answers again with `.replay("exchanges.jsonl")` in place of the endpoint, so that
//! tests of a program need no model. `database` and `model` also accept implementations of the
//! program's own.
//!
//! # When there is no answer
//! No answer is better than a wrong one, so a query ends well only with an acceptable one.
//! [`QueryError`] distinguishes a question that must be made clear, a search that found nothing
//! acceptable, and a failure, which is an [`Error`] with a variant for each class.
//!
//! # Many questions
//! An open [`Host`] has the database open and the plugins loaded. Its searches may run
//! concurrently; [`Host::search`] returns the whole report of one, and [`Host::resume`] and
//! [`Host::replay`] continue and repeat runs from their journals.
//!
//! ```
//! use syrch::Host;
//!
//! # #[tokio::main(flavor = "multi_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = syrch_kit::scratch();
//! # let shop = syrch_kit::sqlite(folder.path().join("shop.sqlite"), "
//! #     CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT);
//! #     CREATE TABLE orders(id INTEGER PRIMARY KEY, total REAL);
//! #     INSERT INTO customers(name) VALUES ('Anna');
//! #     INSERT INTO orders(total) VALUES (20.0), (5.5);");
//! let host = Host::builder().database(&shop).open().await?;
//! let customers = host.query("How many customers are there?");
//! let orders = host.query("How many orders are there?");
//! let (customers, orders) = tokio::try_join!(customers.run(), orders.run())?;
//! assert_eq!((customers.data.row_count(), orders.data.row_count()), (1, 1));
//! # Ok(())
//! # }
//! ```
//!
//! # Where the rest is
//! The names that most programs need are at the root. The others are in modules named after their
//! content: [`settings`], [`report`], [`strategies`], [`plugins`], [`databases`], [`models`],
//! [`own`] (databases and models of the program), [`knowledge`] (notes, examples and indexes),
//! [`audit`] (what plugins used and were denied), [`cache`], [`imports`] (files of rows),
//! [`batch`], [`conversation`] (questions that follow others), [`role_call`] (one call of one
//! role), [`schema`] (a catalog as a document), [`telemetry`], [`metric`] (metrics that are defined
//! once), and the crates [`syrch_core`], [`journal`], [`suites`] and [`semantics`]. Graded runs are
//! in the crate `syrch-grading`, faster statements in `syrch-optimizing`.

mod answer;
pub mod audit;
pub mod batch;
mod build_index;
mod builder;
// Without plugins their form is unused.
#[cfg_attr(not(feature = "builtins"), allow(dead_code))]
mod builtin;
pub mod cache;
mod clock;
mod content_digest;
mod context;
pub mod conversation;
pub mod databases;
mod defined;
mod descriptions;
#[cfg_attr(not(feature = "endpoints"), path = "without_endpoints.rs")]
mod endpoints;
mod error;
mod evaluate;
mod executors;
mod given_up;
mod granted;
mod ground;
mod host;
pub mod imports;
#[doc(hidden)]
pub mod internal;
mod journal_settings;
mod json_value;
pub mod knowledge;
mod linking;
pub mod lock;
mod meaning;
pub mod metric;
mod model_calls;
pub mod models;
mod noted;
mod nothing;
mod open;
pub mod own;
pub mod plugins;
mod preview;
#[cfg(feature = "endpoints")]
mod probe;
mod providers;
mod query;
mod quotes;
mod record;
mod recordings;
pub mod report;
mod rests_on;
mod retrieval;
mod rewriting;
pub mod role_call;
mod run;
mod run_of_call;
mod runner;
pub mod schema;
mod search;
mod sentence;
mod servers;
pub mod settings;
mod settled;
mod shared;
mod simulation;
pub mod strategies;
pub mod telemetry;
mod thought;
mod trace;
pub mod verified;
mod withheld;

pub use builder::HostBuilder;
pub use descriptions::DescriptionReport;
pub use error::Error;
pub use host::Host;
pub use linking::Linking;
pub use providers::Provider;
pub use query::{Query, QueryError, QueryResult, query};
pub use record::DatabaseCheck;
pub use report::{Ask, Observer, Outcome, SearchEvent, SearchReport, Silent};
pub use run::{Callbacks, Meter};
pub use settings::Settings;
pub use shared::Shared;
pub use syrch_scheduler::Stop;

pub use arrow_array;
pub use arrow_schema;
pub use secrecy;
pub use syrch_core;
pub use syrch_files as files;
pub use syrch_journal as journal;
pub use syrch_semantics as semantics;
pub use syrch_suites as suites;
pub use syrch_yaml as yaml;
