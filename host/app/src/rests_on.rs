//! The basis of a confidence: how often answers of about that confidence were right in the run that
//! the calibrator was fitted on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use syrch_core::DatabaseUrl;
use syrch_core::roles::Role;
use syrch_suites::bands::{Band, Bands};

use crate::Settings;
use crate::executors::database_name;
use crate::report::RestsOn;
use crate::settings::ModelSettings;

/// The calibrator's setting that holds it.
pub const BASIS: &str = "basis";

/// A band in a strategy file: from, up to, answers, right ones.
type Row = (f64, f64, u64, u64);

/// The graded answers on which a calibrator was fitted, as its settings in a strategy file hold
/// them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Basis {
    /// The id of the graded run.
    pub run: String,
    /// The rule by which its answers were right.
    pub rule: String,
    /// The model source: a model's name, or what stood in its place.
    pub model: String,
    /// The number of databases that the answers were over.
    pub databases: u64,
    /// The name of the suite: its file or folder without the ending.
    pub suite: String,
    /// The names of these databases.
    pub over: Vec<String>,
    /// The bands over all of them.
    pub all: Vec<Row>,
    /// The bands of each database that has enough answers.
    #[serde(default)]
    pub by_database: BTreeMap<String, Vec<Row>>,
}

impl Basis {
    /// A basis with these bands, whose suite and databases are named later.
    #[must_use]
    pub fn new(run: &str, rule: &str, model: &str, bands: &Bands) -> Self {
        let rows = |bands: &Vec<Band>| {
            bands.iter().map(|band| (band.low, band.high, band.answers, band.right)).collect()
        };
        Self {
            run: run.to_owned(),
            rule: rule.to_owned(),
            model: model.to_owned(),
            databases: bands.databases,
            suite: String::new(),
            over: Vec::new(),
            all: rows(&bands.all),
            by_database: bands
                .by_database
                .iter()
                .map(|(name, bands)| (name.clone(), rows(bands)))
                .collect(),
        }
    }
}

impl Basis {
    /// Returns whether that database was among those of the run.
    fn knows(&self, database: &str) -> bool {
        self.over.iter().any(|known| known == database)
    }
}

/// Returns the share of right answers among those with that confidence: on this database, or else
/// on all of the run's. `None` if no calibrator is fitted, or if the run had no answer like it.
#[must_use]
pub fn rests_on(settings: &Settings, confidence: f64) -> Option<RestsOn> {
    let basis = basis(settings)?;
    fn row_has(confidence: f64, row: &&Row) -> bool {
        (row.0..row.1).contains(&confidence) || (row.1 >= 1.0 && confidence >= row.0)
    }
    let name = database_name(&DatabaseUrl::parse(&settings.database));
    let own = basis
        .by_database
        .get(&name)
        .and_then(|rows| rows.iter().find(|row| row_has(confidence, row)));
    let (low, high, answers, right) =
        *own.or_else(|| basis.all.iter().find(|row| row_has(confidence, row)))?;
    let database = own.map(|_| name.clone());
    let elsewhere = !basis.knows(&name);
    let Basis { run, rule, model, databases, .. } = basis;
    Some(RestsOn { low, high, answers, right, database, databases, elsewhere, run, rule, model })
}

/// Returns the reason why what is said of a confidence may not hold for this search: it uses
/// another model than the answers that the confidence was fitted on, or is over none of their
/// databases.
#[must_use]
pub fn departure(settings: &Settings) -> Option<String> {
    let basis = basis(settings)?;
    let simulated = settings.model.simulated.as_ref().map(|model| model.knobs.label(settings.seed));
    let model = simulated.unwrap_or_else(|| model_name(&settings.model));
    let name = database_name(&DatabaseUrl::parse(&settings.database));
    let others = [
        (model != basis.model).then(|| format!("another model, `{model}`")),
        (!basis.knows(&name)).then(|| format!("another database, `{name}`")),
    ];
    let others: Vec<String> = others.into_iter().flatten().collect();
    let Basis { model, suite, .. } = &basis;
    let databases = syrch_core::text::count(basis.databases, "database");
    (!others.is_empty()).then(|| {
        format!(
            "the confidence was fitted on answers of `{model}` over {databases} of the suite \
             `{suite}`; this search uses {}",
            others.join(", and ")
        )
    })
}

