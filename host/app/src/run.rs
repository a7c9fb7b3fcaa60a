//! The runs of a host: a search, its resumption after a kill, and its strict replay from a journal.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use syrch_core::ledger::Exhausted;
use syrch_core::result_set::digest64;
use syrch_core::{Access, Catalog, Grants, Ledger, Problem, blocking};
use syrch_journal::{
    Defined, Divergence, EventLog, Fact, Folder, Header, Journal, JournalError, Listener, Mode,
    RowRetention, RunKind, Writer,
};
use syrch_layers::{Decision, Taint};
use syrch_scheduler::Stop;

use crate::answer::cost;
use crate::audit::Audited;
use crate::clock::Clock;
use crate::context::RunState;
use crate::defined::add_terms;
use crate::given_up::GivenUp;
use crate::host::Host;
use crate::record::DatabaseCheck;
use crate::recordings::Missed;
use crate::report::{CostReport, Searched};
use crate::settings::{JournalSettings, PluginSource};
use crate::settled::Turn;
use crate::telemetry;
use crate::trace::Trace;
use crate::verified::{self, Found, Present};
use crate::{Ask, Error, Observer, SearchReport, Settings, record, search};

/// The least time between two removals of old journals by one host.
const PRUNED_EVERY: Duration = Duration::from_secs(1);

/// Reads what a search has spent, while it runs and after it ended, failed or was dropped.
#[derive(Clone, Default)]
pub struct Meter(Arc<OnceLock<Arc<Ledger>>>);

impl Meter {
    /// The cost of the search so far, calls in flight at their reserved price; nothing before the
    /// search has begun.
    #[must_use]
    pub fn cost(&self) -> CostReport {
        self.0.get().map(|ledger| cost(&ledger.spending())).unwrap_or_default()
    }
}

/// The callbacks of a search.
pub struct Callbacks<'a> {
    /// The observer of its events.
    pub observer: Arc<dyn Observer>,
    /// The answers to its questions to the user; `None` if it may ask none.
    pub ask: Option<&'a dyn Ask>,
}

impl Callbacks<'static> {
    /// The callbacks of a search without a user who answers questions.
    pub fn new(observer: impl Observer + 'static) -> Self {
        Self { observer: Arc::new(observer), ask: None }
    }
}

impl Host {
    /// Answers a question by search. `ask` answers questions to the user; `stop` ends the search
    /// early with the best answer so far.
    ///
    /// # Errors
    /// When a plugin, the database or the model failed so that no honest answer exists. A search
    /// that found nothing acceptable is not an error: see [`crate::Outcome`].
    pub async fn search(
        &self,
        question: impl Into<Turn>,
        observer: Arc<dyn Observer>,
        ask: Option<&dyn Ask>,
        stop: &Stop,
    ) -> Result<SearchReport, Error> {
        self.search_metered(question, observer, ask, stop, &Meter::default()).await
    }

    /// [`Host::search`] with a new meter, which tells the cost also of a search that fails or is
    /// dropped.
    ///
    /// # Errors
    /// As [`Host::search`].
    pub async fn search_metered(
        &self,
        question: impl Into<Turn>,
        observer: Arc<dyn Observer>,
        ask: Option<&dyn Ask>,
        stop: &Stop,
        meter: &Meter,
    ) -> Result<SearchReport, Error> {
        let turn = question.into();
        let _slot = self.searches.acquire().await;
        let turn = self.with_terms(turn).await;
        let id = search::run_id(&turn.problem.question);
        let place = self
            .settings
            .journal
            .folder
            .as_ref()
            .map(|folder| Folder::new(folder.clone()).place(&id));
        let run = Arc::new(self.start(&id, &turn, RunKind::Search, place, &observer, stop).await?);
        meter.0.get_or_init(|| Arc::clone(&run.ledger));
        let report = self.carry_out(turn.problem, &run, ask).await;
        self.prune().await;
        report
    }

