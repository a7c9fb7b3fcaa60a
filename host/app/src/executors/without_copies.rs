//! Stands in for `copies` in a build without it.

use syrch_core::Limits;
use syrch_core::ports::DatabaseError;

use super::entry::MakeCopy;
use super::open::Opened;
use crate::Error;

pub(super) const MAKE: Option<MakeCopy> = None;

pub(super) async fn script(_: String, name: String, _: Limits) -> Opened {
    let absent = Error::NotBuilt { what: "databases of scripts", feature: "copies" };
    Err(DatabaseError::Unavailable { path: name, reason: absent.to_string() })
}
