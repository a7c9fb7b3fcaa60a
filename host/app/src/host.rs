//! A host that is ready to search: one database, one model provider, a plugin for each role.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use syrch_cache::Cache;
use syrch_core::ports::{Database, ModelProvider};
use syrch_core::result_set::digest64;
use syrch_core::roles::Role;
use syrch_core::{Catalog, Ledger, Problem};
use syrch_journal::{Divergence, Folder, Header, Journal, JournalError, Kept, Mode, Recording, Tape, Writer};
use syrch_layers::{RoutedModel, Taint};
use syrch_runtime::Configured;
use syrch_scheduler::Stop;
use tokio::sync::Semaphore;

use crate::answer::cost;
use crate::clock::Clock;
use crate::context::RunState;
use crate::given_up::GivenUp;
use crate::open::open_model;
use crate::recordings::Missed;
use crate::search::Outside;
use crate::shared::Known;
use crate::trace::Trace;
use crate::{
    Ask, CostReport, Error, JournalSettings, Observer, SearchEvent, SearchReport, Settings, Shared, plugins, record,
    search, telemetry,
};

/// Everything that searches share. Searches on one host may run side by side.
pub struct Host {
    pub(crate) settings: Arc<Settings>,
    /// The settings as journals hold them.
    pub(crate) written: Arc<serde_json::Value>,
    pub(crate) database: Arc<dyn Database>,
    pub(crate) model: Arc<RoutedModel>,
    pub(crate) cache: Option<Arc<Cache>>,
    pub(crate) cast: Cast,
    /// The roles whose plugins call no model once they may know something of the data.
    pub(crate) untrusted: BTreeSet<Role>,
    /// What retrieval knows besides the catalog: forgotten with the last host that uses it.
    pub(crate) known: Arc<Known>,
    /// Where the model's calls are noted.
    pub(crate) recording: Option<Arc<Recording>>,
    pub(crate) searches: Semaphore,
    /// Whether a search has warned of what retrieval has no use for.
    has_told_of_idle: AtomicBool,
    /// The engine outlives its plugins: its ticker enforces their CPU limits.
    _shared: Arc<Shared>,
}

/// A search with what it cost, which an error does not tell.
pub(crate) struct Searched {
    pub(crate) report: Result<SearchReport, Error>,
    pub(crate) cost: CostReport,
}

/// Who plays which role.
#[derive(Clone)]
pub(crate) struct Cast {
    /// None: the catalog stays as it is.
    pub(crate) linker: Option<Configured>,
    pub(crate) planner: Configured,
    pub(crate) solver: Configured,
    pub(crate) calibrator: Configured,
    pub(crate) reward: Configured,
    pub(crate) clarifier: Configured,
    pub(crate) aggregator: Configured,
}

impl Cast {
    /// Loads the plugins of the settings' strategy, and gives each its role.
    async fn of(settings: &Settings, shared: &Shared, observer: &dyn Observer) -> Result<Self, Error> {
        let configured = |role| shared.configured(role, settings, observer);
        let linker = async {
            match settings.strategy.roles.contains_key(&Role::Linker) {
                true => configured(Role::Linker).await.map(Some),
                false => Ok(None),
            }
        };
        let (linker, planner, solver, calibrator, reward, clarifier, aggregator) = futures::join!(
            linker,
            configured(Role::Planner),
            configured(Role::Solver),
            configured(Role::Calibrator),
            configured(Role::Reward),
            configured(Role::Clarifier),
            configured(Role::Aggregator),
        );
        Ok(Self {
            linker: linker?,
            planner: planner?,
            solver: solver?,
            calibrator: calibrator?,
            reward: reward?,
            clarifier: clarifier?,
            aggregator: aggregator?,
        })
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Configured> {
        let others = [&self.planner, &self.solver, &self.calibrator, &self.reward, &self.clarifier, &self.aggregator];
        self.linker.iter().chain(others)
    }
}

impl Host {
    /// Opens the database and the model and loads the plugins. Nothing is asked and nothing is paid yet.
    ///
    /// # Errors
    /// When the database cannot be opened, a setting is wrong, or a plugin is refused.
    pub async fn open(settings: Settings, observer: &dyn Observer) -> Result<Self, Error> {
        Self::beside(settings, &Shared::new(), observer).await
    }

