//! One HTML file without outside requests: the verdict, the pictures with their numbers, and the questions.

use super::page::Html;
use super::text::{self, Table};
use super::words::{UNKNOWN, count, counted, decimal, of_answers, percent, percents, rule, time};
use crate::picture;
use crate::report::sentence::in_brackets;
use crate::report::{
    Basis, BenchmarkReport, CompareReport, Decision, Figures, PairReport, ReportHead, ResultRow, RightOne,
};
use crate::run::{Arm, End};
use crate::{Verdict, report::Flipped};

/// Answers that a page lists at most.
const ROWS: usize = 2_000;
/// Bytes of a page at most, about: lists end there, too.
const LONGEST: usize = 8_000_000;

/// The page of a benchmark.
#[must_use]
pub fn benchmark(report: &BenchmarkReport) -> String {
    let (figures, name) = (&report.figures, report.arm.name.as_str());
    let mut html = Html::default();
    html.tagged("<header>\n<h1>Benchmark of ", name, "</h1>\n");
    let share = &figures.share;
    html.tagged("<p class=\"headline\"><strong>", &percent(share.share), " right</strong> of ");
    html.text(&counted(share.of, figures.outcomes.not_graded));
    html.tagged(" <span class=\"faint\">(95 % interval ", &percents(share.interval), ")</span></p>\n");
    notes(&mut html, &report.basis);
    about(&mut html, &report.head, &report.basis);
    html.raw("</header>\n");
    let tables = text::benchmark(report);
    html.raw("<h2>Right answers</h2>\n");
    html.figure(&picture::shares(report), &with(&tables, &["Right answers by rule", "Other figures", "Slices"]));
    html.raw("<h2>Ends and errors</h2>\n");
    picture_of(&mut html, picture::errors(&[(name, figures)]), &with(&tables, &["How the searches ended"]));
    confidence(&mut html, &[(name, figures)]);
    html.raw("<h2>Costs</h2>\n");
    with(&tables, &["Costs"]).iter().for_each(|table| _ = html.table(table));
    picture_of(&mut html, picture::budget(&[(name, &figures.budget_curve)]), &with(&tables, &["Budget"]));
    results(&mut html, &report.results);
    arms(&mut html, std::iter::once(&report.arm));
    footer(&mut html, &report.head);
    html.page(&format!("Benchmark of {name}"))
}

/// The page of a comparison.
#[must_use]
pub fn compare(report: &CompareReport) -> String {
    let mut html = Html::default();
    html.raw("<header>\n<h1>Comparison</h1>\n");
    for pair in &report.pairs {
        verdict(&mut html, pair);
    }
    notes(&mut html, &report.basis);
    about(&mut html, &report.head, &report.basis);
    html.raw("</header>\n");
    let tables = text::compare(report);
    html.raw("<h2>Arms</h2>\n");
    with(&tables, &["Arms"]).iter().for_each(|table| _ = html.table(table));
    html.raw("<div class=\"pictures\">\n");
    picture::cost(report).iter().for_each(|picture| _ = html.figure(picture, &[]));
    html.raw("</div>\n<h2>Differences</h2>\n");
    with(&tables, &["Pairs"]).iter().for_each(|table| _ = html.table(table));
    for pair in &report.pairs {
        differences(&mut html, pair, report, &tables);
    }
    let figures: Vec<(&str, &Figures)> = report.arms.iter().map(|arm| (arm.arm.name.as_str(), &arm.figures)).collect();
    html.raw("<h2>Ends and errors</h2>\n");
    picture_of(&mut html, picture::errors(&figures), &with(&tables, &["How the searches ended"]));
    confidence(&mut html, &figures);
    html.raw("<h2>Budget</h2>\n");
    let curves: Vec<_> = figures.iter().map(|(name, figures)| (*name, figures.budget_curve.as_slice())).collect();
    picture_of(&mut html, picture::budget(&curves), &with(&tables, &["Share right at equal budget"]));
    arms(&mut html, report.arms.iter().map(|arm| &arm.arm));
    footer(&mut html, &report.head);
    let names: Vec<&str> = report.arms.iter().map(|arm| arm.arm.name.as_str()).collect();
    html.page(&format!("Comparison of {}", names.join(", ")))
}

