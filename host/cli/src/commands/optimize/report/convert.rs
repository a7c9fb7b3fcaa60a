//! From what the optimizer reports to the documents.

use syrch::optimize::{self as optimizer, Report};
use syrch::syrch_core::ports::Timing;

use super::document::{Document, Gate, Iteration, Measured, STATEMENT, Statement};
use super::words;

/// A share of noise from which on the reader is warned: two runs of one statement differ by so much.
const NOISY: f64 = 0.2;

/// The part of a document that the report of the library does not have.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct About {
    /// The id of the run, if it has a journal.
    pub(crate) run: Option<String>,
    /// The version of the host.
    pub(crate) host: String,
    /// The file of the statement, or its beginning.
    pub(crate) name: String,
    /// The description of the statement in the manifest.
    pub(crate) description: String,
    /// The statement as it was given.
    pub(crate) given: String,
    /// The name of the database.
    pub(crate) database: String,
    /// The rewriter, as reports name it.
    pub(crate) rewriter: String,
}

impl Document {
    /// The document of a statement.
    pub(crate) fn new(about: About, report: &Report) -> Self {
        let kept = report.kept();
        let plans = report.plans.as_ref();
        // Every admitted statement reads a table.
        let is_refused = report.tables.is_empty();
        let original = (!is_refused)
            .then(|| Statement { sql: report.original.clone(), plan: plans.map(|plans| plans.before.clone()) });
        let best =
            kept.map(|_| Statement { sql: report.best.clone(), plan: plans.and_then(|plans| plans.after.clone()) });
        Self {
            schema: STATEMENT.to_owned(),
            run: about.run,
            host: about.host,
            name: about.name,
            description: about.description,
            database: about.database,
            outcome: report.outcome.name().to_owned(),
            reason: report.reason.clone(),
            given: about.given,
            original,
            best,
            rows: kept.and_then(|kept| kept.rows).or_else(|| report.probe.map(|probe| probe.size.rows)),
            copies: kept.map_or(0, |kept| kept.copies),
            noise: report.probe.map(|probe| probe.noise),
            iterations: report.iterations.iter().map(iteration).collect(),
            last: report.confirmation.as_ref().map(measured),
            cost: None,
            warnings: warnings(report),
            settings: serde_json::json!({"rewriter": about.rewriter, "optimizer": report.settings}),
        }
    }
}

fn iteration(one: &optimizer::Iteration) -> Iteration {
    let round = one.round.as_ref().filter(|round| !round.best.is_empty() && !round.candidate.is_empty());
    Iteration {
        number: one.n,
        state: one.state.name().to_owned(),
        detail: one.detail.clone(),
        family: one.family.clone(),
        why: one.reason.clone(),
        sql: one.sql.clone(),
        measured: round.map(|round| Measured {
            before_ms: of_ns(round.best_ns()),
            after_ms: of_ns(round.candidate_ns()),
            ratio: round.speed(),
            interval: None,
            confirmed: None,
            pairs: round.best.iter().zip(&round.candidate).map(|(best, candidate)| pair(best, candidate)).collect(),
        }),
    }
}

fn measured(confirmation: &optimizer::Confirmation) -> Measured {
    Measured {
        before_ms: of_ns(confirmation.original_ns),
        after_ms: of_ns(confirmation.best_ns),
        ratio: confirmation.ratio,
        interval: confirmation.interval.map(|(low, high)| [low, high]),
        confirmed: Some(confirmation.confirmed),
        pairs: confirmation.pairs.iter().map(|one| pair(&one.original, &one.best)).collect(),
    }
}

fn pair(before: &Timing, after: &Timing) -> [f64; 2] {
    [of_ns(before.wall_ns), of_ns(after.wall_ns)]
}

fn of_ns(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e6
}

/// Warnings about the measurement.
fn warnings(report: &Report) -> Vec<String> {
    let noise = report.probe.map(|probe| probe.noise).filter(|noise| *noise >= NOISY);
    let noise = noise.map(|noise| {
        let percent = noise * 100.0;
        format!("the clock is noisy: two runs of the statement itself differ by {percent:.0} %")
    });
    let ended = report.interrupted.as_ref().map(|why| format!("it ended early: {why}"));
    let is_optimized = report.kept().is_some();
    let unsure = report.confirmation.as_ref().filter(|last| is_optimized && !last.confirmed).map(|last| {
        let pairs = words::counted(last.pairs.len() as u64, "pair");
        format!(
            "the speed-up is not confirmed: {pairs} of the last measurement are too few or too different to be sure"
        )
    });
    let missing = (is_optimized && report.confirmation.is_none())
        .then(|| "the last measurement is missing: the speed-up is that of one iteration".to_owned());
    ended.into_iter().chain(noise).chain(unsure).chain(missing).collect()
}

/// The gates of a run, and what they mean for it.
pub(crate) fn gates(gates: &optimizer::Gates) -> (Vec<Gate>, Option<String>) {
    let counts = |name: &str| match name {
        "support" => [gates.supported, gates.total],
        "win" => [gates.optimized, gates.supported],
        "error" => [gates.errored, gates.total],
        _ => [gates.mismatches, gates.iterations],
    };
    let gate = |gate: &optimizer::Gate| Gate {
        name: gate.name.clone(),
        counts: counts(&gate.name),
        share: (counts(&gate.name)[1] > 0).then_some(gate.share),
        bound: format!("{} {:.0} %", if gate.is_least { "at least" } else { "below" }, gate.bound * 100.0),
        passed: gate.passed,
    };
    let advice = gates.advice.map(|advice| match advice {
        optimizer::Advice::Stop => "so few statements are optimized that it is not worth going on with these statements",
        optimizer::Advice::WidenScope => "what is supported is optimized often, and too little is supported: support for more statements is what helps",
    });
    (gates.gates.iter().map(gate).collect(), advice.map(str::to_owned))
}