    /// [`Host::search`] under an id and with a journal that the caller chooses, for programs that
    /// drive many searches. Searches of equal ids make equal random choices. `journal` is the path
    /// of a new file; for `None` the search has no journal, and for an error, as [`Folder::place`]
    /// returns it, a warning instead. The number of searches at once is the caller's to limit.
    pub async fn search_as(
        &self,
        id: &str,
        question: impl Into<Turn>,
        journal: Option<Result<PathBuf, JournalError>>,
        observer: Arc<dyn Observer>,
        ask: Option<&dyn Ask>,
        stop: &Stop,
    ) -> Searched {
        let meter = Meter::default();
        self.search_as_metered(id, question, journal, Callbacks { observer, ask }, stop, &meter)
            .await
    }

    /// [`Host::search_as`] with a new meter, which tells the cost also of a search that is dropped.
    pub async fn search_as_metered(
        &self,
        id: &str,
        question: impl Into<Turn>,
        journal: Option<Result<PathBuf, JournalError>>,
        callbacks: Callbacks<'_>,
        stop: &Stop,
        meter: &Meter,
    ) -> Searched {
        let Callbacks { observer, ask } = callbacks;
        let turn = self.with_terms(question.into()).await;
        match self.start(id, &turn, RunKind::Search, journal, &observer, stop).await.map(Arc::new) {
            Ok(run) => {
                meter.0.get_or_init(|| Arc::clone(&run.ledger));
                let report = self.carry_out(turn.problem, &run, ask).await;
                let access = run.list_access();
                Searched { report, cost: cost(&run.ledger.spending()), access }
            }
            Err(error) => {
                let access = Vec::new();
                Searched { report: Err(error), cost: CostReport::default(), access }
            }
        }
    }

    /// Resumes a run that was killed: what its journal holds is not done again, and the calls that
    /// were in flight are made again. It must have been started with the settings of this host,
    /// which [`crate::settings::read_settings`] reads from the journal.
    ///
    /// # Errors
    /// As [`Host::search`], and when the journal is of a run that is finished or still running, or
    /// the database or a plugin changed since.
    pub async fn resume(
        &self,
        journal: &Path,
        observer: Arc<dyn Observer>,
        ask: Option<&dyn Ask>,
        stop: &Stop,
    ) -> Result<SearchReport, Error> {
        let _slot = self.searches.acquire().await;
        let database = DatabaseCheck::Identity(self.database.identity().await);
        self.resume_as(journal, database, Callbacks { observer, ask }, stop).await?.report
    }

    /// [`Host::resume`] with the cost, for searches that [`Host::search_as`] started.
    ///
    /// # Errors
    /// When the search cannot be resumed. An error that ended it once it was resumed is in
    /// [`Searched::report`].
    pub async fn resume_as(
        &self,
        journal: &Path,
        database: DatabaseCheck,
        callbacks: Callbacks<'_>,
        stop: &Stop,
    ) -> Result<Searched, Error> {
        let Callbacks { observer, ask } = callbacks;
        let (writer, journal) = Writer::resume(journal)?;
        is_search(&journal)?;
        let catalog = self.catalog_for_roles().await?;
        record::check_unchanged(self, &journal.header, &database)?;
        if journal.is_finished() {
            let run = &journal.header.run;
            return Err(Error::Unfit(format!(
                "the run `{run}` is finished: there is nothing to resume"
            )));
        }
        let id = journal.header.run.clone();
        let problem = journal.header.problem.clone();
        let verified = journal.header.verified.clone();
        let defined = journal.header.defined.clone();
        let host = self.as_in_run(&journal.header);
        let mode = Mode::Resume(writer, journal);
        let listener = telemetry::listener(&host, &id, &catalog, &mode);
        let run = host.run_state(&id, mode, catalog, &observer, stop, listener);
        let run = Arc::new(RunState { verified, defined, ..run });
        let report = host.carry_out(problem, &run, ask).await;
        let access = run.list_access();
        Ok(Searched { report, cost: cost(&run.ledger.spending()), access })
    }

    /// Repeats a run from its journal alone. The report is the recorded one, byte for byte, times
    /// included, or there is an error.
    ///
    /// # Errors
    /// [`Error::Replay`] when the run departs from the journal; [`Error::Unfit`] when the journal
    /// cannot be replayed strictly; and the error that the run itself ended with.
    pub async fn replay(
        &self,
        journal: Journal,
        observer: Arc<dyn Observer>,
    ) -> Result<SearchReport, Error> {
        is_search(&journal)?;
        let recorded = record::read_end(&journal)?;
        let id = journal.header.run.clone();
        let problem = journal.header.problem.clone();
        let catalog = Arc::clone(&journal.header.catalog);
        let verified = journal.header.verified.clone();
        let defined = journal.header.defined.clone();
        let mode = Mode::Replay(journal);
        let run = self.run_state(&id, mode, catalog, &observer, &Stop::new(), None);
        let run = Arc::new(RunState { verified, defined, ..run });
        let report = run.unless_departed(search::search(self, problem, &run, None)).await;
        record::compare(report, recorded)
    }

