//! The plugin `conformance` in each language, as `tests/languages/build.sh` builds it: all eight
//! roles, which do what the setting `habit` says.

use std::io::Read;
use std::path::PathBuf;

use crate::data::{repository, skip, variable};

/// The languages by their folders in `tests/languages`.
pub const NAMES: [&str; 5] = ["rust", "python", "js", "go", "c"];

/// The folder of the compressed components.
#[must_use]
pub fn components_folder() -> PathBuf {
    repository().join("tests/languages/built")
}

/// The bytes of the component in a language.
///
/// # Panics
/// When there is none of that name.
#[must_use]
pub fn component(name: &str) -> Vec<u8> {
    let path = components_folder().join(format!("{name}.wasm.gz"));
    let file =
        std::fs::File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(file).read_to_end(&mut bytes).expect("the component is whole");
    bytes
}

/// The component with each occurrence of one text replaced by another of the same length.
///
/// # Panics
/// When the lengths differ, or there is no component of that name.
#[must_use]
pub fn alter_component(name: &str, old: &str, new: &str) -> Vec<u8> {
    assert_eq!(old.len(), new.len(), "offsets in the file stay as they are");
    let mut bytes = component(name);
    let places: Vec<usize> = memchr::memmem::find_iter(&bytes, old).collect();
    for at in places {
        bytes[at..at + old.len()].copy_from_slice(new.as_bytes());
    }
    bytes
}

/// The folder of a language's tools, as `tests/languages/install.sh` has put them into the folder
/// that `SYRCH_TEST_TOOLCHAINS` names, else into `target/toolchains`. Building takes minutes:
/// `None`, which is reported and counted, unless `SYRCH_REQUIRE_LANGUAGES` is 1.
#[must_use]
pub fn tools(language: &str) -> Option<PathBuf> {
    if variable("SYRCH_REQUIRE_LANGUAGES").is_some_and(|value| value == "1") {
        let folder = variable("SYRCH_TEST_TOOLCHAINS").map(PathBuf::from);
        return Some(
            folder.unwrap_or_else(|| repository().join("target/toolchains")).join(language),
        );
    }
    skip("it builds plugins with their languages' tools: `make test-languages` runs it");
    None
}
