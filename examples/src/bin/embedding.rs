//! One host for many questions: the database is opened and the plugins are compiled once, and the
//! searches run concurrently.
//!
//! `cargo run --bin make-shop`, then `cargo run --bin embedding`; each argument is a question.

use std::error::Error;
use std::io::Write;
use std::time::Duration;

use syrch::{Host, QueryError};
use tokio::task::JoinSet;

const QUESTIONS: [&str; 3] = [
    "How many customers are there?",
    "How many products are there?",
    "What is the most expensive product?",
];

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut questions: Vec<String> = std::env::args().skip(1).collect();
    if questions.is_empty() {
        questions = QUESTIONS.map(str::to_owned).into();
    }
    let host = Host::builder().database("examples/shop.sqlite").open().await?;

    // A clone shares everything with its host. Settings of a query apply to that query alone.
    let mut searches = JoinSet::new();
    for (number, question) in questions.iter().enumerate() {
        let query = host.query(question).max_attempts(5).deadline(Duration::from_secs(60));
        searches.spawn(async move { (number, query.run().await) });
    }
    let mut results = searches.join_all().await;
    results.sort_by_key(|(number, _)| *number);

    let mut out = std::io::stdout().lock();
    for ((_, result), question) in results.into_iter().zip(&questions) {
        match result {
            Ok(found) => writeln!(out, "{question} {}", found.answer)?,
            Err(QueryError::Unclear { question: asked, .. }) => {
                writeln!(out, "{question} It depends: {asked}")?
            }
            Err(QueryError::NoAnswer(_)) => {
                writeln!(out, "{question} There is no acceptable answer.")?
            }
            Err(QueryError::Failed(error)) => return Err(error.into()),
        }
    }
    Ok(())
}
