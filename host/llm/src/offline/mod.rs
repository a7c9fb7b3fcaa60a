//! A provider without a model: rules that turn a question into SQL, and abstain where they do not understand it.

mod assemble;
mod confidence;
mod cues;
mod draft;
mod evidence;
mod fragment;
mod imperative;
mod interpret;
mod items;
mod joins;
mod lexicon;
mod link;
mod provider;
mod query;
mod resolve;
mod schema;
mod values;
mod walk;
mod words;

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;

pub use imperative::asks_for_change;
pub use provider::{OfflineConfig, OfflineProvider};
