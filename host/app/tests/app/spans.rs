//! Spans of whole searches: the parts are in their wholes, the edges of the graph are links, and
//! nothing is in them that must not be.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::json;
use syrch::plugins::CompileSettings;
use syrch::syrch_core::Problem;
use syrch::telemetry::{Span, SpanKind, SpanSink, Value};
use syrch::{Host, Outcome, Provider, Settings, Silent, Stop};
use syrch_kit::{MockEndpoint, Reply, Script};

/// Stands in the question, in a cell, in replies and in statements.
const CANARY: &str = "canary-7731";

#[derive(Debug, Default)]
struct CollectedSpans(Mutex<Vec<Span>>);

impl SpanSink for CollectedSpans {
    fn take(&self, span: Span) {
        self.0.lock().unwrap().push(span);
    }
}

fn shop(folder: &Path) -> PathBuf {
    syrch_kit::sqlite(
        folder.join("shop.sqlite"),
        &format!(
            "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, country TEXT);
             INSERT INTO customers(name, country) VALUES ('{CANARY}', 'Spain'), ('Ben', 'Spain'), \
               ('Cleo', 'Italy');"
        ),
    )
}

fn script() -> Script {
    let task = |id: &str, text: &str, needs: &[&str]| {
        json!({
            "id": id, "description": text, "depends_on": needs, "is_atomic": true
        })
    };
    let tasks = [task("A", "the people of Spain", &[]), task("B", "how many they are", &["A"])];
    let of = |text: &str| format!("Your task is this part of it: {text}\n");
    let people = of("the people of Spain");
    let number = of("how many they are");
    let sql = format!(
        "SELECT id, name FROM customers WHERE country = 'Spain' AND name <> 'not {CANARY}'"
    );
    Script::new()
        .on(["You plan how to answer"], Reply::json(&json!({ "subtasks": tasks })))
        .once([people.as_str()], Reply::sql("SELECT nme FROM customers", 0.9))
        .on([people.as_str()], Reply::sql(&sql, 0.95))
        .on([number.as_str()], Reply::sql("SELECT COUNT(*) AS n FROM task_A", 0.95))
}

/// The spans of one search.
async fn collect_spans(settings: &Settings) -> Vec<Span> {
    let kept = Arc::<CollectedSpans>::default();
    let host =
        Host::open(Settings { spans: Some(Arc::clone(&kept) as _), ..settings.clone() }, &Silent)
            .await
            .unwrap();
    let problem = Problem::new(format!("How many people of Spain are not {CANARY}?"));
    let report = host.search(problem, Arc::new(Silent), None, &Stop::new()).await.unwrap();
    assert_eq!(report.outcome, Outcome::Answered);
    let mut spans = kept.0.lock().unwrap();
    std::mem::take(&mut *spans)
}

fn check_trace(spans: &[Span]) {
    let by_id: BTreeMap<_, _> = spans.iter().map(|span| (span.id, span)).collect();
    assert_eq!(by_id.len(), spans.len(), "names are unique");
    assert!(spans.iter().all(|span| span.trace == spans[0].trace));
    let root = spans.last().unwrap();
    assert_eq!((root.name.as_str(), root.parent), ("search", None));
    for span in spans.iter().filter(|span| span.id != root.id) {
        let parent = by_id[&span.parent.unwrap()];
        assert!(
            parent.start <= span.start && span.end <= parent.end,
            "{} in {}",
            span.name,
            parent.name
        );
        assert!(span.links.iter().all(|link| by_id.contains_key(&link.span)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_is_one_trace_without_secrets() {
    let folder = syrch_kit::scratch();
    let endpoint = MockEndpoint::start(script());
    let mut settings =
        Settings { database: shop(folder.path()).display().to_string(), ..Settings::default() };
    settings.compile =
        CompileSettings::in_folder(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("replay-cache"));
    settings.cache.folder = Some(folder.path().join("answers"));
    settings.model.provider = Provider::OPENAI;
    settings.model.base_url = endpoint.url();
    settings.model.model = "mock".to_owned();

    let spans = collect_spans(&settings).await;
    check_trace(&spans);
    let models: Vec<&Span> = spans.iter().filter(|span| span.name == "chat mock").collect();
    assert_eq!(models.len(), endpoint.count());
    assert!(models.iter().all(|span| span.kind == SpanKind::Client));
    assert!(models.iter().all(|span| span.attribute("syrch.cached") == Some(&Value::Flag(false))));
    let solver = |task: &str| {
        spans
            .iter()
            .find(|span: &&Span| {
                span.name == "solver" && span.attribute("syrch.task") == Some(&task.into())
            })
            .unwrap()
    };
    assert!(solver("A").links.is_empty());
    assert_eq!(
        solver("B").links.iter().map(|link| link.span).collect::<Vec<_>>(),
        [solver("A").id]
    );
    let statements = spans.iter().filter(|span| span.name == "SELECT shop" && span.error.is_none());
    assert!(statements.clone().count() >= 2);
    assert!(
        statements.clone().all(|span| span.attribute("db.system.name") == Some(&"sqlite".into()))
    );
    assert!(
        statements
            .clone()
            .any(|span| span.attribute("db.response.returned_rows") == Some(&Value::Whole(2)))
    );
    assert!(!format!("{spans:?}").contains(CANARY), "{spans:#?}");

    // The same search again is another trace, and what a cache answers says so.
    let again = collect_spans(&settings).await;
    check_trace(&again);
    assert_ne!(again[0].trace, spans[0].trace);
    assert_eq!(endpoint.count(), models.len());
    let cached =
        again.iter().filter(|span| span.attribute("syrch.cached") == Some(&Value::Flag(true)));
    assert_eq!(cached.count(), models.len());
}
