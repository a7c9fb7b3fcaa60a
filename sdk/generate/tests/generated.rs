//! The generated files of the SDKs are those that the generator makes of the contract.

use std::path::Path;

#[test]
fn generated_files_are_those_of_the_contract() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let files = syrch_bindings::generate(&repository).unwrap();
    assert!(!files.is_empty());
    for file in files {
        let found = std::fs::read_to_string(repository.join(file.path)).unwrap();
        assert!(found == file.text, "{} is out of date: run `make bindings`", file.path);
    }
}
