//! A run over a suite. Everything that can be checked is checked before the first question is
//! asked. Then the run continues until it is finished or something stops it, and all results so far
//! are stored.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use sha2::{Digest, Sha256};
use syrch::databases::{database_files, file_digest, suite_databases};
use syrch::internal::check_prices;
use syrch::settings::Withheld;
use syrch::{Error, Settings, Shared, Stop, knowledge};
use syrch_core::ports::Database;
use syrch_core::result_set::digest64;
use syrch_core::{DatabaseUrl, text};
use syrch_grade::Question;
use syrch_grade::rules::Rule;
use syrch_grade::run::{
    self, Finished, Header, Observer, Options, Plan, RUN_FORMAT, RunBudgets, RunFolder, RunRecord,
    Runs, Shard, StopEarly, Stopped, SuiteOfRun, Wave,
};
use syrch_grade::stats;
use syrch_grade::suite::{self, Gold, Suite};

use super::arena::Arena;
use super::ask::{Asker, Searches};
use super::fuzz::Fuzzed;
use super::given::Given;
use super::gradable;
use super::grader::{Grader, TRACES, Traces};
use super::manifest::{self, arms_of};
use super::talks::Talks;
use super::timing::{self, Timings};

/// The options of a run over a suite, besides its arms.
#[derive(Debug, Clone)]
pub struct SuiteOptions {
    /// The path of the suite.
    pub suite: PathBuf,
    /// The folder of its databases, or the one database of all questions; `None` if the databases
    /// are beside the suite.
    pub databases: Option<DatabaseUrl>,
    /// The comparison rule of the reports.
    pub rule: Rule,
    /// The number of questions that are asked at once.
    pub workers: usize,
    /// The part of the suite to ask; `None` for all of it.
    pub shard: Option<Shard>,
    /// The folder that holds the folders of all runs.
    pub runs: PathBuf,
    /// The run to resume: its id, the beginning of its id, `last`, or its folder; `None` for a new
    /// run.
    pub resume: Option<String>,
    /// The folder of the run itself, where it is begun, or resumed if it is there; `None` for a
    /// folder of its own below `runs`. The name of a folder directly below `runs` is the run's id.
    pub folder: Option<PathBuf>,
    /// The part of the suite up to which the run goes now; `None` if it goes to its end.
    pub wave: Option<Wave>,
    /// True if questions whose search failed are asked again.
    pub retry_failed: bool,
    /// The budgets of the whole run.
    pub budgets: RunBudgets,
    /// The number of consecutive failures of the endpoint after which the run stops; 0 if it never
    /// does.
    pub max_outages: u32,
    /// The searches that leave a journal in the run's folder.
    pub traces: Traces,
    /// True if the run stops once the comparison of its first two arms is decided.
    pub stop_early: bool,
    /// The number of seeds under which each arm is asked, at least 1. The first is that of the
    /// settings, and the figures are its figures. The band over all seeds shows how much of them is
    /// chance.
    pub seeds: u32,
    /// True if questions that cannot be graded are asked, too. A comparison of costs and
    /// confidences needs no expected answers.
    pub asks_ungraded: bool,
    /// Files of answers that are graded in place of searches; empty if the arms search.
    pub answers: Vec<PathBuf>,
    /// The folder of a fuzzed suite, on whose databases right answers are tried again.
    pub fuzz: Option<PathBuf>,
    /// The number of times that each right answer and its expected statement are timed, once all
    /// questions are answered; 0 if nothing is timed.
    pub timed: u32,
}

/// The result of [`SuiteRun::carry_out`].
#[derive(Debug)]
pub struct SuiteOutcome {
    /// All lines that are graded, those of earlier sittings included.
    pub record: RunRecord,
    /// The progress of the run, and what stopped it.
    pub finished: Finished<Error>,
    /// The times of the timed pass; `None` if nothing was timed.
    pub timings: Option<Timings>,
    /// The path of the run's folder.
    pub folder: PathBuf,
    /// Warnings for the reader of the report.
    pub warnings: Vec<String>,
}

