//! The tables of a report, for every renderer that shows tables: columns and rows, not yet escaped
//! or laid out.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use syrch_report::Table;
use syrch_report::words::{self, UNKNOWN, count, decimal, dollars, figure, percent, time};

use super::words::{percents, point_interval, points};
use crate::report::sentence::{e_value, p_value};
use crate::report::{
    AllRight, Band, BenchmarkReport, Calibration, CompareReport, Figures, GridReport, PairReport,
    ResultRow, RuleShare, RunReport, Section, Share,
};
use crate::rules::Rule;
use crate::run::End;
use crate::stats::Interval;

/// Points of a curve in a table at most: the JSON has them all.
const POINTS: usize = 20;
/// The title of the table of chances that each of several tries is right.
const ALL_RIGHT: &str = "All of k tries right (pass^k)";
/// Questions in the table of the most expensive ones.
const EXPENSIVE: usize = 10;

/// The tables of a section. Empty where the report has nothing of the section, or the section is
/// not made of tables.
#[must_use]
pub fn for_section(report: &RunReport, section: Section) -> Vec<Table> {
    let (benchmark, compare) = report.split();
    let pairs = || compare.iter().flat_map(|compare| &compare.pairs);
    match section {
        Section::RightAnswers => benchmark.map_or_else(Vec::new, |report| {
            let mut tables =
                vec![rules(&report.figures, &report.basis.rule), other_figures(report)];
            tables.extend(origins(&report.figures));
            tables.extend(all_right(&report.all_right));
            tables
        }),
        Section::Arms => compare.map_or_else(Vec::new, |report| {
            let mut tables = vec![arms(report)];
            tables.extend(all_right_of_arms(report));
            tables
        }),
        Section::Pairs => compare.map(self::pairs).into_iter().collect(),
        Section::Ends => vec![match report {
            RunReport::Benchmark(report) => table_of_ends(&report.figures),
            RunReport::Compare(report) => ends_of_arms(report),
        }],
        Section::Costs => benchmark.map(|report| costs(&report.figures)).into_iter().collect(),
        Section::Expensive => {
            benchmark.and_then(|report| expensive(&report.results)).into_iter().collect()
        }
        Section::OneMoreRight => pairs().filter_map(one_more_right).collect(),
        Section::RulesOfPairs => pairs().map(pair_rules).collect(),
        Section::Slices => benchmark
            .and_then(|report| slices(&report.figures))
            .into_iter()
            .chain(pairs().map(pair_slices))
            .collect(),
        // Of several arms, only the page shows the confidences, with a picture for each.
        Section::Confidence => benchmark
            .and_then(|report| report.figures.calibration.as_ref())
            .map(confidence)
            .unwrap_or_default(),
        Section::Judges => judges(report).into_iter().collect(),
        Section::Budget => match report {
            RunReport::Benchmark(report) => budget(&report.figures),
            RunReport::Compare(report) => equal_budget(report),
        }
        .into_iter()
        .collect(),
        Section::Setup => std::iter::once(plugins(report)).chain(access(report)).collect(),
        Section::Verdict
        | Section::Notes
        | Section::Suite
        | Section::Pareto
        | Section::Flipped
        | Section::Answers => Vec::new(),
    }
}