    /// A run that is about to search, with its journal if it has a place for one. Without a journal
    /// that can be written it searches all the same, with a warning.
    pub(crate) async fn start(
        &self,
        id: &str,
        turn: &Turn,
        kind: RunKind,
        journal: Option<Result<PathBuf, JournalError>>,
        observer: &Arc<dyn Observer>,
        stop: &Stop,
    ) -> Result<RunState, Error> {
        let Turn { problem, defined } = turn;
        if problem.question.trim().is_empty() {
            return Err(Error::Config("the question is empty".to_owned()));
        }
        let most = self.settings.limits.text_bytes;
        if problem.question.len() > most {
            let size = problem.question.len();
            return Err(Error::Config(format!(
                "the question has {size} bytes, and may have {most}: ask it in fewer words"
            )));
        }
        let catalog = self.catalog_for_roles().await?;
        let is_search = kind.is_search();
        let defined = match defined {
            Some(defined) => defined.clone(),
            None if is_search => self.define(None, problem).await?,
            None => Defined::default(),
        };
        // In a conversation the evidence may be the question before.
        let is_explained = problem.evidence.is_some() && !defined.follows;
        let found = match kind {
            // A change of the question before is no question that somebody confirmed, nor is one
            // that the user explains.
            RunKind::Search if defined.given.is_none() && !is_explained => {
                let examples = &self.known.knowledge.verified;
                let digest = self.settings.semantics.digest.as_deref();
                let semantics = self.semantics.as_deref();
                let present =
                    semantics.zip(digest).map(|(semantics, digest)| Present { semantics, digest });
                let found = verified::find(examples, &problem.question, &catalog, present);
                match (found, present) {
                    (None, Some(present)) => {
                        let found = self.find_equivalent(problem, &catalog, present).await;
                        found.map(Found::Current)
                    }
                    (found, _) => found,
                }
            }
            RunKind::Search | RunKind::Optimization(_) => None,
        };
        let (verified, stale) = match found {
            Some(Found::Current(verified)) => (Some(verified), None),
            Some(Found::Stale(why)) => (None, Some(why)),
            None => (None, None),
        };
        // Without a journal nothing needs the rows of results.
        let mut mode = Mode::Record(None, RowRetention::None);
        let mut warning = None;
        if let Some(place) = journal {
            let identity = self.database.identity().await;
            let header = record::header(self, id, problem, Arc::clone(&catalog), identity, kind);
            let header = Header { verified: verified.clone(), defined: defined.clone(), ..header };
            match place.and_then(|path| Writer::create(&path, &header)) {
                Ok(writer) => mode = Mode::Record(Some(writer), self.settings.journal.rows),
                Err(error) => warning = Some(format!("this run has no journal: {error}")),
            }
        }
        let listener = telemetry::listener(self, id, &catalog, &mode);
        let run = self.run_state(id, mode, catalog, observer, stop, listener);
        Ok(RunState { warning, verified, defined, stale, ..run })
    }

    /// The question with the metrics and dimensions that are defined, which its journal holds.
    async fn with_terms(&self, turn: Turn) -> Turn {
        if self.semantics.is_none() {
            return turn;
        }
        // Without a catalog the search ends before it begins.
        match self.catalog_for_roles().await {
            Ok(catalog) => Turn { problem: add_terms(self, turn.problem, &catalog), ..turn },
            Err(_) => turn,
        }
    }

    /// The catalog as a run's roles see it.
    pub(crate) async fn catalog_for_roles(&self) -> Result<Arc<Catalog>, Error> {
        let catalog = self.database.catalog().await?;
        let has_values = catalog
            .tables
            .iter()
            .flat_map(|table| &table.columns)
            .any(|column| column.values().is_some());
        Ok(if has_values {
            Arc::new(Catalog::clone(&catalog).with_values_in_comments())
        } else {
            catalog
        })
    }

