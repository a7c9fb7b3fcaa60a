//! The formats of reports, a file for each; `tables` makes the tables that several of them show.
//! Texts in a report come from a suite, a model or a plugin, so every renderer escapes them.

pub mod csv;
pub mod junit;
pub mod markdown;
pub mod page;
pub mod parquet;
mod rows;
pub mod tables;
pub(crate) mod words;
