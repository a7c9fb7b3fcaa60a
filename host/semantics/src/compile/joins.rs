//! The joins as a graph whose edges lead to at most one row, and its paths. A table is joined only
//! along such edges, so a join never repeats a row of the base.

use std::collections::{HashMap, VecDeque};

use crate::{Cardinality, Join, Semantics};

/// A join in the direction in which it is followed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step<'a> {
    pub(super) join: &'a Join,
    /// True for a one-to-one join that is followed from its `to` to its `from`.
    pub(super) is_reverse: bool,
}

impl<'a> Step<'a> {
    /// The table where the step begins.
    pub(super) fn source(&self) -> &'a str {
        if self.is_reverse { &self.join.to } else { &self.join.from }
    }

    /// The table where it ends.
    pub(super) fn target(&self) -> &'a str {
        if self.is_reverse { &self.join.from } else { &self.join.to }
    }

    /// The pairs of columns, those of [`Step::source`] first.
    pub(super) fn columns(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let join = self.join;
        let is_reverse = self.is_reverse;
        join.from_columns.iter().zip(&join.to_columns).map(move |(from, to)| {
            if is_reverse { (to.as_str(), from.as_str()) } else { (from.as_str(), to.as_str()) }
        })
    }
}

/// The paths from one table to another.
pub(super) enum Paths<'a> {
    /// None.
    None,
    /// Exactly one.
    One(Vec<Step<'a>>),
    /// At least these two.
    Several(Vec<Step<'a>>, Vec<Step<'a>>),
}

/// The joins by the tables where they begin.
pub(crate) struct Graph<'a> {
    edges: HashMap<String, Vec<Step<'a>>>,
}

impl<'a> Graph<'a> {
    pub(crate) fn new(semantics: &'a Semantics) -> Self {
        let mut edges: HashMap<String, Vec<Step<'a>>> = HashMap::new();
        for join in &semantics.joins {
            let forward = Step { join, is_reverse: false };
            edges.entry(join.from.to_lowercase()).or_default().push(forward);
            if join.cardinality == Cardinality::OneToOne {
                let reverse = Step { join, is_reverse: true };
                edges.entry(join.to.to_lowercase()).or_default().push(reverse);
            }
        }
        Self { edges }
    }

    /// Returns the paths from one table to another. Two different paths without a circle differ in
    /// a step of the first, so the second is a path that avoids one of these steps.
    pub(super) fn find_paths(&self, from: &str, to: &str) -> Paths<'a> {
        let Some(first) = self.find_shortest(from, to, None) else {
            return Paths::None;
        };
        let second = first.iter().find_map(|step| self.find_shortest(from, to, Some(*step)));
        match second {
            Some(second) => Paths::Several(first, second),
            None => Paths::One(first),
        }
    }

    /// Returns the tables that a table reaches by exactly one path, itself first.
    pub(crate) fn find_reached(&self, from: &str, tables: &'a [crate::Table]) -> Vec<&'a str> {
        let mut reached: Vec<&str> = Vec::new();
        for table in tables {
            match self.find_paths(from, &table.name) {
                Paths::One(path) if path.is_empty() => reached.insert(0, &table.name),
                Paths::One(_) => reached.push(&table.name),
                Paths::None | Paths::Several(..) => {}
            }
        }
        reached
    }

    fn find_shortest(
        &self,
        from: &str,
        to: &str,
        without: Option<Step<'a>>,
    ) -> Option<Vec<Step<'a>>> {
        let start = from.to_lowercase();
        let end = to.to_lowercase();
        let mut arrivals: HashMap<String, Option<Step<'a>>> =
            HashMap::from([(start.clone(), None)]);
        let mut queue = VecDeque::from([start]);
        while let Some(table) = queue.pop_front() {
            if table == end {
                return Some(collect_steps(&arrivals, table));
            }
            for step in self.edges.get(&table).into_iter().flatten() {
                let is_avoided = without.is_some_and(|without| {
                    std::ptr::eq(without.join, step.join) && without.is_reverse == step.is_reverse
                });
                let next = step.target().to_lowercase();
                if !is_avoided && !arrivals.contains_key(&next) {
                    arrivals.insert(next.clone(), Some(*step));
                    queue.push_back(next);
                }
            }
        }
        None
    }
}

fn collect_steps<'a>(
    arrivals: &HashMap<String, Option<Step<'a>>>,
    mut table: String,
) -> Vec<Step<'a>> {
    let mut steps = Vec::new();
    while let Some(Some(step)) = arrivals.get(&table) {
        steps.push(*step);
        table = step.source().to_lowercase();
    }
    steps.reverse();
    steps
}

/// Returns a path in words, as `orders.customer_id -> customers`.
pub(super) fn describe_path(path: &[Step<'_>]) -> String {
    let steps = path.iter().map(|step| {
        let columns: Vec<String> =
            step.columns().map(|(from, _)| format!("{}.{from}", step.source())).collect();
        format!("{} -> {}", columns.join(", "), step.target())
    });
    let steps: Vec<String> = steps.collect();
    format!("`{}`", steps.join("; "))
}
