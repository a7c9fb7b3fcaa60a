//! Confidence bands, which an answer's footer quotes: the share of right answers at about its
//! confidence.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The least number of answers with which a database has bands of its own.
pub const LEAST_OF_DATABASE: u64 = 10;

/// The answers with a confidence from `low` up to `high`; the last band holds 1 too.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Band {
    /// The least confidence of the band, 0 to 1.
    pub low: f64,
    /// The upper end of the band, where the next one begins.
    pub high: f64,
    /// The number of answers in the band.
    pub answers: u64,
    /// The number of them that were right.
    pub right: u64,
}

/// Bands over all databases, and over each that has enough answers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Bands {
    /// The number of databases in [`Bands::all`].
    pub databases: u64,
    /// Over all databases, without the empty ones.
    pub all: Vec<Band>,
    /// By database, those with at least [`LEAST_OF_DATABASE`] answers; of more than a hundred
    /// databases the hundred with the most answers.
    pub by_database: BTreeMap<String, Vec<Band>>,
}
