//! Answers of the interface: searches and their events, runs, the database, the server itself.

use std::process::Command;

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Reply, Script, has_program, repository, scratch, sqlite, zoo};

use super::client::{Response, Server, compare, read_events, serve, serve_with};
use crate::endpoint::{PLAN, WRITE, for_task, plan, subtask};
use crate::{STRATEGY, host, shop};

const MANY: &str = "How many customers are there?";

#[test]
fn a_question_is_answered_as_one_document_and_its_run_is_listed() {
    let folder = scratch();
    let server = Server::start(serve(&shop(folder.path()), folder.path()));
    let response = server.post("/ask", &json!({"question": MANY}), &[]);
    assert_eq!(response.status, 200, "{}", response.text());
    let answer = response.json();
    let document = &answer["document"];
    assert_eq!(answer["outcome"], "answered");
    assert_eq!(document["schema"], "syrch.answer/1");
    assert_eq!((&document["answer"]["rows"], &document["run"]), (&json!([[4]]), &answer["run"]));
    let run = answer["run"].as_str().unwrap();
    assert_eq!(response.header("location"), format!("/api/v1/runs/{run}"));

    let other = server.post("/ask", &json!({"question": "How many products are there?"}), &[]);
    let other = other.json()["run"].as_str().unwrap().to_owned();
    let runs = server.get("/runs").json();
    assert_eq!((&runs["schema"], &runs["more"]), (&json!("syrch.traces/1"), &json!(false)));
    assert_eq!(runs["runs"].as_array().unwrap().len(), 2);
    assert_eq!(runs["runs"][1]["run"], run);
    for (filter, count) in [
        ("question=PRODUCTS", 1),
        ("outcome=failed", 0),
        ("min_confidence=0.9", 2),
        ("limit=1", 1),
        ("offset=1", 1),
    ] {
        let found = server.get(&format!("/runs?{filter}")).json();
        assert_eq!(found["runs"].as_array().unwrap().len(), count, "{filter}: {found}");
    }
    assert_eq!(server.get("/runs?limit=many").status, 400);

    let tree = server.get(&format!("/runs/{run}")).json();
    assert_eq!((&tree["run"], &tree["question"]), (&json!(run), &json!(MANY)));
    assert_eq!(tree["answer"]["rows"], json!([[4]]));
    let same = server.get(&format!("/runs/{run}/difference/{run}")).json();
    assert_eq!(same["equal"], true);
    let differ = server.get(&format!("/runs/{run}/difference/{other}")).json();
    assert_eq!((&differ["equal"], &differ["same_question"]), (&json!(false), &json!(false)));
    assert_eq!(server.get("/runs/ffffffffffffffff").status, 404);
    assert_eq!(server.get("/runs/..%2f..%2fetc%2fpasswd").status, 404);
}

#[test]
fn the_model_decides_on_the_strategy() {
    let folder = scratch();
    let database = shop(folder.path());
    let statement = Reply::sql("SELECT count(*) AS number FROM customers", 0.95);
    let endpoint = MockEndpoint::start(Script::new().on([WRITE], statement));
    let mut command = serve_with(&endpoint, &database, folder.path());
    command.env_remove(STRATEGY);
    let server = Server::start(command);
    let answer = server.post("/ask", &json!({"question": MANY}), &[]).json();
    assert_eq!(answer["document"]["answer"]["rows"], json!([[4]]), "{answer:#}");
    assert_eq!(endpoint.count(), 3);
}

fn ask_in(server: &Server, conversation: &str, question: &str) -> Response {
    let asked = json!({"question": question, "conversation": conversation});
    server.post("/ask", &asked, &[])
}

#[test]
fn questions_of_a_conversation_go_on_from_the_one_before() {
    let place = crate::defined::shop();
    let mut command = serve(&place.path().join("shop.sqlite"), place.path());
    command.arg("--semantics").arg(place.path().join("shop.yml"));
    let server = Server::start(command);
    let first = ask_in(&server, "a", "orders in 2024").json();
    assert_eq!(first["document"]["origin"]["request"], "orders, in 2024", "{first:#}");
    let second = ask_in(&server, "a", "and by status?").json();
    assert_eq!(second["document"]["origin"]["request"], "orders by status, in 2024", "{second:#}");
    let why = ask_in(&server, "a", "why?").json();
    assert_eq!((&why["run"], &why["document"]["run"]), (&second["run"], &second["run"]));
    let text = why["document"]["answer"]["text"].as_str().unwrap();
    assert!(text.starts_with("The definition of orders gives it"), "{text}");
    // Another conversation knows nothing of it, and a change without meaning is refused.
    assert_eq!(ask_in(&server, "b", "and by status?").json()["outcome"], "no-answer");
    let refused = ask_in(&server, "a", "by reviewer's rating");
    assert_ne!(refused.json()["outcome"], "answered", "{}", refused.text());
    assert_eq!(ask_in(&server, "", "orders in 2024").status, 400);
    assert_eq!(ask_in(&server, &"x".repeat(200), "orders in 2024").status, 400);
}

