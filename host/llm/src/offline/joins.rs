//! The cheapest way to join a set of tables over the edges of the schema.

use std::collections::BTreeSet;

use super::schema::{Edge, Schema};

/// The tables in the order in which they are joined, each with the edge that joins it to the ones before; the first has none.
/// None when some cannot be reached. `bias` is added to an edge's cost: words of the question may speak for one of two edges.
pub(crate) fn tree(
    schema: &Schema,
    wanted: &[usize],
    bias: &dyn Fn(&Edge) -> f64,
) -> Option<Vec<(usize, Option<Edge>)>> {
    let first = *wanted.first()?;
    let mut order = vec![(first, None)];
    let mut missing: BTreeSet<usize> = wanted.iter().copied().filter(|table| *table != first).collect();
    while !missing.is_empty() {
        let known: Vec<usize> = order.iter().map(|(table, _)| *table).collect();
        for edge in nearest(schema, &known, &missing, bias)? {
            let joined = if order.iter().any(|(table, _)| *table == edge.left.table) { edge.right } else { edge.left };
            missing.remove(&joined.table);
            order.push((joined.table, Some(edge)));
        }
    }
    Some(order)
}

/// How much it costs to get from one table to each; infinite where there is no way.
pub(crate) fn distances(schema: &Schema, from: usize) -> Vec<f64> {
    let mut cost = vec![f64::INFINITY; schema.tables.len()];
    cost[from] = 0.0;
    // Costs only fall, and a way has fewer edges than there are tables (Bellman and Ford).
    loop {
        let before = cost.clone();
        for edge in &schema.edges {
            let (left, right) = (edge.left.table, edge.right.table);
            cost[left] = cost[left].min(cost[right] + edge.cost);
            cost[right] = cost[right].min(cost[left] + edge.cost);
        }
        if cost == before {
            return cost;
        }
    }
}

/// The edges from the known tables to the nearest wanted one (Dijkstra; there are few tables, so the frontier is a plain list).
fn nearest(
    schema: &Schema,
    known: &[usize],
    wanted: &BTreeSet<usize>,
    bias: &dyn Fn(&Edge) -> f64,
) -> Option<Vec<Edge>> {
    let count = schema.tables.len();
    let mut cost = vec![f64::INFINITY; count];
    let mut came: Vec<Option<Edge>> = vec![None; count];
    let mut done = vec![false; count];
    // What was named last is closest to what is named next: of equal ways the one from there is meant.
    known.iter().rev().enumerate().for_each(|(back, table)| cost[*table] = 0.001 * back as f64);
    loop {
        let open = (0..count).filter(|table| !done[*table] && cost[*table].is_finite());
        let here = open.min_by(|a, b| cost[*a].total_cmp(&cost[*b]).then(a.cmp(b)))?;
        done[here] = true;
        if wanted.contains(&here) {
            return Some(walk_back(&came, here));
        }
        for edge in &schema.edges {
            let there = match (edge.left.table, edge.right.table) {
                (left, right) if left == here => right,
                (left, right) if right == here => left,
                _ => continue,
            };
            let total = cost[here] + edge.cost + bias(edge);
            if !done[there] && total < cost[there] {
                cost[there] = total;
                came[there] = Some(*edge);
            }
        }
    }
}

fn walk_back(came: &[Option<Edge>], end: usize) -> Vec<Edge> {
    let mut path = Vec::new();
    let mut here = end;
    while let Some(edge) = came[here] {
        path.push(edge);
        here = if edge.left.table == here { edge.right.table } else { edge.left.table };
    }
    path.reverse();
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offline::fixture;

    #[test]
    fn a_link_table_is_found_on_the_way() {
        let schema = Schema::new(&fixture::library());
        let table = |name: &str| schema.tables.iter().position(|table| table.name == name).unwrap();
        let tree = tree(&schema, &[table("member"), table("book")], &|_| 0.0).unwrap();
        let names: Vec<&str> = tree.iter().map(|(table, _)| schema.tables[*table].name.as_str()).collect();
        assert_eq!(names, ["member", "loan", "book"]);
        assert!(distances(&schema, table("member"))[table("book")] > 1.0);
    }

    #[test]
    fn unreachable_tables_have_no_tree() {
        let mut catalog = fixture::library();
        catalog.tables.iter_mut().for_each(|table| {
            table.foreign_keys.clear();
            table.columns.iter_mut().enumerate().for_each(|(i, column)| column.name = format!("x{}{i}", table.name));
        });
        assert_eq!(tree(&Schema::new(&catalog), &[0, 1], &|_| 0.0), None);
    }
}
