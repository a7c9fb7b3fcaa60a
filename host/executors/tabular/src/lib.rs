//! Files of rows as a database: comma-separated values, tab-separated values, JSON Lines and
//! Parquet, one file or many, are read into a private SQLite file, each a table. It is used again
//! while the files are unchanged.

mod cell;
mod column;
mod config;
mod error;
mod import;
mod notes;
mod pages;
mod read;
mod sources;
mod target;
mod text;

pub use config::TabularConfig;
pub use error::ImportError;
pub use import::open;
pub use sources::{ENDINGS, is_tabular, name, sources};
