//! HTML: a page with the verdict, the pictures with their numbers, and the questions.

use syrch_report::picture::Picture;
use syrch_report::words::{count, decimal, figure, percent, time};
use syrch_report::{Html, Table};

use super::tables;
use super::words::{answer_counts, percents, question_counts, rule};
use crate::Verdict;
use crate::picture;
use crate::report::sentence::in_brackets;
use crate::report::{
    Basis, BenchmarkReport, Decision, Figures, Flipped, PairReport, ReportHead, ResultRow,
    RightOne, RunReport, Section,
};
use crate::run::End;

/// Answers that a page lists at most.
const ROWS: usize = 2_000;
/// The size in bytes at which the lists of a page end; the page is a little longer.
const LONGEST: usize = 8_000_000;

/// The page of a report.
#[must_use]
pub fn page(report: &RunReport) -> String {
    let mut html = Html::default();
    html.raw("<header>\n");
    Section::ALL.iter().for_each(|section| draw(&mut html, report, *section));
    let names: Vec<&str> = report.arms().iter().map(|(arm, _)| arm.name.as_str()).collect();
    html.page(&match report {
        RunReport::Benchmark(_) => format!("Benchmark of {}", names.join(", ")),
        RunReport::Compare(_) => format!("Comparison of {}", names.join(", ")),
    })
}

fn draw(html: &mut Html, report: &RunReport, section: Section) {
    let (benchmark, compare) = report.split();
    let own = tables::for_section(report, section);
    let figures: Vec<(&str, &Figures)> =
        report.arms().into_iter().map(|(arm, figures)| (arm.name.as_str(), figures)).collect();
    match section {
        Section::Verdict => match report {
            RunReport::Benchmark(report) => headline(html, report),
            RunReport::Compare(report) => {
                html.raw("<h1>Comparison</h1>\n");
                report.pairs.iter().for_each(|pair| verdict(html, pair));
            }
        },
        Section::Notes => notes(html, report.basis()),
        Section::Suite => {
            about(html, report.head(), report.basis());
            html.raw("</header>\n");
        }
        Section::RightAnswers => {
            if let Some(benchmark) = benchmark {
                let all = [own, tables::for_section(report, Section::Slices)].concat();
                html.raw("<h2>Right answers</h2>\n").figure(&picture::shares(benchmark), &all);
            }
        }
        Section::Arms => add_section(html, "<h2>Arms</h2>\n", None, &own),
        Section::Pareto => {
            if let Some(compare) = compare {
                html.raw("<div class=\"pictures\">\n");
                picture::cost(compare).iter().for_each(|picture| _ = html.figure(picture, &[]));
                html.raw("</div>\n");
            }
        }
        Section::Pairs => {
            add_section(html, "<h2>Differences</h2>\n", None, &own);
            for pair in compare.iter().flat_map(|compare| &compare.pairs) {
                differences(html, pair, report.rows());
            }
        }
        Section::Ends => {
            add_section(html, "<h2>Ends and errors</h2>\n", picture::errors(&figures), &own)
        }
        Section::Costs => add_section(html, "<h2>Costs</h2>\n", None, &own),
        Section::Expensive => add_section(html, "<h2>Most expensive questions</h2>\n", None, &own),
        // Each pair has them in its article; the slices of one arm are in the picture of its right
        // answers.
        Section::OneMoreRight | Section::RulesOfPairs | Section::Slices | Section::Flipped => {}
        Section::Confidence => confidence(html, &figures),
        Section::Judges => add_section(html, "<h2>Judge against truth</h2>\n", None, &own),
        Section::Budget => {
            let curves: Vec<_> = figures
                .iter()
                .map(|(name, figures)| (*name, figures.budget_curve.as_slice()))
                .collect();
            add_section(html, "<h2>Budget</h2>\n", picture::budget(&curves), &own);
        }
        // The page of a comparison shows the answers that differ, in the articles of the pairs.
        Section::Answers => benchmark.iter().for_each(|report| results(html, &report.results)),
        Section::Setup => {
            add_section(html, "<h2>What was run</h2>\n", None, &own);
            for (arm, _) in report.arms() {
                html.fold(&format!("Settings of {}", arm.name), |html| {
                    _ = html.code(&format!("{:#}", arm.settings));
                });
            }
            footer(html, report.head());
        }
    }
}