/// The documents of the events of a kind.
fn documents_of<'a>(events: &'a [(u64, String, Value)], wanted: &str) -> Vec<&'a Value> {
    events.iter().filter(|(_, kind, _)| kind == wanted).map(|(.., data)| data).collect()
}

#[test]
fn events_show_the_search_as_it_grows_and_are_read_again_from_where_a_client_was() {
    let folder = scratch();
    let script = Script::new()
        .on(
            [PLAN],
            plan(&[
                subtask("A", "the customers of France", &[]),
                subtask("B", "their number", &["A"]),
            ]),
        )
        .on(
            [for_task("the customers of France").as_str(), "Earlier attempts"],
            Reply::sql("SELECT id FROM customers WHERE country = 'France'", 0.9),
        )
        .on(
            [for_task("the customers of France").as_str()],
            Reply::sql("SELECT id FROM customers WHERE land = 'France'", 0.9),
        )
        .on(
            [for_task("their number").as_str()],
            Reply::sql("SELECT count(*) AS number FROM task_A", 0.9),
        );
    let endpoint = MockEndpoint::start(script);
    let server = Server::start(serve_with(&endpoint, &shop(folder.path()), folder.path()));
    let question = json!({"question": "How many customers are there in France?"});
    let response = server.post("/ask", &question, &[("Accept", "text/event-stream")]);
    assert_eq!(response.status, 200);
    let events = read_events(&response.text());
    let kinds: Vec<&str> = events.iter().map(|(_, kind, _)| kind.as_str()).collect();
    assert_eq!((kinds[0], kinds[1]), ("queued", "started"), "{kinds:?}");
    assert_eq!(*kinds.last().unwrap(), "answer", "{kinds:?}");
    let ids: Vec<u64> = events.iter().map(|(id, ..)| *id).collect();
    assert_eq!(ids, (1..=events.len() as u64).collect::<Vec<_>>());
    let tasks = documents_of(&events, "task");
    assert_eq!((tasks.len(), &tasks[1]["depends_on"]), (2, &json!(["A"])));
    assert!(documents_of(&events, "task-ended").iter().all(|task| task["ending"] == "solved"));
    assert!(documents_of(&events, "candidate").iter().any(|candidate| candidate["task"] == "A"));
    let (_, _, answer) = events.last().unwrap();
    assert_eq!(answer["outcome"], "answered");

    let run = answer["run"].as_str().unwrap();
    assert_eq!(server.events(run, 0), events);
    assert_eq!(server.events(run, 4), events[4..]);
    assert_eq!(server.events(run, events.len() as u64), []);
    // A client of an earlier server, which had more events of this run, misses no answer.
    assert_eq!(server.events(run, 1_000), events[events.len() - 1..]);
    assert_eq!(server.get("/runs/0000000000000000/events").status, 404);
}

#[test]
fn a_question_back_is_answered_by_asking_again() {
    let folder = scratch();
    let server = Server::start(serve(&shop(folder.path()), folder.path()));
    let first =
        server.post("/ask", &json!({"question": "Who is the biggest customer?"}), &[]).json();
    assert_eq!(first["outcome"], "clarification-needed");
    let clarify = &first["document"]["clarify"];
    let answers = json!([{"question": clarify["question"], "answer": clarify["choices"][0]}]);
    let again = json!({"question": "Who is the biggest customer?", "answers": answers});
    let second = server.post("/ask", &again, &[]).json();
    assert_eq!(second["outcome"], "answered", "{second}");
    // Whoever opens it later sees what it rests on.
    let [first, second] = [first, second].map(|ended| ended["run"].as_str().unwrap().to_owned());
    let trace = server.get(&format!("/runs/{second}")).json();
    assert_eq!(trace["answers"], again["answers"]);
    assert_eq!(server.events(&second, 0)[0].2["answers"], again["answers"]);
    let difference = server.get(&format!("/runs/{first}/difference/{second}")).json();
    assert_eq!(difference["same_question"], false, "{difference}");
    assert_eq!(difference["told"][0]["right"], again["answers"][0]["answer"], "{difference}");
}

