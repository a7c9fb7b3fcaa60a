//! The joins as a graph of tables, in which each row of a table matches at most one row of every
//! table that a path leads to.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

use super::problem::Problems;
use crate::{Cardinality, Join, Semantics};

/// The limit on the steps of a search for a second path.
const STEPS: usize = 10_000;

/// The paths between two tables, by the names of the tables on them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Paths {
    /// The tables are not joined in this direction.
    None,
    /// There is one path.
    One,
    /// There are several, of which these are two.
    Several(String, String),
}

/// The tables, by their position, and the joins that leave each with at most one row to meet.
#[derive(Debug)]
pub(crate) struct Graph {
    names: Vec<String>,
    position: HashMap<String, usize>,
    /// For each table the tables that a join leads to.
    next: Vec<Vec<usize>>,
    found: HashMap<(usize, usize), Paths>,
}

impl Graph {
    pub(crate) fn new<'a>(tables: impl IntoIterator<Item = &'a str>, joins: &'a [Join]) -> Self {
        let names: Vec<String> = tables.into_iter().map(str::to_owned).collect();
        let position: HashMap<String, usize> =
            names.iter().enumerate().map(|(index, name)| (name.clone(), index)).collect();
        let mut next = vec![Vec::new(); names.len()];
        for join in joins {
            let Some(&from) = position.get(&join.from) else { continue };
            let Some(&to) = position.get(&join.to) else { continue };
            next[from].push(to);
            if join.cardinality == Cardinality::OneToOne {
                next[to].push(from);
            }
        }
        Self { names, position, next, found: HashMap::new() }
    }

    /// The paths from one table to another; one, if they are the same.
    pub(crate) fn paths(&mut self, from: &str, to: &str) -> Paths {
        let Some(&from) = self.position.get(from) else { return Paths::None };
        let Some(&to) = self.position.get(to) else { return Paths::None };
        if from == to {
            return Paths::One;
        }
        if let Some(paths) = self.found.get(&(from, to)) {
            return paths.clone();
        }
        let paths = self.search(from, to);
        self.found.insert((from, to), paths.clone());
        paths
    }

    /// Walks from `from` over tables that lead to `to`, depth first, until two paths are found.
    fn search(&self, from: usize, to: usize) -> Paths {
        let leads = self.tables_that_lead(to);
        let mut first: Option<String> = None;
        let mut path = vec![from];
        let mut branches = vec![0];
        for _ in 0..STEPS {
            let Some(&table) = path.last() else { break };
            let Some(branch) = branches.last_mut() else { break };
            let Some(&next) = self.next[table].get(*branch) else {
                path.pop();
                branches.pop();
                continue;
            };
            *branch += 1;
            if next == to {
                path.push(next);
                let shown = self.show(&path);
                path.pop();
                match first {
                    Some(first) => return Paths::Several(first, shown),
                    None => first = Some(shown),
                }
            } else if leads[next] && !path.contains(&next) {
                path.push(next);
                branches.push(0);
            }
        }
        match first {
            Some(first) if !path.is_empty() => {
                Paths::Several(first, "more than can be searched".to_owned())
            }
            Some(_) => Paths::One,
            None => Paths::None,
        }
    }

    fn tables_that_lead(&self, to: usize) -> Vec<bool> {
        let mut before = vec![Vec::new(); self.names.len()];
        for (from, next) in self.next.iter().enumerate() {
            next.iter().for_each(|&next| before[next].push(from));
        }
        let mut leads = vec![false; self.names.len()];
        let mut open = vec![to];
        while let Some(table) = open.pop() {
            if !std::mem::replace(&mut leads[table], true) {
                open.extend(&before[table]);
            }
        }
        leads
    }

    fn show(&self, path: &[usize]) -> String {
        path.iter().map(|&table| self.names[table].as_str()).collect::<Vec<_>>().join(" → ")
    }

    /// The tables that joins lead to from a table, by the number of joins: those of each distance
    /// in one list, the table itself first.
    pub(crate) fn distances(&self, from: &str) -> Vec<Vec<&str>> {
        let Some(&from) = self.position.get(from) else { return Vec::new() };
        let mut distance: HashMap<usize, usize> = HashMap::from([(from, 0)]);
        let mut open = VecDeque::from([from]);
        let mut levels: Vec<Vec<&str>> = Vec::new();
        while let Some(table) = open.pop_front() {
            let here = distance[&table];
            if levels.len() <= here {
                levels.push(Vec::new());
            }
            levels[here].push(&self.names[table]);
            for &next in &self.next[table] {
                if let Entry::Vacant(vacant) = distance.entry(next) {
                    vacant.insert(here + 1);
                    open.push_back(next);
                }
            }
        }
        levels
    }

    /// Returns the tables of a circle that leads over the join from a table to another back to the
    /// first.
    fn circle(&self, from: usize, to: usize) -> Option<String> {
        let mut came_from: HashMap<usize, usize> = HashMap::new();
        let mut open = VecDeque::from([to]);
        while let Some(table) = open.pop_front() {
            if table == from {
                let mut circle = vec![from];
                let mut table = from;
                while table != to {
                    table = came_from[&table];
                    circle.push(table);
                }
                circle.push(from);
                circle.reverse();
                return Some(self.show(&circle));
            }
            for &next in &self.next[table] {
                if next != to && !came_from.contains_key(&next) {
                    came_from.insert(next, table);
                    open.push_back(next);
                }
            }
        }
        None
    }
}

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

