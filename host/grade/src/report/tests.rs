//! Reports on constructed runs.

mod documents;
mod edges;
mod gates;
mod grids;
pub(crate) mod made;
pub(crate) mod markup;
mod rendered;
