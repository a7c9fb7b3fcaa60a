//! `--isolate process`: a plugin that is not built in runs in a process of its own, which can do
//! nothing but serve its host, and takes nothing else with it when it ends.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Map;
use syrch::plugins::WorkerProcess;
use syrch::settings::PluginSource;
use syrch::syrch_core::roles::Role;
use syrch::syrch_core::{Limits, Problem};
use syrch::{Host, SearchReport, Settings, Shared, Silent, Stop};
use syrch_kit::zoo;

use crate::endpoint::Said;
use crate::{host, shop};

/// The command of a worker, as the program itself starts it.
pub(crate) fn worker() -> WorkerProcess {
    WorkerProcess {
        program: PathBuf::from(env!("CARGO_BIN_EXE_syrch-host")),
        arguments: vec![WorkerProcess::COMMAND.into()],
    }
}

/// A worker that is a script, with the host's socket as its standard input.
fn script(text: &str) -> WorkerProcess {
    WorkerProcess { program: PathBuf::from("/bin/sh"), arguments: vec!["-c".into(), text.into()] }
}

fn settings(worker: WorkerProcess) -> Settings {
    let mut settings = Settings::default();
    settings.compile.worker = Some(worker);
    settings
}

/// The parent of a process; `None` if the process has ended, whether it is waited for or not.
fn find_parent(process: i32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut fields = status.rsplit(") ").next()?.split(' ');
    fields.next().filter(|state| *state != "Z")?;
    fields.next()?.parse().ok()
}

/// The processes whose parent is that one, and that run the guests of a plugin.
fn workers_of(parent: u32) -> Vec<i32> {
    let processes = fs::read_dir("/proc").unwrap();
    let numbers = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    numbers
        .filter(|number: &i32| {
            let command = fs::read_to_string(format!("/proc/{number}/cmdline")).unwrap_or_default();
            find_parent(*number) == Some(parent) && command.contains("__run-plugin")
        })
        .collect()
}

