//! The forest plot: a value with its interval in each row, against one line.

use syrch_report::picture::{Picture, Scale, Svg, fit_text, width};
use syrch_report::words::{capital, count, percent};

use crate::report::render::words::{percents, point_interval, points};
use crate::report::{BenchmarkReport, PairReport};
use crate::stats::Interval;

const ROW: f64 = 20.0;
const PLOT: f64 = 300.0;
const LABEL: f64 = 240.0;

/// A row of a forest plot.
struct Row<'a> {
    /// The heading of the group of rows that begins here.
    group: &'a str,
    label: String,
    /// The number of questions that the row rests on.
    questions: u64,
    value: Option<f64>,
    interval: Option<Interval>,
    /// The figures that are written beside the row.
    figures: String,
}

/// The content of a forest plot.
struct Plot<'a> {
    title: String,
    description: String,
    /// The label of the axis.
    axis: String,
    /// The reference line that every row is compared with.
    zero: Option<f64>,
    /// The meaning of the two ends of the axis.
    sides: Option<(String, String)>,
    domain: (f64, f64),
    rows: Vec<Row<'a>>,
    figures: &'static str,
}

/// The paired difference: in all, under every rule, and by every field with more than one value.
#[must_use]
pub fn differences(pair: &PairReport) -> Picture {
    let row = |group, label: &str, questions, value, interval| Row {
        group,
        label: label.to_owned(),
        questions,
        value,
        interval,
        figures: format!("{} ({})", points(value), point_interval(interval)),
    };
    let mut rows = vec![row("", "all questions", pair.questions, pair.difference, pair.interval)];
    rows.extend(
        pair.rules
            .iter()
            .map(|rule| row("rule", &rule.rule, rule.questions, rule.difference, rule.interval)),
    );
    let several = distinct_fields(pair.slices.iter().map(|slice| slice.field.as_str()));
    for slice in pair.slices.iter().filter(|slice| several.contains(&slice.field.as_str())) {
        let value = slice.value.as_deref().unwrap_or("(none)");
        rows.push(row(&slice.field, value, slice.questions, slice.difference, slice.interval));
    }
    let widest = rows
        .iter()
        .flat_map(|row| {
            [row.value, row.interval.map(|one| one.low), row.interval.map(|one| one.high)]
        })
        .flatten()
        .fold(0.01_f64, |widest, value| widest.max(value.abs()));
    draw(&Plot {
        title: format!("Difference in right answers, {} minus {}", pair.second, pair.first),
        description: format!(
            "A dot is the difference in points, its line the 95 % interval. {}.",
            capital(&pair.verdict)
        ),
        axis: "points".to_owned(),
        zero: Some(0.0),
        sides: Some((format!("{} better", pair.first), format!("{} better", pair.second))),
        domain: (-widest, widest),
        rows,
        figures: "points (95 %)",
    })
}

/// The share of right answers: in all, under every rule, and by every field with more than one
/// value.
#[must_use]
pub fn shares(report: &BenchmarkReport) -> Picture {
    let figures = &report.figures;
    let row = |group, label: &str, share: &crate::report::Share| Row {
        group,
        label: label.to_owned(),
        questions: share.of,
        value: share.share,
        interval: (share.of > 0).then_some(share.interval),
        figures: format!("{} ({})", percent(share.share), percents(share.interval)),
    };
    let mut rows = vec![row("", "all questions", &figures.share)];
    rows.extend(figures.rules.iter().map(|rule| row("rule", &rule.rule, &rule.share)));
    let several = distinct_fields(figures.slices.iter().map(|slice| slice.field.as_str()));
    for slice in figures.slices.iter().filter(|slice| several.contains(&slice.field.as_str())) {
        rows.push(row(&slice.field, slice.value.as_deref().unwrap_or("(none)"), &slice.share));
    }
    draw(&Plot {
        title: format!("Right answers of {}", report.arm.name),
        description:
            "A dot is the share of right answers, its line the 95 % interval; the line down is the \
             share of all."
                .to_owned(),
        axis: "per cent".to_owned(),
        zero: figures.share.share,
        sides: None,
        domain: (0.0, 1.0),
        rows,
        figures: "share (95 %)",
    })
}

