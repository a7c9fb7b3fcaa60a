//! The simulated model: a suite's expected statements in a model's place.

use std::path::Path;
use std::sync::Arc;

use syrch_core::ports::{Database, ModelProvider};
use syrch_grade::suite::{self, Question};
use syrch_layers::{PricedModel, RoutedModel};
use syrch_llm::{SimulatedConfig, SimulatedProvider, SimulatedQuestion, SimulatedSuite};

use crate::open::prices;
use crate::recordings::routed;
use crate::{Error, Settings, Shared, SimulatedSettings};

/// Endings by which the name of a database is told from its file.
const ENDINGS: [&str; 4] = ["sqlite", "sqlite3", "db", "db3"];

/// A simulated model over that database. Hosts that share have one for each database, so that what it tries out is tried once.
///
/// # Errors
/// When the suite cannot be read or a knob is out of its bounds.
pub(crate) fn open_simulated(
    settings: &Settings,
    simulated: &SimulatedSettings,
    database: &Arc<dyn Database>,
    shared: &Shared,
) -> Result<RoutedModel, Error> {
    let known = (&settings.database, &settings.tables, simulated, settings.seed);
    let provider = shared.provider(format!("simulated {known:?}"), || {
        let suite = Arc::new(read(simulated)?);
        let (knobs, limits) = (simulated.knobs.clone(), settings.limits.clone());
        let config = SimulatedConfig { seed: settings.seed, knobs, limits };
        let provider: Arc<dyn ModelProvider> = Arc::new(SimulatedProvider::new(suite, Arc::clone(database), config));
        Ok(provider)
    })?;
    let names = provider.models();
    // Nothing is paid, unless somebody says what its tokens are to count as.
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
    simulated.map(|simulated| read(simulated).map(|suite| suite.questions().len())).transpose()
}

fn read(simulated: &SimulatedSettings) -> Result<SimulatedSuite, Error> {
    simulated.knobs.check().map_err(|wrong| Error::Config(format!("the simulated model: {wrong}")))?;
    let suite = suite::read(&simulated.suite)?;
    Ok(SimulatedSuite::new(suite.questions.into_iter().map(question).collect()))
}

fn question(question: Question) -> SimulatedQuestion {
    let golds = question.statements().into_iter().map(str::to_owned).collect();
    let Question { id, db, question, ordered, .. } = question;
    SimulatedQuestion { id, db: stem(&db), question, golds, ordered }
}

/// A database's name: that of its file, without the folders and the ending.
fn stem(db: &str) -> String {
    let path = Path::new(db);
    let is_file = path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known)));
    let name = if is_file { path.file_stem() } else { path.file_name() };
    name.map_or_else(|| db.to_owned(), |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

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
