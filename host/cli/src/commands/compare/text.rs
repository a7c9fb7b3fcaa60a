//! A comparison for people at a terminal: the verdict first, then the figures, then the first questions that only one arm answers right.

use syrch::grade::report::render::text::{self, Table};
use syrch::grade::report::{CompareReport, Flipped, PairReport, RightOne};

use crate::sink::{Grid, table, terminal};

/// Flipped questions of a pair that are shown.
const SHOWN: usize = 10;
/// Tables by their titles, which a terminal is shown; those of slices only when they were asked for.
const TABLES: [&str; 3] = ["Arms", "Pairs", "Share right at equal budget"];

/// The report; `slices` are the fields whose values are shown one by one.
pub(crate) fn compare(report: &CompareReport, slices: &[String], width: Option<u16>) -> String {
    let mut out: String = report.pairs.iter().map(|pair| line(&pair.verdict)).collect();
    if let Some(partial) = &report.partial {
        out += &line(&format!("{} of {} answers: {}", partial.done, partial.of, partial.why));
    }
    for mut table in text::compare(report) {
        let is_shown = TABLES.iter().any(|title| table.title.starts_with(title))
            || table.title.starts_with("One more right answer")
            || keep_slices(&mut table, slices);
        if is_shown {
            out += &drawn(&table, width);
        }
    }
    out += &pareto(report);
    report.pairs.iter().for_each(|pair| out += &flips(pair));
    out
}

fn line(text: &str) -> String {
    format!("{}\n", terminal::line(text))
}

fn drawn(shown: &Table, width: Option<u16>) -> String {
    let grid = Grid { columns: shown.columns.clone(), rows: shown.rows.clone() };
    format!("\n{}{}", line(&shown.title), table::render(&grid, width))
}

/// Keeps of a table of slices the fields that were asked for; whether any is left.
fn keep_slices(table: &mut Table, fields: &[String]) -> bool {
    let is_asked = |row: &Vec<serde_json::Value>| {
        row.first().and_then(serde_json::Value::as_str).is_some_and(|name| fields.iter().any(|field| field == name))
    };
    table.title.starts_with("Slices") && {
        table.rows.retain(is_asked);
        !table.rows.is_empty()
    }
}

fn pareto(report: &CompareReport) -> String {
    let pareto = &report.pareto;
    let sets = [("calls", &pareto.calls), ("money", &pareto.usd), ("median time", &pareto.p50_ms)];
    let known =
        sets.into_iter().filter_map(|(what, names)| Some((what, names.as_ref().filter(|set| !set.is_empty())?)));
    let lines: String = known.map(|(what, names)| line(&format!("  for its {what}: {}", names.join(", ")))).collect();
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
    let count = if many == 1 { "1 question".to_owned() } else { format!("{many} questions") };
    let mut out =
        format!("\n{}", line(&format!("{count} that only `{}` or only `{}` answers right", pair.first, pair.second)));
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
