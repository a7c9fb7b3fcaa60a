//! The reliability diagram: how often answers of one confidence are right.

use syrch_report::picture::{Frame, Picture, Scale, Svg, Unit};

use crate::report::Calibration;

/// The height of the histogram below the diagram, which shows the number of answers in each bin.
const COUNTS: f64 = 46.0;

/// The diagram of one arm, with how many answers each bin rests on below it.
#[must_use]
pub fn reliability(arm: &str, calibration: &Calibration) -> Picture {
    let frame = Frame { left: 56.0, top: 34.0, right: 376.0, bottom: 354.0 };
    let x = Scale::new((0.0, 1.0), (frame.left, frame.right));
    let y = Scale::new((0.0, 1.0), (frame.bottom, frame.top));
    let mut svg = Svg::default();
    frame.axes(
        &mut svg,
        (&x, Unit::Plain, "confidence"),
        (&y, Unit::Percent, "right answers (95 % interval)"),
    );
    svg.line("axis dashed", (x.at(0.0), y.at(0.0)), (x.at(1.0), y.at(1.0)));
    let most = calibration.bins.iter().map(|bin| bin.answers).max().unwrap_or(1).max(1);
    let base = frame.bottom + 50.0 + COUNTS;
    for bin in &calibration.bins {
        let at = (x.at(bin.mean_confidence), y.at(bin.share));
        let high = COUNTS * bin.answers as f64 / most as f64;
        svg.open(&format!(
            "{:.1} to {:.1}: {} of {} right",
            bin.low, bin.high, bin.right, bin.answers
        ));
        let whisker = svg.element("line").class("whisker s0");
        whisker
            .at("x1", at.0)
            .at("y1", y.at(bin.interval.low))
            .at("x2", at.0)
            .at("y2", y.at(bin.interval.high))
            .end();
        svg.element("circle")
            .class("f0")
            .at("cx", at.0)
            .at("cy", at.1)
            .at("r", 5.0)
            .data("data-from", bin.low)
            .data("data-to", bin.high)
            .data("data-confidence", bin.mean_confidence)
            .data("data-share", bin.share)
            .data("data-low", bin.interval.low)
            .data("data-high", bin.interval.high)
            .count("data-answers", bin.answers)
            .count("data-right", bin.right)
            .end();
        let left = x.at(bin.low) + 1.0;
        let right = x.at(bin.high) - 1.0;
        let rect = svg.element("rect").class("both").at("x", left).at("y", base - high);
        rect.at("width", (right - left).max(1.0))
            .at("height", high)
            .count("data-answers", bin.answers)
            .end();
        svg.text("middle faint", ((left + right) / 2.0, base + 14.0), &bin.answers.to_string());
        svg.close();
    }
    svg.line("axis", (frame.left, base), (frame.right, base));
    svg.text("right faint", (frame.left - 6.0, base + 14.0), "answers");
    let auroc = calibration.auroc.map(|auroc| format!(", AUROC {auroc:.3}")).unwrap_or_default();
    let title = format!("Reliability of {arm}");
    let description = format!(
        "A dot is a tenth of the scale of confidence; on the dashed line confidence equals the \
         share of right answers, below it claims too much. Expected calibration error \
         {:.3}{auroc}.",
        calibration.ece
    );
    svg.finish(title, description, (frame.right + 24.0, base + 22.0))
}