    /// A run for work beside searches, without a journal. It has no deadline, which is that of a
    /// search.
    ///
    /// # Errors
    /// When the catalog cannot be read.
    pub(crate) async fn run_beside_searches(
        &self,
        name: &str,
        observer: &Arc<dyn Observer>,
        stop: &Stop,
    ) -> Result<RunState, Error> {
        let catalog = self.database.catalog().await?;
        let mode = Mode::Record(None, RowRetention::None);
        let run = self.run_state(&search::run_id(name), mode, catalog, observer, stop, None);
        Ok(RunState { clock: Clock::new(None, stop.clone()), ..run })
    }

    /// A run of this host. `listener` receives the records of its event log.
    pub(crate) fn run_state(
        &self,
        id: &str,
        mode: Mode,
        catalog: Arc<Catalog>,
        observer: &Arc<dyn Observer>,
        stop: &Stop,
        listener: Option<Listener>,
    ) -> RunState {
        let ledger = Ledger::within(self.settings.budgets.clone(), self.shared.total());
        RunState {
            id: id.to_owned(),
            settings: Arc::clone(&self.settings),
            plugins: self.plugins.clone(),
            event_log: EventLog::new(mode, Arc::clone(&ledger), listener),
            ledger,
            audited: self.audit_plugins(id),
            trace: Trace::new(Arc::clone(observer), self.settings.limits.traced),
            clock: Clock::new(self.settings.deadline, stop.clone()),
            catalog,
            taint: Taint::new(
                self.untrusted.iter().copied(),
                self.settings.rows,
                self.settings.limits.llm_in_flight,
            ),
            salt: digest64(&[id, "salt"]),
            missed: Missed::default(),
            given_up: GivenUp::default(),
            previews: None,
            consent: None,
            warning: None,
            verified: None,
            defined: Defined::default(),
            requests: Arc::default(),
            stale: None,
        }
    }

    /// The plugins that are not built in, each with its grants. One that no lock names has the
    /// ports that its component imports, so that whatever controls its process reaches no others.
    pub(crate) fn audit_plugins(&self, run: &str) -> BTreeMap<String, Audited> {
        let Settings { lock, audit, .. } = &*self.settings;
        let mut audited = BTreeMap::new();
        // A built-in plugin that is named as such has no grants of its own.
        for (source, one) in self.plugins.with_sources(&self.settings) {
            let Some(PluginSource::File(path)) = source else { continue };
            let digest = one.plugin().digest().to_owned();
            // Grants that contradict each other are an error before a search starts; here they
            // are none. So are those that were withdrawn since the host was opened.
            let granted = lock.current_grants(&digest);
            let known = lock.find_component(&digest);
            let imports = one.plugin().imports().iter().map(String::as_str);
            let ports = Grants::for_ports(imports);
            let wanted = known.map_or_else(|| ports.clone(), |(_, locked)| locked.wanted.clone());
            let access = Access {
                plugin: known.map_or_else(|| path.display().to_string(), |(name, _)| name.clone()),
                digest: digest.clone(),
                wanted: wanted.list_words(),
                granted: granted.as_ref().map(Grants::list_words),
                ..Access::default()
            };
            audited.insert(digest, Audited::new(access, granted.unwrap_or(ports), run, audit));
        }
        audited
    }

    /// Searches, adds the warnings of everything around the search, and records the end.
    async fn carry_out(
        &self,
        problem: Problem,
        run: &Arc<RunState>,
        ask: Option<&dyn Ask>,
    ) -> Result<SearchReport, Error> {
        if !self.has_warned_of_idle.swap(true, Ordering::Relaxed) {
            self.idle_warnings().iter().for_each(|message| run.trace.warn(message));
        }
        let report = run.unless_departed(search::search(self, problem, run, ask)).await;
        let mut report = report.and_then(|report| match run.find_lack_of_all() {
            // Its strategy could not ask what it would have asked alone.
            Some(which) => Err(Error::Budget(which)),
            None => Ok(report),
        });
        run.end_audit();
        let beside = self.warnings_beside(run);
        match &mut report {
            Ok(report) => report.document.warnings.extend(beside.iter().cloned()),
            Err(_) => beside.iter().for_each(|message| run.trace.warn(message)),
        }
        run.event_log.fact(record::end(&report, self.settings.journal.rows, beside));
        report
    }