#[test]
fn statements_run_under_the_guard_and_become_files() {
    let folder = scratch();
    let server = Server::start(serve(&shop(folder.path()), folder.path()));
    let statement = json!({"sql": "SELECT '=1+1' AS text, 2 AS number UNION ALL SELECT NULL, 3"});
    let rows = server.post("/sql", &statement, &[]).json();
    assert_eq!((&rows["schema"], &rows["row_count"]), (&json!("syrch.rows/1"), &json!(2)));
    let csv = server.post("/sql", &statement, &[("Accept", "text/csv")]);
    assert_eq!(csv.text().replace("\r\n", "\n"), "text,number\n'=1+1,2\n,3\n");
    assert_eq!(csv.header("content-disposition"), "attachment; filename=\"rows.csv\"");
    let many = json!({"sql": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n \
        WHERE i < 10001) SELECT i FROM n"});
    for (kind, name) in [
        ("text/csv", "rows-cut-after-10000.csv"),
        ("application/vnd.apache.parquet", "rows-cut-after-10000.parquet"),
    ] {
        let cut = server.post("/sql", &many, &[("Accept", kind)]);
        let expected = format!("attachment; filename=\"{name}\"");
        assert_eq!(cut.header("content-disposition"), expected, "{kind}");
    }
    let parquet = server.post("/sql", &statement, &[("Accept", "application/vnd.apache.parquet")]);
    assert_eq!(parquet.status, 200);
    assert!(parquet.body.starts_with(b"PAR1") && parquet.body.ends_with(b"PAR1"));
    let check = server.post("/sql", &json!({"sql": "SELECT 1", "check": true}), &[]).json();
    assert_eq!((&check["schema"], &check["ok"]), (&json!("syrch.check/1"), &json!(true)));

    let refused = server.post("/sql", &json!({"sql": "DELETE FROM customers"}), &[]);
    assert_eq!((refused.status, &refused.json()["class"]), (403, &json!("denied")));
    assert_eq!(refused.header("content-type"), "application/problem+json");
    let wrong = server.post("/sql", &json!({"sql": "SELECT land FROM customers"}), &[]);
    assert_eq!((wrong.status, &wrong.json()["class"]), (422, &json!("database")));
}

#[test]
fn the_server_describes_its_database_its_plugins_and_itself() {
    let folder = scratch();
    let database = sqlite(
        folder.path().join("odd.sqlite"),
        "CREATE TABLE \"<script>alert(1)</script>\"(id INTEGER PRIMARY KEY, \"<b>\u{202e}\" TEXT);
         INSERT INTO \"<script>alert(1)</script>\" VALUES (1, '<img src=x onerror=alert(1)>');",
    );
    let server = Server::start(serve(&database, folder.path()));
    let schema = server.get("/schema");
    assert_eq!(schema.header("content-type"), "application/json");
    assert_eq!(schema.json()["tables"][0]["name"], "<script>alert(1)</script>");
    assert_eq!(schema.json()["tables"][0]["sql_name"], "\"<script>alert(1)</script>\"");
    let about = server.get("/server").json();
    assert_eq!((&about["schema"], &about["model"]), (&json!("syrch.server/1"), &Value::Null));
    assert_eq!((&about["dialect"], &about["limits"]["searches"]), (&json!("sqlite"), &json!(64)));
    let plugins = server.get("/plugins").json();
    let roles: Vec<&str> = plugins["plugins"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["role"].as_str().unwrap())
        .collect();
    assert!(roles.contains(&"planner") && roles.contains(&"solver"), "{roles:?}");
    assert_eq!(plugins["plugins"][0]["used"]["searches"], 0);
    assert_eq!(server.get("/doctor").json()["schema"], "syrch.doctor/1");

    let openapi = server.get("/openapi.json").json();
    assert_eq!(openapi["openapi"], "3.1.0");
    for (path, methods) in openapi["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            let path = path.strip_prefix("/api/v1").unwrap();
            let path = path.replace("{run}", "0000000000000000").replace("{other}", "0");
            let response = match method.as_str() {
                "get" => server.get(&path),
                _ => server.post(&path, &json!({"unknown": 1}), &[]),
            };
            assert!(response.status != 405 && response.status != 500, "{method} {path}");
            // A run that is not there is a document of the interface, a path that is not is none.
            let detail = response.text();
            assert!(!detail.contains("nothing at this path"), "{method} {path}: {detail}");
        }
    }
    assert_eq!(server.post("/schema", &json!({}), &[]).status, 405);
    let nothing = server.get("/nothing");
    assert_eq!((nothing.status, nothing.header("content-type")), (404, "application/problem+json"));
}

