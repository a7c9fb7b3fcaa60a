//! The budgets of a search, enforced before anything is sent: one ledger for model calls and
//! statements.

mod clamp;
mod database;
mod model;
mod usage;

pub use clamp::clamp;
pub use database::BudgetedDatabase;
pub use model::BudgetedModel;
pub(crate) use usage::believable_usage;
