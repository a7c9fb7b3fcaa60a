//! A frame with two axes, their ticks and what they are of.

use super::marks;
use super::scale::Scale;
use super::svg::Svg;

/// The place of a chart in its picture.
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    /// The left edge, in pixels from the left.
    pub left: f64,
    /// The upper edge, in pixels from the top.
    pub top: f64,
    /// The right edge, in pixels from the left.
    pub right: f64,
    /// The lower edge, in pixels from the top.
    pub bottom: f64,
}

/// The unit of an axis, which decides how its numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Parts of one as per cent.
    Percent,
    /// Numbers are written as they are.
    Plain,
    /// Dollars as they are.
    Dollars,
    /// Milliseconds as they are.
    Milliseconds,
    /// Milliseconds are written as seconds.
    Seconds,
}

impl Frame {
    /// Draws a legend with lines at the top, and returns the frame of a chart below it.
    pub fn with_legend(svg: &mut Svg, names: &[&str]) -> Self {
        let top = 38.0 + marks::legend(svg, names, (4.0, 12.0), 540.0, true);
        Self { left: 56.0, top, right: 560.0, bottom: top + 280.0 }
    }

    /// Draws ticks, lines across and names of both axes.
    pub fn axes(&self, svg: &mut Svg, x: (&Scale, Unit, &str), y: (&Scale, Unit, &str)) {
        let (ticks, decimals) = y.0.ticks(5);
        for tick in ticks {
            let at = y.0.at(tick);
            svg.line("rule", (self.left, at), (self.right, at));
            svg.text("right faint", (self.left - 6.0, at + 4.0), &y.1.format_value(tick, decimals));
        }
        let (ticks, decimals) = x.0.ticks(6);
        for tick in ticks {
            let at = x.0.at(tick);
            svg.line("axis", (at, self.bottom), (at, self.bottom + 4.0));
            svg.text("middle faint", (at, self.bottom + 17.0), &x.1.format_value(tick, decimals));
        }
        svg.line("axis", (self.left, self.bottom), (self.right, self.bottom));
        svg.line("axis", (self.left, self.top), (self.left, self.bottom));
        svg.text("middle", ((self.left + self.right) / 2.0, self.bottom + 36.0), x.2);
        // Above the axis, since rotated text is hard to read.
        svg.text("", (2.0, self.top - 12.0), y.2);
    }
}

impl Unit {
    fn format_value(self, value: f64, decimals: usize) -> String {
        let text = match self {
            Self::Percent => format!("{:.*} %", decimals.saturating_sub(2), value * 100.0),
            Self::Plain => format!("{value:.decimals$}"),
            Self::Dollars => format!("${value:.decimals$}"),
            Self::Milliseconds => format!("{value:.decimals$} ms"),
            Self::Seconds => format!("{} s", value / 1000.0),
        };
        text.replace('-', "−")
    }
}

/// The points of a line that keeps its height until the next point.
#[must_use]
pub fn steps(points: &[(f64, f64)], until: f64) -> Vec<(f64, f64)> {
    let mut line = Vec::with_capacity(points.len() * 2 + 1);
    for (place, (x, y)) in points.iter().enumerate() {
        line.push((*x, *y));
        line.push((points.get(place + 1).map_or(until.max(*x), |next| next.0), *y));
    }
    line
}
