//! A chart of the ends of searches, side by side.

use std::collections::BTreeSet;

use syrch_report::picture::{
    Picture, Scale, Svg, fit_text,
    marks::{self, fill},
    width,
};
use syrch_report::words::percent;

use super::ARMS;
use crate::report::Figures;

const BAR: f64 = 12.0;
const LABEL: f64 = 200.0;
const PLOT: f64 = 360.0;

/// A class of ends and how many of each arm's searches came to it.
struct Class {
    name: String,
    counts: Vec<u64>,
}

/// Draws the outcomes of the questions of at most eight arms: right, wrong, and why there is no
/// answer. `None` if there are no questions.
#[must_use]
pub fn errors(arms: &[(&str, &Figures)]) -> Option<Picture> {
    let arms = arms.get(..ARMS.min(arms.len())).unwrap_or_default();
    let totals: Vec<u64> = arms.iter().map(|(_, figures)| figures.costs.questions).collect();
    if totals.iter().all(|total| *total == 0) {
        return None;
    }
    let classes = classes(arms);
    let names: Vec<&str> = arms.iter().map(|(name, _)| *name).collect();
    let mut svg = Svg::default();
    let top = if names.len() > 1 {
        8.0 + marks::legend(&mut svg, &names, (4.0, 12.0), 540.0, false)
    } else {
        8.0
    };
    let label = classes.iter().map(|class| width(&class.name)).fold(60.0, f64::max).min(LABEL);
    let left = label + 12.0;
    let part =
        |count: u64, arm: usize| count as f64 / totals.get(arm).copied().unwrap_or(0).max(1) as f64;
    let shares = classes
        .iter()
        .flat_map(|class| class.counts.iter().enumerate().map(|(arm, count)| part(*count, arm)));
    let scale = Scale::new((0.0, shares.fold(0.01, f64::max)), (left, left + PLOT));
    let mut y = top;
    for class in &classes {
        let high = BAR * arms.len() as f64;
        svg.text("right", (label, y + high / 2.0 + 4.0), &fit_text(&class.name, label));
        for (arm, count) in class.counts.iter().enumerate() {
            let at = y + BAR * arm as f64;
            let long = (scale.at(part(*count, arm)) - left).max(if *count > 0 { 1.0 } else { 0.0 });
            let rect = svg
                .element("rect")
                .class(fill(arm))
                .at("x", left)
                .at("y", at)
                .at("width", long)
                .at("height", BAR - 2.0);
            rect.text_attribute("data-arm", names.get(arm).copied().unwrap_or_default())
                .text_attribute("data-class", &class.name)
                .count("data-count", *count)
                .end();
            if names.len() > 1 {
                marks::shape(&mut svg, arm, (left + long + 10.0, at + BAR / 2.0 - 1.0), 3.0);
            }
            let text = format!("{count} ({})", percent(Some(part(*count, arm))));
            svg.text("faint", (left + long + 18.0, at + BAR - 2.0), &text);
        }
        y += high + 10.0;
    }
    svg.line("axis", (left, top - 4.0), (left, y - 4.0));
    let description = "Every question of an arm has one outcome; errors are parts of the outcomes \
                       without an answer.";
    Some(svg.finish("What became of the questions", description, (left + PLOT + 120.0, y + 4.0)))
}

/// The outcomes, of which each question has one, then the classes of errors, which are parts of
/// those without an answer.
fn classes(arms: &[(&str, &Figures)]) -> Vec<Class> {
    let of = |name: &str, count: &dyn Fn(&Figures) -> u64| Class {
        name: name.to_owned(),
        counts: arms.iter().map(|(_, figures)| count(figures)).collect(),
    };
    let errors: BTreeSet<&str> =
        arms.iter().flat_map(|(_, figures)| figures.errors.keys().map(String::as_str)).collect();
    let mut all = vec![
        of("right", &|figures| figures.outcomes.right),
        of("wrong", &|figures| figures.outcomes.wrong),
        of("cannot tell", &|figures| figures.outcomes.excluded),
        of("not graded", &|figures| figures.outcomes.not_graded),
        of("no answer", &|figures| figures.outcomes.no_answer),
        of("asked back", &|figures| figures.outcomes.clarify),
        of("failed", &|figures| figures.outcomes.failed),
    ];
    for class in errors {
        all.push(of(&format!("error: {class}"), &|figures| {
            figures.errors.get(class).copied().unwrap_or(0)
        }));
    }
    all.retain(|class| class.name == "right" || class.counts.iter().any(|count| *count > 0));
    all
}