/// Waits until something holds, for a minute at most.
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A search with the hostile plugin as the planner.
async fn search(
    settings: &Settings,
    shared: &Arc<Shared>,
    behaviour: &str,
) -> Result<SearchReport, syrch::Error> {
    let mut settings = settings.clone();
    settings.strategy.roles.insert(Role::Planner, PluginSource::File(zoo::hostile()));
    let config = Map::from_iter([("behaviour".to_owned(), behaviour.into())]);
    settings.strategy.config.insert(Role::Planner, config);
    let host = Host::open_beside(settings, shared, &Silent).await?;
    let problem = Problem::new("How many customers are there?".to_owned());
    host.search(problem, Arc::new(Silent), None, &Stop::new()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_can_do_nothing_but_serve_its_host() {
    let plugin = PluginSource::File(zoo::hostile());
    let probed = syrch::plugins::probe_worker(&plugin, &settings(worker())).await.unwrap();
    assert!(probed.len() >= 12, "{probed:?}");
    for one in &probed {
        let error = one.error.as_deref().unwrap_or_else(|| panic!("a worker can {}", one.tried));
        assert!(error.contains("Operation not permitted"), "{}: {error}", one.tried);
    }
    let document = syrch::plugins::probe_worker(&plugin, &Settings::default()).await;
    assert!(document.unwrap_err().to_string().contains("has no worker process"));
}

/// The system's own account of a worker: no environment, and no file but its three streams.
#[tokio::test(flavor = "multi_thread")]
async fn a_killed_worker_ends_its_call_alone_and_another_takes_its_place() {
    let folder = syrch_kit::scratch();
    let mut settings = settings(worker());
    settings.database = shop(folder.path()).display().to_string();
    settings.limits = Limits { idle: Duration::from_secs(600), ..Limits::default() };
    let shared = Shared::new();
    assert!(search(&settings, &shared, "none").await.is_ok());
    let own = std::process::id();
    let [process] = workers_of(own)[..] else { panic!("{:?}", workers_of(own)) };
    assert_eq!(fs::read(format!("/proc/{process}/environ")).unwrap(), b"");
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    assert!(status.contains("NoNewPrivs:\t1") && status.contains("Seccomp:\t2"), "{status}");
    let files: Vec<String> = fs::read_dir(format!("/proc/{process}/fd"))
        .unwrap()
        .map(|entry| fs::read_link(entry.unwrap().path()).unwrap().display().to_string())
        .collect();
    let own_pages = format!("/proc/{process}/pagemap");
    let known = ["socket:", "anon_inode:", "/memfd:code", "/dev/null", own_pages.as_str()];
    assert!(
        files.iter().all(|file| known.iter().any(|known| file.starts_with(known))),
        "{files:?}"
    );

    let others = settings.clone();
    let mut sleeping = tokio::spawn({
        let shared = Arc::clone(&shared);
        async move { search(&others, &shared, "sleep").await }
    });
    // On a busy machine the first worker may end before its guest sleeps, and another one is next.
    let ended = loop {
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert!(!sleeping.is_finished());
        for process in workers_of(own) {
            let _ = kill(Pid::from_raw(process), Signal::SIGKILL);
        }
        let ended = tokio::time::timeout(Duration::from_secs(20), &mut sleeping).await;
        if let Ok(ended) = ended {
            break ended.unwrap();
        }
    };
    let ended = match ended {
        Ok(report) => format!("{:?}", report.outcome),
        Err(error) => error.to_string(),
    };
    assert!(ended.contains("its worker process is gone") && ended.contains("signal: 9"), "{ended}");
    assert!(search(&settings, &shared, "none").await.is_ok());
    let [other] = workers_of(own)[..] else { panic!("{:?}", workers_of(own)) };
    assert_ne!(other, process);
    drop(shared);
    wait_until("the worker outlives its plugin", || workers_of(own).is_empty());
}

#[test]
fn a_worker_dies_with_its_host() {
    let folder = syrch_kit::scratch();
    let mut command = host();
    command.args(["--llm", "offline", "-q", "How many customers are there?", "--db"]);
    command.arg(shop(folder.path())).arg("--planner").arg(zoo::hostile());
    command.args(["-P", "planner.behaviour=sleep", "--isolate", "process"]);
    let mut running = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut process = None;
    wait_until("there is no worker", || {
        process = workers_of(running.id()).pop();
        process.is_some()
    });
    running.kill().unwrap();
    running.wait().unwrap();
    let process = process.unwrap();
    wait_until("the worker outlives its host", || find_parent(process).is_none());
}

/// A worker that is under somebody else's control may send anything.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_breaks_the_protocol_is_ended() {
    /// The message that the worker is ready, in a frame.
    const READY: &str = r"printf '\001\000\000\000\000' >&0;";
    /// Reads a whole message of the host.
    const READ: &str = "length=$(head -c 4 | od -An -tu4); head -c $length >/dev/null;";
    let plugin = PluginSource::File(zoo::hostile());
    for (text, words) in [
        ("exit 3".to_owned(), "exit status: 3"),
        ("cat /dev/urandom >&0".to_owned(), ""),
        (r"printf '\377\377\377\377' >&0; exec sleep 600".to_owned(), "a message is too long"),
        (r"printf '\003\000\000\000abc' >&0; exec sleep 600".to_owned(), "it is no worker"),
        (format!("{READY} exit 4"), "it ended with exit status: 4"),
        (format!("{READY} cat /dev/zero >&0"), "a message cannot be read"),
        (
            format!(r"{READY} printf '\377\377\377\377' >&0; exec sleep 600"),
            "a message is too long",
        ),
        // The end of a call that nobody made.
        (
            format!(r"{READY} printf '\003\000\000\000\003\143\000' >&0; exec sleep 600"),
            "a message is of no call",
        ),
        // The end of the first call, whose result is no JSON.
        (
            format!(
                r"{READ} {READY} {READ} printf '\003\000\000\000\003\001\000' >&0; exec sleep 600"
            ),
            "the result of its worker process cannot be read",
        ),
        (format!("{READY} {READY} exec sleep 600"), "it started twice"),
        (format!("{READY} exec sleep 600"), "its worker process did not answer"),
    ] {
        let mut settings = settings(script(&text));
        let short = Duration::from_millis(200);
        settings.limits = Limits { cpu_per_call: short, idle: short, ..Limits::default() };
        let start = Instant::now();
        let refused = syrch::plugins::inspect(&plugin, &settings, &Silent).await.unwrap_err();
        let refused = format!("{refused:?}");
        assert!(refused.contains(words), "{text}: {refused}");
        assert!(start.elapsed() < Duration::from_secs(300), "{text}: {:?}", start.elapsed());
    }
}

/// A run is the same in both places: the journal of each is replayed in the other.
#[test]
fn a_run_is_replayed_where_it_was_not_recorded() {
    let folder = syrch_kit::scratch();
    let component = folder.path().join("conformance.wasm");
    fs::write(&component, syrch_kit::languages::component("rust")).unwrap();
    for [recorded, replayed] in [["none", "process"], ["process", "none"]] {
        let state = folder.path().join(recorded);
        let mut command = host();
        command.env("SYRCH_STATE_DIR", &state).env("SYRCH_ISOLATE", recorded);
        command.args(["--llm", "offline", "--format", "json", "-q", "What is 1?", "--db"]);
        command.arg(shop(folder.path())).arg("--planner").arg(&component);
        command.arg("--solver").arg(&component);
        let said = Said::from_output(command.output().unwrap());
        assert_eq!(said.document(0)["sql"], "SELECT 1", "{}", said.all());
        let mut command = host();
        command.env("SYRCH_STATE_DIR", &state).env("SYRCH_ISOLATE", replayed);
        command.args(["trace", "replay", "last", "--strict", "--format", "json"]);
        command.arg("--trust").arg(&component);
        let again = Said::from_output(command.output().unwrap());
        assert_eq!((again.code, &again.stdout), (0, &said.stdout), "{}", again.all());
    }
}

#[test]
fn the_worker_is_no_command_for_people() {
    let output = host().arg("__run-plugin").stdin(Stdio::null()).output().unwrap();
    assert!(!output.status.success());
    let help = host().arg("--help").output().unwrap();
    assert!(!String::from_utf8_lossy(&help.stdout).contains("__run-plugin"));
}
