//! A page that stands alone: before and after, plans side by side, and the measurements drawn.

use serde_json::json;
use syrch_optimizing::Iteration;
use syrch_report::picture::{self, TimedPair};
use syrch_report::{Grid, Html};

use super::document::{RunDocument, Shown};
use super::section::Section;
use super::{Measured, words};

/// Statements of a run whose sections a page shows; the others are in its table only.
const STATEMENTS: usize = 200;

/// The page of a statement.
pub(crate) fn page(shown: Shown<'_>) -> String {
    let mut html = Html::default();
    html.wrap_text("<header>\n<h1>", shown.name, "</h1>\n");
    for section in Section::ALL {
        draw(&mut html, shown, *section);
        if *section == Section::Notes {
            html.raw("</header>\n");
        }
    }
    html.page(&format!("Optimized: {}", shown.name))
}

/// The page of a run over a corpus.
pub(crate) fn run(run: &RunDocument) -> String {
    let mut html = Html::default();
    html.raw("<header>\n<h1>Optimized corpus</h1>\n");
    let class =
        if run.passed { "<p class=\"headline good\">" } else { "<p class=\"headline bad\">" };
    html.wrap_text(class, &super::run_verdict(run), "</p>\n");
    if let Some(advice) = &run.advice {
        html.paragraph("", advice);
    }
    let about =
        format!("{} ({}), run {}, syrch-host {}", run.manifest, run.digest, run.run, run.host);
    html.wrap_text("<p class=\"faint\">", &about, "</p>\n</header>\n").raw("<h2>Gates</h2>\n");
    html.table(&super::gates_grid(run)).raw("<h2>Totals</h2>\n");
    html.table(&super::totals_grid(run)).raw("<h2>Statements</h2>\n");
    html.table(&super::statements_grid(&run.statements));
    for line in run.statements.iter().take(STATEMENTS) {
        html.fold(&line.file, |html| {
            Section::ALL.iter().for_each(|section| draw(html, Shown::from_line(line), *section))
        });
    }
    html.page(&format!("Optimized corpus {}", run.manifest))
}

fn draw(html: &mut Html, shown: Shown<'_>, section: Section) {
    let Shown { description, document, .. } = shown;
    let report = &document.report;
    match section {
        Section::Verdict => {
            let is_sure = report.is_optimized() && report.is_confirmed();
            let class =
                if is_sure { "<p class=\"headline good\">" } else { "<p class=\"headline\">" };
            html.wrap_text(class, &words::verdict(report), "</p>\n");
            html.paragraph("faint", super::PROMISE);
        }
        Section::Notes => {
            for warning in &document.warnings {
                html.paragraph("warning", warning);
            }
        }
        Section::Statements => {
            if !description.is_empty() {
                html.paragraph("", description);
            }
            html.raw("<h2>Statements</h2>\n");
            beside(
                html,
                &report.original,
                report.is_optimized().then_some(report.best.as_str()),
                "unchanged",
            );
            if let Some(reads) = words::reads(report) {
                html.paragraph("faint", &reads);
            }
            if report.original != report.given {
                html.fold("As it was given", |html| _ = html.code(&report.given));
            }
        }
        Section::Plans => {
            if let Some(plans) = &report.plans {
                html.raw("<h2>Plans</h2>\n");
                let none =
                    if report.is_optimized() { "the engine showed none" } else { "unchanged" };
                beside(
                    html,
                    &plans.before.text,
                    plans.after.as_ref().map(|after| after.text.as_str()),
                    none,
                );
            }
        }
        Section::Timings => {
            if let Some(last) = &report.confirmation {
                html.raw("<h2>Measurement</h2>\n");
                figure(
                    html,
                    "Original against the best statement",
                    &Measured::from_confirmation(last),
                );
            }
            if let Some(probe) = &report.probe {
                html.paragraph("faint", &words::noise(probe.noise));
            }
        }
        Section::Iterations => {
            if !report.iterations.is_empty() {
                html.raw("<h2>Iterations</h2>\n");
                html.table(&super::iterations_grid(document));
                report.iterations.iter().for_each(|iteration| draw_iteration(html, iteration));
            }
        }
        Section::Setup => {
            html.fold("What it was done with", |html| {
                _ = html.code(&format!("{:#}", words::setup(document)));
            });
            html.wrap_text("<footer class=\"faint\">", &words::about(document), "</footer>\n");
        }
    }
}

fn draw_iteration(html: &mut Html, iteration: &Iteration) {
    let Iteration { n, state, detail, family, reason, sql, round, .. } = iteration;
    html.fold(&format!("{n}. {family}: {}", words::state(*state)), |html| {
        html.paragraph("", reason);
        if let Some(detail) = detail {
            html.paragraph("bad", detail);
        }
        if !sql.is_empty() {
            html.code(sql);
        }
        if let Some(measured) = Measured::from_round(round.as_ref()) {
            figure(html, "The best statement so far against the proposal", &measured);
        }
    });
}

/// Two texts side by side, before and after; what stands in place of the second where there is
/// none.
fn beside(html: &mut Html, before: &str, after: Option<&str>, none: &str) {
    html.raw("<div class=\"beside\">\n");
    for (head, text) in [("before", Some(before)), ("after", after)] {
        html.wrap_text("<div>\n<h3>", head, "</h3>\n");
        match text {
            Some(text) => html.code(text),
            None => html.paragraph("faint", none),
        };
        html.raw("</div>\n");
    }
    html.raw("</div>\n");
}

fn figure(html: &mut Html, title: &str, measured: &Measured) {
    let pairs: Vec<TimedPair> = measured
        .pairs
        .iter()
        .map(|[before_ms, after_ms]| TimedPair { before_ms: *before_ms, after_ms: *after_ms })
        .collect();
    if let Some(picture) = picture::timings(title, &pairs) {
        html.figure(&picture, &[]);
        let mut grid = Grid::new(["pair", "before ms", "after ms"]);
        for (place, [before, after]) in measured.pairs.iter().enumerate() {
            grid.rows.push(vec![json!(place + 1), json!(before), json!(after)]);
        }
        html.fold("The pairs", |html| _ = html.table(&grid));
    }
}

#[cfg(test)]
mod tests {
    use super::super::made;
    use super::*;

    #[test]
    fn no_text_of_a_statement_becomes_markup() {
        for page in [
            page(made::report_entry(&made::make_optimized())),
            page(made::report_entry(&made::make_refused())),
            run(&made::run()),
        ] {
            assert!(!page.contains("<script") && !page.contains('\u{1b}'), "{page}");
            assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{page}");
            assert!(page.contains("default-src 'none'; style-src 'unsafe-inline'"), "{page}");
            for tag in ["pre", "header", "div", "details", "table", "figure"] {
                let opened = page.matches(&format!("<{tag}>")).count()
                    + page.matches(&format!("<{tag} ")).count();
                assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}: {page}");
            }
        }
    }

    #[test]
    fn the_page_has_both_plans_and_every_pair() {
        let page = page(made::report_entry(&made::make_optimized()));
        for text in [
            "3.4 × faster (412 → 121 ms",
            "SEARCH t",
            "<h3>before</h3>",
            "<h3>after</h3>",
            "rule `limit`, at LIMIT",
        ] {
            assert!(page.contains(text), "{text}: {page}");
        }
        // Of the last measurement, and of the iteration that was accepted.
        assert_eq!(page.matches("data-before-ms=").count(), 6);
    }
}
