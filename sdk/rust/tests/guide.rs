//! The examples in `sdk/README.md` are the files that the tests of each language run.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails where it unwraps or panics")]

use std::path::PathBuf;

const EXAMPLES: [(&str, &str); 5] = [
    ("rust", "rust/examples/short/src/lib.rs"),
    ("python", "python/examples/short/plugin.py"),
    ("js", "js/examples/short/plugin.js"),
    ("go", "go/examples/short/short.go"),
    ("c", "c/examples/short/plugin.c"),
];

#[test]
fn the_guide_shows_the_examples_as_they_are() {
    let sdk = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    fn read(sdk: &std::path::Path, path: &str) -> String {
        std::fs::read_to_string(sdk.join(path)).unwrap()
    }
    let guide = read(&sdk, "README.md");
    for (language, path) in EXAMPLES {
        let fence = format!("```{language}\n");
        let block =
            guide.split(&fence).nth(1).unwrap_or_else(|| panic!("there is no block of {language}"));
        let shown = block.split("```").next().unwrap();
        assert!(read(&sdk, path).contains(shown.trim_end()), "{path} is not what the guide shows");
    }
}