    /// The same, beside other hosts of this process.
    ///
    /// # Errors
    /// As [`Host::open`].
    pub async fn beside(settings: Settings, shared: &Arc<Shared>, observer: &dyn Observer) -> Result<Self, Error> {
        // Side by side: plugins are loaded on other threads. In a box, so that the futures of who embeds this do not grow with it.
        let cast: BoxFuture<'_, _> = Box::pin(Cast::of(&settings, shared, observer));
        let (database, cast) = futures::join!(shared.database(&settings), cast);
        let database = database?;
        let model = open_model(&settings, &database, shared)?;
        let recording = shared.recording(&settings, &model)?;
        let known = shared.known(&settings, &database).await?;
        if let Some(message) = known.wrong.clone() {
            let (call, level) = ("search".to_owned(), syrch_core::ports::Level::Warn);
            observer.event(&SearchEvent::Note { call, level, message });
        }
        let mut settings = settings;
        settings.retrieval.digest.clone_from(&known.digest);
        let host = Self::of(settings, database, model, cast?, shared);
        Ok(Self { recording, known, ..host })
    }

    fn of(
        settings: Settings,
        database: Arc<dyn Database>,
        model: Arc<RoutedModel>,
        cast: Cast,
        shared: &Arc<Shared>,
    ) -> Self {
        let cache = shared.cache(&settings);
        let is_untrusted = |one: &&Configured| {
            let source = settings.strategy.roles.get(&one.role());
            source.is_some_and(|source| plugins::is_untrusted(source, one.plugin(), &settings))
        };
        let untrusted = cast.all().filter(is_untrusted).map(Configured::role).collect();
        let searches = Semaphore::new(settings.limits.searches);
        let shared = Arc::clone(shared);
        Self {
            written: Arc::new(record::written(&settings)),
            settings: Arc::new(settings),
            database,
            model,
            cache,
            cast,
            untrusted,
            known: Arc::default(),
            recording: None,
            searches,
            has_told_of_idle: AtomicBool::new(false),
            _shared: shared,
        }
    }

    /// The database, under the guard.
    #[must_use]
    pub fn database(&self) -> &Arc<dyn Database> {
        &self.database
    }

    /// What tells the notes, examples and index of this host from others; none: there are none.
    #[must_use]
    pub fn knowledge(&self) -> Option<&str> {
        self.settings.retrieval.digest.as_deref()
    }

    /// Answers a question by search. `ask` lets it put questions to the user; `stop` ends it early with the best so far.
    ///
    /// # Errors
    /// When a plugin, the database or the model failed so that no honest answer exists. A search that found nothing acceptable is not
    /// an error: see [`crate::Outcome`].
    pub async fn search(
        &self,
        problem: Problem,
        observer: Arc<dyn Observer>,
        ask: Option<&dyn Ask>,
        stop: &Stop,
    ) -> Result<SearchReport, Error> {
        let _slot = self.searches.acquire().await;
        let id = search::run_id(&problem.question);
        let place = self.settings.journal.folder.as_ref().map(|folder| Folder::new(folder.clone()).place(&id));
        let searched = self.search_as(&id, problem, place, observer, ask, stop).await;
        self.prune();
        searched.report
    }

    /// The same under that id, with a journal at that place.
    pub(crate) async fn search_as(
        &self,
        id: &str,
        problem: Problem,
        journal: Option<Result<PathBuf, JournalError>>,
        observer: Arc<dyn Observer>,
        ask: Option<&dyn Ask>,
        stop: &Stop,
    ) -> Searched {
        let unasked = |error: Error| Searched { report: Err(error), cost: CostReport::default() };
        if problem.question.trim().is_empty() {
            return unasked(Error::Config("the question is empty".to_owned()));
        }
        let catalog = match self.database.catalog().await {
            Ok(catalog) => catalog,
            Err(error) => return unasked(error.into()),
        };
        let (mode, warning) = self.begin(id, &problem, &catalog, journal).await;
        let run = self.told_run(id, mode, catalog, &observer, stop);
        let mut report = self.carry_out(problem, &run, Outside { ask, stop }).await;
        if let Ok(report) = &mut report {
            report.document.warnings.extend(warning);
        }
        Searched { report, cost: cost(&run.ledger.spent()) }
    }

    /// Goes on with a run that was killed: what its journal holds is not done again, what was under way is. It must have been begun with the
    /// settings of this host; [`crate::recorded_settings`] tells them.
    ///
    /// # Errors
    /// As [`Host::search`], and when the journal is of a run that has ended or still goes on, or the database or a plugin changed since.
    pub async fn resume(
        &self,
        journal: &Path,
        observer: Arc<dyn Observer>,
        ask: Option<&dyn Ask>,
        stop: &Stop,
    ) -> Result<SearchReport, Error> {
        let _slot = self.searches.acquire().await;
        let identity = self.database.identity().await;
        self.resume_as(journal, Some(identity), (observer, ask), stop).await?.report
    }

