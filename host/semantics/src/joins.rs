//! The joins as a graph of tables, in which each row of a table matches at most one row of every
//! table that a path leads to. Tables are joined only along such paths, so a join never repeats a
//! row of the base.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use crate::{Cardinality, Join, Semantics};

/// The limit on the steps of a search for a second path.
const STEPS: usize = 10_000;

/// A join in the direction in which it is followed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step<'a> {
    pub(crate) join: &'a Join,
    /// True for a one-to-one join that is followed from its `to` to its `from`.
    pub(crate) is_reverse: bool,
}

impl<'a> Step<'a> {
    /// The table where the step begins.
    pub(crate) fn source(&self) -> &'a str {
        if self.is_reverse { &self.join.to } else { &self.join.from }
    }

    /// The table where it ends.
    pub(crate) fn target(&self) -> &'a str {
        if self.is_reverse { &self.join.from } else { &self.join.to }
    }

    /// The pairs of columns, those of [`Step::source`] first.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let join = self.join;
        let is_reverse = self.is_reverse;
        join.from_columns.iter().zip(&join.to_columns).map(move |(from, to)| {
            if is_reverse { (to.as_str(), from.as_str()) } else { (from.as_str(), to.as_str()) }
        })
    }
}

/// The paths from one table to another.
#[derive(Debug, Clone)]
pub(crate) enum Paths<'a> {
    /// None.
    None,
    /// Exactly one, which has no step if the tables are the same.
    One(Vec<Step<'a>>),
    /// At least two: these, or the first of more than can be searched.
    Several(Vec<Step<'a>>, Option<Vec<Step<'a>>>),
}

/// An edge of the graph.
#[derive(Debug, Clone, Copy)]
struct Edge {
    /// The position of the table that it leads to.
    to: usize,
    /// The position of the join.
    join: usize,
    is_reverse: bool,
}

/// The positions of tables, and the edges between these.
#[derive(Debug, Default)]
pub(crate) struct Edges {
    /// The positions of the tables by their names in lower case.
    positions: HashMap<String, usize>,
    /// The edges from each table.
    next: Vec<Vec<Edge>>,
    /// The tables from which an edge leads to each.
    before: Vec<Vec<usize>>,
}

impl Edges {
    pub(crate) fn from_semantics(semantics: &Semantics) -> Self {
        let names = semantics.tables.iter().map(|table| table.name.as_str());
        Self::new(names.collect::<Vec<_>>().as_slice(), &semantics.joins)
    }

    fn new(names: &[&str], joins: &[Join]) -> Self {
        let positions: HashMap<String, usize> =
            names.iter().enumerate().map(|(index, name)| (name.to_lowercase(), index)).collect();
        let mut next = vec![Vec::new(); names.len()];
        for (index, join) in joins.iter().enumerate() {
            let Some(&from) = positions.get(&join.from.to_lowercase()) else { continue };
            let Some(&to) = positions.get(&join.to.to_lowercase()) else { continue };
            next[from].push(Edge { to, join: index, is_reverse: false });
            if join.cardinality == Cardinality::OneToOne {
                next[to].push(Edge { to: from, join: index, is_reverse: true });
            }
        }
        let mut before = vec![Vec::new(); names.len()];
        for (from, edges) in next.iter().enumerate() {
            edges.iter().for_each(|edge: &Edge| before[edge.to].push(from));
        }
        Self { positions, next, before }
    }
}

/// The tables, by their position, and the joins that leave each with at most one row to meet.
pub(crate) struct Graph<'a> {
    names: Vec<&'a str>,
    joins: &'a [Join],
    edges: Arc<Edges>,
}

impl<'a> Graph<'a> {
    /// The graph of definitions that may not be whole yet.
    pub(crate) fn from_semantics(semantics: &'a Semantics) -> Self {
        Self::with_edges(semantics, Arc::new(Edges::from_semantics(semantics)))
    }

    /// The graph of whole definitions, of which the edges are found once.
    pub(crate) fn from_index(semantics: &'a Semantics) -> Self {
        Self::with_edges(semantics, semantics.index().edges(semantics))
    }

    fn with_edges(semantics: &'a Semantics, edges: Arc<Edges>) -> Self {
        let names = semantics.tables.iter().map(|table| table.name.as_str());
        Self { names: names.collect(), joins: &semantics.joins, edges }
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.edges.positions.get(&name.to_lowercase()).copied()
    }

    /// The joins as pairs of positions, of tables that a step leads from and to.
    pub(crate) fn edges(&self) -> impl Iterator<Item = (usize, usize)> {
        let steps = self.edges.next.iter().enumerate();
        steps.flat_map(|(from, edges)| edges.iter().map(move |edge| (from, edge.to)))
    }

