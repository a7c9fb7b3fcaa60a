//! The win/loss strip: a cell a question, by database.

use std::collections::BTreeMap;

use syrch_report::picture::{Picture, Svg, fit_text, width};
use syrch_report::words::count;

use crate::Verdict;
use crate::report::{PairReport, ResultRow};

const CELL: f64 = 12.0;
const WIDTH: f64 = 600.0;
const LABEL: f64 = 180.0;
/// Cells of a picture at most: beyond it, nothing is seen in them.
const CELLS: usize = 2_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Second,
    First,
    Both,
    Neither,
}

impl Outcome {
    const ALL: [Self; 4] = [Self::Second, Self::First, Self::Both, Self::Neither];

    fn from_verdicts(first: bool, second: bool) -> Self {
        match (first, second) {
            (true, true) => Self::Both,
            (true, false) => Self::First,
            (false, true) => Self::Second,
            (false, false) => Self::Neither,
        }
    }

    /// Its name in `data-outcome`, and its class.
    fn name(self) -> &'static str {
        match self {
            Self::Second => "second",
            Self::First => "first",
            Self::Both => "both",
            Self::Neither => "neither",
        }
    }
}

/// Draws which of a comparison's arms is right on which question. Questions that do not count for
/// both are left out, and beyond 2,000 the last.
#[must_use]
pub fn strip(pair: &PairReport, results: &[ResultRow]) -> Picture {
    let cells = cells(pair, results);
    let total = cells.values().map(Vec::len).sum::<usize>();
    let label = cells.keys().map(|db| width(db)).fold(40.0, f64::max).min(LABEL);
    let left = label + 12.0;
    let in_row = (WIDTH / CELL) as usize;
    let mut svg = Svg::default();
    let mut y = legend(&mut svg, pair);
    let mut left_to_draw = CELLS;
    for (db, questions) in &cells {
        if left_to_draw == 0 {
            break;
        }
        let shown = questions.get(..left_to_draw.min(questions.len())).unwrap_or_default();
        left_to_draw -= shown.len();
        svg.text("right", (label, y + CELL - 2.0), &fit_text(db, label));
        for (place, (row, outcome)) in shown.iter().enumerate() {
            let at = (left + (place % in_row) as f64 * CELL, y + (place / in_row) as f64 * CELL);
            cell(&mut svg, row, *outcome, at);
        }
        y += shown.len().div_ceil(in_row) as f64 * CELL + 6.0;
    }
    let mut description = format!(
        "A cell a question, by database. {} only {} answers right, {} only {}, \
         {} both, {} neither.",
        count(pair.c, "question"),
        pair.second,
        pair.b,
        pair.first,
        pair.both_right,
        pair.both_wrong
    );
    if total > CELLS {
        description += &format!(" The first {CELLS} of {total} are shown.");
    }
    let title = format!("Who is right on which question, {} and {}", pair.first, pair.second);
    svg.finish(title, description, (left + WIDTH + 4.0, y + 4.0))
}

/// The questions that count for both, by database: those that only one has right first.
fn cells<'a>(
    pair: &PairReport,
    results: &'a [ResultRow],
) -> BTreeMap<&'a str, Vec<(&'a ResultRow, Outcome)>> {
    let counting = |arm: &str| -> BTreeMap<(u64, &'a str), &'a ResultRow> {
        let rows = results.iter().filter(|row| {
            row.arm == arm && matches!(row.verdict, Some(Verdict::Right | Verdict::Wrong))
        });
        rows.map(|row| ((row.place, row.id.as_str()), row)).collect()
    };
    let first = counting(&pair.first);
    let second = counting(&pair.second);
    let mut cells: BTreeMap<&str, Vec<_>> = BTreeMap::new();
    for (key, row) in first {
        let Some(other) = second.get(&key) else { continue };
        fn is_right(row: &ResultRow) -> bool {
            row.verdict == Some(Verdict::Right)
        }
        cells
            .entry(&row.db)
            .or_default()
            .push((row, Outcome::from_verdicts(is_right(row), is_right(other))));
    }
    cells.values_mut().for_each(|questions| questions.sort_by_key(|(_, outcome)| *outcome));
    cells
}

fn legend(svg: &mut Svg, pair: &PairReport) -> f64 {
    let mut x = 4.0;
    let mut y = 4.0;
    for outcome in Outcome::ALL {
        let (text, count) = match outcome {
            Outcome::Second => (format!("only {}", pair.second), pair.c),
            Outcome::First => (format!("only {}", pair.first), pair.b),
            Outcome::Both => ("both right".to_owned(), pair.both_right),
            Outcome::Neither => ("neither".to_owned(), pair.both_wrong),
        };
        let text = format!("{} ({count})", fit_text(&text, 200.0));
        let wide = 18.0 + width(&text) + 18.0;
        if x > 4.0 && x + wide > WIDTH {
            (x, y) = (4.0, y + 20.0);
        }
        symbol(svg, outcome, (x, y));
        svg.text("", (x + 18.0, y + CELL - 2.0), &text);
        x += wide;
    }
    y + 30.0
}

fn cell(svg: &mut Svg, row: &ResultRow, outcome: Outcome, at: (f64, f64)) {
    let inner = CELL - 2.0;
    let rect = svg
        .element("rect")
        .class(outcome.name())
        .at("x", at.0)
        .at("y", at.1)
        .at("width", inner)
        .at("height", inner);
    let title = format!("{} ({}): {}", row.id, row.db, outcome.name());
    rect.text_attribute("data-id", &row.id)
        .text_attribute("data-db", &row.db)
        .is("data-outcome", outcome.name())
        .title(&title);
    sign(svg, outcome, at);
}

fn symbol(svg: &mut Svg, outcome: Outcome, at: (f64, f64)) {
    let inner = CELL - 2.0;
    svg.element("rect")
        .class(outcome.name())
        .at("x", at.0)
        .at("y", at.1)
        .at("width", inner)
        .at("height", inner)
        .end();
    sign(svg, outcome, at);
}

/// The mark that distinguishes the cells without colours: a plus for the second, a stroke for the
/// first.
fn sign(svg: &mut Svg, outcome: Outcome, (x, y): (f64, f64)) {
    let low = 2.0;
    let middle = (CELL - 2.0) / 2.0;
    let high = CELL - 4.0;
    if matches!(outcome, Outcome::First | Outcome::Second) {
        svg.line("on", (x + low, y + middle), (x + high, y + middle));
    }
    if outcome == Outcome::Second {
        svg.line("on", (x + middle, y + low), (x + middle, y + high));
    }
}
