//! `plugin add`, `review`, `grants` and `remove`: a strategy that somebody else wrote, from its
//! tarball to the search in which it is used, denied and refused.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use syrch_kit::zoo;
use tempfile::TempDir;

use crate::endpoint::Said;
use crate::{host, shop};

/// A folder with a lock of its own.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(syrch_kit::scratch())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.path("own/syrch.lock")
    }

    pub(crate) fn host(&self, words: &[&str]) -> Command {
        let mut command = host();
        command
            .current_dir(self.0.path())
            .env("SYRCH_STATE_DIR", self.path("state"))
            .env("SYRCH_LOCK", self.lock())
            .args(words);
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> Said {
        Said::from_output(self.host(words).output().unwrap())
    }

    /// Runs the command with a folder of its own for what it writes.
    fn run_in(&self, state: &str, words: &[&str], more: &[&str]) -> Said {
        let mut command = self.host(words);
        command.env("SYRCH_STATE_DIR", self.path(state)).args(more);
        Said::from_output(command.output().unwrap())
    }

    pub(crate) fn refuses(&self, words: &[&str], code: i32, parts: &[&str]) {
        let said = self.run(words);
        assert_eq!(said.code, code, "{words:?}: {}", said.all());
        for part in parts {
            assert!(said.stderr.contains(part), "{words:?}: `{part}` is not in {}", said.all());
        }
    }

    /// Asks a question whose solver this is.
    pub(crate) fn ask(&self, solver: &str, more: &[&str]) -> Said {
        let database = shop(self.0.path()).display().to_string();
        let words = [
            "--llm",
            "offline",
            "--format",
            "json",
            "--db",
            &database,
            "--solver",
            solver,
            "-q",
            "How many customers are there?",
        ];
        self.run(&[&words[..], more].concat())
    }

    /// The entry of a plugin in the lock.
    pub(crate) fn entry(&self, name: &str) -> Value {
        let text = fs::read_to_string(self.lock()).unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["schema"], "syrch.lock/1");
        document["plugins"][name].clone()
    }
}

/// The built-in `consistency` with some custom sections, which make it another component that does
/// the same.
pub(crate) fn component(sections: usize) -> Vec<u8> {
    let mut bytes = fs::read(zoo::builtin_path("consistency")).unwrap();
    bytes.extend(b"\0\x02\x01x".repeat(sections));
    bytes
}

/// An archive with one file.
fn tar(path: &str, content: &[u8], kind: u8) -> Vec<u8> {
    let mut header = [0; 512];
    header[..path.len()].copy_from_slice(path.as_bytes());
    header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
    header[156] = kind;
    header[148..156].copy_from_slice(b"        ");
    let sum: u64 = header.iter().map(|byte| u64::from(*byte)).sum();
    header[148..154].copy_from_slice(format!("{sum:06o}").as_bytes());
    header[154] = 0;
    let mut archive = [&header[..], content].concat();
    archive.resize(archive.len().next_multiple_of(512) + 1024, 0);
    archive
}

