//! Checks of the joins among the tables.

use std::collections::HashMap;

use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;

use super::problem::Problems;
use crate::joins::{Graph, Paths, list_tables};
use crate::{Cardinality, Join, Semantics};

/// Reports joins of a table with itself, two joins between the same tables, and many-to-one joins
/// that lead back to where they began.
pub(super) fn check_joins(semantics: &Semantics, problems: &mut Problems) {
    let mut between: HashMap<[&str; 2], &Join> = HashMap::new();
    let mut is_plain = true;
    for join in &semantics.joins {
        let mut ends = [join.from.as_str(), join.to.as_str()];
        ends.sort_unstable();
        if join.from == join.to {
            let message = format!(
                "`{0}` is joined with itself; declare the table a second time under another name \
                 with `source: {0}`, and join that",
                join.from
            );
            problems.add(&join.place, message);
            is_plain = false;
        } else if let Some(earlier) = between.insert(ends, join) {
            let message = format!(
                "`{}` and `{}` are joined at {} already, so that it is open which join is meant; \
                 declare one of the tables a second time under another name with `source`",
                join.from, join.to, earlier.place
            );
            problems.add(&join.place, message);
            is_plain = false;
        }
    }
    if is_plain {
        check_circles(semantics, problems);
    }
}

/// Reports a many-to-one join within a circle: between two tables of which each leads to the other.
fn check_circles(semantics: &Semantics, problems: &mut Problems) {
    let graph = Graph::from_semantics(semantics);
    let edges = graph.edges().map(|(from, to)| (from as u32, to as u32));
    let circles = kosaraju_scc(&DiGraph::<(), ()>::from_edges(edges));
    let circles = circles.iter().enumerate().flat_map(|(circle, tables)| {
        tables.iter().map(move |table| (semantics.tables[table.index()].name.as_str(), circle))
    });
    let circles: HashMap<&str, usize> = circles.collect();
    for join in &semantics.joins {
        let from = join.from.as_str();
        let to = join.to.as_str();
        if join.cardinality == Cardinality::ManyToOne && circles.get(from) == circles.get(to) {
            let back = match graph.find_paths(to, from) {
                Paths::One(path) | Paths::Several(path, _) => list_tables(&path),
                Paths::None => String::new(),
            };
            let message = format!(
                "the joins lead in a circle ({from} → {back}); leave one of them out, or declare a \
                 table a second time under another name with `source`"
            );
            // One circle is reported, not each of its joins.
            return problems.add(&join.place, message);
        }
    }
}
