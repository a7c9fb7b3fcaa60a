//! `trace show`: a run as a picture in the terminal, as a page, as rows or as a document.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use syrch::journal::{
    AnswerNode, Answered, CandidateNode, Journal, Round, SearchTree, Shown, Status, TaskNode,
};
use syrch::syrch_core::DatabaseUrl;
use syrch::syrch_core::ports::RowsGrant;
use syrch_report::terminal::{Picture, Style};
use syrch_report::words::{count, moment, seconds};

use super::super::Context;
use super::{calls, page, words};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::sink::{Format, Grid, table};

#[derive(Args)]
pub(crate) struct ShowArgs {
    /// A run's id, the beginning of it, `last`, or the path of a journal
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// Draw the calls, too, in the order in which they were made and ended
    #[arg(long)]
    pub(crate) calls: bool,
    /// Write one page that stands alone, to this file or to -o
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    pub(crate) html: Option<Option<PathBuf>>,
    /// Show the prompts and replies of model calls, which may quote cells, in the page and in JSON
    #[arg(long)]
    pub(crate) prompts: bool,
    /// Rows of the answer that may be shown: none, aggregates, sample:N, full; else as configured
    #[arg(long, value_name = "GRANT")]
    pub(crate) rows: Option<syrch::syrch_core::ports::RowsGrant>,
}

/// Prints a run in the chosen format, or writes its page.
pub(super) fn run(context: &Context, arguments: &ShowArgs) -> Outcome {
    let grant = arguments.rows.unwrap_or(context.config.effective.settings.rows);
    let shown = grant_limits(grant, arguments.prompts)?;
    let page_path = arguments.html.as_ref().and_then(Option::as_deref);
    if page_path.is_some() && !matches!(context.output, Output::Stdout) {
        return Err(
            Failure::usage("`--html FILE` and `-o FILE` name two places").hint("give one of them")
        );
    }
    let output = page_path
        .map_or_else(|| Ok(context.output.clone()), |path| Output::open_flag("--html", path))?;
    let (path, journal) = super::open(context, &arguments.run)?;
    output.refuse_input(
        if page_path.is_some() { "--html" } else { "-o" },
        &inputs(context, &path, &journal),
    )?;
    let is_running = !journal.is_finished() && is_written(&path);
    let tree = context.scrubber.document(SearchTree::from_journal(&journal, shown))?;
    if arguments.html.is_some() {
        output.write(&page::page(&tree, is_running, grant))?;
        if let Some(path) = page_path {
            context.console.note(&format!("wrote the page `{}`", path.display()));
        }
    } else if matches!(context.format, Format::Auto | Format::Table) {
        if arguments.prompts {
            context
                .console
                .note("--prompts shows them in the page (--html) and with --format json");
        }
        output.write_coloured(&picture(
            &tree,
            is_running,
            grant,
            arguments.calls,
            output.width(),
        ))?;
    } else {
        let grid = if arguments.calls { calls::grid(&tree, false) } else { candidates(&tree) };
        context.rows(grid, || super::value(&tree))?;
    }
    Ok(Exit::Answered)
}

/// The files that the page must not replace.
fn inputs(context: &Context, path: &Path, journal: &Journal) -> Vec<(&'static str, PathBuf)> {
    let database =
        journal.header.settings.get("database").and_then(Value::as_str).unwrap_or_default();
    let database = syrch::databases::database_files(&DatabaseUrl::parse(database))
        .into_iter()
        .map(|file| ("the database of the run", file));
    let files = context.config.files.iter().map(|file| ("the config file in use", file.clone()));
    std::iter::once(("the journal that is shown", path.to_owned()))
        .chain(database)
        .chain(files)
        .collect()
}

/// Returns the limits of what may be shown under the grant.
fn grant_limits(grant: RowsGrant, prompts: bool) -> Outcome<Shown> {
    let rows = match grant {
        RowsGrant::None | RowsGrant::Aggregates => None,
        RowsGrant::Sample(rows) => Some(rows as usize),
        RowsGrant::Full => Some(usize::MAX),
    };
    if prompts && rows.is_none() {
        return Err(Failure::usage(format!(
            "--prompts shows what --rows {grant} hides: prompts may quote cells"
        ))
        .hint("grant rows by --rows full or --rows sample:N, or leave --prompts out"));
    }
    Ok(Shown { rows, prompts })
}

