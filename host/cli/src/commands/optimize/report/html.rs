//! A page that stands alone: before and after, plans side by side, and the measurements drawn.

use serde_json::{Value, json};
use syrch::grade::page::Html;
use syrch::grade::picture::{self, TimedPair};

use super::document::{Document, Iteration, Measured, RunDocument, Statement};
use super::section::Section;
use super::words;

/// Statements of a run whose sections a page shows; the others are in its table only.
const STATEMENTS: usize = 200;

/// The page of a statement.
pub(crate) fn page(document: &Document) -> String {
    let mut html = Html::default();
    html.tagged("<header>\n<h1>", &document.name, "</h1>\n");
    draw(&mut html, document);
    html.page(&format!("Optimized: {}", document.name))
}

/// The page of a run over a corpus.
pub(crate) fn run(run: &RunDocument) -> String {
    let mut html = Html::default();
    html.raw("<header>\n<h1>Optimized corpus</h1>\n");
    let class = if run.passed { "<p class=\"headline good\">" } else { "<p class=\"headline bad\">" };
    html.tagged(class, &super::run_verdict(run), "</p>\n");
    if let Some(advice) = &run.advice {
        html.tagged("<p>", advice, "</p>\n");
    }
    let about = format!("{} ({}), run {}, syrch-host {}", run.manifest, run.digest, run.run, run.host);
    html.tagged("<p class=\"faint\">", &about, "</p>\n</header>\n").raw("<h2>Gates</h2>\n");
    let gates = super::gates_grid(run);
    html.table(&gates.columns, &gates.rows).raw("<h2>Statements</h2>\n");
    let statements = super::statements_grid(&run.statements);
    html.table(&statements.columns, &statements.rows);
    for document in run.statements.iter().take(STATEMENTS) {
        html.fold(&document.name, |html| draw(html, document));
    }
    html.page(&format!("Optimized corpus {}", run.manifest))
}

fn draw(html: &mut Html, document: &Document) {
    Section::ALL.iter().for_each(|section| draw_section(html, document, *section));
}

fn draw_section(html: &mut Html, document: &Document, section: Section) {
    match section {
        Section::Verdict => {
            let class = if document.is_optimized() { "<p class=\"headline good\">" } else { "<p class=\"headline\">" };
            html.tagged(class, &words::verdict(document), "</p>\n");
            html.tagged("<p class=\"faint\">", super::PROMISE, "</p>\n");
        }
        Section::Notes => {
            for warning in &document.warnings {
                html.tagged("<p class=\"warning\">", warning, "</p>\n");
            }
            html.raw("</header>\n");
        }
        Section::Statements => {
            if !document.description.is_empty() {
                html.tagged("<p>", &document.description, "</p>\n");
            }
            html.raw("<h2>Statements</h2>\n");
            let before = document.original.as_ref().map_or(&document.given, |original| &original.sql);
            let after = document.best.as_ref().map(|best| best.sql.as_str());
            beside(html, Some(before), after);
            if document.original.as_ref().is_some_and(|original| original.sql != document.given) {
                html.fold("As it was given", |html| _ = html.tagged("<pre>", &document.given, "</pre>\n"));
            }
        }
        Section::Plans => {
            let plan = |statement: &Option<Statement>| Some(statement.as_ref()?.plan.as_ref()?.text.clone());
            let (before, after) = (plan(&document.original), plan(&document.best));
            if before.is_some() || after.is_some() {
                html.raw("<h2>Plans</h2>\n");
                beside(html, before.as_deref(), after.as_deref());
            }
        }
        Section::Timings => {
            if let Some(last) = &document.last {
                html.raw("<h2>Measurement</h2>\n");
                figure(html, "Original against the best statement", last);
            }
            if let Some(noise) = document.noise {
                html.tagged("<p class=\"faint\">", &words::noise(noise), "</p>\n");
            }
        }
        Section::Iterations => {
            if !document.iterations.is_empty() {
                html.raw("<h2>Iterations</h2>\n");
                let grid = super::iterations_grid(document);
                html.table(&grid.columns, &grid.rows);
                document.iterations.iter().for_each(|iteration| draw_iteration(html, iteration));
            }
        }
        Section::Setup => {
            html.fold("What it was done with", |html| {
                _ = html.tagged("<pre>", &format!("{:#}", document.settings), "</pre>\n");
            });
            let run = document.run.as_ref().map(|run| format!(", run {run}")).unwrap_or_default();
            let about = format!("{}{run}, syrch-host {}, {}", document.database, document.host, document.schema);
            html.tagged("<footer class=\"faint\">", &about, "</footer>\n");
        }
    }
}

fn draw_iteration(html: &mut Html, iteration: &Iteration) {
    let Iteration { number, state, detail, family, why, sql, measured } = iteration;
    html.fold(&format!("{number}. {family}: {}", words::state(state)), |html| {
        html.tagged("<p>", why, "</p>\n");
        if let Some(detail) = detail {
            html.tagged("<p class=\"bad\">", detail, "</p>\n");
        }
        if !sql.is_empty() {
            html.tagged("<pre>", sql, "</pre>\n");
        }
        if let Some(measured) = measured {
            figure(html, "The best statement so far against the proposal", measured);
        }
    });
}

/// Two texts side by side, before and after.
fn beside(html: &mut Html, before: Option<&str>, after: Option<&str>) {
    html.raw("<div class=\"beside\">\n");
    for (head, text) in [("before", before), ("after", after)] {
        html.tagged("<div>\n<h3>", head, "</h3>\n");
        match text {
            Some(text) => html.tagged("<pre>", text, "</pre>\n"),
            None => html.raw("<p class=\"faint\">unchanged</p>\n"),
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
        let columns = ["pair", "before ms", "after ms"].map(str::to_owned);
        let row = |(place, [before, after]): (usize, &[f64; 2])| -> Vec<Value> {
            vec![json!(place + 1), json!(before), json!(after)]
        };
        let rows: Vec<Vec<Value>> = measured.pairs.iter().enumerate().map(row).collect();
        html.fold("The pairs", |html| _ = html.table(&columns, &rows));
    }
}

#[cfg(test)]
mod tests {
    use super::super::made;
    use super::*;

    #[test]
    fn no_text_of_a_statement_becomes_markup() {
        for page in [page(&made::optimized()), page(&made::refused()), run(&made::run())] {
            assert!(!page.contains("<script") && !page.contains('\u{1b}'), "{page}");
            assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{page}");
            assert!(page.contains("default-src 'none'; style-src 'unsafe-inline'"), "{page}");
            let (opened, closed) = (page.matches("<pre>").count(), page.matches("</pre>").count());
            assert_eq!(opened, closed);
        }
    }

    #[test]
    fn the_page_has_both_plans_and_every_pair() {
        let page = page(&made::optimized());
        for text in
            ["3.4 × faster (412 → 121 ms", "SEARCH t", "<h3>before</h3>", "<h3>after</h3>", "rule `limit`, at LIMIT"]
        {
            assert!(page.contains(text), "{text}: {page}");
        }
        // Of the last measurement, and of the iteration that was accepted.
        assert_eq!(page.matches("data-before-ms=").count(), 6);
        assert_eq!(page.matches("<header>").count(), page.matches("</header>").count());
    }
}