/// The tables whose titles begin so.
fn with<'a>(tables: &'a [Table], titles: &[&str]) -> Vec<&'a Table> {
    tables.iter().filter(|table| titles.iter().any(|title| table.title.starts_with(title))).collect()
}

fn picture_of(html: &mut Html, picture: Option<picture::Picture>, tables: &[&Table]) {
    match picture {
        Some(picture) => _ = html.figure(&picture, tables),
        None => tables.iter().for_each(|table| _ = html.table(table)),
    }
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
        html.tagged(
            "<p class=\"simulated\"><strong>Simulated</strong>",
            &in_brackets(model),
            ": the answers are not those of a model.</p>\n",
        );
    }
    if let Some(partial) = &basis.partial {
        html.tagged("<p class=\"warning\"><strong>Not whole</strong>: ", &of_answers(partial), "; ");
        html.text(&partial.why).raw(".</p>\n");
    }
    for warning in &basis.warnings {
        html.tagged("<p class=\"warning\">", warning, "</p>\n");
    }
}

fn about(html: &mut Html, head: &ReportHead, basis: &Basis) {
    let suite = &head.suite;
    html.tagged("<p class=\"faint\">Suite ", &suite.path, ", ").text(&count(suite.questions, "question", "questions"));
    html.tagged(", SHA-256 ", &suite.digest, "<br>Rule ").text(&rule(&basis.rule)).raw("</p>\n");
}

fn differences(html: &mut Html, pair: &PairReport, report: &CompareReport, tables: &[Table]) {
    let name = format!("{} against {}", pair.second, pair.first);
    html.tagged("<article>\n<h3>", &name, "</h3>\n");
    let titles: Vec<String> =
        ["By rule", "Slices", "One more right answer"].iter().map(|title| format!("{title}: {name}")).collect();
    let own: Vec<&Table> = tables.iter().filter(|table| titles.contains(&table.title)).collect();
    html.figure(&picture::differences(pair), &own);
    html.figure(&picture::strip(pair, &report.results), &[]);
    flipped(html, pair);
    html.raw("</article>\n");
}

fn flipped(html: &mut Html, pair: &PairReport) {
    let number = count(pair.flipped.len() as u64, "question", "questions");
    html.fold(&format!("{number} that only one answers right"), |html| {
        for (shown, one) in pair.flipped.iter().enumerate() {
            if shown >= ROWS || html.len() > LONGEST {
                left_out(html, pair.flipped.len() - shown);
                break;
            }
            flip(html, pair, one);
        }
    });
}

fn flip(html: &mut Html, pair: &PairReport, one: &Flipped) {
    let right = if one.right == RightOne::First { &pair.first } else { &pair.second };
    html.tagged("<h3>", &one.id, "").tagged(" <small>", &one.db, "</small></h3>\n");
    html.tagged("<p>", &one.question, "</p>\n").tagged("<p class=\"good\">right: ", right, "</p>\n");
    let statements =
        [(pair.first.as_str(), &one.first_sql), (&pair.second, &one.second_sql), ("expected", &one.gold_sql)];
    for (who, sql) in statements {
        html.tagged("<p class=\"faint\">", who, "</p>");
        html.tagged("<pre>", sql.as_deref().unwrap_or("no statement"), "</pre>\n");
    }
}

fn left_out(html: &mut Html, number: usize) {
    let left = match number {
        1 => "1 more is left out here; the JSON has it.".to_owned(),
        number => format!("{number} more are left out here; the JSON has them."),
    };
    html.tagged("<p class=\"warning\">", &left, "</p>\n");
}

fn confidence(html: &mut Html, arms: &[(&str, &Figures)]) {
    let with: Vec<_> = arms.iter().map(|(name, figures)| (*name, figures.calibration.as_ref())).collect();
    if with.iter().all(|(_, calibration)| calibration.is_none()) {
        html.raw("<h2>Confidence</h2>\n<p class=\"faint\">No answer that counts has a confidence.</p>\n");
        return;
    }
    html.raw("<h2>Confidence</h2>\n<div class=\"pictures\">\n");
    for (name, calibration) in &with {
        if let Some(calibration) = calibration {
            html.figure(
                &picture::reliability(name, calibration),
                &text::confidence(calibration).iter().collect::<Vec<_>>(),
            );
        }
    }
    picture_of(html, picture::risk(&with), &[]);
    html.raw("</div>\n");
}

