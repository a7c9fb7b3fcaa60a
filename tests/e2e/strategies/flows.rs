//! Flows of strategy files in whole searches: loops, fan-outs, joins, inner flows, fallbacks, other
//! plugins, and files that are wrong.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Reply, Script};

use super::traced::Traced;
use crate::bad_input::{Place, assert_refused, finish, read_streams};
use crate::endpoint::{KEY, REPAIR, Said, WRITE, search};
use crate::{host, shop};

const QUESTION: &str = "How many orders did the French place?";
const SELECT: &str = "at most one is right";
const RIGHT: &str = "SELECT COUNT(*) AS n FROM orders JOIN customers ON customers.id = customer_id \
                     WHERE country = 'France'";
const CUSTOMERS: &str = "SELECT COUNT(DISTINCT customer_id) AS n FROM orders JOIN customers ON \
                         customers.id = customer_id WHERE country = 'France'";
const ALL: &str = "SELECT COUNT(*) AS n FROM orders";
const BROKEN: &str = "SELECT COUNT(*) AS n FROM orders WHERE land = 'France'";

fn example() -> String {
    syrch_kit::repository().join("examples/flow.yml").display().to_string()
}

/// The replies in order, by how many requests with these words there were before; the last one is
/// repeated.
fn in_turn(script: Script, words: &'static str, replies: Vec<Reply>) -> Script {
    let asked = AtomicUsize::new(0);
    script.with(move |request, _| {
        let is_it = request.prompt().contains(words)
            && (words != WRITE || !request.prompt().contains(REPAIR));
        is_it.then(|| replies[asked.fetch_add(1, Ordering::SeqCst).min(replies.len() - 1)].clone())
    })
}

fn sql(statement: &str) -> Reply {
    Reply::sql(statement, 0.9)
}

fn trace(traced: &Traced, flags: &[&str]) -> String {
    let mut command = host();
    command
        .env("SYRCH_STATE_DIR", traced.folder.path().join("state"))
        .args(["trace", "show", "last"])
        .args(flags);
    let said = Said::from_output(command.output().unwrap());
    assert_eq!(said.code, 0, "{}", said.all());
    said.stdout
}

#[test]
fn branches_are_repaired_vote_and_agree() {
    let script = in_turn(
        Script::new().on([REPAIR, BROKEN], sql(RIGHT)),
        WRITE,
        vec![sql(BROKEN), sql(RIGHT), sql(CUSTOMERS)],
    );
    let endpoint = MockEndpoint::start(script);
    let traced = Traced::new();
    let document =
        traced.ask(&endpoint, QUESTION, &["--strategy", &example(), "--rows", "full"]).document(0);
    assert_eq!(document["answer"]["rows"], json!([[3]]), "{document:#}");
    assert_eq!(endpoint.count(), 4, "three drafts and a repair");
    let shown = trace(&traced, &[]);
    for line in [
        "flow, branch 0: tries/draft → tries/run",
        "tries/run (error) → tries/repair → tries/run",
        "→ vote",
    ] {
        assert!(shown.contains(line), "{line} is missing in\n{shown}");
    }
    assert!(shown.contains("2 of 3 branches agree"), "{shown}");
    let page = trace(&traced, &["--html"]);
    assert!(page.contains("flow, branch 1: tries/draft"), "{page}");
    let tree: Value = serde_json::from_str(&trace(&traced, &["--format", "json"])).unwrap();
    let visits = tree.pointer("/rounds/0/tasks/0/visits").unwrap().as_array().unwrap();
    assert!(
        visits.iter().any(|visit| visit["node"] == "vote" && visit["action"] == "default"),
        "{visits:?}"
    );
}

#[test]
fn where_branches_differ_the_model_chooses() {
    let script = in_turn(
        Script::new().with(|request, _| {
            let prompt = request.prompt();
            let at =
                prompt.find(&format!("```sql\n{RIGHT}\n")).filter(|_| prompt.contains(SELECT))?;
            let word = prompt[..at].rfind("Statement ").map(|at| &prompt[at + 10..at + 11])?;
            Some(Reply::text(word))
        }),
        WRITE,
        vec![sql(ALL), sql(RIGHT), sql(CUSTOMERS)],
    );
    let endpoint = MockEndpoint::start(script);
    let document = Traced::new().ask(&endpoint, QUESTION, &["--strategy", &example()]).document(0);
    assert_eq!(document["sql"], json!(RIGHT), "{document:#}");
    assert_eq!(endpoint.count(), 4, "three drafts and a choice");
    let kept = document["candidates"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["status"] == "answer")
        .unwrap();
    assert_eq!(kept["reason"], "chosen among 3 results; 1 of 3 branches have it");
}

