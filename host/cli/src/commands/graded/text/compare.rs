//! A comparison for people at a terminal: the verdict first, then the figures, then the first questions that only one arm answers right.

use syrch::grade::report::render::text;
use syrch::grade::report::{CompareReport, Flipped, PairReport, RightOne};
use syrch::syrch_core::text::few;

use super::{drawn, line, of_fields, partial};
use crate::commands::trace::words::count;

/// Flipped questions of a pair that are shown.
const SHOWN: usize = 10;
/// Tables by their titles, which a terminal is shown; those of slices only when they were asked for.
const TABLES: [&str; 4] = ["Arms", "Pairs", "One more right answer", "Share right at equal budget"];

/// The report; `slices` are the fields whose values are shown one by one.
pub(super) fn compare(report: &CompareReport, slices: &[String], width: Option<u16>) -> String {
    let mut out: String = report.pairs.iter().map(|pair| line(&pair.verdict)).collect();
    out += &partial(&report.basis);
    for table in text::compare(report) {
        let shown = match TABLES.iter().any(|title| table.title.starts_with(title)) {
            true => Some(table),
            false if table.title.starts_with("Slices") => of_fields(table, slices),
            false => None,
        };
        out += &shown.map(|table| drawn(&table, width)).unwrap_or_default();
    }
    out += &pareto(report);
    report.pairs.iter().for_each(|pair| out += &flips(pair));
    out
}

fn pareto(report: &CompareReport) -> String {
    let pareto = &report.pareto;
    let sets = [("calls", &pareto.calls), ("money", &pareto.usd), ("median time", &pareto.p50_ms)];
    let known =
        sets.into_iter().filter_map(|(what, names)| Some((what, names.as_ref().filter(|set| !set.is_empty())?)));
    let lines: String = known.map(|(what, names)| line(&format!("  for its {what}: {}", few(names)))).collect();
    if lines.is_empty() {
        lines
    } else {
        format!("\nArms that no other beats in right answers without costing more\n{lines}")
    }
}

fn flips(pair: &PairReport) -> String {
    if pair.flipped.is_empty() {
        return String::new();
    }
    let many = pair.flipped.len();
    let questions = count(many as u64, "question");
    let title = format!("{questions} that only `{}` or only `{}` answers right", pair.first, pair.second);
    let mut out = format!("\n{}", line(&title));
    pair.flipped.iter().take(SHOWN).for_each(|one| out += &flip(pair, one));
    if many > SHOWN {
        out += &format!("  and {} more: --format json and --report have them all\n", many - SHOWN);
    }
    out
}

fn flip(pair: &PairReport, one: &Flipped) -> String {
    let right = if one.right == RightOne::First { &pair.first } else { &pair.second };
    let mut out = line(&format!("  {} ({}), right: {right}: {}", one.id, one.db, one.question));
    for (who, sql) in [(&pair.first, &one.first_sql), (&pair.second, &one.second_sql)] {
        let sql = sql.as_deref().map_or("no statement", |sql| sql);
        let sql = sql.split_whitespace().collect::<Vec<_>>().join(" ");
        out += &line(&format!("    {who}: {sql}"));
    }
    out
}
