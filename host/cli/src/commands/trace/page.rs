//! `trace show --html`: a run as one page that stands alone, made by the components of `serve`.

use serde_json::{Value, json};
use syrch::journal::{Round, SearchTree, TaskNode, What};
use syrch::syrch_core::ports::RowsGrant;
use syrch_report::words::{moment, seconds};
use syrch_serve::static_page;

use super::{calls, value, words};

/// The limit on the characters of a question in the title of its page.
const TITLE: usize = 80;

/// The page of a run.
pub(super) fn page(tree: &SearchTree, is_running: bool, grant: RowsGrant) -> String {
    let question: String = tree.question.chars().take(TITLE).collect();
    let mut document = value(tree);
    document["words"] = describe(tree, is_running, grant);
    static_page(&format!("{question} – {}", tree.run), "trace", &document)
}

/// The lines that a page shows of a run besides its document, in the words of the terminal.
pub(crate) fn describe(tree: &SearchTree, is_running: bool, grant: RowsGrant) -> Value {
    let when = [tree.run.clone(), moment(tree.began_ms), seconds(tree.took_us)].join(", ");
    let resumed = tree.resumed_ms.iter().map(|at_ms| format!("resumed {}", moment(*at_ms)));
    let about = [format!("run {when}"), words::setup(tree)].into_iter();
    let calls = tree.calls.iter().map(|call| {
        json!({
            "issued": call.issued,
            "by": calls::caller(tree, call),
            "port": call.port,
            "what": calls::describe_call(call),
            "end": calls::end(call),
            "state": call.end.name(),
            "kind": match &call.what {
                What::Model(model) if model.cached => "cached",
                What::Model(_) => "model",
                What::Statement { .. } => "statement",
                What::Other => "other",
            },
            "from_us": call.issued_us,
            "until_us": call.done_us,
        })
    });
    json!({
        "outcome": words::outcome(&tree.outcome, is_running),
        "about": about.chain(words::access(tree)).chain(resumed).collect::<Vec<_>>(),
        "remarks": words::remarks(tree),
        "left_out": tree.answer.as_ref().and_then(|answer| words::left_out(answer, grant)),
        "rounds": tree.rounds.iter().map(describe_round).collect::<Vec<_>>(),
        "cost": words::cost(&tree.cost),
        "calls": calls.collect::<Vec<_>>(),
    })
}

fn describe_round(round: &Round) -> Value {
    let changes = round.changes.iter().map(words::change);
    let changes = changes.chain(round.questions.iter().map(words::describe_clarification));
    json!({
        "tasks": round.tasks.iter().map(describe_task).collect::<Vec<_>>(),
        "changes": changes.collect::<Vec<_>>(),
    })
}

/// The lines on a task.
fn describe_task(task: &TaskNode) -> Vec<String> {
    let about: Vec<String> = std::iter::once(words::ending(task))
        .chain(words::describe_dependencies(task))
        .chain(words::kinship(task))
        .chain(words::attempts(task))
        .collect();
    let rewards = task.candidates.iter().filter_map(|candidate| {
        words::reward(candidate).map(|reward| format!("{}: {reward}", candidate.id))
    });
    std::iter::once(about.join("; "))
        .chain(words::describe_plan(task))
        .chain(words::describe_visits(task))
        .chain(rewards)
        .collect()
}
