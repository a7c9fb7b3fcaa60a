//! Reports on constructed runs.

mod documents;
mod edges;
mod gates;
mod grids;
pub(crate) mod made;
mod rendered;
