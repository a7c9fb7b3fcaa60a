//! Staging, archive and backup copies of tables rank below the tables that they are copies of.

use std::collections::{BTreeMap, BTreeSet};

use syrch_plugin::prelude::*;
use syrch_plugin::text::is_one_of;

use crate::linker::fuse::{Fused, sort};
use crate::linker::words::words;

/// Words in the names of copies, and of the schemas in which they stand.
const MARKS: &str = "arch archive archived archives backup backups bak bck bkp bkup copy \
                     deprecated dup legacy obsolete old raw snapshot stage staged staging \
                     stg temp tmp";
/// Words in the names of modelled tables, which say nothing of what is in them.
const LAYERS: &str = "dim dw fact fct mart";
/// The share of its score that a copy has left.
const SHARE: f64 = 0.5;
/// Digits of a date in a name, such as `orders_20240131`.
const DATE: usize = 6;

/// The copies among a catalog's tables, each with the table that it is a copy of.
pub(crate) struct Copies {
    pairs: BTreeMap<usize, usize>,
}

impl Copies {
    /// Finds the copies that a question does not ask for by the words that mark them.
    pub(crate) fn new(catalog: &Catalog, question: &str) -> Self {
        let names: Vec<Name> = catalog.tables.iter().map(Name::from_table).collect();
        let mut real: BTreeMap<&[String], usize> = BTreeMap::new();
        for (number, name) in names.iter().enumerate().filter(|(_, name)| name.marks.is_empty()) {
            real.entry(&name.words).or_insert(number);
        }
        let asked: Vec<String> =
            question.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase).collect();
        let copies = names.iter().enumerate().filter(|(_, name)| !name.marks.is_empty());
        let copies = copies.filter(|(_, name)| {
            !name.marks.iter().any(|mark: &String| {
                asked.iter().any(|word| word.len() > 2 && word.starts_with(mark.as_str()))
            })
        });
        let pairs = copies
            .filter_map(|(copy, name)| Some((copy, *real.get(name.words.as_slice())?)))
            .collect();
        Self { pairs }
    }

    /// Puts each copy that was found below its table, which gets the copy's score if it has less.
    pub(crate) fn sink(&self, tables: &mut Vec<Fused<usize>>) {
        let mut places: BTreeMap<usize, usize> =
            tables.iter().enumerate().map(|(at, table)| (table.key, at)).collect();
        for (copy, real) in &self.pairs {
            let Some(at) = places.get(copy) else { continue };
            let Fused { score, retrievers, .. } = tables[*at].clone();
            tables[*at].score *= SHARE;
            match places.get(real) {
                Some(at) => tables[*at].score = tables[*at].score.max(score),
                None => {
                    places.insert(*real, tables.len());
                    tables.push(Fused { key: *real, score, retrievers });
                }
            }
        }
        sort(tables);
    }

    /// Returns the tables of which a retriever is sure, with a copy's table in place of the copy.
    pub(crate) fn replace_copies(&self, sure: BTreeSet<usize>) -> BTreeSet<usize> {
        sure.into_iter()
            .map(|table: usize| self.pairs.get(&table).copied().unwrap_or(table))
            .collect()
    }
}

/// A table's name taken apart.
#[derive(Debug, PartialEq)]
struct Name {
    /// The words that say what is in the table.
    words: Vec<String>,
    /// The words by which it is known as a copy, of the name or else of the schema.
    marks: Vec<String>,
}

impl Name {
    fn from_table(table: &Table) -> Self {
        let all = words(&table.name);
        let is_date =
            |word: &String| word.len() >= DATE && word.bytes().all(|byte| byte.is_ascii_digit());
        let is_mark = |word: &String| is_one_of(MARKS, word) || is_date(word);
        let (mut marks, words): (Vec<String>, Vec<String>) = all.iter().cloned().partition(is_mark);
        if words.is_empty() {
            return Self { words: all, marks: Vec::new() };
        }
        let schema = table.schema_name.as_deref().map(self::words).unwrap_or_default();
        marks.extend(schema.into_iter().filter(is_mark));
        let content: Vec<String> =
            words.iter().filter(|word| !is_one_of(LAYERS, word)).cloned().collect();
        Self { words: if content.is_empty() { words } else { content }, marks }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copies(tables: &[&str], question: &str) -> Vec<(String, String)> {
        let catalog = Catalog {
            database: "shop".into(),
            dialect: Dialect::Postgres,
            tables: tables
                .iter()
                .map(|name: &&str| {
                    let (schema, name) = name
                        .split_once('.')
                        .map_or((None, *name), |(schema, name)| (Some(schema), name));
                    Table {
                        schema_name: schema.map(str::to_owned),
                        name: name.into(),
                        ..Table::default()
                    }
                })
                .collect(),
            ..Catalog::default()
        };
        let named = |number: usize| tables[number].to_owned();
        Copies::new(&catalog, question)
            .pairs
            .iter()
            .map(|(copy, real)| (named(*copy), named(*real)))
            .collect()
    }

    #[test]
    fn copies_are_known_by_a_word_of_their_names_or_schemas() {
        let tables = [
            "stg_orders",
            "fact_orders",
            "orders_bak",
            "OrdersOld",
            "orders_20240131",
            "archive.orders",
        ];
        let of = copies(&tables, "How many orders?");
        let expected =
            ["stg_orders", "orders_bak", "OrdersOld", "orders_20240131", "archive.orders"];
        assert_eq!(of, expected.map(|copy| (copy.to_owned(), "fact_orders".to_owned())));
    }

    #[test]
    fn what_has_no_table_beside_it_or_is_asked_for_is_no_copy() {
        assert!(
            copies(&["stg_orders", "customers", "archive", "old"], "How many orders?").is_empty()
        );
        assert!(copies(&["orders", "order_history", "orders_2024"], "How many orders?").is_empty());
        assert!(
            copies(&["orders", "orders_archive"], "How many archived orders are there?").is_empty()
        );
    }

    #[test]
    fn a_copy_sinks_below_its_table_even_where_that_was_not_found() {
        let pairs = Copies { pairs: BTreeMap::from([(0, 1)]) };
        let found = |key, score| Fused { key, score, retrievers: vec!["lexical"] };
        let mut tables = vec![found(0, 0.8), found(2, 0.7)];
        pairs.sink(&mut tables);
        assert_eq!(tables.iter().map(|table| table.key).collect::<Vec<_>>(), [1, 2, 0]);
        assert_eq!(pairs.replace_copies(BTreeSet::from([0, 2])), BTreeSet::from([1, 2]));
    }
}