    fn step(&self, edge: Edge) -> Step<'a> {
        Step { join: &self.joins[edge.join], is_reverse: edge.is_reverse }
    }

    /// Returns the paths from one table to another.
    pub(crate) fn find_paths(&self, from: &str, to: &str) -> Paths<'a> {
        match (self.position(from), self.position(to)) {
            (Some(from), Some(to)) if from != to => self.search(from, to),
            (Some(_), Some(_)) => Paths::One(Vec::new()),
            _ => Paths::None,
        }
    }

    /// Returns the tables that a table reaches by exactly one path, itself first.
    pub(crate) fn find_reached(&self, from: &str) -> Vec<&'a str> {
        let mut reached: Vec<&str> = Vec::new();
        for &table in &self.names {
            match self.find_paths(from, table) {
                Paths::One(path) if path.is_empty() => reached.insert(0, table),
                Paths::One(_) => reached.push(table),
                Paths::None | Paths::Several(..) => {}
            }
        }
        reached
    }

    /// Walks from `from` over tables that lead to `to`, depth first, until two paths are found.
    fn search(&self, from: usize, to: usize) -> Paths<'a> {
        let leads = self.find_leading(to);
        let mut first: Option<Vec<Step<'a>>> = None;
        // The tables of the path, each with its steps that were not followed yet.
        let next = &self.edges.next;
        let mut open = vec![(from, next[from].iter())];
        let mut path: Vec<Step<'a>> = Vec::new();
        for _ in 0..STEPS {
            let Some((_, steps)) = open.last_mut() else { break };
            let Some(&edge) = steps.next() else {
                open.pop();
                path.pop();
                continue;
            };
            let step = self.step(edge);
            if edge.to == to {
                let found = path.iter().copied().chain([step]).collect();
                match first {
                    Some(first) => return Paths::Several(first, Some(found)),
                    None => first = Some(found),
                }
            } else if leads[edge.to] && open.iter().all(|(table, _)| *table != edge.to) {
                path.push(step);
                open.push((edge.to, next[edge.to].iter()));
            }
        }
        match first {
            Some(first) if !open.is_empty() => Paths::Several(first, None),
            Some(first) => Paths::One(first),
            None => Paths::None,
        }
    }

    /// Returns, by the position of each table, true if a path leads from it to `to`.
    fn find_leading(&self, to: usize) -> Vec<bool> {
        let mut leads = vec![false; self.names.len()];
        let mut open = vec![to];
        while let Some(table) = open.pop() {
            if !std::mem::replace(&mut leads[table], true) {
                open.extend(&self.edges.before[table]);
            }
        }
        leads
    }

    /// The tables that joins lead to from a table, by the number of joins: those of each distance
    /// in one list, the table itself first.
    pub(crate) fn distances(&self, from: &str) -> Vec<Vec<&'a str>> {
        let Some(from) = self.position(from) else { return Vec::new() };
        let mut is_seen = vec![false; self.names.len()];
        is_seen[from] = true;
        let mut levels: Vec<Vec<&str>> = Vec::new();
        let mut open = VecDeque::from([(from, 0)]);
        while let Some((table, distance)) = open.pop_front() {
            if levels.len() <= distance {
                levels.push(Vec::new());
            }
            levels[distance].push(self.names[table]);
            for edge in &self.edges.next[table] {
                if !std::mem::replace(&mut is_seen[edge.to], true) {
                    open.push_back((edge.to, distance + 1));
                }
            }
        }
        levels
    }
}

/// Returns the tables on a path, as `orders → customers`.
pub(crate) fn list_tables(path: &[Step<'_>]) -> String {
    let first = path.first().map(Step::source);
    let tables: Vec<&str> = first.into_iter().chain(path.iter().map(Step::target)).collect();
    tables.join(" → ")
}

/// Returns a path in words, as `orders.customer_id -> customers`.
pub(crate) fn describe_path(path: &[Step<'_>]) -> String {
    let steps = path.iter().map(|step| {
        let columns: Vec<String> =
            step.columns().map(|(from, _)| format!("{}.{from}", step.source())).collect();
        format!("{} -> {}", columns.join(", "), step.target())
    });
    let steps: Vec<String> = steps.collect();
    format!("`{}`", steps.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Place;
    use crate::compile::tests::kit::table;

    fn join(from: &str, to: &str, cardinality: Cardinality) -> Join {
        Join {
            from: from.into(),
            from_columns: vec!["x".into()],
            to: to.into(),
            to_columns: vec!["y".into()],
            cardinality,
            place: Place::default(),
        }
    }

    fn connect(names: &[&str], joins: Vec<Join>) -> Semantics {
        let tables = names.iter().map(|name| table(name));
        Semantics { tables: tables.collect(), joins, ..Semantics::default() }
    }

    #[test]
    fn paths_are_none_one_or_two_of_several() {
        use Cardinality::{ManyToOne, OneToOne};
        let joins = [
            ("a", "b", ManyToOne),
            ("b", "d", ManyToOne),
            ("a", "c", ManyToOne),
            ("c", "d", OneToOne),
        ];
        let joins = joins.map(|(from, to, cardinality)| join(from, to, cardinality));
        let semantics = connect(&["a", "b", "c", "d"], joins.to_vec());
        let graph = Graph::from_semantics(&semantics);
        let show = |from: &str, to: &str| match graph.find_paths(from, to) {
            Paths::None => "none".to_owned(),
            Paths::One(path) => list_tables(&path),
            Paths::Several(one, other) => {
                format!("{}; {}", list_tables(&one), list_tables(&other.unwrap()))
            }
        };
        assert_eq!((show("a", "a"), show("A", "b")), (String::new(), "a → b".to_owned()));
        assert_eq!((show("b", "a"), show("d", "c")), ("none".to_owned(), "d → c".to_owned()));
        assert_eq!(show("a", "d"), "a → b → d; a → c → d");
        assert_eq!(graph.distances("a"), [vec!["a"], vec!["b", "c"], vec!["d"]]);
    }

    #[test]
    fn a_second_path_is_searched_within_bounds() {
        // Every table meets every other: there are far more paths than can be walked.
        let names: Vec<String> = (0..60).map(|n| format!("t{n}")).collect();
        let mut joins = Vec::new();
        for from in &names {
            let others = names.iter().filter(|to| *to != from && *to != "t59");
            joins.extend(others.map(|to| join(from, to, Cardinality::OneToOne)));
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let semantics = connect(&names, joins);
        let graph = Graph::from_semantics(&semantics);
        let paths = graph.find_paths("t0", "t59");
        assert!(matches!(paths, Paths::None | Paths::Several(..)));
    }
}
