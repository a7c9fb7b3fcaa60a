//! The order of the layers, and the only place that puts them together.

use std::sync::Arc;

use syrch_cache::Cache;
use syrch_core::ledger::Ledger;
use syrch_core::ports::{Database, ModelProvider, Ports, RowsGrant};
use syrch_core::{Catalog, Limits};
use syrch_journal::{CallId, EventLog, Recording, RowRetention};

use crate::consent::{Consent, ConsentedModel};
use crate::observe::{CallObserver, add_observer};
use crate::preview::{PreviewedModel, Previews};
use crate::quotes::{Meaning, MeantModel};
use crate::taint::TaintOfCall;
use crate::time::{Time, TimedModel};
use crate::{
    Author, BudgetedDatabase, BudgetedModel, CachedDatabase, CachedModel, DoubtingDatabase, Memo,
    RatedModel, RecordedModel, RetriedModel, Retries, RoutedModel, add_journal,
};

/// The layers that every call of a role passes first, outermost first.
pub const ROLE_LAYERS: [&str; 3] = ["observer", "journal", "taint"];
/// The layers that a model call passes then. At most one of cache and recording is present, since a
/// recording must hold what the model itself answers. The layers of an optimization have `consent`
/// before `route`.
pub const MODEL_LAYERS: [&str; 9] =
    ["quotes", "time", "cache", "retry", "recording", "rate", "budget", "route", "price"];
/// The layers that a model call passes in a dry run, which neither waits nor tries again.
pub const DRY_LAYERS: [&str; 7] =
    ["quotes", "time", "cache", "budget", "preview", "route", "price"];
/// The layers that a statement passes then.
pub const STATEMENT_LAYERS: [&str; 5] = ["grant", "memo", "doubts", "budget", "cache"];

/// The arguments of the layers of a search's model calls.
pub struct ModelParts {
    /// The models, each with its price, and the routes of calls to them.
    pub model: Arc<RoutedModel>,
    /// The deadline of the search.
    pub time: Arc<dyn Time>,
    /// The ledger that the search's calls are written to.
    pub ledger: Arc<Ledger>,
    /// The limits of single calls.
    pub limits: Limits,
    /// The cache of replies, and the temperature of requests that name none.
    pub cache: Option<(Arc<Cache>, f32)>,
    /// The recording of exchanges, and whether it retains prompts.
    pub recording: Option<(Arc<Recording>, RowRetention)>,
    /// The settings for further tries of failed calls.
    pub retries: Retries,
    /// The requests that a dry run records and does not send.
    pub previews: Option<Previews>,
    /// The consent that is asked for before something is sent; `None` where sending was asked for,
    /// as in a search.
    pub consent: Option<Consent>,
    /// The function that says how the statements of replies are meant, and the catalog of all that
    /// is granted.
    pub meaning: (Meaning, Arc<Catalog>),
}

/// Builds the layers of a search's model calls. A reply from the cache takes no slot and costs no
/// money; each try of a call that is sent is charged.
#[must_use]
pub fn model_stack(parts: ModelParts) -> Arc<dyn ModelProvider> {
    let ModelParts {
        model,
        time,
        ledger,
        limits,
        cache,
        recording,
        retries,
        previews,
        consent,
        meaning,
    } = parts;
    let budgeted = |inner| Arc::new(BudgetedModel::new(inner, Arc::clone(&ledger), limits));
    let has_recording = recording.is_some();
    let mut stack: Arc<dyn ModelProvider> = match previews {
        Some(previews) => budgeted(Arc::new(PreviewedModel::new(model, previews))),
        None => {
            let sender: Arc<dyn ModelProvider> = match consent {
                Some(consent) => Arc::new(ConsentedModel::new(Arc::clone(&model) as _, consent)),
                None => Arc::clone(&model) as _,
            };
            let rated = Arc::new(RatedModel::new(budgeted(sender), model));
            let recorded: Arc<dyn ModelProvider> = match recording {
                Some((recording, rows)) => Arc::new(RecordedModel::new(rated, recording, rows)),
                None => rated,
            };
            Arc::new(RetriedModel::new(recorded, retries))
        }
    };
    if let Some((cache, temperature)) = cache.filter(|_| !has_recording) {
        stack = Arc::new(CachedModel::new(stack, cache, ledger).with_temperature(temperature));
    }
    let (meaning, catalog) = meaning;
    Arc::new(MeantModel::new(Arc::new(TimedModel::new(stack, time)), catalog, meaning))
}

/// Builds the layers of a search's statements. A statement that the search has run before is not
/// charged again; one whose result an earlier search left in the cache is charged like any other.
/// What is counted for the doubts about a result is not charged; they hold cell text as far as
/// `grant` shows it, and are those about statements of `author`.
#[must_use]
pub fn statement_stack(
    database: Arc<dyn Database>,
    cache: Option<&Arc<Cache>>,
    ledger: &Arc<Ledger>,
    limits: &Limits,
    grant: RowsGrant,
    author: Author,
) -> Arc<Memo> {
    let cached = cache_database(database, cache, limits);
    let budgeted = Arc::new(BudgetedDatabase::new(Arc::clone(&cached), Arc::clone(ledger), limits));
    Memo::new(Arc::new(DoubtingDatabase::new(budgeted, cached, grant, author)))
}

