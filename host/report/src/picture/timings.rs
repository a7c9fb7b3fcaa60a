//! Pairs of measurements: two statements that ran right after one another, a row a pair.

use super::marks;
use super::scale::Scale;
use super::svg::{Picture, Svg};
use super::width::width;
use crate::words::count;

/// Pairs of a picture at most.
const PAIRS: usize = 100;
const ROW: f64 = 16.0;
const PLOT: f64 = 460.0;

/// A pair of measurements in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimedPair {
    /// The time of the statement as it was.
    pub before_ms: f64,
    /// The time of the other statement.
    pub after_ms: f64,
}

/// The pairs in the order in which they were measured, at most 100. `None` without any. Where all
/// is well, every mark of the second statement is to the left of that of the first.
#[must_use]
pub fn timings(title: &str, pairs: &[TimedPair]) -> Option<Picture> {
    let shown = pairs.get(..pairs.len().min(PAIRS)).filter(|shown| !shown.is_empty())?;
    let mut svg = Svg::default();
    let left = 4.0 + width("pair 100") + 12.0;
    let right = left + PLOT;
    let top = 16.0 + marks::legend(&mut svg, &["before", "after"], (4.0, 12.0), PLOT, false) + 6.0;
    let bottom = top + ROW * shown.len() as f64 + 4.0;
    let slowest = shown
        .iter()
        .flat_map(|pair| [pair.before_ms, pair.after_ms])
        .filter(|time| time.is_finite());
    // From 0 on, so that twice as fast is half as far.
    let scale = Scale::with_round_ends((0.0, slowest.fold(0.001, f64::max)), (left, right), 6);
    let (ticks, decimals) = scale.ticks(6);
    for tick in ticks {
        let at = scale.at(tick);
        svg.line("rule", (at, top), (at, bottom));
        svg.text("middle faint", (at, bottom + 16.0), &format!("{tick:.decimals$}"));
    }
    svg.text("middle", ((left + right) / 2.0, bottom + 34.0), "milliseconds");
    for (place, pair) in shown.iter().enumerate() {
        row(&mut svg, place + 1, *pair, &scale, (left - 12.0, top + ROW * (place as f64 + 0.5)));
    }
    let faster = pairs.iter().filter(|pair| pair.after_ms < pair.before_ms).count();
    let mut description = format!(
        "A row is a pair that was measured together, in the order of the measurement. In {faster} \
         of {} the second statement is faster.",
        count(pairs.len() as u64, "pair"),
    );
    if pairs.len() > PAIRS {
        description += &format!(" The first {PAIRS} are shown.");
    }
    Some(svg.finish(title, description, (right + 24.0, bottom + 42.0)))
}

fn row(svg: &mut Svg, number: usize, pair: TimedPair, scale: &Scale, (label, y): (f64, f64)) {
    let before = scale.at(pair.before_ms);
    let after = scale.at(pair.after_ms);
    svg.open(&format!(
        "pair {number}: {:.3} ms before, {:.3} ms after",
        pair.before_ms, pair.after_ms
    ));
    svg.text("right faint", (label, y + 4.0), &format!("pair {number}"));
    svg.element("line")
        .class("bar")
        .at("x1", before)
        .at("y1", y)
        .at("x2", after)
        .at("y2", y)
        .data("data-before-ms", pair.before_ms)
        .data("data-after-ms", pair.after_ms)
        .end();
    marks::shape(svg, 0, (before, y), 4.0);
    marks::shape(svg, 1, (after, y), 4.0);
    svg.close();
}

#[cfg(test)]
mod tests {
    use syrch_kit::markup;

    use super::*;

    fn pairs() -> Vec<TimedPair> {
        let times = [(412.0, 121.0), (405.5, 118.25), (430.0, 131.0), (90.0, 120.0)];
        times.map(|(before_ms, after_ms)| TimedPair { before_ms, after_ms }).to_vec()
    }

    #[test]
    fn the_picture_looks_as_it_did() {
        let file = timings("The last measurement", &pairs()).unwrap().file();
        assert_eq!(file, include_str!("snapshots/timings.svg"), "{file}");
    }

    #[test]
    fn every_pair_has_its_numbers_and_the_quicker_mark_is_to_the_left() {
        let picture = timings("t", &pairs()).unwrap();
        assert!(
            picture.description.contains("In 3 of 4 pairs the second"),
            "{}",
            picture.description
        );
        let rows = markup::with(&markup::elements(&picture.file()), "data-before-ms");
        assert_eq!(rows.len(), 4);
        for (row, pair) in rows.iter().zip(pairs()) {
            let number = |name: &str| row[name].parse::<f64>().unwrap();
            assert_eq!(
                (number("data-before-ms"), number("data-after-ms")),
                (pair.before_ms, pair.after_ms)
            );
            assert_eq!(number("x2") < number("x1"), pair.after_ms < pair.before_ms);
        }
    }

    #[test]
    fn strange_numbers_and_many_pairs_are_drawn() {
        assert_eq!(timings("t", &[]), None);
        let strange = TimedPair { before_ms: f64::NAN, after_ms: f64::INFINITY };
        assert!(!timings("t", &[strange]).unwrap().file().contains("NaN \""));
        let many = timings("t", &[TimedPair { before_ms: 2.0, after_ms: 1.0 }; 250]).unwrap();
        assert!(many.description.ends_with(
            "In 250 of 250 pairs the second statement is faster. The first 100 are shown."
        ));
        assert_eq!(markup::with(&markup::elements(&many.file()), "data-before-ms").len(), PAIRS);
    }
}
