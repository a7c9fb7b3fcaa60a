//! Documents for the tests of the renderers, with hostile texts in them.

use syrch::report::CostReport;
use syrch::syrch_core::Column;
use syrch::syrch_core::ports::{Plan, ResultSize, Timing};
use syrch::syrch_core::roles::Trial;
use syrch_optimizing::corpus::{CORPUS_LINE, CorpusLine};
use syrch_optimizing::{
    Confirmation, Iteration, IterationState, OPTIMIZE_SCHEMA, Optimized, Outcome, Pair, Plans,
    Probe, Report, Round, Settings,
};

use super::document::{Gate, RUN, RunDocument, Shown};

/// A text that would be markup, end a block of code, or move a cursor.
pub(super) const HOSTILE: &str = "<script>alert(1)</script> ``` | \u{1b}[2J </pre>";
/// The name of the statement.
pub(super) const NAME: &str = "slow <script>alert(1)</script> ``` | \u{1b}[2J </pre>.sql";

/// The document as a report shows it.
pub(super) fn report_entry(document: &Optimized) -> Shown<'_> {
    Shown {
        name: NAME,
        description: "described <script>alert(1)</script> ``` | \u{1b}[2J </pre>",
        document,
    }
}

fn plan(text: &str) -> Plan {
    Plan { format: "text".into(), text: text.into(), cost: None, rows: None }
}

fn timing(milliseconds: f64) -> Timing {
    Timing { wall_ns: (milliseconds * 1e6) as u64, ..Timing::default() }
}

fn iteration(n: u32, state: IterationState, detail: Option<&str>) -> Iteration {
    Iteration {
        n,
        family: "in-to-exists".to_owned(),
        reason: format!("because {HOSTILE}"),
        sql: format!("SELECT a AS \"{HOSTILE}\" FROM t"),
        state,
        detail: detail.map(str::to_owned),
        is_statement: true,
        rows: None,
        copies: 0,
        round: None,
        trial: Trial::Slower(1.0),
    }
}

/// A statement that was optimized in two iterations.
pub(super) fn make_optimized() -> Optimized {
    let pairs = [(412.0, 121.0), (405.5, 118.25), (430.0, 131.0)];
    let [best, candidate] = [
        pairs.map(|(before, _)| timing(before)).to_vec(),
        pairs.map(|(_, after)| timing(after)).to_vec(),
    ];
    let report = Report {
        outcome: Outcome::Optimized,
        reason: None,
        interrupted: None,
        given: "SELECT a FROM t".to_owned(),
        original: format!("SELECT a AS \"{HOSTILE}\" FROM t"),
        best: "SELECT a FROM t WHERE EXISTS (SELECT 1)".to_owned(),
        tables: vec![HOSTILE.to_owned()],
        columns: vec![Column { name: HOSTILE.to_owned(), ..Column::default() }],
        is_ordered: true,
        probe: Some(Probe {
            size: ResultSize { rows: 1_204, bytes: 9_632 },
            baseline: timing(412.0),
            noise: 0.02,
        }),
        iterations: vec![
            iteration(1, IterationState::FailedSafety, Some("rule `limit`, at LIMIT")),
            Iteration {
                rows: Some(1_204),
                copies: 6,
                round: Some(Round { best, candidate }),
                ..iteration(2, IterationState::Kept, None)
            },
        ],
        confirmation: Some(Confirmation {
            pairs: pairs
                .map(|(before, after)| Pair {
                    original: timing(before),
                    best: timing(after),
                    best_first: false,
                })
                .to_vec(),
            won: 3,
            original_ns: 412_000_000,
            best_ns: 121_000_000,
            ratio: 3.4,
            interval: Some((3.1, 3.8)),
            evidence: 20.0,
            confirmed: true,
        }),
        plans: Some(Plans {
            before: plan(&format!("SCAN {HOSTILE}")),
            after: Some(plan("SEARCH t")),
        }),
        settings: Settings::default(),
    };
    Optimized {
        schema: OPTIMIZE_SCHEMA.to_owned(),
        run: "abc1".to_owned(),
        host: "1.0.0".to_owned(),
        database: "shop.sqlite".to_owned(),
        rewriter: HOSTILE.to_owned(),
        report,
        cost: CostReport::default(),
        warnings: vec![format!("careful {HOSTILE}")],
    }
}

/// A statement that is not supported.
pub(super) fn make_refused() -> Optimized {
    let of = make_optimized();
    let report = Report {
        outcome: Outcome::UnsupportedSafety,
        reason: Some("rule `limit`, at LIMIT".to_owned()),
        best: of.report.original.clone(),
        tables: Vec::new(),
        columns: Vec::new(),
        probe: None,
        iterations: Vec::new(),
        confirmation: None,
        plans: None,
        ..of.report
    };
    Optimized { report, ..of }
}

/// A run over both.
pub(super) fn run() -> RunDocument {
    let gate = |name: &str, passed| Gate {
        name: name.to_owned(),
        counts: [1, 2],
        share: Some(0.5),
        bound: "at least 60 %".to_owned(),
        passed,
    };
    let line = |place, result| CorpusLine {
        schema: CORPUS_LINE.to_owned(),
        place,
        at_ms: 0,
        file: NAME.to_owned(),
        sha256: "d".to_owned(),
        description: format!("described {HOSTILE}"),
        result,
    };
    RunDocument {
        schema: RUN.to_owned(),
        run: "abc1".to_owned(),
        host: "1.0.0".to_owned(),
        manifest: format!("{HOSTILE}/m.toml"),
        digest: "d".to_owned(),
        of: 3,
        gates: vec![gate("support", false), gate("win", true)],
        outcomes: [("OPTIMIZED".to_owned(), 1), ("UNSUPPORTED_SAFETY".to_owned(), 1)].into(),
        proposals: [("KEPT".to_owned(), 1)].into(),
        passed: false,
        advice: Some("widen the scope".to_owned()),
        statements: vec![line(0, make_optimized()), line(1, make_refused())],
    }
}
