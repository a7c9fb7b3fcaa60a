//! GitHub's Markdown, for pull requests and files: the verdict, the main tables, and folded
//! details.

use std::collections::BTreeMap;

use serde_json::Value;
use syrch_core::text::escape::clip_with_remark;
use syrch_report::markdown::{code, fold, row, table, text as escape};
use syrch_report::words::{
    UNKNOWN, capital, count, count_either, decimal, dollars, figure, percent, time,
};

use super::tables;
use super::words::{answer_counts, percents, question_counts, row_counts, rule, status};
use crate::Verdict;
use crate::report::sentence::in_brackets;
use crate::report::{
    Basis, BenchmarkReport, CompareReport, Flipped, GridReport, PairReport, ReportHead, ResultRow,
    RightOne, RunReport, Section,
};
use crate::rules::Rule;

/// The tables of right answers that stand without a title: by rule, and other figures.
const PLAIN: usize = 2;
/// A comment on GitHub holds 65,536 characters: folded parts are added up to here, which leaves
/// space for the end of the last one.
const LONGEST: usize = 60_000;
/// Characters of one statement or question among the details.
const STATEMENT: usize = 2_000;

/// A report: the verdict and the main tables, then the details, folded. A benchmark ends with the
/// line `**Passed:** x/y` and a table of every answer, both as syrch 0.1.2 writes them. A
/// comparison has at most 65,536 bytes, which fit into a comment on GitHub.
#[must_use]
pub fn document(report: &RunReport) -> String {
    let mut out = String::new();
    Section::ALL.iter().for_each(|section| write(&mut out, report, *section));
    out
}

fn write(out: &mut String, report: &RunReport, section: Section) {
    let (benchmark, compare) = report.split();
    match section {
        Section::Verdict => match report {
            RunReport::Benchmark(report) => headline(out, report),
            RunReport::Compare(report) => {
                *out += "## Comparison\n\n";
                report
                    .pairs
                    .iter()
                    .for_each(|pair| *out += &format!("- {}\n", escape(&capital(&pair.verdict))));
                out.push('\n');
            }
        },
        Section::Notes => notes(out, report.basis()),
        Section::Suite => write_head(out, report.head(), report.basis()),
        Section::RightAnswers | Section::Arms | Section::Pairs => {
            for (place, one) in tables::for_section(report, section).iter().enumerate() {
                // The first tables say by their heads what they are.
                if section == Section::RightAnswers && place >= PLAIN {
                    *out += &fold(&one.title, &table(&one.grid));
                } else {
                    *out += &format!("{}\n", table(&one.grid));
                }
            }
        }
        Section::Pareto => compare.iter().for_each(|report| pareto(out, report)),
        Section::Ends
        | Section::Costs
        | Section::Expensive
        | Section::OneMoreRight
        | Section::RulesOfPairs
        | Section::Slices
        | Section::Confidence
        | Section::Judges
        | Section::Budget => {
            let most = if compare.is_some() { LONGEST } else { usize::MAX };
            for one in tables::for_section(report, section) {
                let body = table(&one.grid);
                if out.len() + body.len() < most {
                    *out += &fold(&one.title, &body);
                }
            }
        }
        Section::Flipped => {
            compare.iter().flat_map(|report| &report.pairs).for_each(|pair| write_flips(out, pair))
        }
        Section::Answers => {
            if let Some(report) = benchmark {
                let share = &report.figures.share;
                *out += &format!(
                    "**Passed:** {}/{}\n\n{}",
                    share.right,
                    share.of,
                    results(&report.results)
                );
            }
        }
        // The page and the JSON document have the plugins with their digests.
        Section::Setup => {
            for one in tables::for_section(report, section).iter().skip(1) {
                *out += &fold(&one.title, &table(&one.grid));
            }
        }
    }
}

fn headline(out: &mut String, report: &BenchmarkReport) {
    let share = &report.figures.share;
    *out += &format!(
        "## Benchmark of {}\n\n**{} right** of {} under {} (95 % interval {}).\n\n",
        escape(&report.arm.name),
        percent(share.share),
        question_counts(share.of, report.figures.outcomes.not_graded),
        escape(&report.basis.rule),
        percents(share.interval)
    );
}

/// The table of syrch 0.1.2.
fn results(rows: &[ResultRow]) -> String {
    let mut out = "| ID | Status | Exact | Rows | Cols | Conf | Tokens | Time |\n\
         | --- | --- | --- | ---: | --- | ---: | ---: | ---: |\n"
        .to_owned();
    for one in rows {
        let cells = [
            escape(&one.id),
            escape(&status(one)),
            yes_no(one.metrics.exact_match).to_owned(),
            row_counts(one),
            columns(one).to_owned(),
            decimal(one.confidence, 2),
            figure(one.tokens()),
            time(one.duration.map(|seconds| seconds * 1000.0)),
        ];
        out += &row(cells);
    }
    out
}

fn yes_no(is_so: Option<bool>) -> &'static str {
    match is_so {
        Some(true) => "yes",
        Some(false) => "no",
        None => UNKNOWN,
    }
}