/// The digest of a database: of the content of a file; of the identity that the engine of a server
/// reports; or, if there is none, of the schema alone.
async fn content(url: &DatabaseUrl, database: &dyn Database) -> Result<String, Error> {
    let own = url.clone();
    let shown = url.to_string();
    let read = tokio::task::spawn_blocking(move || file_digest(&own)).await;
    if let Some(read) = read.map_err(|error| Error::Internal(error.to_string()))? {
        return read.map_err(|error| {
            Error::Unfit(format!("the database `{shown}` cannot be read: {error}"))
        });
    }
    let known = match database.identity().await {
        Some(identity) => identity,
        None => format!("{:?}", database.catalog().await?.tables),
    };
    Ok(syrch_core::text::hex(Sha256::digest(known)))
}

/// Receives the progress of a run over a suite.
pub trait Beginning: Observer {
    /// Called before the first question is asked, with the id of the run and its folder.
    fn on_start(&self, run: &str, folder: &Path);
}

/// A run over a suite that is ready to start: the suite, the databases, the plugins and the
/// endpoints were checked, and no model was called.
pub struct SuiteRun {
    options: SuiteOptions,
    suite: Arc<Suite>,
    arena: Arc<Arena>,
    header: Header,
    /// The answers of files, if these are graded in place of searches.
    given: Option<Given>,
    fuzzed: Option<Fuzzed>,
    has_journals: bool,
    /// The questions that cannot be graded, by id, with the reasons.
    ungradable: Arc<BTreeMap<String, String>>,
    warnings: Vec<String>,
}

impl SuiteRun {
    /// Reads and checks everything. The names of `arms` must be unique.
    ///
    /// # Errors
    /// When something is wrong with the suite, a database, a plugin, an endpoint or a setting.
    pub async fn open(
        arms: Vec<(String, Settings)>,
        options: SuiteOptions,
        observer: &Arc<dyn syrch::Observer>,
    ) -> Result<Self, Error> {
        let path = options.suite.clone();
        let suite = tokio::task::spawn_blocking(move || suite::read(&path)).await;
        let suite = Arc::new(suite.map_err(|error| Error::Internal(error.to_string()))??);
        let urls = suite_databases(&suite, options.databases.as_ref())?;
        let withheld = Arc::new(withheld(&suite));
        let again = repeat_arms(&arms, options.seeds);
        let own = arms.len();
        let (names, mut arms): (Vec<String>, Vec<Settings>) = arms.into_iter().chain(again).unzip();
        arms.iter_mut().for_each(|arm| arm.retrieval.withheld = Arc::clone(&withheld));
        let mut warnings = Vec::new();
        let first = arms.first().ok_or_else(|| Error::Internal("a run without arms".to_owned()))?;
        let has_journals = first.journal.folder.is_some() && options.answers.is_empty();
        let seed = first.seed;
        for (at, arm) in arms.iter().enumerate() {
            let is_reported = arms.iter().take(at).any(|other| other.retrieval == arm.retrieval);
            if !is_reported {
                warnings.extend(knowledge::left_out(&arm.retrieval)?);
            }
        }
        if options.answers.is_empty() && options.budgets.usd.is_some() {
            arms.iter().try_for_each(|arm| check_prices(&arm.model))?;
        }
        let given = match options.answers.as_slice() {
            [] => None,
            files => Some(Given::read(files, &suite)?),
        };
        warnings.extend(given.as_ref().and_then(|given| given.warning(&suite, options.shard)));
        let simulated = match &given {
            Some(given) => given.simulation_labels(),
            None => first.model.simulated.as_ref().map(|model| model.label(seed)),
        };
        let fuzzed = match &options.fuzz {
            Some(folder) => Some(Fuzzed::open(folder, &suite, first).await?),
            None => None,
        };
        let arena = Arena::new(arms, urls.clone(), Shared::new(), Arc::clone(observer));
        let mut databases = BTreeMap::new();
        for (db, url) in &urls {
            // Opened now, so that what is no database is reported before the first question.
            let database = arena.database(db).await?;
            databases.insert(db.clone(), content(url, database.as_ref()).await?);
        }
        let ungradable = match options.asks_ungraded {
            true => BTreeMap::new(),
            false => gradable::ungradable(&suite, options.shard, &arena).await?,
        };
        warnings.extend(gradable::warning(&ungradable));
        let header = Header {
            format: RUN_FORMAT.to_owned(),
            id: String::new(),
            host: env!("CARGO_PKG_VERSION").to_owned(),
            suite: SuiteOfRun {
                path: options.suite.display().to_string(),
                digest: suite.digest.clone(),
                questions: suite.questions.len() as u64,
            },
            arms: match &given {
                Some(given) => vec![given.arm()],
                None => arms_of(&names, own, &arena).await?,
            },
            databases,
            rule: options.rule.name().to_owned(),
            shard: options.shard,
            seed,
            fuzz: fuzzed.as_ref().map(|fuzzed| fuzzed.manifest().digest()),
            simulated,
            stop_early: options.stop_early && own > 1,
        };
        Ok(Self {
            options,
            suite,
            arena: Arc::new(arena),
            header,
            given,
            fuzzed,
            has_journals,
            ungradable: Arc::new(ungradable),
            warnings,
        })
    }

