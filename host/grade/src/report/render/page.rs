//! The page of a report: its document, with the pictures and tables of each section. The components
//! of `serve` show it.

use serde_json::{Value, json};
use syrch_report::picture::Picture;
use syrch_report::{Table, page};

use super::tables;
use crate::picture;
use crate::report::{CompareReport, Figures, PairReport, RunReport, Section};

/// The answers that a page lists at most.
const ROWS: usize = 2_000;

/// The title of the page.
#[must_use]
pub fn title(report: &RunReport) -> String {
    let names: Vec<&str> = report.arms().iter().map(|(arm, _)| arm.name.as_str()).collect();
    match report {
        RunReport::Benchmark(_) => format!("Benchmark of {}", names.join(", ")),
        RunReport::Compare(_) => format!("Comparison of {}", names.join(", ")),
    }
}

/// The document of a page that stands alone: that of the report with `sections`, and with
/// `left_out`, the number of answers beyond the limit.
#[must_use]
pub fn document(report: &RunReport) -> Value {
    // Reports consist of texts and numbers, which JSON has.
    let mut document = serde_json::to_value(report).unwrap_or_default();
    document["sections"] = sections(report).into();
    document["left_out"] = report.rows().len().saturating_sub(ROWS).into();
    if let Some(results) = document["results"].as_array_mut() {
        results.truncate(ROWS);
    }
    document
}

/// The pictures and tables of the sections, in their order.
#[must_use]
pub fn sections(report: &RunReport) -> Vec<Value> {
    Section::ALL.iter().flat_map(|section| draw(report, *section)).collect()
}

fn draw(report: &RunReport, section: Section) -> Vec<Value> {
    let (benchmark, compare) = report.split();
    let own = tables::for_section(report, section);
    let figures: Vec<(&str, &Figures)> =
        report.arms().into_iter().map(|(arm, figures)| (arm.name.as_str(), figures)).collect();
    let drawn = match section {
        // The components show these from the document, and the slices of one arm are in the picture
        // of its right answers.
        Section::Verdict
        | Section::Notes
        | Section::Suite
        | Section::OneMoreRight
        | Section::RulesOfPairs
        | Section::Slices
        | Section::Flipped
        | Section::Answers => None,
        Section::RightAnswers => benchmark.and_then(|benchmark| {
            let all = [own, tables::for_section(report, Section::Slices)].concat();
            show("Right answers", vec![picture::shares(benchmark)], &all)
        }),
        Section::Arms => show("Figures", Vec::new(), &own),
        Section::Pareto => {
            compare.and_then(|compare| show("Right answers and costs", picture::cost(compare), &[]))
        }
        Section::Pairs => return draw_pairs(report, compare, &own),
        Section::Ends => show("Ends and errors", Vec::from_iter(picture::errors(&figures)), &own),
        Section::Costs => show("Costs", Vec::new(), &own),
        Section::Expensive => show("Most expensive questions", Vec::new(), &own),
        Section::Confidence => (!figures.is_empty()).then(|| draw_confidence(&figures)),
        Section::Judges => show("Judge against truth", Vec::new(), &own),
        Section::Budget => {
            let curves: Vec<_> = figures
                .iter()
                .map(|(name, figures)| (*name, figures.budget_curve.as_slice()))
                .collect();
            show("Budget", Vec::from_iter(picture::budget(&curves)), &own)
        }
        Section::Setup => show("What was run", Vec::new(), &own),
    };
    drawn.into_iter().collect()
}

/// A section; `None` if it has neither a picture nor a table.
fn show(title: &str, pictures: Vec<Picture>, tables: &[Table]) -> Option<Value> {
    if pictures.is_empty() && tables.is_empty() {
        return None;
    }
    Some(write_section(title, &[], &pictures, tables))
}

fn write_section(title: &str, remarks: &[String], pictures: &[Picture], tables: &[Table]) -> Value {
    let pictures: Vec<Value> = pictures.iter().map(page::picture).collect();
    let tables: Vec<Value> = tables.iter().map(|one| page::table(&one.title, &one.grid)).collect();
    json!({"title": title, "remarks": remarks, "pictures": pictures, "tables": tables})
}

fn draw_pairs(report: &RunReport, compare: Option<&CompareReport>, own: &[Table]) -> Vec<Value> {
    let pairs = compare.iter().flat_map(|compare| &compare.pairs);
    let pairs = pairs.filter_map(|pair: &PairReport| {
        let more = tables::one_more_right(pair).into_iter();
        let own: Vec<Table> =
            more.chain([tables::pair_rules(pair), tables::pair_slices(pair)]).collect();
        let pictures = vec![picture::differences(pair), picture::strip(pair, report.rows())];
        show(&format!("{} against {}", pair.second, pair.first), pictures, &own)
    });
    show("Differences", Vec::new(), own).into_iter().chain(pairs).collect()
}

/// The confidences of all arms, with a remark on those that have none.
fn draw_confidence(arms: &[(&str, &Figures)]) -> Value {
    let with: Vec<_> =
        arms.iter().map(|(name, figures)| (*name, figures.calibration.as_ref())).collect();
    let mut pictures = Vec::new();
    let mut all = Vec::new();
    for (name, calibration) in &with {
        if let Some(calibration) = calibration {
            pictures.push(picture::reliability(name, calibration));
            all.extend(tables::confidence(calibration));
        }
    }
    if !pictures.is_empty() {
        pictures.extend(picture::risk(&with));
    }
    let without = with.iter().filter(|(_, calibration)| calibration.is_none());
    let remarks: Vec<String> = match with.len() {
        1 => without.map(|_| "No answer that counts has a confidence.".to_owned()).collect(),
        _ => without
            .map(|(name, _)| format!("No answer of {name} that counts has a confidence."))
            .collect(),
    };
    write_section("Confidence", &remarks, &pictures, &all)
}
