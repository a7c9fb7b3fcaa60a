//! The marks of arms, which differ in colour, shape and dash.

use super::svg::{Element, Svg};
use super::width::{fit_text, width};

/// Colours; the style has them twice, for light and dark. They are those of Okabe and Ito, "Color
/// Universal Design", made darker where they would be too pale on paper.
const COLOURS: usize = 6;
const STROKES: [&str; COLOURS] = ["s0", "s1", "s2", "s3", "s4", "s5"];
const FILLS: [&str; COLOURS] = ["f0", "f1", "f2", "f3", "f4", "f5"];
const DASHES: [&str; COLOURS] = ["none", "7 3", "2 3", "9 3 2 3", "14 4", "4 2 1 2 1 2"];

/// The class of an arm's lines.
#[must_use]
pub fn stroke(arm: usize) -> &'static str {
    STROKES.get(arm % COLOURS).copied().unwrap_or("s0")
}

/// The class of an arm's areas.
#[must_use]
pub fn fill(arm: usize) -> &'static str {
    FILLS.get(arm % COLOURS).copied().unwrap_or("f0")
}

/// After six arms the colours begin again, with other shapes and dashes.
fn form(arm: usize) -> usize {
    (arm + arm / COLOURS) % COLOURS
}

fn dash(arm: usize) -> &'static str {
    DASHES.get(form(arm)).copied().unwrap_or("none")
}

/// The outline of an arm's shape around a place: disc (`None`), square, triangle, diamond, cross,
/// triangle on its head.
fn outline(arm: usize, (x, y): (f64, f64), size: f64) -> Option<Vec<(f64, f64)>> {
    let around = |places: &[(f64, f64)]| {
        Some(places.iter().map(|(dx, dy)| (x + dx * size, y + dy * size)).collect())
    };
    match form(arm) {
        1 => around(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        2 => around(&[(0.0, -1.2), (1.1, 0.9), (-1.1, 0.9)]),
        3 => around(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]),
        4 => around(&[
            (-0.4, -1.2),
            (0.4, -1.2),
            (0.4, -0.4),
            (1.2, -0.4),
            (1.2, 0.4),
            (0.4, 0.4),
            (0.4, 1.2),
            (-0.4, 1.2),
            (-0.4, 0.4),
            (-1.2, 0.4),
            (-1.2, -0.4),
            (-0.4, -0.4),
        ]),
        5 => around(&[(0.0, 1.2), (1.1, -0.9), (-1.1, -0.9)]),
        _ => None,
    }
}

/// Begins the arm's shape with its centre at a place.
pub fn mark(svg: &mut Svg, arm: usize, at: (f64, f64), size: f64) -> Element<'_> {
    match outline(arm, at, size) {
        Some(outline) => svg.element("polygon").points("points", &outline),
        None => svg.element("circle").at("cx", at.0).at("cy", at.1).at("r", size),
    }
}

/// Begins an element with the arm's colour and dash, such as a `line`.
pub fn line<'a>(svg: &'a mut Svg, tag: &'static str, arm: usize) -> Element<'a> {
    svg.element(tag).classes(["line", stroke(arm)]).is("stroke-dasharray", dash(arm))
}

/// Draws the arm's shape with its centre at a place.
pub fn shape(svg: &mut Svg, arm: usize, at: (f64, f64), size: f64) {
    match outline(arm, at, size) {
        Some(points) => svg.element("polygon").class(fill(arm)).points("points", &points).end(),
        None => {
            svg.element("circle").class(fill(arm)).at("cx", at.0).at("cy", at.1).at("r", size).end()
        }
    }
}

/// A line of names with their shapes and dashes, broken where it would be too wide; returns its
/// height.
pub fn legend(svg: &mut Svg, names: &[&str], at: (f64, f64), space: f64, with_lines: bool) -> f64 {
    let key = if with_lines { 34.0 } else { 18.0 };
    let (mut x, mut y) = at;
    for (arm, name) in names.iter().enumerate() {
        let shown = fit_text(name, 220.0);
        let wide = key + width(&shown) + 18.0;
        if x > at.0 && x + wide > at.0 + space {
            (x, y) = (at.0, y + 20.0);
        }
        svg.open(name);
        if with_lines {
            line(svg, "line", arm).at("x1", x).at("y1", y).at("x2", x + 28.0).at("y2", y).end();
        }
        shape(svg, arm, (x + (key - 6.0) / 2.0, y), 4.5);
        svg.text("", (x + key, y + 4.0), &shown);
        svg.close();
        x += wide;
    }
    y - at.1 + 20.0
}