    /// Warnings for the user before the run starts.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The files that the run reads, each with what it is. No output may be written over them.
    #[must_use]
    pub fn inputs(&self) -> Vec<(&'static str, PathBuf)> {
        let rows =
            self.suite.questions.iter().flat_map(|question| &question.golds).filter_map(|gold| {
                match gold {
                    Gold::Csv(path) => Some(("expected rows", path.clone())),
                    Gold::Sql(_) | Gold::Text(_) | Gold::End(_) => None,
                }
            });
        let answers =
            self.options.answers.iter().map(|path| ("answers to be graded", path.clone()));
        let databases = self
            .arena
            .urls()
            .flat_map(database_files)
            .map(|path| ("a database of the suite", path));
        let of_arms = self.arena.arms().iter().flat_map(manifest::files);
        let fuzzed = self
            .options
            .fuzz
            .iter()
            .flat_map(|folder| manifest::files_below(folder, "of the fuzzed suite"));
        let resumed = self
            .options
            .resume
            .as_ref()
            .and_then(|run| Runs::new(self.options.runs.clone()).find(run).ok());
        let own = resumed.iter().map(|run| &run.path).chain(&self.options.folder);
        let own = own.flat_map(|run| manifest::files_below(run, "of the run itself"));
        let suite = std::iter::once(("the suite", self.options.suite.clone()));
        let all = suite
            .chain(answers)
            .chain(databases)
            .chain(rows)
            .chain(of_arms)
            .chain(fuzzed)
            .chain(own);
        let mut all: Vec<_> = all.collect();
        all.sort();
        all.dedup();
        all
    }

    /// Starts or resumes the run, and returns when it is finished or stopped.
    ///
    /// # Errors
    /// When the run cannot be resumed because something changed, or its folder cannot be written.
    /// The results so far are stored.
    pub async fn carry_out(
        mut self,
        observer: &dyn Beginning,
        stop: &Stop,
    ) -> Result<SuiteOutcome, Error> {
        let mut folder = self.folder()?;
        let path = folder.path().to_owned();
        observer.on_start(&folder.header().id, &path);
        syrch_files::make_folder(&path.join(TRACES))
            .map_err(|error| Error::Unfit(format!("`{}`: {error}", path.display())))?;
        let names = self.header.arms.iter().map(|arm| arm.name.clone()).collect();
        let asker: Box<dyn Asker> = match self.given.take() {
            None => Box::new(Searches {
                arena: Arc::clone(&self.arena),
                arms: names,
                restarted: Mutex::default(),
                talks: Talks::default(),
            }),
            Some(given) => Box::new(given),
        };
        let grader = Arc::new(Grader {
            asker,
            ungradable: Arc::clone(&self.ungradable),
            arena: Arc::clone(&self.arena),
            folder: path.clone(),
            rule: self.options.rule,
            fuzzed: self.fuzzed.take(),
            traces: self.options.traces,
            has_journals: self.has_journals,
            expected: Grader::new_expected_cache(),
        });
        let questions = self.suite.questions.iter().map(|question| Arc::new(question.clone()));
        let plan = Plan::new(folder.header(), questions).retry_failed(self.options.retry_failed);
        let options = self.engine_options();
        let finished =
            run::execute(&plan, &mut folder, Arc::clone(&grader), &options, observer, stop).await?;
        drop(folder);
        let record = run::read(&path)?;
        let mut timings = None;
        if self.options.timed > 0 && matches!(finished.stopped, None | Some(Stopped::Early(_))) {
            let questions = &self.suite.questions;
            let repeats = self.options.timed;
            timings =
                timing::time_answers(&record, questions, &self.arena, &path, repeats, stop).await?;
        }
        let warnings = match self.options.asks_ungraded {
            true => None,
            false => gradable::warn_of_ungraded(&record.graded, &self.ungradable),
        };
        let warnings = grader.asker.warnings().into_iter().chain(warnings).collect();
        Ok(SuiteOutcome { record, finished, timings, folder: path, warnings })
    }