fn check_circles(semantics: &Semantics, problems: &mut Problems) {
    let tables = semantics.tables.iter().map(|table| table.name.as_str());
    let graph = Graph::new(tables, &semantics.joins);
    let components = components(&graph.next);
    for join in &semantics.joins {
        let from = graph.position[&join.from];
        let to = graph.position[&join.to];
        if join.cardinality == Cardinality::ManyToOne && components[from] == components[to] {
            let circle = graph.circle(from, to).unwrap_or_default();
            let message = format!(
                "the joins lead in a circle ({circle}); leave one of them out, or declare a table \
                 a second time under another name with `source`"
            );
            // One circle is reported, not each of its joins.
            return problems.add(&join.place, message);
        }
    }
}

/// The strongly connected component of each node: two nodes share one if each leads to the other
/// (S. Rao Kosaraju's algorithm, without recursion).
fn components(next: &[Vec<usize>]) -> Vec<usize> {
    let mut before = vec![Vec::new(); next.len()];
    for (from, targets) in next.iter().enumerate() {
        targets.iter().for_each(|&to| before[to].push(from));
    }
    let mut finished = Vec::new();
    let mut is_seen = vec![false; next.len()];
    for start in 0..next.len() {
        let mut open = vec![(start, 0)];
        if std::mem::replace(&mut is_seen[start], true) {
            continue;
        }
        while let Some((node, branch)) = open.last_mut() {
            match next[*node].get(*branch) {
                Some(&target) => {
                    *branch += 1;
                    if !std::mem::replace(&mut is_seen[target], true) {
                        open.push((target, 0));
                    }
                }
                None => {
                    finished.push(*node);
                    open.pop();
                }
            }
        }
    }
    let mut component = vec![usize::MAX; next.len()];
    for &root in finished.iter().rev() {
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            if component[node] == usize::MAX {
                component[node] = root;
                open.extend(&before[node]);
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Place;

    fn graph(joins: &[(&str, &str, Cardinality)]) -> Graph {
        let joins: Vec<Join> = joins
            .iter()
            .map(|&(from, to, cardinality)| Join {
                from: from.into(),
                from_columns: vec!["x".into()],
                to: to.into(),
                to_columns: vec!["y".into()],
                cardinality,
                place: Place::default(),
            })
            .collect();
        Graph::new(["a", "b", "c", "d"], &joins)
    }

    #[test]
    fn paths_are_none_one_or_two_of_several() {
        use Cardinality::{ManyToOne, OneToOne};
        let mut graph = graph(&[
            ("a", "b", ManyToOne),
            ("b", "d", ManyToOne),
            ("a", "c", ManyToOne),
            ("c", "d", OneToOne),
        ]);
        assert_eq!(graph.paths("a", "a"), Paths::One);
        assert_eq!(graph.paths("a", "b"), Paths::One);
        assert_eq!(graph.paths("b", "a"), Paths::None);
        assert_eq!(graph.paths("d", "c"), Paths::One);
        assert_eq!(graph.paths("a", "d"), Paths::Several("a → b → d".into(), "a → c → d".into()));
        assert_eq!(graph.distances("a"), [vec!["a"], vec!["b", "c"], vec!["d"]]);
    }

    #[test]
    fn a_second_path_is_searched_within_bounds() {
        // Every table meets every other: there are far more paths than can be walked.
        let names: Vec<String> = (0..60).map(|n| format!("t{n}")).collect();
        let mut joins = Vec::new();
        for from in &names {
            for to in names.iter().filter(|to| *to != from && *to != "t59") {
                joins.push(Join {
                    from: from.clone(),
                    from_columns: vec![],
                    to: to.clone(),
                    to_columns: vec![],
                    cardinality: Cardinality::OneToOne,
                    place: Place::default(),
                });
            }
        }
        let mut graph = Graph::new(names.iter().map(String::as_str), &joins);
        assert!(matches!(graph.paths("t0", "t59"), Paths::None | Paths::Several(..)));
    }
}
