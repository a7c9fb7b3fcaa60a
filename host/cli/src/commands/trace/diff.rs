//! `trace diff`: two searches side by side.

use serde_json::{Value, json};
use syrch::journal::{
    CandidatePair, CandidateSide, MatchedBy, SearchTree, Shown, TaskPair, TreeDiff,
};
use syrch_report::terminal::{Picture, Style};
use syrch_report::words::count;

use super::super::Context;
use crate::exit::Exit;
use crate::failure::Outcome;
use crate::sink::{Format, Grid, plain, table};

/// Characters of values that stand on one line.
const SHORT: usize = 30;

/// Prints the differences of two runs.
pub(crate) fn run(context: &Context, runs: [&str; 2], fails: bool) -> Outcome {
    let diff = compare_runs(context, runs)?;
    if !diff.same_question {
        context.console.warn("the two searches were not asked the same question");
    }
    if matches!(context.format, Format::Auto | Format::Table) {
        context.output.write_coloured(&picture(&diff, context.output.width()))?;
    } else {
        context.rows(grid(&diff), || super::value(&diff))?;
    }
    Ok(if fails && !diff.equal { Exit::Gate } else { Exit::Answered })
}

/// Returns true if two runs are equal but for times and costs.
pub(crate) fn is_equal(context: &Context, runs: [&str; 2]) -> Outcome<bool> {
    compare_runs(context, runs).map(|diff| diff.equal)
}

fn compare_runs(context: &Context, runs: [&str; 2]) -> Outcome<TreeDiff> {
    let tree = |run: &str| {
        super::open(context, run)
            .map(|(_, journal)| SearchTree::from_journal(&journal, Shown::default()))
    };
    let left = tree(runs[0])?;
    let right = tree(runs[1])?;
    context.scrubber.document(TreeDiff::compare(&left, &right))
}

/// A row for each difference.
fn grid(diff: &TreeDiff) -> Grid {
    let mut grid = Grid::new(["part", "what", "left", "right"]);
    let mut row = |part: &str, what: &str, left: Value, right: Value| {
        grid.rows.push(vec![json!(part), json!(what), left, right]);
    };
    if !diff.same_question {
        row("input", "question", json!(diff.questions[0]), json!(diff.questions[1]));
    }
    for given in &diff.given {
        row("input", &given.what, given.left.clone(), given.right.clone());
    }
    for pair in &diff.tasks {
        let part = name(pair);
        if pair.matched_by.is_none() {
            let text = |side: &Option<syrch::journal::TaskSide>| {
                json!(side.as_ref().map(|side| &side.text))
            };
            row(&part, "task", text(&pair.left), text(&pair.right));
        }
        for difference in &pair.differences {
            row(&part, &difference.what, difference.left.clone(), difference.right.clone());
        }
        for candidate in pair.candidates.iter().filter(|candidate| !candidate.is_equal()) {
            row(
                &part,
                "candidate",
                json!(candidate.left.as_ref().map(side)),
                json!(candidate.right.as_ref().map(side)),
            );
        }
    }
    let left = &diff.answer.left;
    let right = &diff.answer.right;
    row("answer", "outcome", json!(left.outcome), json!(right.outcome));
    row("answer", "statement", json!(left.sql), json!(right.sql));
    row("answer", "rows", json!(left.rows), json!(right.rows));
    row("answer", "confidence", json!(left.confidence), json!(right.confidence));
    for count in &diff.counts {
        row("cost", &count.what, json!(count.left), json!(count.right));
    }
    grid
}

fn name(pair: &TaskPair) -> String {
    let id = |side: &Option<syrch::journal::TaskSide>| side.as_ref().map(|side| side.id.clone());
    let round = pair.round + 1;
    match (id(&pair.left), id(&pair.right)) {
        (Some(left), Some(right)) if left == right => format!("round {round} task {left}"),
        (Some(left), Some(right)) => format!("round {round} task {left} / {right}"),
        (Some(left), None) => format!("round {round} task {left} (left only)"),
        (None, right) => format!("round {round} task {} (right only)", right.unwrap_or_default()),
    }
}

fn side(candidate: &CandidateSide) -> String {
    let sure =
        candidate.confidence.map(|confidence| format!(" {confidence:.2}")).unwrap_or_default();
    let reason = candidate.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    format!("{} {}{sure}{reason} {}", candidate.id, candidate.status.name(), candidate.sql)
}