#[test]
fn a_fallback_follows_the_last_attempt() {
    let traced = Traced::new();
    let script = in_turn(
        Script::new()
            .on(["```yaml\nsql: |"], Reply::text(format!("```yaml\nsql: |\n  {RIGHT}\n```"))),
        WRITE,
        vec![Reply::text("I would rather not say.")],
    );
    let endpoint = MockEndpoint::start(script);
    let document = traced
        .ask(&endpoint, QUESTION, &["--strategy", &example(), "--structured", "never"])
        .document(0);
    assert_eq!(document["sql"], json!(RIGHT), "{document:#}");
    let prompts: Vec<String> = endpoint.requests().iter().map(|request| request.prompt()).collect();
    assert_eq!(prompts.len(), 9, "two attempts of three branches, and three in the other form");
    // The second request says what was wrong with the first reply.
    assert!(
        prompts[3..6].iter().all(|prompt| prompt.contains("Your last reply could not be used: ")),
        "{}",
        prompts[3]
    );
    assert!(trace(&traced, &[]).contains("tries/draft (plain) → tries/other_form → tries/run"));
}

#[test]
fn a_flow_waits_before_it_asks_again_and_its_replay_does_not() {
    let script = in_turn(
        Script::new(),
        WRITE,
        vec![Reply::text("I cannot say."), Reply::text("Nor now."), sql(RIGHT)],
    );
    let endpoint = MockEndpoint::start(script);
    let traced = Traced::new();
    let flow = "name: patient\nroles: {planner: direct}\nflow:\n  start: draft\n  nodes:\n    \
                draft: {max_retries: 3, wait: 0.4, next: run}\n    run: {}\n";
    let file = traced.folder.path().join("patient.yml");
    std::fs::write(&file, flow).unwrap();
    let started = std::time::Instant::now();
    let flags = ["--strategy", file.to_str().unwrap(), "--structured", "never"];
    let document = traced.ask(&endpoint, QUESTION, &flags).document(0);
    assert_eq!(document["sql"], json!(RIGHT), "{document:#}");
    assert!(started.elapsed() >= Duration::from_millis(800));
    assert_eq!(endpoint.requests().len(), 3);
    let mut replay = host();
    replay
        .env("SYRCH_STATE_DIR", traced.folder.path().join("state"))
        .args(["trace", "replay", "last", "--strict"]);
    let said = Said::from_output(replay.output().unwrap());
    assert_eq!(said.code, 0, "{}", said.all());
}

/// A cheap statement, and another plugin where it fails.
fn handing(place: &Traced) -> PathBuf {
    let path = place.folder.path().join("hand.yml");
    let text = "name: hand\nroles: {planner: direct}\nflow:\n  start: draft\n  nodes:\n    draft: \
                {next: run}\n    run:\n      on: {error: help}\n    help:\n      do: solver\n      \
                settings: {plugin: consistency, config: {samples: 3}}\n";
    std::fs::write(&path, text).unwrap();
    path
}

/// A cheap statement, another plugin where it fails, and what follows that by how it ended: with
/// less confidence than `sure` it is not sure.
fn continuing(place: &Traced, sure: f64) -> String {
    let path = place.folder.path().join("later.yml");
    let text = "name: later\nroles: {planner: direct}\nflow:\n  start: draft\n  nodes:\n    draft: \
                {next: run}\n    run:\n      on: {error: help}\n    help:\n      do: solver\n      \
                settings: {plugin: consistency, config: {samples: 3}, sure: 0.5}\n      \
                next: judge\n      on: {none: repair, unsure: repair}\n    judge: {}\n    repair: \
                {next: run, max_visits: 1}\n";
    std::fs::write(&path, text.replace("0.5", &sure.to_string())).unwrap();
    path.display().to_string()
}

fn replay(traced: &Traced) {
    let mut command = host();
    command
        .env("SYRCH_STATE_DIR", traced.folder.path().join("state"))
        .args(["trace", "replay", "last", "--strict"]);
    let said = Said::from_output(command.output().unwrap());
    assert_eq!(said.code, 0, "{}", said.all());
}