/// Adds a heading with a picture and its tables, or with the tables alone. Adds nothing where there
/// is neither.
fn add_section(html: &mut Html, heading: &'static str, picture: Option<Picture>, tables: &[Table]) {
    match picture {
        Some(picture) => _ = html.raw(heading).figure(&picture, tables),
        None if tables.is_empty() => {}
        None => {
            html.raw(heading);
            tables.iter().for_each(|table| _ = html.table(&table.grid));
        }
    }
}

fn headline(html: &mut Html, report: &BenchmarkReport) {
    let share = &report.figures.share;
    let outcomes = &report.figures.outcomes;
    html.wrap_text("<h1>Benchmark of ", &report.arm.name, "</h1>\n");
    html.wrap_text("<p class=\"headline\"><strong>", &percent(share.share), " right</strong> of ");
    html.text(&question_counts(share.of, outcomes.not_graded));
    html.wrap_text(
        " <span class=\"faint\">(95 % interval ",
        &percents(share.interval),
        ")</span></p>\n",
    );
}

fn verdict(html: &mut Html, pair: &PairReport) {
    html.raw(match pair.decision {
        Decision::Better => "<p class=\"headline verdict better\">",
        Decision::Worse => "<p class=\"headline verdict worse\">",
        Decision::Unsure => "<p class=\"headline verdict unsure\">",
        Decision::None => "<p class=\"headline verdict\">",
    });
    html.text(&pair.verdict).raw(".</p>\n");
}

fn notes(html: &mut Html, basis: &Basis) {
    if let Some(model) = &basis.simulated {
        html.wrap_text(
            "<p class=\"simulated\"><strong>Simulated</strong>",
            &in_brackets(model),
            ": the answers are not those of a model.</p>\n",
        );
    }
    if let Some(partial) = &basis.partial {
        html.wrap_text(
            "<p class=\"warning\"><strong>Not whole</strong>: ",
            &answer_counts(partial),
            "; ",
        );
        html.text(&partial.why).raw(".</p>\n");
    }
    for warning in &basis.warnings {
        html.paragraph("warning", warning);
    }
}

fn about(html: &mut Html, head: &ReportHead, basis: &Basis) {
    let suite = &head.suite;
    html.wrap_text("<p class=\"faint\">Suite ", &suite.path, ", ")
        .text(&count(suite.questions, "question"));
    html.wrap_text(", SHA-256 ", &suite.digest, "<br>Rule ").text(&rule(&basis.rule)).raw("</p>\n");
}

fn differences(html: &mut Html, pair: &PairReport, rows: &[ResultRow]) {
    html.wrap_text(
        "<article>\n<h3>",
        &format!("{} against {}", pair.second, pair.first),
        "</h3>\n",
    );
    let more = tables::one_more_right(pair).into_iter();
    let own: Vec<Table> =
        more.chain([tables::pair_rules(pair), tables::pair_slices(pair)]).collect();
    html.figure(&picture::differences(pair), &own);
    html.figure(&picture::strip(pair, rows), &[]);
    add_flips(html, pair);
    html.raw("</article>\n");
}

fn add_flips(html: &mut Html, pair: &PairReport) {
    let number = count(pair.flipped.len(), "question");
    html.fold(&format!("{number} that only one answers right"), |html| {
        for (shown, one) in pair.flipped.iter().enumerate() {
            if shown >= ROWS || html.size() > LONGEST {
                left_out(html, pair.flipped.len() - shown);
                break;
            }
            flip(html, pair, one);
        }
    });
}

fn flip(html: &mut Html, pair: &PairReport, one: &Flipped) {
    let right = if one.right == RightOne::First { &pair.first } else { &pair.second };
    html.wrap_text("<h3>", &one.id, "").wrap_text(" <small>", &one.db, "</small></h3>\n");
    html.paragraph("", &one.question).wrap_text("<p class=\"good\">right: ", right, "</p>\n");
    let statements = [
        (pair.first.as_str(), &one.first_sql),
        (&pair.second, &one.second_sql),
        ("expected", &one.gold_sql),
    ];
    for (who, sql) in statements {
        html.wrap_text("<p class=\"faint\">", who, "</p>");
        html.code(sql.as_deref().unwrap_or("no statement"));
    }
}