fn basis(settings: &Settings) -> Option<Basis> {
    let basis = settings.strategy.config.get(&Role::Calibrator)?.get(BASIS)?;
    // The settings of another plugin may have such a key and mean something else by it.
    serde_json::from_value(basis.clone()).ok()
}

/// The model source: a model's name, or what stands in its place.
#[must_use]
pub fn model_name(settings: &ModelSettings) -> String {
    match (&settings.replay, settings.provider.endpoint()) {
        (Some(_), _) => "recorded answers".to_owned(),
        (None, None) => "the offline rules".to_owned(),
        (None, Some(_)) => settings.model.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn settings(database: &str) -> Settings {
        let band = |low, high, answers, right| Band { low, high, answers, right };
        let bands = Bands {
            databases: 12,
            all: vec![band(0.7, 0.8, 9, 6), band(0.8, 0.9, 300, 240), band(0.9, 1.0, 100, 99)],
            by_database: [("shop".to_owned(), vec![band(0.8, 0.9, 47, 41)])].into(),
        };
        let mut basis = Basis::new("1a2b", "bag-v1", "a-model", &bands);
        basis.suite = "ours".to_owned();
        basis.over = vec!["shop".to_owned(), "stock".to_owned()];
        let mut settings = Settings { database: database.to_owned(), ..Settings::default() };
        (settings.model.provider, settings.model.model) =
            (crate::Provider::OPENAI, "a-model".to_owned());
        let config = settings.strategy.config.entry(Role::Calibrator).or_default();
        config.insert(BASIS.to_owned(), serde_json::to_value(basis).unwrap());
        settings
    }

    fn counts(database: &str, confidence: f64) -> Option<(u64, u64, Option<String>)> {
        rests_on(&settings(database), confidence)
            .map(|found| (found.right, found.answers, found.database))
    }

    #[test]
    fn the_databases_own_band_is_quoted_first() {
        assert_eq!(
            counts("sqlite:data/shop.sqlite?mode=ro", 0.85),
            Some((41, 47, Some("shop".to_owned())))
        );
        assert_eq!(counts("shop.db", 0.8), Some((41, 47, Some("shop".to_owned()))));
        assert_eq!(counts("shop.sqlite", 0.95), Some((99, 100, None)));
        assert_eq!(counts("flights.sqlite", 0.85), Some((240, 300, None)));
        assert_eq!(counts("flights.sqlite", 1.0), Some((99, 100, None)));
    }

    #[test]
    fn another_model_and_another_database_are_reported() {
        let elsewhere = |database: &str| rests_on(&settings(database), 0.85).unwrap().elsewhere;
        assert_eq!(
            (elsewhere("shop.db"), elsewhere("stock.db"), elsewhere("flights.db")),
            (false, false, true)
        );
        assert_eq!(departure(&settings("data/stock.sqlite")), None);
        assert_eq!(departure(&Settings::default()), None);
        let fitted = "the confidence was fitted on answers of `a-model` over 12 databases of the \
                      suite `ours`; this search uses";
        let mut other = settings("flights.sqlite");
        assert_eq!(departure(&other), Some(format!("{fitted} another database, `flights`")));
        other.model.model = "b".to_owned();
        assert_eq!(
            departure(&other),
            Some(format!("{fitted} another model, `b`, and another database, `flights`"))
        );
        other.model.replay = Some("recorded.jsonl".into());
        other.database = "shop.sqlite".to_owned();
        assert_eq!(departure(&other), Some(format!("{fitted} another model, `recorded answers`")));
    }

    /// The settings of the shop with a basis that is changed.
    fn change_basis(change: impl FnOnce(&mut Basis)) -> Settings {
        let mut settings = settings("shop.sqlite");
        let mut basis = basis(&settings).unwrap();
        change(&mut basis);
        let config = settings.strategy.config.entry(Role::Calibrator).or_default();
        config.insert(BASIS.to_owned(), serde_json::to_value(basis).unwrap());
        settings
    }

    #[test]
    fn one_database_is_one() {
        let mut one = change_basis(|basis| basis.databases = 1);
        one.database = "bank.sqlite".to_owned();
        assert_eq!(
            departure(&one).unwrap(),
            "the confidence was fitted on answers of `a-model` over 1 database of the suite \
             `ours`; this search uses another database, `bank`"
        );
    }

    #[test]
    fn a_band_of_few_answers_is_quoted_of_all_databases_and_not_of_one() {
        let few = (0..9).map(|at| ("shop", 0.35, at < 3));
        let others = [("stock", 0.35, true), ("stock", 0.55, false)];
        let own = (0..10).map(|at| ("shop", 0.75, at < 7));
        let bands = syrch_grade::calibrate::bands(few.chain(others).chain(own));
        let settings = change_basis(|basis| {
            *basis = Basis { over: basis.over.clone(), ..Basis::new("r", "strict", "m", &bands) }
        });
        let found = |confidence| {
            let RestsOn { low, high, answers, right, database, databases, .. } =
                rests_on(&settings, confidence)?;
            assert!(low <= confidence && confidence < high && databases == 2);
            Some((right, answers, database))
        };
        assert_eq!(found(0.35), Some((4, 10, None)));
        assert_eq!(found(0.55), Some((0, 1, None)));
        assert_eq!(found(0.75), Some((7, 10, Some("shop".to_owned()))));
        assert_eq!((found(0.45), found(0.2)), (None, None));
    }

    #[test]
    fn an_answer_at_the_edge_is_in_the_upper_band() {
        assert_eq!(
            [0.7, 0.799, 0.8, 0.899, 0.9, 1.0].map(|confidence| rests_on(
                &settings("flights.db"),
                confidence
            )
            .map(|found| found.answers)),
            [Some(9), Some(9), Some(300), Some(300), Some(100), Some(100)]
        );
        let without_the_last = change_basis(|basis| basis.all.truncate(2));
        assert_eq!(
            (rests_on(&without_the_last, 0.9), rests_on(&without_the_last, 1.0)),
            (None, None)
        );
    }

    #[test]
    fn a_simulated_model_is_that_of_its_knobs_and_seed() {
        let simulated = crate::settings::SimulatedSettings::new("suite.jsonl");
        let mut same = change_basis(|basis| basis.model = simulated.knobs.label(3));
        (same.model.simulated, same.seed) = (Some(simulated), 3);
        assert_eq!(departure(&same), None);
        same.seed = 4;
        let said = departure(&same).unwrap();
        assert!(
            said.contains("; this search uses another model, `simulated") && said.contains('4'),
            "{said}"
        );
    }

    #[test]
    fn names_are_those_of_models() {
        let mut model = ModelSettings::default();
        assert_eq!(model_name(&model), "the offline rules");
        (model.provider, model.model) = (crate::Provider::OPENAI, "m".to_owned());
        assert_eq!(model_name(&model), "m");
        model.replay = Some("r.jsonl".into());
        assert_eq!(model_name(&model), "recorded answers");
    }

    #[test]
    fn where_nothing_is_known_nothing_is_said() {
        assert_eq!(counts("shop.sqlite", 0.3), None);
        assert_eq!(rests_on(&Settings::default(), 0.85), None);
        let mut other = settings("shop.sqlite");
        other
            .strategy
            .config
            .entry(Role::Calibrator)
            .or_default()
            .insert(BASIS.to_owned(), json!({"rows": 3}));
        assert_eq!(rests_on(&other, 0.85), None);
    }
}
