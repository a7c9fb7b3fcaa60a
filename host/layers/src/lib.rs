//! Decorators over ports: policy lives here and nowhere else.
//!
//! A model call goes journal → taint → cache → retry → rate → budget → route → price → backend: a reply that was kept takes no slot,
//! reserves nothing and costs no money, and each try is charged. A statement goes journal → grant → memo → budget → cache → backend:
//! what this search has asked before is free, and what an earlier one asked is a statement like any other.
//!
//! `budget` charges the search's ledger and bounds what is under way, `cache` keeps good answers beyond the process, `memo` runs equal
//! statements of a search once, `bind` narrows a backend to what one role call sees, `grant` shows cells only as far as the user
//! allows, and `taint` ends the model calls of plugins that are not trusted once they may know something of the data.

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
