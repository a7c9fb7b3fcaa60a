//! Whole runs: what is accepted, what is not, and what ends a run.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use syrch::{Error, Stop};
use syrch_core::ports::{Plan, PortError};
use syrch_core::roles::{Attempt, Call, Proposal, Rewriter, Trial};
use syrch_core::{Catalog, Failure, FailureKind, RoleError, SqlErrorKind};
use syrch_optimizing::{IterationState as State, Optimizes, Outcome, Step};

use crate::fake::{FakeDatabase, ORIGINAL, Script, Scripted, builder, optimize};

const FAST: &str = "SELECT fast FROM t";
const WRONG: &str = "SELECT wrong FROM t";

/// FAST takes 100 ms, and WRONG 1 ms with other rows.
pub(crate) fn script() -> Script {
    let mut script = Script::default();
    script.ms.extend([(FAST.to_owned(), 100), (WRONG.to_owned(), 1)]);
    script.rows.insert(WRONG.to_owned(), vec![1, 2]);
    script
}

#[tokio::test(flavor = "multi_thread")]
async fn the_fastest_equal_statement_is_the_result_and_a_wrong_one_never_is() {
    let database = FakeDatabase::new(script());
    let statements = [
        WRONG,
        FAST,
        "SELECT a FROM t LIMIT 1",
        "SELECT a FROM t JOIN secret ON 1",
        "SELECT overflow FROM t",
    ];
    let optimized = optimize(&database, &statements).await.run().await.unwrap();
    let report = &optimized.report;
    let states: Vec<State> = report.iterations.iter().map(|iteration| iteration.state).collect();
    assert_eq!(
        states,
        [
            State::FailedMismatch,
            State::Kept,
            State::FailedSafety,
            State::FailedSafety,
            State::CandidateError
        ]
    );
    assert_eq!(
        (report.outcome, report.best.as_str(), report.original.as_str()),
        (Outcome::Optimized, FAST, ORIGINAL)
    );
    assert!(report.is_confirmed() && report.confirmation.as_ref().unwrap().ratio == 10.0);
    let plans = report.plans.as_ref().unwrap();
    assert_eq!(plans.after.as_ref().unwrap().text, format!("plan of {FAST}"));
    // A database of the program's own has no copies.
    assert_eq!(report.settings.copies, 0);
    assert!(
        !database.list_timed().iter().any(|sql| sql == WRONG),
        "a wrong statement is not even timed"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn copies_that_cannot_be_made_are_refused_when_somebody_insists_on_them() {
    let database = FakeDatabase::new(script());
    let error = optimize(&database, &[FAST]).await.copies(6).run().await.unwrap_err();
    assert!(
        matches!(&error, Error::Config(message) if message.contains("engines that can: sqlite")),
        "{error}"
    );
    let error = optimize(&database, &[FAST]).await.iterations(0).run().await.unwrap_err();
    assert!(matches!(error, Error::Config(_)));
    assert_eq!(database.calls(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_writer_in_between_is_an_error_and_no_verdict() {
    let undisturbed = FakeDatabase::new(script());
    optimize(&undisturbed, &[FAST]).await.run().await.unwrap();
    let mut errors = 0;
    // The last call asks for the version.
    for at in 2..undisturbed.calls() {
        let database = FakeDatabase::new(Script { written_at: Some(at), ..script() });
        let report = optimize(&database, &[FAST]).await.run().await.unwrap().report;
        assert_eq!(report.outcome, Outcome::Error, "at {at}");
        assert!(report.reason.as_ref().unwrap().contains("written to") && report.best == ORIGINAL);
        errors += 1;
    }
    assert!(errors > 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_gone_is_an_error_at_any_time() {
    for gone_at in [0, 1, 5, 12, 20] {
        let database = FakeDatabase::new(Script { gone_at: Some(gone_at), ..script() });
        let report = optimize(&database, &[FAST]).await.run().await.unwrap().report;
        assert_eq!(
            (report.outcome, report.best.as_str()),
            (Outcome::Error, ORIGINAL),
            "at {gone_at}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_ends_a_statement_that_runs_for_ever_with_what_is_verified() {
    // Within the final measurement.
    let database = FakeDatabase::new(Script { hangs_at: Some(29), ..script() });
    let stop = Stop::new();
    let handle = stop.clone();
    let optimize = optimize(&database, &[FAST]).await.stop(stop).progress(move |progress| {
        if progress.pairs == 1 {
            let handle = handle.clone();
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(50));
                handle.trigger();
            });
        }
        assert!(*progress.step != Step::Done || progress.iterations.len() == 1);
    });
    let report = tokio::time::timeout(Duration::from_secs(20), optimize.run())
        .await
        .unwrap()
        .unwrap()
        .report;
    assert!(report.interrupted.is_some(), "{report:?}");
    assert_eq!((report.outcome, report.best.as_str()), (Outcome::Optimized, FAST));
    assert!(!report.is_confirmed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deadline_ends_it_too() {
    let database = FakeDatabase::new(Script { hangs_at: Some(4), ..script() });
    let host = builder(&database)
        .configure(|settings: &mut syrch::Settings| {
            settings.deadline = Some(Duration::from_millis(200))
        })
        .open()
        .await
        .unwrap();
    let optimize = host.optimize(ORIGINAL).rewriter(Arc::new(Scripted(vec![FAST])));
    let report = tokio::time::timeout(Duration::from_secs(20), optimize.run())
        .await
        .unwrap()
        .unwrap()
        .report;
    assert_eq!(
        (report.outcome, report.reason.as_deref()),
        (Outcome::Error, Some("its deadline passed"))
    );
}

/// A rewriter whose requests to a model are too large to be sent.
struct Wordy;

#[async_trait]
impl Rewriter for Wordy {
    async fn rewrite(
        &self,
        _: Call,
        _: &str,
        _: &str,
        _: &Plan,
        _: &Catalog,
        _: &[Attempt],
    ) -> Result<Option<Proposal>, RoleError> {
        let failure =
            Failure::new(FailureKind::Other("prompt-too-large".to_owned()), "the plan is too long");
        Err(RoleError::Failure { plugin: "wordy".to_owned(), failure })
    }
}

/// AR-D10.
#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_that_is_too_large_is_an_outcome_of_its_own() {
    let database = FakeDatabase::new(script());
    let host = builder(&database).open().await.unwrap();
    // The run may go on on any thread.
    let run = tokio::spawn(host.optimize(ORIGINAL).rewriter(Arc::new(Wordy)).run());
    let report = run.await.unwrap().unwrap().report;
    assert_eq!(
        (report.outcome, report.reason.as_deref()),
        (Outcome::UnsupportedPrompt, Some("the plan is too long"))
    );
}

/// Looks for more than the tables of its statement.
struct Curious;

#[async_trait]
impl Rewriter for Curious {
    async fn rewrite(
        &self,
        call: Call,
        original: &str,
        best: &str,
        plan: &Plan,
        catalog: &Catalog,
        history: &[Attempt],
    ) -> Result<Option<Proposal>, RoleError> {
        assert_eq!(
            (original, best, plan.text.as_str()),
            (ORIGINAL, ORIGINAL, "plan of SELECT a FROM t")
        );
        assert_eq!(
            catalog.tables.iter().map(|table| table.name.as_str()).collect::<Vec<_>>(),
            ["t"]
        );
        let inspect = &call.ports.inspect;
        assert!(
            inspect.check("SELECT a FROM t").await.is_ok()
                && inspect.column_stats("t", &[]).await.is_ok()
        );
        for text in ["SELECT a FROM secret", "SELECT a FROM t JOIN secret"] {
            assert_eq!(inspect.check(text).await.unwrap_err().kind, SqlErrorKind::Denied);
            assert_eq!(inspect.explain(text).await.unwrap_err().kind, SqlErrorKind::Denied);
        }
        let stats = inspect.column_stats("secret", &[]).await;
        assert_eq!(stats, Err(PortError::UnknownName("secret".to_owned())));
        match history {
            [] => Ok(Some(crate::fake::proposal(WRONG))),
            [attempt] => {
                assert_eq!((attempt.sql.as_str(), &attempt.trial), (WRONG, &Trial::Mismatch));
                Ok(None)
            }
            more => panic!("{more:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rewriter_sees_the_tables_of_the_statement_and_no_others() {
    let database = FakeDatabase::new(script());
    let host = builder(&database).open().await.unwrap();
    let report = host.optimize(ORIGINAL).rewriter(Arc::new(Curious)).run().await.unwrap().report;
    assert_eq!((report.outcome, report.iterations.len()), (Outcome::VerificationFailed, 1));
}
