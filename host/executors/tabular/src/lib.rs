//! Files of rows as a database: comma-separated values, tab-separated values, JSON Lines and
//! Parquet, one file or many, are read into a private SQLite file, each a table. It is used again
//! while the files are unchanged.

mod cell;
mod column;
mod config;
mod error;
mod import;
mod notes;
mod options;
mod pages;
mod read;
mod sources;
mod store;
mod target;
mod text;

pub use config::{ImportCaps, Imported, OnProgress, Progress, TabularConfig};
pub use error::ImportError;
pub use import::open;
pub use notes::Note;
pub use options::{DateOrder, Decimal, Encoding, ReadOptions, UnknownWord};
pub use sources::{ENDINGS, is_tabular, name, sources};
pub use store::{Stored, clear, store_size};
