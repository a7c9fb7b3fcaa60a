//! Pictures and pages of a search with everything in it, whose journal the journal's own tests
//! write.

use std::path::PathBuf;

use serde_json::{Value, json};
use syrch::journal::{Journal, SearchTree, Shown, TreeDiff};
use syrch::syrch_core::ports::RowsGrant;

use super::*;
use crate::sink::terminal;

const ALL: Shown = Shown { rows: Some(usize::MAX), prompts: true };

fn read_journal() -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../journal/tests/clarified.jsonl");
    std::fs::read_to_string(path).unwrap()
}

fn journal(text: &str) -> Journal {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    std::fs::write(&path, text).unwrap();
    Journal::read(&path).unwrap()
}

fn tree() -> SearchTree {
    SearchTree::from_journal(&journal(&read_journal()), ALL)
}

fn draw_tree(tree: &SearchTree, grant: RowsGrant, width: Option<u16>) -> String {
    anstream::adapter::strip_str(&show::picture(tree, false, grant, false, width)).to_string()
}

#[test]
fn the_picture_of_a_run() {
    let text = draw_tree(&tree(), RowsGrant::Full, None);
    let expected = include_str!("tests/clarified.txt");
    assert_eq!(text, expected, "\n{text}");
}

#[test]
fn a_killed_run_is_drawn_without_an_answer() {
    let text = read_journal();
    let whole: Vec<&str> = text.lines().collect();
    let cut = whole[..whole.len() / 2].join("\n") + "\n{\"record\":\"ev";
    let tree = SearchTree::from_journal(&journal(&cut), ALL);
    let text = draw_tree(&tree, RowsGrant::Full, Some(80));
    assert!(text.contains("not finished: it was killed") && text.contains("not ended"), "{text}");
    assert!(page::page(&tree, true, RowsGrant::Full).contains("still going on"));
}

#[test]
fn lines_fit_the_terminal_and_calls_have_bars() {
    let text = show::picture(&tree(), false, RowsGrant::Full, true, Some(80));
    assert!(text.contains('\u{1b}') && text.contains('█'));
    let plain = anstream::adapter::strip_str(&text).to_string();
    assert!(plain.lines().all(|line| line.chars().count() <= 80), "{plain}");
}

#[test]
fn rows_and_prompts_come_only_under_the_grant() {
    let journal = journal(&read_journal());
    let shown = |rows| SearchTree::from_journal(&journal, Shown { rows, prompts: false });
    let none = shown(None);
    for text in [draw_tree(&none, RowsGrant::None, None), page::page(&none, false, RowsGrant::None)]
    {
        assert!(!text.contains("Ada") && !text.contains("the prompt of"), "{text}");
        assert!(text.contains("2 rows, left out under --rows none"), "{text}");
    }
    let one = page::page(&shown(Some(1)), false, RowsGrant::Sample(1));
    let one = read_document(&one);
    assert_eq!(one["answer"]["rows"].as_array().unwrap().len(), 1, "{one}");
    assert_eq!(one["answer"]["rows"][0][0], "Ada");
    let left_out = one["words"]["left_out"].as_str().unwrap();
    assert!(left_out.contains("the first 1 of 2 rows"), "{left_out}");
    assert!(page::page(&tree(), false, RowsGrant::Full).contains("the prompt of generate"));
}

#[test]
fn the_page_stands_alone() {
    let page = page::page(&tree(), false, RowsGrant::Full);
    for outside in ["<script src", "<link", "<img", "@import", "url(", "javascript:"] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.contains("default-src 'none'; script-src 'sha256-"));
    assert_eq!(page.matches("<script").count(), 2, "the document and the components");
    let document = read_document(&page);
    assert_eq!(document["question"], "What did the French spend?");
    let words = &document["words"];
    assert!(words["calls"].as_array().unwrap().iter().any(|call| call["kind"] == "statement"));
    assert!(words["rounds"][1]["tasks"][3].to_string().contains("after B, C"), "{words}");
}

/// The document in a page.
fn read_document(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"document\">").unwrap();
    let (data, _) = rest.split_once("</script>").unwrap();
    serde_json::from_str::<Value>(data).unwrap()["document"].take()
}

/// Returns a text that an attacker may have put into a question, a statement, a reason, a name.
fn hostile() -> String {
    format!(
        "</script></pre><img src=x onerror=alert(1)>\"' onload=1 \
         \u{1b}[2J\u{1b}]0;x\u{7}\u{202e}{}",
        "A".repeat(1 << 20)
    )
}

#[test]
fn hostile_texts_stay_texts_everywhere() {
    let inner = json!(hostile()).to_string();
    let inner = inner.trim_matches('"');
    let mut text = read_journal();
    for word in [
        "What did the French spend?",
        "SELECT nmae FROM customers",
        "rejected: it counts orders, not customers",
        "customers in France",
        "no reply could be read",
        "task `E` exists already",
        "Which year?",
        "Ada and Ben spent 42.",
        "small-1",
        "the prompt of generate",
        "sampler",
    ] {
        assert!(text.contains(word), "{word}");
        text = text.replace(word, inner);
    }
    text = text
        .replace("\"D.x\"", &format!("\"{inner}\""))
        .replace("\"Ada\"", &format!("\"{inner}\""));
    let tree = SearchTree::from_journal(&journal(&text), ALL);
    let page = page::page(&tree, false, RowsGrant::Full);
    for raw in ["<img", "</pre>", "\u{1b}", "\u{202e}", "\u{7}"] {
        assert!(!page.contains(raw), "{raw:?}");
    }
    assert_eq!(page.matches("</script>").count(), 2, "a text ended its element");
    assert!(page.len() < 4 << 20, "{}", page.len());
    assert!(read_document(&page)["question"].as_str().unwrap().starts_with("</script></pre>"));
    for width in [None, Some(80)] {
        let text = draw_tree(&tree, RowsGrant::Full, width);
        assert!(
            !text.chars().any(|c| c != '\n' && terminal::is_dangerous(c)) && text.len() < 1 << 20
        );
    }
    let diff = TreeDiff::compare(&tree, &self::tree());
    let text = anstream::adapter::strip_str(&diff::picture(&diff, Some(80))).to_string();
    assert!(!text.chars().any(|c| c != '\n' && terminal::is_dangerous(c)));
}

#[test]
fn a_difference_is_drawn_with_both_sides() {
    let left = tree();
    let text = read_journal();
    let text =
        text.replace("\"seed\":7", "\"seed\":8").replace("SELECT count(*) FROM orders", "SELECT 5");
    let right = SearchTree::from_journal(&journal(&text), ALL);
    fn picture(left: &SearchTree, right: &SearchTree) -> String {
        anstream::adapter::strip_str(&diff::picture(&TreeDiff::compare(left, right), None))
            .to_string()
    }
    let text = picture(&left, &right);
    assert!(text.contains("settings.seed: 7 → 8\n"), "{text}");
    assert!(
        text.contains("candidates with equal rows") && text.contains("answers with equal rows"),
        "{text}"
    );
    assert!(picture(&left, &left).contains("both searches are equal but for times and costs"));
}

#[test]
fn the_document_reads_back() {
    let value: Value = value(&tree());
    assert_eq!(value["schema"], "syrch.trace/2");
    assert_eq!(value["rounds"][1]["tasks"][3]["depends_on"], json!(["B", "C"]));
    let back: SearchTree = serde_json::from_value(value.clone()).unwrap();
    assert_eq!(super::value(&back), value);
}
