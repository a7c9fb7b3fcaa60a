//! A resumed run asks no question that is answered, and asks a question again whose search failed
//! only if it is requested.

use std::sync::atomic::{AtomicBool, Ordering};

use syrch::Provider;
use syrch_grade::run::{End, Graded, Progress};
use syrch_kit::{MockEndpoint, Recorded, Reply, Script};

use super::*;

struct Quiet;

impl Observer for Quiet {
    fn progress(&self, _: &Progress, _: &Graded) {}
}

impl Beginning for Quiet {
    fn on_start(&self, _: &str, _: &Path) {}
}

/// Answers rightly, but to the second question only when it is well.
fn answer(request: &Recorded, is_well: bool) -> Option<Reply> {
    let prompt = request.prompt();
    if prompt.contains("(q1)") && !is_well {
        return Some(Reply::status(500, "unwell"));
    }
    if prompt.contains("You plan how to answer") {
        let task =
            json!({"id": "A", "description": "all of it", "depends_on": [], "is_atomic": true});
        return Some(Reply::json(&json!({"subtasks": [task]})));
    }
    let function = ["COUNT(*)", "MAX(id)", "MIN(id)"];
    let at = (0..3).find(|at| prompt.contains(&format!("(q{at})")))?;
    Some(Reply::sql(&format!("SELECT {} AS n FROM customers", function[at]), 0.95))
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_done_is_not_asked_again_and_what_failed_only_on_demand() {
    let home = Home::new();
    let is_well = Arc::new(AtomicBool::new(false));
    let well = Arc::clone(&is_well);
    let endpoint = MockEndpoint::start(
        Script::new().with(move |request, _| answer(request, well.load(Ordering::Relaxed))),
    );
    let mut settings = home.settings();
    (settings.model.provider, settings.model.model) = (Provider::OPENAI, "mock".to_owned());
    (settings.model.base_url, settings.model.attempts) = (endpoint.url(), 1);
    settings.journal.folder = Some(home.path("journals"));
    let run = async |resume: Option<&str>, retry_failed: bool| {
        let options =
            SuiteOptions { resume: resume.map(str::to_owned), retry_failed, ..home.options() };
        let run = home.open(vec![settings.clone()], options).await.unwrap();
        run.carry_out(&Quiet, &Stop::new()).await.unwrap()
    };
    let ends = |outcome: &SuiteOutcome| {
        outcome.record.graded.iter().map(|graded| graded.end).collect::<Vec<_>>()
    };
    let first = run(None, false).await;
    assert_eq!(ends(&first), [End::Answered, End::Failed, End::Answered]);
    let asked = endpoint.count();
    assert!(asked >= 5, "{asked}");

    is_well.store(true, Ordering::Relaxed);
    let again = run(Some("last"), false).await;
    assert_eq!((endpoint.count(), again.finished.progress.resumed), (asked, 3));
    assert_eq!(again.record.graded, first.record.graded);

    let mended = run(Some("last"), true).await;
    assert_eq!(ends(&mended), [End::Answered; 3]);
    let rights = mended
        .record
        .graded
        .iter()
        .filter(|graded| graded.verdict("bag-v1").unwrap().is_right())
        .count();
    let retried: Vec<bool> = mended.record.graded.iter().map(|graded| graded.retried).collect();
    assert_eq!((rights, retried), (3, vec![false, true, false]));
    let anew = &endpoint.requests()[asked..];
    assert!(!anew.is_empty() && anew.iter().all(|request| request.prompt().contains("(q1)")));

    let asked = endpoint.count();
    run(Some("last"), true).await;
    assert_eq!(endpoint.count(), asked);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_does_not_go_on_with_anything_else() {
    let home = Home::new();
    let answers = vec![home.file("answers.jsonl", "{\"id\": \"q0\", \"sql\": \"SELECT 2\"}\n")];
    let options = SuiteOptions { answers, ..home.options() };
    let first = home.open(vec![home.settings()], options.clone()).await.unwrap();
    let outcome = first.carry_out(&Quiet, &Stop::new()).await.unwrap();
    let id = outcome.record.header.id.clone();
    let resume = Some(outcome.folder.display().to_string());
    let before = std::fs::read(outcome.folder.join("results.jsonl")).unwrap();
    home.suite(&["SELECT 3", "SELECT MAX(id) FROM customers", "SELECT MIN(id) FROM customers"]);
    let changed =
        home.open(vec![home.settings()], SuiteOptions { resume, ..options }).await.unwrap();
    let said = changed.carry_out(&Quiet, &Stop::new()).await.unwrap_err();
    let reported = format!(
        "the run `{id}` cannot be resumed: changed since: the suite's questions or expected answers"
    );
    assert!(said.class() == "configuration" && said.to_string().starts_with(&reported), "{said}");
    assert_eq!(std::fs::read(outcome.folder.join("results.jsonl")).unwrap(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_decided_early_is_timed() {
    let home = Home::new();
    home.suite(&["SELECT COUNT(*) FROM customers"; 12]);
    let endpoint = MockEndpoint::start(Script::new().with(|request: &Recorded, _| {
        if request.prompt().contains("You plan how to answer") {
            let task =
                json!({"id": "A", "description": "all of it", "depends_on": [], "is_atomic": true});
            return Some(Reply::json(&json!({"subtasks": [task]})));
        }
        let is_good = request.body["model"] == "good";
        Some(Reply::sql(
            if is_good { "SELECT COUNT(*) AS n FROM customers" } else { "SELECT 7 AS n" },
            0.95,
        ))
    }));
    let arm = |model: &str| {
        let mut settings = home.settings();
        (settings.model.provider, settings.model.model) = (Provider::OPENAI, model.to_owned());
        settings.model.base_url = endpoint.url();
        settings
    };
    let options = SuiteOptions { stop_early: true, timed: 1, ..home.options() };
    let run = home.open(vec![arm("good"), arm("bad")], options).await.unwrap();
    let outcome = run.carry_out(&Quiet, &Stop::new()).await.unwrap();
    assert!(matches!(outcome.finished.stopped, Some(Stopped::Early(_))), "{:?}", outcome.finished);
    let ratios = outcome.timings.unwrap().ratios;
    assert!(
        ratios["arm0"].values().all(Option::is_some) && ratios["arm0"].len() < 12,
        "{ratios:?}"
    );
}
