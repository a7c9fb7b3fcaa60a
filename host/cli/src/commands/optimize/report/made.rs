//! Documents for the tests of the renderers, with hostile texts in them.

use serde_json::json;
use syrch::syrch_core::ports::Plan;

use super::document::{Document, Iteration, Measured, RunDocument, STATEMENT, Statement};

/// A text that would be markup, end a block of code, or move a cursor.
pub(super) const HOSTILE: &str = "<script>alert(1)</script> ``` | \u{1b}[2J </pre>";

fn statement(sql: &str, plan: &str) -> Statement {
    let plan = Plan { format: "text".into(), text: plan.into(), cost: None, rows: None };
    Statement { sql: sql.to_owned(), plan: Some(plan) }
}

/// A statement that was optimized in two iterations.
pub(super) fn optimized() -> Document {
    let pairs = vec![[412.0, 121.0], [405.5, 118.25], [430.0, 131.0]];
    let measured = Measured {
        before_ms: 412.0,
        after_ms: 121.0,
        ratio: 3.4,
        interval: Some([3.1, 3.8]),
        confirmed: Some(true),
        pairs,
    };
    let iteration = |number, state: &str, detail: Option<&str>, measured| Iteration {
        number,
        state: state.to_owned(),
        detail: detail.map(str::to_owned),
        family: "in-to-exists".to_owned(),
        why: format!("because {HOSTILE}"),
        sql: format!("SELECT a AS \"{HOSTILE}\" FROM t"),
        measured,
    };
    Document {
        schema: STATEMENT.to_owned(),
        run: Some("abc1".to_owned()),
        host: "1.0.0".to_owned(),
        name: format!("slow {HOSTILE}.sql"),
        description: format!("described {HOSTILE}"),
        database: "shop.sqlite".to_owned(),
        outcome: "OPTIMIZED".to_owned(),
        reason: None,
        given: "SELECT a FROM t".to_owned(),
        original: Some(statement(&format!("SELECT a AS \"{HOSTILE}\" FROM t"), &format!("SCAN {HOSTILE}"))),
        best: Some(statement("SELECT a FROM t WHERE EXISTS (SELECT 1)", "SEARCH t")),
        rows: Some(1_204),
        copies: 6,
        noise: Some(0.02),
        iterations: vec![
            iteration(1, "FAILED_SAFETY", Some("rule `limit`, at LIMIT"), None),
            iteration(2, "KEPT", None, Some(measured.clone())),
        ],
        last: Some(measured),
        cost: None,
        warnings: vec![format!("careful {HOSTILE}")],
        settings: json!({"rewriter": {"name": HOSTILE}}),
    }
}

/// A statement that is not supported.
pub(super) fn refused() -> Document {
    Document {
        outcome: "UNSUPPORTED_SAFETY".to_owned(),
        reason: Some("rule `limit`, at LIMIT".to_owned()),
        original: None,
        best: None,
        rows: None,
        copies: 0,
        noise: None,
        iterations: Vec::new(),
        last: None,
        ..optimized()
    }
}

/// A run over both.
pub(super) fn run() -> RunDocument {
    let gate = |name: &str, passed| super::document::Gate {
        name: name.to_owned(),
        counts: [1, 2],
        share: Some(0.5),
        bound: "at least 60 %".to_owned(),
        passed,
    };
    RunDocument {
        schema: "syrch.optimize-corpus/1".to_owned(),
        run: "abc1".to_owned(),
        host: "1.0.0".to_owned(),
        manifest: format!("{HOSTILE}/m.toml"),
        digest: "d".to_owned(),
        of: 3,
        gates: vec![gate("support", false), gate("win", true)],
        passed: false,
        advice: Some("widen the scope".to_owned()),
        statements: vec![optimized(), refused()],
    }
}
