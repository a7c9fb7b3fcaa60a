//! The parts that reports are made of: tables, figures in words, pictures, pages and text for
//! terminals, a file for each format with its escape. What a report says is its crate's to decide.
//!
//! Texts in a report come from a database, a model or a plugin and are not trusted: whatever is no
//! constant of the program is escaped on its way into a format.

pub mod csv;
pub mod json;
pub mod markdown;
pub mod page;
pub mod picture;
mod section;
mod table;
pub mod terminal;
pub mod words;

pub use section::Keys;
pub use table::{Grid, Table, plain};
