//! The cheapest way to join a set of tables over the edges of the schema.

use super::schema::{Edge, Schema};

/// Costs that differ by less are equal.
const SAME: f64 = 1e-6;

/// The tables in the order in which they are joined, each with the edge that joins it to the ones
/// before; the first has none. `None` if some cannot be reached. `bias` is added to an edge's cost:
/// words of the question may favour one of two edges.
pub(crate) fn tree(
    schema: &Schema,
    wanted: &[usize],
    bias: &dyn Fn(&Edge) -> f64,
) -> Option<Vec<(usize, Option<Edge>)>> {
    Some(grow(schema, wanted, bias)?.order)
}

/// An edge of the way to join the tables, and another of a way that is as near: an order has two
/// addresses, and a match two teams. `None` if no other is.
pub(crate) fn find_rival(
    schema: &Schema,
    wanted: &[usize],
    bias: &dyn Fn(&Edge) -> f64,
) -> Option<[Edge; 2]> {
    grow(schema, wanted, bias)?.rival
}

/// Joined tables.
struct Tree {
    /// The tables as [`tree`] has them.
    order: Vec<(usize, Option<Edge>)>,
    /// An edge of it, and another of a way that is as near.
    rival: Option<[Edge; 2]>,
}

/// Joins the tables by the nearest ways. `None` if some cannot be reached.
fn grow(schema: &Schema, wanted: &[usize], bias: &dyn Fn(&Edge) -> f64) -> Option<Tree> {
    let first = *wanted.first()?;
    let mut rival = None;
    let mut order = vec![(first, None)];
    let mut missing: Vec<usize> = wanted.iter().copied().filter(|table| *table != first).collect();
    while !missing.is_empty() {
        let known: Vec<usize> = order.iter().map(|(table, _)| *table).collect();
        let (path, tied) = nearest(schema, &known, &missing, bias)?;
        rival = rival.or(tied);
        for edge in path {
            let joined = if order.iter().any(|(table, _)| *table == edge.left.table) {
                edge.right
            } else {
                edge.left
            };
            missing.retain(|table| *table != joined.table);
            order.push((joined.table, Some(edge)));
        }
    }
    Some(Tree { order, rival })
}

/// Returns true if a join of the `wanted` tables repeats rows of `table`: some of them are joined
/// with several rows of another table.
pub(crate) fn repeats_rows(
    schema: &Schema,
    wanted: &[usize],
    table: usize,
    bias: &dyn Fn(&Edge) -> f64,
) -> bool {
    let Some(tree) = tree(schema, wanted, bias) else { return false };
    let mut reached = vec![table];
    let mut edges: Vec<Edge> = tree.into_iter().filter_map(|(_, edge)| edge).collect();
    while let Some(at) = edges
        .iter()
        .position(|edge| [edge.left, edge.right].iter().any(|end| reached.contains(&end.table)))
    {
        let edge = edges.swap_remove(at);
        let far = if reached.contains(&edge.left.table) { edge.right } else { edge.left };
        let is_one = schema.tables[far.table].key == Some(far.column)
            || (edge.declared && far == edge.right);
        if !is_one {
            return true;
        }
        reached.push(far.table);
    }
    false
}

/// The cost of the cheapest path from one table to each; infinite if there is none.
pub(crate) fn distances(schema: &Schema, from: usize) -> Vec<f64> {
    let mut search = Search::new(schema, &[from]);
    while let Some(here) = search.take_nearest(|_| 0) {
        search.go_on(here, &|_| 0.0);
    }
    search.cost
}

/// The edges from the known tables to the nearest wanted one; of equally near ones to the one
/// wanted first. The second part is one of them, and another that is as near.
fn nearest(
    schema: &Schema,
    known: &[usize],
    wanted: &[usize],
    bias: &dyn Fn(&Edge) -> f64,
) -> Option<(Vec<Edge>, Option<[Edge; 2]>)> {
    let mut search = Search::new(schema, known);
    loop {
        let here = search.take_nearest(|table: usize| {
            wanted.iter().position(|other| *other == table).unwrap_or(wanted.len())
        })?;
        if wanted.contains(&here) {
            return Some((walk_back(&search.came, here), search.tied[here]));
        }
        search.go_on(here, bias);
    }
}

