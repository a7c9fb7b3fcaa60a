//! Decorators over ports: policy is here and nowhere else.
//!
//! [`stack`] puts them together and defines the order in which calls pass them.
//!
//! `allow` bounds what one plugin may use by its own grants, `budget` charges the search's ledger
//! and bounds the calls in flight, `cache` stores good answers beyond the process, `memo` runs
//! equal statements of a search once, `doubts` adds to a result what may be wrong with it, `bind`
//! narrows a backend to what one role call sees, `narrow` binds `inspect` to the tables of the
//! statement that is optimized,
//! `consent` denies model calls of an optimization before the user has agreed, `grant` bounds the
//! cells that plugins see,
//! `in_order` lets calls in flight end in the order in which they were made, and `taint` denies the
//! model calls of untrusted plugins once they may know something of the data.

pub mod allow;
pub mod bind;
pub mod budget;
pub mod cache;
pub mod consent;
pub mod doubts;
#[cfg(test)]
mod fakes;
pub mod grant;
pub mod in_order;
pub mod journal;
pub mod memo;
pub mod narrow;
pub mod observe;
mod pivot;
pub mod preview;
pub mod price;
pub mod quotes;
pub mod rate;
pub mod record;
pub mod retry;
pub mod route;
pub mod stack;
pub mod taint;
pub mod time;
pub mod wordless;

pub use allow::{Allowance, Bounds, Decision, Decisions, Watch};
pub use bind::{ModelPort, SqlBinding};
pub use budget::{BudgetedDatabase, BudgetedModel};
pub use cache::{CachedDatabase, CachedModel};
pub use consent::Consent;
pub use doubts::{Author, DoubtingDatabase};
pub use grant::{GrantedCells, GrantedIndex, GrantedRows};
pub use in_order::InOrder;
pub use journal::{CallRecorder, add_journal};
pub use memo::Memo;
pub use narrow::NarrowedInspect;
pub use observe::CallObserver;
pub use preview::Previews;
pub use price::{Price, PriceError, PricedModel, Prices};
pub use quotes::MeantModel;
pub use rate::{Limiter, RatedModel, Rates};
pub use record::RecordedModel;
pub use retry::{RetriedModel, Retries};
pub use route::{Route, RouteError, RoutedModel};
pub use stack::{ModelParts, cache_database, model_stack, role_stack, statement_stack};
pub use taint::{Taint, TaintOfCall};
pub use time::{Time, TimedSql};
