//! Files of rows as a database: comma-separated values, tab-separated values, JSON Lines and Parquet, one file or many, are read into a private
//! SQLite file, each a table. It is used again while the files are unchanged.

mod cell;
mod config;
mod error;
mod import;
mod pages;
mod read;
mod sources;
mod store;
mod target;

pub use config::{ImportCaps, Imported, OnProgress, Progress, TabularConfig};
pub use error::ImportError;
pub use import::open;
pub use sources::{ENDINGS, is_tabular, name, sources};
pub use store::{Stored, clear, stored};