fn is_written(path: &Path) -> bool {
    let run = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let folder = path.parent().map(|folder| syrch::journal::Folder::new(folder.to_owned()));
    folder.and_then(|folder| folder.find(&run).ok()).is_some_and(|entry| entry.is_written())
}

/// A row for each candidate.
fn candidates(tree: &SearchTree) -> Grid {
    let columns = [
        "round",
        "task",
        "candidate",
        "status",
        "cluster",
        "confidence",
        "claimed",
        "reason",
        "statement",
    ];
    let mut grid = Grid::new(columns);
    for round in &tree.rounds {
        let of_tasks = round
            .tasks
            .iter()
            .flat_map(|task| task.candidates.iter().map(|each| (task.id.as_str(), each)));
        for (task, each) in of_tasks.chain(round.candidates.iter().map(|each| ("", each))) {
            grid.rows.push(vec![
                json!(round.number),
                json!(task),
                json!(each.id),
                json!(each.status.name()),
                json!(each.cluster),
                json!(each.confidence),
                json!(each.claimed),
                json!(each.reason),
                json!(each.sql),
            ]);
        }
    }
    grid
}

/// The run as a picture.
pub(super) fn picture(
    tree: &SearchTree,
    is_running: bool,
    grant: RowsGrant,
    with_calls: bool,
    width: Option<u16>,
) -> String {
    let mut picture = Picture::new(width);
    head(&mut picture, tree, is_running);
    for round in &tree.rounds {
        picture.gap();
        draw_round(&mut picture, round, tree.rounds.len());
    }
    if let Some(answer) = &tree.answer {
        picture.gap();
        draw_answer(&mut picture, answer, grant, width);
    }
    picture.gap();
    words::cost(&tree.cost)
        .into_iter()
        .for_each(|line| picture.line("", "  ", &[(Style::Plain, line)]));
    let warnings = tree.warnings.iter().map(|warning| format!("warning: {warning}"));
    warnings
        .chain(words::remarks(tree))
        .for_each(|line| picture.line("", "  ", &[(Style::Doubtful, line)]));
    if with_calls {
        picture.gap();
        picture.push_raw(&table::render(&calls::grid(tree, true), width));
    }
    picture.finish()
}

fn head(picture: &mut Picture, tree: &SearchTree, is_running: bool) {
    let is_good = tree.outcome.kind == "answered";
    let sure = tree
        .answer
        .as_ref()
        .and_then(|answer| words::confidence(answer.confidence, answer.claimed));
    let parts = [
        (Style::Strong, format!("run {}", tree.run)),
        (Style::Plain, format!("{}, {},", moment(tree.began_ms), seconds(tree.took_us))),
        (if is_good { Style::Good } else { Style::Bad }, words::outcome(&tree.outcome, is_running)),
        (Style::Plain, sure.map(|sure| format!("with confidence {sure}")).unwrap_or_default()),
    ];
    picture.line("", "  ", &parts);
    picture.line("", "  ", &[(Style::Strong, tree.question.clone())]);
    if let Some(evidence) = &tree.evidence {
        picture.line("", "  ", &[(Style::Plain, format!("evidence: {evidence}"))]);
    }
    for Answered { question, answer } in &tree.answers {
        picture.line("", "  ", &[(Style::Plain, format!("{question} {answer}"))]);
    }
    picture.line("", "  ", &[(Style::Dim, words::setup(tree))]);
    for line in words::access(tree) {
        picture.line("", "  ", &[(Style::Dim, line)]);
    }
    for at_ms in &tree.resumed_ms {
        picture.line("", "  ", &[(Style::Doubtful, format!("resumed {}", moment(*at_ms)))]);
    }
}

fn draw_round(picture: &mut Picture, round: &Round, rounds: usize) {
    let answer =
        round.answer.as_ref().map(|task| format!("the answer is {task}'s")).unwrap_or_default();
    let name = if rounds > 1 { format!("round {}:", round.number + 1) } else { String::new() };
    let number = count(round.tasks.len(), "task");
    if let Some(linked) =
        round.linked.as_ref().filter(|linked| !linked.tables.is_empty() || linked.hints > 0)
    {
        picture.line("", "  ", &[(Style::Mark, words::describe_linking(linked))]);
    }
    picture.line(
        "",
        "  ",
        &[(Style::Strong, name), (Style::Plain, format!("{number},")), (Style::Plain, answer)],
    );
    for (place, task) in round.tasks.iter().enumerate() {
        let is_last = place + 1 == round.tasks.len();
        draw_task(picture, task, round.answer.as_ref() == Some(&task.id), is_last);
    }
    for candidate in &round.candidates {
        draw_candidate(picture, candidate, "", true);
    }
    for change in &round.changes {
        picture.line("", "  ", &[(Style::Mark, words::change(change))]);
    }
    for asked in &round.questions {
        picture.line("", "  ", &[(Style::Mark, words::describe_clarification(asked))]);
    }
}