/// Every answer with the columns of syrch 0.1.2; the statements folded.
fn results(html: &mut Html, rows: &[ResultRow]) {
    html.raw("<h2>Answers</h2>\n<div class=\"wide\"><table><thead><tr>");
    html.raw(
        "<th scope=\"col\">ID</th><th scope=\"col\">Status</th><th scope=\"col\">Exact</th><th scope=\"col\">Rows</th>",
    );
    html.raw("<th scope=\"col\">Conf</th><th scope=\"col\">Calls</th><th scope=\"col\">Tokens</th>");
    html.raw("<th scope=\"col\">Time</th>");
    html.raw("<th scope=\"col\">Question</th></tr></thead>\n<tbody>\n");
    let mut shown = 0;
    for row in rows.iter().take(ROWS) {
        if html.len() > LONGEST {
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
    html.tagged("<tr><td>", &row.id, "</td><td>").text(&super::words::status(row)).raw("</td>");
    html.raw(match row.verdict {
        Some(Verdict::Right) => "<td class=\"good\">right</td>",
        Some(Verdict::Wrong) => "<td class=\"bad\">wrong</td>",
        Some(Verdict::Excluded) => "<td>cannot tell</td>",
        None => "<td>not graded</td>",
    });
    html.tagged("<td class=\"number\">", &super::words::of_rows(row), "</td>");
    html.tagged("<td class=\"number\">", &decimal(row.confidence, 2), "</td>");
    html.tagged(
        "<td class=\"number\">",
        &row.calls.map_or_else(|| UNKNOWN.to_owned(), |calls| calls.to_string()),
        "</td>",
    );
    html.tagged(
        "<td class=\"number\">",
        &row.tokens().map_or_else(|| UNKNOWN.to_owned(), |tokens| tokens.to_string()),
        "</td>",
    );
    html.tagged(
        "<td class=\"number\">",
        &time(row.duration.map(|seconds| seconds * 1000.0)),
        "</td><td class=\"text\">",
    );
    html.fold(&row.question, |html| {
        html.tagged("<p class=\"faint\">", &row.db, "</p>");
        if row.end == End::Answered || row.sql.is_some() {
            html.tagged("<pre>", row.sql.as_deref().unwrap_or("no statement"), "</pre>");
        }
        if let Some(error) = row.error.as_ref().or(row.gold_fault.as_ref()) {
            html.tagged("<p class=\"bad\">", error, "</p>");
        }
        html.tagged(
            "<p class=\"faint\">expected</p><pre>",
            row.gold_sql.as_deref().unwrap_or("rows or a text"),
            "</pre>\n",
        );
    });
    html.raw("</td></tr>\n");
}

fn arms<'a>(html: &mut Html, arms: impl Iterator<Item = &'a Arm>) {
    html.raw("<h2>What was run</h2>\n");
    let mut table = Table::new("Plugins", ["arm", "strategy", "role", "plugin", "SHA-256"]);
    let mut settings = Vec::new();
    for arm in arms {
        for plugin in &arm.plugins {
            let cells = [&arm.name, &arm.strategy, &plugin.role, &plugin.source, &plugin.digest];
            table.rows.push(cells.map(|cell| serde_json::Value::from(cell.as_str())).to_vec());
        }
        settings.push((&arm.name, format!("{:#}", arm.settings)));
    }
    html.table(&table);
    for (name, settings) in settings {
        html.fold(&format!("Settings of {name}"), |html| _ = html.tagged("<pre>", &settings, "</pre>\n"));
    }
}

fn footer(html: &mut Html, head: &ReportHead) {
    html.tagged("<footer class=\"faint\">syrch-host ", &head.host, "");
    if let Some(run) = &head.run {
        html.tagged(", run ", run, "");
    }
    html.raw("</footer>\n");
}