/// The cells of a grid as they are ranked, with a column for the band over seeds, for each verdict
/// beside those of the rules, and for R-VES, where there is any.
#[must_use]
pub fn grid(report: &GridReport) -> Table {
    let mut table = Table::new(
        "Cells",
        [
            "cell",
            "right",
            "of",
            "95 % interval",
            "confidence",
            "calls",
            "tokens",
            "money",
            "p50",
            "note",
        ],
    );
    let seeds = report.cells.iter().find_map(|cell| cell.band).map(|band| band.seeds);
    fn is_rule(name: &str) -> bool {
        name.parse::<Rule>().is_ok()
    }
    let beside: BTreeSet<&str> = report
        .cells
        .iter()
        .flat_map(|cell| &cell.rules)
        .map(|one| one.rule.as_str())
        .filter(|name| !is_rule(name))
        .collect();
    table.grid.columns.extend(seeds.map(|seeds| format!("over {seeds} seeds")));
    table.grid.columns.extend(beside.iter().map(|name| (*name).to_owned()));
    table.grid.columns.extend(report.timed_repeats.map(r_ves_name));
    for cell in report.rank_cells() {
        let is_best = Some(&cell.name) == report.best.as_ref();
        let note = if is_best {
            "best"
        } else if report.ties.contains(&cell.name) {
            "ties with the best"
        } else {
            ""
        };
        table.row([
            json!(cell.name),
            if cell.share.of == 0 { json!(UNKNOWN) } else { json!(cell.share.right) },
            json!(cell.share.of),
            if cell.share.of == 0 { json!(UNKNOWN) } else { json!(percents(cell.share.interval)) },
            json!(decimal(cell.mean_confidence, 2)),
            json!(cell.costs.calls),
            json!(cell.costs.tokens()),
            json!(dollars(cell.costs.usd)),
            json!(time(cell.costs.latency.map(|latency| latency.p50_ms))),
            json!(note),
        ]);
        let Some(row) = table.grid.rows.last_mut() else { continue };
        row.extend(seeds.map(|_| json!(band(cell.band))));
        row.extend(
            beside
                .iter()
                .map(|name| json!(right_of(cell.rules.iter().find(|one| one.rule == *name)))),
        );
        row.extend(report.timed_repeats.map(|_| json!(r_ves(cell.r_ves))));
    }
    table
}

/// A band of shares, `25.0 to 75.0 %`.
fn band(band: Option<Band>) -> String {
    band.map_or_else(
        || UNKNOWN.to_owned(),
        |band| percents(Interval { low: band.low, high: band.high }),
    )
}

/// Writes the number of right answers under one rule, `3 of 4`.
fn right_of(share: Option<&RuleShare>) -> String {
    share.map_or_else(
        || UNKNOWN.to_owned(),
        |one| format!("{} of {}", one.share.right, one.share.of),
    )
}

fn r_ves(r_ves: Option<f64>) -> String {
    figure(r_ves.map(|r_ves| format!("{r_ves:.1} %")))
}

fn share_cells(share: &Share) -> [Value; 5] {
    let interval = if share.of == 0 { UNKNOWN.to_owned() } else { percents(share.interval) };
    [
        json!(share.right),
        json!(share.of),
        json!(share.excluded),
        json!(percent(share.share)),
        json!(interval),
    ]
}

fn rules(figures: &Figures, rule: &str) -> Table {
    let mut table = Table::new(
        "Right answers by rule",
        ["rule", "right", "of", "cannot tell", "share", "95 % interval"],
    );
    let (own, others): (Vec<_>, Vec<_>) = figures.rules.iter().partition(|one| one.rule == rule);
    for one in own.into_iter().chain(others) {
        let [right, of, excluded, share, interval] = share_cells(&one.share);
        table.row([json!(one.rule), right, of, excluded, share, interval]);
    }
    table
}

/// Makes the table of answers by origin, and of whole conversations.
fn origins(figures: &Figures) -> Option<Table> {
    let mut table = Table::new(
        "Answers by origin",
        ["origin", "answers", "part", "right", "of", "cannot tell", "share", "95 % interval"],
    );
    for one in &figures.origins {
        let [right, of, excluded, share, interval] = share_cells(&one.share);
        let part = json!(percent(Some(one.part)));
        table.row([
            json!(one.origin),
            json!(one.answers),
            part,
            right,
            of,
            excluded,
            share,
            interval,
        ]);
    }
    (!table.grid.rows.is_empty()).then_some(table)
}

