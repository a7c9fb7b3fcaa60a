//! Tests of the output: formats and their escapes on hostile cells, the two streams, files,
//! terminals and readers that go away.

mod formats;
mod streams;

use std::process::Output;

use serde_json::{Value, json};

use crate::bad_input::{Place, finish, read_streams};

/// A place with a database of one table, `cells(id, cell)`, whose texts are the worst that a
/// database can hold.
fn hostile() -> Place {
    let place = Place::new();
    syrch_kit::sqlite(
        place.path().join("cells.sqlite"),
        "CREATE TABLE cells(id INTEGER PRIMARY KEY, cell TEXT);
         INSERT INTO cells(cell) VALUES
           ('a' || char(27) || ']52;c;ZWNobw==' || char(7) || 'b'), \
             ('abc' || char(0x202e) || 'txt'),
           ('one' || char(13) || 'two'), ('x' || char(0) || 'y'), \
             ('=HYPERLINK(\"http://e.example\",\"x\")'),
           ('<script>alert(1)</script>'), ('a|b'), ('a' || char(10) || 'b'), ('006'), ('say \
             \"hi\", you'), (NULL),
           (char(0x9b) || '2J'), ('-2+3'), ('[x](javascript:0)'), ('naïve 漢字');
         CREATE TABLE long(cell TEXT);
         INSERT INTO long VALUES (replace(hex(zeroblob(50000)), '0', 'é'));
         CREATE TABLE names(id INTEGER PRIMARY KEY, name TEXT);
         INSERT INTO names(name) SELECT cell FROM cells WHERE id < 9;",
    );
    place
}

fn sql(place: &Place, format: &str, statement: &str) -> Output {
    finish(place.words(&format!("sql --db cells.sqlite --format {format}")).arg(statement), "")
}

/// The standard output of a statement that runs without a word on standard error.
fn run_statement(place: &Place, format: &str, statement: &str) -> String {
    let output = sql(place, format, statement);
    let (stdout, stderr) = read_streams(&output);
    assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""), "{stdout}");
    stdout
}

const CELLS: &str = "SELECT * FROM cells";

/// The values as they are in the database.
fn cells() -> Vec<Value> {
    [
        json!("a\u{1b}]52;c;ZWNobw==\u{7}b"),
        json!("abc\u{202e}txt"),
        json!("one\rtwo"),
        json!("x\0y"),
        json!("=HYPERLINK(\"http://e.example\",\"x\")"),
        json!("<script>alert(1)</script>"),
        json!("a|b"),
        json!("a\nb"),
        json!("006"),
        json!("say \"hi\", you"),
        json!(null),
        json!("\u{9b}2J"),
        json!("-2+3"),
        json!("[x](javascript:0)"),
        json!("naïve 漢字"),
    ]
    .to_vec()
}

/// Returns true if a terminal would obey something in the text.
fn has_terminal_codes(text: &str) -> bool {
    text.chars().any(|c| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    })
}

#[test]
fn an_answer_that_is_not_sure_enough_is_not_accepted() {
    let folder = syrch_kit::scratch();
    let database = crate::shop(folder.path());
    let ask = |least: &str| {
        let mut command = crate::host();
        command.args([
            "--llm",
            "offline",
            "-q",
            "How many customers are there?",
            "--min-confidence",
            least,
            "--db",
        ]);
        let output = command.arg(&database).output().unwrap();
        let (stdout, stderr) = read_streams(&output);
        (output.status.code().unwrap(), stdout, stderr)
    };
    let (code, stdout, stderr) = ask("1");
    assert_eq!((code, stdout.as_str()), (3, ""), "{stderr}");
    assert!(
        stderr.contains("not accepted: its confidence of 0.99 is below the required 1.00"),
        "{stderr}"
    );
    assert!(
        stderr.contains("SELECT COUNT(*) FROM customers")
            && stderr.contains("lower --min-confidence"),
        "{stderr}"
    );
    let (code, stdout, stderr) = ask("0.9");
    assert!(
        code == 0 && stdout.contains("SELECT") && !stderr.contains("model call"),
        "{stdout}{stderr}"
    );
}
