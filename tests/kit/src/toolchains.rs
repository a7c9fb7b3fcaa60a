//! Components of other toolchains, as `tests/toolchains` builds them: each is a planner and a solver that always runs the same statement.

use std::io::Read;

use crate::repository;

/// The components by their folder in `tests/toolchains`, or by a name of their own where one folder makes several.
pub const NAMES: [&str; 6] = ["rust", "c", "go", "qjs", "qjs-small", "python"];

/// The bytes of a component.
///
/// # Panics
/// When there is none of that name.
#[must_use]
pub fn component(name: &str) -> Vec<u8> {
    let path = repository().join(format!("tests/toolchains/built/{name}.wasm.gz"));
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(file).read_to_end(&mut bytes).expect("the component is whole");
    bytes
}
