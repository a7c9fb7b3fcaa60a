//! The library in one call: asks a database a question, by rules or with a model.
//!
//! `cargo run --bin make-shop`, then `cargo run --bin query -- "How many customers are there in
//! each country?"`; a base URL and a model's name after the database's path ask that model.

use std::error::Error;
use std::io::Write;

use syrch::{Host, QueryError};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let question = arguments
        .next()
        .unwrap_or_else(|| "How many customers are there in each country?".to_owned());
    let database = arguments.next().unwrap_or_else(|| "examples/shop.sqlite".to_owned());

    let mut host = Host::builder().database(database);
    if let (Some(url), Some(model)) = (arguments.next(), arguments.next()) {
        host = host.base_url(url).model(model);
    }
    let mut out = std::io::stdout().lock();
    match host.query(question).high_confidence(0.9).run().await {
        Ok(found) => {
            writeln!(out, "{}\n{}", found.answer, found.sql)?;
            writeln!(out, "confidence {:.2}, {} tokens", found.confidence, found.token_cost)?;
            writeln!(out, "{} rows of {}", found.data.row_count(), found.tables.join(", "))?;
        }
        Err(QueryError::Unclear { question, .. }) => writeln!(out, "It depends: {question}")?,
        Err(QueryError::NoAnswer(trace)) => {
            writeln!(
                out,
                "No acceptable answer; {} candidates were tried.",
                trace.candidates.len()
            )?;
        }
        Err(QueryError::Failed(error)) => return Err(error.into()),
    }
    Ok(())
}
