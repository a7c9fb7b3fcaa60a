//! Writes the example database: `make-shop [PATH]`, by default `examples/shop.sqlite`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use syrch_examples::make_shop;

fn main() -> ExitCode {
    let path = std::env::args_os()
        .nth(1)
        .map_or_else(|| PathBuf::from("examples/shop.sqlite"), PathBuf::from);
    match make_shop(&path) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            drop(writeln!(std::io::stderr(), "error: {error}"));
            ExitCode::FAILURE
        }
    }
}
