//! Opens the semantics files of a host: reads them, and compares them with the tables and columns
//! that the host may use.

use std::sync::Arc;

use syrch_core::ports::{CellIndex, Database};
use syrch_layers::GrantedIndex;
use syrch_offline::find_cells;
use syrch_semantics::{Cell, Semantics, Severity, check};

use crate::metric::read_semantics;
use crate::settings::SemanticsSettings;
use crate::{Error, Host};

/// Semantics that were read, with a digest of them.
pub(crate) struct Meaning {
    pub(crate) semantics: Arc<Semantics>,
    pub(crate) digest: String,
}

/// Reads the files of the settings and compares them with the catalog; `None` if there are none.
///
/// # Errors
/// When a file cannot be read, something in one is wrong, or a definition names a table or a column
/// that the host may not use or that does not exist.
pub(crate) async fn open(
    settings: &SemanticsSettings,
    database: &Arc<dyn Database>,
) -> Result<Option<Meaning>, Error> {
    if settings.is_empty() {
        return Ok(None);
    }
    let files = settings.files.clone();
    let catalog = database.catalog().await?;
    let opened = tokio::task::spawn_blocking(move || {
        let semantics = read_semantics(&files).map_err(|error| Error::Config(error.to_string()))?;
        let wrong: Vec<String> = check(&semantics, &catalog)
            .into_iter()
            .filter(|finding| finding.severity == Severity::Error)
            .map(|finding| finding.to_string())
            .collect();
        if !wrong.is_empty() {
            return Err(Error::Config(wrong.join("\n")));
        }
        let digest = semantics.digest();
        Ok(Meaning { semantics: Arc::new(semantics), digest })
    });
    opened.await.map_err(|error| Error::Internal(error.to_string()))?.map(Some)
}

impl Host {
    /// The metrics that are defined for this host; `None` if there are none.
    #[must_use]
    pub fn semantics(&self) -> Option<&Arc<Semantics>> {
        self.semantics.as_ref()
    }

    pub(crate) async fn cells_of(&self, text: &str, semantics: &Semantics) -> Vec<Cell> {
        let index: Arc<dyn CellIndex> = Arc::clone(self.database()) as _;
        let index = GrantedIndex { index, grant: self.settings.rows };
        find_cells(text, semantics, &index).await
    }
}
