//! A run over a suite: everything that can be wrong is looked for before the first question is asked; then it goes on until it is done or
//! something stops it, and what is done stays.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use syrch_core::result_set::digest64;
use syrch_core::text;
use syrch_grade::Question;
use syrch_grade::rules::Rule;
use syrch_grade::run::{
    self, Finished, Header, Observer, Options, Plan, RUN_FORMAT, RunBudgets, RunFolder, RunRecord, Runs, Shard,
    StopEarly, Stopped, SuiteOfRun,
};
use syrch_grade::stats;
use syrch_grade::suite::{self, Gold, Suite};
use syrch_scheduler::Stop;

use super::arena::Arena;
use super::ask::{Asker, Searches};
use super::begun::{self, arms_of};
use super::content::content;
use super::fuzz::Fuzzed;
use super::given::Given;
use super::gradable;
use super::grader::{Grader, TRACES, Traces};
use super::timing::{self, Timings};
use crate::open::check_prices;
use crate::{Error, Settings, Shared, Withheld, knowledge};

/// What a run over a suite is told, besides its arms.
#[derive(Debug, Clone)]
pub struct SuiteOptions {
    /// The suite's file.
    pub suite: PathBuf,
    /// Where its databases are, or the one database of all questions; none: beside the suite.
    pub databases: Option<PathBuf>,
    /// The rule that reports go by.
    pub rule: Rule,
    /// Questions at once.
    pub workers: usize,
    /// Only this part of the suite.
    pub shard: Option<Shard>,
    /// The folder of runs.
    pub runs: PathBuf,
    /// Go on with this run: its id, the beginning of it, `last`, or its folder.
    pub resume: Option<String>,
    /// Make what failed again.
    pub retry_failed: bool,
    /// What the whole run may use.
    pub budgets: RunBudgets,
    /// Failures of the endpoint, one after the other, after which the run stops; 0: it never does.
    pub max_outages: u32,
    /// Which journals are kept.
    pub traces: Traces,
    /// Stop a comparison of the first two arms once it is decided.
    pub stop_early: bool,
    /// Seeds under which each arm is asked, at least 1, from the settings' own on: figures are those of the first, and a band over all tells how
    /// much of them is chance.
    pub seeds: u32,
    /// Ask also what cannot be graded: who compares costs and confidences needs no expected answers.
    pub asks_ungraded: bool,
    /// Grade the answers of these files, and ask nobody.
    pub answers: Vec<PathBuf>,
    /// The folder of a fuzzed suite, on whose databases right answers are tried again.
    pub fuzz: Option<PathBuf>,
    /// Once all is done, time each right answer so many times against the expected statement; 0: nothing is timed.
    pub timed: u32,
}

/// What came of a run over a suite.
#[derive(Debug)]
pub struct SuiteOutcome {
    /// All that is graded.
    pub record: RunRecord,
    /// How far it came and what stopped it.
    pub finished: Finished<Error>,
    /// What the timed pass found.
    pub timings: Option<Timings>,
    /// The run's folder.
    pub folder: PathBuf,
    /// What the reader should know.
    pub warnings: Vec<String>,
}

/// What is said before the first question is asked.
pub trait Beginning: Observer {
    /// The run has this id, and lies in this folder.
    fn begun(&self, run: &str, folder: &Path);
}

/// A run over a suite that is ready to begin: suite, databases, plugins and endpoints are in order, and nothing has been asked or paid.
pub struct SuiteRun {
    options: SuiteOptions,
    suite: Arc<Suite>,
    arena: Arc<Arena>,
    header: Header,
    /// The answers to be graded, where nobody is asked.
    given: Option<Given>,
    fuzzed: Option<Fuzzed>,
    is_noted: bool,
    /// Why questions cannot be graded, by id.
    ungradable: Arc<BTreeMap<String, String>>,
    warnings: Vec<String>,
}

