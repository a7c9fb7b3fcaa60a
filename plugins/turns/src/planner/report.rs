//! The search so far, as the model reads it: no cell of any result, only its shape.

use syrch_plugin::prelude::*;
use syrch_plugin::text::{clip, count, line};

use crate::planner::evidence::Evidence;
use crate::planner::observe::observation;
use crate::planner::state::{Branch, Node, Standing, State, Work};

// Bounds of what one task may put into a prompt: a statement of a new and of an old one in bytes,
// prose and names in characters.
const NEW_SQL: usize = 2000;
const OLD_SQL: usize = 400;
const WORDS: usize = 300;
const NAME: usize = 60;
// The most columns that are named.
const COLUMNS: usize = 20;

/// All branches with their tasks, results and evidence. `new` are the tasks that ended since the
/// last turn.
pub(crate) fn report(state: &State, seen: &[Observation], new: &[String]) -> String {
    let mut out = String::new();
    for branch in &state.branches {
        let active = if branch.id == state.active { ", worked on last" } else { "" };
        out += &format!("Branch {} ({}{active})\n", branch.id, branch.state.name());
        for node in state.nodes.iter().filter(|node| node.branch == branch.id) {
            out += &task(state, node, observation(seen, &node.id), new.contains(&node.id));
        }
        out += &evidence(branch);
    }
    if state.let_go > 0 {
        out += &format!("({} of evidence let go)\n", count(u64::from(state.let_go), "older piece"));
    }
    out
}

fn evidence(branch: &Branch) -> String {
    let pieces: String = branch
        .evidence
        .iter()
        .map(|piece: &Evidence| {
            let snippet =
                piece.snippet.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
            format!("    [{}] {}{snippet} (by {})\n", piece.corpus, piece.path, piece.task)
        })
        .collect();
    if pieces.is_empty() { pieces } else { format!("  evidence kept:\n{pieces}") }
}

fn task(state: &State, node: &Node, observation: Option<&Observation>, is_new: bool) -> String {
    let what = match &node.work {
        Work::Search { corpus, retriever, query } => {
            format!("search of {corpus} by {retriever} for \"{query}\"")
        }
        Work::Solve { text, .. } => format!("statement for \"{}\"", line(text, WORDS)),
    };
    let after = if node.after.is_empty() {
        String::new()
    } else {
        format!(" after {}", node.after.join(", "))
    };
    let mut out = format!("  {}{}: {what}{after}: ", if is_new { "NEW " } else { "" }, node.id);
    let Some(observation) = observation.filter(|_| node.standing.has_ended()) else {
        return out + &not_ended(state, node) + "\n";
    };
    out += &ending(node, observation);
    out.push('\n');
    if let Some(candidate) = observation.candidates.first() {
        let limit = if is_new { NEW_SQL } else { OLD_SQL };
        out += &format!("    SQL: {}\n", line(clip(&candidate.sql, limit), limit));
        if is_new
            && let Some(rationale) =
                candidate.rationale.as_deref().filter(|text| !text.trim().is_empty())
        {
            out += &format!("    why: {}\n", line(rationale, WORDS));
        }
    }
    if is_new {
        out += &memo(observation);
    }
    out
}

fn not_ended(state: &State, node: &Node) -> String {
    match node.standing {
        Standing::Waiting => {
            let entry = state.frontier.iter().find(|entry| entry.node == node.id);
            let name = entry.map_or("", |entry| entry.id.as_str());
            format!("waits in the frontier as {name}, priority {:.2}", node.priority)
        }
        Standing::Running => "under way".to_owned(),
        _ => "called off".to_owned(),
    }
}

fn ending(node: &Node, observation: &Observation) -> String {
    match &observation.ending {
        Ending::Solved | Ending::Empty if node.is_search() => {
            format!("{}, {} of them new", count(observation.hits.len() as u64, "hit"), node.gained)
        }
        Ending::Solved | Ending::Empty => {
            let sure =
                node.confidence.map(|sure| format!(", confidence {sure:.2}")).unwrap_or_default();
            let shape = observation.profile.as_ref().map_or_else(|| "a result".to_owned(), shape);
            let parts = observation.subtasks.len() as u64;
            let parts = if parts > 0 {
                format!(", by way of {}", count(parts, "smaller task"))
            } else {
                String::new()
            };
            format!("{shape}{sure}{parts}")
        }
        Ending::Failed(failure) => format!("failed: {}", line(&failure.message, WORDS)),
        Ending::Skipped(why) => format!("skipped: {}", line(why, WORDS)),
        Ending::Cancelled => "called off".to_owned(),
        Ending::Other(name) => format!("ended as {}", line(name, NAME)),
    }
}

/// The shape of a result: `4 rows of (name, total), NULL in total 2 times`.
fn shape(profile: &Profile) -> String {
    let columns = profile.columns.iter().take(COLUMNS);
    let names: Vec<String> =
        columns.clone().map(|column| line(&column.column.name, NAME)).collect();
    let more = profile.columns.len().saturating_sub(COLUMNS);
    let more = if more > 0 { format!(", {more} more") } else { String::new() };
    let cut = if profile.truncated { ", cut at a limit" } else { "" };
    let nulls: String = columns
        .filter(|column| column.nulls > 0)
        .map(|column| {
            format!(", NULL in {} {}", line(&column.column.name, NAME), count(column.nulls, "time"))
        })
        .collect();
    let warnings: String = profile
        .warnings
        .iter()
        .take(3)
        .map(|warning| format!("; {}", line(warning, NAME * 2)))
        .collect();
    format!("{} of ({}{more}){cut}{nulls}{warnings}", count(profile.rows, "row"), names.join(", "))
}

/// Writes the note that the solver left for later, in one line.
fn memo(observation: &Observation) -> String {
    let memo =
        observation.memo.as_deref().map(|memo| line(memo, WORDS)).filter(|memo| !memo.is_empty());
    memo.map(|memo| format!("    the solver's note: {memo}\n")).unwrap_or_default()
}