    fn engine_options(&self) -> Options {
        let questions = self.header.suite.questions;
        // A shard does not see what the others find: the merge decides.
        let stops_early = self.header.stop_early && self.header.shard.is_none();
        Options {
            workers: self.options.workers,
            budgets: self.options.budgets,
            max_outages: self.options.max_outages,
            stop_early: stops_early.then(|| StopEarly {
                first: 0,
                second: 1,
                decides: Arc::new(stats::is_decided),
            }),
            until: self.options.wave.map(|wave| wave.end(questions)).filter(|end| *end < questions),
        }
    }

    /// The run's folder: a new one, or that of the run to resume, if nothing has changed since.
    fn folder(&self) -> Result<RunFolder, Error> {
        let runs = Runs::new(self.options.runs.clone());
        let path = match (&self.options.resume, &self.options.folder) {
            (Some(run), _) => runs.find(run)?.path,
            (None, Some(path)) if path.join(run::HEADER).is_file() => path.clone(),
            (None, None) => return Ok(runs.create(&self.new_header())?),
            (None, Some(path)) => return Ok(RunFolder::create(path, &self.new_header())?),
        };
        let folder = RunFolder::resume(&path)?;
        let changed = run::find_changes(folder.header(), &self.header);
        if changed.is_empty() {
            return Ok(folder);
        }
        let id = &folder.header().id;
        Err(Error::Unfit(format!(
            "the run `{id}` cannot be resumed: changed since: {}",
            text::few(changed)
        )))
    }

    /// The header with a new id: the name of the run's folder where that is one of all runs.
    fn new_header(&self) -> Header {
        let own = self.options.folder.as_deref();
        let own = own.filter(|path| path.parent() == Some(self.options.runs.as_path()));
        if let Some(name) = own.and_then(Path::file_name) {
            return Header { id: name.to_string_lossy().into_owned(), ..self.header.clone() };
        }
        let now = std::time::SystemTime::now()
            .duration_since(std::time::SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        // Containers on several hosts have the same process ids.
        let shard = self.header.shard.map(|shard| shard.to_string()).unwrap_or_default();
        let parts = [now.as_nanos().to_string(), std::process::id().to_string()];
        let path = &self.header.suite.path;
        let id = format!("{:016x}", digest64(&[path, &parts[0], &parts[1], &shard]));
        Header { id, ..self.header.clone() }
    }
}

/// The text between an arm's name and the seed, in the names of arms that are asked under further
/// seeds.
const SEED: &str = " #";

/// The arms again, under further seeds.
fn repeat_arms(arms: &[(String, Settings)], seeds: u32) -> Vec<(String, Settings)> {
    (1..seeds)
        .flat_map(|more: u32| {
            arms.iter().map(move |(name, settings)| {
                let seed = settings.seed.wrapping_add(u64::from(more));
                (format!("{name}{SEED}{seed}"), Settings { seed, ..settings.clone() })
            })
        })
        .collect()
}

/// The questions of the suite and the statements that answer them, which must not be in a solved
/// example or a note.
pub(crate) fn withheld(suite: &Suite) -> Withheld {
    let questions = suite.questions.iter().map(|question| question.question.as_str());
    Withheld::new(questions, suite.questions.iter().flat_map(Question::statements))
}

#[cfg(test)]
mod tests;
