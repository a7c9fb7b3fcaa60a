//! The provider `offline`, which has no model: rules turn a question into SQL, and abstain if they
//! do not understand it.
//!
//! `words` divides the question into tokens, `values` and `link` find the cells, tables and columns
//! that they name, `cues` the words for operations, and `items` puts these in a sequence. `walk`
//! goes through it and collects a draft of the query, `assemble` makes the query, `account` checks
//! that it drops no word that carries meaning, `writer` writes its SQL in the catalog's `dialect`,
//! and `confidence` rates it. Before all of them, `metric` reads questions for what semantics files
//! define.

mod account;
mod assemble;
mod calendar;
mod confidence;
mod cues;
mod daytexts;
mod dialect;
mod draft;
mod evidence;
mod found;
mod fragment;
mod imperative;
mod interpret;
mod items;
mod joins;
mod lexicon;
mod link;
mod metric;
mod periods;
mod provider;
mod query;
mod resolve;
mod roles;
mod samples;
mod schema;
mod shapes;
mod token;
mod values;
mod walk;
mod words;
mod writer;

#[cfg(test)]
mod dated;
#[cfg(test)]
mod doubtful;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod kinds;
#[cfg(test)]
mod repeats;
#[cfg(test)]
mod sure;
#[cfg(test)]
mod tests;

pub use evidence::Evidence;
pub use imperative::asks_for_change;
pub use metric::{UNREAD_EVIDENCE, describe_origin, find_cells, note_evidence, question_day};
pub use provider::{OfflineConfig, OfflineProvider};
