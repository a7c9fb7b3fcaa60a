//! Which databases lines may name, and what they may not.

use std::fs;

use serde_json::{Value, json};

use super::{QUESTION, batch};
use crate::bad_input::Place;

/// A folder of databases with a file that is none, beside a shop that no line may open.
fn folder() -> Place {
    let place = Place::new();
    fs::create_dir_all(place.path().join("all/database/school")).unwrap();
    let pupils = "CREATE TABLE pupils(id INTEGER PRIMARY KEY, name TEXT); INSERT INTO pupils(name) \
                  VALUES ('Eve');";
    syrch_kit::sqlite(place.path().join("all/database/school/school.sqlite"), pupils);
    let customers = "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT); \
                     INSERT INTO customers(name) VALUES ('Ada'), ('Ben');";
    syrch_kit::sqlite(place.path().join("all/store.sqlite"), customers);
    place.file("all/text.sqlite", "this is no database");
    place
}

fn ask(place: &Place, words: &str, named: &[Value]) -> Vec<Value> {
    let mut command = place.words(&format!("batch --llm offline --quiet {words}"));
    batch(
        &mut command,
        named
            .iter()
            .map(|db: &Value| json!({"question": QUESTION, "db": db}).to_string() + "\n")
            .collect::<String>(),
        0,
    )
    .0
}

#[test]
fn each_line_names_its_own_and_one_file_is_that_of_all() {
    let place = folder();
    let pupils =
        json!({"id": "p", "db": "school", "question": "How many pupils are there?"}).to_string();
    let store = json!({"id": "s", "db_id": "store", "question": QUESTION}).to_string();
    let input = [pupils.as_str(), &store, &pupils, &store].join("\n");
    let (answers, _) = batch(&mut place.words("batch --llm offline --quiet --db all"), input, 0);
    let rows: Vec<&Value> =
        answers.iter().map(|answer| &answer["answer"]["answer"]["rows"][0][0]).collect();
    assert_eq!(json!(rows), json!([1, 2, 1, 2]));
    for answer in
        ask(&place, "--db all/store.sqlite", &[json!(null), json!("store"), json!("store.sqlite")])
    {
        assert_eq!(answer["answer"]["answer"]["rows"], json!([[2]]), "{answer}");
    }
    // A line that means another database is not answered from this one.
    for answer in ask(&place, "--db all/store.sqlite", &[json!("school"), json!("../shop")]) {
        assert_eq!(answer["error"]["class"], "database", "{answer}");
    }
}

#[test]
fn nothing_outside_of_the_folder_is_opened() {
    let place = folder();
    let absolute = place.path().join("shop.sqlite").display().to_string();
    let mut named = vec![
        "../../etc/passwd",
        "/etc/passwd",
        "../shop",
        "../shop.sqlite",
        "database/../../shop.sqlite",
        absolute.as_str(),
        "sqlite:../shop.sqlite",
        "sqlite:/etc/passwd",
        "file:../shop.sqlite?mode=rw",
        "..",
        ".",
        "shop\u{0}.sqlite",
        "text",
        "none",
    ];
    #[cfg(unix)]
    {
        for (name, target) in [
            ("link.sqlite", "../shop.sqlite"),
            ("up", ".."),
            ("school.db", "database/school/school.sqlite"),
        ] {
            std::os::unix::fs::symlink(target, place.path().join("all").join(name)).unwrap();
        }
        named.extend(["link", "link.sqlite", "up/shop.sqlite", "up/shop"]);
    }
    let before = place.names();
    let named: Vec<Value> =
        named.into_iter().map(Value::from).chain([json!(null), json!("store")]).collect();
    let answers = ask(&place, "--db all", &named);
    let (good, refused) = answers.split_last().unwrap();
    assert_eq!((good["outcome"].as_str(), refused.len()), (Some("answered"), named.len() - 1));
    for (answer, name) in refused.iter().zip(&named) {
        assert_eq!(
            (&answer["outcome"], &answer["error"]["class"]),
            (&json!("failed"), &json!("database")),
            "{name}: {answer}"
        );
    }
    let message = |at: usize| refused[at]["error"]["message"].as_str().unwrap();
    assert_eq!(message(0), "`../../etc/passwd` leads out of `all`, where a line may open nothing");
    assert_eq!(message(13), "there is no database `none` in `all`");
    assert_eq!(
        message(refused.len() - 1),
        "the line has no `db`, which says which database of `all` is meant"
    );
    assert_eq!(place.names(), before);
}
