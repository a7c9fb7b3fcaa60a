//! The audit log: what plugins that are not built in used, were denied and were stopped by, in the
//! log, in traces and in reports.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;
use syrch_kit::zoo;

use crate::endpoint::Said;
use crate::locked::{Place, component};

/// A place with the plugin `votes`, which has these grants.
fn with_votes(words: &[&str]) -> Place {
    let place = Place::new();
    fs::write(place.path("votes.wasm"), component(1)).unwrap();
    let added = place.run(&[&["plugin", "add", "votes.wasm", "--yes"][..], words].concat());
    assert_eq!(added.code, 0, "{}", added.all());
    place
}

/// The entries that `audit tail` prints.
fn tail(place: &Place, words: &[&str]) -> Vec<Value> {
    let said = place.run(&[&["audit", "tail"][..], words].concat());
    assert_eq!(said.code, 0, "{}", said.all());
    said.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn uses_denials_and_limits_are_lines_of_the_log() {
    let place = with_votes(&["--allow", "model-calls=1"]);
    assert_eq!(tail(&place, &[]), [] as [Value; 0], "nothing was written yet");
    place.ask("votes", &[]);
    let before = tail(&place, &[]).len();
    let changed = ["plugin", "grants", "votes", "--deny", "sql", "--allow", "model-calls=50"];
    assert_eq!(place.run(&changed).code, 0);
    let asked = place.ask("votes", &[]);
    let entries = tail(&place, &[]);
    let digest = place.entry("votes")["digest"].clone();
    for (place, entry) in entries.iter().enumerate() {
        assert_eq!((&entry["plugin"], &entry["digest"]), (&Value::from("votes"), &digest));
        assert_eq!(entry["run"] == entries[0]["run"], place < before, "{entry}");
    }
    fn count(entries: &[Value], kind: &str, grant: &str) -> usize {
        entries.iter().filter(|one| one["kind"] == kind && one["grant"] == grant).count()
    }
    for (kind, grant, first, second) in
        [("used", "llm", 1, 1), ("limit", "model-calls", 1, 0), ("denied", "sql", 0, 1)]
    {
        let counts =
            (count(&entries[..before], kind, grant), count(&entries[before..], kind, grant));
        assert_eq!(counts, (first, second), "{kind} {grant}: {entries:?}");
    }
    let ended = entries.last().unwrap();
    assert_eq!(ended["kind"], "ended");
    assert!(ended["access"]["used"]["llm"].as_u64() > Some(1), "{ended}");
    assert!(ended["access"]["denied"]["sql"].as_u64() > Some(0), "{ended}");
    assert_eq!(ended["access"]["wanted"], place.entry("votes")["wanted"]);
    assert_eq!(ended["access"]["granted"], place.entry("votes")["granted"]);
    for (words, count) in [
        (&["--kind", "denied"][..], 1),
        (&["--plugin", "other"], 0),
        (&["--plugin", "votes", "--kind", "ended"], 2),
        (&["--plugin", &digest.as_str().unwrap()[..12], "--lines", "2"], 2),
    ] {
        assert_eq!(tail(&place, words).len(), count, "{words:?}");
    }
    let nobody = place.run(&["audit", "tail", "--plugin", "nobody"]);
    let why = "has no entry of `nobody`; it has those of votes";
    assert!(nobody.stderr.contains(why), "{}", nobody.all());
    place.refuses(&["audit", "tail", "--kind", "all"], 2, &["used, denied, limit, ended"]);

    // The search says the same of itself.
    let line = "plugin votes: wanted llm";
    let shown = place.run(&["trace", "show", "last"]);
    assert!(shown.stdout.contains(line) && shown.stdout.contains("denied sql"), "{}", shown.all());
    let document = place.run(&["trace", "show", "last", "--format", "json"]).document(0);
    assert_eq!(document["access"][0], ended["access"]);
    let page = place.run(&["trace", "show", "last", "--html", "page.html"]);
    assert_eq!(page.code, 0, "{}", page.all());
    assert!(fs::read_to_string(place.path("page.html")).unwrap().contains(line));
    let replayed = place.run(&["trace", "replay", "last", "--strict"]);
    assert_eq!(replayed.code, asked.code, "{}", replayed.all());
    assert_eq!(tail(&place, &[]).len(), entries.len(), "a replay uses nothing");
}

#[test]
fn a_plugin_in_no_lock_is_audited_and_a_built_in_one_is_not() {
    let place = Place::new();
    assert_eq!(place.ask("consistency", &[]).code, 0);
    assert!(!place.path("state/audit.jsonl").exists());
    let hostile = zoo::hostile().display().to_string();
    let words = ["--planner", &hostile, "-P", "planner.behaviour=memory"];
    assert_eq!(place.ask("consistency", &words).code, 14);
    let entries = tail(&place, &["--plugin", &hostile]);
    let kinds: Vec<&str> = entries.iter().map(|entry| entry["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["limit", "ended"], "{entries:?}");
    assert_eq!(entries[0]["grant"], "memory");
    assert_eq!(entries[1]["access"]["granted"], Value::Null);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(place.path("state/audit.jsonl")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn a_model_call_that_the_data_forbids_is_a_denial() {
    let place = Place::new();
    let hostile = zoo::hostile().display().to_string();
    let words = ["-P", "solver.behaviour=send-error", "--rows", "none"];
    place.ask(&hostile, &words);
    let denied = tail(&place, &["--kind", "denied"]);
    assert!(
        denied.iter().any(|entry| {
            entry["grant"] == "llm" && entry["why"].as_str().unwrap().contains("--rows is none")
        }),
        "{denied:?}"
    );
}

#[test]
fn several_searches_write_one_log_and_whoever_follows_it_reads_all() {
    let place = with_votes(&[]);
    let mut follower = place
        .host(&["audit", "tail", "--follow", "--kind", "ended"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(follower.stdout.take().unwrap()).lines();
    let database = crate::shop(place.path("votes.wasm").parent().unwrap()).display().to_string();
    let words = ["--llm", "offline", "--db", &database, "--solver", "votes", "-q"];
    let question = "How many customers are there?";
    let searches: Vec<_> = (0..4)
        .map(|_| {
            let mut search = place.host(&[&words[..], &[question]].concat());
            search.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
        })
        .collect();
    for mut search in searches {
        assert!(search.wait().unwrap().success());
    }
    for _ in 0..4 {
        let line = lines.next().unwrap().unwrap();
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["plugin"], "votes");
    }
    follower.kill().unwrap();
    follower.wait().unwrap();
    assert_eq!(tail(&place, &["--kind", "ended"]).len(), 4);
}

#[test]
fn a_component_that_was_changed_is_a_denial() {
    let place = with_votes(&[]);
    let digest = place.entry("votes")["digest"].as_str().unwrap().to_owned();
    fs::write(place.path("own/plugins").join(format!("{digest}.wasm")), component(2)).unwrap();
    assert_eq!(place.ask("votes", &[]).code, 13);
    let entries = tail(&place, &[]);
    assert_eq!((entries.len(), &entries[0]["grant"]), (1, &Value::from("component")));
}

#[test]
fn a_log_that_cannot_be_written_stops_no_search() {
    let place = with_votes(&[]);
    fs::create_dir_all(place.path("state/audit.jsonl")).unwrap();
    let asked = place.ask("votes", &[]);
    let warnings = asked.document(0)["warnings"].to_string();
    assert_eq!(warnings.matches("the audit log `").count(), 1, "{}", asked.all());
}

/// On a full disk the log is as good as none.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_stops_no_search() {
    const FULL: &str = r#"mount -t tmpfs -o size=64k none "$0" &&
        { cat /dev/zero > "$0/filler" 2>/dev/null; exec "$@"; }"#;
    let place = with_votes(&[]);
    let state = place.path("state");
    fs::create_dir_all(&state).unwrap();
    let database = crate::shop(place.path("votes.wasm").parent().unwrap()).display().to_string();
    let question = "How many customers are there?";
    let words = ["--llm", "offline", "--db", &database, "--solver", "votes", "-q", question];
    let host = place.host(&words);
    let mut small = std::process::Command::new("unshare");
    for (name, value) in host.get_envs() {
        match value {
            Some(value) => small.env(name, value),
            None => small.env_remove(name),
        };
    }
    small.args(["-Urm", "sh", "-c", FULL]).arg(&state).arg(host.get_program());
    let said = Said::from_output(small.args(host.get_args()).output().unwrap());
    if said.stderr.contains("unshare") || said.stderr.contains("mount:") {
        syrch_kit::skip("this machine lets its users mount nothing, not even in a namespace");
        return;
    }
    assert_eq!(said.code, 0, "{}", said.all());
    assert_eq!(said.stderr.matches("the audit log `").count(), 1, "{}", said.all());
}

#[test]
fn a_report_lists_what_was_wanted_granted_and_used() {
    let place = with_votes(&["--allow", "model-calls=30"]);
    crate::shop(place.path("votes.wasm").parent().unwrap());
    let questions = ["How many customers are there?", "How many orders are there?"];
    let lines = questions.iter().enumerate().map(|(number, question)| {
        let table = if number == 0 { "customers" } else { "orders" };
        serde_json::json!({
            "id": format!("q{number}"), "db": "shop", "question": question,
            "gold_sql": format!("SELECT count(*) FROM {table}"),
        })
    });
    let suite: String = lines.map(|line| format!("{line}\n")).collect();
    fs::write(place.path("suite.jsonl"), suite).unwrap();
    let words = ["benchmark", "suite.jsonl", "--llm", "offline", "--solver", "votes", "--format"];
    let report = place.run(&[&words[..], &["json"]].concat()).document(0);
    let access = &report["access"][0];
    assert_eq!(access["plugin"], "votes", "{report}");
    assert_eq!(access["granted"], place.entry("votes")["granted"]);
    assert!(access["used"]["llm"].as_u64() > Some(1), "{access}");
    let markdown = place.run(&["report", "last", "--format", "markdown"]);
    assert!(
        markdown.stdout.contains("Grants of plugins that are not built in"),
        "{}",
        markdown.all()
    );
}
