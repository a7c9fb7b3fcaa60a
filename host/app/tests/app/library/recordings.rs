//! Recordings: the recorded replies of a model answer again in its place, and no endpoint is
//! called.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use syrch::journal::{Journal, Record, Recording, RowRetention, exchanges};
use syrch::syrch_core::Problem;
use syrch::{Error, Host, SearchReport, Settings, Silent, Stop};
use syrch_kit::{MockEndpoint, Reply, Script};

use super::shop::{PLAN, plan, settings, shop, task_prompt};

const QUESTION: &str = "How much did each customer from France spend?";
/// An address at which no server listens.
const NOWHERE: &str = "http://127.0.0.1:9/v1";

/// Two tasks side by side and one on top, with a repair, an error that passes, and a doubtful first
/// try.
fn script() -> Script {
    let worth = task_prompt("the worth of each order");
    Script::new()
        .on(
            [PLAN],
            plan(&[
                ("A", "the customers", &[]),
                ("B", "the worth of each order", &[]),
                ("C", "both", &["A", "B"]),
            ]),
        )
        .once([&task_prompt("the customers")], Reply::status(503, "overloaded"))
        .on(
            [&task_prompt("the customers")],
            Reply::sql("SELECT id, name FROM customers WHERE country = 'France'", 0.95),
        )
        .once([&worth], Reply::sql("SELECT customer_id, quantity * cost AS worth FROM orders", 0.9))
        .on([&worth], Reply::sql("SELECT customer_id, quantity * price AS worth FROM orders", 0.95))
        .on(
            [&task_prompt("both")],
            Reply::sql(
                "SELECT a.name, SUM(b.worth) AS spent FROM task_A a \
                 JOIN task_B b ON b.customer_id = a.id GROUP BY a.name ORDER BY a.name",
                0.95,
            ),
        )
}

async fn search(settings: Settings, question: &str) -> Result<SearchReport, Error> {
    let host = Host::open(settings, &Silent).await?;
    host.search(Problem::new(question), Arc::new(Silent), None, &Stop::new()).await
}

/// The document without what no two runs share: the run's id, times, and money, which a replay does
/// not cost.
fn document(report: &SearchReport) -> Value {
    let mut document = serde_json::to_value(&report.document).unwrap();
    for key in ["run", "time_ms"] {
        document[key] = Value::Null;
    }
    document["cost"]["usd"] = Value::Null;
    for plugin in document["plugins"].as_array_mut().unwrap() {
        (plugin["cpu_ms"], plugin["memory_peak"]) = (Value::Null, Value::Null);
    }
    document
}

/// Records a search; its document.
async fn record(folder: &Path, tweak: fn(&mut Settings)) -> Value {
    let endpoint = MockEndpoint::start(script());
    let mut settings = settings(&shop(folder), &endpoint.url());
    settings.model.record = Some(folder.join("exchanges.jsonl"));
    settings.journal.folder = Some(folder.join("runs"));
    // A warm cache must not leave holes in the recording.
    settings.cache.folder = Some(folder.join("cache"));
    tweak(&mut settings);
    let report = search(settings, QUESTION).await.unwrap();
    assert!(report.document.answer.is_some(), "{:?}", report.document);
    assert_eq!(report.document.cost.usd, None);
    let sent = Recording::read(&folder.join("exchanges.jsonl")).unwrap().1.len();
    assert_eq!(sent % endpoint.count(), 0, "{sent} of {}", endpoint.count());
    document(&report)
}

fn replaying(folder: &Path, file: &Path) -> Settings {
    let mut settings = settings(&shop(folder), NOWHERE);
    settings.model.replay = Some(file.to_owned());
    settings
}

