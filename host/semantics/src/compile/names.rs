//! Metrics, dimensions and tables by the names that people write.

use crate::{Dimension, Metric, Semantics, Table};

use super::CompileError;

/// The number of names that an error suggests.
const SUGGESTED: usize = 3;
/// The least similarity of a name that an error suggests.
const LIKE: f64 = 0.7;

/// Returns whether two names are equal but for their letter case.
pub(crate) fn are_equal(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
        || !(one.is_ascii() && other.is_ascii()) && one.to_lowercase() == other.to_lowercase()
}

/// Returns whether two names are equal but for letter case, and spaces that are underscores.
fn are_alike(one: &str, other: &str) -> bool {
    one.len() == other.len() && are_equal(&one.replace('_', " "), &other.replace('_', " "))
}

/// Returns the table of that name.
pub(crate) fn find_table<'a>(semantics: &'a Semantics, name: &str) -> Option<&'a Table> {
    semantics.index().table(name).map(|at| &semantics.tables[at])
}

/// Returns the metric that is called so, not by a synonym.
pub(crate) fn find_named<'a>(semantics: &'a Semantics, name: &str) -> Option<&'a Metric> {
    semantics.index().metric(name).map(|at| &semantics.metrics[at])
}

/// Returns the metric of that name: by its name, else by a synonym or with spaces for underscores.
///
/// # Errors
/// [`CompileError::UnknownMetric`] with the names that are most like it.
pub(crate) fn find_metric<'a>(
    semantics: &'a Semantics,
    name: &str,
) -> Result<&'a Metric, CompileError> {
    let name = name.trim();
    let metrics = &semantics.metrics;
    let index = semantics.index();
    let found = index
        .metric(name)
        .or_else(|| index.synonym(name))
        .map(|at| &metrics[at])
        .or_else(|| metrics.iter().find(|metric| are_alike(&metric.name, name)));
    found.ok_or_else(|| CompileError::UnknownMetric {
        name: name.to_owned(),
        nearest: find_nearest(
            name,
            metrics.iter().flat_map(|metric| {
                std::iter::once(&metric.name).chain(&metric.synonyms).map(String::as_str)
            }),
        ),
    })
}

/// Returns the dimensions that a name may mean, one if the table stands before it.
///
/// # Errors
/// [`CompileError::UnknownDimension`] with the names that are most like it.
pub(crate) fn find_dimensions<'a>(
    semantics: &'a Semantics,
    name: &str,
) -> Result<Vec<&'a Dimension>, CompileError> {
    let name = name.trim();
    let dimensions = &semantics.dimensions;
    let index = semantics.index();
    let named = index.dimensions(name);
    if !named.is_empty() {
        return Ok(named.iter().map(|at| &dimensions[*at]).collect());
    }
    for is_meant in [has_synonym, is_like] {
        let found: Vec<&Dimension> =
            dimensions.iter().filter(|dimension| is_meant(dimension, name)).collect();
        if !found.is_empty() {
            return Ok(found);
        }
    }
    let known: Vec<String> = dimensions
        .iter()
        .flat_map(|dimension| [dimension.name.clone(), qualify(dimension)])
        .collect();
    Err(CompileError::UnknownDimension {
        name: name.to_owned(),
        nearest: find_nearest(name, known.iter().map(String::as_str)),
    })
}

/// Returns the dimension with its table, as `table.name`.
pub(crate) fn qualify(dimension: &Dimension) -> String {
    format!("{}.{}", dimension.table, dimension.name)
}

fn has_synonym(dimension: &Dimension, name: &str) -> bool {
    dimension.synonyms.iter().any(|word| are_equal(word, name))
}

fn is_like(dimension: &Dimension, name: &str) -> bool {
    are_alike(&dimension.name, name) || are_alike(&qualify(dimension), name)
}

/// Returns the names that are most similar to a name, the best first.
pub(crate) fn find_nearest<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Vec<String> {
    let name = name.to_lowercase();
    let mut scored: Vec<(f64, &str)> = known
        .into_iter()
        .map(|other| (strsim::jaro_winkler(&name, &other.to_lowercase()), other))
        .filter(|(likeness, _)| *likeness >= LIKE)
        .collect();
    scored.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(other.1)));
    let mut nearest: Vec<String> = Vec::new();
    for (_, other) in scored {
        if nearest.len() < SUGGESTED && !nearest.iter().any(|known| known == other) {
            nearest.push(other.to_owned());
        }
    }
    nearest
}