/// Makes the table of the chances that each of several tries of an arm is right.
fn all_right_of_arms(report: &CompareReport) -> Option<Table> {
    let columns = ["arm", "k", "questions", "chance", "95 % interval"];
    let mut table = Table::new(ALL_RIGHT, columns);
    for arm in &report.arms {
        for one in &arm.all_right {
            let [k, questions, chance, interval] = chance_cells(one);
            table.row([json!(arm.arm.name), k, questions, chance, interval]);
        }
    }
    (!table.grid.rows.is_empty()).then_some(table)
}

/// Makes the table of the chances that each of several tries is right.
fn all_right(chances: &[AllRight]) -> Option<Table> {
    let mut table = Table::new(ALL_RIGHT, ["k", "questions", "chance", "95 % interval"]);
    for one in chances {
        table.row(chance_cells(one));
    }
    (!table.grid.rows.is_empty()).then_some(table)
}

fn chance_cells(one: &AllRight) -> [Value; 4] {
    let interval = one.interval.map_or_else(|| UNKNOWN.to_owned(), percents);
    [json!(one.k), json!(one.of), json!(percent(Some(one.chance))), json!(interval)]
}

/// Makes the table of the other figures: soft-F1 and speed.
fn other_figures(report: &BenchmarkReport) -> Table {
    let mut table = Table::new("Other figures", ["figure", "value"]);
    table.row([json!("mean soft-F1"), json!(decimal(report.figures.soft_f1, 3))]);
    if let Some(share) = &report.figures.conversations {
        let right = format!("{} of {} ({})", share.right, share.of, percent(share.share));
        table.row([json!("conversations with all turns right"), json!(right)]);
    }
    if let (Some(_), Some(repeats)) = (report.r_ves, report.timed_repeats) {
        table.row([json!(r_ves_name(repeats)), json!(r_ves(report.r_ves))]);
    }
    table
}

fn r_ves_name(repeats: u32) -> String {
    format!("R-VES (each pair timed {})", count(repeats, "time"))
}

fn table_of_ends(figures: &Figures) -> Table {
    let mut table = Table::new("How the searches ended", ["end", "questions"]);
    let ends = &figures.ends;
    for (name, count) in [
        ("answered", ends.answered),
        ("no answer", ends.no_answer),
        ("asked back", ends.clarify),
        ("failed", ends.failed),
    ] {
        table.row([json!(name), json!(count)]);
    }
    for (class, count) in &figures.errors {
        table.row([json!(format!("error: {class}")), json!(count)]);
    }
    table
}

fn costs(figures: &Figures) -> Table {
    let costs = &figures.costs;
    let mut table = Table::new("Costs", ["what", "in all", "a question"]);
    if let Some(calls) = costs.calls {
        table.row([json!("model calls"), json!(calls), json!(decimal(costs.calls_mean, 2))]);
        table.row([json!("of them from a cache"), json!(costs.cached), json!("")]);
    }
    if let Some(tokens) = costs.tokens() {
        table.row([json!("tokens"), json!(tokens), json!(decimal(costs.tokens_mean, 0))]);
        table.row([json!("money"), json!(dollars(costs.usd)), json!(dollars(costs.usd_mean))]);
        table.row([
            json!("statements"),
            json!(costs.sql_runs),
            json!(decimal(costs.sql_runs_mean, 2)),
        ]);
    }
    if let Some(latency) = costs.latency {
        table.row([json!("time, median"), json!(""), json!(time(Some(latency.p50_ms)))]);
        table.row([json!("time, 95th percentile"), json!(""), json!(time(Some(latency.p95_ms)))]);
        table.row([json!("time, mean"), json!(""), json!(time(Some(latency.mean_ms)))]);
    }
    table
}

/// The name of a value of a field.
pub(crate) fn value_name(value: Option<&str>) -> &str {
    value.unwrap_or("(none)")
}

fn slices(figures: &Figures) -> Option<Table> {
    let mut table = Table::new(
        "Slices",
        ["field", "value", "right", "of", "cannot tell", "share", "95 % interval"],
    );
    for slice in &figures.slices {
        let [right, of, excluded, share, interval] = share_cells(&slice.share);
        let value = value_name(slice.value.as_deref());
        table.row([json!(slice.field), json!(value), right, of, excluded, share, interval]);
    }
    table.non_empty()
}