/// Says whether the columns are as many as expected: a rule that counts them and calls rows right
/// says so; else it is not known.
fn columns(row: &ResultRow) -> &'static str {
    if row.rows.is_some_and(|rows| rows > 0)
        && Rule::all().iter().any(|rule: &Rule| {
            rule.counts_columns() && row.verdicts.get(rule.name()) == Some(&Verdict::Right)
        })
    {
        "yes"
    } else {
        UNKNOWN
    }
}

fn pareto(out: &mut String, report: &CompareReport) {
    let sets = [
        ("calls", &report.pareto.calls),
        ("money", &report.pareto.usd),
        ("median time", &report.pareto.p50_ms),
    ];
    for (what, names) in sets {
        if let Some(names) = names.as_ref().filter(|names| !names.is_empty()) {
            *out += &format!("Pareto edge in {what}: {}  \n", escape(&names.join(", ")));
        }
    }
    out.push('\n');
}

fn write_flips(out: &mut String, pair: &PairReport) {
    if pair.flipped.is_empty() {
        return;
    }
    let mut body = String::new();
    for (shown, one) in pair.flipped.iter().enumerate() {
        let text = flip(pair, one);
        if out.len() + body.len() + text.len() > LONGEST {
            let left = (pair.flipped.len() - shown) as u64;
            body += &format!("{} left out here; the JSON has them.\n", count(left, "question"));
            break;
        }
        body += &text;
    }
    let number = count(pair.flipped.len(), "question");
    *out += &fold(
        &format!("{number} that only one answers right: {} against {}", pair.second, pair.first),
        &body,
    );
}

fn flip(pair: &PairReport, one: &Flipped) -> String {
    let right = if one.right == RightOne::First { &pair.first } else { &pair.second };
    let question = escape(&clip_with_remark(&one.question, STATEMENT));
    let mut out = format!(
        "**{}** ({}): {question}  \nright: {}\n\n",
        escape(&one.id),
        escape(&one.db),
        escape(right)
    );
    let statements = [
        (pair.first.as_str(), &one.first_sql),
        (&pair.second, &one.second_sql),
        ("expected", &one.gold_sql),
    ];
    for (who, sql) in statements {
        match sql {
            Some(sql) => {
                out += &format!(
                    "{}:\n\n{}\n",
                    escape(who),
                    code("sql", &clip_with_remark(sql, STATEMENT))
                )
            }
            None => out += &format!("{}: no statement\n\n", escape(who)),
        }
    }
    out
}

/// A grid's summary: the best setting, what ties with it, and every cell.
#[must_use]
pub fn grid(report: &GridReport) -> String {
    let mut out = "# Grid\n\n".to_owned();
    match report.best_cell() {
        Some(best) => {
            out += &format!(
                "**Best:** {} with {}, {} and {}.\n\n",
                escape(&best.name),
                match (best.share.of, best.mean_confidence) {
                    (0, Some(sure)) => format!("confidence {sure:.2} (nothing was expected)"),
                    (0, None) => "nothing to go by".to_owned(),
                    (of, _) => format!("{} right of {}", best.share.right, count(of, "question")),
                },
                best.costs
                    .calls
                    .map_or_else(|| "calls not counted".to_owned(), |calls| count(calls, "call")),
                best.costs.usd.map_or_else(|| "unknown money".to_owned(), |usd| dollars(Some(usd))),
            );
            out += &settings(&best.settings);
        }
        None => out += &format!("{}.\n\n", capital(report.without_best())),
    }
    let ties = report.ties.len() as u64;
    if ties > 0 {
        out += &format!(
            "{} not significantly worse (exact McNemar after Holm).\n\n",
            count_either(ties, "other cell is", "other cells are")
        );
    }
    notes(&mut out, &report.basis);
    out += &table(&tables::grid(report).grid);
    out.push('\n');
    write_head(&mut out, &report.head, &report.basis);
    out.truncate(out.trim_end().len());
    out + "\n"
}

fn settings(settings: &BTreeMap<String, Value>) -> String {
    let lines: String = settings
        .iter()
        .map(|(key, value)| format!("- {} = {}\n", escape(key), escape(&plain(value))))
        .collect();
    if lines.is_empty() { lines } else { lines + "\n" }
}

fn notes(out: &mut String, basis: &Basis) {
    if let Some(model) = &basis.simulated {
        *out += &format!(
            "> **Simulated**{}: the answers are not those of a model.\n\n",
            escape(&in_brackets(model))
        );
    }
    if let Some(partial) = &basis.partial {
        *out += &format!(
            "> **Not whole**: {}. {}.\n\n",
            answer_counts(partial),
            escape(&capital(&partial.why))
        );
    }
    for warning in &basis.warnings {
        *out += &format!("> {}\n\n", escape(&capital(warning)));
    }
}

/// The suite and the rule.
fn write_head(out: &mut String, head: &ReportHead, basis: &Basis) {
    let suite = &head.suite;
    let short: String = suite.digest.chars().take(12).collect();
    let questions = count(suite.questions, "question");
    *out += &format!("Suite: {} ({questions}, {})  \n", escape(&suite.path), escape(&short));
    *out += &format!("Rule: {}\n\n", escape(&rule(&basis.rule)));
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
