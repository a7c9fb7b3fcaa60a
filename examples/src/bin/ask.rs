//! A first program on the library: asks the example database, without a model and without a
//! network.
//!
//! `cargo run --bin make-shop`, then `cargo run --bin ask -- "How many customers are there?"`.

use std::error::Error;
use std::io::Write;
use std::sync::Arc;

use syrch::syrch_core::Problem;
use syrch::{Host, Silent, Stop};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let question = arguments.next().unwrap_or_else(|| "How many customers are there?".to_owned());
    let database = arguments.next().unwrap_or_else(|| "examples/shop.sqlite".to_owned());

    // Everything not named keeps its default: the offline rules, the default strategy, three sample
    // rows.
    let host = Host::builder().database(database).open().await?;
    let report = host.search(Problem::new(question), Arc::new(Silent), None, &Stop::new()).await?;

    let document = report.document;
    let mut out = std::io::stdout().lock();
    match (&document.answer, &document.sql, document.confidence) {
        (Some(answer), Some(sql), Some(confidence)) => {
            writeln!(out, "{}", answer.text)?;
            writeln!(out, "{sql}")?;
            writeln!(out, "confidence {:.2}", confidence.calibrated)?;
        }
        _ => writeln!(
            out,
            "No acceptable answer; {} candidates were tried.",
            document.candidates.len()
        )?,
    }
    Ok(())
}
