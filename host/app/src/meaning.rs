//! Opens the semantics files of a host: reads them, and compares them with the tables and columns
//! that the host may use.

use std::sync::Arc;

use syrch_core::ports::{CellIndex, Database};
use syrch_core::result_set::digest64;
use syrch_layers::GrantedIndex;
use syrch_offline::{find_cells, question_day};
use syrch_semantics::{
    Cell, Reading, Request, Semantics, Severity, Unread, check, read_follow_up, read_question,
};

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
        let digest = format!("{:016x}", digest64(&[&format!("{semantics:?}")]));
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

    /// Reads a question as a request for defined metrics, without a model; `None` if a word of it
    /// is not understood.
    pub async fn read_metric(&self, question: &str) -> Option<Request> {
        let semantics = self.semantics()?;
        let cells = self.cells_of(question, semantics).await;
        match read_question(semantics, question, &cells, question_day(semantics)) {
            Reading::Understood(understood) => Some(understood.request.with_named_groups()),
            Reading::Unread(_) => None,
        }
    }

    /// Reads a text as a change of the request before, such as `and for 2023?`; `None` if it is a
    /// question of its own or not understood.
    ///
    /// # Errors
    /// When it is understood as a change and has no meaning for that request: the reason.
    pub async fn follow_up(
        &self,
        previous: &Request,
        text: &str,
    ) -> Result<Option<Request>, Unread> {
        let Some(semantics) = self.semantics() else { return Ok(None) };
        let cells = self.cells_of(text, semantics).await;
        match read_follow_up(semantics, previous, text, &cells, question_day(semantics)) {
            Reading::Understood(understood) if understood.is_change => {
                Ok(Some(understood.request.with_named_groups()))
            }
            Reading::Unread(unread @ (Unread::Unsupported(_) | Unread::Ambiguous { .. })) => {
                Err(unread)
            }
            _ => Ok(None),
        }
    }

    async fn cells_of(&self, text: &str, semantics: &Semantics) -> Vec<Cell> {
        let index: Arc<dyn CellIndex> = Arc::clone(self.database()) as _;
        let index = GrantedIndex { index, grant: self.settings.rows };
        find_cells(text, semantics, &index).await
    }
}
