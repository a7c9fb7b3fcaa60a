//! Benchmarks of indexing a catalog and of searching it, by the number of tables.

use divan::{Bencher, black_box};
use syrch_core::{Catalog, Column, Corpus, Dialect, RetrievalQuery, Retriever, Table};
use syrch_retrieval::{Index, Note, Sources};

fn main() {
    divan::main();
}

const THINGS: &[&str] =
    &["customer", "order", "invoice", "shipment", "supplier", "product", "warehouse", "employee"];
const FACETS: &[&str] =
    &["status", "history", "item", "address", "budget", "contract", "rating", "schedule"];
const QUESTION: &str = "What is the average budget of the suppliers whose contracts were changed \
                        after the last shipment?";

/// A catalog of so many tables of ten columns.
fn catalog(tables: usize) -> Catalog {
    let of = |words: &[&str], at: usize| words[at % words.len()].to_owned();
    Catalog {
        database: "bench".to_owned(),
        dialect: Dialect::Sqlite,
        tables: (0..tables)
            .map(|at: usize| {
                let columns = (0..10).map(|column| Column {
                    name: format!(
                        "{}_{}_{column}",
                        of(THINGS, at * 7 + column),
                        of(FACETS, at + column * 3)
                    ),
                    sql_type: "TEXT".to_owned(),
                    ..Column::default()
                });
                let name = format!("{}_{}_{}", of(THINGS, at), of(FACETS, at / 8), at / 64);
                Table { name, columns: columns.collect(), ..Table::default() }
            })
            .collect(),
    }
}

#[divan::bench(args = [8, 64, 500])]
fn build(bencher: Bencher, tables: usize) {
    let catalog = catalog(tables);
    let sources = Sources::default();
    bencher.bench(|| Index::new(black_box(&catalog), &sources));
}

/// Runs one retrieval; these retrievers wait for nothing.
fn retrieve(bencher: Bencher, index: &Index, corpus: Corpus, retriever: Retriever, text: &str) {
    let query = RetrievalQuery { corpus, retriever, text: text.to_owned(), limit: 20 };
    bencher.bench(|| {
        index.find_now(black_box(&query)).and_then(Result::ok).map_or(0, |hits| hits.len())
    });
}

fn tables(count: usize) -> Index {
    Index::new(&catalog(count), &Sources::default())
}

/// A line of notes for each number.
fn notes(lines: usize) -> Sources {
    let of = |words: &[&str], at: usize| words[at % words.len()].to_owned();
    Sources {
        notes: (0..lines / 10)
            .map(|at: usize| Note {
                id: format!("n{at}"),
                text: (at * 10..at * 10 + 10)
                    .map(|at: usize| {
                        format!(
                            "{} {at}: the {} of its {}\n",
                            of(THINGS, at),
                            of(FACETS, at / 8),
                            of(THINGS, at / 3)
                        )
                    })
                    .collect(),
                ..Note::default()
            })
            .collect(),
        ..Sources::default()
    }
}

#[divan::bench(args = [8, 64, 500])]
fn lexical_columns(bencher: Bencher, tables: usize) {
    retrieve(bencher, &self::tables(tables), Corpus::Columns, Retriever::Lexical, QUESTION);
}

#[divan::bench(args = [8, 64, 500])]
fn fuzzy_columns_by_a_name(bencher: Bencher, tables: usize) {
    retrieve(
        bencher,
        &self::tables(tables),
        Corpus::Columns,
        Retriever::PathFuzzy,
        "suplier contract",
    );
}

#[divan::bench(args = [8, 64, 500])]
fn fuzzy_tables_by_a_question(bencher: Bencher, tables: usize) {
    retrieve(bencher, &self::tables(tables), Corpus::Tables, Retriever::PathFuzzy, QUESTION);
}

/// The longest name that is looked for.
#[divan::bench(args = [8, 64, 500])]
fn fuzzy_columns_by_a_long_word(bencher: Bencher, tables: usize) {
    retrieve(
        bencher,
        &self::tables(tables),
        Corpus::Columns,
        Retriever::PathFuzzy,
        &"suplier_contract_".repeat(60),
    );
}

#[divan::bench(args = [8, 64, 500])]
fn fuzzy_columns_by_a_long_text(bencher: Bencher, tables: usize) {
    retrieve(
        bencher,
        &self::tables(tables),
        Corpus::Columns,
        Retriever::PathFuzzy,
        &QUESTION.repeat(10),
    );
}

#[divan::bench(args = [100, 10_000, 40_000])]
fn build_notes(bencher: Bencher, lines: usize) {
    let catalog = catalog(1);
    let sources = notes(lines);
    bencher.bench(|| Index::new(black_box(&catalog), &sources));
}

#[divan::bench(args = [100, 10_000, 40_000])]
fn fuzzy_notes_by_a_long_text(bencher: Bencher, lines: usize) {
    let index = Index::new(&catalog(1), &notes(lines));
    retrieve(bencher, &index, Corpus::Notes, Retriever::SegmentFuzzy, &QUESTION.repeat(10));
}
