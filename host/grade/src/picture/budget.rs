//! The budget curve: what is right within so many calls a question.

use syrch_report::picture::{Frame, Picture, Scale, Svg, Unit, marks, steps};

use super::ARMS;
use crate::report::BudgetPoint;

/// The curves of at most eight arms; `None` if no arm has a point, or none took a call.
#[must_use]
pub fn budget(arms: &[(&str, &[BudgetPoint])]) -> Option<Picture> {
    let arms = arms.get(..ARMS.min(arms.len())).unwrap_or_default();
    let most = arms
        .iter()
        .flat_map(|(_, points)| *points)
        .map(|point| point.calls)
        .max()
        .filter(|most| *most > 0)?;
    let best = arms
        .iter()
        .flat_map(|(_, points)| *points)
        .filter_map(|point| point.share)
        .reduce(f64::max)?;
    let mut svg = Svg::default();
    let names: Vec<&str> = arms.iter().map(|(name, _)| *name).collect();
    let frame = Frame::with_legend(&mut svg, &names);
    let x = Scale::new((0.0, most as f64), (frame.left, frame.right));
    let y = Scale::with_round_ends((0.0, best.max(0.05)), (frame.bottom, frame.top), 5);
    frame.axes(
        &mut svg,
        (&x, Unit::Plain, "model calls a question at most"),
        (&y, Unit::Percent, "right answers"),
    );
    for (arm, (name, points)) in arms.iter().enumerate() {
        let places: Vec<(f64, f64)> = points
            .iter()
            .filter_map(|point| Some((x.at(point.calls as f64), y.at(point.share?))))
            .collect();
        svg.open(name);
        let line = marks::line(&mut svg, "polyline", arm);
        line.points("points", &steps(&places, frame.right)).end();
        for (point, at) in points.iter().filter(|point| point.share.is_some()).zip(places) {
            let mark = marks::mark(&mut svg, arm, at, 4.0)
                .class(marks::fill(arm))
                .text_attribute("data-arm", name)
                .count("data-calls", point.calls);
            mark.count("data-right", point.right)
                .count("data-of", point.of)
                .data_if("data-share", point.share)
                .end();
        }
        svg.close();
    }
    let description = "A question that took more calls than the budget counts as wrong. Where a \
                       curve is flat, more calls buy nothing.";
    Some(svg.finish(
        "Right answers within a budget",
        description,
        (frame.right + 24.0, frame.bottom + 46.0),
    ))
}