/// Dijkstra's search for the cheapest paths from a few tables. Few tables are open at a time, so
/// they are in a plain list.
struct Search<'a> {
    schema: &'a Schema,
    cost: Vec<f64>,
    came: Vec<Option<Edge>>,
    /// The last edges of two ways of the same cost, where they lead to a table.
    tied: Vec<Option<[Edge; 2]>>,
    done: Vec<bool>,
    open: Vec<usize>,
}

impl<'a> Search<'a> {
    fn new(schema: &'a Schema, known: &[usize]) -> Self {
        let count = schema.tables.len();
        let mut cost = vec![f64::INFINITY; count];
        // Of equal paths, the one from the table that was named last is meant.
        known.iter().rev().enumerate().for_each(|(back, table)| cost[*table] = 0.001 * back as f64);
        Self {
            schema,
            cost,
            came: vec![None; count],
            tied: vec![None; count],
            done: vec![false; count],
            open: known.to_vec(),
        }
    }

    /// Takes the nearest open table, of equally near ones that of the lowest rank.
    fn take_nearest(&mut self, rank: impl Fn(usize) -> usize) -> Option<usize> {
        let key = |table: &usize| (rank(*table), *table);
        let order = |a: &usize, b: &usize| {
            self.cost[*a].total_cmp(&self.cost[*b]).then_with(|| key(a).cmp(&key(b)))
        };
        let at = (0..self.open.len()).min_by(|a, b| order(&self.open[*a], &self.open[*b]))?;
        let here = self.open.swap_remove(at);
        self.done[here] = true;
        Some(here)
    }

    /// Opens the neighbours of a table.
    fn go_on(&mut self, here: usize, bias: &dyn Fn(&Edge) -> f64) {
        for edge in self.schema.edges_of(here) {
            let there = edge.other_table(here);
            let total = self.cost[here] + edge.cost + bias(edge);
            if self.done[there] {
                continue;
            }
            if (total - self.cost[there]).abs() < SAME {
                self.tied[there] = self.came[there].map(|first| [first, *edge]);
            } else if total < self.cost[there] {
                self.tied[there] = self.tied[here];
                if self.cost[there].is_infinite() {
                    self.open.push(there);
                }
                self.cost[there] = total;
                self.came[there] = Some(*edge);
            }
        }
    }
}

fn walk_back(came: &[Option<Edge>], end: usize) -> Vec<Edge> {
    let mut path = Vec::new();
    let mut here = end;
    while let Some(edge) = came[here] {
        path.push(edge);
        here = edge.other_table(here);
    }
    path.reverse();
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn a_link_table_is_found_on_the_way() {
        let schema = Schema::new(&fixture::library());
        let table = |name: &str| schema.tables.iter().position(|table| table.name == name).unwrap();
        let tree = tree(&schema, &[table("member"), table("book")], &|_| 0.0).unwrap();
        let names: Vec<&str> =
            tree.iter().map(|(table, _)| schema.tables[*table].name.as_str()).collect();
        assert_eq!(names, ["member", "loan", "book"]);
        assert!(distances(&schema, table("member"))[table("book")] > 1.0);
    }

    #[test]
    fn of_equal_ways_the_one_from_the_table_named_last_is_taken() {
        // Authors and members both lead to the new table; each is one step away.
        let mut catalog = fixture::library();
        let mut visit = catalog.tables[3].clone();
        visit.name = "visit".to_owned();
        visit.columns[2].name = "author_id".to_owned();
        visit.foreign_keys[1].columns = vec!["author_id".to_owned()];
        visit.foreign_keys[1].ref_table = "author".to_owned();
        visit.foreign_keys[1].ref_columns = vec!["author_id".to_owned()];
        catalog.tables.push(visit);
        let schema = Schema::new(&catalog);
        for (first, last) in [(0, 2), (2, 0)] {
            let mut search = Search::new(&schema, &[first, last]);
            let mut reached = None;
            while let Some(here) = search.take_nearest(|_| 0) {
                if here == 4 {
                    reached = search.came[4];
                    break;
                }
                search.go_on(here, &|_| 0.0);
            }
            assert_eq!(reached.map(|edge| edge.other_table(4)), Some(last));
        }
    }

    #[test]
    fn unreachable_tables_have_no_tree() {
        let mut catalog = fixture::library();
        catalog.tables.iter_mut().for_each(|table| {
            table.foreign_keys.clear();
            table
                .columns
                .iter_mut()
                .enumerate()
                .for_each(|(i, column)| column.name = format!("x{}{i}", table.name));
        });
        assert_eq!(tree(&Schema::new(&catalog), &[0, 1], &|_| 0.0), None);
    }
}
