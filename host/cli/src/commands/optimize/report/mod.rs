//! Reports on optimized statements: the library's document in three formats, and the tables that
//! they share.

use syrch_report::words::{UNKNOWN, count_grouped, group_thousands, milliseconds, ratio, three};

mod convert;
pub(crate) mod document;
mod file;
#[cfg(test)]
mod made;
mod markdown;
mod page;
mod section;
pub(crate) mod words;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use syrch_optimizing::corpus::CorpusLine;
use syrch_optimizing::{Iteration, Optimized};

pub(crate) use convert::{Measured, gates};
pub(crate) use document::{Gate, RUN, RunDocument, Shown};
pub(crate) use file::{Report, write};

use crate::sink::Grid;

/// The statement of what is known of an accepted statement, and of what is not.
pub(crate) const PROMISE: &str = "Equal means: the same rows, byte for byte, on this data and on \
                                  the changed copies of it that were made. It is no proof for \
                                  all other data.";

/// The proposals, a row each.
pub(crate) fn iterations_grid(document: &Optimized) -> Grid {
    let mut grid = Grid::new(["iteration", "family", "outcome", "speed", "detail"]);
    grid.rows = document
        .report
        .iterations
        .iter()
        .map(|iteration: &Iteration| {
            let speed = Measured::from_round(iteration.round.as_ref()).map(|measured| {
                format!(
                    "{} × ({} → {})",
                    ratio(measured.ratio),
                    three(measured.before_ms),
                    milliseconds(measured.after_ms)
                )
            });
            let state = words::state(iteration.state);
            vec![
                json!(iteration.n),
                json!(iteration.family),
                json!(state),
                json!(speed),
                json!(iteration.detail),
            ]
        })
        .collect();
    grid
}

/// The pairs of a measurement, a row each.
fn pairs_grid(measured: &Measured) -> Grid {
    let mut grid = Grid::new(["pair", "before ms", "after ms"]);
    grid.rows = measured
        .pairs
        .iter()
        .enumerate()
        .map(|(place, [before, after]): (usize, &[f64; 2])| {
            vec![json!(place + 1), json!(three(*before)), json!(three(*after))]
        })
        .collect();
    grid
}

/// The statements of a run, a row each.
pub(crate) fn statements_grid(statements: &[CorpusLine]) -> Grid {
    let mut grid = Grid::new([
        "statement",
        "outcome",
        "speed",
        "before ms",
        "after ms",
        "iterations",
        "reason",
    ]);
    grid.rows = statements
        .iter()
        .map(|line: &CorpusLine| {
            let report = &line.result.report;
            let last = report.confirmation.as_ref().filter(|_| report.is_optimized());
            let unsure = last.filter(|last| !last.confirmed).map(|_| "not confirmed");
            let last = last.map(Measured::from_confirmation);
            let figure = |figure: fn(&Measured) -> f64| {
                last.as_ref().map_or(Value::Null, |last| json!(three(figure(last))))
            };
            vec![
                json!(line.file),
                json!(report.outcome.name()),
                json!(last.as_ref().map(|last| format!("{} ×", ratio(last.ratio)))),
                figure(|last| last.before_ms),
                figure(|last| last.after_ms),
                json!(report.iterations.len()),
                json!(report.reason.as_deref().or(unsure)),
            ]
        })
        .collect();
    grid
}

/// The gates of a run, a row each.
pub(crate) fn gates_grid(run: &RunDocument) -> Grid {
    let mut grid = Grid::new(["gate", "share", "of", "must be", "passed"]);
    grid.rows = run
        .gates
        .iter()
        .map(|gate: &Gate| {
            let share = gate
                .share
                .map_or_else(|| UNKNOWN.to_owned(), |share| format!("{:.0} %", share * 100.0));
            let counts = format!(
                "{} of {}",
                group_thousands(gate.counts[0]),
                group_thousands(gate.counts[1])
            );
            let passed = if gate.passed { "yes" } else { "no" };
            vec![json!(gate.name), json!(share), json!(counts), json!(gate.bound), json!(passed)]
        })
        .collect();
    grid
}

/// All outcomes of a run with the numbers of statements, and all states with the numbers of
/// proposals, a row each.
pub(crate) fn totals_grid(run: &RunDocument) -> Grid {
    let mut grid = Grid::new(["of", "outcome", "count"]);
    fn count_rows(of: &'static str, counts: &BTreeMap<String, u64>) -> Vec<Vec<Value>> {
        counts
            .iter()
            .map(|(outcome, count)| vec![json!(of), json!(outcome), json!(group_thousands(*count))])
            .collect()
    }
    grid.rows = count_rows("statements", &run.outcomes);
    grid.rows.extend(count_rows("proposals", &run.proposals));
    grid
}

/// All outcomes of a run, and all states of its proposals, in one line.
pub(crate) fn run_totals(run: &RunDocument) -> String {
    fn list_counts(counts: &BTreeMap<String, u64>) -> String {
        let each =
            counts.iter().map(|(outcome, count)| format!("{} {outcome}", group_thousands(*count)));
        let each: Vec<String> = each.collect();
        if each.is_empty() { "none".to_owned() } else { each.join(", ") }
    }
    format!(
        "statements: {}; proposals: {}",
        list_counts(&run.outcomes),
        list_counts(&run.proposals)
    )
}

/// The result of a run in one sentence.
pub(crate) fn run_verdict(run: &RunDocument) -> String {
    let done = run.statements.len() as u64;
    let optimized =
        run.statements.iter().filter(|one| one.result.report.is_optimized()).count() as u64;
    let failed: Vec<&str> =
        run.gates.iter().filter(|gate| !gate.passed).map(|gate| gate.name.as_str()).collect();
    let gates = match failed.as_slice() {
        [] => "all gates passed".to_owned(),
        failed => format!("failed: {}", failed.join(", ")),
    };
    let cut =
        if done < run.of { format!(" (of {})", group_thousands(run.of)) } else { String::new() };
    format!(
        "{} of {}{cut} optimized; {gates}",
        group_thousands(optimized),
        count_grouped(done, "statement")
    )
}
