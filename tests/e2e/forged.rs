//! Journals, recordings and runs over suites whose texts somebody has forged: whoever is shown one
//! later sees texts, in a terminal, Markdown, CSV, JSON or a page, and nothing obeys them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::endpoint::Said;
use crate::locked::Place;
use crate::shop;

/// A text that a terminal, a spreadsheet, a page or Markdown would obey.
const HOSTILE: &str = "=HYPERLINK(\"http://x\")\u{1b}]52;c;aGk=\u{7}\u{1b}[2J\u{202e}\
                       <script>alert(1)</script><img src=x onerror=alert(1)>|![a](http://x)\n\
                       =1+1\r\n# h";

/// The keys of all texts of a document.
fn collect_keys(value: &Value, key: &str, keys: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(key, value)| collect_keys(value, key, keys));
        }
        Value::Array(all) => all.iter().for_each(|value| collect_keys(value, key, keys)),
        Value::String(_) => drop(keys.insert(key.to_owned())),
        _ => {}
    }
}

/// Puts the hostile text before all texts of a key.
fn forge_value(value: &mut Value, at: &str, key: &str) {
    match value {
        Value::Object(members) => {
            members.iter_mut().for_each(|(at, value)| forge_value(value, at, key));
        }
        Value::Array(all) => all.iter_mut().for_each(|value| forge_value(value, at, key)),
        Value::String(text) if at == key => text.insert_str(0, HOSTILE),
        _ => {}
    }
}

/// The lines of a file of JSON lines, or its one document.
fn read(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    match serde_json::from_str(&text) {
        Ok(document) => vec![document],
        Err(_) => text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(),
    }
}

fn write(path: &Path, documents: &[Value]) {
    let lines: String = documents.iter().map(|document| format!("{document}\n")).collect();
    fs::write(path, lines).unwrap();
}

/// Forges the texts of files, key by key, as far as `show` still shows them. Returns how many keys
/// are forged in the end.
fn forge(paths: &[PathBuf], show: impl Fn() -> Said) -> usize {
    let mut forged = 0;
    for path in paths {
        let mut documents = read(path);
        let mut keys = BTreeSet::new();
        documents.iter().for_each(|document| collect_keys(document, "", &mut keys));
        for key in keys {
            let mut tried = documents.clone();
            tried.iter_mut().for_each(|document| forge_value(document, "", &key));
            write(path, &tried);
            let said = show();
            assert_inert(&said, &key);
            // A forged file that is refused is refused by an error, and not by a panic.
            assert!(
                [0, 3, 4, 10, 11, 12, 13, 14, 15, 16, 17].contains(&said.code),
                "{}",
                said.all()
            );
            if said.code == 0 {
                documents = tried;
                forged += 1;
            }
        }
        write(path, &documents);
    }
    forged
}

/// Nothing that a terminal obeys stands in what was said.
fn assert_inert(said: &Said, about: &str) {
    for text in [&said.stdout, &said.stderr] {
        let found = text.find(|c: char| {
            (c.is_control() && !['\n', '\r', '\t'].contains(&c)) || c == '\u{202e}'
        });
        assert!(found.is_none(), "{about}: {:?} in {}", found.map(|at| &text[at..]), said.all());
    }
}

/// Returns whether a cell of CSV begins as a formula does.
fn has_formula(csv: &str) -> bool {
    let mut is_quoted = false;
    let mut is_first = true;
    for letter in csv.chars() {
        if is_first && letter == '=' {
            return true;
        }
        is_first = match letter {
            '"' => {
                is_quoted = !is_quoted;
                is_first
            }
            ',' | '\n' => !is_quoted,
            _ => false,
        };
    }
    false
}

/// Nothing in Markdown is markup, and no cell of CSV is computed.
fn assert_text(format: &str, said: &Said) {
    assert_eq!(said.code, 0, "{format}: {}", said.all());
    assert_inert(said, format);
    let text = &said.stdout;
    match format {
        "csv" => assert!(!has_formula(text), "{text}"),
        "markdown" => {
            for markup in ["<script", "<img", "![a]("] {
                let escaped = format!("\\{markup}");
                let all = text.matches(markup).count();
                assert_eq!(all, text.matches(&escaped).count(), "{markup}: {text}");
            }
        }
        "json" => drop(said.document(0)),
        _ => {}
    }
}

