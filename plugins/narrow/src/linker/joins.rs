//! Finds the joins between tables: by foreign keys, and where none are declared by the names of
//! key-like columns that few tables share.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use syrch_plugin::prelude::*;

use crate::linker::fuse::{self, Fused};
use crate::linker::places::Places;

/// Tables that may share a column's name for it to be a key between them.
const SHARED: usize = 8;
/// Joins on a path between two tables.
const STEPS: usize = 4;
/// The reason that is given for the tables of the closure.
const BETWEEN: &str = "joins";

/// The tables of a catalog as a graph.
pub(crate) struct Joins {
    neighbours: Vec<BTreeSet<usize>>,
    keys: Vec<BTreeSet<usize>>,
}

impl Joins {
    pub(crate) fn new(catalog: &Catalog) -> Self {
        let count = catalog.tables.len();
        let mut joins =
            Self { neighbours: vec![BTreeSet::new(); count], keys: vec![BTreeSet::new(); count] };
        let places = Places::new(catalog);
        for (number, table) in catalog.tables.iter().enumerate() {
            joins.add_keys(number, table, &table.primary_key);
            for key in &table.foreign_keys {
                joins.add_keys(number, table, &key.columns);
                if let Some(other) = places.table(&key.ref_table) {
                    joins.connect(number, other);
                }
            }
        }
        joins.connect_by_names(catalog);
        joins
    }

    fn add_keys(&mut self, number: usize, table: &Table, names: &[String]) {
        for name in names {
            let column =
                table.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name));
            self.keys[number].extend(column);
        }
    }

    fn connect(&mut self, one: usize, other: usize) {
        if one != other {
            self.neighbours[one].insert(other);
            self.neighbours[other].insert(one);
        }
    }

    /// Connects tables that share the name of a column that reads like a key, unless it is in so
    /// many that it says nothing.
    fn connect_by_names(&mut self, catalog: &Catalog) {
        let mut holders: BTreeMap<String, Vec<(usize, usize)>> = BTreeMap::new();
        for (number, table) in catalog.tables.iter().enumerate() {
            for (at, column) in table.columns.iter().enumerate() {
                if is_key_like(&column.name) {
                    holders.entry(column.name.to_lowercase()).or_default().push((number, at));
                }
            }
        }
        for places in holders.into_values().filter(|places| places.len() <= SHARED) {
            for (number, at) in &places {
                if places.len() > 1 {
                    self.keys[*number].insert(*at);
                }
                for (other, _) in &places {
                    self.connect(*number, *other);
                }
            }
        }
    }

    /// The columns of a table by which it joins.
    pub(crate) fn keys(&self, table: usize) -> &BTreeSet<usize> {
        &self.keys[table]
    }

    /// Gives each table a share of its best neighbour's score on top of its own, and the neighbours
    /// of what was found theirs.
    pub(crate) fn spread(&self, tables: &mut Vec<Fused<usize>>, share: f64) {
        if share == 0.0 {
            return;
        }
        let own: BTreeMap<usize, f64> =
            tables.iter().map(|table| (table.key, table.score)).collect();
        let reached: BTreeSet<usize> =
            own.keys().flat_map(|table| &self.neighbours[*table]).copied().collect();
        let new = reached.into_iter().filter(|key| !own.contains_key(key));
        tables.extend(new.map(|key| Fused { key, score: 0.0, retrievers: vec!["a neighbour"] }));
        for table in tables.iter_mut() {
            let best = self.neighbours[table.key]
                .iter()
                .map(|table: &usize| own.get(table).copied().unwrap_or(0.0))
                .fold(0.0, f64::max);
            table.score = (table.score + share * best) / (1.0 + share);
        }
        fuse::sort(tables);
    }

    /// The first `seeds` of the tables, those on the shortest paths between any two of these, those
    /// of which one retriever is sure, and then all others, in their order.
    pub(crate) fn add_join_paths(
        &self,
        tables: &[Fused<usize>],
        seeds: usize,
        sure: &BTreeSet<usize>,
    ) -> Vec<Fused<usize>> {
        let (first, others) = tables.split_at(seeds.min(tables.len()));
        let mut order = first.to_vec();
        for (at, one) in first.iter().enumerate() {
            for other in &first[at + 1..] {
                for key in self.between(one.key, other.key) {
                    if order.iter().all(|table| table.key != key) {
                        let score = others
                            .iter()
                            .find(|table| table.key == key)
                            .map_or(0.0, |table| table.score);
                        order.push(Fused { key, score, retrievers: vec![BETWEEN] });
                    }
                }
            }
        }
        let placed: BTreeSet<usize> = order.iter().map(|table| table.key).collect();
        let left = others.iter().filter(|table| !placed.contains(&table.key)).cloned();
        let (next, last): (Vec<_>, Vec<_>) = left.partition(|table| sure.contains(&table.key));
        order.into_iter().chain(next).chain(last).collect()
    }

    /// The tables between two on the shortest path of few joins; the lower numbers where several
    /// are as short.
    fn between(&self, from: usize, to: usize) -> Vec<usize> {
        let mut before: BTreeMap<usize, usize> = BTreeMap::new();
        let mut queue = VecDeque::from([(from, 0)]);
        while let Some((table, steps)) = queue.pop_front() {
            if table == to {
                break;
            }
            for next in self.neighbours[table].iter().filter(|_| steps < STEPS) {
                if *next != from && !before.contains_key(next) {
                    before.insert(*next, table);
                    queue.push_back((*next, steps + 1));
                }
            }
        }
        let mut path = Vec::new();
        let mut at = before.get(&to).copied();
        while let Some(table) = at.filter(|table| *table != from) {
            path.push(table);
            at = before.get(&table).copied();
        }
        path.reverse();
        path
    }
}

