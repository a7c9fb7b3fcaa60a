//! Right answers against what they cost, with the Pareto edge.

use syrch_report::picture::{
    Frame, Picture, Scale, Svg, Unit, fit_text,
    marks::{self, fill, stroke},
    steps, width,
};

use crate::report::{ArmReport, CompareReport};

/// The cost on the horizontal axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Paid {
    Calls,
    Dollars,
    Time,
}

struct Point<'a> {
    place: usize,
    arm: &'a ArmReport,
    cost: f64,
    share: f64,
}

/// Right answers against calls, against money where it is known, and against the median time: a
/// picture each.
#[must_use]
pub fn cost(report: &CompareReport) -> Vec<Picture> {
    let sets = [
        (Paid::Calls, &report.pareto.calls),
        (Paid::Dollars, &report.pareto.usd),
        (Paid::Time, &report.pareto.p50_ms),
    ];
    sets.into_iter().filter_map(|(paid, edge)| draw(report, paid, edge.as_ref()?)).collect()
}

impl Paid {
    fn cost(self, arm: &ArmReport) -> Option<f64> {
        let costs = &arm.figures.costs;
        match self {
            Self::Calls => costs.calls_mean,
            Self::Dollars => costs.usd_mean,
            Self::Time => costs.latency.map(|latency| latency.p50_ms),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Calls => "model calls a question",
            Self::Dollars => "dollars a question",
            Self::Time => "median time of a question",
        }
    }

    fn unit(self, dearest: f64) -> Unit {
        match self {
            Self::Calls => Unit::Plain,
            Self::Dollars => Unit::Dollars,
            Self::Time if dearest >= 5_000.0 => Unit::Seconds,
            Self::Time => Unit::Milliseconds,
        }
    }
}

fn draw(report: &CompareReport, paid: Paid, edge: &[String]) -> Option<Picture> {
    let points: Vec<Point> = report
        .arms
        .iter()
        .enumerate()
        .filter_map(|(place, arm)| {
            Some(Point { place, arm, cost: paid.cost(arm)?, share: arm.figures.share.share? })
        })
        .collect();
    let dearest = points.iter().map(|point| point.cost).reduce(f64::max)?;
    if dearest <= 0.0 {
        return None;
    }
    let frame = Frame { left: 56.0, top: 34.0, right: 560.0, bottom: 330.0 };
    let intervals = || points.iter().map(|point| point.arm.figures.share.interval);
    let lowest = intervals().map(|interval| interval.low).fold(1.0, f64::min);
    let highest = intervals().map(|interval| interval.high).fold(0.0, f64::max);
    let x = Scale::with_round_ends((0.0, dearest * 1.05), (frame.left, frame.right), 6);
    let y = Scale::with_round_ends((lowest, highest), (frame.bottom, frame.top), 5);
    let mut svg = Svg::default();
    frame.axes(
        &mut svg,
        (&x, paid.unit(dearest), paid.name()),
        (&y, Unit::Percent, "right answers (95 % interval)"),
    );
    draw_edge(&mut svg, &points, edge, (&x, &y), &frame);
    let mut taken = Vec::new();
    for point in &points {
        let is_best = edge.contains(&point.arm.arm.name);
        draw_point(&mut svg, point, is_best, (&x, &y));
        taken.push((x.at(point.cost), y.at(point.share)));
    }
    names(&mut svg, &points, &taken, &frame);
    let title = format!("Right answers against {}", paid.name());
    let description = format!(
        "Up is better, left is cheaper. The dashed line is the Pareto edge: no other arm has as \
         many right answers for less. On it: {}.",
        edge.join(", ")
    );
    Some(svg.finish(title, description, (frame.right + 40.0, frame.bottom + 46.0)))
}

fn draw_edge(
    svg: &mut Svg,
    points: &[Point],
    edge: &[String],
    (x, y): (&Scale, &Scale),
    frame: &Frame,
) {
    let mut best: Vec<(f64, f64)> = points
        .iter()
        .filter(|point| edge.contains(&point.arm.arm.name))
        .map(|point| (x.at(point.cost), y.at(point.share)))
        .collect();
    best.sort_by(|one, other| one.0.total_cmp(&other.0));
    let line = steps(&best, frame.right);
    svg.element("polyline").class("axis dashed").points("points", &line).end();
}

fn draw_point(svg: &mut Svg, point: &Point, is_best: bool, (x, y): (&Scale, &Scale)) {
    let share = &point.arm.figures.share;
    let at = (x.at(point.cost), y.at(point.share));
    svg.open(&format!("{}: {} of {} right", point.arm.arm.name, share.right, share.of));
    let whisker = svg.element("line").classes(["whisker", stroke(point.place)]);
    whisker
        .at("x1", at.0)
        .at("y1", y.at(share.interval.low))
        .at("x2", at.0)
        .at("y2", y.at(share.interval.high))
        .end();
    marks::mark(svg, point.place, at, 6.0)
        .class(fill(point.place))
        .text_attribute("data-arm", &point.arm.arm.name)
        .data("data-cost", point.cost)
        .data("data-share", point.share)
        .data("data-low", share.interval.low)
        .data("data-high", share.interval.high)
        .is("data-pareto", if is_best { "yes" } else { "no" })
        .end();
    svg.close();
}

/// Names beside the marks: to the right where there is space, else to the left, and lower or higher
/// where another name stands.
fn names(svg: &mut Svg, points: &[Point], marks: &[(f64, f64)], frame: &Frame) {
    let mut taken: Vec<(f64, f64, f64, f64)> =
        marks.iter().map(|(x, y)| (x - 7.0, y - 7.0, x + 7.0, y + 7.0)).collect();
    for (point, (x, y)) in points.iter().zip(marks) {
        let name = fit_text(&point.arm.arm.name, 180.0);
        let wide = width(&name);
        let sides = [x + 10.0, x - 10.0 - wide];
        let shifts = [0.0, 14.0, -14.0, 28.0, -28.0, 42.0, -42.0];
        let fits = |left: f64, top: f64| {
            let inside = left >= frame.left
                && left + wide <= frame.right + 22.0
                && top >= frame.top - 12.0
                && top + 14.0 <= frame.bottom;
            inside
                && taken.iter().all(|one: &(f64, f64, f64, f64)| {
                    left + wide < one.0 || left > one.2 || top + 14.0 < one.1 || top > one.3
                })
        };
        let places = shifts.iter().flat_map(|shift| sides.map(|left| (left, y + shift)));
        let place = places.into_iter().find(|(left, middle)| fits(*left, middle - 7.0));
        // Where all places are taken the mark's title has the name.
        let Some((left, middle)) = place else { continue };
        taken.push((left, middle - 7.0, left + wide, middle + 7.0));
        // Once as what keeps it free of lines, once as itself.
        svg.text("halo", (left, middle + 4.0), &name);
        svg.text("", (left, middle + 4.0), &name);
    }
}
