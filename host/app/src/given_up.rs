//! Retrievers that answer too late: a search continues without them, with a warning in its report.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use syrch_core::Retriever;
use syrch_core::ports::PortError;

/// The retrievers that one search has given up. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct GivenUp(Arc<Mutex<BTreeMap<Retriever, Duration>>>);

impl GivenUp {
    pub(crate) fn has_given_up(&self, retriever: &Retriever) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains_key(retriever)
    }

    /// Does the work of retrievers, unless one of them has been given up or is now, since it takes
    /// longer than that.
    pub(crate) async fn work_within<'a, T>(
        &self,
        retrievers: impl IntoIterator<Item = &'a Retriever> + Clone,
        patience: Duration,
        work: impl Future<Output = Result<T, PortError>>,
    ) -> Result<T, PortError> {
        if retrievers.clone().into_iter().any(|retriever| self.has_given_up(retriever)) {
            return Err(PortError::Unsupported);
        }
        match tokio::time::timeout(patience, work).await {
            Ok(done) => done,
            Err(_) => {
                let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                known.extend(retrievers.into_iter().map(|retriever| (retriever.clone(), patience)));
                let seconds = patience.as_secs();
                Err(PortError::Unavailable(format!(
                    "the retriever took longer than {seconds} s and is not asked again"
                )))
            }
        }
    }

    /// The warnings for the report.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known
            .iter()
            .map(|(retriever, patience): (&Retriever, &Duration)| {
                let name = retriever.name();
                let seconds = patience.as_secs();
                format!(
                    "the search went on without the retriever `{name}`, which took longer \
                     than {seconds} s"
                )
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(10);

    #[tokio::test(start_paused = true)]
    async fn one_that_hangs_is_waited_for_once() {
        let given_up = GivenUp::default();
        let begin = tokio::time::Instant::now();
        let hangs = || pending::<Result<(), PortError>>();
        let late = given_up.work_within([&Retriever::Vector], PATIENCE, hangs()).await.unwrap_err();
        assert!(
            matches!(&late, PortError::Unavailable(why) if why.contains("longer than 10 s")),
            "{late}"
        );
        // It is not waited for again in this search, and the others are not concerned.
        for work in [given_up.clone(), given_up.clone()] {
            assert_eq!(
                work.work_within([&Retriever::Vector], PATIENCE, hangs()).await,
                Err(PortError::Unsupported)
            );
        }
        assert_eq!(begin.elapsed().as_secs(), PATIENCE.as_secs());
        assert_eq!(
            given_up.work_within([&Retriever::Lexical], PATIENCE, ready(Ok(7))).await,
            Ok(7)
        );
        assert_eq!(
            given_up.warnings(),
            ["the search went on without the retriever `vector`, which took longer than 10 s"]
        );
        assert!(GivenUp::default().warnings().is_empty());
    }

    #[tokio::test]
    async fn a_failure_is_no_reason_to_give_up() {
        let given_up = GivenUp::default();
        let failed = given_up
            .work_within([&Retriever::Vector], PATIENCE, ready(Err::<(), _>(PortError::Budget)))
            .await;
        assert_eq!(
            (failed, given_up.has_given_up(&Retriever::Vector)),
            (Err(PortError::Budget), false)
        );
    }
}
