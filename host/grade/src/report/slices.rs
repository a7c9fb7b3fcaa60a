//! Questions by the values of a field, so that a figure over all of them hides nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::share::Share;
use crate::run::Graded;

/// A field with more values than this is no field to slice by.
pub const SLICE_VALUES: usize = 20;

/// The questions with one value of one field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Slice {
    /// The field: `db`, or one of the suite's.
    pub field: String,
    /// The value; `None` for the questions that do not have the field.
    pub value: Option<String>,
    /// The share of right answers in the slice.
    #[serde(flatten)]
    pub share: Share,
}

/// A field's values with the places of their questions; the questions without the field come last.
pub(crate) type Values = Vec<(Option<String>, Vec<usize>)>;

/// The fields by which these questions can be sliced, `db` first, with the places of the questions
/// of each value.
pub(crate) fn fields(graded: &[&Graded]) -> Vec<(String, Values)> {
    let names: BTreeSet<&str> =
        graded.iter().flat_map(|one| one.fields.keys().map(String::as_str)).collect();
    let own = names.into_iter().filter(|name| *name != "db");
    std::iter::once("db")
        .chain(own)
        .filter_map(|name| Some((name.to_owned(), values(graded, name)?)))
        .collect()
}

fn values(graded: &[&Graded], name: &str) -> Option<Values> {
    let mut by_value: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut without = Vec::new();
    for (place, one) in graded.iter().enumerate() {
        let value = if name == "db" { Some(&one.db) } else { one.fields.get(name) };
        match value {
            Some(value) => by_value.entry(value).or_default().push(place),
            None => without.push(place),
        }
        if by_value.len() > SLICE_VALUES {
            return None;
        }
    }
    let last = (!without.is_empty()).then_some((None, without));
    Some(
        by_value
            .into_iter()
            .map(|(value, places)| (Some(value.to_owned()), places))
            .chain(last)
            .collect(),
    )
}

/// Returns the share of right answers in each slice.
pub(crate) fn shares(graded: &[&Graded], rule: &str) -> Vec<Slice> {
    let mut slices = Vec::new();
    for (field, values) in fields(graded) {
        for (value, places) in values {
            let share = Share::from_answers(
                places.iter().filter_map(|place| graded.get(*place)).copied(),
                rule,
            );
            slices.push(Slice { field: field.clone(), value, share });
        }
    }
    slices
}
