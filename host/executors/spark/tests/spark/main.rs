//! The engine against servers of the tests' own: the same cases on pysail's server and on Spark
//! itself.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail loudly")]

mod catalog;
mod common;
mod corpus;
mod faults;
mod statements;

use futures::FutureExt;
use futures::future::BoxFuture;
use syrch_kit::spark::{Kind, Server};

type Case = (&'static str, fn(&'static Server) -> BoxFuture<'static, ()>);

macro_rules! cases {
    ($($module:ident :: $name:ident),* $(,)?) => {
        [$((stringify!($name), |server| $module::$name(server).boxed())),*]
    };
}

const CASES: [Case; 16] = cases![
    catalog::tables_columns_and_comments,
    catalog::patterns_leave_other_tables_undescribed,
    catalog::a_version_is_reported,
    corpus::what_the_guard_wrote_again_gives_the_same_rows,
    statements::every_type_arrives,
    statements::nulls_and_unicode,
    statements::the_order_survives_the_limit,
    statements::rows_and_bytes_are_capped,
    statements::errors_have_kinds,
    statements::errors_while_running_quote_no_cells,
    statements::only_queries_run,
    statements::variables_and_paths_mean_nothing,
    statements::a_statement_is_analysed_and_explained,
    statements::deadlines_end_statements,
    statements::dropped_statements_end,
    statements::statements_run_at_once,
];

/// Runs all cases and names those that fail.
async fn all(kind: Kind) {
    let Some(server) = tokio::task::spawn_blocking(move || Server::get_shared(kind)).await.unwrap()
    else {
        return;
    };
    common::make_tables(server);
    let mut failed = Vec::new();
    for (name, case) in CASES {
        if tokio::spawn(case(server)).await.is_err() {
            failed.push(name);
        }
    }
    assert_eq!(failed, Vec::<&str>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn pysail_passes() {
    all(Kind::Sail).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn spark_passes() {
    all(Kind::Spark).await;
}