/// The fields that have more than one value, of fields in the order of their slices.
fn distinct_fields<'a>(fields: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen: Vec<(&str, u32)> = Vec::new();
    for field in fields {
        match seen.last_mut() {
            Some((last, count)) if *last == field => *count += 1,
            _ => seen.push((field, 1)),
        }
    }
    seen.into_iter().filter(|(_, count)| *count > 1).map(|(field, _)| field).collect()
}

fn draw(plot: &Plot) -> Picture {
    let mut svg = Svg::default();
    let label = plot.rows.iter().map(|row| width(&row.label)).fold(90.0, f64::max).min(LABEL);
    let counts = label + 60.0;
    let left = counts + 24.0;
    let right = left + PLOT;
    let figures =
        plot.rows.iter().map(|row| width(&row.figures)).fold(width(plot.figures), f64::max);
    let top = if plot.sides.is_some() { 44.0 } else { 26.0 };
    let groups = plot.rows.windows(2).filter(|two| two[0].group != two[1].group).count();
    let bottom = top + ROW * (plot.rows.len() + groups) as f64 + 6.0;
    let scale = Scale::with_round_ends(plot.domain, (left, right), 6);
    let (ticks, decimals) = scale.ticks(6);
    for tick in &ticks {
        let at = scale.at(*tick);
        svg.line("rule", (at, top), (at, bottom));
        let text = format!("{:.*}", decimals.saturating_sub(2), tick * 100.0).replace('-', "−");
        svg.text("middle faint", (at, bottom + 16.0), &text);
    }
    if let Some(zero) = plot.zero {
        svg.line("zero dashed", (scale.at(zero), top), (scale.at(zero), bottom));
    }
    svg.text("right faint", (counts, top - 8.0), "questions");
    svg.text("faint", (right + 16.0, top - 8.0), plot.figures);
    svg.text("middle", ((left + right) / 2.0, bottom + 34.0), &plot.axis);
    if let Some((first, second)) = &plot.sides {
        let space = PLOT / 2.0 - 24.0;
        svg.text(
            "right faint",
            (scale.at(0.0) - 8.0, top - 8.0),
            &format!("← {}", fit_text(first, space)),
        );
        svg.text(
            "faint",
            (scale.at(0.0) + 8.0, top - 8.0),
            &format!("{} →", fit_text(second, space)),
        );
    }
    let mut y = top + ROW / 2.0 + 3.0;
    let mut group = plot.rows.first().map_or("", |row| row.group);
    for row in &plot.rows {
        if row.group != group {
            group = row.group;
            svg.text("strong", (2.0, y + 4.0), &fit_text(&format!("by {group}"), label));
            y += ROW;
        }
        draw_row(&mut svg, row, &scale, y, (counts, right + 16.0, label));
        y += ROW;
    }
    svg.finish(
        plot.title.clone(),
        plot.description.clone(),
        (right + 16.0 + figures + 4.0, bottom + 42.0),
    )
}

fn draw_row(
    svg: &mut Svg,
    row: &Row,
    scale: &Scale,
    y: f64,
    (counts, figures, label): (f64, f64, f64),
) {
    let questions = count(row.questions, "question");
    svg.open(&format!("{} {}: {}, {questions}", row.group, row.label, row.figures));
    let class = if row.group.is_empty() { "strong" } else { "" };
    svg.text(class, (2.0, y + 4.0), &fit_text(&row.label, label));
    svg.text("right faint", (counts, y + 4.0), &row.questions.to_string());
    if let Some(interval) = row.interval {
        svg.line("bar", (scale.at(interval.low), y), (scale.at(interval.high), y));
        for end in [interval.low, interval.high] {
            svg.line("bar", (scale.at(end), y - 4.0), (scale.at(end), y + 4.0));
        }
    }
    if let Some(value) = row.value {
        let at = scale.at(value);
        // The summary is a diamond, as forest plots have it.
        let mark = if row.group.is_empty() {
            svg.element("polygon")
                .points("points", &[(at, y - 7.0), (at + 7.0, y), (at, y + 7.0), (at - 7.0, y)])
        } else {
            svg.element("circle").at("cx", at).at("cy", y).at("r", 4.0)
        };
        mark.class("ink")
            .text_attribute("data-group", row.group)
            .text_attribute("data-label", &row.label)
            .count("data-questions", row.questions)
            .data("data-value", value)
            .data_if("data-low", row.interval.map(|interval| interval.low))
            .data_if("data-high", row.interval.map(|interval| interval.high))
            .end();
    }
    svg.text("", (figures, y + 4.0), &row.figures);
    svg.close();
}