impl SuiteRun {
    /// Reads and checks everything. The names of the arms are unique.
    ///
    /// # Errors
    /// What is wrong with the suite, a database, a plugin, an endpoint or a setting.
    pub async fn open(
        arms: Vec<(String, Settings)>,
        options: SuiteOptions,
        observer: &Arc<dyn crate::Observer>,
    ) -> Result<Self, Error> {
        let path = options.suite.clone();
        let suite = tokio::task::spawn_blocking(move || suite::read(&path)).await;
        let suite = Arc::new(suite.map_err(|error| Error::Internal(error.to_string()))??);
        let paths = suite.databases(options.databases.as_deref())?;
        let told = Arc::new(told(&suite));
        let (again, own) = (again(&arms, options.seeds), arms.len());
        let (names, mut arms): (Vec<String>, Vec<Settings>) = arms.into_iter().chain(again).unzip();
        arms.iter_mut().for_each(|arm| arm.retrieval.withheld = Arc::clone(&told));
        let mut warnings = Vec::new();
        let first = arms.first().ok_or_else(|| Error::Internal("a run without arms".to_owned()))?;
        let (is_noted, seed) = (first.journal.folder.is_some() && options.answers.is_empty(), first.seed);
        for (at, arm) in arms.iter().enumerate() {
            let is_told = arms.iter().take(at).any(|other| other.retrieval == arm.retrieval);
            if !is_told {
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
            Some(given) => given.simulated(),
            None => first.model.simulated.as_ref().map(|model| model.label(seed)),
        };
        let fuzzed = match &options.fuzz {
            Some(folder) => Some(Fuzzed::open(folder, &suite, first).await?),
            None => None,
        };
        let arena = Arena::new(arms, paths.clone(), Shared::new(), Arc::clone(observer));
        let mut databases = BTreeMap::new();
        for (db, path) in &paths {
            // Opened, so that what is no database is told now.
            arena.database(db).await?;
            let path = path.clone();
            let unreadable = format!("the database `{}` cannot be read", path.display());
            let content = tokio::task::spawn_blocking(move || content(&path)).await;
            let content = content.map_err(|error| Error::Internal(error.to_string()))?;
            databases.insert(db.clone(), content.map_err(|error| Error::Unfit(format!("{unreadable}: {error}")))?);
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
            is_noted,
            ungradable: Arc::new(ungradable),
            warnings,
        })
    }

    /// What the reader should know before it begins.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The files that it reads, with what they are: nothing may be written over them.
    #[must_use]
    pub fn inputs(&self) -> Vec<(&'static str, PathBuf)> {
        let rows = self.suite.questions.iter().flat_map(|question| &question.golds).filter_map(|gold| match gold {
            Gold::Csv(path) => Some(("expected rows", path.clone())),
            Gold::Sql(_) | Gold::Text(_) => None,
        });
        let answers = self.options.answers.iter().map(|path| ("answers to be graded", path.clone()));
        let databases = self.arena.paths().map(|path| ("a database of the suite", path.clone()));
        let of_arms = self.arena.arms().iter().flat_map(begun::files);
        let fuzzed = self.options.fuzz.iter().flat_map(|folder| begun::below(folder, "of the fuzzed suite"));
        let resumed = self.options.resume.as_ref().and_then(|run| Runs::new(self.options.runs.clone()).find(run).ok());
        let own = resumed.iter().flat_map(|run| begun::below(&run.path, "of the run itself"));
        let suite = std::iter::once(("the suite", self.options.suite.clone()));
        let all = suite.chain(answers).chain(databases).chain(rows).chain(of_arms).chain(fuzzed).chain(own);
        let mut all: Vec<_> = all.collect();
        all.sort();
        all.dedup();
        all
    }