    /// The same with what it cost. `identity` is the database's; none: as a search of a run over a suite, which has compared it.
    pub(crate) async fn resume_as(
        &self,
        journal: &Path,
        identity: Option<Option<String>>,
        (observer, ask): (Arc<dyn Observer>, Option<&dyn Ask>),
        stop: &Stop,
    ) -> Result<Searched, Error> {
        let (writer, journal) = Writer::resume(journal)?;
        let catalog = self.database.catalog().await?;
        record::check_unchanged(self, &journal.header, identity)?;
        if journal.is_finished() {
            let run = &journal.header.run;
            return Err(Error::Unfit(format!("the run `{run}` has come to its end: there is nothing to resume")));
        }
        let (id, problem) = (journal.header.run.clone(), journal.header.problem.clone());
        let run = self.told_run(&id, Mode::Resume(writer, journal), catalog, &observer, stop);
        let report = self.carry_out(problem, &run, Outside { ask, stop }).await;
        Ok(Searched { report, cost: cost(&run.ledger.spent()) })
    }

    /// A host that has nothing but a journal: no database, no model. It needs the run's plugins, byte for byte. From `today` it has what a
    /// journal, which may be a stranger's, does not decide: the limits, and where compiled plugins are kept.
    ///
    /// # Errors
    /// When the journal was written by a run that cannot be repeated from it, or a plugin is missing, refused or another one.
    pub async fn of_journal(header: &Header, today: &Settings, observer: &dyn Observer) -> Result<Self, Error> {
        let mut settings = record::recorded_settings(header)?;
        record::bound(&mut settings, today);
        settings.compile.clone_from(&today.compile);
        settings.journal.folder = None;
        let nothing = Arc::new(record::Nothing::of(header));
        let model = Arc::new(record::no_model(header, &nothing)?);
        let shared = Shared::new();
        let cast = Box::pin(Cast::of(&settings, &shared, observer)).await?;
        let host = Self::of(settings, nothing, model, cast, &shared);
        record::check_plugins(&host, header)?;
        Ok(Self { untrusted: record::untrusted(header), ..host })
    }

    /// Repeats a run from its journal alone. The report is the recorded one, byte for byte, times included, or there is an error.
    ///
    /// # Errors
    /// [`Error::Replay`] when the run departs from the journal; [`Error::Unfit`] when the journal cannot be replayed strictly; and the
    /// error that the run itself ended with.
    pub async fn replay(&self, journal: Journal, observer: Arc<dyn Observer>) -> Result<SearchReport, Error> {
        let recorded = record::recorded_end(&journal)?;
        let (id, problem) = (journal.header.run.clone(), journal.header.problem.clone());
        let (catalog, stop) = (Arc::clone(&journal.header.catalog), Stop::new());
        let run = self.run_state(&id, Mode::Strict(journal), catalog, &observer, &stop);
        let outside = Outside { ask: None, stop: &stop };
        let report = self.follow(problem, &run, &outside).await;
        record::compare(report, recorded)
    }

    /// Begins the journal of a run; without a place there is none. What goes wrong with it is no reason not to search.
    async fn begin(
        &self,
        id: &str,
        problem: &Problem,
        catalog: &Arc<Catalog>,
        place: Option<Result<PathBuf, JournalError>>,
    ) -> (Mode, Option<String>) {
        let kept = self.settings.journal.kept;
        // Without a journal whoever listens needs no rows.
        let Some(place) = place else { return (Mode::Live(None, Kept::None), None) };
        let identity = self.database.identity().await;
        let header = record::header(self, id, problem, Arc::clone(catalog), identity);
        match place.and_then(|path| Writer::create(&path, &header)) {
            Ok(writer) => (Mode::Live(Some(writer), kept), None),
            Err(error) => (Mode::Live(None, Kept::None), Some(format!("this run has no journal: {error}"))),
        }
    }

    /// A run that the log and whoever collects spans are told of.
    fn told_run(
        &self,
        id: &str,
        mode: Mode,
        catalog: Arc<Catalog>,
        observer: &Arc<dyn Observer>,
        stop: &Stop,
    ) -> RunState {
        let ledger = Ledger::new(self.settings.budgets.clone());
        let listener = telemetry::listener(self, id, &catalog, &mode);
        let tape = Tape::new(mode, Arc::clone(&ledger), listener);
        self.run_on(tape, id, ledger, catalog, observer, stop)
    }

