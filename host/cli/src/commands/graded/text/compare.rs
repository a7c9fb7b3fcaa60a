//! The parts of the text that only the report on several arms has.

use syrch::syrch_core::text::few;
use syrch_grading::grade::report::{CompareReport, Flipped, PairReport, RightOne};
use syrch_report::words::count;

use super::line;

/// Flipped questions of a pair that are shown.
const SHOWN: usize = 10;
/// The arms that no other beats in right answers without costing more, for each kind of cost that
/// is known.
pub(super) fn pareto(report: &CompareReport) -> String {
    let pareto = &report.pareto;
    let sets = [("calls", &pareto.calls), ("money", &pareto.usd), ("median time", &pareto.p50_ms)];
    let known = sets
        .into_iter()
        .filter_map(|(what, names)| Some((what, names.as_ref().filter(|set| !set.is_empty())?)));
    let lines: String =
        known.map(|(what, names)| line(&format!("  for its {what}: {}", few(names)))).collect();
    if lines.is_empty() {
        lines
    } else {
        format!("\nArms that no other beats in right answers without costing more\n{lines}")
    }
}

/// The first questions that only one of two arms answers right.
pub(super) fn list_flips(pair: &PairReport) -> String {
    if pair.flipped.is_empty() {
        return String::new();
    }
    let many = pair.flipped.len();
    let questions = count(many as u64, "question");
    let title =
        format!("{questions} that only `{}` or only `{}` answers right", pair.first, pair.second);
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
        let sql = sql.as_deref().unwrap_or("no statement");
        let sql = sql.split_whitespace().collect::<Vec<_>>().join(" ");
        out += &line(&format!("    {who}: {sql}"));
    }
    out
}
