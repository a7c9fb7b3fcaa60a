//! Searches with a journal: a finished one is returned as it is, one that was cut off is resumed,
//! and one that cannot be resumed starts again with a warning.

use serde_json::json;
use syrch::plugins::CompileSettings;
use syrch::{Provider, Settings, Shared};
use syrch_kit::{MockEndpoint, Reply, Script};
use tempfile::TempDir;

use super::*;

/// A shop with an endpoint that answers rightly, unless it is unwell.
struct World {
    folder: TempDir,
    endpoint: MockEndpoint,
}

impl World {
    fn new(is_well: bool) -> Self {
        let folder = syrch_kit::scratch();
        let shop = "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT); \
                    INSERT INTO customers(name) VALUES ('Ada'), ('Ben');";
        syrch_kit::sqlite(folder.path().join("shop.sqlite"), shop);
        let task =
            json!({"id": "A", "description": "all of it", "depends_on": [], "is_atomic": true});
        let well = Script::new()
            .on(["You plan how to answer"], Reply::json(&json!({"subtasks": [task]})))
            .on(
                ["You answer questions with one"],
                Reply::sql("SELECT COUNT(*) AS n FROM customers", 0.95),
            );
        let endpoint = MockEndpoint::start(if is_well {
            well
        } else {
            Script::always(Reply::status(500, "unwell"))
        });
        Self { folder, endpoint }
    }

    fn searches(&self, change: impl FnOnce(&mut Settings)) -> Searches {
        let mut settings = Settings::default();
        (settings.model.provider, settings.model.model) = (Provider::OPENAI, "mock".to_owned());
        (settings.model.base_url, settings.model.attempts) = (self.endpoint.url(), 1);
        settings.compile = CompileSettings::in_folder(&self.folder.path().join("compiled"));
        change(&mut settings);
        let shop = (
            "shop".to_owned(),
            syrch_core::DatabaseUrl::from_path(&self.folder.path().join("shop.sqlite")),
        );
        let arena = Arena::new(vec![settings], [shop].into(), Shared::new(), Arc::new(Silent));
        Searches {
            arena: Arc::new(arena),
            arms: vec!["a".to_owned()],
            restarted: Mutex::default(),
            talks: Talks::default(),
        }
    }

    fn journal(&self) -> PathBuf {
        self.folder.path().join("journal.jsonl")
    }

    async fn ask(&self, searches: &Searches) -> Asked {
        let question = Question {
            id: "q".to_owned(),
            db: "shop".to_owned(),
            engine: None,
            question: "How many customers are there?".to_owned(),
            evidence: None,
            golds: Vec::new(),
            ordered: false,
            as_of: None,
            conversation: None,
            fields: Default::default(),
        };
        searches.ask(0, &question, Some(&self.journal())).await.unwrap()
    }
}