/// Both searches as a picture.
pub(super) fn picture(diff: &TreeDiff, width: Option<u16>) -> String {
    let mut picture = Picture::new(width);
    let strong = |text: &str| (Style::Strong, text.to_owned());
    picture.line("", "  ", &[strong(&format!("{} and {}", diff.runs[0], diff.runs[1]))]);
    if diff.same_question {
        picture.line("", "  ", &[(Style::Plain, diff.questions[0].clone())]);
    } else {
        picture.line("- ", "  ", &[(Style::Bad, diff.questions[0].clone())]);
        picture.line("+ ", "  ", &[(Style::Good, diff.questions[1].clone())]);
    }
    if diff.equal {
        picture.line(
            "",
            "  ",
            &[(Style::Good, "both searches are equal but for times and costs".to_owned())],
        );
    }
    for given in &diff.given {
        change(&mut picture, "", &given.what, &given.left, &given.right);
    }
    for pair in &diff.tasks {
        draw_task(&mut picture, pair);
    }
    draw_answer(&mut picture, diff);
    picture.gap();
    let mut counts = Grid::new(["", "left", "right"]);
    let number = |value: Option<f64>| {
        json!(value.map_or_else(|| "unknown".to_owned(), |value| value.to_string()))
    };
    counts.rows = diff
        .counts
        .iter()
        .map(|count| vec![json!(count.what), number(count.left), number(count.right)])
        .collect();
    picture.push_raw(&table::render(&counts, width));
    picture.finish()
}

fn change(picture: &mut Picture, before: &str, what: &str, left: &Value, right: &Value) {
    let both = [format_value(left), format_value(right)];
    if both.iter().all(|text| text.chars().count() <= SHORT) {
        let [left, right] = both;
        let what = (Style::Plain, format!("{what}:"));
        let arrow = (Style::Dim, "→".to_owned());
        return picture.line(
            before,
            before,
            &[what, (Style::Bad, left), arrow, (Style::Good, right)],
        );
    }
    picture.line(before, before, &[(Style::Plain, format!("{what}:"))]);
    let below = format!("{before}    ");
    let [left, right] = both;
    picture.line(&format!("{before}  - "), &below, &[(Style::Bad, left)]);
    picture.line(&format!("{before}  + "), &below, &[(Style::Good, right)]);
}

fn format_value(value: &Value) -> String {
    match value {
        Value::Null => "(none)".to_owned(),
        Value::String(text) if text.is_empty() => "(none)".to_owned(),
        other => plain(other),
    }
}

fn draw_task(picture: &mut Picture, pair: &TaskPair) {
    let candidates: Vec<&CandidatePair> =
        pair.candidates.iter().filter(|candidate| !candidate.is_equal()).collect();
    let equal = pair.candidates.len() - candidates.len();
    let how = match pair.matched_by {
        Some(MatchedBy::Text) => "which correspond by their texts",
        _ => "",
    };
    let same = if pair.differences.is_empty() && candidates.is_empty() && pair.matched_by.is_some()
    {
        "equal"
    } else {
        ""
    };
    let text = pair
        .left
        .as_ref()
        .or(pair.right.as_ref())
        .map(|side| side.text.clone())
        .unwrap_or_default();
    let parts = [
        (Style::Strong, name(pair)),
        (Style::Dim, how.to_owned()),
        (Style::Good, same.to_owned()),
        (Style::Plain, text),
    ];
    picture.line("", "  ", &parts);
    for difference in &pair.differences {
        change(picture, "  ", &difference.what, &difference.left, &difference.right);
    }
    for candidate in candidates {
        let what = match (candidate.matched_by, candidate.equal_result) {
            (None, _) => "candidate of one side only",
            (_, Some(true)) => "candidates with equal rows",
            (_, Some(false)) => "candidates with other rows",
            (_, None) => "candidates",
        };
        let side = |of: &Option<CandidateSide>| json!(of.as_ref().map(side));
        change(picture, "  ", what, &side(&candidate.left), &side(&candidate.right));
    }
    if equal > 0 && same.is_empty() {
        picture.line("  ", "  ", &[(Style::Dim, format!("{} equal", count(equal, "candidate")))]);
    }
}

fn draw_answer(picture: &mut Picture, diff: &TreeDiff) {
    let answer = &diff.answer;
    let (style, words) = match answer.equal_rows {
        Some(true) => (Style::Good, "answers with equal rows"),
        Some(false) => (Style::Bad, "answers with other rows"),
        None => (Style::Doubtful, "answers whose rows cannot be compared"),
    };
    picture.line("", "  ", &[(style, words.to_owned())]);
    let left = &answer.left;
    let right = &answer.right;
    let sure = |value: Option<f64>| json!(value.map(|value| format!("{value:.2}")));
    let compared = [
        ("outcome", json!(left.outcome), json!(right.outcome)),
        ("statement", json!(left.sql), json!(right.sql)),
        ("rows", json!(left.rows), json!(right.rows)),
        ("confidence", sure(left.confidence), sure(right.confidence)),
    ];
    for (what, left, right) in compared.iter().filter(|(_, left, right)| left != right) {
        change(picture, "  ", what, left, right);
    }
}