#[test]
fn a_flow_continues_after_another_plugin() {
    let traced = Traced::new();
    let path = continuing(&traced, 0.5);
    let passed =
        Reply::text("```yaml\nscore: 9\nreasoning: fine\nverdict: PASS\nfeedback: none\n```");
    let script = Script::new().on(["verdict"], passed);
    let endpoint = MockEndpoint::start(in_turn(
        script,
        WRITE,
        vec![sql(BROKEN), sql(RIGHT), sql(RIGHT), sql(ALL)],
    ));
    let document = traced.ask(&endpoint, QUESTION, &["--strategy", &path]).document(0);
    assert_eq!(document["sql"], json!(RIGHT), "{document:#}");
    assert_eq!(endpoint.count(), 5, "one statement, three samples, and a judgement");
    let shown = trace(&traced, &[]);
    for line in ["run (error) → help (handed)", "help → judge", "solver/help"] {
        assert!(shown.contains(line), "{line} is missing in\n{shown}");
    }
    replay(&traced);
}

#[test]
fn a_flow_repairs_where_another_plugin_found_nothing() {
    let other = "SELECT COUNT(*) AS n FROM customers";
    for (samples, sure) in [([BROKEN; 3], 0.5), ([ALL, CUSTOMERS, other], 0.95)] {
        let traced = Traced::new();
        let path = continuing(&traced, sure);
        let first = [BROKEN].into_iter().chain(samples).map(sql).collect();
        let script = Script::new().on([REPAIR], sql(RIGHT));
        let endpoint = MockEndpoint::start(in_turn(script, WRITE, first));
        let document = traced.ask(&endpoint, QUESTION, &["--strategy", &path]).document(0);
        assert_eq!(document["sql"], json!(RIGHT), "{samples:?}: {document:#}");
        assert_eq!(endpoint.count(), 5, "one statement, three samples, and a repair");
        let shown = trace(&traced, &[]);
        assert!(shown.contains("→ repair → run"), "{shown}");
        replay(&traced);
    }
}

#[test]
fn a_task_is_handed_to_another_plugin() {
    let traced = Traced::new();
    let path = handing(&traced).display().to_string();
    let endpoint = MockEndpoint::start(in_turn(
        Script::new(),
        WRITE,
        vec![sql(BROKEN), sql(RIGHT), sql(RIGHT), sql(ALL)],
    ));
    let document = traced.ask(&endpoint, QUESTION, &["--strategy", &path]).document(0);
    assert_eq!(document["sql"], json!(RIGHT), "{document:#}");
    assert_eq!(endpoint.count(), 4, "one statement, and three samples");
    let plugins = document["plugins"].as_array().unwrap();
    let solvers: Vec<&str> = plugins
        .iter()
        .filter(|one| one["role"] == "solver")
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(solvers, ["flow", "consistency"]);
    let shown = trace(&traced, &[]);
    assert!(
        shown.contains("run (error) → help (handed)") && shown.contains("solver/help"),
        "{shown}"
    );
    // The run is repeated from its journal.
    let mut replay = host();
    replay.env("SYRCH_STATE_DIR", traced.folder.path().join("state"));
    let again = Said::from_output(
        replay.args(["trace", "replay", "last", "--strict", "--format", "json"]).output().unwrap(),
    );
    assert_eq!(again.document(0)["sql"], json!(RIGHT));
    // What the flow finds itself needs nobody else.
    let endpoint = MockEndpoint::start(in_turn(Script::new(), WRITE, vec![sql(RIGHT)]));
    traced.ask(&endpoint, QUESTION, &["--strategy", &path]).document(0);
    assert_eq!(endpoint.count(), 1);
}