    /// Begins the run, or goes on with it, until it is done or stopped.
    ///
    /// # Errors
    /// When the run cannot go on with what is here now, or its folder cannot be written. What was done before stays.
    pub async fn carry_out(mut self, observer: &dyn Beginning, stop: &Stop) -> Result<SuiteOutcome, Error> {
        let mut folder = self.folder()?;
        let path = folder.path().to_owned();
        observer.begun(&folder.header().id, &path);
        own_folder(&path.join(TRACES)).map_err(|error| Error::Unfit(format!("`{}`: {error}", path.display())))?;
        let names = self.header.arms.iter().map(|arm| arm.name.clone()).collect();
        let asker: Box<dyn Asker> = match self.given.take() {
            None => Box::new(Searches { arena: Arc::clone(&self.arena), arms: names, begun_anew: Mutex::default() }),
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
            is_noted: self.is_noted,
            expected: Grader::kept(),
        });
        let questions = self.suite.questions.iter().map(|question| Arc::new(question.clone()));
        let plan = Plan::new(folder.header(), questions).retry_failed(self.options.retry_failed);
        let options = self.engine_options();
        let finished = run::execute(&plan, &mut folder, Arc::clone(&grader), &options, observer, stop).await?;
        drop(folder);
        let record = run::read(&path)?;
        let mut timings = None;
        if self.options.timed > 0 && matches!(finished.stopped, None | Some(Stopped::Early(_))) {
            let told = (&*path, self.options.timed);
            timings = timing::time(&record, &self.suite.questions, &self.arena, told, stop).await?;
        }
        let warnings = match self.options.asks_ungraded {
            true => None,
            false => gradable::afterwards(&record.graded, &self.ungradable),
        };
        let warnings = grader.asker.warnings().into_iter().chain(warnings).collect();
        Ok(SuiteOutcome { record, finished, timings, folder: path, warnings })
    }

    fn engine_options(&self) -> Options {
        let decides = Arc::new(|b, c| stats::e_value(b, c) >= stats::E_STOP);
        Options {
            workers: self.options.workers,
            budgets: self.options.budgets,
            max_outages: self.options.max_outages,
            stop_early: self.header.stop_early.then_some(StopEarly { first: 0, second: 1, decides }),
        }
    }

    /// The run's folder: a new one, or that of the run that goes on, if nothing has changed since.
    fn folder(&self) -> Result<RunFolder, Error> {
        let runs = Runs::new(self.options.runs.clone());
        let Some(run) = &self.options.resume else {
            let now =
                std::time::SystemTime::now().duration_since(std::time::SystemTime::UNIX_EPOCH).unwrap_or_default();
            let parts = [now.as_nanos().to_string(), std::process::id().to_string()];
            let id = format!("{:016x}", digest64(&[&self.header.suite.path, &parts[0], &parts[1]]));
            return Ok(runs.create(&Header { id, ..self.header.clone() })?);
        };
        let folder = RunFolder::resume(&runs.find(run)?.path)?;
        let changed = run::changed(folder.header(), &self.header);
        if changed.is_empty() {
            return Ok(folder);
        }
        let id = &folder.header().id;
        Err(Error::Unfit(format!("the run `{id}` cannot go on: changed since: {}", text::few(changed))))
    }
}

/// Makes a folder that is its owner's alone.
pub(super) fn own_folder(path: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}

/// Writes a file that is its owner's alone; a reader sees the old one or the new one.
pub(super) fn own_file(path: &Path, text: &[u8]) -> std::io::Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&part).and_then(|mut file| file.write_all(text).and_then(|()| file.sync_all()));
    written.and_then(|()| std::fs::rename(&part, path)).inspect_err(|_| drop(std::fs::remove_file(&part)))
}

/// What stands between an arm's name and its seed, where it is asked once more.
const SEED: &str = " #";

/// The arms once more, under further seeds.
fn again(arms: &[(String, Settings)], seeds: u32) -> Vec<(String, Settings)> {
    let under = |more: u32| {
        arms.iter().map(move |(name, settings)| {
            let seed = settings.seed.wrapping_add(u64::from(more));
            (format!("{name}{SEED}{seed}"), Settings { seed, ..settings.clone() })
        })
    };
    (1..seeds).flat_map(under).collect()
}

/// What must not stand in a solved example or a note: the questions of the suite and the statements that answer them.
fn told(suite: &Suite) -> Withheld {
    let questions = suite.questions.iter().map(|question| question.question.as_str());
    Withheld::new(questions, suite.questions.iter().flat_map(Question::statements))
}

#[cfg(test)]
mod tests;
