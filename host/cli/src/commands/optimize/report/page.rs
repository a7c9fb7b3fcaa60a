//! A page that stands alone: before and after, plans side by side, and the measurements drawn. The
//! components of `serve` show its parts, one after the other.

use serde_json::{Value, json};
use syrch_optimizing::Iteration;
use syrch_report::page;
use syrch_report::picture::{self, TimedPair};
use syrch_serve::static_page;

use super::document::{RunDocument, Shown};
use super::section::Section;
use super::{Measured, words};
use crate::sink::Grid;

/// Statements of a run whose sections a page shows; the others are in its table only.
const STATEMENTS: usize = 200;

/// The page of a statement.
pub(crate) fn statement(shown: Shown<'_>) -> String {
    let mut parts = Parts::default();
    parts.add_sections(shown);
    static_page(&format!("Optimized: {}", shown.name), "parts", &json!(parts.0))
}

/// The page of a run over a corpus.
pub(crate) fn run(run: &RunDocument) -> String {
    let mut parts = Parts::default();
    let class = if run.passed { "sentence good" } else { "sentence failure" };
    parts.add_text(class, &super::run_verdict(run));
    if let Some(advice) = &run.advice {
        parts.add_text("", advice);
    }
    let about =
        format!("{} ({}), run {}, syrch-host {}", run.manifest, run.digest, run.run, run.host);
    parts.add_text("dim", &about);
    parts.add_table("Gates", &super::gates_grid(run));
    parts.add_table("Totals", &super::totals_grid(run));
    parts.add_table("Statements", &super::statements_grid(&run.statements));
    for line in run.statements.iter().take(STATEMENTS) {
        parts.fold(&line.file, |parts| parts.add_sections(Shown::from_line(line)));
    }
    static_page(&format!("Optimized corpus {}", run.manifest), "parts", &json!(parts.0))
}

/// The parts of a page, in their order. `host/serve/page/src/sections.tsx` shows them.
#[derive(Default)]
struct Parts(Vec<Value>);

impl Parts {
    fn add_heading(&mut self, text: &str) {
        self.0.push(json!({"kind": "heading", "text": text}));
    }

    /// Adds a paragraph of a class of the style sheet.
    fn add_text(&mut self, class: &str, text: &str) {
        self.0.push(json!({"kind": "text", "class": class, "text": text}));
    }

    /// Adds a text as it is spaced, such as a statement.
    fn add_code(&mut self, label: &str, text: &str) {
        self.0.push(json!({"kind": "code", "label": label, "text": text}));
    }

    /// Adds two texts side by side, before and after; what stands in place of the second where
    /// there is none.
    fn add_sides(&mut self, before: &str, after: Option<&str>, none: &str) {
        self.0.push(json!({"kind": "sides", "before": before, "after": after, "none": none}));
    }

    fn add_table(&mut self, title: &str, grid: &Grid) {
        self.add_heading(title);
        self.0.push(json!({"kind": "table", "table": page::table(title, grid)}));
    }

    /// Adds parts that the reader sees after a click on their title.
    fn fold(&mut self, title: &str, body: impl FnOnce(&mut Self)) {
        let mut parts = Self::default();
        body(&mut parts);
        self.0.push(json!({"kind": "fold", "title": title, "parts": parts.0}));
    }

    fn add_sections(&mut self, shown: Shown<'_>) {
        Section::ALL.iter().for_each(|section| self.add_section(shown, *section));
    }