fn left_out(html: &mut Html, number: usize) {
    let left = match number {
        1 => "1 more is left out here; the JSON has it.".to_owned(),
        number => format!("{number} more are left out here; the JSON has them."),
    };
    html.paragraph("warning", &left);
}

fn confidence(html: &mut Html, arms: &[(&str, &Figures)]) {
    let with: Vec<_> =
        arms.iter().map(|(name, figures)| (*name, figures.calibration.as_ref())).collect();
    if with.iter().all(|(_, calibration)| calibration.is_none()) {
        html.raw(
            "<h2>Confidence</h2>\n<p class=\"faint\">No answer that counts has a confidence.</p>\n",
        );
        return;
    }
    html.raw("<h2>Confidence</h2>\n<div class=\"pictures\">\n");
    for (name, calibration) in &with {
        if let Some(calibration) = calibration {
            html.figure(&picture::reliability(name, calibration), &tables::confidence(calibration));
        }
    }
    picture::risk(&with).iter().for_each(|picture| _ = html.figure(picture, &[]));
    html.raw("</div>\n");
}

/// Every answer with the columns of syrch 0.1.2; the statements folded.
fn results(html: &mut Html, rows: &[ResultRow]) {
    html.raw("<h2>Answers</h2>\n<div class=\"wide\"><table><thead><tr>");
    html.raw(
        "<th scope=\"col\">ID</th><th scope=\"col\">Status</th><th scope=\"col\">Exact</th><th scope=\"col\">Rows</th>",
    );
    html.raw(
        "<th scope=\"col\">Conf</th><th scope=\"col\">Calls</th><th scope=\"col\">Tokens</th>",
    );
    html.raw("<th scope=\"col\">Time</th>");
    html.raw("<th scope=\"col\">Question</th></tr></thead>\n<tbody>\n");
    let mut shown = 0;
    for row in rows.iter().take(ROWS) {
        if html.size() > LONGEST {
            break;
        }
        result(html, row);
        shown += 1;
    }
    html.raw("</tbody></table></div>\n");
    if shown < rows.len() {
        left_out(html, rows.len() - shown);
    }
}

fn result(html: &mut Html, row: &ResultRow) {
    html.wrap_text("<tr><td>", &row.id, "</td><td>").text(&super::words::status(row)).raw("</td>");
    html.raw(match row.verdict {
        Some(Verdict::Right) => "<td class=\"good\">right</td>",
        Some(Verdict::Wrong) => "<td class=\"bad\">wrong</td>",
        Some(Verdict::Excluded) => "<td>cannot tell</td>",
        None => "<td>not graded</td>",
    });
    html.wrap_text("<td class=\"number\">", &super::words::row_counts(row), "</td>");
    html.wrap_text("<td class=\"number\">", &decimal(row.confidence, 2), "</td>");
    html.wrap_text("<td class=\"number\">", &figure(row.calls), "</td>");
    html.wrap_text("<td class=\"number\">", &figure(row.tokens()), "</td>");
    html.wrap_text(
        "<td class=\"number\">",
        &time(row.duration.map(|seconds| seconds * 1000.0)),
        "</td><td class=\"text\">",
    );
    html.fold(&row.question, |html| {
        html.wrap_text("<p class=\"faint\">", &row.db, "</p>");
        if row.end == End::Answered || row.sql.is_some() {
            html.wrap_text("<pre>", row.sql.as_deref().unwrap_or("no statement"), "</pre>");
        }
        if let Some(error) = row.error.as_ref().or(row.gold_fault.as_ref()) {
            html.wrap_text("<p class=\"bad\">", error, "</p>");
        }
        html.wrap_text(
            "<p class=\"faint\">expected</p><pre>",
            row.gold_sql.as_deref().unwrap_or("rows or a text"),
            "</pre>\n",
        );
    });
    html.raw("</td></tr>\n");
}

fn footer(html: &mut Html, head: &ReportHead) {
    html.wrap_text("<footer class=\"faint\">syrch-host ", &head.host, "");
    if let Some(run) = &head.run {
        html.wrap_text(", run ", run, "");
    }
    html.raw("</footer>\n");
}