/// The tables of an arm's confidence.
pub(crate) fn confidence(calibration: &Calibration) -> Vec<Table> {
    vec![calibration_figures(calibration), bins(calibration), risk(calibration)]
}

fn calibration_figures(calibration: &Calibration) -> Table {
    let mut table = Table::new("Confidence", ["figure", "value"]);
    table.row([json!("answers with a confidence"), json!(calibration.answers)]);
    table.row([json!("answers without"), json!(calibration.without_confidence)]);
    table.row([json!("expected calibration error"), json!(decimal(Some(calibration.ece), 3))]);
    table.row([json!("Brier score"), json!(decimal(calibration.brier, 3))]);
    table.row([json!("area under the ROC curve"), json!(decimal(calibration.auroc, 3))]);
    table
}

fn bins(calibration: &Calibration) -> Table {
    let columns =
        ["confidence", "answers", "right", "mean confidence", "share right", "95 % interval"];
    let mut table = Table::new("Reliability", columns);
    for bin in &calibration.bins {
        table.row([
            json!(format!("{:.1} to {:.1}", bin.low, bin.high)),
            json!(bin.answers),
            json!(bin.right),
            json!(decimal(Some(bin.mean_confidence), 3)),
            json!(percent(Some(bin.share))),
            json!(percents(bin.interval)),
        ]);
    }
    table
}

fn risk(calibration: &Calibration) -> Table {
    let mut table =
        Table::new("Risk and coverage", ["answers given", "wrong of them", "least confidence"]);
    for point in crate::report::thin_out(&calibration.risk_coverage, POINTS) {
        table.row([
            json!(percent(Some(point.coverage))),
            json!(percent(Some(point.risk))),
            json!(decimal(Some(point.threshold), 3)),
        ]);
    }
    table
}

/// Makes the table of judges' opinions on right and on wrong statements, a row for each arm and
/// judge; `None` if none was judged.
fn judges(report: &RunReport) -> Option<Table> {
    let columns = [
        "arm",
        "judge",
        "yes, right",
        "yes, wrong",
        "no, right",
        "no, wrong",
        "wrong let pass",
        "95 % interval",
        "right refused",
        "95 % interval of these",
    ];
    let mut table = Table::new("Judge against truth (statements)", columns);
    for (arm, figures) in report.arms() {
        for judge in &figures.judges {
            table.row([
                json!(arm.name),
                json!(judge.judge),
                json!(judge.yes_right),
                json!(judge.yes_wrong),
                json!(judge.no_right),
                json!(judge.no_wrong),
                json!(percent(judge.passed.share)),
                json!(percents(judge.passed.interval)),
                json!(percent(judge.refused.share)),
                json!(percents(judge.refused.interval)),
            ]);
        }
    }
    table.non_empty()
}

fn budget(figures: &Figures) -> Option<Table> {
    let mut table =
        Table::new("Budget", ["calls a question at most", "right", "of", "share", "95 % interval"]);
    for point in crate::report::thin_out(&figures.budget_curve, POINTS) {
        table.row([
            json!(point.calls),
            json!(point.right),
            json!(point.of),
            json!(percent(point.share)),
            json!(percents(point.interval)),
        ]);
    }
    table.non_empty()
}

