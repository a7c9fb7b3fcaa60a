//! The acceptance list of the verified optimizer: each row of what it does is named above a test of
//! it. The rows of admission and of comparison are cases of tables, and the tests of these tables
//! in each engine fail where a row is missing.

use std::fs;

use syrch_kit::acceptance::{ADMISSION, BEHAVIOUR, COMPARISON, missing};
use syrch_kit::repository;

use crate::adding::files;

/// The words of the comments that stand directly above tests in a source file.
fn words_above_tests(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut above = Vec::new();
    let mut is_test = false;
    for line in source.lines().map(str::trim) {
        if let Some(comment) = line.strip_prefix("///") {
            above.push(comment);
        } else if line.starts_with("#[") {
            is_test |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
        } else {
            let words =
                above.drain(..).flat_map(|comment: &str| comment.split([' ', ',', ':', '.']));
            found
                .extend(words.filter(|word| is_test && word.starts_with("AR-")).map(str::to_owned));
            is_test = false;
        }
    }
    found
}

#[test]
fn each_row_has_a_test() {
    let sources = ["host", "plugins", "tests"]
        .into_iter()
        .flat_map(|folder| files(&repository().join(folder), "rs"));
    let shown: Vec<String> =
        sources.flat_map(|path| words_above_tests(&fs::read_to_string(path).unwrap())).collect();
    assert_eq!(
        missing(BEHAVIOUR, shown.iter().map(String::as_str)),
        Vec::<&str>::new(),
        "rows without a test"
    );
    // A name that is misspelt would be no row's.
    let known = [ADMISSION, COMPARISON, BEHAVIOUR].concat();
    let unknown: Vec<&String> =
        shown.iter().filter(|name| !known.iter().any(|(row, _)| row == name)).collect();
    assert!(unknown.is_empty(), "{unknown:?} are no rows");
}

#[test]
fn only_comments_above_tests_count() {
    let source = "/// AR-01 of a function\nfn a() {}\n/// AR-02, AR-D3: of a test\n#[test]\n\
                  #[ignore]\nfn b() {\n    // AR-04\n}\n";
    assert_eq!(words_above_tests(source), ["AR-02", "AR-D3"]);
}
