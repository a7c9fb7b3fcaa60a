//! The time line of a run as SVG: a bar for each call.

use syrch::journal::{CallEnd, SearchTree, What};
use syrch_report::Html;

use super::calls;

const LABEL: u64 = 250;
const WIDTH: u64 = 560;
const ROW: u64 = 18;

/// Bars at most; the table below has all calls.
const MOST: usize = 400;

/// The time line as an SVG element.
pub(super) fn svg(tree: &SearchTree) -> Html {
    let shown = tree.calls.len().min(MOST);
    let height = (shown as u64 + 1) * ROW + 6;
    let mut svg = Html::default();
    svg.open_drawing("timeline", "time line", LABEL + WIDTH + 20, height);
    axis(&mut svg, tree, height);
    for (place, call) in tree.calls.iter().take(shown).enumerate() {
        let y = (place as u64 + 1) * ROW;
        let (first, last) = calls::span(tree, call, WIDTH);
        let label = match &call.what {
            What::Model(model) => format!("{} {}", calls::caller(tree, call), model.purpose),
            What::Statement { .. } | What::Other => {
                format!("{} {}", calls::caller(tree, call), call.port)
            }
        };
        let label: String = label.chars().take(40).collect();
        svg.raw("<g><title>").text(&calls::what(call)).raw("</title>");
        svg.raw("<text x=\"4\" y=\"").number(y + 12).raw("\">").text(&label).raw("</text>");
        svg.raw("<rect rx=\"2\" class=\"").raw(kind(&call.what)).raw(end(call.end));
        svg.numbers([("\" x=\"", LABEL + first), ("\" y=\"", y + 3)]);
        svg.numbers([("\" width=\"", (last - first).max(2))]).raw("\" height=\"12\"/></g>\n");
    }
    svg.raw("</svg>\n");
    if tree.calls.len() > shown {
        svg.raw("<p class=\"faint\">")
            .number((tree.calls.len() - shown) as u64)
            .raw(" more calls are in the table only.</p>\n");
    }
    svg
}

fn axis(svg: &mut Html, tree: &SearchTree, height: u64) {
    for quarter in 0..=4_u64 {
        let x = LABEL + WIDTH * quarter / 4;
        svg.numbers([("<line class=\"axis\" x1=\"", x), ("\" x2=\"", x)]);
        svg.numbers([("\" y1=\"14\" y2=\"", height)]).raw("\"/>");
        let at_us = tree.took_us.saturating_mul(quarter) / 4;
        svg.raw("<text class=\"faint\" text-anchor=\"middle\" x=\"").number(x).raw("\" y=\"11\">");
        svg.decimal(at_us as f64 / 1e6, 2).raw(" s</text>\n");
    }
}

fn kind(what: &What) -> &'static str {
    match what {
        What::Model(model) if model.cached => "model cached",
        What::Model(_) => "model",
        What::Statement { .. } => "statement",
        What::Other => "other",
    }
}

fn end(end: CallEnd) -> &'static str {
    match end {
        CallEnd::Done => "",
        CallEnd::Failed => " failed",
        CallEnd::GivenUp | CallEnd::Open => " cut",
    }
}