/// The questions whose searches took the most tokens, and of those that failed also the one that
/// took the most calls and the one that took the longest, since their tokens may not be known.
/// `None` if no search called a model.
fn expensive(all: &[ResultRow]) -> Option<Table> {
    fn tokens(row: &ResultRow) -> u64 {
        row.input_tokens.unwrap_or(0).saturating_add(row.output_tokens.unwrap_or(0))
    }
    let mut rows: Vec<&ResultRow> = all.iter().filter(|row| tokens(row) > 0).collect();
    rows.sort_by_key(|row| (Reverse(tokens(row)), row.place));
    rows.truncate(EXPENSIVE);
    let failed = || all.iter().filter(|row| row.end == End::Failed && row.calls.unwrap_or(0) > 0);
    let slowest =
        failed().max_by(|a, b| a.duration.unwrap_or(0.0).total_cmp(&b.duration.unwrap_or(0.0)));
    let busiest = failed().max_by_key(|row| row.calls);
    for row in slowest.into_iter().chain(busiest) {
        if rows.iter().all(|other| (&other.id, &other.arm) != (&row.id, &row.arm)) {
            rows.push(row);
        }
    }
    let mut table = Table::new(
        "Most expensive questions",
        ["question", "database", "calls", "tokens", "money", "time"],
    );
    for row in rows {
        table.row([
            json!(row.id),
            json!(row.db),
            json!(row.calls),
            json!(tokens(row)),
            json!(dollars(row.usd)),
            json!(time(row.duration.map(|seconds| seconds * 1_000.0))),
        ]);
    }
    table.non_empty()
}

fn arms(report: &CompareReport) -> Table {
    let columns = [
        "arm",
        "strategy",
        "right",
        "of",
        "share",
        "95 % interval",
        "calls",
        "tokens",
        "money",
        "statements",
        "p50",
        "p95",
        "ECE",
        "AUROC",
        "soft-F1",
    ];
    let mut table = Table::new("Arms (costs a question)", columns);
    table.grid.columns.extend(report.timed_repeats.map(r_ves_name));
    for arm in &report.arms {
        let figures = &arm.figures;
        let costs = &arm.figures.costs;
        let calibration = figures.calibration.as_ref();
        let [right, of, _, share, interval] = share_cells(&figures.share);
        table.row([
            json!(arm.arm.name),
            json!(arm.arm.strategy),
            right,
            of,
            share,
            interval,
            json!(decimal(costs.calls_mean, 2)),
            json!(decimal(costs.tokens_mean, 0)),
            json!(dollars(costs.usd_mean)),
            json!(decimal(costs.sql_runs_mean, 2)),
            json!(time(costs.latency.map(|latency| latency.p50_ms))),
            json!(time(costs.latency.map(|latency| latency.p95_ms))),
            json!(decimal(calibration.map(|one| one.ece), 3)),
            json!(decimal(calibration.and_then(|one| one.auroc), 3)),
            json!(decimal(figures.soft_f1, 3)),
        ]);
        if let (Some(_), Some(row)) = (report.timed_repeats, table.grid.rows.last_mut()) {
            row.push(json!(r_ves(arm.r_ves)));
        }
    }
    table
}

fn pairs(report: &CompareReport) -> Table {
    let columns = [
        "first",
        "second",
        "questions",
        "only first",
        "only second",
        "difference",
        "95 % interval",
        "p",
        "after Holm",
        "detectable",
        "E",
    ];
    let mut table = Table::new("Pairs (second minus first, in points)", columns);
    for pair in &report.pairs {
        table.row([
            json!(pair.first),
            json!(pair.second),
            json!(pair.questions),
            json!(pair.b),
            json!(pair.c),
            json!(points(pair.difference)),
            json!(point_interval(pair.interval)),
            json!(p_value(pair.mcnemar).trim_start_matches("= ")),
            json!(p_value(pair.holm).trim_start_matches("= ")),
            json!(figure(pair.minimum_detectable.map(words::points))),
            json!(e_value(pair.e_process.value)),
        ]);
    }
    table
}

fn name(pair: &PairReport) -> String {
    format!("{} against {}", pair.second, pair.first)
}

/// Makes the table of the cost of one more right answer of the second arm.
pub(crate) fn one_more_right(pair: &PairReport) -> Option<Table> {
    let cost = pair.cost_of_one_more_right?;
    let mut table = Table::new(format!("One more right answer: {}", name(pair)), ["what", "more"]);
    table.row([json!("model calls"), json!(decimal(cost.calls, 1))]);
    table.row([json!("money"), json!(dollars(cost.usd))]);
    Some(table)
}

