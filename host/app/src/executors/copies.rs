//! Changed copies of SQLite databases, and databases that a script makes.

use syrch_core::{DatabaseUrl, Limits};
use syrch_sqlite_copies::{VariantConfig, VariantError, literals, make_variant, open_script};

use super::entry::{Copied, CopyRequest, MakeCopy};
use super::open::{Opened, open_blocking};
use crate::Error;

/// Makes a changed copy of a SQLite database.
pub(super) const MAKE: Option<MakeCopy> = Some(copy);

pub(super) async fn script(script: String, name: String, limits: Limits) -> Opened {
    open_blocking(&DatabaseUrl::parse(&name), move || open_script(&script, &name, limits)).await
}

fn copy(request: &CopyRequest) -> Result<Copied, Error> {
    let CopyRequest { source, target, seed, statements } = request;
    let config = VariantConfig {
        keep: literals(statements.iter().map(String::as_str)),
        ..VariantConfig::default()
    };
    let made = make_variant(source, target, *seed, &config).map_err(|error| match error {
        VariantError::Source(error) => Error::Database(error),
        error => {
            let cause = std::error::Error::source(&error)
                .map(|cause| format!(": {cause}"))
                .unwrap_or_default();
            Error::Config(format!("{error}{cause}"))
        }
    })?;
    Ok(Copied { rows: made.tables.values().sum(), skipped: made.skipped })
}
