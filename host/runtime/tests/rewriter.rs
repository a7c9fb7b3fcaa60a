//! Rewriters: what a component with this role may import, and what becomes of one that misbehaves.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../../../tests/bench/src/ports.rs"]
mod ports;

use syrch_core::ledger::{Budgets, Ledger};
use syrch_core::ports::Plan;
use syrch_core::roles::{Attempt, Call, Proposal, Rewriter, Role, Trial};
use syrch_core::{Catalog, Dialect, FailureKind, Limits, RoleError};
use syrch_kit::zoo;
use syrch_runtime::{CompileSettings, Configured, LoadError, Origin, Runtime};

const ORIGINAL: &str = "SELECT count(*) AS n FROM customers";

fn runtime() -> Runtime {
    Runtime::new(Limits::default(), &CompileSettings::default()).unwrap()
}

/// The hostile plugin with each behaviour, as a rewriter. The runtime has to outlive them: its
/// ticker ends calls that take too long.
async fn hostile(runtime: &Runtime, behaviours: &[&str]) -> Vec<Configured> {
    let bytes = std::fs::read(zoo::hostile()).unwrap();
    let plugin = runtime.load("hostile", bytes, Origin::ThirdParty, &|| {}).await.unwrap();
    let mut configured = Vec::new();
    for behaviour in behaviours {
        let settings = serde_json::Map::from_iter([("behaviour".to_owned(), (*behaviour).into())]);
        configured.push(plugin.configure(Role::Rewriter, &settings).await.unwrap());
    }
    configured
}

async fn call(rewriter: &Configured, history: &[Attempt]) -> Result<Option<Proposal>, RoleError> {
    let ledger = Ledger::new(Budgets { host_calls: 1_000, ..Budgets::default() });
    let call = Call {
        label: "rewriter".to_owned(),
        ports: ports::nothing(),
        ledger,
        memory: None,
        cpu: None,
    };
    let plan = Plan {
        format: "text".to_owned(),
        text: "SCAN customers".to_owned(),
        cost: None,
        rows: Some(2.0),
    };
    let catalog =
        Catalog { database: "shop".to_owned(), dialect: Dialect::Sqlite, tables: Vec::new() };
    rewriter.rewrite(call, ORIGINAL, ORIGINAL, &plan, &catalog, history).await
}

#[tokio::test]
async fn a_rewriter_that_imports_what_reads_rows_is_refused_when_it_is_loaded() {
    let runtime = runtime();
    let exports = r#"(instance $i) (export "syrch:plugin/rewriter@0.1.0" (instance $i)) (export "syrch:plugin/about@0.1.0" (instance $i))"#;
    let load = async |port: &str| {
        let import = format!(r#"(import "syrch:plugin/{port}@0.1.0" (instance))"#);
        let bytes = wat::parse_str(format!("(component {import} {exports})")).unwrap();
        runtime.load("test", bytes, Origin::ThirdParty, &|| {}).await.map(drop).unwrap_err()
    };
    for port in ["sql", "rows", "cells", "evaluate", "retrieval"] {
        let error = load(port).await;
        let LoadError::Import { import, detail } = &error else { panic!("{port}: {error}") };
        assert_eq!(*import, format!("syrch:plugin/{port}@0.1.0"));
        assert_eq!(detail, "the role rewriter may import run, wait, llm, inspect, trace");
    }
    // What it may import is no reason to refuse it: this component fails later, since it lacks the
    // functions of its roles.
    for port in ["run", "wait", "llm", "inspect", "trace"] {
        let error = load(port).await;
        assert!(!matches!(error, LoadError::Import { .. }), "{port}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn values_out_of_their_bounds_end_the_call_with_the_name_of_the_field() {
    let behaviours = ["rewrite-large", "rewrite-family", "rewrite-long-reason"];
    let runtime = runtime();
    let rewriters = hostile(&runtime, &behaviours).await;
    for ((behaviour, field), rewriter) in
        behaviours.iter().zip(["sql", "family", "reason"]).zip(&rewriters)
    {
        let error = call(rewriter, &[]).await.unwrap_err();
        let RoleError::Invalid { export, detail, .. } = &error else {
            panic!("{behaviour}: {error}")
        };
        assert!(
            export == "rewriter.rewrite" && detail.contains(&format!("`proposal.{field}`")),
            "{behaviour}: {error}"
        );
        assert!(!error.to_string().contains(['\u{1b}', '\u{202e}']), "{behaviour}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rewriter_that_takes_too_much_is_stopped() {
    let ends = [
        ("rewrite-spin", "cpu-per-call"),
        ("rewrite-trap", "trapped"),
        ("rewrite-huge", "rewriter.rewrite"),
        ("rewrite-flood", "host-calls"),
    ];
    let runtime = runtime();
    let rewriters = hostile(&runtime, &ends.map(|(behaviour, _)| behaviour)).await;
    for ((behaviour, words), rewriter) in ends.into_iter().zip(&rewriters) {
        let error = call(rewriter, &[]).await.unwrap_err();
        assert!(error.is_fault() && error.to_string().contains(words), "{behaviour}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_ports_of_its_other_roles_are_denied_to_a_rewriter() {
    let runtime = runtime();
    let error = call(&hostile(&runtime, &["rewrite-reach"]).await[0], &[]).await.unwrap_err();
    let RoleError::Failure { failure, .. } = error else { panic!("{error}") };
    assert_eq!(
        (failure.kind, failure.message.as_str()),
        (FailureKind::Internal, "REACHED: nothing")
    );
}

/// The runtime passes statements on as they are: to check them is for the optimizer.
#[tokio::test(flavor = "multi_thread")]
async fn proposals_within_their_bounds_are_returned_as_they_are() {
    let runtime = runtime();
    let rewriters = hostile(&runtime, &["rewrite-two", "rewrite-endless", "none"]).await;
    fn proposal(sql: &str) -> Proposal {
        Proposal { sql: sql.to_owned(), family: "hostile".into(), reason: "trust me".into() }
    }
    let two = format!("{ORIGINAL}; DELETE FROM t");
    assert_eq!(call(&rewriters[0], &[]).await.unwrap(), Some(proposal(&two)));
    // Every outcome reaches the guest.
    fn text() -> String {
        "text".to_owned()
    }
    let trials = [
        Trial::Accepted(2.0),
        Trial::Slower(0.5),
        Trial::Mismatch,
        Trial::Reordered,
        Trial::OtherColumns,
        Trial::Refused(text()),
        Trial::Failed(text()),
        Trial::TooLarge,
        Trial::Other(text()),
    ];
    let history = trials.map(|trial| Attempt { sql: text(), family: text(), trial });
    assert_eq!(
        call(&rewriters[1], &history).await.unwrap(),
        Some(proposal(&format!("{ORIGINAL} -- 9")))
    );
    assert_eq!(call(&rewriters[2], &history).await.unwrap(), None);
}