/// The difference of two arms under each rule.
pub(crate) fn pair_rules(pair: &PairReport) -> Table {
    let columns =
        ["rule", "questions", "only first", "only second", "difference", "95 % interval", "p"];
    let mut table = Table::new(format!("By rule: {}", name(pair)), columns);
    for rule in &pair.rules {
        table.row([
            json!(rule.rule),
            json!(rule.questions),
            json!(rule.b),
            json!(rule.c),
            json!(points(rule.difference)),
            json!(point_interval(rule.interval)),
            json!(p_value(rule.mcnemar).trim_start_matches("= ")),
        ]);
    }
    table
}

/// The difference of two arms by the fields of the questions.
pub(crate) fn pair_slices(pair: &PairReport) -> Table {
    let columns =
        ["field", "value", "questions", "only first", "only second", "difference", "95 % interval"];
    let mut table = Table::new(format!("Slices: {}", name(pair)), columns);
    for slice in &pair.slices {
        table.row([
            json!(slice.field),
            json!(value_name(slice.value.as_deref())),
            json!(slice.questions),
            json!(slice.b),
            json!(slice.c),
            json!(points(slice.difference)),
            json!(point_interval(slice.interval)),
        ]);
    }
    table
}

fn equal_budget(report: &CompareReport) -> Option<Table> {
    let mut table = Table::new("Share right at equal budget", ["calls a question at most"]);
    table.grid.columns.extend(report.arms.iter().map(|arm| arm.arm.name.clone()));
    for row in crate::report::thin_out(&report.equal_budget, POINTS) {
        let shares = row.arms.iter().map(|arm| json!(percent(arm.share)));
        table.grid.rows.push(std::iter::once(json!(row.calls)).chain(shares).collect());
    }
    table.non_empty()
}

fn ends_of_arms(report: &CompareReport) -> Table {
    let mut table = Table::new(
        "How the searches ended",
        ["arm", "answered", "no answer", "asked back", "failed", "errors"],
    );
    for arm in &report.arms {
        let ends = &arm.figures.ends;
        let errors: Vec<String> =
            arm.figures.errors.iter().map(|(class, count)| format!("{class} {count}")).collect();
        table.row([
            json!(arm.arm.name),
            json!(ends.answered),
            json!(ends.no_answer),
            json!(ends.clarify),
            json!(ends.failed),
            json!(errors.join(", ")),
        ]);
    }
    table
}

fn plugins(report: &RunReport) -> Table {
    let mut table = Table::new("Plugins", ["arm", "strategy", "role", "plugin", "SHA-256"]);
    for (arm, _) in report.arms() {
        for plugin in &arm.plugins {
            table.row(
                [&arm.name, &arm.strategy, &plugin.role, &plugin.source, &plugin.digest]
                    .map(|cell| json!(cell)),
            );
        }
    }
    table
}

/// The wishes, grants and uses of plugins that are not built in.
fn access(report: &RunReport) -> Option<Table> {
    let columns = ["arm", "plugin", "wanted", "granted", "used", "denied", "stopped by"];
    let mut table = Table::new("Grants of plugins that are not built in", columns);
    for (arm, figures) in report.arms() {
        for one in &figures.access {
            let granted = one.granted.as_ref();
            let granted =
                granted.map_or_else(|| "all (in no lock)".to_owned(), |words| words.join(", "));
            table.row(
                [
                    arm.name.clone(),
                    one.plugin.clone(),
                    one.wanted.join(", "),
                    granted,
                    count_each(&one.used),
                    count_each(&one.denied),
                    count_each(&one.limits),
                ]
                .map(|cell| json!(cell)),
            );
        }
    }
    table.non_empty()
}

/// The names with their counts, such as `llm 3, sql 1`.
fn count_each(counts: &BTreeMap<String, u64>) -> String {
    let each = counts.iter().map(|(name, count)| format!("{name} {count}"));
    each.collect::<Vec<_>>().join(", ")
}
