//! `--slice`: the fields of a suite whose values are shown one by one.

use std::collections::BTreeSet;

use crate::failure::{Failure, Outcome};

/// Refuses a field that no question has. `known` are those that questions have; every question has
/// a database.
pub(crate) fn check_slices<'a>(
    fields: &[String],
    known: impl Iterator<Item = &'a str>,
) -> Outcome<()> {
    let known: BTreeSet<&str> = known.chain(["db"]).collect();
    let Some(field) = fields.iter().find(|field| !known.contains(field.as_str())) else {
        return Ok(());
    };
    let known: Vec<&str> = known.into_iter().collect();
    Err(Failure::usage(format!("--slice {field}: no question of the suite has this field"))
        .hint(format!("the fields are {}", known.join(", "))))
}
