//! Reports as text, for people at a terminal.

mod benchmark;
mod compare;

use serde_json::Value;
use syrch_grading::grade::report::render::tables;
use syrch_grading::grade::report::{Basis, RunReport, Section};
use syrch_report::Table;
use syrch_report::words::count;

use crate::sink::{table, terminal};

/// The report as text. `slices` are the fields of the suite whose values are shown one by one.
pub(crate) fn document(report: &RunReport, slices: &[String], width: Option<u16>) -> String {
    Section::ALL.iter().map(|section| render_section(report, *section, slices, width)).collect()
}

fn render_section(
    report: &RunReport,
    section: Section,
    slices: &[String],
    width: Option<u16>,
) -> String {
    let drawn = |tables: Vec<Table>| {
        tables.iter().map(|table| render_table(table, width)).collect::<String>()
    };
    let own = tables::for_section(report, section);
    match (section, report) {
        (Section::Verdict, RunReport::Benchmark(report)) => benchmark::headline(report),
        (Section::Verdict, RunReport::Compare(report)) => {
            report.pairs.iter().map(|pair| line(&pair.verdict)).collect()
        }
        // The warnings go to standard error.
        (Section::Notes, _) => describe_unfinished(report.basis()),
        (
            Section::RightAnswers
            | Section::Arms
            | Section::Pairs
            | Section::Costs
            | Section::OneMoreRight,
            _,
        ) => drawn(own),
        (Section::Ends, RunReport::Benchmark(_)) | (Section::Budget, RunReport::Compare(_)) => {
            drawn(own)
        }
        (Section::Pareto, RunReport::Compare(report)) => compare::pareto(report),
        (Section::Slices, RunReport::Benchmark(_)) if slices.is_empty() => {
            drawn(own.into_iter().filter_map(benchmark::hardness).collect())
        }
        (Section::Slices, _) => {
            drawn(own.into_iter().filter_map(|table| filter_fields(table, slices)).collect())
        }
        (Section::Flipped, RunReport::Compare(report)) => {
            report.pairs.iter().map(compare::list_flips).collect()
        }
        (Section::Answers, RunReport::Benchmark(report)) => {
            drawn(benchmark::worst_databases(&report.results).into_iter().collect())
        }
        // What one arm or several do not have, what the headline names, and what is too long for a
        // terminal.
        (Section::Pareto | Section::Flipped | Section::Budget, RunReport::Benchmark(_))
        | (Section::Ends | Section::Answers, RunReport::Compare(_))
        | (
            Section::Suite
            | Section::Expensive
            | Section::RulesOfPairs
            | Section::Confidence
            | Section::Judges
            | Section::Setup,
            _,
        ) => String::new(),
    }
}

/// Writes how many answers an unfinished run has, and why there are no more, on a line; empty if
/// the run is complete.
pub(crate) fn describe_unfinished(basis: &Basis) -> String {
    let Some(partial) = &basis.partial else { return String::new() };
    line(&format!("{} of {}: {}", partial.done, count(partial.of, "answer"), partial.why))
}

fn line(text: &str) -> String {
    format!("{}\n", terminal::line(text))
}

/// A table under its title.
fn render_table(shown: &Table, width: Option<u16>) -> String {
    format!("\n{}{}", line(&shown.title), table::render(&shown.grid, width))
}

/// The rows of these fields from a table of slices. `None` if there are no such rows.
fn filter_fields(mut table: Table, fields: &[String]) -> Option<Table> {
    table.grid.rows.retain(|row: &Vec<Value>| {
        row.first()
            .and_then(Value::as_str)
            .is_some_and(|name| fields.iter().any(|field| field == name))
    });
    table.non_empty()
}

#[cfg(test)]
mod tests {
    use syrch_grading::grade::report::Partial;

    use super::*;

    #[test]
    fn missing_answers_are_counted() {
        let stopped = |of| Some(Partial { done: 0, of, why: "it was interrupted".into() });
        assert_eq!(partial_of(stopped(1)), "0 of 1 answer: it was interrupted\n");
        assert_eq!(partial_of(stopped(9)), "0 of 9 answers: it was interrupted\n");
        assert_eq!(partial_of(None), "");
    }

    fn partial_of(partial: Option<Partial>) -> String {
        super::describe_unfinished(&Basis {
            rule: "bag-v1".into(),
            simulated: None,
            partial,
            warnings: Vec::new(),
        })
    }
}