/// The database behind the cache, if there is one: for calls that no search is charged for.
#[must_use]
pub fn cache_database(
    database: Arc<dyn Database>,
    cache: Option<&Arc<Cache>>,
    limits: &Limits,
) -> Arc<dyn Database> {
    match cache {
        Some(cache) => Arc::new(CachedDatabase::new(database, Arc::clone(cache), limits)),
        None => database,
    }
}

/// Builds the layers around the ports of one role call.
#[must_use]
pub fn role_stack(
    ports: Ports,
    event_log: &Arc<EventLog>,
    call: CallId,
    taint: TaintOfCall,
    observer: &Arc<dyn CallObserver>,
) -> Ports {
    add_observer(add_journal(ports, event_log, call, taint), observer)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use async_trait::async_trait;
    use syrch_core::ledger::Budgets;

    use super::*;
    use crate::fakes::{FakeDatabase, ScriptedModel};
    use crate::{Limiter, PricedModel, Prices, Rates, Route};

    struct Always;

    #[async_trait]
    impl Time for Always {
        fn is_over(&self) -> bool {
            false
        }

        async fn wait_until_over(&self) {
            std::future::pending().await
        }
    }

    fn parts(cache: bool) -> (tempfile::TempDir, ModelParts) {
        let folder = tempfile::tempdir().unwrap();
        let prices = Arc::new(Prices::new(BTreeMap::new()).unwrap());
        let provider = Arc::new(PricedModel::new(Arc::new(ScriptedModel::new(Vec::new())), prices));
        let route = Route {
            name: "m".into(),
            provider,
            model: None,
            limiter: Limiter::new(Rates::default()),
        };
        let model = Arc::new(RoutedModel::new(route, Vec::new(), &BTreeMap::new()).unwrap());
        let opened = Cache::open(folder.path(), syrch_cache::Options::default());
        let catalog = Catalog {
            database: "d".into(),
            dialect: syrch_core::Dialect::Sqlite,
            tables: Vec::new(),
        };
        let parts = ModelParts {
            model,
            time: Arc::new(Always),
            ledger: Ledger::new(Budgets::default()),
            limits: Limits::default(),
            cache: cache.then_some((opened, 0.0)),
            recording: None,
            retries: Retries::default(),
            previews: None,
            consent: None,
            meaning: (|_, _| None, Arc::new(catalog)),
        };
        (folder, parts)
    }

    fn without<'a>(layers: &[&'a str], left_out: &str) -> Vec<&'a str> {
        layers.iter().copied().filter(|layer| *layer != left_out).collect()
    }

    #[test]
    fn model_calls_pass_the_layers_in_their_order() {
        let (_folder, all) = parts(true);
        assert_eq!(model_stack(all).layers(), without(&MODEL_LAYERS, "recording"));
        let (folder, mut recorded) = parts(true);
        let recording = Recording::open(&folder.path().join("r.jsonl"), &[]).unwrap();
        recorded.recording = Some((Arc::new(recording), RowRetention::Full));
        assert_eq!(model_stack(recorded).layers(), without(&MODEL_LAYERS, "cache"));
        let (_folder, mut dry) = parts(true);
        dry.previews = Some(Previews::default());
        assert_eq!(model_stack(dry).layers(), DRY_LAYERS);
    }

    #[test]
    fn statements_pass_theirs() {
        let (_folder, parts) = parts(true);
        let (cache, _) = parts.cache.unwrap();
        let memo = statement_stack(
            Arc::new(FakeDatabase::default()),
            Some(&cache),
            &parts.ledger,
            &Limits::default(),
            RowsGrant::Full,
            Author::Other,
        );
        // Grant and memo are around the database and no databases themselves.
        assert_eq!(memo.database().layers(), STATEMENT_LAYERS[2..]);
    }

    #[test]
    fn the_documents_name_them_in_that_order() {
        fn read(path: &str) -> String {
            std::fs::read_to_string(format!("{}/../{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
        }
        let of_models =
            format!("{} → {} → provider", ROLE_LAYERS.join(" → "), MODEL_LAYERS.join(" → "));
        let of_statements = format!(
            "{} → {} → database",
            ROLE_LAYERS[..2].join(" → "),
            STATEMENT_LAYERS.join(" → ")
        );
        let host = read("README.md");
        assert!(
            host.contains(&of_models) && host.contains(&of_statements),
            "{of_models}; {of_statements}"
        );
        let models = read("../docs/models.md");
        let rows = models.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
        let named: Vec<&str> = rows.skip_while(|name| *name != ROLE_LAYERS[0]).collect();
        let wanted: Vec<&str> =
            ROLE_LAYERS.into_iter().chain(MODEL_LAYERS).chain(["provider"]).collect();
        assert!(named.starts_with(&wanted), "docs/models.md: {named:?}");
    }

    #[tokio::test]
    async fn a_bench_comes_from_the_engine_through_all_layers() {
        let ledger = Ledger::new(Budgets::default());
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path(), syrch_cache::Options::default());
        let engine = Arc::new(FakeDatabase::default());
        let stack = statement_stack(
            engine,
            Some(&cache),
            &ledger,
            &Limits::default(),
            RowsGrant::Full,
            Author::Other,
        );
        let limits = syrch_core::ports::BenchLimits { rows: 7, ..Default::default() };
        let error = stack.database().bench(limits).await.err();
        assert_eq!(
            error,
            Some(syrch_core::ports::PortError::Unavailable("no bench for 7 rows".to_owned()))
        );
    }
}