    fn add_section(&mut self, shown: Shown<'_>, section: Section) {
        let Shown { description, document, .. } = shown;
        let report = &document.report;
        match section {
            Section::Verdict => {
                let is_sure = report.is_optimized() && report.is_confirmed();
                let class = if is_sure { "sentence good" } else { "sentence" };
                self.add_text(class, &words::verdict(report));
                self.add_text("dim", super::PROMISE);
            }
            Section::Notes => {
                document.warnings.iter().for_each(|warning| self.add_text("warning", warning));
            }
            Section::Statements => {
                if !description.is_empty() {
                    self.add_text("", description);
                }
                self.add_heading("Statements");
                let best = report.is_optimized().then_some(report.best.as_str());
                self.add_sides(&report.original, best, "unchanged");
                if let Some(reads) = words::describe_columns(report) {
                    self.add_text("dim", &reads);
                }
                if report.original != report.given {
                    let title = "As it was given";
                    self.fold(title, |parts| parts.add_code(title, &report.given));
                }
            }
            Section::Plans => {
                if let Some(plans) = &report.plans {
                    self.add_heading("Plans");
                    let none =
                        if report.is_optimized() { "the engine showed none" } else { "unchanged" };
                    let after = plans.after.as_ref().map(|after| after.text.as_str());
                    self.add_sides(&plans.before.text, after, none);
                }
            }
            Section::Timings => {
                if let Some(last) = &report.confirmation {
                    self.add_heading("Measurement");
                    let title = "Original against the best statement";
                    self.add_figure(title, &Measured::from_confirmation(last));
                }
                if let Some(probe) = &report.probe {
                    self.add_text("dim", &words::noise(probe.noise));
                }
            }
            Section::Iterations => {
                if !report.iterations.is_empty() {
                    self.add_table("Iterations", &super::iterations_grid(document));
                    report.iterations.iter().for_each(|iteration| self.add_iteration(iteration));
                }
            }
            Section::Setup => {
                let title = "What it was done with";
                let setup = format!("{:#}", words::setup(document));
                self.fold(title, |parts| parts.add_code(title, &setup));
                self.add_text("dim", &words::describe_origin(document));
            }
        }
    }

    fn add_iteration(&mut self, iteration: &Iteration) {
        let Iteration { n, state, detail, family, reason, sql, round, .. } = iteration;
        self.fold(&format!("{n}. {family}: {}", words::state(*state)), |parts| {
            parts.add_text("", reason);
            if let Some(detail) = detail {
                parts.add_text("failure", detail);
            }
            if !sql.is_empty() {
                parts.add_code(&format!("Statement of {n}"), sql);
            }
            if let Some(measured) = Measured::from_round(round.as_ref()) {
                parts.add_figure("The best statement so far against the proposal", &measured);
            }
        });
    }

    fn add_figure(&mut self, title: &str, measured: &Measured) {
        let pairs: Vec<TimedPair> = measured
            .pairs
            .iter()
            .map(|[before_ms, after_ms]| TimedPair { before_ms: *before_ms, after_ms: *after_ms })
            .collect();
        let Some(picture) = picture::timings(title, &pairs) else { return };
        self.0.push(json!({"kind": "picture", "picture": page::picture(&picture)}));
        let table = page::table("The pairs", &super::pairs_grid(measured));
        self.fold("The pairs", |parts| parts.0.push(json!({"kind": "table", "table": table})));
    }
}

#[cfg(test)]
mod tests {
    use super::super::made;
    use super::*;

    /// The document of a page.
    fn read(page: &str) -> Value {
        let (_, rest) = page.split_once("id=\"document\">").unwrap();
        let (data, _) = rest.split_once("</script>").unwrap();
        serde_json::from_str(data).unwrap()
    }

    #[test]
    fn no_text_of_a_statement_becomes_markup() {
        for page in [
            statement(made::report_entry(&made::make_optimized())),
            statement(made::report_entry(&made::make_refused())),
            run(&made::run()),
        ] {
            assert!(!page.contains("<script>alert") && !page.contains('\u{1b}'), "{page}");
            assert!(read(&page).to_string().contains("<script>alert(1)</script>"), "{page}");
        }
    }

    #[test]
    fn the_page_has_both_plans_and_every_pair() {
        let page = read(&statement(made::report_entry(&made::make_optimized()))).to_string();
        for text in [
            "3.4 × faster (412 → 121 ms",
            "SEARCH t",
            "\"before\":",
            "\"after\":",
            "rule `limit`, at LIMIT",
        ] {
            assert!(page.contains(text), "{text}: {page}");
        }
        // Of the last measurement, and of the iteration that was accepted.
        assert_eq!(page.matches("data-before-ms=").count(), 6);
    }
}