fn journal(folder: &Path) -> std::path::PathBuf {
    std::fs::read_dir(folder.join("runs")).unwrap().next().unwrap().unwrap().path()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_recorded_answers_again_without_an_endpoint() {
    let folder = syrch_kit::scratch();
    let file = folder.path().join("exchanges.jsonl");
    let live = record(folder.path(), |_| ()).await;
    let once = Recording::read(&file).unwrap().1;
    assert!(once.iter().any(|recorded| recorded.result.is_err()));
    for _ in 0..2 {
        let report = search(replaying(folder.path(), &file), QUESTION).await.unwrap();
        assert_eq!(document(&report), live);
        assert_eq!(report.document.cost.usd, Some(0.0));
    }
    // One host answers the question again, then from the last of equal recordings, which are the
    // good ones.
    let host = Host::open(replaying(folder.path(), &file), &Silent).await.unwrap();
    for _ in 0..3 {
        let report = host
            .search(Problem::new(QUESTION), Arc::new(Silent), None, &Stop::new())
            .await
            .unwrap();
        assert_eq!(document(&report)["answer"], live["answer"]);
    }
    // A second recording goes on in the same file, although the cache holds every reply.
    assert_eq!(record(folder.path(), |_| ()).await, live);
    assert_eq!(Recording::read(&file).unwrap().1.len(), 2 * once.len());
    let report = search(replaying(folder.path(), &file), QUESTION).await.unwrap();
    assert_eq!(document(&report), live);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_journal_is_a_model_too_also_without_its_prompts() {
    for tweak in
        [(|_| ()) as fn(&mut Settings), |settings| settings.journal.rows = RowRetention::None]
    {
        let folder = syrch_kit::scratch();
        let live = record(folder.path(), tweak).await;
        let path = journal(folder.path());
        let report = search(replaying(folder.path(), &path), QUESTION).await.unwrap();
        assert_eq!(document(&report)["answer"], live["answer"]);
        assert_eq!(document(&report)["candidates"], live["candidates"]);
        let journal = Journal::read(&path).unwrap();
        let said =
            journal.records.iter().filter(|record| matches!(record, Record::Event { .. })).count();
        assert!(said > exchanges(&journal).len() && exchanges(&journal).len() >= 5);
        if journal.header.rows == RowRetention::None {
            let recording = std::fs::read_to_string(folder.path().join("exchanges.jsonl")).unwrap();
            assert!(recording.contains("sha256:") && !recording.contains("customers from France"));
            let report =
                search(replaying(folder.path(), &folder.path().join("exchanges.jsonl")), QUESTION)
                    .await;
            assert_eq!(document(&report.unwrap()), live);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_miss_ends_the_search_and_names_the_nearest_recording() {
    let folder = syrch_kit::scratch();
    let file = folder.path().join("exchanges.jsonl");
    record(folder.path(), |_| ()).await;
    let error =
        search(replaying(folder.path(), &file), "How much did each customer from Spain spend?")
            .await
            .unwrap_err();
    let Error::Replay(message) = &error else { panic!("{error}") };
    for part in [
        "`plan` call",
        "the nearest is call 1 of",
        "% alike",
        "from France spend?`, and here `",
        "from Spain spend?`",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    // The second try of a task is gone. A strategy may make do with the first: the replay does not.
    let text = std::fs::read_to_string(&file).unwrap();
    let others: Vec<&str> = text.lines().filter(|line| !line.contains("\"repair\"")).collect();
    assert!(others.len() < text.lines().count());
    std::fs::write(&file, others.join("\n") + "\n").unwrap();
    let mut settings = replaying(folder.path(), &file);
    settings.journal.folder = Some(folder.path().join("missed"));
    let error = search(settings, QUESTION).await.unwrap_err();
    assert!(
        matches!(&error, Error::Replay(message) if message.contains("`repair` call")),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn budgets_bind_a_replay_as_they_bound_the_run() {
    let folder = syrch_kit::scratch();
    let live = record(folder.path(), |_| ()).await;
    let mut settings = replaying(folder.path(), &folder.path().join("exchanges.jsonl"));
    settings.budgets.tokens = live["cost"]["input_tokens"].as_u64().unwrap() / 2;
    settings.budgets.cost_micros = Some(0);
    let error = search(settings, QUESTION).await.unwrap_err();
    assert!(matches!(error, Error::Budget(_)), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_are_something_else_are_refused() {
    let folder = syrch_kit::scratch();
    let notes = folder.path().join("notes.txt");
    std::fs::write(&notes, "{\"format\": \"somebody.elses\"}\nmine\n").unwrap();
    let error = search(replaying(folder.path(), &notes), QUESTION).await.unwrap_err();
    assert!(matches!(&error, Error::Unfit(text) if text.contains("(`somebody.elses`)")), "{error}");
    let error =
        search(replaying(folder.path(), &folder.path().join("none")), QUESTION).await.unwrap_err();
    assert!(matches!(&error, Error::Unfit(text) if text.contains("none")), "{error}");
    let mut settings = settings(&shop(folder.path()), NOWHERE);
    settings.model.record = Some(notes.clone());
    let error = search(settings.clone(), QUESTION).await.unwrap_err();
    assert!(matches!(&error, Error::Unfit(text) if text.contains("is not a recording")), "{error}");
    assert_eq!(
        std::fs::read_to_string(&notes).unwrap(),
        "{\"format\": \"somebody.elses\"}\nmine\n"
    );
    settings.model.record = Some(folder.path().join("new"));
    drop(Host::open(settings.clone(), &Silent).await.unwrap());
    settings.model.replay.clone_from(&settings.model.record);
    let error = search(settings, QUESTION).await.unwrap_err();
    assert!(matches!(error, Error::Config(_)), "{error}");
}