#[test]
fn what_is_wrong_with_a_flow_is_said_before_the_first_call() {
    let place = Place::new();
    place.file(
        "own.yml",
        "name: own\nflow:\n  start: draft\n  nodes:\n    draft: {next: run}\n    run:\n      on: \
         {error: repiar}\n    repair:\n      next: run\n      settings: {histroy: all}\n",
    );
    let reported = [
        "own.yml:7:12: flow.nodes.run.on.error: there is no node `repiar`; did you mean `repair`?",
        "own.yml:10:18: flow.nodes.repair.settings.histroy: a node of the kind `repair` has no \
         setting `histroy`; did you mean `history`?",
    ];
    assert_refused(&mut place.words("strategy show own.yml"), 10, &reported);
    assert_refused(&mut place.search("--strategy own.yml"), 10, &reported);
    place.file(
        "endless.yml",
        "name: own\nflow:\n  start: draft\n  nodes:\n    draft: {next: run}\n    run:\n      on: \
         {error: repair}\n    repair:\n      next: run\n",
    );
    let endpoint = MockEndpoint::start(Script::new());
    let mut command = search(&endpoint.url(), &place.path().join("shop.sqlite"));
    let output = command
        .current_dir(place.path())
        .args(["-q", QUESTION, "--strategy", "endless.yml"])
        .output()
        .unwrap();
    let said = read_streams(&output);
    assert!(
        said.1
            .contains("endless.yml:6:5: flow.nodes.run: the loop run → repair → run has no bound"),
        "{}",
        said.1
    );
    assert_eq!((output.status.code(), endpoint.count()), (Some(10), 0));
    // A flow that is set in another way is checked by the plugin itself.
    let wrong = r#"solver.flow={"start":"draft","nodes":{"draft":{"next":"rnu"}}}"#;
    let output = finish(place.search("--solver flow").args(["-P", wrong]), "");
    assert!(
        self::read_streams(&output).1.contains("flow.nodes.draft.next: there is no node `rnu`"),
        "{:?}",
        self::read_streams(&output)
    );
}

#[test]
fn what_is_shown_of_a_flow_is_a_file_of_it_again() {
    let place = Place::new();
    let traced = Traced::new();
    let shown = |word: &str| {
        let output = finish(place.words("strategy show").arg(word).args(["--format", "json"]), "");
        serde_json::from_str::<Value>(&read_streams(&output).0).unwrap()["roles"]["solver"].clone()
    };
    for file in [example(), handing(&traced).display().to_string()] {
        let output = finish(place.words("strategy show").arg(&file).args(["-o", "again.yml"]), "");
        assert_eq!(output.status.code(), Some(0), "{}", read_streams(&output).1);
        let text = std::fs::read_to_string(place.path().join("again.yml")).unwrap();
        assert!(text.contains("\nflow:\n  start: ") && text.contains("\n      next: "), "{text}");
        assert_eq!(shown("again.yml"), shown(&file));
        std::fs::remove_file(place.path().join("again.yml")).unwrap();
    }
}

#[test]
fn a_killed_flow_goes_on_to_the_same_answer() {
    let folder = syrch_kit::scratch();
    let database = shop(folder.path());
    // Each statement is that of its prompt, whatever came first.
    let script = || {
        Script::new()
            .on([REPAIR, BROKEN], sql(RIGHT).delay_ms(150))
            .on([WRITE], sql(BROKEN).delay_ms(150))
            .on([SELECT], Reply::text("A"))
    };
    let start = |endpoint: &MockEndpoint, state: &str| {
        let mut command = search(&endpoint.url(), &database);
        command.env("SYRCH_STATE_DIR", folder.path().join(state));
        command.args(["--format", "json", "--no-cache", "--strategy", &example(), "-q", QUESTION]);
        command
    };
    let endpoint = MockEndpoint::start(script());
    let whole = Said::from_output(start(&endpoint, "whole").output().unwrap()).document(0);
    assert_eq!(whole["sql"], json!(RIGHT), "{whole:#}");
    let all = endpoint.count();
    let mut killed = 0;
    for (run, milliseconds) in [60, 180, 240].into_iter().enumerate() {
        let endpoint = MockEndpoint::start(script());
        let state = format!("run{run}");
        let mut child =
            start(&endpoint, &state).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while endpoint.count() == 0 {
            std::thread::sleep(Duration::from_millis(2));
        }
        std::thread::sleep(Duration::from_millis(milliseconds));
        let has_ended = child.try_wait().unwrap().is_some();
        child.kill().unwrap();
        child.wait().unwrap();
        if has_ended {
            continue;
        }
        killed += 1;
        let mut command = host();
        command.env("SYRCH_STATE_DIR", folder.path().join(&state)).env("SYRCH_API_KEY", KEY);
        command.args(["--base-url", &endpoint.url(), "--format", "json", "--resume", "last"]);
        let resumed = Said::from_output(command.output().unwrap()).document(0);
        assert_eq!(
            (&resumed["answer"], &resumed["confidence"]),
            (&whole["answer"], &whole["confidence"])
        );
        assert_eq!(resumed["candidates"], whole["candidates"]);
        assert!(endpoint.count() <= 2 * all, "{} calls", endpoint.count());
    }
    assert!(killed > 0, "no search was killed in the middle");
}
