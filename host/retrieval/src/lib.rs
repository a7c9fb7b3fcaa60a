//! The host's index over the names and comments of one catalog, the user's business terms and
//! notes, and solved examples. It implements the port `retrieval`. It is in memory, reads no
//! database and no file, and holds no cells.
//!
//! It has four retrievers, after those of sift: by words (BM25), by spelling (`path-fuzzy`), by
//! lines (`segment-fuzzy`) and by embeddings. Scores are from 0 to 1 and comparable only within a
//! retriever; the caller combines those of several.

mod bm25;
mod corpus;
mod distance;
mod fuzzy;
mod index;
mod names;
mod question_key;
mod segments;
mod sources;
#[cfg(test)]
mod tests;
mod words;

pub use index::Index;
pub use question_key::question_key;
pub use sources::{Example, Note, Sources};
