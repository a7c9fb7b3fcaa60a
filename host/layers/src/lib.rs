//! Decorators over ports: policy lives here and nowhere else.
//!
//! A call goes grant → budget → memo → backend. `budget` charges the search's ledger and bounds what is under way, `memo` runs equal
//! statements once, `bind` narrows a backend to what one role call sees, and `grant` shows cells only as far as the user allows.

pub mod bind;
pub mod budget;
#[cfg(test)]
mod fakes;
pub mod grant;
pub mod memo;

pub use bind::{ModelPort, SqlBinding};
pub use budget::{BudgetedDatabase, BudgetedModel};
pub use grant::{GrantedCells, GrantedIndex, GrantedRows};
pub use memo::Memo;
