//! Decorators over ports: policy lives here and nowhere else.
//!
//! A model call passes journal → taint → time → cache → retry → recording → rate → budget → route → price → provider. A cached reply
//! takes no slot, reserves nothing and costs no money, and each try is charged. `time`, which cancels calls at the search's deadline, is
//! a layer of `app`; `app/src/models.rs` puts the layers from there to `budget` together, and `app/src/open.rs` those below. There is a
//! `recording` only under `--llm record:FILE`, and no `cache` then.
//!
//! A statement passes journal → grant → memo → budget → cache → database. A statement that this search has run before is not charged
//! again, and one whose result an earlier search left in the cache is charged like any other.
//!
//! `budget` charges the search's ledger and bounds the calls in flight, `cache` stores good answers beyond the process, `memo` runs equal
//! statements of a search once, `bind` narrows a backend to what one role call sees, `grant` shows cells only as far as the user
//! allows, and `taint` denies the model calls of plugins that are not trusted once they may know something of the data.

pub mod bind;
pub mod budget;
pub mod cache;
#[cfg(test)]
mod fakes;
pub mod grant;
pub mod journal;
pub mod memo;
pub mod price;
pub mod rate;
pub mod record;
pub mod retry;
pub mod route;
pub mod taint;

pub use bind::{ModelPort, SqlBinding};
pub use budget::{BudgetedDatabase, BudgetedModel};
pub use cache::{CachedDatabase, CachedModel};
pub use grant::{GrantedCells, GrantedIndex, GrantedRows};
pub use journal::{Scribe, journalled};
pub use memo::Memo;
pub use price::{Price, PriceError, PricedModel, Prices};
pub use rate::{Limiter, RatedModel, Rates};
pub use record::RecordedModel;
pub use retry::{RetriedModel, Retries};
pub use route::{Route, RouteError, RoutedModel};
pub use taint::{Taint, TaintOfCall};
