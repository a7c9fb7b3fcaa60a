//! Components as rewriters: what becomes of one that misbehaves, and the journal of a run with one.

use std::path::Path;
use std::sync::Arc;

use syrch::journal::Journal;
use syrch::plugins::CompileSettings;
use syrch::{Host, Settings, Shared, Silent};
use syrch_core::roles::Role;
use syrch_optimizing::{IterationState as State, Optimized, Optimizes, Outcome};

use crate::fake::{FakeDatabase, ORIGINAL, Script, builder};

fn compile() -> CompileSettings {
    CompileSettings::in_folder(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("optimize-cache"))
}

async fn run(
    behaviour: &str,
    shared: &Arc<Shared>,
    journal: Option<&Path>,
) -> (Arc<FakeDatabase>, Optimized) {
    let database = FakeDatabase::new(Script::default());
    let hostile = syrch_kit::zoo::hostile();
    let host = builder(&database)
        .plugin(Role::Rewriter, hostile.to_str().unwrap())
        .option(Role::Rewriter, "behaviour", behaviour)
        .configure(|settings| settings.compile = compile())
        .share_with(shared)
        .open()
        .await
        .unwrap();
    let optimized = host
        .optimize(ORIGINAL)
        .run_as("0123456789abcdef", journal.map(Path::to_owned))
        .await
        .unwrap();
    (database, optimized)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rewriter_that_misbehaves_costs_its_iterations_and_nothing_else() {
    let shared = Shared::new();
    for behaviour in [
        "rewrite-trap",
        "rewrite-failure",
        "rewrite-reach",
        "rewrite-large",
        "rewrite-huge",
        "rewrite-family",
        "rewrite-long-reason",
    ] {
        let (database, optimized) = run(behaviour, &shared, None).await;
        let report = optimized.report;
        assert_eq!(
            (report.outcome, report.iterations.len()),
            (Outcome::NoValidCandidate, 5),
            "{behaviour}"
        );
        assert!(
            report.iterations.iter().all(|iteration| iteration.state == State::CandidateError),
            "{behaviour}"
        );
        assert!(
            database.list_timed().iter().all(|sql| sql == ORIGINAL) && report.best == ORIGINAL,
            "{behaviour}"
        );
        let detail = report.iterations[0].detail.as_ref().unwrap();
        assert!(!detail.contains("REACHED: s") && !detail.contains("REACHED: c"), "{detail}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_host_ends_a_rewriter_that_proposes_for_ever() {
    let shared = Shared::new();
    for (behaviour, iterations) in [("rewrite-endless", 5), ("rewrite-same", 5), ("none", 0)] {
        let (_, optimized) = run(behaviour, &shared, None).await;
        let report = optimized.report;
        assert_eq!(
            (report.outcome, report.iterations.len()),
            (Outcome::Unchanged, iterations),
            "{behaviour}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_journal_with_a_component_replays_from_the_journal_and_the_component_alone() {
    let folder = syrch_kit::scratch();
    let path = folder.path().join("run.jsonl");
    let (_, optimized) = run("rewrite-endless", &Shared::new(), Some(&path)).await;
    let journal = Journal::read(&path).unwrap();
    assert!(journal.header.plugins.iter().any(|plugin| plugin.role == Role::Rewriter));
    let today = Settings { compile: compile(), ..Settings::default() };
    let refused = Host::of_journal(&journal.header, &today, &Silent).await.map(drop);
    assert!(matches!(refused, Err(syrch::Error::NotAdded { .. })), "{refused:?}");
    let today = Settings { trust: vec![syrch_kit::zoo::hostile()], ..today };
    let host = Host::of_journal(&journal.header, &today, &Silent).await.unwrap();
    assert_eq!(host.optimize("").replay(journal).await.unwrap().report, optimized.report);
}