    pub(crate) fn run_state(
        &self,
        id: &str,
        mode: Mode,
        catalog: Arc<Catalog>,
        observer: &Arc<dyn Observer>,
        stop: &Stop,
    ) -> RunState {
        let ledger = Ledger::new(self.settings.budgets.clone());
        let tape = Tape::new(mode, Arc::clone(&ledger), None);
        self.run_on(tape, id, ledger, catalog, observer, stop)
    }

    fn run_on(
        &self,
        tape: Arc<Tape>,
        id: &str,
        ledger: Arc<Ledger>,
        catalog: Arc<Catalog>,
        observer: &Arc<dyn Observer>,
        stop: &Stop,
    ) -> RunState {
        let trace = Trace::new(Arc::clone(observer), self.settings.limits.traced);
        let clock = Clock::new(self.settings.deadline, stop.clone());
        let taint = Taint::new(self.untrusted.iter().copied(), self.settings.limits.llm_in_flight);
        let (missed, given_up) = (Missed::default(), GivenUp::default());
        let (previews, salt) = (None, digest64(&[id, "salt"]));
        RunState { id: id.to_owned(), ledger, trace, tape, clock, catalog, taint, salt, missed, given_up, previews }
    }

    /// What the user configured for retrieval and what has nothing to search.
    fn idle(&self) -> Vec<String> {
        let (retrieval, knowledge) = (&self.settings.retrieval, &self.known.knowledge);
        let empty = |what: &str, path: &Option<PathBuf>, is_empty: bool| {
            let path = path.as_ref().filter(|_| is_empty)?;
            Some(format!("the {what} of `{}` are not used: there are none in it", path.display()))
        };
        let vectors = self.settings.model.embeddings.as_ref().filter(|name| {
            // A recording that holds no vectors has nobody who makes them.
            self.model.models().contains(name) && knowledge.length(name).is_none()
        });
        let vectors = vectors.map(|name| {
            let database = self.database.name();
            format!(
                "nothing is searched by the vectors of `{name}`: there are none of the schema of `{database}`; build-index with the same \
                 model for embeddings makes them"
            )
        });
        let notes = empty("notes", &retrieval.notes, knowledge.sources.notes.is_empty());
        let examples = empty("solved examples", &retrieval.examples, knowledge.sources.examples.is_empty());
        vectors.into_iter().chain(notes).chain(examples).collect()
    }

    /// Searches and notes how it ended.
    async fn carry_out(&self, problem: Problem, run: &RunState, outside: Outside<'_>) -> Result<SearchReport, Error> {
        if !self.has_told_of_idle.swap(true, Ordering::Relaxed) {
            self.idle().iter().for_each(|message| run.trace.warn(message));
        }
        let mut report = self.follow(problem, run, &outside).await;
        let mut beside: Vec<String> = run.tape.warning().into_iter().collect();
        beside.extend(run.given_up.warnings());
        beside.extend(self.cache.iter().flat_map(|cache| cache.take_warnings()));
        beside.extend(self.recording.iter().filter_map(|recording| recording.broken()));
        match &mut report {
            Ok(report) => report.document.warnings.extend(beside.iter().cloned()),
            Err(_) => beside.iter().for_each(|message| run.trace.warn(message)),
        }
        run.tape.fact(record::end(&report, self.settings.journal.kept, beside));
        report
    }

    /// Searches, unless the run departs from what its journal says, or asks a recording for what it lacks.
    pub(crate) async fn follow(
        &self,
        problem: Problem,
        run: &RunState,
        outside: &Outside<'_>,
    ) -> Result<SearchReport, Error> {
        /// How long a replay may be still: longer than a guest may compute, or a statement that was not kept may run.
        const PATIENCE: Duration = Duration::from_secs(60);
        let departure = |departure: Divergence| Err(Error::Replay(departure.to_string()));
        let report = tokio::select! {
            biased;
            report = search::search(self, problem, run, outside) => report,
            message = run.missed.wait() => Err(Error::Replay(message)),
            departed = run.tape.departed() => departure(departed),
            stalled = run.tape.stalled(PATIENCE) => departure(stalled),
        };
        // Whatever the strategy made of a miss, its answer is not that of the recorded run.
        run.missed.get().map_or(report, |message| Err(Error::Replay(message)))
    }

    /// Keeps the folder of journals small. What cannot be removed now is removed after a later run.
    fn prune(&self) {
        let JournalSettings { folder, keep, age, bytes, .. } = &self.settings.journal;
        if let Some(folder) = folder {
            drop(Folder::new(folder.clone()).prune(*keep, *age, *bytes));
        }
    }
}
