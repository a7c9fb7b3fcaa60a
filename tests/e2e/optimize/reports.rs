//! The files of `--report`, whose texts are those of hostile statements.

use serde_json::Value;

use super::{SLOW, Slow, document};

/// An alias that would be a script on a page.
const SCRIPT: &str = "<script>alert(1)</script>";

#[test]
fn texts_of_statements_are_no_markup() {
    let slow = Slow::new();
    let hostile = SLOW.replace("AS n", &format!("AS \"{SCRIPT}\""));
    let found =
        document(&mut slow.optimize(&hostile, "--report r.html --report r.md --report r.json"), 0);
    let read = |name: &str| std::fs::read_to_string(slow.path().join(name)).unwrap();
    let page = read("r.html");
    let data = "\\u003cscript\\u003ealert(1)\\u003c/script\\u003e";
    assert!(!page.contains(SCRIPT) && page.contains(data), "{page}");
    assert!(
        page.contains("default-src 'none'; script-src 'sha256-")
            && page.contains("data-before-ms="),
        "{page}"
    );
    let outside: String = read("r.md").split("\n```").step_by(2).collect();
    assert!(!outside.contains("<script"), "{outside}");
    assert_eq!(serde_json::from_str::<Value>(&read("r.json")).unwrap(), found);
}
