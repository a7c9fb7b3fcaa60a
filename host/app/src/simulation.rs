//! The simulated model: a suite's expected statements in a model's place.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use syrch_core::ports::{Database, ModelProvider};
use syrch_grade::suite::{self, Question};
use syrch_layers::{PricedModel, RoutedModel};
use syrch_simulated::{SimulatedConfig, SimulatedProvider, SimulatedQuestion, SimulatedSuite};

use crate::executors::is_database_file;
use crate::open::prices;
use crate::recordings::routed;
use crate::settings::SimulatedSettings;
use crate::{Error, Settings, Shared};

/// Suites that are kept.
const KEPT: usize = 4;

/// The suites that were used last, the latest first. What their questions can be answered with is kept with them, so that it is tried out once
/// for all seeds and hosts that share them; the databases are not.
#[derive(Default)]
pub(crate) struct Suites(Mutex<VecDeque<(Mark, Arc<SimulatedSuite>)>>);

/// Identifies a suite's file and its version.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mark {
    path: PathBuf,
    bytes: u64,
    modified: Option<SystemTime>,
}

impl Mark {
    /// `None` if the file has no metadata; reading it then returns the reason.
    fn of(path: &Path) -> Option<Self> {
        let path = path.canonicalize().ok()?;
        let metadata = path.metadata().ok()?;
        Some(Self { path, bytes: metadata.len(), modified: metadata.modified().ok() })
    }
}

/// A simulated model over that database. Nothing of it is shared but the suite: it has a seed, knobs and a database of its own, and ends with
/// its host.
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
    let (knobs, limits) = (simulated.knobs.clone(), settings.limits.clone());
    let config = SimulatedConfig { seed: settings.seed, knobs, limits };
    let provider: Arc<dyn ModelProvider> = Arc::new(SimulatedProvider::new(suite, Arc::clone(database), config));
    let names = provider.models();
    // Calls cost nothing unless the settings have a price for the simulated model.
    let prices = prices(&settings.model, names.first().map(String::as_str))?;
    let priced: Arc<dyn ModelProvider> = Arc::new(PricedModel::new(provider, Arc::new(prices)));
    routed(settings, &simulated.suite, &priced, &names)
}

/// How many questions the simulated model of the settings answers; none: there is none. The whole suite is read, and nothing is asked.
///
/// # Errors
/// When a search with these settings could not use it.
pub fn simulated_questions(settings: &Settings) -> Result<Option<usize>, Error> {
    let simulated = settings.model.simulated.as_ref();
    simulated.map(|simulated| Suites::default().read(simulated).map(|suite| suite.questions().len())).transpose()
}

impl Suites {
    /// The suite, read now or before.
    fn read(&self, simulated: &SimulatedSettings) -> Result<Arc<SimulatedSuite>, Error> {
        simulated.knobs.check().map_err(|wrong| Error::Config(format!("the simulated model: {wrong}")))?;
        // Its mark is taken first: a change while it is read is noticed next time.
        let mark = Mark::of(&simulated.suite);
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(suite) = mark.as_ref().and_then(|mark| used(&mut kept(), mark)) {
            return Ok(suite);
        }
        let read = suite::read(&simulated.suite)?;
        let suite = Arc::new(SimulatedSuite::new(read.questions.into_iter().map(question).collect()));
        let Some(mark) = mark else { return Ok(suite) };
        let mut kept = kept();
        // Of two that read it at once, one keeps it.
        if let Some(suite) = used(&mut kept, &mark) {
            return Ok(suite);
        }
        kept.retain(|(other, _)| other.path != mark.path);
        kept.push_front((mark, Arc::clone(&suite)));
        kept.truncate(KEPT);
        Ok(suite)
    }
}

/// The suite with that mark, which is now the one that was used last.
fn used(kept: &mut VecDeque<(Mark, Arc<SimulatedSuite>)>, mark: &Mark) -> Option<Arc<SimulatedSuite>> {
    let place = kept.iter().position(|(known, _)| known == mark)?;
    let found = kept.remove(place)?;
    let suite = Arc::clone(&found.1);
    kept.push_front(found);
    Some(suite)
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
        let line = |id: &str| format!(r#"{{"id":"{id}","db":"shop","question":"{id}?","gold_sql":"SELECT 1"}}"#) + "\n";
        let suite = |name: &str| SimulatedSettings::new(scratch.path().join(name));
        std::fs::write(suite("0").suite, line("a")).unwrap();
        let suites = Suites::default();
        let first = suites.read(&suite("0")).unwrap();
        let again =
            SimulatedSettings { knobs: SimulatedKnobs { skill: 1.0, ..SimulatedKnobs::default() }, ..suite("0") };
        assert!(Arc::ptr_eq(&first, &suites.read(&again).unwrap()));
        let wrong =
            SimulatedSettings { knobs: SimulatedKnobs { skill: 99.0, ..SimulatedKnobs::default() }, ..suite("0") };
        assert!(suites.read(&wrong).is_err());
        std::fs::write(suite("0").suite, line("a") + &line("b")).unwrap();
        assert_eq!(suites.read(&suite("0")).unwrap().questions().len(), 2);
        for other in 1..=KEPT {
            std::fs::write(suite(&other.to_string()).suite, line("a")).unwrap();
            suites.read(&suite(&other.to_string())).unwrap();
        }
        let kept = suites.0.lock().unwrap();
        assert!(kept.len() <= KEPT && kept.iter().all(|(mark, _)| !mark.path.ends_with("0")));
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
