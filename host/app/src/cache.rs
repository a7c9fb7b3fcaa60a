//! The cache of model replies and results: the crate `syrch_cache`, and how the cache of some
//! settings is opened.

pub use syrch_cache::*;

pub use crate::open::open_cache;
