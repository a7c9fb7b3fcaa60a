//! What a search would send first, without sending it.

use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use syrch_core::Problem;
use syrch_core::ports::{ModelCall, ModelLayer, ModelOutcome, ModelProvider, Preview};
use syrch_journal::{Ask, Event, Got, Kept, Mode, Record, Tape};
use syrch_scheduler::Stop;

use crate::host::Host;
use crate::search::{Outside, run_id};
use crate::{Error, Silent};

/// How long nothing must happen before a dry run is over: longer than guests take from one port call to the next.
const QUIET: Duration = Duration::from_millis(500);

/// How long it must not while a statement is under way: longer than that may take.
const LONGEST: Duration = Duration::from_secs(35);

/// The requests that a search would have sent, in their order.
pub(crate) type Previews = Arc<Mutex<Vec<Preview>>>;

/// A provider that notes what would be sent, and waits for ever. What needs nothing sent (the offline rules, a recording) is answered.
pub(crate) struct PreviewedModel {
    pub(crate) inner: Arc<dyn ModelProvider>,
    pub(crate) previews: Previews,
}

#[async_trait]
impl ModelLayer for PreviewedModel {
    fn inner(&self) -> &dyn ModelProvider {
        self.inner.as_ref()
    }

    async fn call(&self, call: &ModelCall) -> ModelOutcome {
        let Some(preview) = self.inner.preview(call) else { return self.inner.complete(call).await };
        self.previews.lock().unwrap_or_else(PoisonError::into_inner).push(preview);
        std::future::pending().await
    }
}

/// Whether anything happens in a search but waiting for a model.
#[derive(Default)]
struct Doings {
    records: AtomicUsize,
    /// Port calls under way that end without a model's reply.
    under_way: AtomicIsize,
}

impl Doings {
    fn note(&self, record: &Record) {
        self.records.fetch_add(1, Ordering::SeqCst);
        match record {
            Record::Event { event: Event::Issue { ask, .. }, .. } if !waits_for_a_model(ask) => {
                self.under_way.fetch_add(1, Ordering::SeqCst);
            }
            Record::Event { event: Event::Done { got, .. }, .. } if !comes_of_a_model(got) => {
                self.under_way.fetch_sub(1, Ordering::SeqCst);
            }
            _ => {}
        }
    }

    /// Ends when `has_begun` and nothing has happened for a while.
    async fn rest(&self, has_begun: impl Fn() -> bool) {
        let (mut seen, mut quiet) = (0, Duration::ZERO);
        loop {
            tokio::time::sleep(QUIET).await;
            let records = self.records.load(Ordering::SeqCst);
            quiet = if records == seen { quiet + QUIET } else { Duration::ZERO };
            seen = records;
            // What a guest started and left behind has no end.
            let patience = if self.under_way.load(Ordering::SeqCst) > 0 { LONGEST } else { QUIET };
            if has_begun() && quiet >= patience {
                return;
            }
        }
    }
}

fn waits_for_a_model(ask: &Ask) -> bool {
    matches!(ask, Ask::Llm(_) | Ask::Reward(_) | Ask::Calibrate(_) | Ask::LookUp(_) | Ask::Embed(_))
}

fn comes_of_a_model(got: &Got) -> bool {
    matches!(got, Got::Reply(_) | Got::Verdicts(_) | Got::Calibrated(_) | Got::Found(_) | Got::Vectors(_))
}

impl Host {
    /// The exact requests that a search for this problem would send before it has a reply to any of them, without secrets; empty when it
    /// needs none. What the cache holds is used. Nothing leaves the machine, and no journal and no recording is written.
    ///
    /// # Errors
    /// When the search fails before it would send anything.
    pub async fn preview(&self, problem: Problem) -> Result<Vec<Preview>, Error> {
        if problem.question.trim().is_empty() {
            return Err(Error::Config("the question is empty".to_owned()));
        }
        let _slot = self.searches.acquire().await;
        let (id, stop) = (run_id(&problem.question), Stop::new());
        let catalog = self.database.catalog().await?;
        let nothing = || Mode::Live(None, Kept::None);
        let mut run = self.run_state(&id, nothing(), catalog, &(Arc::new(Silent) as _), &stop);
        let (previews, doings) = (Previews::default(), Arc::<Doings>::default());
        let watch = Arc::clone(&doings);
        run.tape = Tape::new(nothing(), Arc::clone(&run.ledger), Some(Box::new(move |_, record| watch.note(record))));
        run.previews = Some(Arc::clone(&previews));
        let noted = || previews.lock().unwrap_or_else(PoisonError::into_inner);
        let outside = Outside { ask: None, stop: &stop };
        let report = tokio::select! {
            report = self.follow(problem, &run, &outside) => report.map(drop),
            () = doings.rest(|| !noted().is_empty()) => Ok(()),
        };
        let found = std::mem::take(&mut *noted());
        match report {
            Err(error) if found.is_empty() => Err(error),
            _ => Ok(found),
        }
    }
}
