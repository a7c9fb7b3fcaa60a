//! How long it takes to index a catalog and to look into it, by the number of tables.

use std::task::{Context, Poll, Waker};

use divan::{Bencher, black_box};
use syrch_core::{Catalog, Column, Corpus, Dialect, Lane, Lookup, Table};
use syrch_search::{Index, Sources};

fn main() {
    divan::main();
}

const THINGS: &[&str] = &["customer", "order", "invoice", "shipment", "supplier", "product", "warehouse", "employee"];
const FACETS: &[&str] = &["status", "history", "item", "address", "budget", "contract", "rating", "schedule"];
const QUESTION: &str =
    "What is the average budget of the suppliers whose contracts were changed after the last shipment?";

/// A catalog of so many tables of ten columns.
fn catalog(tables: usize) -> Catalog {
    let of = |words: &[&str], at: usize| words[at % words.len()].to_owned();
    let table = |at: usize| {
        let columns = (0..10).map(|column| Column {
            name: format!("{}_{}_{column}", of(THINGS, at * 7 + column), of(FACETS, at + column * 3)),
            sql_type: "TEXT".to_owned(),
            ..Column::default()
        });
        let name = format!("{}_{}_{}", of(THINGS, at), of(FACETS, at / 8), at / 64);
        Table { name, columns: columns.collect(), ..Table::default() }
    };
    Catalog { database: "bench".to_owned(), dialect: Dialect::Sqlite, tables: (0..tables).map(table).collect() }
}

#[divan::bench(args = [8, 64, 500])]
fn build(bencher: Bencher, tables: usize) {
    let (catalog, sources) = (catalog(tables), Sources::default());
    bencher.bench(|| Index::new(black_box(&catalog), &sources, None));
}

/// One look; nothing that it waits for is ever pending without vectors.
fn look(bencher: Bencher, tables: usize, corpus: Corpus, lane: Lane, text: &str) {
    let index = Index::new(&catalog(tables), &Sources::default(), None);
    let look = Lookup { corpus, lane, text: text.to_owned(), limit: 20 };
    bencher.bench(|| {
        let future = std::pin::pin!(index.find(black_box(&look)));
        match future.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(found) => found.map_or(0, |hits| hits.len()),
            Poll::Pending => 0,
        }
    });
}

#[divan::bench(args = [8, 64, 500])]
fn lexical_columns(bencher: Bencher, tables: usize) {
    look(bencher, tables, Corpus::Columns, Lane::Lexical, QUESTION);
}

#[divan::bench(args = [8, 64, 500])]
fn fuzzy_columns_by_a_name(bencher: Bencher, tables: usize) {
    look(bencher, tables, Corpus::Columns, Lane::PathFuzzy, "suplier contract");
}

#[divan::bench(args = [8, 64, 500])]
fn fuzzy_tables_by_a_question(bencher: Bencher, tables: usize) {
    look(bencher, tables, Corpus::Tables, Lane::PathFuzzy, QUESTION);
}