fn draw_task(picture: &mut Picture, task: &TaskNode, is_answer: bool, is_last: bool) {
    let (first, next) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
    let is_good = task.ending.as_ref().is_some_and(syrch::syrch_core::Ending::is_success);
    let about = words::describe_dependencies(task)
        .into_iter()
        .chain(words::kinship(task))
        .collect::<Vec<_>>()
        .join("; ");
    let parts = [
        (Style::Strong, task.id.clone()),
        (Style::Mark, if is_answer { "(answer)".to_owned() } else { String::new() }),
        (if is_good { Style::Good } else { Style::Bad }, format!("{}:", words::ending(task))),
        (Style::Plain, task.text.clone()),
        (Style::Dim, if about.is_empty() { about } else { format!("({about})") }),
    ];
    picture.line(first, &format!("{next}  "), &parts);
    if let Some(why) = words::reason(task) {
        picture.line(&format!("{next}  "), &format!("{next}  "), &[(Style::Bad, why)]);
    }
    for line in words::describe_plan(task) {
        picture.line(&format!("{next}  "), &format!("{next}    "), &[(Style::Dim, line)]);
    }
    if let Some(attempts) = words::attempts(task) {
        picture.line(&format!("{next}  "), &format!("{next}  "), &[(Style::Dim, attempts)]);
    }
    for visits in words::describe_visits(task) {
        picture.line(&format!("{next}  "), &format!("{next}    "), &[(Style::Dim, visits)]);
    }
    for (place, candidate) in task.candidates.iter().enumerate() {
        draw_candidate(picture, candidate, next, place + 1 == task.candidates.len());
    }
}

/// The style of a status.
fn style(status: Status) -> Style {
    match status {
        Status::Answer | Status::Kept => Style::Good,
        Status::Dropped => Style::Dim,
        Status::Open => Style::Doubtful,
    }
}

fn draw_candidate(picture: &mut Picture, candidate: &CandidateNode, before: &str, is_last: bool) {
    let (first, next) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
    let sure = words::confidence(candidate.confidence, candidate.claimed).unwrap_or_default();
    let from = if candidate.parents.is_empty() {
        String::new()
    } else {
        format!("from {}", candidate.parents.join(", "))
    };
    let parts = [
        (Style::Strong, candidate.id.clone()),
        (style(candidate.status), candidate.status.name().to_owned()),
        (Style::Mark, words::mark(candidate)),
        (Style::Plain, sure),
        (Style::Dim, words::reward(candidate).unwrap_or_default()),
        (Style::Dim, from),
        (Style::Plain, candidate.reason.clone().unwrap_or_default()),
    ];
    let below = format!("{before}{next}  ");
    picture.line(&format!("{before}{first}"), &below, &parts);
    fn reason_begins_with(candidate: &CandidateNode, text: &str) -> bool {
        candidate.reason.as_ref().is_some_and(|reason| reason.starts_with(text))
    }
    if let Some(rationale) =
        candidate.rationale.as_ref().filter(|text| !reason_begins_with(candidate, text))
    {
        picture.line(&below, &below, &[(Style::Plain, rationale.clone())]);
    }
    picture.line(&below, &below, &[(Style::Dim, candidate.sql.clone())]);
}

fn draw_answer(picture: &mut Picture, answer: &AnswerNode, grant: RowsGrant, width: Option<u16>) {
    if let Some(text) = &answer.text {
        picture.line("", "  ", &[(Style::Strong, text.clone())]);
    }
    if !answer.rows.is_empty() {
        picture.push_raw(&table::render(&words::rows(answer), width));
    }
    if let Some(why) = words::left_out(answer, grant) {
        picture.line("", "  ", &[(Style::Dim, why)]);
    }
    if let Some(sql) = &answer.sql {
        picture.line("", "  ", &[(Style::Dim, sql.clone())]);
    }
}
