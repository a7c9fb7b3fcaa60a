//! The way down the tree: UCT among children that can still be expanded somewhere.

use serde_json::{Value as JsonValue, json};
use syrch_plugin::dice::Dice;

use crate::solver::tree::{ROOT, Tree, level};

/// The abilities that a model still has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Able {
    /// True if it draws afresh.
    pub(crate) draws: bool,
    /// True if it repairs and revises.
    pub(crate) repairs: bool,
}

/// The node to expand, and the log of the path to it; `None` if the whole tree is full.
pub(crate) fn select(tree: &Tree<'_>, able: Able, dice: &mut Dice) -> Option<(usize, JsonValue)> {
    let mut at = ROOT;
    let mut steps = Vec::new();
    while !is_expandable(tree, able, at) {
        let open: Vec<usize> = tree.nodes[at]
            .children
            .iter()
            .copied()
            .filter(|child| is_open(tree, able, *child))
            .collect();
        if open.is_empty() {
            return None;
        }
        let (parent_visits, _) = tree.visits_and_mean(at);
        let scores: Vec<f64> = open.iter().map(|child| uct(tree, *child, parent_visits)).collect();
        let highest = scores.iter().copied().map(level).fold(f64::NEG_INFINITY, f64::max);
        let best: Vec<usize> =
            (0..open.len()).filter(|index| level(scores[*index]) >= highest).collect();
        let chosen = best[dice.one_of(best.len())];
        at = open[chosen];
        let among: Vec<JsonValue> = open
            .iter()
            .zip(&scores)
            .map(|(child, score)| json!({ "id": tree.nodes[*child].candidate.id, "uct": score }))
            .collect();
        steps.push(json!({ "among": among, "tied": best.len() }));
    }
    Some((at, JsonValue::Array(steps)))
}

/// `mean + c·√(ln N / n)`, where the parent has `N` visits and the child `n`.
fn uct(tree: &Tree<'_>, place: usize, parent_visits: usize) -> f64 {
    let (visits, mean) = tree.visits_and_mean(place);
    let ratio = (parent_visits.max(1) as f64).ln() / visits.max(1) as f64;
    mean + tree.settings.exploration * ratio.sqrt()
}

/// Returns true if the node may have one more child. With a model that does not repair only draws
/// are left, so that the width no longer limits them.
fn is_expandable(tree: &Tree<'_>, able: Able, place: usize) -> bool {
    let node = &tree.nodes[place];
    let has_room = node.children.len() < tree.settings.width as usize;
    if place == ROOT {
        return able.draws && (has_room || !able.repairs);
    }
    able.repairs && has_room && !node.is_settled && node.depth < tree.settings.depth
}

/// Returns true if the node or one below it may be expanded.
fn is_open(tree: &Tree<'_>, able: Able, place: usize) -> bool {
    is_expandable(tree, able, place)
        || tree.nodes[place].children.iter().any(|child| is_open(tree, able, *child))
}
