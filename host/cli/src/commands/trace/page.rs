//! `trace show --html`: a run as one page that stands alone.

use serde_json::Value;
use syrch::journal::{CandidateNode, ModelNode, Round, SearchTree, Status, TaskNode, What};
use syrch::syrch_core::ports::RowsGrant;
use syrch_report::Html;
use syrch_report::words::{count, moment, seconds};

use super::{calls, graph, timeline, words};
use crate::sink::Grid;

const GRAPH: &str = "<p class=\"faint\">A dot is a candidate: equal results of a task have one colour, a candidate that its task uses has a dark rim. \
    A dashed line leads from a subtask to the task that it stands for.</p>\n";

const TIMELINE: &str = "<p class=\"faint\">Blue: model calls, pale from a cache. Green: statements. Grey: other ports. Red: failed. \
    Dashed: the end was not awaited.</p>\n";

/// The page of a run.
pub(super) fn page(tree: &SearchTree, is_running: bool, grant: RowsGrant) -> String {
    let mut html = Html::default();
    head(&mut html, tree, is_running);
    answer(&mut html, tree, grant);
    for (number, round) in tree.rounds.iter().enumerate() {
        draw_round(&mut html, round, number as u64, tree.rounds.len());
    }
    add_costs(&mut html, tree);
    if !tree.calls.is_empty() {
        html.raw("<h2>Calls</h2>\n")
            .raw("<div class=\"wide\">")
            .add(&timeline::svg(tree))
            .raw("</div>\n");
        html.raw(TIMELINE);
        html.table(&calls::grid(tree, false));
        prompts(&mut html, tree);
    }
    settings(&mut html, tree);
    html.page(&format!("{} – {}", tree.question.chars().take(80).collect::<String>(), tree.run))
}

fn head(html: &mut Html, tree: &SearchTree, is_running: bool) {
    html.raw("<header>\n").wrap_text("<h1>", &tree.question, "</h1>\n");
    if let Some(evidence) = &tree.evidence {
        html.wrap_text("<p>Evidence: ", evidence, "</p>\n");
    }
    let class = if tree.outcome.kind == "answered" {
        "<p class=\"good\"><strong>"
    } else {
        "<p class=\"bad\"><strong>"
    };
    html.wrap_text(class, &words::outcome(&tree.outcome, is_running), "</strong>");
    let sure = tree
        .answer
        .as_ref()
        .and_then(|answer| words::confidence(answer.confidence, answer.claimed));
    if let Some(sure) = sure {
        html.wrap_text(", with confidence ", &sure, "");
    }
    html.raw("</p>\n");
    let when = format!("run {}, {}, {}", tree.run, moment(tree.began_ms), seconds(tree.took_us));
    html.wrap_text("<p class=\"faint\">", &when, "<br>").wrap_text(
        "",
        &words::setup(tree),
        "</p>\n",
    );
    for at_ms in &tree.resumed_ms {
        html.wrap_text("<p class=\"faint\">resumed ", &moment(*at_ms), "</p>\n");
    }
    for warning in tree.warnings.iter().chain(&words::remarks(tree)) {
        html.paragraph("warning", warning);
    }
    html.raw("</header>\n");
}

fn answer(html: &mut Html, tree: &SearchTree, grant: RowsGrant) {
    let Some(answer) = &tree.answer else { return };
    html.raw("<h2>Answer</h2>\n");
    if let Some(text) = &answer.text {
        html.paragraph("", text);
    }
    if !answer.rows.is_empty() {
        html.table(&words::rows(answer));
    }
    if let Some(why) = words::left_out(answer, grant) {
        html.paragraph("faint", &why);
    }
    if let Some(sql) = &answer.sql {
        html.code(sql);
    }
}

fn draw_round(html: &mut Html, round: &Round, number: u64, rounds: usize) {
    html.raw("<section>\n<h2>Search");
    if rounds > 1 {
        html.raw(", round ").number(number + 1);
    }
    html.raw("</h2>\n");
    if !round.tasks.is_empty() {
        html.raw("<div class=\"wide\">").add(&graph::svg(round, number)).raw("</div>\n").raw(GRAPH);
    }
    for (place, task) in round.tasks.iter().enumerate() {
        html.raw("<article id=\"t").number(number).raw("-").number(place as u64).raw("\">\n");
        draw_task(html, task, round.answer.as_ref() == Some(&task.id));
        html.raw("</article>\n");
    }
    if !round.candidates.is_empty() {
        html.raw("<h3>Candidates of no task</h3>\n");
        candidates(html, &round.candidates);
    }
    let changes = round.changes.iter().map(words::change);
    for line in changes.chain(round.questions.iter().map(words::describe_clarification)) {
        html.paragraph("mark", &line);
    }
    html.raw("</section>\n");
}

