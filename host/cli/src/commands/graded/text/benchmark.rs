//! The parts of the text that only the report on one arm has.

use std::collections::BTreeMap;

use serde_json::json;
use syrch_grading::grade::report::{BenchmarkReport, Figures, ResultRow};
use syrch_report::Table;

use super::line;

/// Databases that are shown at most.
const WORST: usize = 5;
/// The usual names of a field that rates the difficulty of questions; the first that the suite has
/// is used.
const HARDNESS: [&str; 4] = ["difficulty", "hardness", "level", "complexity"];

/// The share of right answers, with the arm and the suite, on a line.
pub(super) fn headline(report: &BenchmarkReport) -> String {
    let simulated =
        report.basis.simulated.as_ref().map(|model| format!(" ({model})")).unwrap_or_default();
    let band = report.band.map(|band| {
        let low = band.low * 100.0;
        let high = band.high * 100.0;
        format!("; over {} seeds {low:.1} to {high:.1} %", band.seeds)
    });
    line(&format!(
        "{} on {}: {}{}{simulated}",
        report.arm.name,
        report.head.suite.path,
        share(&report.figures, &report.basis.rule),
        band.unwrap_or_default()
    ))
}

/// `41 of 47 right under bag-v1, 2 not graded: 87.2 %, 95 % interval 74.8 % to 94.0 %`.
fn share(figures: &Figures, rule: &str) -> String {
    let share = &figures.share;
    let not_graded = match figures.outcomes.not_graded {
        0 => String::new(),
        many => format!(", {many} not graded"),
    };
    let counts = format!("{} of {} right under {rule}{not_graded}", share.right, share.of);
    fn percent(part: f64) -> String {
        format!("{:.1} %", part * 100.0)
    }
    match share.share {
        None => counts,
        Some(part) => {
            let low = percent(share.interval.low);
            let high = percent(share.interval.high);
            format!("{counts}: {}, 95 % interval {low} to {high}", percent(part))
        }
    }
}

/// The slices by the field that rates the difficulty of questions, without the column of the field.
/// `None` if the suite has no such field.
pub(super) fn hardness(mut table: Table) -> Option<Table> {
    let has = |name: &&str| {
        table.grid.rows.iter().any(|row| row.first().is_some_and(|field| field == *name))
    };
    let field = HARDNESS.into_iter().find(has)?;
    table.grid.rows.retain(|row| row.first().is_some_and(|cell| cell == field));
    table.grid.rows.iter_mut().for_each(|row| drop(row.remove(0)));
    table.grid.columns.remove(0);
    table.title = format!("By {field}");
    Some(table)
}

/// The databases with the lowest shares of right answers. `None` if the suite has one database, or
/// all answers are right.
pub(super) fn worst_databases(rows: &[ResultRow]) -> Option<Table> {
    let mut counts: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for row in rows {
        let count = counts.entry(&row.db).or_default();
        if let Some(is_right) = row.metrics.exact_match {
            *count = (count.0 + u64::from(is_right), count.1 + 1);
        }
    }
    let several = counts.len() > 1;
    let mut worst: Vec<_> =
        counts.into_iter().filter(|(_, (right, of))| several && right < of).collect();
    // Of equal shares, that of more questions is the surer one.
    worst
        .sort_by(|(_, (a, of_a)), (_, (b, of_b))| (a * of_b).cmp(&(b * of_a)).then(of_b.cmp(of_a)));
    worst.truncate(WORST);
    let mut table = Table::new("Worst databases", ["database", "right", "of"]);
    table.grid.rows = worst
        .into_iter()
        .map(|(db, (right, of))| vec![json!(db), json!(right), json!(of)])
        .collect::<Vec<_>>();
    table.non_empty()
}
