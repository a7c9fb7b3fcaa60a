//! `trace replay`: what a run printed is printed again, from its journal alone.

use std::path::Path;
use std::process::Command;

use syrch_kit::{MockEndpoint, Reply, Script};

use crate::endpoint::{PLAN, Said, WRITE, search, whole};
use crate::{host, shop};

const QUESTION: &str = "Who are the customers from France?";

fn script(statement: &str, confidence: f64) -> Script {
    Script::new().on([PLAN], whole()).on([WRITE], Reply::sql(statement, confidence))
}

/// A search whose journal lies in that state folder.
fn run_search(script: Script, folder: &Path, flags: &[&str]) -> Said {
    let endpoint = MockEndpoint::start(script);
    let mut command = search(&endpoint.url(), &shop(folder));
    command
        .env("SYRCH_STATE_DIR", folder.join("state"))
        .args(["--no-cache", "-q", QUESTION])
        .args(flags);
    Said::from_output(command.output().unwrap())
}

fn trace(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = host();
    command.env("SYRCH_STATE_DIR", folder.join("state")).arg("trace").args(arguments);
    command
}

fn run_replay(folder: &Path, arguments: &[&str]) -> Said {
    Said::from_output(trace(folder, &["replay", "last"]).args(arguments).output().unwrap())
}

#[test]
fn a_strict_replay_prints_what_the_run_printed() {
    let french = "SELECT name FROM customers WHERE country = 'France'";
    for (statement, confidence, flags, code) in [
        (french, 0.95, ["--format", "json"], 0),
        (french, 0.95, ["--format", "table"], 0),
        (french, 0.95, ["--format", "csv"], 0),
        ("SELECT nme FROM customers", 0.95, ["--format", "json"], 3),
        // Nothing holds the result of what is not acceptable.
        ("SELECT 42 AS n", 0.95, ["--format", "json"], 3),
    ] {
        let folder = syrch_kit::scratch();
        let said = run_search(script(statement, confidence), folder.path(), &flags);
        assert_eq!(said.code, code, "{}", said.all());
        // Neither the database nor the endpoint is there any more.
        std::fs::remove_file(folder.path().join("shop.sqlite")).unwrap();
        let again = run_replay(folder.path(), &[&["--strict"][..], &flags].concat());
        assert_eq!((again.code, &again.stdout), (said.code, &said.stdout), "{}", again.all());
    }
}

#[test]
fn a_replay_asks_the_database_again_and_the_model_never() {
    let folder = syrch_kit::scratch();
    let french = "SELECT count(*) AS n FROM customers WHERE country = 'France'";
    let said =
        run_search(script(french, 0.95), folder.path(), &["--format", "csv", "--rows", "none"]);
    assert_eq!(said.stdout, "n\n2\n", "{}", said.all());
    let database = rusqlite::Connection::open(folder.path().join("shop.sqlite")).unwrap();
    database.execute("UPDATE customers SET country = 'France' WHERE name = 'Ben'", []).unwrap();
    let again = run_replay(folder.path(), &["--format", "csv"]);
    assert_eq!((again.code, again.stdout.as_str()), (0, "n\n3\n"), "{}", again.all());
}

#[test]
fn what_was_not_recorded_is_named() {
    let folder = syrch_kit::scratch();
    let said = run_search(script("SELECT count(*) AS n FROM customers", 0.95), folder.path(), &[]);
    assert_eq!(said.code, 0, "{}", said.all());
    let journal = std::fs::read_dir(folder.path().join("state/runs"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let mut command = host();
    command
        .arg("--db")
        .arg(shop(folder.path()))
        .arg("--llm")
        .arg(format!("replay:{}", journal.display()));
    command
        .env("SYRCH_STATE_DIR", folder.path().join("other"))
        .args(["-q", "Who are the customers from Spain?"]);
    let said = Said::from_output(command.output().unwrap());
    assert_eq!(said.code, 17, "{}", said.all());
    assert!(said.stderr.contains("nearest"), "{}", said.all());
}

/// The terms that prompts show, compiled requests and their origins are all in the journal.
#[test]
fn a_run_with_defined_metrics_is_replayed_without_its_files() {
    let folder = syrch_kit::scratch();
    let database = folder.path().join("defined.sqlite");
    syrch_examples::make_shop(&database).unwrap();
    let file = folder.path().join("shop.yml");
    std::fs::copy(syrch_kit::repository().join("examples/shop.semantics.yml"), &file).unwrap();
    let request = Reply::text(r#"{"metrics": ["revenue"], "by": ["country"]}"#);
    let endpoint = MockEndpoint::start(
        Script::new().on([PLAN], whole()).on([WRITE], request).on([""], Reply::text("It is so.")),
    );
    let flags = ["--format", "json", "--no-cache", "--summarise", "--semantics"];
    let said = Said::from_output(
        search(&endpoint.url(), &database)
            .env("SYRCH_STATE_DIR", folder.path().join("state"))
            .args(["-q", "What is the revenue of each country?"])
            .args(flags)
            .arg(&file)
            .output()
            .unwrap(),
    );
    let document = said.document(0);
    assert_eq!(document["origin"]["kind"], "metric", "{}", said.all());
    assert_eq!(document["answer"]["text"], "It is so.", "{}", said.all());
    std::fs::remove_file(&database).unwrap();
    std::fs::remove_file(&file).unwrap();
    let again = run_replay(folder.path(), &["--strict", "--format", "json"]);
    assert_eq!((again.code, &again.stdout), (said.code, &said.stdout), "{}", again.all());
}
