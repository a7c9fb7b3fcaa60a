//! The graph in the form of petgraph: node `i` is task `i`.

use std::collections::{BTreeSet, HashMap};

use petgraph::Direction::{Incoming, Outgoing};
use petgraph::algo::{kosaraju_scc, toposort};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{Dfs, Reversed};
use syrch_core::{Graph, Task};

/// Edges lead from a dependency to its dependents, or from a parent to its children.
pub(crate) type Shape = DiGraph<(), ()>;

/// The position of each id.
pub(crate) fn positions(tasks: &[Task]) -> HashMap<&str, usize> {
    tasks.iter().enumerate().map(|(position, task)| (task.id.as_str(), position)).collect()
}

fn shape(tasks: &[Task], sources: impl Fn(&Task) -> Vec<&str>) -> Shape {
    let positions = positions(tasks);
    let mut shape = Shape::with_capacity(tasks.len(), tasks.len());
    tasks.iter().for_each(|_| {
        shape.add_node(());
    });
    for (position, task) in tasks.iter().enumerate() {
        for source in sources(task).into_iter().filter_map(|id| positions.get(id)) {
            shape.add_edge(NodeIndex::new(*source), NodeIndex::new(position), ());
        }
    }
    shape
}

/// The edges from dependencies to dependents; unknown names are ignored.
pub(crate) fn dependencies(graph: &Graph) -> Shape {
    shape(&graph.tasks, |task| task.depends_on.iter().map(String::as_str).collect())
}

/// The edges from parents to children; unknown names are ignored.
pub(crate) fn parents(graph: &Graph) -> Shape {
    shape(&graph.tasks, |task| task.parent.as_deref().into_iter().collect())
}

/// Returns, for each node, the number of tasks in the longest chain that ends in it, itself
/// included.
///
/// # Errors
/// A cycle: each node's source is the one after it, and the last one's is the first.
pub(crate) fn depths(shape: &Shape) -> Result<Vec<usize>, Vec<usize>> {
    let order = toposort(shape, None).map_err(|_| cycle(shape))?;
    let mut depths = vec![1; shape.node_count()];
    for node in order {
        for target in shape.neighbors_directed(node, Outgoing) {
            depths[target.index()] = depths[target.index()].max(depths[node.index()] + 1);
        }
    }
    Ok(depths)
}

fn cycle(shape: &Shape) -> Vec<usize> {
    if let Some(own) = shape.node_indices().find(|node| shape.contains_edge(*node, *node)) {
        return vec![own.index()];
    }
    let knots = kosaraju_scc(shape).into_iter().filter(|knot| knot.len() > 1);
    let Some(knot) = knots.map(|knot| knot.into_iter().collect::<BTreeSet<_>>()).min() else {
        return Vec::new();
    };
    // Every node of a knot has a source within it, so that walking backwards must come round.
    let mut path: Vec<NodeIndex> = Vec::new();
    let mut at = knot.first().copied();
    while let Some(node) = at {
        if let Some(begin) = path.iter().position(|passed| *passed == node) {
            return path.split_off(begin).into_iter().map(NodeIndex::index).collect();
        }
        path.push(node);
        at = shape.neighbors_directed(node, Incoming).filter(|source| knot.contains(source)).min();
    }
    Vec::new()
}

/// The nodes from which `end` can be reached, itself included.
pub(crate) fn leading_to(shape: &Shape, end: usize) -> BTreeSet<usize> {
    let backwards = Reversed(shape);
    let mut walk = Dfs::new(backwards, NodeIndex::new(end));
    std::iter::from_fn(|| walk.next(backwards)).map(NodeIndex::index).collect()
}
