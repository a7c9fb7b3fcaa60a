//! A search that is killed is resumed where it was: the same answer, and no finished call is made
//! again.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use syrch_basics::Random;
use syrch_kit::{MockEndpoint, Reply, Script};

use crate::endpoint::{KEY, PLAN, Said, for_task, plan, search, subtask};
use crate::{host, shop};

const QUESTION: &str = "How much did each customer from France spend?";

/// A wide search with repairs, in which every call takes a while.
fn script() -> Script {
    let worth = for_task("the worth of each order");
    let good = "SELECT o.customer_id, o.quantity * p.price AS worth FROM orders o \
                JOIN products p ON p.id = o.product_id";
    Script::new()
        .on(
            [PLAN],
            plan(&[
                subtask("A", "the customers from France", &[]),
                subtask("B", "the worth of each order", &[]),
                subtask("C", "what each of them spent", &["A", "B"]),
            ])
            .delay_ms(40),
        )
        .on(
            [for_task("the customers from France").as_str()],
            Reply::sql("SELECT id, name FROM customers WHERE country = 'France'", 0.95)
                .delay_ms(120),
        )
        // The first attempt fails; what follows it says so.
        .on([worth.as_str(), "Earlier attempts"], Reply::sql(good, 0.95).delay_ms(60))
        .on(
            [worth.as_str()],
            Reply::sql("SELECT customer_id, quantity * cost AS worth FROM orders", 0.9)
                .delay_ms(50),
        )
        .on(
            [for_task("what each of them spent").as_str()],
            Reply::sql(
                "SELECT a.name, SUM(b.worth) AS total FROM task_A a \
                 JOIN task_B b ON b.customer_id = a.id GROUP BY a.name ORDER BY total DESC",
                0.95,
            )
            .delay_ms(40),
        )
}

fn start(endpoint: &MockEndpoint, database: &Path, state: &Path) -> Command {
    let mut command = search(&endpoint.url(), database);
    command.env("SYRCH_STATE_DIR", state).args(["--format", "json", "--no-cache", "-q", QUESTION]);
    command
}

fn resume(endpoint: &MockEndpoint, state: &Path) -> Said {
    let mut command = host();
    command
        .env("SYRCH_STATE_DIR", state)
        .env("SYRCH_API_KEY", KEY)
        .args(["--base-url", &endpoint.url()]);
    Said::from_output(command.args(["--format", "json", "--resume", "last"]).output().unwrap())
}

/// Returns the parts of a document that must be the same however often the run was killed.
fn essence(document: &Value) -> Value {
    let mut essence = document.clone();
    for key in ["run", "time_ms", "cost", "plugins"] {
        essence.as_object_mut().unwrap().remove(key);
    }
    essence
}