    /// The warnings of everything around a run.
    pub(crate) fn warnings_beside(&self, run: &RunState) -> Vec<String> {
        let mut beside: Vec<String> = run.event_log.warning().into_iter().collect();
        beside.extend(run.given_up.warnings());
        beside.extend(self.cache.iter().flat_map(|cache| cache.take_warnings()));
        beside.extend(self.recording.iter().filter_map(|recording| recording.broken()));
        beside.extend(run.warning.clone());
        beside.extend(run.stale.clone());
        beside.extend(self.settings.audit.take_failure());
        beside
    }

    /// Removes the oldest journals of the folder beyond its limits, at most once in
    /// [`PRUNED_EVERY`]: reading the folder takes as long as a short statement. What is not removed
    /// now is removed after a later run.
    pub(crate) async fn prune(&self) {
        let JournalSettings { folder, keep, age, bytes, .. } = &self.settings.journal;
        let Some(folder) = folder.clone().map(Folder::new) else { return };
        let keep = *keep;
        let age = *age;
        let bytes = *bytes;
        {
            let mut pruned = self.pruned.lock().unwrap_or_else(PoisonError::into_inner);
            if pruned.is_some_and(|pruned| pruned.elapsed() < PRUNED_EVERY) {
                return;
            }
            *pruned = Some(Instant::now());
        }
        drop(
            blocking::await_work(tokio::task::spawn_blocking(move || {
                folder.prune(keep, age, bytes)
            }))
            .await,
        );
    }
}

/// A journal of the optimizer has a statement where a search has its question.
fn is_search(journal: &Journal) -> Result<(), Error> {
    match journal.header.kind {
        RunKind::Search => Ok(()),
        RunKind::Optimization(_) => Err(Error::Unfit(format!(
            "the run `{}` is an optimization, and no search",
            journal.header.run
        ))),
    }
}

impl RunState {
    /// The use that plugins which are not built in made of their grants so far.
    pub(crate) fn list_access(&self) -> Vec<Access> {
        self.audited.values().map(Audited::access).collect()
    }

    /// Records what plugins that are not built in used in the run, which has ended.
    pub(crate) fn end_audit(&self) {
        // Who may know something of the data was denied the model by a rule on the whole search.
        for role in self.taint.list_denied_roles() {
            let plugin = self.plugins.get(role).map(|one| one.plugin().digest());
            if let Some(audited) = plugin.and_then(|digest| self.audited.get(digest)) {
                let rule = match self.find_silence(role) {
                    Some(grant) => format!("it is granted {grant}"),
                    None => format!("--rows is {}", self.settings.rows),
                };
                let why = format!("it may know something of the data, and {rule}");
                audited.allowance.note(Decision::Denied, "llm", &why);
            }
        }
        let audit = &self.settings.audit;
        let plugins: Vec<Access> =
            self.audited.values().map(|one| one.end(&self.id, audit)).collect();
        if !plugins.is_empty() {
            self.event_log.fact(Fact::Access { plugins });
        }
    }

    /// The budget of all searches together that refused a call of this one.
    fn find_lack_of_all(&self) -> Option<Exhausted> {
        self.ledger.spending().exhausted.into_iter().find(|which| which.is_total())
    }

    /// The end of a search, unless the run departs from its journal first, or asks a recording for
    /// what it lacks.
    pub(crate) async fn unless_departed<T>(
        &self,
        search: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        /// The limit on the time without progress in a replay: longer than a guest may compute, or
        /// a statement whose result was not recorded may run.
        const PATIENCE: Duration = Duration::from_secs(60);
        let departure = |departure: Divergence| Err(Error::Replay(departure.to_string()));
        let report = tokio::select! {
            biased;
            report = search => report,
            message = self.missed.wait() => Err(Error::Replay(message)),
            departed = self.event_log.wait_for_divergence() => departure(departed),
            stalled = self.event_log.wait_for_stall(PATIENCE) => departure(stalled),
        };
        // Whatever the strategy made of a miss, its answer is not that of the recorded run.
        self.missed.get().map_or(report, |message| Err(Error::Replay(message)))
    }
}
