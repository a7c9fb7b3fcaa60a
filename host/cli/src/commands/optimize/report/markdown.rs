//! GitHub's Markdown, for issues and pull requests.

use syrch_report::markdown::{code, table, text as escape};

use super::document::{RunDocument, Shown};
use super::section::Section;
use super::{Measured, words};

/// The report on a statement.
pub(crate) fn document(shown: Shown<'_>) -> String {
    let sections = Section::ALL.iter().map(|section| text(shown, *section, "##"));
    format!("# {}\n\n{}\n", escape(shown.name), join(sections))
}

/// The report on a run over a corpus.
pub(crate) fn run(run: &RunDocument) -> String {
    let about = format!(
        "{} ({}), run {}, syrch-host {}",
        escape(&run.manifest),
        escape(&run.digest),
        escape(&run.run),
        escape(&run.host)
    );
    let head = [
        "# Optimized corpus".to_owned(),
        format!("**{}**", escape(&super::run_verdict(run))),
        run.advice.as_deref().map(escape).unwrap_or_default(),
        about,
        "## Gates".to_owned(),
        table(&super::gates_grid(run)).trim_end().to_owned(),
        "## Totals".to_owned(),
        table(&super::totals_grid(run)).trim_end().to_owned(),
        "## Statements".to_owned(),
        table(&super::statements_grid(&run.statements)).trim_end().to_owned(),
    ];
    let each = run.statements.iter().map(|one| {
        let shown = Shown::from_line(one);
        let sections = Section::ALL.iter().map(|section| text(shown, *section, "####"));
        format!("### {}\n\n{}", escape(shown.name), join(sections))
    });
    join(head.into_iter().chain(each)) + "\n"
}

fn join(parts: impl Iterator<Item = String>) -> String {
    parts
        .map(|part| part.trim_end().to_owned())
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("\n\n")
}

/// A section; empty where the document has nothing of it.
fn text(shown: Shown<'_>, section: Section, heading: &str) -> String {
    let Shown { description, document, .. } = shown;
    let report = &document.report;
    match section {
        Section::Verdict => {
            format!("**{}**\n\n{}", escape(&words::verdict(report)), escape(super::PROMISE))
        }
        Section::Notes => {
            document.warnings.iter().map(|warning| format!("- {}\n", escape(warning))).collect()
        }
        Section::Statements => {
            let after =
                report.is_optimized().then(|| format!("\nAfter:\n\n{}", code("sql", &report.best)));
            let about = match description {
                "" => String::new(),
                text => format!("{}\n\n", escape(text)),
            };
            let reads = words::describe_columns(report)
                .map(|reads| format!("\n{}", escape(&reads)))
                .unwrap_or_default();
            let before = code("sql", &report.original);
            format!(
                "{about}{heading} Statements\n\nBefore:\n\n{before}{}{reads}",
                after.unwrap_or_default()
            )
        }
        Section::Plans => {
            let Some(plans) = &report.plans else { return String::new() };
            let shown = [("Before", Some(&plans.before)), ("After", plans.after.as_ref())];
            let shown = shown.into_iter().filter_map(|(head, plan)| {
                Some(format!("{head}:\n\n{}", code("", plan?.text.trim_end())))
            });
            format!("{heading} Plans\n\n{}", shown.collect::<Vec<_>>().join("\n"))
        }
        Section::Timings => {
            let Some(last) = &report.confirmation else { return String::new() };
            let noise = report.probe.map(|probe| format!("\n\n{}", words::noise(probe.noise)));
            let pairs = super::pairs_grid(&Measured::from_confirmation(last));
            format!(
                "{heading} Measurement\n\n{}{}",
                table(&pairs).trim_end(),
                noise.unwrap_or_default()
            )
        }
        Section::Iterations => {
            if report.iterations.is_empty() {
                return String::new();
            }
            let all = report.iterations.iter().filter(|iteration| !iteration.sql.is_empty()).map(
                |iteration| {
                    format!(
                        "{}. {}\n\n{}",
                        iteration.n,
                        escape(&iteration.reason),
                        code("sql", &iteration.sql)
                    )
                },
            );
            let table = table(&super::iterations_grid(document));
            format!(
                "{heading} Iterations\n\n{}\n\n{}",
                table.trim_end(),
                all.collect::<Vec<_>>().join("\n")
            )
        }
        Section::Setup => {
            let setup = code("json", &format!("{:#}", words::setup(document)));
            format!("{}\n\n{setup}", escape(&words::describe_origin(document)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::made;
    use super::*;

    #[test]
    fn no_text_of_a_statement_becomes_markup() {
        let of = |one| document(made::report_entry(&one));
        for text in [of(made::make_optimized()), of(made::make_refused()), run(&made::run())] {
            assert!(!text.contains('\u{1b}'), "{text}");
            let mut fence = String::new();
            for line in text.lines() {
                let ticks: String = line.chars().take_while(|c| *c == '`').collect();
                match fence.is_empty() {
                    true if ticks.len() >= 3 => fence = ticks,
                    true => assert!(!line.contains("<script"), "{line}"),
                    false if line == fence => fence.clear(),
                    false => {}
                }
            }
            assert!(fence.is_empty(), "a block of code is open: {text}");
        }
    }

    #[test]
    fn the_text_has_all_sections() {
        let text = document(made::report_entry(&made::make_optimized()));
        for head in [
            "## Statements",
            "## Plans",
            "## Measurement",
            "## Iterations",
            "**3.4 × faster (412 → 121 ms",
        ] {
            assert!(text.contains(head), "{head}: {text}");
        }
        let text = document(made::report_entry(&made::make_refused()));
        assert!(!text.contains("## Plans") && !text.contains("## Iterations"), "{text}");
    }
}