/// A page without the document that it shows, and that document.
fn split_page(page: &Path) -> (String, String) {
    const BEGIN: &str = "<script type=\"application/json\" id=\"document\">";
    let text = fs::read_to_string(page).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (document, after) = rest.split_once("</script>").unwrap();
    (format!("{before}{after}"), document.to_owned())
}

#[test]
fn a_forged_journal_shows_texts_alone() {
    let place = Place::new();
    assert_eq!(place.ask("consistency", &[]).code, 0);
    let runs = fs::read_dir(place.path("state/runs")).unwrap();
    let journal = runs.map(|entry| entry.unwrap().path()).next().unwrap();
    let plain = place.run(&["trace", "show", "last", "--prompts", "--html", "plain.html"]);
    assert_eq!(plain.code, 0, "{}", plain.all());
    let named = journal.display().to_string();
    let show = |words: &[&str]| {
        place.run(&[&["trace", "show", &named, "--calls", "--rows", "full"][..], words].concat())
    };
    let forged = forge(std::slice::from_ref(&journal), || show(&["--format", "table"]));
    assert!(forged > 20, "{forged}");
    for format in ["table", "json", "csv", "markdown"] {
        assert_text(format, &show(&["--format", format]));
    }
    let page = place.run(&["trace", "show", &named, "--prompts", "--html", "forged.html"]);
    assert_eq!(page.code, 0, "{}", page.all());
    let (plain, _) = split_page(&place.path("plain.html"));
    let (around, document) = split_page(&place.path("forged.html"));
    assert!(around == plain, "what surrounds the document depends on it");
    assert!(!document.contains(['<', '>', '\u{1b}', '\u{7}', '\u{202e}']), "{document}");
    assert!(document.contains("alert(1)"), "nothing forged is shown");
    for words in [&["trace", "list"][..], &["trace", "replay", &named]] {
        assert_inert(&place.run(words), words[1]);
    }
}

#[test]
fn a_forged_recording_gives_texts_alone() {
    let place = Place::new();
    let database = shop(place.path("x").parent().unwrap()).display().to_string();
    let question = "How many customers are there?";
    let ask = |llm: &str, format: &str| {
        let words = ["--llm", llm, "--db", &database, "--format", format, "-q", question];
        place.run(&words)
    };
    let endpoint = syrch_kit::MockEndpoint::start(crate::trust::model());
    let url = endpoint.url();
    let words = ["--model", "mock", "--base-url", &url, "--db", &database, "-q", question];
    let recorded = place.run(&[&["--llm", "record:made.jsonl"][..], &words].concat());
    assert_eq!(recorded.code, 0, "{}", recorded.all());
    let recording = place.path("made.jsonl");
    let forged = forge(&[recording], || ask("replay:made.jsonl", "table"));
    assert!(forged > 0);
    for format in ["table", "json", "csv", "markdown"] {
        assert_text(format, &ask("replay:made.jsonl", format));
    }
}

#[test]
fn a_forged_run_over_a_suite_is_reported_in_texts_alone() {
    let place = Place::new();
    shop(place.path("x").parent().unwrap());
    let line = json!({
        "id": "q0", "db": "shop", "question": "How many customers are there?",
        "gold_sql": "SELECT count(*) FROM customers",
    });
    fs::write(place.path("suite.jsonl"), format!("{line}\n")).unwrap();
    let made = place.run(&["benchmark", "suite.jsonl", "--llm", "offline"]);
    assert_eq!(made.code, 0, "{}", made.all());
    let runs = fs::read_dir(place.path("state/suites")).unwrap();
    let folder = runs.map(|entry| entry.unwrap().path()).next().unwrap();
    let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl" || end == "json"))
        .collect();
    let named = folder.display().to_string();
    let report = |format: &str| place.run(&["report", &named, "--format", format]);
    let forged = forge(&files, || report("table"));
    assert!(forged > 5, "{forged}");
    for format in ["table", "json", "csv", "markdown"] {
        assert_text(format, &report(format));
    }
}
