//! Risk and coverage: what is wrong when only the surest answers are given.

use syrch_report::picture::{Frame, Picture, Scale, Svg, Unit, marks};

use super::ARMS;
use crate::report::Calibration;

/// Shapes on a line at most.
const SHAPES: usize = 6;

/// The curves of the arms that have a confidence, at most eight; `None` if none has.
#[must_use]
pub fn risk(arms: &[(&str, Option<&Calibration>)]) -> Option<Picture> {
    let with: Vec<(&str, &Calibration)> =
        arms.iter().filter_map(|(name, one)| Some((*name, (*one)?))).take(ARMS).collect();
    if with.is_empty() {
        return None;
    }
    let mut svg = Svg::default();
    let names: Vec<&str> = with.iter().map(|(name, _)| *name).collect();
    let frame = Frame::with_legend(&mut svg, &names);
    let worst = with
        .iter()
        .flat_map(|(_, one)| &one.risk_coverage)
        .map(|point| point.risk)
        .fold(0.02, f64::max);
    let x = Scale::new((0.0, 1.0), (frame.left, frame.right));
    let y = Scale::with_round_ends((0.0, worst), (frame.bottom, frame.top), 5);
    frame.axes(
        &mut svg,
        (&x, Unit::Percent, "answers given, surest first"),
        (&y, Unit::Percent, "wrong of the answers given"),
    );
    for (arm, (name, calibration)) in with.iter().enumerate() {
        let points: Vec<(f64, f64)> = calibration
            .risk_coverage
            .iter()
            .map(|point| (x.at(point.coverage), y.at(point.risk)))
            .collect();
        svg.open(name);
        marks::line(&mut svg, "polyline", arm)
            .points("points", &points)
            .text_attribute("data-arm", name)
            .text_attribute("data-points", &data(calibration))
            .end();
        for at in crate::report::thin_out(&points, SHAPES) {
            marks::shape(&mut svg, arm, at, 4.0);
        }
        svg.close();
    }
    let description =
        "Lower is better: from left to right less sure answers are given too, until all are.";
    Some(svg.finish("Risk and coverage", description, (frame.right + 24.0, frame.bottom + 46.0)))
}

/// Coverage and risk of every point, whole.
fn data(calibration: &Calibration) -> String {
    let points: Vec<String> = calibration
        .risk_coverage
        .iter()
        .map(|point| format!("{},{}", point.coverage, point.risk))
        .collect();
    points.join(" ")
}