/// Returns true if a name is that of a key to something: `customer_id`, `StuID`, `pid`,
/// `state_name`, `AirportCode`, but neither `id` nor `name`.
fn is_key_like(name: &str) -> bool {
    let lower = name.to_lowercase();
    ["id", "key", "code", "_name", "_no", "number", "uuid"]
        .iter()
        .any(|tail| lower.len() > tail.len() && lower.ends_with(tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str, columns: &[&str], keys: &[(&str, &str)]) -> Table {
        let columns = columns
            .iter()
            .map(|name| Column { name: (*name).into(), ..Column::default() })
            .collect();
        Table {
            name: name.into(),
            columns,
            foreign_keys: keys
                .iter()
                .map(|(column, to): &(&str, &str)| ForeignKey {
                    columns: vec![(*column).into()],
                    ref_table: (*to).into(),
                    ref_columns: vec!["id".into()],
                })
                .collect(),
            ..Table::default()
        }
    }

    /// `a - ab - b - c` by keys and names, and `far` alone.
    fn joins() -> Joins {
        let tables = vec![
            table("a", &["id", "name"], &[]),
            table("b", &["id", "kid"], &[]),
            table("ab", &["x", "y"], &[("x", "A"), ("y", "b")]),
            table("c", &["id", "KID"], &[]),
            table("far", &["id", "name"], &[]),
        ];
        Joins::new(&Catalog {
            database: "d".into(),
            dialect: Dialect::Sqlite,
            tables,
            ..Catalog::default()
        })
    }

    fn table_scores(tables: &[(usize, f64)]) -> Vec<Fused<usize>> {
        tables
            .iter()
            .map(|(key, score)| Fused { key: *key, score: *score, retrievers: vec!["words"] })
            .collect()
    }

    fn keys(tables: &[Fused<usize>]) -> Vec<usize> {
        tables.iter().map(|table| table.key).collect()
    }

    #[test]
    fn tables_on_the_shortest_path_follow_the_seeds() {
        let tables = table_scores(&[(0, 0.9), (3, 0.8), (4, 0.7), (1, 0.1)]);
        let closed = |seeds: usize, sure: &[usize]| {
            joins().add_join_paths(&tables, seeds, &sure.iter().copied().collect())
        };
        assert_eq!(keys(&closed(2, &[])), [0, 3, 2, 1, 4]);
        assert_eq!(keys(&closed(0, &[])), [0, 3, 4, 1]);
        assert_eq!(keys(&closed(1, &[1])), [0, 1, 3, 4]);
        assert_eq!(closed(2, &[])[2].retrievers, ["joins"]);
    }

    #[test]
    fn neighbours_share_the_score() {
        let mut tables = table_scores(&[(4, 0.5), (0, 0.45)]);
        joins().spread(&mut tables, 0.5);
        assert_eq!(keys(&tables), [4, 0, 2]);
        assert!((tables[2].score - 0.15).abs() < 1e-12);
        let mut same = table_scores(&[(4, 0.5)]);
        joins().spread(&mut same, 0.0);
        assert_eq!(same, table_scores(&[(4, 0.5)]));
    }

    #[test]
    fn columns_that_join_are_keys() {
        assert_eq!(joins().keys(2), &BTreeSet::from([0, 1]));
        assert_eq!(joins().keys(1), &BTreeSet::from([1]));
        assert!(joins().keys(4).is_empty());
    }

    #[test]
    fn a_name_that_is_everywhere_is_no_key() {
        let tables =
            (0..9).map(|number| table(&format!("t{number}"), &["tenant_id"], &[])).collect();
        let joins = Joins::new(&Catalog {
            database: "d".into(),
            dialect: Dialect::Sqlite,
            tables,
            ..Catalog::default()
        });
        assert!(joins.between(0, 1).is_empty() && joins.keys(0).is_empty());
    }
}