fn draw_task(html: &mut Html, task: &TaskNode, is_answer: bool) {
    html.wrap_text("<h3>", &task.id, "").wrap_text(" <small>", &words::ending(task), "</small>");
    html.raw(if is_answer {
        " <small class=\"mark\">the answer</small></h3>\n"
    } else {
        "</h3>\n"
    });
    html.paragraph("", &task.text);
    let about: Vec<String> = words::after(task)
        .into_iter()
        .chain(words::kinship(task))
        .chain(words::attempts(task))
        .collect();
    if !about.is_empty() {
        html.paragraph("faint", &about.join("; "));
    }
    let stated = words::describe_plan(task);
    if !stated.is_empty() {
        html.raw("<ul class=\"faint\">\n");
        stated.iter().for_each(|line| _ = html.wrap_text("<li>", line, "\n"));
        html.raw("</ul>\n");
    }
    if let Some(why) = words::reason(task) {
        html.paragraph("bad", &why);
    }
    for visits in words::visits(task) {
        html.paragraph("faint", &visits);
    }
    if !task.candidates.is_empty() {
        candidates(html, &task.candidates);
    }
}

fn candidates(html: &mut Html, all: &[CandidateNode]) {
    html.raw("<div class=\"wide\"><table class=\"candidates\"><thead><tr><th>candidate<th>status<th>result<th>confidence<th>reward<th>why<th>statement</thead>\n<tbody>\n");
    for candidate in all {
        html.raw("<tr class=\"").raw(words::class(candidate.status)).raw("\">");
        html.wrap_text("<td>", &candidate.id, "").wrap_text("<td>", candidate.status.name(), "");
        html.raw("<td><span class=\"dot").raw(graph::colour(candidate.cluster)).raw("\"></span>");
        html.text(&words::mark(candidate));
        if let Some(rows) = candidate.rows {
            html.wrap_text(" <small>", &count(rows, "row"), "</small>");
        }
        html.raw("<td>")
            .text(&words::confidence(candidate.confidence, candidate.claimed).unwrap_or_default());
        bar(html, candidate);
        html.wrap_text("<td>", &words::reward(candidate).unwrap_or_default(), "");
        html.raw("<td>").text(candidate.reason.as_deref().unwrap_or_default());
        let from = candidate.parents.join(", ");
        if !from.is_empty() {
            html.wrap_text(" <small>from ", &from, "</small>");
        }
        if let Some(rationale) = &candidate.rationale {
            html.wrap_text(" <small>", rationale, "</small>");
        }
        html.wrap_text("<td><pre>", &candidate.sql, "</pre>\n");
    }
    html.raw("</tbody></table></div>\n");
}

/// The confidence as a bar.
fn bar(html: &mut Html, candidate: &CandidateNode) {
    let Some(confidence) = candidate.confidence else { return };
    html.raw(
        "<svg class=\"bar\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 100 6\" width=\"100\" height=\"6\">",
    );
    html.raw("<rect class=\"track\" width=\"100\" height=\"6\"/><rect class=\"");
    html.raw(if candidate.status == Status::Dropped { "faded" } else { "full" })
        .raw("\" height=\"6\" width=\"");
    html.decimal(confidence.clamp(0.0, 1.0) * 100.0, 0).raw("\"/></svg>");
}

fn add_costs(html: &mut Html, tree: &SearchTree) {
    html.raw("<h2>Costs</h2>\n<ul>\n");
    for line in words::cost(&tree.cost) {
        html.wrap_text("<li>", &line, "\n");
    }
    html.raw("</ul>\n");
}

/// The prompts and replies of model calls, where they may be shown.
fn prompts(html: &mut Html, tree: &SearchTree) {
    for call in &tree.calls {
        let What::Model(model) = &call.what else { continue };
        if model.prompt.is_empty() && model.reply.is_none() {
            continue;
        }
        html.wrap_text("<h3>Call ", &format!("{} {}", call.issued, model.purpose), "</h3>\n");
        conversation(html, model);
    }
}

fn conversation(html: &mut Html, model: &ModelNode) {
    for message in &model.prompt {
        let speaker = format!("{:?}", message.speaker).to_lowercase();
        html.wrap_text("<p class=\"faint\">", &speaker, "</p>").code(&message.text);
    }
    if let Some(reply) = &model.reply {
        html.wrap_text("<p class=\"faint\">reply</p><pre>", reply, "</pre>\n");
    }
}

/// The plugins and settings of the search.
fn settings(html: &mut Html, tree: &SearchTree) {
    html.raw("<h2>Plugins and settings</h2>\n");
    let mut grid = Grid::new(["role", "plugin", "version", "sha256"]);
    for plugin in &tree.plugins {
        let role = plugin.role.name();
        grid.rows
            .push([role, &plugin.name, &plugin.version, &plugin.digest].map(Value::from).to_vec());
    }
    html.table(&grid);
    html.code(&format!("{:#}", tree.settings));
    html.wrap_text("<footer class=\"faint\">syrch-host ", &tree.host, "</footer>\n");
}