/// The model calls of the only journal: those that were sent for, and those that had ended.
fn calls(state: &Path) -> Option<(usize, usize)> {
    let file = std::fs::read_dir(state.join("runs")).ok()?.next()?.unwrap().path();
    let text = std::fs::read_to_string(file).unwrap();
    let lines = || text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let sent = lines().filter(|line| line["event"]["ask"]["port"] == "llm").count();
    let ended = lines().filter(|line| line["event"]["got"]["got"] == "reply").count();
    // A header that was cut off is no journal yet.
    text.contains('\n').then_some((sent, ended))
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Kills `wanted` searches somewhere in the middle, and some of them a second time while they go
/// on.
fn kills(wanted: usize, mut random: Random) {
    let folder = syrch_kit::scratch();
    let database = shop(folder.path());
    let endpoint = MockEndpoint::start(script());
    let whole = Said::from_output(
        start(&endpoint, &database, &folder.path().join("whole")).output().unwrap(),
    )
    .document(0);
    let all = endpoint.count();
    let mut killed = 0;
    let mut tries = 0;
    while killed < wanted {
        tries += 1;
        assert!(tries < wanted * 20, "only {killed} of {tries} searches were killed in the middle");
        let endpoint = MockEndpoint::start(script());
        let state = folder.path().join(tries.to_string());
        let mut command = start(&endpoint, &database, &state);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // The clock starts when the first call is out, so that a busy machine kills in the middle,
        // too.
        while endpoint.count() == 0 {
            std::thread::sleep(Duration::from_millis(2));
        }
        std::thread::sleep(Duration::from_millis(random.number() % 280));
        kill(child);
        let Some((sent, ended)) = calls(&state) else { continue };
        let finished =
            std::fs::read_to_string(journal(&state)).unwrap().contains("\"fact\":\"answer\"");
        if finished {
            continue;
        }
        killed += 1;
        let said = resume(&endpoint, &state);
        assert_eq!(
            essence(&said.document(0)),
            essence(&whole),
            "after {sent} calls, {ended} of them ended"
        );
        let mut made: BTreeMap<String, usize> = BTreeMap::new();
        for request in endpoint.requests() {
            *made.entry(request.prompt()).or_default() += 1;
        }
        assert_eq!(made.len(), all, "{:#?}", made.keys());
        let again: usize = made.values().map(|count| count - 1).sum();
        assert!(
            again <= sent - ended,
            "{again} calls were made again, and {} were under way",
            sent - ended
        );
        assert!(made.values().all(|count| *count <= 2));
    }
}

fn journal(state: &Path) -> std::path::PathBuf {
    std::fs::read_dir(state.join("runs")).unwrap().next().unwrap().unwrap().path()
}

#[test]
fn killed_searches_go_on_where_they_were() {
    kills(syrch_kit::scale(10, 50), Random::new(1));
}

#[test]
fn further_killed_searches_go_on_where_they_were() {
    kills(syrch_kit::scale(10, 50), Random::new(2));
}

#[test]
fn what_cannot_go_on_says_why() {
    let folder = syrch_kit::scratch();
    let database = shop(folder.path());
    let state = folder.path().join("state");
    let endpoint = MockEndpoint::start(script());
    assert_eq!(resume(&endpoint, &state).code, 2);
    let done = Said::from_output(start(&endpoint, &database, &state).output().unwrap()).document(0);
    let said = resume(&endpoint, &state);
    assert_eq!(said.code, 10, "{}", said.all());
    assert!(said.stderr.contains("is finished"), "{}", said.all());
    assert!(said.stderr.contains(done["run"].as_str().unwrap()));

    // A killed run whose database changed meanwhile.
    let state = folder.path().join("changed");
    let slow = MockEndpoint::start(Script::new().on([PLAN], Reply::hang()));
    let child = start(&slow, &database, &state)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while slow.count() == 0 {
        std::thread::sleep(Duration::from_millis(2));
    }
    let busy = host()
        .env("SYRCH_STATE_DIR", &state)
        .args(["--resume", "last"])
        .output()
        .map(Said::from_output)
        .unwrap();
    assert!(busy.code == 10 && busy.stderr.contains("its run is in progress"), "{}", busy.all());
    kill(child);
    rusqlite::Connection::open(&database)
        .unwrap()
        .execute("DELETE FROM orders WHERE id = 1", [])
        .unwrap();
    let mut command = host();
    command.env("SYRCH_STATE_DIR", &state).env("SYRCH_API_KEY", KEY);
    let said = Said::from_output(
        command.args(["--base-url", &slow.url(), "--resume", "last"]).output().unwrap(),
    );
    assert!(said.code == 10 && said.stderr.contains("database"), "{}", said.all());
    // A key goes to no endpoint that it was not given for.
    let mut command = host();
    command.env("SYRCH_STATE_DIR", &state).env("SYRCH_API_KEY", KEY);
    let said = Said::from_output(command.args(["--resume", "last"]).output().unwrap());
    assert!(said.code == 10 && said.stderr.contains("--base-url"), "{}", said.all());
    // A resumed run has the settings that it began with.
    let said = Said::from_output(
        host()
            .env("SYRCH_STATE_DIR", &state)
            .args(["--resume", "last", "--seed", "3"])
            .output()
            .unwrap(),
    );
    assert!(said.code == 2 && said.stderr.contains("--seed"), "{}", said.all());
}
