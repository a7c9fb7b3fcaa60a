//! GitHub's Markdown, for issues and pull requests.

use syrch::syrch_core::text::escape::{fenced, markdown as escape};

use super::document::{Document, RunDocument, Statement};
use super::section::Section;
use super::words;
use crate::sink::markdown::table;

/// The report on a statement.
pub(crate) fn document(document: &Document) -> String {
    let sections = Section::ALL.iter().map(|section| text(document, *section, "##"));
    format!("# {}\n\n{}\n", escape(&document.name), join(sections))
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
        "## Statements".to_owned(),
        table(&super::statements_grid(&run.statements)).trim_end().to_owned(),
    ];
    let each = run.statements.iter().map(|one| {
        let sections = Section::ALL.iter().map(|section| text(one, *section, "####"));
        format!("### {}\n\n{}", escape(&one.name), join(sections))
    });
    join(head.into_iter().chain(each)) + "\n"
}

fn join(parts: impl Iterator<Item = String>) -> String {
    parts.map(|part| part.trim_end().to_owned()).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// A section; empty where the document has nothing of it.
fn text(document: &Document, section: Section, heading: &str) -> String {
    match section {
        Section::Verdict => format!("**{}**\n\n{}", escape(&words::verdict(document)), escape(super::PROMISE)),
        Section::Notes => document.warnings.iter().map(|warning| format!("- {}\n", escape(warning))).collect(),
        Section::Statements => {
            let before = document.original.as_ref().map_or(&document.given, |original| &original.sql);
            let after = document.best.as_ref().map(|best| format!("\nAfter:\n\n{}", fenced("sql", &best.sql)));
            let about = match document.description.as_str() {
                "" => String::new(),
                text => format!("{}\n\n", escape(text)),
            };
            format!("{about}{heading} Statements\n\nBefore:\n\n{}{}", fenced("sql", before), after.unwrap_or_default())
        }
        Section::Plans => {
            let plan = |head: &str, statement: &Option<Statement>| {
                let plan = statement.as_ref()?.plan.as_ref()?;
                Some(format!("{head}:\n\n{}", fenced("", plan.text.trim_end())))
            };
            let plans = [plan("Before", &document.original), plan("After", &document.best)];
            let plans: Vec<String> = plans.into_iter().flatten().collect();
            if plans.is_empty() { String::new() } else { format!("{heading} Plans\n\n{}", plans.join("\n")) }
        }
        Section::Timings => {
            let Some(last) = &document.last else { return String::new() };
            let noise = document.noise.map(|noise| format!("\n\n{}", words::noise(noise)));
            let pairs = super::pairs_grid(last);
            format!("{heading} Measurement\n\n{}{}", table(&pairs).trim_end(), noise.unwrap_or_default())
        }
        Section::Iterations => {
            if document.iterations.is_empty() {
                return String::new();
            }
            let all = document.iterations.iter().filter(|iteration| !iteration.sql.is_empty()).map(|iteration| {
                format!("{}. {}\n\n{}", iteration.number, escape(&iteration.why), fenced("sql", &iteration.sql))
            });
            let table = table(&super::iterations_grid(document));
            format!("{heading} Iterations\n\n{}\n\n{}", table.trim_end(), all.collect::<Vec<_>>().join("\n"))
        }
        Section::Setup => {
            let run = document.run.as_ref().map(|run| format!(", run {run}")).unwrap_or_default();
            let about = format!("{}{run}, syrch-host {}, {}", document.database, document.host, document.schema);
            format!("{}\n\n{}", escape(&about), fenced("json", &format!("{:#}", document.settings)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::made;
    use super::*;

    #[test]
    fn no_text_of_a_statement_becomes_markup() {
        for text in [document(&made::optimized()), document(&made::refused()), run(&made::run())] {
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
        let text = document(&made::optimized());
        for head in ["## Statements", "## Plans", "## Measurement", "## Iterations", "**3.4 × faster (412 → 121 ms"]
        {
            assert!(text.contains(head), "{head}: {text}");
        }
        let text = document(&made::refused());
        assert!(!text.contains("## Plans") && !text.contains("## Iterations"), "{text}");
    }
}
