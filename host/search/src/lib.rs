//! The host's index over the names and comments of one catalog, the user's business terms and notes, and solved examples: what
//! stands behind the port `search`. It is in memory, knows no database and no file, and never sees a cell.
//!
//! Four lanes, after the retrieval of sift: by words (BM25), by spelling (`path-fuzzy`), by lines (`segment-fuzzy`) and by
//! embeddings. Scores are 0 to 1 within a lane and do not compare across lanes: fusing them is the asker's.

mod bm25;
mod distance;
mod fuzzy;
mod index;
mod names;
mod segments;
mod shelf;
mod sources;
#[cfg(test)]
mod tests;
mod words;

pub use index::Index;
pub use sources::{Example, Note, Sources};
