//! Measures the time that the offline provider takes for a question, by the number of tables, with
//! an index of values in memory.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use async_trait::async_trait;
use divan::{Bencher, black_box};
use syrch_core::ports::{
    CellIndex, Match, ModelCall, ModelOutcome, ModelProvider, PortError, Purpose, Request, Sample,
    Shape,
};
use syrch_core::{Catalog, Column, Corpus, Dialect, ForeignKey, Hit, Problem, Table};
use syrch_offline::{OfflineConfig, OfflineProvider};

fn main() {
    divan::main();
}

const THINGS: &[&str] =
    &["bakery", "bread", "oven", "baker", "flour", "supplier", "delivery", "recipe"];

/// A catalog of so many tables in a chain, each referring to the one before.
fn catalog(tables: usize) -> Catalog {
    fn column(name: String, sql_type: &str) -> Column {
        Column { name, sql_type: sql_type.to_owned(), ..Column::default() }
    }
    let name = |at: usize| match at / THINGS.len() {
        0 => THINGS[at].to_owned(),
        round => format!("{}_{round}", THINGS[at % THINGS.len()]),
    };
    Catalog {
        database: "bench".to_owned(),
        dialect: Dialect::Sqlite,
        tables: (0..tables)
            .map(|at: usize| {
                let mut table = Table {
                    name: name(at),
                    primary_key: vec![format!("{}_id", name(at))],
                    ..Table::default()
                };
                table.columns = vec![
                    column(format!("{}_id", name(at)), "INTEGER"),
                    column("name".to_owned(), "TEXT"),
                    column("city".to_owned(), "TEXT"),
                    column("price".to_owned(), "REAL"),
                    column("opened".to_owned(), "DATE"),
                ];
                if at > 0 {
                    let parent = format!("{}_id", name(at - 1));
                    table.columns.push(column(parent.clone(), "INTEGER"));
                    table.foreign_keys.push(ForeignKey {
                        columns: vec![parent.clone()],
                        ref_table: name(at - 1),
                        ref_columns: vec![parent],
                    });
                }
                table
            })
            .collect(),
    }
}

/// Cells by their lower-case text.
struct Cells(BTreeMap<String, Vec<Hit>>);

#[async_trait]
impl CellIndex for Cells {
    async fn samples(&self, _: &str, _: &[String], _: u32) -> Result<Vec<Sample>, PortError> {
        Err(PortError::Unsupported)
    }

    async fn find(
        &self,
        phrases: &[String],
        how: Match,
        limit: u32,
    ) -> Result<Vec<Vec<Hit>>, PortError> {
        if how != Match::Exact {
            return Err(PortError::Unsupported);
        }
        let hits =
            |phrase: &String| self.0.get(&phrase.to_lowercase()).cloned().unwrap_or_default();
        Ok(phrases
            .iter()
            .map(hits)
            .map(|hits| hits.into_iter().take(limit as usize).collect())
            .collect())
    }
}

fn cells() -> Cells {
    fn hit(number: usize) -> Hit {
        Hit {
            corpus: Corpus::Cells,
            id: number.to_string(),
            path: "bakery.city".to_owned(),
            table: Some("bakery".to_owned()),
            column: Some("city".to_owned()),
            snippet: Some(format!("Town {number}")),
            payload: None,
            score: 1.0,
        }
    }
    Cells((0..10_000).map(|number| (format!("town {number}"), vec![hit(number)])).collect())
}

fn call(catalog: &Arc<Catalog>, question: &str) -> ModelCall {
    ModelCall {
        request: Request::new(Purpose::Generate, Vec::new(), Shape::Sql),
        problem: Arc::new(Problem::new(question)),
        task: None,
        catalog: Arc::clone(catalog),
    }
}

/// The outcome; nothing that the provider waits for here is ever pending.
fn complete(provider: &OfflineProvider, call: &ModelCall) -> Option<ModelOutcome> {
    let mut future = provider.complete(call);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => Some(outcome),
        Poll::Pending => None,
    }
}

#[divan::bench(args = [8, 64, 512])]
fn questions(bencher: Bencher, tables: usize) {
    let provider = OfflineProvider::new(Some(Arc::new(cells())), OfflineConfig::default());
    let catalog = Arc::new(catalog(tables));
    let calls = [
        call(&catalog, "How many bakeries are there in Town 17?"),
        call(
            &catalog,
            "List the name and price of all breads, ordered by price from the highest \
             to the lowest.",
        ),
        call(
            &catalog,
            "What are the names of bakeries in Town 4 or Town 5 that have at least 3 breads \
             cheaper than 2?",
        ),
        call(
            &catalog,
            "For each city, what is the average price of the flour whose supplier is not \
             from Town 9?",
        ),
    ];
    bencher.counter(divan::counter::ItemsCount::new(calls.len())).bench(|| {
        for call in &calls {
            black_box(complete(&provider, black_box(call)));
        }
    });
}