#[test]
fn a_plugin_from_a_tarball_is_added_used_updated_and_removed() {
    let place = Place::new();
    let source = place.path("votes.tar");
    fs::write(&source, tar("votes/votes.wasm", &component(1), b'0')).unwrap();
    place.refuses(&["plugin", "add", "votes.tar"], 15, &["asks for", "llm", "--yes"]);
    assert!(!place.lock().exists() && place.ask("votes", &[]).code == 13, "nothing was added");

    let added = place.run(&["plugin", "add", "votes.tar", "--yes", "--format", "json"]);
    let document = added.document(0);
    let entry = place.entry("votes");
    for key in ["digest", "bytes", "source", "roles", "contract", "wanted", "granted"] {
        assert_eq!(document[key], entry[key], "{key}");
    }
    assert_eq!((&entry["wanted"], &entry["roles"]), (&entry["granted"], &json!(["solver"])));
    let answer = place.ask("votes", &[]);
    assert_eq!(answer.code, 0, "{}", answer.all());
    assert!(answer.document(0)["plugins"].to_string().contains(entry["digest"].as_str().unwrap()));
    assert_eq!(place.run(&["plugin", "inspect", "votes"]).code, 0);

    // The source changed, which changes nothing until it is reviewed and added again.
    fs::write(&source, tar("votes/votes.wasm", &component(2), b'0')).unwrap();
    assert_eq!(place.ask("votes", &[]).code, 0);
    let review = place.run(&["plugin", "review", "votes"]);
    assert!(review.code == 5 && review.stdout.contains("becomes"), "{}", review.all());
    fs::write(&source, tar("votes/votes.wasm", b"no component", b'0')).unwrap();
    let again = ["plugin", "add", "votes.tar", "--yes", "--name", "votes"];
    let failed = place.run(&again);
    assert_eq!((failed.code, place.entry("votes")), (13, entry.clone()), "{}", failed.all());
    fs::write(&source, tar("votes/votes.wasm", &component(2), b'0')).unwrap();
    // A name in a tarball takes no other plugin's place.
    place.refuses(&again[..4], 15, &["becomes", "was not replaced", "--name votes"]);
    assert_eq!(place.entry("votes"), entry);
    assert_eq!(place.run(&again).code, 0);
    let same = place.run(&["plugin", "review", "votes"]);
    assert_eq!((same.code, &*same.stdout), (0, "votes is as it was added: nothing has changed\n"));
    let list = ["plugin", "list", "--format", "json"];
    let listed = place.run(&list).document(0);
    let votes = listed["plugins"].as_array().unwrap().iter().find(|one| one["name"] == "votes");
    assert_eq!(votes.unwrap()["digest"], place.entry("votes")["digest"]);
    for (name, part) in [("vote", "did you mean `votes`?"), ("x", "lists the added plugins")] {
        for command in ["grants", "review", "remove"] {
            place.refuses(&["plugin", command, name], 10, &[part]);
        }
    }
    let stored = || fs::read_dir(place.path("own/plugins")).unwrap().count();
    assert_eq!((place.ask("votes", &[]).code, stored()), (0, 1));

    // Somebody changes the component behind the lock.
    let digest = place.entry("votes")["digest"].as_str().unwrap().to_owned();
    let component_of_lock = place.path("own/plugins").join(format!("{digest}.wasm"));
    fs::write(&component_of_lock, component(3)).unwrap();
    let changed = place.ask("votes", &[]);
    assert_eq!(changed.code, 13, "{}", changed.all());
    assert!(changed.all().contains("is not the component that was added"), "{}", changed.all());
    let listed = place.run(&list);
    assert!(listed.stderr.contains("is not the component that was added"), "{}", listed.all());
    let names = listed.document(0)["plugins"].as_array().unwrap().clone();
    assert!(names.iter().all(|one| one["name"] != "votes"), "{}", listed.all());
    assert_eq!(place.run(&["plugin", "remove", "votes"]).code, 0);
    assert_eq!((place.ask("votes", &[]).code, stored()), (13, 0));
}

