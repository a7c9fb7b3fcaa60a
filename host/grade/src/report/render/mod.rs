//! What is rendered from the documents: one file per way of writing. Whatever reaches them comes from a suite, a model or a plugin and is
//! not trusted.

pub mod csv;
pub mod html;
pub mod markdown;
mod page;
pub mod parquet;
mod rows;
pub mod text;
pub(crate) mod words;
