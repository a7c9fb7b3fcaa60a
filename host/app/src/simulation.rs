//! The simulated model: a suite's expected statements in a model's place.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use syrch_core::ports::{Database, ModelProvider};
use syrch_layers::{PricedModel, RoutedModel};
use syrch_memory::MemoryCache;
use syrch_simulated::{SimulatedConfig, SimulatedProvider, SimulatedQuestion, SimulatedSuite};
use syrch_suites::Question;

use crate::executors::is_database_file;
use crate::open::prices;
use crate::recordings::route_models;
use crate::settings::SimulatedSettings;
use crate::{Error, Settings, Shared};

/// The most suites that are cached.
const CACHED: usize = 4;

/// The suites that were used last. What their questions can be answered with is cached with them,
/// so that it is tried out once for all seeds and hosts that share them; the databases are not.
pub(crate) struct Suites(MemoryCache<Mark, SimulatedSuite>);

impl Default for Suites {
    fn default() -> Self {
        Self(MemoryCache::new(CACHED))
    }
}

/// Identifies a suite's file and its version.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mark {
    path: PathBuf,
    bytes: u64,
    modified: Option<SystemTime>,
}

impl Mark {
    /// `None` if the file has no metadata; reading it then returns the reason.
    fn from_path(path: &Path) -> Option<Self> {
        let path = path.canonicalize().ok()?;
        let metadata = path.metadata().ok()?;
        Some(Self { path, bytes: metadata.len(), modified: metadata.modified().ok() })
    }
}

/// A simulated model over that database. Nothing of it is shared but the suite: it has a seed,
/// knobs and a database of its own, and ends with its host.
///
/// # Errors
/// When the suite cannot be read or a knob is out of its bounds.
pub(crate) fn open_simulated(
    settings: &Settings,
    simulated: &SimulatedSettings,
    database: &Arc<dyn Database>,
    shared: &Shared,
) -> Result<RoutedModel, Error> {
    let suite = shared.suites.read(simulated)?;
    let knobs = simulated.knobs.clone();
    let limits = settings.limits.clone();
    let config = SimulatedConfig { seed: settings.seed, knobs, limits };
    let provider: Arc<dyn ModelProvider> =
        Arc::new(SimulatedProvider::new(suite, Arc::clone(database), config));
    let names = provider.models();
    // Calls cost nothing unless the settings have a price for the simulated model.
    let prices = prices(&settings.model, names.first().map(String::as_str))?;
    let priced: Arc<dyn ModelProvider> = Arc::new(PricedModel::new(provider, Arc::new(prices)));
    route_models(settings, &simulated.suite, &priced, &names)
}

/// Returns the number of questions that the simulated model of the settings answers; `None` if
/// there is none. The whole suite is read, and nothing is asked.
///
/// # Errors
/// When a search with these settings could not use it.
pub fn count_simulated_questions(settings: &Settings) -> Result<Option<usize>, Error> {
    let simulated = settings.model.simulated.as_ref();
    simulated
        .map(|simulated| Suites::default().read(simulated).map(|suite| suite.questions().len()))
        .transpose()
}

impl Suites {
    /// The suite, read now or before.
    fn read(&self, simulated: &SimulatedSettings) -> Result<Arc<SimulatedSuite>, Error> {
        simulated
            .knobs
            .check()
            .map_err(|wrong| Error::Config(format!("the simulated model: {wrong}")))?;
        let read = || {
            let read = syrch_suites::read(&simulated.suite)?;
            Ok::<_, Error>(SimulatedSuite::new(read.questions.into_iter().map(question).collect()))
        };
        // Its mark is taken first: a change while it is read is noticed next time.
        match Mark::from_path(&simulated.suite) {
            Some(mark) => self.0.get_or_make(&mark, read),
            None => read().map(Arc::new),
        }
    }
}

fn question(question: Question) -> SimulatedQuestion {
    let golds = question.statements().into_iter().map(str::to_owned).collect();
    let Question { id, db, question, ordered, .. } = question;
    SimulatedQuestion { id, db: stem(&db), question, golds, ordered }
}

/// A database's name: that of its file, without the folders and the ending.
fn stem(db: &str) -> String {
    let path = Path::new(db);
    let name = if is_database_file(path) { path.file_stem() } else { path.file_name() };
    name.map_or_else(|| db.to_owned(), |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use syrch_simulated::SimulatedKnobs;

    use super::*;

    #[test]
    fn a_suite_is_read_once_until_it_changes() {
        let scratch = syrch_kit::scratch();
        let line = |id: &str| {
            format!(r#"{{"id":"{id}","db":"shop","question":"{id}?","gold_sql":"SELECT 1"}}"#)
                + "\n"
        };
        let suite = |name: &str| SimulatedSettings::new(scratch.path().join(name));
        std::fs::write(suite("0").suite, line("a")).unwrap();
        let suites = Suites::default();
        let first = suites.read(&suite("0")).unwrap();
        let again = SimulatedSettings {
            knobs: SimulatedKnobs { skill: 1.0, ..SimulatedKnobs::default() },
            ..suite("0")
        };
        assert!(Arc::ptr_eq(&first, &suites.read(&again).unwrap()));
        let wrong = SimulatedSettings {
            knobs: SimulatedKnobs { skill: 99.0, ..SimulatedKnobs::default() },
            ..suite("0")
        };
        assert!(suites.read(&wrong).is_err());
        std::fs::write(suite("0").suite, line("a") + &line("b")).unwrap();
        assert_eq!(suites.read(&suite("0")).unwrap().questions().len(), 2);
        let changed = suites.read(&suite("0")).unwrap();
        for other in 1..=CACHED {
            std::fs::write(suite(&other.to_string()).suite, line("a")).unwrap();
            suites.read(&suite(&other.to_string())).unwrap();
        }
        assert!(
            !Arc::ptr_eq(&changed, &suites.read(&suite("0")).unwrap()),
            "it was used least recently"
        );
    }

    #[test]
    fn a_database_has_the_name_of_its_file() {
        for (db, expected) in [
            ("shop", "shop"),
            ("db/shop.sqlite", "shop"),
            ("shop.v2", "shop.v2"),
            ("a/shop.v2.DB", "shop.v2"),
            ("", ""),
        ] {
            assert_eq!(stem(db), expected);
        }
    }
}