#[test]
fn grants_hold_for_the_plugin_however_it_is_named() {
    let place = Place::new();
    let file = place.path("votes.wasm");
    fs::write(&file, component(1)).unwrap();
    let add = |words: &[&str]| {
        place.run(&[&["plugin", "add", "votes.wasm", "--yes"][..], words].concat())
    };
    for (words, part) in [
        (&["--allow", "retrieval"][..], "does not ask for `retrieval`"),
        (&["--allow", "model-cals=1"], "did you mean `model-calls`?"),
        (&["--deny", "files"], "is no port"),
        (&["--deny", "tables"], "`tables` is a limit and no port"),
        (&["--deny", "sends"], "another value of `sends=`"),
        (&["--allow", "memory=0"], "no value of memory"),
        (&["--allow", "seconds=0"], "no value of seconds"),
        (&["--name", "refine"], "built-in"),
        (&["--name", "none"], "stands for no plugin"),
    ] {
        let refused = add(words);
        assert!(refused.code == 2 && refused.stderr.contains(part), "{words:?}: {}", refused.all());
    }
    assert!(!place.lock().exists());
    assert_eq!(add(&["--deny", "llm"]).code, 0);
    for solver in ["votes", "votes.wasm"] {
        let denied = place.ask(solver, &[]);
        assert_eq!(denied.code, 15, "{solver}: {}", denied.all());
        for part in ["`votes` is not granted `llm`", "plugin grants votes --allow llm"] {
            assert!(denied.all().contains(part), "{solver}: {}", denied.all());
        }
    }
    let grants = |words: &[&str]| place.run(&[&["plugin", "grants", "votes"][..], words].concat());
    assert_eq!(grants(&["--allow", "llm", "--allow", "model-calls=0"]).code, 0);
    for (limit, enough) in [
        ("model-calls=0", "100000"),
        ("statements=0", "100000"),
        // Less than any plugin takes.
        ("memory=1000", "200000000"),
    ] {
        assert_eq!(grants(&["--allow", limit]).code, 0);
        let spent = place.ask("votes", &[]);
        assert_eq!(spent.code, 16, "{limit}: {}", spent.all());
        assert!(spent.all().contains(&format!("is granted: {limit}")), "{}", spent.all());
        let (name, _) = limit.split_once('=').unwrap();
        let hint = format!("plugin grants votes --allow {name}=…");
        assert!(spent.all().contains(&hint), "{}", spent.all());
        assert_eq!(grants(&["--allow", &format!("{name}={enough}")]).code, 0);
    }
    assert_eq!(place.ask("votes", &[]).code, 0);
    // All tables are granted: a search may name some.
    assert_eq!(grants(&["--allow", "tables=*"]).code, 0);
    let named = place.ask("votes", &["--tables", "customers"]);
    assert_eq!(named.code, 0, "{}", named.all());
    let none = place.ask("votes", &["--tables", "orders"]);
    assert!(!none.stdout.contains("FROM customers"), "not named: {}", none.all());
    // What it may show and read is what the whole search shows and reads.
    assert_eq!(grants(&["--allow", "rows=none", "--allow", "tables=orders"]).code, 0);
    let narrow = place.ask("votes", &[]);
    assert!(
        narrow.stderr.contains("granted rows=none: this search shows no more"),
        "{}",
        narrow.all()
    );
    assert!(!narrow.stdout.contains("FROM customers"), "not granted: {}", narrow.all());
    let outside = place.ask("votes", &["--tables", "customers"]);
    assert!(outside.code == 10 && outside.stderr.contains("`customers`"), "{}", outside.all());
    assert_eq!(place.ask("consistency", &[]).code, 0, "the built-in one has no grants");
    let listed = place.run(&["plugin", "grants", "--format", "json"]).document(0);
    assert!(listed["plugins"][0]["granted"].to_string().contains("tables=orders"), "{listed}");
    // An update keeps the grants.
    fs::write(&file, component(2)).unwrap();
    assert_eq!(add(&["--name", "votes"]).code, 0);
    assert!(place.entry("votes")["granted"].to_string().contains("rows=none"));
}