/// All of an answer but its rows, which a journal need not hold, its time and its cost.
fn comparable_fields(
    asked: &Asked,
) -> (End, Option<Fault>, Option<String>, Option<f64>, Option<f64>) {
    let Asked { end, fault, sql, confidence, candidate_confidence, .. } = asked.clone();
    (end, fault, sql, confidence, candidate_confidence)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_that_ended_is_not_made_again() {
    let world = World::new(true);
    let first = world.ask(&world.searches(|_| ())).await;
    assert_eq!(
        (first.end, first.sql.as_deref()),
        (End::Answered, Some("SELECT COUNT(*) AS n FROM customers"))
    );
    let asked = world.endpoint.count();
    assert_eq!(first.cost.calls as usize, asked);
    // With other settings, too: its answer is there.
    let searches = world.searches(|settings| settings.policy.max_attempts = 1);
    let again = world.ask(&searches).await;
    assert_eq!(
        (comparable_fields(&again), again.cost, world.endpoint.count()),
        (comparable_fields(&first), first.cost, asked)
    );
    assert_eq!(searches.warnings(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_is_an_end_and_an_interruption_is_none() {
    let world = World::new(false);
    let first = world.ask(&world.searches(|_| ())).await;
    let asked = world.endpoint.count();
    assert_eq!((first.end, first.fault.clone().unwrap().class.as_str()), (End::Failed, "model"));
    let again = world.ask(&world.searches(|_| ())).await;
    assert_eq!(
        (comparable_fields(&again), again.cost, world.endpoint.count()),
        (comparable_fields(&first), first.cost, asked)
    );
    let text = std::fs::read_to_string(world.journal()).unwrap();
    for class in ["interrupted", ""] {
        let other = text.replace("\"class\":\"model\"", &format!("\"class\":\"{class}\""));
        assert_ne!(other, text);
        std::fs::write(world.journal(), other).unwrap();
        assert!(find_result(&Journal::read(&world.journal()).unwrap()).is_none(), "{class}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_that_was_cut_off_goes_on_from_its_journal() {
    let world = World::new(true);
    let first = world.ask(&world.searches(|_| ())).await;
    let asked = world.endpoint.count();
    let whole = std::fs::read_to_string(world.journal()).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let mut before = usize::MAX;
    for length in [lines.len() / 3, lines.len() * 2 / 3, lines.len() - 1] {
        std::fs::write(world.journal(), lines[..length].concat()).unwrap();
        assert!(
            find_result(&Journal::read(&world.journal()).unwrap()).is_none(),
            "{length} of {}",
            lines.len()
        );
        let searches = world.searches(|_| ());
        let count = world.endpoint.count();
        let again = world.ask(&searches).await;
        assert_eq!(
            (comparable_fields(&again), searches.warnings()),
            (comparable_fields(&first), Vec::new()),
            "{length} of {}",
            lines.len()
        );
        // What was under way is started again, and what it cost counts.
        let cost = again.cost;
        let once = first.cost;
        assert!(cost.calls >= once.calls && cost.sql_runs >= once.sql_runs, "{cost:?} {once:?}");
        // The more the journal holds, the less is asked.
        let anew = world.endpoint.count() - count;
        assert!(anew <= asked && anew <= before, "{anew} after {before} of {asked}");
        before = anew;
    }
    assert_eq!(before, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_cannot_go_on_begins_anew_is_reported_and_keeps_what_it_cost() {
    let world = World::new(true);
    let first = world.ask(&world.searches(|_| ())).await;
    let whole = std::fs::read_to_string(world.journal()).unwrap();
    let cut = whole.trim_end().rsplit_once('\n').unwrap().0.to_owned() + "\n";
    std::fs::write(world.journal(), &cut).unwrap();
    let searches = world.searches(|settings| settings.policy.max_attempts = 1);
    let again = world.ask(&searches).await;
    assert_eq!((again.end, again.sql), (first.end, first.sql.clone()));
    assert_eq!(again.cost.calls, 2 * first.cost.calls);
    let warnings = searches.warnings();
    let reported =
        "searches that could not be resumed and were started again, 1 in all: q: the run `";
    assert!(
        warnings.len() == 1
            && warnings[0].starts_with(reported)
            && warnings[0].contains("max_attempts"),
        "{warnings:?}"
    );

    std::fs::write(world.journal(), "nonsense\n").unwrap();
    let searches = world.searches(|_| ());
    let anew = world.ask(&searches).await;
    assert_eq!((anew.cost.calls, searches.warnings().len()), (first.cost.calls, 1));
}

#[test]
fn money_is_known_when_both_parts_are_or_one_is_of_nothing() {
    let cost = |calls: u32, usd: Option<f64>| Cost {
        calls,
        usd,
        input_tokens: u64::from(calls),
        ..Cost::default()
    };
    assert_eq!(sum(cost(1, Some(0.5)), cost(2, Some(0.25))).usd, Some(0.75));
    assert_eq!(
        (sum(cost(1, Some(0.5)), cost(2, None)).usd, sum(cost(1, None), cost(2, Some(0.5))).usd),
        (None, None)
    );
    let without_calls = Cost { sql_runs: 1, ..Cost::default() };
    assert_eq!(
        (sum(cost(1, Some(0.5)), without_calls).usd, sum(without_calls, cost(1, Some(0.5))).usd),
        (Some(0.5), Some(0.5))
    );
    assert_eq!(sum(cost(1, None), Cost::default()), cost(1, None));
    let both = sum(cost(1, None), cost(2, None));
    assert_eq!((both.calls, both.input_tokens), (3, 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_cache_answered_counts_after_a_kill_as_before_it() {
    let world = World::new(true);
    let price = syrch::settings::PriceSettings { input: 1.0, output: 2.0, cached_input: None };
    let cached = |settings: &mut Settings| {
        settings.cache.folder = Some(world.folder.path().join("cache"));
        settings.model.prices.insert("*".to_owned(), price);
    };
    let sent = world.ask(&world.searches(cached)).await.cost;
    std::fs::remove_file(world.journal()).unwrap();
    let whole = world.ask(&world.searches(cached)).await.cost;
    assert!(whole.calls == 0 && whole.cached == sent.calls && whole.usd > Some(0.0), "{whole:?}");
    assert_eq!(
        (whole.input_tokens, whole.output_tokens, whole.usd),
        (sent.input_tokens, sent.output_tokens, sent.usd)
    );
    let journal = Journal::read(&world.journal()).unwrap();
    assert_eq!(cost_in(&journal), whole);
}