#[test]
fn the_grants_of_the_lock_are_those_of_the_plugins() {
    let folder = scratch();
    let lock = folder.path().join("syrch.lock");
    let component = folder.path().join("votes.wasm");
    let mut bytes = std::fs::read(zoo::builtin_path("consistency")).unwrap();
    bytes.extend(b"\0\x02\x01x");
    std::fs::write(&component, bytes).unwrap();
    let mut add = host();
    add.env("SYRCH_LOCK", &lock).args(["plugin", "add", "--yes", "--deny", "llm"]).arg(&component);
    assert!(add.status().unwrap().success());
    let mut command = serve(&shop(folder.path()), folder.path());
    command.env("SYRCH_LOCK", &lock).args(["--solver", "votes"]);
    let plugins = Server::start(command).get("/plugins").json();
    let plugins = plugins["plugins"].as_array().unwrap();
    for plugin in plugins {
        let granted = &plugin["granted"];
        match plugin["role"].as_str() {
            Some("solver") => {
                let granted = granted.as_array().unwrap();
                assert!(!granted.is_empty() && !granted.contains(&json!("llm")), "{plugin:#}");
            }
            _ => assert!(granted.is_null(), "{plugin:#}"),
        }
    }
    assert!(plugins.iter().any(|plugin| plugin["role"] == "solver"));
}

#[test]
fn evaluations_are_listed_reported_and_traced() {
    let folder = scratch();
    let database = shop(folder.path());
    compare(folder.path(), 30);
    let server = Server::start(serve(&database, folder.path()));
    let runs = server.get("/evaluations").json();
    let run = &runs["runs"][0];
    assert_eq!((&run["done"], &run["arms"]), (&json!(60), &json!(["single", "retry3"])));
    assert_eq!((&run["running"], &run["grid"]), (&json!(false), &json!(false)));
    let id = run["run"].as_str().unwrap();
    let report = server.get(&format!("/evaluations/{id}")).json();
    assert_eq!((&report["schema"], &report["running"]), (&json!("syrch.compare/1"), &json!(false)));
    assert!(report["pairs"][0]["verdict"].as_str().unwrap().contains("simulated"), "{report}");
    assert_eq!(report["results"].as_array().unwrap().len(), 60);
    let tree = server.get(&format!("/evaluations/{id}/trace?arm=single&id=q0001")).json();
    assert!(tree["question"].as_str().unwrap().contains("(q0001)"), "{tree}");
    for missing in ["x", "..%2f..", "%2fetc"] {
        assert_eq!(server.get(&format!("/evaluations/{missing}")).status, 404, "{missing}");
    }
    assert_eq!(server.get(&format!("/evaluations/{id}/trace?arm=x&id=..%2f..")).status, 404);
    assert_eq!(server.get(&format!("/evaluations/{id}/trace")).status, 400);
}

/// The lines of `docs/serve.md` that begin with `$ `: servers, and requests to the last of them.
#[test]
fn the_commands_of_the_guide_work() {
    let folder = scratch();
    let database = shop(folder.path());
    let guide = std::fs::read_to_string(repository().join("docs/serve.md")).unwrap();
    let mut server: Option<Server> = None;
    let mut requests = 0;
    for line in guide.lines().filter_map(|line| line.strip_prefix("$ ")) {
        if let Some(words) = line.strip_prefix("syrch-host ") {
            let words = words.replace("examples/shop.sqlite", database.to_str().unwrap());
            let mut command = host();
            command.env("SYRCH_STATE_DIR", folder.path().join("state")).current_dir(folder.path());
            command.args(words.split_whitespace());
            command.args(["--listen", "127.0.0.1:0", "--format", "jsonl"]);
            server = Some(Server::start(command));
            continue;
        }
        let address = &server.as_ref().unwrap().address;
        if !has_program("curl", "install curl") {
            return;
        }
        let line = line.replace("127.0.0.1:4180", address).replace("curl -s", "curl -sf");
        let output =
            Command::new("sh").args(["-c", &line]).current_dir(folder.path()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && !text.is_empty(), "{line}: {text}");
        requests += 1;
    }
    assert!(requests >= 3, "the guide shows only {requests} requests");
}
