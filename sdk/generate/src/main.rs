//! `make bindings`: writes the generated files of the repository in whose folder it runs.

use std::path::Path;
use std::process::ExitCode;

#[allow(clippy::print_stdout, clippy::print_stderr, reason = "it is a program")]
fn main() -> ExitCode {
    match syrch_bindings::write(Path::new(".")) {
        Ok(paths) => {
            for path in paths {
                println!("{}", path.display());
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
