//! The prompt of a turn.

use syrch_plugin::prelude::*;
use syrch_plugin::{prompt, text};

use crate::Settings;
use crate::planner::View;
use crate::planner::decision::{CORPORA, RETRIEVERS, schema};
use crate::planner::report::report;
use crate::planner::state::{State, StopReason};

// Bytes of a refused reply that go back to the model.
const REPLY: usize = 6000;
// Characters of why it was refused.
const REFUSAL: usize = 600;

/// A request for the next decisions. `wrong`: the reply that was refused, and why.
pub(crate) fn request(
    view: &View,
    state: &State,
    settings: &Settings,
    wrong: Option<&(String, String)>,
) -> Request {
    let catalog = prompt::catalog(view.catalog, settings.catalog_bytes as usize);
    let mut user = format!(
        "Tables of the {} database:\n{catalog}\n{}\n",
        view.catalog.syntax.title,
        prompt::problem(view.problem)
    );
    user += &so_far(view, state);
    if let Some((reply, refusal)) = wrong {
        let refusal = text::line(refusal, REFUSAL);
        user += &format!(
            "\nYour decisions cannot be used: {refusal}.\nThey were:\n{}\n\
             Decide again, all of this turn.\n",
            text::clip(reply, REPLY)
        );
    }
    Ask::new(Purpose::Plan).system(instructions(settings)).user(user).json(&schema())
}

fn so_far(view: &View, state: &State) -> String {
    let turn = state.turn + 1;
    let mut out = format!("This is turn {turn} of {}.", view.limit);
    if turn >= view.limit {
        out += " No task can be added after it: a statement must be tried now.";
    }
    out.push('\n');
    if state.nodes.is_empty() {
        return out + "Nothing has been done yet. There is the branch `main`, without a task.\n";
    }
    out + "The search so far:\n" + &report(state, view.seen, view.new)
}

fn instructions(settings: &Settings) -> String {
    let reasons: Vec<&str> = StopReason::ALL.iter().map(|reason| reason.name()).collect();
    format!(
        "You plan how to answer a question over an SQL database in turns. In each turn you see \
         what was found, and decide the next step from it. Somebody else writes the statements; \
         you see the shapes of their results, not the rows.\n\
         A branch is a line of work, a node is one of its tasks. Actions:\n\
         - search: look for names and notes. `branch`, `target_node`: the new task's id, `query`: \
         a few words, `corpus`: {}, `retriever`: {}.\n\
         - continue: have one SELECT statement written and run. `branch`, `target_node`, `text`: \
         what it has to find out, `expected`: which columns and rows. It sees what the branch has \
         found, and can read the result of the task that it builds on.\n\
         - fork: try another reading in a branch of its own. `branch`, `target_branch`, \
         `target_node`, `edge`, `frontier`: four new ids; `edge_kind`: child builds on the last \
         task of `branch`, sibling stands beside it; `text` as in continue or `query` as in \
         search; `priority` 0 to 1. It waits in the frontier until it is selected; \
         when nothing else is under way, the one with the greatest priority starts.\n\
         - select: start what waits. `frontier`, its `branch` and its `node`.\n\
         - merge: one statement from the results of two branches. `branch`, `target_branch`: \
         is taken in and ends, `target_node`, `text`: how they are combined.\n\
         - prune: give up `branch`.\n\
         - terminate: the search is over. `stop_reason`: {}; `branch` and `node`: whose result \
         answers the question.\n\
         Rules:\n\
         - At most {} decisions in a turn, {} branches at once. Each decision has a `rationale` of \
         one sentence.\n\
         - `node` names the task that a decision builds on; without it the branch's last one. \
         It must have ended: what depends on a result is decided when you have seen it.\n\
         - Ids are 1 to 32 of A-Z a-z 0-9 _ -, and new ones differ from all before.\n\
         - Search only for what the tables above leave open. One good statement is enough: then \
         terminate.\n\
         Answer with JSON alone, in this form:\n\
         {{\"decisions\":[{{\"action\":\"continue\",\"branch\":\"main\",\"target_node\":\"t1\",\
         \"text\":\"…\",\"rationale\":\"…\"}}]}}",
        CORPORA.join(", "),
        RETRIEVERS.join(", "),
        reasons.join(", "),
        settings.actions_per_turn,
        settings.branches
    )
}