/// A key that is pinned decides what may take a plugin's place.
#[test]
fn a_plugin_with_a_pinned_key_is_replaced_by_nobody_else() {
    let place = Place::new();
    let file = place.path("votes.wasm");
    fs::write(&file, component(1)).unwrap();
    let sign = |key: &str, more: &[&str]| {
        let words = ["plugin", "sign", "votes.wasm", "--format", "json", "--key", key];
        place.run(&[&words[..], more].concat())
    };
    place.refuses(&["plugin", "sign", "votes.wasm", "--key", "none.pem"], 10, &["--new-key"]);
    let own = sign("own.pem", &["--new-key"]).document(0)["key"].as_str().unwrap().to_owned();
    assert_eq!(sign("own.pem", &["--new-key"]).code, 10, "a key is never replaced");
    let text = fs::read_to_string(place.path("own.pem")).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(place.path("own.pem")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let add = ["plugin", "add", "votes.wasm", "--yes", "--name", "votes"];
    let with_key = |key: &str| place.run(&[&add[..], &["--key", key]].concat());
    let signature = fs::read(place.path("votes.wasm.sig")).unwrap();
    fs::write(place.path("other.wasm"), component(7)).unwrap();
    let words = ["plugin", "sign", "other.wasm", "--new-key", "--key", "other.pem"];
    let other = place.run(&[&words[..], &["--format", "json"]].concat()).document(0);
    let other = other["key"].as_str().unwrap();
    for (key, why) in [(other, "it is signed by ed25519:"), ("ed25519:AA", "it is no key")] {
        let refused = with_key(key);
        assert!(refused.stderr.contains(why), "{}", refused.all());
        assert!([2, 15].contains(&refused.code) && !place.lock().exists(), "{}", refused.all());
    }
    assert_eq!(with_key(&own).code, 0);
    assert_eq!(place.entry("votes")["key"], own.as_str());
    assert_eq!(place.ask("votes", &[]).code, 0);

    // An update without a signature, with that of the component before, or of another key.
    fs::write(&file, component(2)).unwrap();
    let before = place.entry("votes");
    let refuse = |why: &str| {
        place.refuses(&add, 15, &[&own, why, "plugin remove votes"]);
        place.refuses(&["plugin", "review", "votes"], 15, &[why]);
        assert_eq!(place.entry("votes"), before);
    };
    refuse("not that of this component");
    fs::remove_file(place.path("votes.wasm.sig")).unwrap();
    refuse("it has no signature");
    assert_eq!(sign("other.pem", &[]).code, 0);
    refuse("it is signed by ed25519:");
    assert_eq!(with_key(other).code, 15, "another key takes nobody's place");
    fs::write(place.path("votes.wasm.sig"), &signature).unwrap();
    refuse("not that of this component");
    assert_eq!(sign("own.pem", &[]).code, 0);
    assert_eq!(place.run(&["plugin", "review", "votes"]).code, 5);
    assert_eq!(place.run(&add).code, 0);
    assert_eq!(place.entry("votes")["key"], own.as_str());
    assert_eq!(place.run(&["plugin", "grants", "votes", "--deny", "cells"]).code, 0);
    assert_eq!(place.entry("votes")["key"], own.as_str());
    // So is a file that holds none.
    fs::write(place.path("votes.wasm.sig"), "no signature").unwrap();
    place.refuses(&add, 15, &["votes.wasm.sig", "is no signature"]);
    place.refuses(&["plugin", "review", "votes"], 15, &["is no signature"]);
    // A wrong signature is refused where no key is pinned, too.
    fs::write(place.path("votes.wasm.sig"), &signature).unwrap();
    place.refuses(&["plugin", "add", "votes.wasm", "--yes", "--name", "b"], 15, &["not that of"]);
    let lock = fs::read_to_string(place.lock()).unwrap();
    let secret = text.lines().nth(1).unwrap();
    assert!(!lock.contains(secret), "the secret key is nobody's but the author's");
}

/// A batch that is running does not keep what the user takes away.
#[test]
fn a_grant_that_is_withdrawn_counts_in_a_batch_that_is_running() {
    let place = Place::new();
    fs::write(place.path("votes.wasm"), component(1)).unwrap();
    assert_eq!(place.run(&["plugin", "add", "votes.wasm", "--yes"]).code, 0);
    let database = shop(place.0.path()).display().to_string();
    let words = ["batch", "--llm", "offline", "--db", &database, "--solver", "votes"];
    let mut batch = place
        .host(&words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut questions = batch.stdin.take().unwrap();
    let mut answers = BufReader::new(batch.stdout.take().unwrap()).lines();
    let mut outcomes = Vec::new();
    for (number, table) in ["customers", "orders"].iter().enumerate() {
        let question = json!({"id": number, "question": format!("How many {table} are there?")});
        writeln!(questions, "{question}").unwrap();
        let answer: Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
        outcomes.push(answer["outcome"].as_str().unwrap().to_owned());
        let denied = place.run(&["plugin", "grants", "votes", "--deny", "llm"]);
        assert_eq!(denied.code, 0, "{}", denied.all());
    }
    drop(questions);
    assert!(batch.wait().unwrap().success());
    assert!(outcomes[0] == "answered" && outcomes[1] != "answered", "{outcomes:?}");
}

#[test]
fn what_lies_in_a_project_grants_nothing() {
    let place = Place::new();
    fs::write(place.path("votes.wasm"), component(1)).unwrap();
    assert_eq!(place.run(&["plugin", "add", "votes.wasm", "--yes"]).code, 0);
    let project = place.path("project");
    fs::create_dir(&project).unwrap();
    fs::copy(place.lock(), project.join("syrch.lock")).unwrap();
    let inside = |lock: Option<&Path>, file: &str| {
        fs::write(project.join("syrch.yml"), file).unwrap();
        let mut command = place.host(&["plugin", "grants"]);
        command.current_dir(&project).env_remove("SYRCH_LOCK");
        if let Some(lock) = lock {
            command.env("SYRCH_LOCK", lock);
        }
        Said::from_output(command.output().unwrap())
    };
    let found = inside(None, "");
    assert!(found.code == 0 && !found.stdout.contains("votes"), "{}", found.all());
    let relative = inside(Some(Path::new("syrch.lock")), "");
    assert!(relative.code == 10 && relative.stderr.contains("no absolute"), "{}", relative.all());
    for file in ["execution: {lock: /tmp/x}\n", "plugins: {solver: votes}\n"] {
        let refused = inside(Some(&place.lock()), file);
        assert!(refused.code == 10, "{file}: {}", refused.all());
    }
}

/// One byte more makes another component of a plugin that was added under grants, and a strategy
/// file may name it: it is added, or named by the user, or does not run.
#[test]
fn a_strategy_file_brings_no_plugin_that_was_not_added() {
    let place = Place::new();
    let database = shop(&place.path("")).display().to_string();
    fs::write(place.path("votes.wasm"), component(1)).unwrap();
    fs::write(place.path("theirs.wasm"), component(2)).unwrap();
    assert_eq!(place.run(&["plugin", "add", "votes.wasm", "--yes", "--deny", "llm"]).code, 0);
    fs::write(place.path("role.yml"), "name: a\nroles: {solver: {plugin: theirs.wasm}}\n").unwrap();
    let flow = "name: b\nflow:\n  start: other\n  nodes:\n    other: {do: solver, settings: \
                {plugin: theirs.wasm}}\n";
    fs::write(place.path("flow.yml"), flow).unwrap();
    let ask = |more: &[&str]| {
        let question = "How many customers are there?";
        let words = ["--llm", "offline", "--db", &database, "-q", question];
        place.run(&[&words[..], more].concat())
    };
    for file in ["role.yml", "flow.yml"] {
        let refused = ask(&["--strategy", file]);
        assert_eq!(refused.code, 15, "{file}: {}", refused.all());
        for part in [file, "theirs.wasm`, a plugin that was not added", "plugin add ", "--trust "] {
            assert!(refused.stderr.contains(part), "`{part}` is not in {}", refused.all());
        }
        assert_eq!(ask(&["--strategy", file, "--trust", "theirs.wasm"]).code, 0, "{file}");
    }
    assert_eq!(ask(&["--strategy", "role.yml", "--solver", "theirs.wasm"]).code, 0);
    assert_eq!(place.run(&["plugin", "add", "theirs.wasm", "--yes"]).code, 0);
    for file in ["role.yml", "flow.yml"] {
        let answer = ask(&["--strategy", file]);
        assert_eq!(answer.code, 0, "{file}: {}", answer.all());
    }
}

/// A journal names the plugins of its run and the files that were trusted in it, and may be
/// anybody's.
#[test]
fn a_journal_brings_no_plugin_that_was_not_added() {
    let place = Place::new();
    let database = shop(&place.path("")).display().to_string();
    fs::write(place.path("theirs.wasm"), component(2)).unwrap();
    let flow = "name: b\nflow:\n  start: other\n  nodes:\n    other: {do: solver, settings: \
                {plugin: theirs.wasm}}\n";
    fs::write(place.path("flow.yml"), flow).unwrap();
    for (state, words) in [
        ("role", ["--solver", "theirs.wasm"].as_slice()),
        ("flow", &["--strategy", "flow.yml", "--trust", "theirs.wasm"]),
    ] {
        let question =
            ["--llm", "offline", "--db", &database, "-q", "How many customers are there?"];
        let asked = place.run_in(state, &question, words);
        assert_eq!(asked.code, 0, "{}", asked.all());
        let runs = fs::read_dir(place.path(state).join("runs")).unwrap();
        let journal = runs.map(|entry| entry.unwrap().path()).next().unwrap();
        let whole = fs::read_to_string(&journal).unwrap();
        let (header, rest) = whole.split_once('\n').unwrap();
        let mut header: Value = serde_json::from_str(header).unwrap();
        header["settings"]["trust"] = json!(["theirs.wasm"]);
        fs::write(place.path("theirs.jsonl"), format!("{header}\n{rest}")).unwrap();
        // The same run, killed in the middle.
        let lines: Vec<&str> = rest.lines().collect();
        let half = lines[..lines.len() / 2].join("\n");
        let killed = place.path("killed/runs").join(journal.file_name().unwrap());
        fs::create_dir_all(place.path("killed/runs")).unwrap();
        fs::write(&killed, format!("{header}\n{half}\n")).unwrap();
        for (state, words) in [
            ("state", ["trace", "replay", "theirs.jsonl"].as_slice()),
            ("state", &["trace", "replay", "theirs.jsonl", "--strict"]),
            ("killed", &["--resume", "last"]),
        ] {
            let refused = place.run_in(state, words, &[]);
            assert_eq!(refused.code, 15, "{words:?}: {}", refused.all());
            for part in [
                "the journal of the run `",
                "theirs.wasm`, a plugin that was not added",
                "plugin add ",
                "--trust ",
            ] {
                assert!(refused.stderr.contains(part), "`{part}` is not in {}", refused.all());
            }
            let trusted = place.run_in(state, words, &["--trust", "theirs.wasm"]);
            assert_eq!(trusted.code, 0, "{words:?}: {}", trusted.all());
        }
        fs::remove_file(&killed).unwrap();
    }
    assert_eq!(place.run(&["plugin", "add", "theirs.wasm", "--yes"]).code, 0);
    let replayed = place.run(&["trace", "replay", "theirs.jsonl", "--strict"]);
    assert_eq!(replayed.code, 0, "{}", replayed.all());
}

/// The author of a plugin grants nothing: `wants` is a bound, in a new one and in an update.
#[test]
fn what_a_plugin_asks_for_widens_nothing() {
    let place = Place::new();
    fs::create_dir_all(place.path("p/build")).unwrap();
    fn publish(place: &Place, sections: usize, wants: &str) {
        let definition = format!("name: votes\nlanguage: c\nroles: [solver]\nwants: [{wants}]\n");
        fs::write(place.path("p/plugin.yml"), definition).unwrap();
        fs::write(place.path("p/build/votes.wasm"), component(sections)).unwrap();
    }
    fn add(place: &Place, words: &[&str]) -> (Value, Said) {
        let whole = [&["plugin", "add", "p", "--yes", "--name", "votes"][..], words].concat();
        let added = place.run(&whole);
        assert_eq!(added.code, 0, "{}", added.all());
        (place.entry("votes")["granted"].clone(), added)
    }
    let open = "llm, sql, rows=full, sends=full, tables=*";
    publish(&place, 1, open);
    let first = json!(["llm", "sql", "reads=none"]);
    assert_eq!(add(&place, &["--allow", "reads=none"]).0, first);
    assert_eq!(place.run(&["plugin", "remove", "votes"]).code, 0);

    publish(&place, 1, "llm, sql, model-calls=5");
    let first = json!(["llm", "sql", "reads=none", "model-calls=5"]);
    assert_eq!(add(&place, &["--allow", "reads=none"]).0, first);
    publish(&place, 2, &format!("{open}, inspect, cells, model-calls=100000"));
    let (granted, said) = add(&place, &[]);
    assert_eq!(granted, first, "{}", said.all());
    assert!(!said.stderr.contains("is granted changes"), "{}", said.all());
    // The user grants it by name.
    let wider = json!(["llm", "sql", "reads=none", "sends=full", "model-calls=9"]);
    assert_eq!(add(&place, &["--allow", "sends=full", "--allow", "model-calls=9"]).0, wider);
}

/// A path that was reviewed has another component after `git pull`.
#[cfg(unix)]
#[test]
fn a_component_that_takes_the_place_of_a_reviewed_one_does_not_run() {
    let place = Place::new();
    fs::create_dir_all(place.path("p/build")).unwrap();
    let definition = "name: whole\nlanguage: c\nroles: [solver]\n";
    fs::write(place.path("p/plugin.yml"), definition).unwrap();
    for (name, source, file, sections) in
        [("votes", "votes.wasm", "votes.wasm", 1), ("whole", "p", "p/build/whole.wasm", 3)]
    {
        fs::write(place.path(file), component(sections)).unwrap();
        assert_eq!(place.ask(file, &[]).code, 0, "a file that nobody has added");
        let added = place.run(&["plugin", "add", source, "--yes", "--allow", "statements=99"]);
        assert_eq!(added.code, 0, "{}", added.all());
        assert_eq!(place.ask(file, &[]).code, 0);
        fs::write(place.path(file), component(sections + 1)).unwrap();
        let link = place.path(&format!("{name}-link.wasm"));
        std::os::unix::fs::symlink(place.path(file), &link).unwrap();
        for solver in [file, link.to_str().unwrap()] {
            let refused = place.ask(solver, &[]);
            assert_eq!(refused.code, 15, "{}", refused.all());
            for part in ["holds another component now", "plugin review ", "--trust "] {
                assert!(refused.stderr.contains(part), "{}", refused.all());
            }
        }
        let tail = place.run(&["audit", "tail", "--kind", "denied"]);
        assert!(tail.stdout.contains("holds another component now"), "{}", tail.all());
        assert_eq!(place.ask(name, &[]).code, 0, "the one that was added");
        assert_eq!(place.ask(file, &["--trust", file]).code, 0);
        assert_eq!(place.run(&["plugin", "add", source, "--yes", "--name", name]).code, 0);
        assert_eq!(place.ask(file, &[]).code, 0);
    }
}

#[test]
fn grants_that_leave_no_table_are_refused_and_the_lock_stays_readable() {
    let place = Place::new();
    let definition = b"name: votes\nlanguage: c\nroles: [solver]\nwants: [llm, tables=invoices]\n";
    fs::create_dir_all(place.path("p/build")).unwrap();
    fs::write(place.path("p/plugin.yml"), definition).unwrap();
    fs::write(place.path("p/build/votes.wasm"), component(1)).unwrap();
    let disjoint = ["plugin", "add", "p", "--yes", "--allow", "tables=customers"];
    place.refuses(&disjoint, 2, &["tables=customers and tables=invoices"]);
    assert!(!place.lock().exists());
    assert_eq!(place.run(&["plugin", "add", "p", "--yes"]).code, 0);
    let grants = ["plugin", "grants", "votes", "--allow", "tables=customers"];
    place.refuses(&grants, 2, &["no pattern in common"]);
    assert_eq!(place.run(&["plugin", "grants"]).code, 0);

    // A component under two names: nobody could say what it is granted.
    let twice = ["plugin", "add", "p", "--yes", "--name", "wider"];
    place.refuses(&twice, 10, &["the component of `wider` was added as `votes`"]);
}

#[cfg(unix)]
#[test]
fn a_lock_that_never_ends_is_refused() {
    let place = Place::new();
    let mut command = place.host(&["plugin", "grants"]);
    let said = Said::from_output(command.env("SYRCH_LOCK", "/dev/zero").output().unwrap());
    assert!(said.code == 10 && said.stderr.contains("no plain file"), "{}", said.all());
}

#[test]
fn adds_at_the_same_time_keep_each_other() {
    let place = Place::new();
    let names: Vec<String> = (1..5).map(|number| format!("votes-{number}")).collect();
    names.iter().enumerate().for_each(|(number, name)| {
        fs::write(place.path(&format!("{name}.wasm")), component(number + 1)).unwrap();
    });
    let start = |name: &String| {
        let file = format!("{name}.wasm");
        place.host(&["plugin", "add", &file, "--yes"]).stdout(Stdio::null()).spawn().unwrap()
    };
    let started: Vec<_> = names.iter().map(start).collect();
    for mut child in started {
        assert!(child.wait().unwrap().success());
    }
    for name in &names {
        assert!(place.entry(name).is_object(), "{name}");
    }
}

#[test]
fn a_flow_in_a_found_file_reaches_no_other_plugin() {
    let place = Place::new();
    fs::write(place.path("evil.wasm"), component(1)).unwrap();
    for plugin in ["./evil.wasm", "votes"] {
        let node = format!("{{do: solver, settings: {{plugin: {plugin}}}}}");
        let flow = format!("{{flow: {{start: a, nodes: {{a: {node}}}}}}}");
        let text = format!("plugins: {{solver: {{plugin: flow, config: {flow}}}}}\n");
        fs::write(place.path("syrch.yml"), text).unwrap();
        place.refuses(&["plugin", "grants"], 10, &["may only name a built-in plugin"]);
    }
}

#[test]
fn an_archive_leads_nowhere() {
    let place = Place::new();
    for (path, kind, part) in
        [("../x.wasm", b'0', "leads out"), ("/x.wasm", b'0', "leads out"), ("x.wasm", b'2', "link")]
    {
        fs::write(place.path("evil.tar"), tar(path, &component(1), kind)).unwrap();
        place.refuses(&["plugin", "add", "evil.tar", "--yes"], 10, &[part]);
    }
    fs::write(place.path("x.txt"), "text").unwrap();
    place.refuses(&["plugin", "add", "x.txt", "--yes"], 10, &["archive"]);
    place.refuses(&["plugin", "add", "none.wasm", "--yes"], 10, &["none.wasm"]);
    assert!(!place.lock().exists());
}
